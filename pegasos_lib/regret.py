"""Measured regret, the best point in hindsight, and the bounds that the theorems give.

A bound takes T as a step count or an array of them, and the numbers of its theorem: lam, the
diameter of the set, and G, a bound on the norms of the subgradients g_t (see `gradient_bound`).
Every theorem has w_1 = 0, and compares with a point of the set that the iterates are kept in.
All functions raise ValueError, and say what is expected, if a shape or a number is out of range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import lambertw

from ._checks import as_reals, check_count, check_finite, check_indices, check_positive
from .dual import sdca
from .online import check_radius
from .problem import FloatArray, HingeProblem, IntArray
from .projections import L1Ball
from .run import Run
from .sampling import Seed

# Rows are gathered in pieces of at most this many numbers (32 MB).
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class HindsightOptimum:
    """Hold w (d,) that nearly minimises F = (1/T) sum_t f_t, its value F(w), and its duality gap.

    As min F >= value - gap, the regret against the exact minimiser lies between that against w
    and T gap more.
    """

    w: FloatArray = field(repr=False)
    value: float
    gap: float


def instantaneous_objectives(problem: HingeProblem, W: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Return f_t(w_t) for t = 1..T, where f_t is the objective on the mini-batch of step t.

    W (T, d) holds the points w_t, or is one point (d,) for all f_t; draws, (T,) or (T, k), holds
    the examples of each step. The result has shape (T,).
    """
    batches = _check_batches(problem, draws)
    W = _check_points(W, (len(batches), problem.d), (problem.d,))
    if W.ndim == 1:
        losses = problem.losses(W)
        return cast(FloatArray, 0.5 * problem.lam * (W @ W) + losses[batches].mean(axis=1))
    values = 0.5 * problem.lam * np.einsum("td,td->t", W, W)
    for part in _parts(problem, batches):
        margins = _batch_margins(problem, W[part], batches[part])
        values[part] += np.maximum(0.0, 1.0 - margins).mean(axis=1)
    return cast(FloatArray, values)


def regret(
    problem: HingeProblem, W: ArrayLike, draws: ArrayLike, comparator: ArrayLike
) -> FloatArray:
    """Return the regret sum_{s<=t} (f_s(w_s) - f_s(u)) after each step t = 1..T.

    W holds w_1..w_T, and the comparator u (d,) is a point such as w* = `sdca(problem).w` or that
    of `hindsight_optimum`; the rest is as for `instantaneous_objectives`.
    """
    u = _check_points(comparator, (problem.d,))
    paid = instantaneous_objectives(problem, W, draws)
    return np.cumsum(paid - instantaneous_objectives(problem, u, draws))


def run_regret(run: Run, comparator: ArrayLike) -> FloatArray:
    """Return the `regret` (T,) of a run that kept every iterate, with record=range(T + 1)."""
    if run.draws is None:
        raise ValueError("regret needs a run that drew examples; its draws are None")
    T, kept = run.n_iter, run.trace.iteration
    if not np.array_equal(kept[:T], np.arange(T)):
        wanted = f"run the solver with record=range({T + 1}); this run kept {len(kept)} of them"
        raise ValueError(f"regret needs every iterate: {wanted}")
    return regret(run.trace.problem, run.trace.w[:T], run.draws, comparator)


def hindsight_optimum(
    problem: HingeProblem,
    draws: ArrayLike,
    *,
    gap: float = 1e-8,
    n_epochs: int = 1000,
    rng: Seed = 0,
) -> HindsightOptimum:
    """Minimise the mean of f_1..f_T by `sdca`, and certify the result by its duality gap.

    The mean is the objective of the drawn examples, each as often as it was drawn. Counts are
    divided by what divides them all, so that whole passes over the data cost one; otherwise rows
    are repeated, which takes the memory of T k rows. The minimiser over all of R^d lies in the
    l2 ball of radius 1/sqrt(lam); on a smaller set the best point can only be worse. The draws
    have shape (T,) or (T, k), and the gap returned exceeds `gap` if n_epochs did not suffice.
    """
    counts = np.bincount(_check_batches(problem, draws).ravel(), minlength=problem.n)
    counts //= np.gcd.reduce(counts)
    rows = np.repeat(np.arange(problem.n), counts)
    stream = HingeProblem(problem.X[rows], problem.y[rows], problem.lam)
    run = sdca(stream, gap=gap, n_epochs=n_epochs, rng=rng)
    return HindsightOptimum(w=run.w, value=float(stream.objective(run.w)), gap=run.gap)


def gradient_bound(problem: HingeProblem, project: bool | float | L1Ball = True) -> float:
    """Return G with ||g_t|| <= G for every subgradient that a solver meets.

    It is lam r + R in a ball of radius r (for `project=True`, sqrt(lam) + R; an l1 ball lies in
    the l2 ball of its radius), and 2 R for Pegasos without projection, or with the steps
    2/(lam (t + 1)), whose iterates obey ||w_t|| <= R/lam. No other free solver has a bound here.
    """
    if isinstance(project, L1Ball):
        return problem.lam * project.radius + problem.R
    radius = check_radius(project, problem.lam)
    return 2.0 * problem.R if math.isinf(radius) else problem.lam * radius + problem.R


def log_regret_bound(T: ArrayLike, lam: float, G: float) -> Any:
    """Return G^2 (1 + ln T)/(2 lam), which bounds the regret of steps 1/(lam t).

    It holds for every T, every sequence of lam-strongly convex f_t (any batches) and every u of
    the set. Source: Lemma 1 and Theorem 2.
    """
    T, lam, G = _check_T(T), check_positive(lam, "lam"), _check_size(G, "G")
    return G * G * (1.0 + np.log(T)) / (2.0 * lam)


def sharp_regret_bound(
    problem: HingeProblem, W: ArrayLike, draws: ArrayLike, comparator: ArrayLike
) -> FloatArray:
    """Return sum_{s<=t} ||g_s||^2/(2 lam s) - (lam t/2) ||w_{t+1} - u||^2 for t = 1..T.

    It bounds the regret of steps 1/(lam t) against u, as `log_regret_bound` does and below it:
    the form of Lemma 1 that looks at the run. W (T + 1, d) holds w_1..w_{T+1}; the rest is as for
    `regret`, and so is the shape (T,) returned.
    """
    batches, u = _check_batches(problem, draws), _check_points(comparator, (problem.d,))
    W = _check_points(W, (len(batches) + 1, problem.d))
    squares = np.empty(len(batches))
    for part in _parts(problem, batches):
        g = _subgradients(problem, W[:-1][part], batches[part])
        squares[part] = np.einsum("td,td->t", g, g)
    t = np.arange(1, len(batches) + 1)
    sums = np.cumsum(squares / (2.0 * problem.lam * t))
    return cast(FloatArray, sums - 0.5 * problem.lam * t * np.sum((W[1:] - u) ** 2, axis=1))


def average_iterate_bound(T: ArrayLike, lam: float, G: float) -> Any:
    """Return G^2 (1 + ln T)/(2 lam T), which bounds E P(w_average) - P(w*) of steps 1/(lam t).

    The average is that of w_1..w_T; each batch is uniform given the past (independent, or a
    uniform subset: not permutation epochs). For the full batch it holds without the mean.
    """
    return log_regret_bound(T, lam, G) / _check_T(T)


def sufficient_iterations(epsilon: float, lam: float, G: float) -> int:
    """Return T with `average_iterate_bound` <= epsilon: x (1 + ln x), x = G^2/(lam epsilon).

    It is rounded up, and 1 where x < 1; it does not depend on n.
    """
    epsilon, lam = check_positive(epsilon, "epsilon"), check_positive(lam, "lam")
    x = _check_size(G, "G") ** 2 / (lam * epsilon)
    return math.ceil(x * (1.0 + math.log(x))) if x > 1.0 else 1


def high_probability_bound(T: ArrayLike, lam: float, G: float, delta: float) -> Any:
    """Return what P(w_average) - P(w*) exceeds with probability at most delta.

    It is c (G^2/(lam T)) ((1 + ln T)/2 + 4 ln(1/delta)) with c = 2/(4 - e) = 1.5604, for steps
    1/(lam t), batches uniform given the past, and iterates free or kept in an l2 ball that holds
    w*, with G = `gradient_bound`. It holds for all T at once, by Ville's maximal inequality.
    """
    T, lam, G = _check_T(T), check_positive(lam, "lam"), _check_size(G, "G")
    if not 0.0 < check_positive(delta, "delta") < 1.0:
        raise ValueError(f"delta must lie inside (0, 1); got {delta!r}")
    logs = 0.5 * (1.0 + np.log(T)) + 4.0 * math.log(1.0 / delta)
    return 2.0 / (4.0 - math.e) * G * G * logs / (lam * T)


def last_iterate_distance_bound(T: ArrayLike, lam: float, G: float) -> Any:
    """Return G^2 (1 + ln T)/(lam^2 T), which bounds E ||w_{T+1} - w*||^2 of steps 1/(lam t).

    Batches are uniform given the past. It follows from `sharp_regret_bound`, as E regret >= 0.
    """
    return 2.0 / check_positive(lam, "lam") * average_iterate_bound(T, lam, G)


def weighted_average_bound(T: ArrayLike, lam: float, G: float) -> Any:
    """Return 2 G^2/(lam (T + 1)), which bounds E P(w) - P(w*) of the t-weighted average w.

    The steps are 2/(lam (t + 1)), and batches are uniform given the past.
    Source: Lacoste-Julien, Schmidt and Bach (2012).
    """
    T, lam, G = _check_T(T), check_positive(lam, "lam"), _check_size(G, "G")
    return 2.0 * G * G / (lam * (T + 1.0))


def sqrt_regret_bound(T: ArrayLike, G: float, diameter: float, a: float | None = None) -> Any:
    """Return (D^2/(2 a) + a G^2) sqrt(T), which bounds the regret of steps a/sqrt(t).

    The f_t are convex, the set has diameter D; a = D/G, the default, gives 1.5 G D sqrt(T).
    """
    T, G, D = _check_T(T), _check_size(G, "G"), check_positive(diameter, "diameter")
    if a is None:
        return 1.5 * G * D * np.sqrt(T)
    a = check_positive(a, "a")
    return (D * D / (2.0 * a) + a * G * G) * np.sqrt(T)


def constant_step_regret_bound(
    T: ArrayLike, G: float, diameter: float, eta: float | None = None
) -> Any:
    """Return D^2/(2 eta) + eta G^2 T/2, which bounds the regret after T steps of size eta.

    The f_t are convex, and D bounds ||w_1 - u||, as the diameter of the set does. The default is
    the best step for this horizon, eta = D/(G sqrt(T)), and gives G D sqrt(T).
    """
    T, G, D = _check_T(T), _check_size(G, "G"), check_positive(diameter, "diameter")
    if eta is None:
        return G * D * np.sqrt(T)
    return D * D / (2.0 * check_positive(eta, "eta")) + 0.5 * eta * G * G * T


def mirror_descent_bound(T: ArrayLike, G: float, radius: float) -> Any:
    """Return G z sqrt(T), which bounds the regret of lazy mirror descent in the l2 ball ||w|| <= z.

    w_t is the projection of -eta (g_1 + ... + g_{t-1}), with eta = z/(G sqrt(T)) for the horizon T.
    """
    return constant_step_regret_bound(T, G, check_positive(radius, "radius"))


def exponentiated_gradient_bound(T: ArrayLike, G_inf: float, radius: float, d: int) -> Any:
    """Return z G_inf sqrt(2 T ln(2 d)), which bounds the regret of EG+- in the l1 ball of radius z.

    G_inf bounds the entries of all g_t; eta = sqrt(2 ln(2 d)/T)/(z G_inf), for the horizon T.
    Source: Kivinen and Warmuth (1997).
    """
    T, G_inf, d = _check_T(T), _check_size(G_inf, "G_inf"), check_count(d, "d", 1)
    return check_positive(radius, "radius") * G_inf * np.sqrt(2.0 * T * math.log(2 * d))


def adagrad_bound(squares: ArrayLike, D_inf: float, eta: float | None = None) -> Any:
    """Return (D_inf^2/(2 eta) + eta) sum_j sqrt(S_j), which bounds the regret of diagonal AdaGrad.

    `squares` (d,), or (m, d) for m step counts, holds the sums S_j of g_tj^2 over the steps, and
    D_inf bounds all |w_tj - u_j|. The default eta = D_inf/sqrt(2) gives sqrt(2) D_inf sum_j
    sqrt(S_j). Source: Duchi, Hazan and Singer (2011).
    """
    S, D = as_reals(squares, "squares"), check_positive(D_inf, "D_inf")
    if S.ndim not in (1, 2) or not (np.isfinite(S) & (S >= 0.0)).all():
        raise ValueError("squares must be finite numbers >= 0 of shape (d,) or (m, d)")
    eta = D / math.sqrt(2.0) if eta is None else check_positive(eta, "eta")
    return (D * D / (2.0 * eta) + eta) * np.sqrt(S).sum(axis=-1)


def sdca_iterations(n: int, lam: float, R: float, epsilon: float) -> tuple[int, int]:
    """Return (T_0, T): the mean iterate of T_0..T-1 has an expected duality gap <= epsilon.

    For `sdca` with random coordinates from alpha = 0 and norms of at most R. T_0 is
    t_0 + max(0, 4 R^2/(lam epsilon) - 2 n) with t_0 = max(0, n ln(2 lam n/R^2)), and T is T_0 +
    max(n, R^2/(lam epsilon)), all rounded up. Source: Shalev-Shwartz and Zhang (2013), Theorem 2.
    """
    n, lam, R = check_count(n, "n", 1), check_positive(lam, "lam"), check_positive(R, "R")
    x = R * R / (lam * check_positive(epsilon, "epsilon"))
    t_0 = max(0, math.ceil(n * math.log(2.0 * lam * n / (R * R))))
    T_0 = t_0 + max(0, math.ceil(4.0 * x) - 2 * n)
    return T_0, T_0 + max(n, math.ceil(x))


def sgd_initialisation_bound(n: ArrayLike, lam: float, R: float = 1.0) -> Any:
    """Return 2 R^2 (1 + ln n)/(lam n), a bound on E[D(alpha*) - D(alpha)] of `sgd_initialisation`.

    The examples are i.i.d. with norms of at most R: then ||w^(t)|| <= R/lam, so ||g_t|| <= 2 R,
    and the proof for R = 1 goes through. Source: Shalev-Shwartz and Zhang (2013), Theorem 3.
    """
    return average_iterate_bound(n, lam, 2.0 * _check_size(R, "R"))


def bound_crossover(lam: float, G: float, diameter: float) -> int:
    """Return the step from which on `log_regret_bound` <= `sqrt_regret_bound` (with a = D/G).

    With s = sqrt(T) they meet where c s = 1 + 2 ln s, c = 3 lam D/G; the later of the two places
    is -(2/c) W(-c/(2 sqrt(e))) on the lower branch of Lambert's W. Without any, it is 1.
    """
    c = 3.0 * check_positive(lam, "lam") * check_positive(diameter, "diameter")
    c /= check_positive(G, "G")
    if c >= 2.0 / math.sqrt(math.e):
        return 1
    s = -2.0 / c * float(lambertw(-c / (2.0 * math.sqrt(math.e)), -1).real)
    return math.ceil(s * s)


def _check_batches(problem: HingeProblem, draws: ArrayLike) -> IntArray:
    batches = check_indices(draws, problem.n, "draws")
    if batches.ndim not in (1, 2) or batches.size == 0:
        raise ValueError(f"draws must have shape (T,) or (T, k), T, k >= 1; got {batches.shape}")
    return batches[:, np.newaxis] if batches.ndim == 1 else batches


def _check_points(points: ArrayLike, *shapes: tuple[int, ...]) -> FloatArray:
    points = as_reals(points, "points")
    if points.shape not in shapes or not np.isfinite(points).all():
        expected = " or ".join(map(str, shapes))
        raise ValueError(f"points must be finite, of shape {expected}; got shape {points.shape}")
    return points


def _parts(problem: HingeProblem, batches: IntArray) -> Iterator[slice]:
    steps = max(1, _CHUNK // (batches.shape[1] * problem.d))
    return (slice(first, first + steps) for first in range(0, len(batches), steps))


def _batch_margins(problem: HingeProblem, W: FloatArray, batches: IntArray) -> Any:
    """Return y_i <w_t, x_i> for the examples i of step t, shape (T, k)."""
    y = problem.y[batches]
    if not problem.is_sparse:
        return y * np.einsum("td,tkd->tk", W, problem.X[batches])
    rows = problem.X[batches.ravel()]
    row = np.repeat(np.arange(batches.size), np.diff(rows.indptr))
    products = rows.data * W[row // batches.shape[1], rows.indices]
    scores = np.bincount(row, weights=products, minlength=batches.size)
    return y * scores.reshape(batches.shape)


def _subgradients(problem: HingeProblem, W: FloatArray, batches: IntArray) -> FloatArray:
    """Return g_t = lam w_t - (1/k) sum of y_i x_i over the violated examples, shape (T, d)."""
    T, k = batches.shape
    hits = np.where(_batch_margins(problem, W, batches) < 1.0, problem.y[batches], 0.0) / k
    parts = (hits.ravel(), batches.ravel(), np.arange(0, T * k + 1, k))
    v = sp.csr_array(parts, shape=(T, problem.n)) @ problem.X
    return cast(FloatArray, problem.lam * W - (v.toarray() if problem.is_sparse else v))


def _check_T(T: ArrayLike) -> FloatArray:
    steps = as_reals(T, "T")
    if steps.size and not (np.isfinite(steps) & (steps >= 1.0)).all():
        raise ValueError(f"T must be at least 1 and finite; got {T!r}")
    return steps


def _check_size(value: float, name: str) -> float:
    return check_finite(value, name, least=0.0)  # 0 is the G of data that are all 0
