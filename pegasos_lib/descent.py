"""Batch subgradient descent: the whole data at every step."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from .online import check_radius
from .problem import FloatArray, HingeProblem, check_count
from .projections import project_l2_ball
from .run import Average, Recorder, Run
from .steps import StepRule, make_step


def subgradient_descent(
    problem: HingeProblem,
    *,
    n_iter: int,
    step: StepRule | str = "pegasos",
    project: bool | float = False,
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    w0: ArrayLike | None = None,
) -> Run:
    """Minimise P by projected subgradient descent on all n examples; nothing is random.

    Step t sets w_{t+1} to the projection of w_t - eta_t g_t, with g_t the subgradient of P.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0.
    step : StepRule or str
        Rule that gives eta_t, or its name; 1/(lam t) by default, for which P of the uniform
        average is within c (1 + ln T)/(2 lam T) of the minimum.
    project : bool or float
        False leaves the iterates free, True keeps them in the l2 ball of radius 1/sqrt(lam), a
        number in the ball of that radius.
    average : {"uniform", "weighted", "suffix"} or None
        Average of w_1..w_T to keep beside the last iterate.
    record : None, int or iterable of int
        Step counts at which iterates are kept; see `record_counts`.
    w0 : array_like, shape (d,), optional
        Start w_1, which is not projected; 0 by default. The step 1/(lam t) forgets it at t = 1,
        except for what it violates.

    Returns
    -------
    Run
        Its `draws` is None.

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.
    """
    n_iter = check_count(n_iter, "n_iter", 0)
    rule, radius = make_step(step, problem.lam), check_radius(project, problem.lam)
    recorder = Recorder(problem, n_iter, average, record)
    w1 = np.zeros(problem.d) if w0 is None else np.array(w0, dtype=float)
    if w1.shape != (problem.d,) or not np.isfinite(w1).all():
        raise ValueError(f"w0 must be a finite vector of shape ({problem.d},); got {w0!r}")

    t = np.arange(1, n_iter + 1)
    eta, decay = rule(t), rule.decay(t, problem.lam)
    w, total, seconds, done = w1, np.zeros(problem.d), 0.0, 0
    for stop in recorder.stops:
        start = time.perf_counter()
        for j in range(done, stop):
            if average is not None:
                total += (j + 1) * w if average == "weighted" else w
            w = _step(problem, w, eta[j], decay[j], radius)
        seconds += time.perf_counter() - start
        recorder.keep(stop, w, total, seconds)
        done = stop
    return recorder.run(w1, draws=None)


def _step(
    problem: HingeProblem, w: FloatArray, eta: float, decay: float, radius: float
) -> FloatArray:
    active = np.where(problem.margins(w) < 1.0, problem.y, 0.0)
    w = decay * w + (eta / problem.n) * (problem.X.T @ active)
    return w if math.isinf(radius) else project_l2_ball(w, radius)
