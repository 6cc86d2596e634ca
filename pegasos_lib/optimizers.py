"""The seven optimizers of document 000, each with the set-up in which the book compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from ._checks import check_choice
from .descent import subgradient_descent
from .mirror import adagrad, exponentiated_gradient, mirror_descent
from .online import pegasos, sgd
from .problem import HingeProblem
from .projections import L1Ball
from .run import Run
from .sampling import Seed

Feasible = Literal["l1", "own"]
SETS: tuple[Feasible, ...] = ("l1", "own")
RADIUS = 10.0
LAMS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
BATCH = ("GD", "projected GD")
BUDGET = {"batch": 100, "online": 10_000}  # steps of one run, by `kind_of`
# With its own set each optimizer has the options that its solver has by default.
_SOLVERS: dict[str, tuple[Callable[..., Run], dict[str, Any]]] = {
    "GD": (subgradient_descent, {}),
    "projected GD": (subgradient_descent, {"project": True}),
    "SGD": (sgd, {}),
    "SMD": (mirror_descent, {}),
    "SEG±": (exponentiated_gradient, {"radius": RADIUS}),
    "AdaGrad": (adagrad, {}),
    "Pegasos": (pegasos, {}),
}
OPTIMIZERS = tuple(_SOLVERS)
# GD is the one without a projection, and SEG± knows no other set than the l1 ball.
_ONLY: dict[str, Feasible] = {"GD": "own", "SEG±": "l1"}


def optimize(
    optimizer: str,
    problem: HingeProblem,
    *,
    n_iter: int,
    feasible: Feasible = "l1",
    rng: Seed = 0,
    record: int | Iterable[int] | None = None,
) -> Run:
    """Minimise P by one of the seven optimizers, with the step sizes that it has by default.

    Parameters
    ----------
    optimizer : str
        One of `OPTIMIZERS`. Those of `BATCH` take all examples at each step, the others one.
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0; the steps of SMD and SEG± are made for it.
    feasible : {"l1", "own"}
        "l1" keeps the iterates of all but GD in the l1 ball of radius 10, as in document 000.
        "own" gives each the set of its theory: the l2 ball of radius 1/sqrt(lam) for projected
        GD, SMD and Pegasos, the l1 ball for SEG±, and none for GD, SGD and AdaGrad.
    rng : int or numpy.random.Generator
        Seed or source of the draws; the optimizers of `BATCH` draw none.
    record : None, int or iterable of int
        Step counts at which iterates are kept; see `record_counts`.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.
    """
    check_choice(optimizer, "optimizer", OPTIMIZERS)
    check_choice(feasible, "feasible", SETS)
    solve, own = _SOLVERS[optimizer]
    options: dict[str, Any] = {"n_iter": n_iter, "record": record, **own}
    if feasible == "l1" and optimizer not in _ONLY:
        options["project"] = L1Ball(RADIUS)
    if optimizer not in BATCH:
        options["rng"] = rng
    return solve(problem, **options)


def kind_of(optimizer: str) -> Literal["batch", "online"]:
    """Return whether an optimizer takes all examples at each step, or one."""
    return "batch" if optimizer in BATCH else "online"


def set_of(optimizer: str, feasible: Feasible = "l1") -> Feasible:
    """Return the set in which an optimizer runs: GD has only its own, SEG± only the l1 ball."""
    check_choice(optimizer, "optimizer", OPTIMIZERS)
    check_choice(feasible, "feasible", SETS)
    return _ONLY.get(optimizer, feasible)


def comparator(optimizer: str, feasible: Feasible = "l1") -> Literal["free", "l1"]:
    """Return which minimiser an optimizer can reach: w*, or the best point of the l1 ball.

    The l2 ball of radius 1/sqrt(lam) holds w*.
    """
    return "l1" if set_of(optimizer, feasible) == "l1" else "free"
