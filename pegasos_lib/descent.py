"""Batch descent, which looks at the whole objective at every step, and says why it stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._active import ActiveSum
from ._checks import as_reals, check_count, check_start
from .online import check_radius
from .problem import FloatArray, HingeProblem, check_problem
from .projections import L1Ball, l1_projection, project_l1_ball, project_l2_ball
from .run import Average, Recorder, Run, record_counts
from .steps import ArmijoStep, SmallGap, StepRule, StoppingTest, make_step

Projection = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class DescentRun(Run):
    """Hold the result of `subgradient_descent`: a `Run` with the reason for its end.

    Attributes
    ----------
    stopped_by : str
        Name of the stopping test that fired, "no decrease" if the line search found none, or
        "n_iter".
    """

    stopped_by: str


@dataclass(frozen=True, eq=False)
class Descent:
    """Hold the path of `gradient_descent`.

    Attributes
    ----------
    path : ndarray, shape (n_iter + 1, d)
        w_1..w_{T+1}.
    values : ndarray, shape (n_iter + 1,)
        f on the path.
    step_sizes : ndarray, shape (n_iter,)
        eta_1..eta_T.
    n_iter : int
        Number T of steps taken.
    stopped_by : str
        Name of the stopping test that fired, "no decrease" if the line search found none,
        "diverged" if f or w left the finite numbers, or "n_iter".
    """

    path: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    step_sizes: FloatArray = field(repr=False)
    n_iter: int
    stopped_by: str

    @property
    def w(self) -> FloatArray:
        """Return the last iterate w_{T+1}."""
        return cast(FloatArray, self.path[-1])


def subgradient_descent(
    problem: HingeProblem,
    *,
    n_iter: int,
    step: StepRule | ArmijoStep | str = "pegasos",
    project: bool | float | L1Ball = False,
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    w0: ArrayLike | None = None,
    stop: StoppingTest | Iterable[StoppingTest] = (),
) -> DescentRun:
    """Minimise P by projected subgradient descent on all n examples; nothing is random.

    Step t sets w_{t+1} to the projection of w_t - eta_t g_t, with g_t the subgradient of P.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Largest number T of steps, at least 0; all are taken unless something stops it before.
    step : StepRule, ArmijoStep or str
        Rule that gives eta_t, or its name; 1/(lam t) by default, for which P of the uniform
        average is within c (1 + ln T)/(2 lam T) of the minimum. An `ArmijoStep` searches along
        -g_t. At a kink P may rise in that direction though w_t is no minimum: the run then stops
        there with "no decrease", which proves nothing.
    project : bool, float or L1Ball
        False leaves the iterates free, True keeps them in the l2 ball of radius 1/sqrt(lam), a
        number in the ball of that radius, `L1Ball(z)` in ||w||_1 <= z, whose best point need not
        be w*. An `ArmijoStep` needs False.
    average : {"uniform", "weighted", "suffix"} or None
        Average of w_1..w_T to keep beside the last iterate. "suffix" needs a fixed T, so no
        stopping tests and no `ArmijoStep`.
    record : None, int or iterable of int
        Step counts at which iterates are kept; see `record_counts`. Where the run stops early,
        its end is kept in place of the counts beyond it.
    w0 : array_like, shape (d,), optional
        Start w_1, which is not projected; 0 by default. The step 1/(lam t) forgets it at t = 1,
        except for what it violates.
    stop : StoppingTest or iterable of them
        Tests made after every step, in this order; the first that fires ends the run.

    Returns
    -------
    DescentRun
        Its `draws` is None.

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.
    """
    check_problem(problem)
    n_iter = check_count(n_iter, "n_iter", 0)
    rule = step if isinstance(step, ArmijoStep) else make_step(step, problem.lam)
    onto_set, tests = _projection(project, problem), _check_tests(stop)
    counts = record_counts(record, n_iter)
    recorder = Recorder(problem, n_iter, average, counts)
    if isinstance(rule, ArmijoStep) and onto_set is not None:
        raise ValueError("an ArmijoStep searches along -g, unprojected: it needs project=False")
    if average == "suffix" and (tests or isinstance(rule, ArmijoStep)):
        raise ValueError("average='suffix' needs a fixed n_iter: neither stop nor an ArmijoStep")
    w1 = check_start(w0, (problem.d,)) if w0 is not None else np.zeros(problem.d)

    take = _stepper(rule, n_iter, problem.lam, onto_set)
    alpha = np.zeros(problem.n) if any(isinstance(test, SmallGap) for test in tests) else None
    total, seconds, done, reason = np.zeros(problem.d), 0.0, 0, ""
    kept: dict[int, tuple[FloatArray, FloatArray, float]] = {}
    point = _Point(ActiveSum(problem), w1, alpha, project if isinstance(project, L1Ball) else None)
    for end in recorder.stops:
        start = time.perf_counter()
        while done < end and not reason:
            following = take(point, done)
            if following is None:
                reason = "no decrease"
                break
            if average is not None:
                total += (done + 1) * point.w if average == "weighted" else point.w
            done += 1
            reason = _first_to_fire(tests, point, following)
            point = following
        seconds += time.perf_counter() - start
        kept[done] = point.w, total.copy(), seconds

    if done < n_iter:
        recorder = Recorder(problem, done, average, np.minimum(counts, done))
    for count, state in kept.items():
        recorder.keep(count, *state)
    return DescentRun(**vars(recorder.run(w1, draws=None)), stopped_by=reason or "n_iter")


def gradient_descent(
    f: Callable[[FloatArray], float],
    grad: Callable[[FloatArray], ArrayLike],
    w0: ArrayLike,
    *,
    n_iter: int,
    step: StepRule | ArmijoStep = ArmijoStep(),  # noqa: B008 - frozen
    stop: StoppingTest | Iterable[StoppingTest] = (),
) -> Descent:
    """Minimise a smooth function of d variables by w_{t+1} = w_t - eta_t grad f(w_t), t = 1, 2, ...

    With `ArmijoStep`, f falls at every step. With a fixed rule nothing keeps it from rising: a
    constant step must be below 2/L where the gradient is L-Lipschitz.

    Parameters
    ----------
    f : callable
        Maps w (d,) to f(w).
    grad : callable
        Maps w (d,) to the gradient (d,).
    w0 : array_like, shape (d,)
        Start w_1.
    n_iter : int
        Largest number of steps, at least 0.
    step : StepRule or ArmijoStep
        Rule that gives eta_t; the backtracking search from 1 by default.
    stop : StoppingTest or iterable of them
        Tests made after every step, in this order; the first that fires ends the descent. Not
        `SmallGap`, which is for P.

    Returns
    -------
    Descent

    Raises
    ------
    ValueError
        If an option is out of its range, or a gradient is not of the shape of w.
    """
    n_iter, tests = check_count(n_iter, "n_iter", 0), _check_tests(stop)
    if not isinstance(step, (StepRule, ArmijoStep)):
        raise ValueError(f"step must be a StepRule or an ArmijoStep; got {step!r}")
    if any(isinstance(test, SmallGap) for test in tests):
        raise ValueError("SmallGap is for the objective of a HingeProblem: f has no dual here")
    take = _stepper(step, n_iter)
    path, reason = [_SmoothPoint(f, grad, check_start(w0))], ""
    # A step size may make w overflow, and the path is to show it.
    with np.errstate(over="ignore", invalid="ignore"):
        while len(path) <= n_iter and not reason:
            following = take(path[-1], len(path) - 1)
            if following is None:
                reason = "no decrease"
                break
            path.append(following)
            finite = math.isfinite(following.value) and bool(np.isfinite(following.w).all())
            reason = _first_to_fire(tests, *path[-2:]) if finite else "diverged"
        values = np.array([point.value for point in path])
    return Descent(
        path=np.stack([point.w for point in path]),
        values=values,
        step_sizes=np.array([point.eta for point in path[1:]]),
        n_iter=len(path) - 1,
        stopped_by=reason or "n_iter",
    )


class _Point:
    """Hold one w, with P and its subgradient there computed once and only if asked for."""

    def __init__(
        self, sums: ActiveSum, w: FloatArray, alpha: FloatArray | None, ball: L1Ball | None = None
    ) -> None:
        self._sums, self._problem, self.w = sums, sums.problem, w
        self._alpha, self._ball = alpha, ball  # the ball that holds the iterates, if it is l1

    @cached_property
    def _hits(self) -> tuple[NDArray[np.bool_], FloatArray]:
        """Return which margins are below 1, and the sum of their y_i x_i."""
        return self._sums.at(self.w)

    @cached_property
    def value(self) -> float:
        loss = float(np.mean(np.maximum(0.0, 1.0 - self._sums.margins(self.w))))
        return 0.5 * self._problem.lam * float(self.w @ self.w) + loss

    @cached_property
    def gradient(self) -> FloatArray:
        return self._problem.lam * self.w - self._hits[1] / self._problem.n

    @property
    def gap(self) -> float:
        assert self._alpha is not None, "alpha is tracked wherever a SmallGap asks for the gap"
        if self._ball is None:
            return self.value - self._problem.dual_objective(self._alpha)
        # P >= lam/2 ||u||^2 + mean(alpha_i (1 - m_i(u))), in the ball least at this u.
        v = self._problem.weights(self._alpha)
        u = project_l1_ball(v, self._ball.radius)
        inner = self._problem.lam * float(u @ v - 0.5 * (u @ u))
        return self.value - float(np.mean(self._alpha)) + inner

    def moved(
        self, eta: float, decay: float | None = None, onto_set: Projection | None = None
    ) -> _Point:
        """Return the point after a step of size eta, with decay = 1 - eta lam and a projection."""
        decay = 1.0 - eta * self._problem.lam if decay is None else decay
        free = decay * self.w + (eta / self._problem.n) * self._hits[1]
        w = free if onto_set is None else onto_set(free)
        return _Point(self._sums, w, self._moved_alpha(decay, free, w), self._ball)

    def _moved_alpha(self, decay: float, free: FloatArray, w: FloatArray) -> FloatArray | None:
        if self._alpha is None:
            return None
        alpha = np.clip(decay * self._alpha + (1.0 - decay) * self._hits[0], 0.0, 1.0)
        size = float(np.linalg.norm(free))
        if w is free or size == 0.0 or self._ball is not None:
            return alpha
        return alpha * min(1.0, float(np.linalg.norm(w)) / size)


class _SmoothPoint:
    """Hold one w, with f and its gradient there, and the step size that led to it."""

    def __init__(
        self,
        f: Callable[[FloatArray], float],
        grad: Callable[[FloatArray], ArrayLike],
        w: FloatArray,
        eta: float = 0.0,
    ) -> None:
        self._f, self._grad, self.w, self.eta = f, grad, w, eta

    @cached_property
    def value(self) -> float:
        return float(self._f(self.w))

    @cached_property
    def gradient(self) -> FloatArray:
        gradient = as_reals(self._grad(self.w), "the gradient")
        if gradient.shape != self.w.shape:
            raise ValueError(f"grad must return shape {self.w.shape}; got {gradient.shape}")
        return gradient

    def moved(self, eta: float) -> _SmoothPoint:
        return _SmoothPoint(self._f, self._grad, self.w - eta * self.gradient, eta)


def _projection(project: bool | float | L1Ball, problem: HingeProblem) -> Projection | None:
    """Return the projection onto the set that `project` names; None if that is everything."""
    if isinstance(project, L1Ball):
        return l1_projection(project)
    radius = check_radius(project, problem.lam)
    return None if math.isinf(radius) else partial(project_l2_ball, radius=radius)


def _stepper(rule: StepRule | ArmijoStep, n_iter: int, *fixed: Any) -> Callable[[Any, int], Any]:
    """Return the function that takes step j + 1 from a point: its next, or None."""
    if isinstance(rule, ArmijoStep):
        return lambda point, j: _search(rule, point)
    t = np.arange(1, n_iter + 1)
    eta = rule(t)
    if not fixed:
        return lambda point, j: point.moved(eta[j])
    decay, onto_set = rule.decay(t, fixed[0]), fixed[1]
    return lambda point, j: point.moved(eta[j], decay[j], onto_set)


def _search(rule: ArmijoStep, point: Any) -> Any:
    """Return the next point along -g that the rule accepts, or None."""
    trial = None

    def along(eta: float) -> float:
        nonlocal trial
        trial = point.moved(eta)
        return cast(float, trial.value)

    eta = rule.search(along, point.value, -float(point.gradient @ point.gradient))
    if eta is None:
        return None
    return point.moved(eta) if trial is None else trial


def _first_to_fire(tests: tuple[StoppingTest, ...], before: Any, after: Any) -> str:
    return next((test.name for test in tests if test.fires(before, after)), "")


def _check_tests(stop: StoppingTest | Iterable[StoppingTest]) -> tuple[StoppingTest, ...]:
    tests = tuple(stop) if isinstance(stop, Iterable) else (stop,)
    if not all(isinstance(test, StoppingTest) for test in tests):
        raise ValueError(f"stop must be a StoppingTest or several of them; got {stop!r}")
    return tests
