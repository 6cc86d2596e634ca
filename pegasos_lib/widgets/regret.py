"""Regret of online subgradient descent under its bound, on streams of four kinds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from .. import regret as bounds
from ..dual import sdca
from ..online import sgd
from ..problem import FloatArray, HingeProblem, IntArray
from ..run import Run
from ..steps import ConstantStep, InverseSqrt, PegasosStep, StepRule
from .base import Between, PointsFigure, script
from .pegasos import figure_draws

STREAMS = ("iid", "cyclic", "adversary", "you")
RULES = ("pegasos", "inverse-sqrt", "constant", "printed")
VIEWS = ("linear", "log", "loglog", "average")
LAM = (1e-4, 10.0)
N_ITER = (1, 2000)
LIMIT = 40
# Losses that differ by less are equal for the adversary: rounding must not choose for it.
TIE = 1e-9

# Examples 1 and 12 are neighbours, the longest of all, and disagree: what an adversary needs.
_POINTS = [
    (2.2, 1.0), (1.4, -0.6), (0.4, 1.9), (2.3, -0.1), (0.9, 0.5), (-0.5, 0.9),
    (-2.0, -1.1), (-1.5, 0.4), (-0.4, -1.9), (-2.3, -0.3), (-1.0, -0.7), (1.7, 1.7),
]  # fmt: skip
_LABELS = [1] * 6 + [-1] * 6


class RegretExplorer(PointsFigure):
    """Send examples to a learner, one a step, and see its regret under the bound of its rule.

    The learner is online subgradient descent on f_t(w) = lam/2 ||w||^2 + the hinge loss of the
    example of step t, from w_1 = 0, kept in the ball of radius 1/sqrt(lam). With G = sqrt(lam) + R
    and the diameter D = 2/sqrt(lam) of the ball, every bound of the figure holds for every stream.
    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        The pool of up to 40 examples, coordinates from -1000 to 1000, with labels -1 and +1.
    lam : float
        The regularisation, 1e-4 to 10.
    stream : {"iid", "cyclic", "adversary", "you"}
        Where examples come from: independent draws; one after the other, again and again; the one
        of largest loss at w_t, among equals the longest; or the reader's `picks`.
    rule : {"pegasos", "inverse-sqrt", "constant", "printed"}
        Step 1/(lam t); D/(G sqrt(t)); D/(G sqrt(T)) at every t; or G/sqrt(t), as document 000
        prints it (E000-18).
    n_iter : int
        Number T of steps, up to 2,000; at most so many of the picks count.
    seed : int
        Seed of the draws of "iid".
    picks : list of int
        The examples that the reader sends, from 0 on, for "you".
    t : int
        The step that is shown, 0 to T.
    view : {"linear", "log", "loglog", "average"}
        Axes of the panel of regret: linear, T logarithmic, both logarithmic, or regret/T on the
        last.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.

    Notes
    -----
    The tasks, each after a guess, and what was measured on the first pool:

    * "crossover": a lam whose logarithmic bound is the smaller one from some T <= 5,000 on. It is
      8,494 at first (lam = 0.002), 1,136 at lam = 0.01, and 5,000 at lam = 0.00308.
    * "tight": half of the bound of the steps 1/(lam t) after 200 steps or more. The adversary
      reaches 0.45 of it at first, 0.51 with T = 2,000, and at most 0.59 (lam = 0.05, T = 2,000); a
      reader who sends examples 1 and 12 by turns 0.61 (lam = 0.2, T = 2,000); random and cyclic
      streams stay below 0.18 after 200 steps.
    * "printed": more than 1.5 G D sqrt(T) by the steps G/sqrt(t), after 50 steps or more. At
      lam = 10 and T = 500 it is 2.1 times that for "iid", 2.8 for "cyclic", 5.3 for "adversary".
    """

    kind = "regret"
    alt = (
        "Three panels. Points of two classes with the line of the current w and its margins, and "
        "a ring around the example of this step; the measured regret against the number of steps "
        "on logarithmic axes, far below the bound of its step rule; the logarithmic bound and the "
        "square-root bound up to ten million steps, and the point from which on the first is the "
        "smaller one."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "X",
        "y",
        "lam",
        "stream",
        "rule",
        "n_iter",
        "seed",
        "picks",
        "t",
        "view",
    )
    first_points = (_POINTS, _LABELS)
    most_points = LIMIT
    _esm = script("regret")

    lam = Between(0.002, *LAM).tag(sync=True)
    stream = traitlets.Enum(STREAMS, "iid").tag(sync=True)
    rule = traitlets.Enum(RULES, "pegasos").tag(sync=True)
    n_iter = traitlets.Int(500, min=N_ITER[0], max=N_ITER[1]).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=2**31 - 1).tag(sync=True)
    picks = traitlets.List(traitlets.Int()).tag(sync=True)
    t = traitlets.Int(500, min=0, max=N_ITER[1]).tag(sync=True)
    view = traitlets.Enum(VIEWS, "loglog").tag(sync=True)

    @traitlets.validate("picks")
    def _check_picks(self, proposal: Any) -> list[int]:
        picks = list(proposal["value"])
        if len(picks) > N_ITER[1] or any(not 0 <= i < len(self.X) for i in picks):
            raise traitlets.TraitError(
                f"picks must hold at most {N_ITER[1]} numbers of examples, 0 to {len(self.X) - 1}"
            )
        return picks

    def set_points(self, X: ArrayLike, y: ArrayLike) -> None:
        """Give the figure another pool, both traits at once, and forget the picks."""
        with self.hold_sync():
            super().set_points(X, y)
            self.picks = []

    @property
    def problem(self) -> HingeProblem:
        """The problem of the pool."""
        return HingeProblem(np.array(self.X), np.array(self.y, dtype=float), lam=self.lam)

    @property
    def G(self) -> float:
        """Bound on the norm of every subgradient, sqrt(lam) + R."""
        return bounds.gradient_bound(self.problem)

    @property
    def diameter(self) -> float:
        """Diameter D = 2/sqrt(lam) of the ball that the iterates are kept in."""
        return 2.0 / math.sqrt(self.lam)

    @property
    def step(self) -> StepRule:
        """The step rule, as the library's solvers take it."""
        if self.rule == "pegasos":
            return PegasosStep(self.lam)
        if self.rule == "printed":
            return InverseSqrt(self.G)
        a = self.diameter / self.G
        if self.rule == "inverse-sqrt":
            return InverseSqrt(a)
        return ConstantStep(a / math.sqrt(self.n_iter))

    @property
    def draws(self) -> IntArray:
        """The examples that come, shape (T,); with "you" as many as were picked, at most T."""
        n = len(self.X)
        if self.stream == "iid":
            return figure_draws(self.seed, n, self.n_iter, 1, "iid")
        if self.stream == "cyclic":
            return np.arange(self.n_iter, dtype=np.int64) % n
        if self.stream == "you":
            return np.array(self.picks[: self.n_iter], dtype=np.int64)
        return adversary_draws(self.problem, self.step, self.n_iter)

    def run(self, *, record: int | Iterable[int] | None = None) -> Run:
        """Let the library's solver take the steps that the figure shows.

        `record` is that of `pegasos_lib.sgd`; `range(len(explorer.draws) + 1)` keeps every
        iterate, as `pegasos_lib.run_regret` needs them.
        """
        draws = self.draws
        return sgd(
            self.problem,
            n_iter=len(draws),
            step=self.step,
            project=True,
            draws=draws,
            record=record,
        )

    @property
    def w(self) -> FloatArray:
        """The iterate w_{t+1} that the figure shows after step t."""
        draws = self.draws
        w: FloatArray = self.run(record=[min(self.t, len(draws))]).trace.w[0]
        return w

    @property
    def optimum(self) -> FloatArray:
        """The minimiser w* (2,) of the pool's objective, each example counted once."""
        return sdca(self.problem, gap=1e-12, n_epochs=10_000).w

    def regret(self, steps: ArrayLike | None = None, comparator: ArrayLike | None = None) -> Any:
        """Measure the regret of the run after some of its steps.

        Parameters
        ----------
        steps : int or array_like of int, optional
            Step counts between 1 and the length of `draws`, which is the default.
        comparator : array_like, shape (2,), optional
            The point to compare with, such as `optimum`. By default it is, for each step count,
            the best point in hindsight for the examples that came so far, as in the figure.

        Returns
        -------
        float or ndarray
            Of the shape of `steps`; 0.0 if no example has come.

        Raises
        ------
        ValueError
            If a step count is out of range.
        """
        problem, draws = self.problem, self.draws
        T = len(draws)
        if steps is None and T == 0:
            return 0.0
        counts = np.asarray(T if steps is None else steps)
        if counts.size and not (np.isin(counts, np.arange(1, T + 1))).all():
            raise ValueError(f"steps must be step counts between 1 and {T}; got {steps!r}")
        W = self.run(record=range(T)).trace.w
        out = np.empty(counts.shape)
        for at, t in np.ndenumerate(counts):
            came = draws[:t]
            u = comparator
            if u is None:
                u = bounds.hindsight_optimum(problem, came, gap=1e-10, n_epochs=10_000).w
            out[at] = bounds.regret(problem, W[:t], came, u)[-1]
        return out if out.ndim else float(out)

    def bound(self, steps: ArrayLike | None = None) -> Any:
        """Return the bound that the rule's theorem gives, after T steps or other step counts.

        It is G^2 (1 + ln T)/(2 lam) for "pegasos", 1.5 G D sqrt(T) for "inverse-sqrt",
        (D^2/(2 G) + G^3) sqrt(T) for "printed", and for "constant", whose step is made for one
        horizon T, D^2/(2 eta) + eta G^2 t/2 after t steps: G D sqrt(T) at t = T.
        """
        t = self.n_iter if steps is None else steps
        G, D = self.G, self.diameter
        if self.rule == "pegasos":
            return bounds.log_regret_bound(t, self.lam, G)
        if self.rule == "constant":
            return bounds.constant_step_regret_bound(t, G, D, D / (G * math.sqrt(self.n_iter)))
        return bounds.sqrt_regret_bound(t, G, D, G if self.rule == "printed" else None)

    @property
    def crossover(self) -> int:
        """The T from which on G^2 (1 + ln T)/(2 lam) is at most 1.5 G D sqrt(T)."""
        return bounds.bound_crossover(self.lam, self.G, self.diameter)


def adversary_draws(problem: HingeProblem, step: StepRule, n_iter: int) -> IntArray:
    """Choose at each step the example of largest loss at w_t, among equals the longest, then first.

    The learner takes the steps of `step`, kept in the ball of radius 1/sqrt(lam). Losses are equal
    up to 1e-9.
    """
    signed = (problem.X * problem.y[:, np.newaxis]).tolist()
    squares = [a * a + b * b for a, b in signed]
    longest_first = sorted(range(problem.n), key=lambda i: -squares[i])
    radius, draws = 1.0 / math.sqrt(problem.lam), []
    u, v = 0.0, 0.0
    for eta in step(np.arange(1, n_iter + 1)).tolist():
        losses = [max(0.0, 1.0 - (a * u + b * v)) for a, b in signed]
        most = max(losses) - TIE
        i = next(i for i in longest_first if losses[i] >= most)
        draws.append(i)
        push = eta if losses[i] > 0.0 else 0.0
        keep = 1.0 - eta * problem.lam
        u, v = keep * u + push * signed[i][0], keep * v + push * signed[i][1]
        norm = math.sqrt(u * u + v * v)
        if norm > radius:
            u, v = u * (radius / norm), v * (radius / norm)
    return np.array(draws, dtype=np.int64)
