"""Mirror descent, exponentiated gradient and AdaGrad: one subgradient, three geometries."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ._checks import check_positive
from ._mirror_kernels import (
    LEAST_SQUARE,
    run_in_l1_ball,
    run_loop,
    take_adaptive_steps,
    take_exponentiated_steps,
    take_lazy_steps,
)
from .online import check_radius, prepare, refresh_after
from .problem import HingeProblem
from .projections import L1Ball
from .run import Average, Run
from .sampling import Sampling, Seed


def mirror_descent(
    problem: HingeProblem,
    *,
    n_iter: int,
    project: bool | float | L1Ball = True,
    eta: float | None = None,
    rng: Seed = 0,
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    draws: ArrayLike | None = None,
) -> Run:
    """Minimise P by lazy stochastic mirror descent with psi = 1/2 ||.||^2 (dual averaging).

    w_{t+1} is the projection of theta_{t+1} = -eta (g_1 + ... + g_t): the steps add up
    unprojected, and only what is played is projected. Without a ball this is constant-step SGD.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0. The default eta is made for this horizon.
    project : bool, float or L1Ball
        True keeps the iterates in the l2 ball of radius z = 1/sqrt(lam), which holds w*, a
        number z in the l2 ball and `L1Ball(z)` in the l1 ball of that radius; False leaves
        them free.
    eta : float, optional
        Step size. By default z/(G sqrt(T)) with G = lam z + R >= ||g_t||, for which the regret
        against every point of the ball is at most G z sqrt(T). For free iterates
        z = min(1/sqrt(lam), R/lam), which bounds ||w*||, and G = 2 R, as they stay within R/lam.
    rng, batch_size, replace, sampling, average, record, draws
        As for `pegasos`.

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
    n_iter, (z, on_l1) = len(used), _ball(project, problem.lam)
    if math.isinf(z):
        # z/(2 R), written so that it has a value where R = 0.
        default = 0.5 / (math.sqrt(problem.lam) * max(problem.R, math.sqrt(problem.lam)))
    else:
        default = z / (problem.lam * z + problem.R)
    step = _step(eta, default / math.sqrt(max(1, n_iter)))
    if on_l1:
        eta_t = np.full(n_iter, step)
        return run_in_l1_ball(recorder, used, eta_t, 1.0 - problem.lam * eta_t, z, lazy=True)
    v, u, state = np.zeros(problem.d), np.zeros(problem.d), np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    refresh = refresh_after(problem)
    return run_loop(
        recorder,
        used,
        take_lazy_steps,
        (step, problem.lam, z, refresh, state, v, u),
        lambda: (state[0] * state[4] * v, state[1] * v - u),
    )


def exponentiated_gradient(
    problem: HingeProblem,
    *,
    n_iter: int,
    radius: float,
    eta: float | None = None,
    rng: Seed = 0,
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    draws: ArrayLike | None = None,
) -> Run:
    """Minimise P over ||w||_1 <= radius by the stochastic exponentiated gradient EG+-.

    w_t = z (theta+ - theta-), where z is the radius and the 2 d positive numbers theta+-_j are
    proportional to exp(-+ eta z (g_1 + ... + g_{t-1})_j) and sum to 1. It is mirror descent with
    the entropy of theta: its bound has max |x_ij| sqrt(ln(2 d)) where the Euclidean one has R.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0. The default eta is made for this horizon.
    radius : float
        Radius z of the l1 ball. It has no default because it changes the problem: the best
        point is that of the ball, and w* is sure to lie in it only from sqrt(d/lam) on.
    eta : float, optional
        Step size. By default sqrt(2 ln(2 d)/T)/(z G) with G = lam z + max |x_ij|, which bounds
        every |g_tj|; the regret against every point of the ball is then at most
        z G sqrt(2 T ln(2 d)).
    rng, batch_size, replace, sampling, average, record, draws
        As for `pegasos`.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.

    References
    ----------
    Kivinen and Warmuth, "Exponentiated gradient versus gradient descent for linear predictors",
    Information and Computation 132 (1997).
    """
    recorder, used = prepare(
        problem, n_iter, rng, batch_size, replace, sampling, average, record, draws
    )
    z, d = check_positive(radius, "radius"), problem.d
    G = problem.lam * z + max(float(problem.X.max()), -float(problem.X.min()))
    scale = z * _step(eta, math.sqrt(2.0 * math.log(2 * d) / max(1, len(used))) / (z * G))
    theta, w, total = np.zeros((3, d))
    arguments = (scale, problem.lam, z, theta, w, total)
    return run_loop(recorder, used, take_exponentiated_steps, arguments, lambda: (w, total))


def adagrad(
    problem: HingeProblem,
    *,
    n_iter: int,
    project: bool | float | L1Ball = False,
    eta: float | None = None,
    rng: Seed = 0,
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    draws: ArrayLike | None = None,
) -> Run:
    """Minimise P by AdaGrad with diagonal scaling: each coordinate has a step size of its own.

    With S_j the sum of g_sj^2 over s <= t, w_{t+1} is w_t - eta g_t/sqrt(S), or its projection in
    the norm of diag(sqrt(S)), in which it is a step of mirror descent. A coordinate whose
    subgradients were all 0 stays at 0.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps, at least 0.
    project : bool, float or L1Ball
        False leaves the iterates free, True keeps them in the l2 ball of radius z = 1/sqrt(lam),
        which holds w*, a number z in the l2 ball and `L1Ball(z)` in the l1 ball of that radius.
    eta : float, optional
        Step size. By default D/sqrt(2) with D = 2 z, the diameter of either ball in the largest
        coordinate, for which the regret against every point of the ball is at most
        sqrt(2) D sum_j sqrt(S_j). The theory gives none for free iterates; 1/R is then of the
        size of w that gives the longest example the margin 1.
    rng, batch_size, replace, sampling, average, record, draws
        As for `pegasos`.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.

    References
    ----------
    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", Journal of Machine Learning Research 12 (2011).
    """
    recorder, used = prepare(
        problem, n_iter, rng, batch_size, replace, sampling, average, record, draws
    )
    z, on_l1 = _ball(project, problem.lam)
    default = 1.0 / (problem.R or 1.0) if math.isinf(z) else math.sqrt(2.0) * z
    tau, (root, g, w, total) = np.zeros(1), np.zeros((4, problem.d))
    squares = np.full(problem.d, LEAST_SQUARE)
    arguments = (_step(eta, default), problem.lam, z, on_l1, tau, squares, root, g, w, total)
    return run_loop(recorder, used, take_adaptive_steps, arguments, lambda: (w, total))


def _ball(project: bool | float | L1Ball, lam: float) -> tuple[float, bool]:
    """Return the radius of the ball that `project` names, and whether it is that of the l1 norm."""
    if isinstance(project, L1Ball):
        return project.radius, True
    return check_radius(project, lam), False


def _step(eta: float | None, default: float) -> float:
    return default if eta is None else check_positive(eta, "eta")
