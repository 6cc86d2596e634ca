"""Descent with the step rule, direction and start that one chooses, and the tests that stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import traitlets

from ..descent import Descent, gradient_descent, subgradient_descent
from ..problem import FloatArray, HingeProblem
from ..run import Run
from ..steps import ArmijoStep, StepRule, make_step
from ._descent import FUNCTIONS, SmoothOrNot, descend, hinge_problem
from .base import Between, Figure, script
from .pegasos import figure_draws

DIRECTIONS = ("steepest", "coordinate", "exact", "sampled")
RULES = ("constant", "inverse-time", "inverse-sqrt", "backtracking", "armijo")
REACH = 4.0
STEP_C = (1e-3, 10.0)
GAMMA = (0.05, 0.95)
EPS = (1e-6, 1.0)
N_ITER = (1, 200)


class DescentExplorer(Figure):
    """Descend on a function of two variables, and see which stopping test would end it, and when.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    function : str
        One of "bowl", "squares", "valley", "ring", "trap", "hinge", "exp", "corner"; `formulas`
        says what they are.
    start : sequence of float
        w_1, two numbers between -4 and 4.
    direction : {"steepest", "coordinate", "exact", "sampled"}
        Against the (sub)gradient; against its part along one coordinate, the first at odd t and
        the second at even t; to the least value along that coordinate, which needs no step rule;
        against the (sub)gradient of one random term, for "squares" and "hinge", which are
        averages. A function that is none sets "sampled" back to "steepest".
    rule : {"constant", "inverse-time", "inverse-sqrt", "backtracking", "armijo"}
        Step size c, c/t, c/sqrt(t), or the first of c, c gamma, c gamma^2, ... that lowers f
        (document 002), or that lowers it by 1e-4 of what the slope promises (Armijo).
    c : float
        Factor or first try of the rule, 0.001 to 10.
    gamma : float
        What a search multiplies a step size by that fails, 0.05 to 0.95.
    eps : float
        The epsilon of the stopping tests, 1e-6 to 1.
    n_iter, t : int
        Number T of steps, up to 200, and the step that is shown.
    seed : int
        Seed of the draws of "sampled".

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "descent"
    alt = (
        "Two panels. The contours of a function of two variables with the path of a descent from "
        "its start, the last step as an arrow; the distance of the function's value from its "
        "infimum against the number of steps on a logarithmic axis, with a letter where each of "
        "five stopping tests would first fire."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "function",
        "start",
        "direction",
        "rule",
        "c",
        "gamma",
        "eps",
        "n_iter",
        "t",
        "seed",
    )
    _esm = script("descent")

    function = traitlets.Enum(tuple(FUNCTIONS), "valley").tag(sync=True)
    start = traitlets.Any().tag(sync=True)
    direction = traitlets.Enum(DIRECTIONS, "steepest").tag(sync=True)
    rule = traitlets.Enum(RULES, "constant").tag(sync=True)
    c = Between(0.09, *STEP_C).tag(sync=True)
    gamma = Between(0.5, *GAMMA).tag(sync=True)
    eps = Between(0.01, *EPS).tag(sync=True)
    n_iter = traitlets.Int(100, min=N_ITER[0], max=N_ITER[1]).tag(sync=True)
    t = traitlets.Int(6, min=0, max=N_ITER[1]).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=2**31 - 1).tag(sync=True)

    formulas: ClassVar[dict[str, str]] = {name: f.formula for name, f in FUNCTIONS.items()}

    def __init__(self, function: str = "valley", **traits: Any):
        start = FUNCTIONS[function].start if function in FUNCTIONS else (0.0, 0.0)
        super().__init__(function=function, **{"start": start, **traits})

    @traitlets.validate("start")
    def _check_start(self, proposal: Any) -> list[float]:
        start = np.asarray(proposal["value"], dtype=float)
        if start.shape != (2,) or not (np.abs(start) <= REACH).all():
            raise traitlets.TraitError(
                f"start must hold 2 numbers between -{REACH:g} and {REACH:g}; got {start.tolist()}"
            )
        return [float(x) for x in start]

    @traitlets.validate("direction")
    def _check_direction(self, proposal: Any) -> str:
        if proposal["value"] == "sampled" and not FUNCTIONS[self.function].terms:
            averages = ", ".join(name for name, f in FUNCTIONS.items() if f.terms)
            raise traitlets.TraitError(
                f"direction='sampled' draws a term of an average: it needs the function to be "
                f"one of {averages}; got {self.function}"
            )
        return str(proposal["value"])

    @traitlets.observe("function")
    def _fit_direction(self, _change: Any) -> None:
        if self.direction == "sampled" and not FUNCTIONS[self.function].terms:
            self.direction = "steepest"

    @property
    def f(self) -> Callable[[FloatArray], float]:
        """The function, from w (2,) to a number."""
        return FUNCTIONS[self.function].value

    @property
    def gradient(self) -> Callable[[FloatArray], FloatArray]:
        """Its gradient, or the subgradient that the figure uses, from w (2,) to (2,)."""
        return FUNCTIONS[self.function].gradient

    @property
    def infimum(self) -> float:
        """The greatest lower bound of f; not attained for "exp"."""
        return FUNCTIONS[self.function].infimum

    @property
    def minimiser(self) -> FloatArray | None:
        """Where f is least (2,); None where there is no such point."""
        return FUNCTIONS[self.function].minimiser

    @property
    def problem(self) -> HingeProblem:
        """The problem of the function "hinge"."""
        return hinge_problem()

    @property
    def draws(self) -> list[int] | None:
        """The terms that "sampled" draws at t = 1..T; None for the other directions."""
        if self.direction != "sampled":
            return None
        n = len(FUNCTIONS[self.function].terms)
        return list(figure_draws(self.seed, n, self.n_iter, 1, "iid").tolist())

    def run(self) -> Run | Descent:
        """Descend as the figure does, by the library's solver where it has the method.

        Returns
        -------
        Run or Descent
            For steepest descent by any rule but plain backtracking, what `subgradient_descent`
            returns for "hinge", with every iterate in its trace, and what `gradient_descent`
            returns for the other functions. For the rest a `Descent` by the textbook.
        """
        f = FUNCTIONS[self.function]
        if self.direction != "steepest" or self.rule == "backtracking":
            return self._textbook_run(f)
        if self.function == "hinge":
            return subgradient_descent(
                self.problem,
                n_iter=self.n_iter,
                step=self._library_rule(),
                average=None,
                record=range(self.n_iter + 1),
                w0=self.start,
            )
        return gradient_descent(
            f.value, f.gradient, self.start, n_iter=self.n_iter, step=self._library_rule()
        )

    def _library_rule(self) -> StepRule | ArmijoStep:
        if self.rule == "armijo":
            return ArmijoStep(c=self.c, factor=self.gamma)
        return make_step(self.rule, lam=1.0, c=self.c)

    def _textbook_run(self, f: SmoothOrNot) -> Descent:
        return descend(
            f,
            self.start,
            n_iter=self.n_iter,
            direction=self.direction,
            rule=self.rule,
            c=self.c,
            gamma=self.gamma,
            draws=self.draws,
        )

    @property
    def path(self) -> FloatArray:
        """The iterates w_1..w_{T+1} that the figure draws, shape (T + 1, 2); fewer if it stops."""
        run = self.run()
        return run.path if isinstance(run, Descent) else run.trace.w

    @property
    def w(self) -> FloatArray:
        """The iterate w_{t+1} that the figure shows after step t."""
        path = self.path
        w: FloatArray = path[min(self.t, len(path) - 1)]
        return w

    def first_fires(self) -> dict[str, int | None]:
        """Return the step after which each stopping test first fires, None if it does not.

        The keys are "steps" (fixed T), "increase" (f(w_{t+1}) - f(w_t) <= eps, as document 002
        prints it), "decrease", "change" and "gradient", as in `SmallDecrease`, `SmallChange` and
        `SmallGradient`.
        """
        path = self.path
        # A run may end beyond the finite numbers.
        with np.errstate(over="ignore", invalid="ignore"):
            rise = np.diff([self.f(w) for w in path])
            fired = {
                "steps": np.arange(1, len(path)) == self.n_iter,
                "increase": rise <= self.eps,
                "decrease": -rise <= self.eps,
                "change": np.linalg.norm(np.diff(path, axis=0), axis=1) <= self.eps,
                "gradient": np.array([np.linalg.norm(self.gradient(w)) for w in path[1:]])
                <= self.eps,
            }
        return {
            name: int(np.argmax(fires)) + 1 if fires.any() else None
            for name, fires in fired.items()
        }
