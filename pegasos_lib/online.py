"""Stochastic subgradient descent and Pegasos."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ._checks import check_count, check_positive
from ._kernels import jit_enabled, rows_of, steps_loop
from ._mirror_kernels import run_in_l1_ball
from .problem import FloatArray, HingeProblem, IntArray, check_problem
from .projections import L1Ball
from .run import Average, Recorder, Run, power_of
from .sampling import (
    Sampling,
    Seed,
    check_batch_size,
    check_draws,
    draw_indices,
    index_type,
    make_rng,
)
from .steps import InverseSqrt, PegasosStep, StepRule, make_step

# Steps whose sizes are computed at a time: they stay in the cache.
_BLOCK = 8192


def pegasos(
    problem: HingeProblem,
    *,
    n_iter: int,
    rng: Seed = 0,
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
    project: bool | float | L1Ball = True,
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    draws: ArrayLike | None = None,
) -> Run:
    """Minimise P by Pegasos: stochastic subgradient steps of size 1/(lam t) from w_1 = 0.

    Step t draws a mini-batch A_t of k examples and sets w_{t+1} to the projection of
    (1 - 1/t) w_t + (1/(lam t k)) sum of y_i x_i over the i in A_t with y_i <w_t, x_i> < 1.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0.
    rng : int or numpy.random.Generator
        Seed or source of the draws.
    batch_size : int
        Size k of a mini-batch.
    replace : bool
        Draw a batch with replacement, or as k different examples.
    sampling : {"iid", "permutation"}
        Independent batches, which the theorems assume, or random permutations cut into batches,
        which need fewer passes; see `draw_batches`.
    project : bool, float or L1Ball
        Keep the iterates in the l2 ball of radius 1/sqrt(lam), which holds w*; a number is a
        radius of its own; False leaves them free. Theorem 2's constant is (sqrt(lam) + R)^2 with
        the projection and 4 R^2 without. `L1Ball(z)` keeps them in ||w||_1 <= z: the constant is
        (lam z + R)^2, and the best point is that of the ball, which w* may lie outside of.
    average : {"uniform", "weighted", "suffix"} or None
        Average of w_1..w_T to keep beside the last iterate: all alike, weighted by t, or the last
        half. It costs one more vector.
    record : None, int or iterable of int
        Step counts at which iterates are kept; see `record_counts`. Objectives are evaluated
        from them later, so recording does not touch the timing.
    draws : array_like of int, shape (T,) or (T, k), optional
        Replays these examples in place of drawing.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter, "Pegasos", Mathematical Programming 127 (2011).
    """
    check_problem(problem)
    return sgd(
        problem,
        n_iter=n_iter,
        rng=rng,
        step=PegasosStep(problem.lam),
        batch_size=batch_size,
        replace=replace,
        sampling=sampling,
        project=project,
        average=average,
        record=record,
        draws=draws,
    )


def sgd(
    problem: HingeProblem,
    *,
    n_iter: int,
    rng: Seed = 0,
    step: StepRule | str = InverseSqrt(1.0),  # noqa: B008 - frozen
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
    project: bool | float | L1Ball = False,
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    draws: ArrayLike | None = None,
) -> Run:
    """Minimise P by stochastic subgradient descent with any step rule, from w_1 = 0.

    Step t sets w_{t+1} to the projection of w_t - eta_t g_t, where g_t is the subgradient of
    the instantaneous objective on a mini-batch.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0.
    step : StepRule or str
        Rule that gives eta_t, or its name (see `make_step`).
    rng, batch_size, replace, sampling, average, record, draws
        As for `pegasos`.
    project : bool, float or L1Ball
        False leaves the iterates free, True keeps them in the l2 ball of radius 1/sqrt(lam), a
        number in the ball of that radius, `L1Ball(z)` in ||w||_1 <= z.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.
    """
    recorder, used = prepare(
        problem, n_iter, rng, batch_size, replace, sampling, average, record, draws
    )
    rule = make_step(step, problem.lam)
    if not isinstance(project, L1Ball):
        return _run(recorder, used, rule, check_radius(project, problem.lam))
    t = np.arange(1, len(used) + 1)
    return run_in_l1_ball(recorder, used, rule(t), rule.decay(t, problem.lam), project.radius)


def prepare(
    problem: HingeProblem,
    n_iter: int,
    rng: Seed,
    batch_size: int,
    replace: bool,
    sampling: Sampling,
    average: Average | None,
    record: int | Iterable[int] | None,
    draws: ArrayLike | None,
) -> tuple[Recorder, IntArray]:
    """Check what the stochastic solvers share; return a recorder and the (T, k) draws.

    The draws are of `index_type`, whether they are given or not.
    """
    check_problem(problem)
    n_iter = check_count(n_iter, "n_iter", 0)
    recorder = Recorder(problem, n_iter, average, record)
    k = check_batch_size(batch_size, problem.n, replace, sampling)
    if draws is not None:
        given = check_draws(draws, problem.n, n_iter, k)
        return recorder, given.astype(index_type(problem.n), copy=False)
    return recorder, draw_indices(make_rng(rng), problem.n, n_iter, k, replace, sampling)


def check_radius(project: bool | float, lam: float) -> float:
    """Return the radius of the ball that `project` names; infinity stands for no projection."""
    if isinstance(project, (bool, np.bool_)):
        return 1.0 / math.sqrt(lam) if project else math.inf
    return check_positive(project, "project, if it is not True or False,")


def refresh_after(problem: HingeProblem) -> int:
    """Return the number of added rows after which ||v||^2 is computed afresh.

    It costs O(d): for sparse rows it is due once as many numbers were added. For dense rows it is
    exact at any time.
    """
    stored = problem.X.nnz if problem.is_sparse else problem.n
    return int(problem.d * problem.n // max(1, stored))


class Steps:
    """Hold what step t + 1 of projected subgradient descent needs of the t steps before.

    Parameters
    ----------
    d : int
    average : {"uniform", "weighted", "suffix"} or None

    Attributes
    ----------
    t : int
        Number of steps taken.
    coefficients : ndarray, shape (n,) or (0,)
        Set to n zeros, it collects the share in v of each row since; (0,) spares the work.
    """

    def __init__(self, d: int, average: Average | None) -> None:
        self.t, self.coefficients = 0, np.zeros(0)
        self._power = power_of(average)
        # As `take_steps` keeps them.
        self._v, self._u, self._numbers = np.zeros(d), np.zeros(d), np.array([1.0, 0.0, 0.0, 0.0])

    @property
    def w(self) -> FloatArray:
        """Return w_{t+1}, shape (d,)."""
        return cast(FloatArray, self._numbers[0] * self._v)

    @property
    def total(self) -> FloatArray:
        """Return the sum of w_1..w_t, weighted as the average asks for, shape (d,)."""
        return cast(FloatArray, self._numbers[1] * self._v - self._u)

    def duality_gap(self, problem: HingeProblem, w: FloatArray) -> float:
        """Return P(w) - D(alpha) >= P(w) - P(w*), for the alpha that the `coefficients` tell.

        Those of Pegasos from its first step have w_{t+1} = w(alpha) with alpha_i = n/(t k) times
        the number of hits of example i, each discounted by the projections since. After whole
        permutation epochs that lies in [0, 1]; else it is cut. Of the multiples of alpha up to 1,
        the best is taken: the gap never exceeds P(w), which alpha = 0 proves.
        """
        alpha = problem.lam * problem.n * self._numbers[0] * self.coefficients * problem.y
        alpha = np.clip(alpha, 0.0, 1.0)
        spanned = problem.weights(alpha)
        mean, square = float(np.mean(alpha)), problem.lam * float(spanned @ spanned)
        c = 1.0 if mean >= square else mean / square
        # A gap of 0 may be rounded to less.
        return max(0.0, float(problem.objective(w)) - c * mean + 0.5 * c * c * square)

    def taker(
        self, problem: HingeProblem, radius: float
    ) -> Callable[[IntArray, FloatArray, FloatArray], None]:
        """Return the function that takes the steps of draws (m, k), eta (m,) and decay (m,)."""
        refresh = refresh_after(problem)
        loop, X, y, compiled = steps_loop(), rows_of(problem), problem.y, jit_enabled()
        labels = [] if compiled else y.tolist()

        def take(draws: IntArray, eta: FloatArray, decay: FloatArray) -> None:
            draws = draws.astype(index_type(problem.n), copy=False)  # the loop is compiled for it
            hits: Any = np.zeros(draws.shape[1], dtype=np.int64)
            steps: tuple[Any, ...] = (y, draws, eta, decay)
            if not compiled:
                # Python numbers are quicker than NumPy's where they are used one by one.
                steps = (y, draws, eta.tolist(), decay.tolist())
                if len(hits) == 1:
                    steps, hits = (labels, draws.tolist(), *steps[2:]), hits.tolist()
            kept = (self._numbers, self._v, self._u, hits, self.coefficients)
            # A step rule may make w overflow, and the run is to show it.
            with np.errstate(over="ignore", invalid="ignore"):
                loop(X, *steps, self.t + 1, radius, self._power, refresh, *kept)
            self.t += len(draws)

        return take


def _run(recorder: Recorder, draws: IntArray, rule: StepRule, radius: float) -> Run:
    """Take the steps from one stop of the recorder to the next."""
    problem, k = recorder.problem, draws.shape[1]
    state = Steps(problem.d, recorder.average)
    take = state.taker(problem, radius)
    take(draws[:0], np.zeros(0), np.zeros(0))  # compiles, untimed

    def take_part(done: int, stop: int) -> None:
        for first in range(done, stop, _BLOCK):
            last = min(first + _BLOCK, stop)
            t = np.arange(first + 1, last + 1)
            take(draws[first:last], rule(t), rule.decay(t, problem.lam))

    recorder.follow(take_part, lambda: (state.w, state.total))
    return recorder.run(np.zeros(problem.d), draws[:, 0] if k == 1 else draws)
