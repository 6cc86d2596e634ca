"""Stochastic dual coordinate ascent, with the duality gap as its certificate."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from ._kernels import jit_enabled, rows_of, sweeps_loop
from .problem import FloatArray, HingeProblem, IntArray, check_count, check_positive
from .run import DualRun, Trace, record_counts
from .sampling import Seed

# Between two epochs the unsettled examples are visited alone, this many times or n in all.
_EXTRA_VISITS = 10_000


def sdca(
    problem: HingeProblem,
    *,
    n_epochs: int = 1000,
    gap: float = 1e-6,
    rng: Seed = 0,
    shrink: bool = True,
    record: int | Iterable[int] | None = None,
) -> DualRun:
    """Maximise the dual D by exact steps in one alpha_i at a time, in a random order each epoch.

    A coordinate step is alpha_i <- clip(alpha_i + lam n (1 - y_i <w, x_i>)/||x_i||^2) to [0, 1],
    and 1 for a zero row, with w = w(alpha) kept up to date. It stops once the duality gap is
    at most `gap`.

    Parameters
    ----------
    problem : HingeProblem
    n_epochs : int
        Largest number of epochs, at least 0; an epoch visits every example once.
    gap : float
        P(w) - D(alpha) to reach; it bounds P(w) - P(w*).
    rng : int or numpy.random.Generator
        Seed or source of the orders, which are its successive permutations of 0..n-1 if `shrink`
        is False.
    shrink : bool
        Between two epochs, also visit the examples that are not settled (alpha_i inside (0, 1),
        or at an end at which their margin does not hold them), max(n, 10,000) visits at most.
        Few examples are unsettled near the optimum, so that a small gap takes far fewer epochs.
        False gives the textbook's method.
    record : None, int or iterable of int
        Numbers of epochs after which the iterate is kept; an integer spaces them over n_epochs.

    Returns
    -------
    DualRun
        `n_iter` counts epochs; either `gap` is reached or `n_iter == n_epochs`. Where it stops
        early, the last epoch made is kept in place of what `record` names beyond it.

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.

    References
    ----------
    Shalev-Shwartz and Zhang, "Stochastic dual coordinate ascent methods for regularized loss
    minimization", Journal of Machine Learning Research 14 (2013).
    """
    n_epochs = check_count(n_epochs, "n_epochs", 0)
    gap = check_positive(gap, "gap")
    wanted = set(record_counts(record, n_epochs).tolist())
    rng = np.random.default_rng(rng)
    n, alpha, w = problem.n, np.zeros(problem.n), np.zeros(problem.d)
    fixed = (problem.squared_norms, problem.lam * problem.n)
    loop, X, y = sweeps_loop(), rows_of(problem), problem.y
    if jit_enabled():
        loop(X, y, np.zeros((0, n), dtype=np.int64), *fixed, 0.0, alpha, w)  # compiles, untimed

    kept: dict[int, FloatArray] = {}
    clock: dict[int, float] = {}
    reached, done, visits, seconds = 1.0, 0, 0, 0.0
    unsettled = np.zeros(0, dtype=np.int64)
    while True:
        if done in wanted:
            kept[done], clock[done] = w.copy(), seconds
        if done == n_epochs or reached <= gap:
            break
        start = time.perf_counter()
        if len(unsettled):
            sweeps = max(1, max(n, _EXTRA_VISITS) // len(unsettled))
            orders = rng.permuted(np.tile(unsettled, (sweeps, 1)), axis=1)
            # Beyond a tenth of the gap, the settled examples are the ones to look at.
            stop = 0.1 * reached * n / len(unsettled)
            made, _ = loop(X, y, orders, *fixed, stop, alpha, w)
            visits += made * len(unsettled)
        _, seen = loop(X, y, rng.permutation(n)[np.newaxis], *fixed, 0.0, alpha, w)
        done, visits = done + 1, visits + n
        # The gap costs a pass over the data. `seen` was met before the steps, so it tends to
        # exceed the gap, and tells when that is worth computing.
        if shrink or seen <= 4.0 * gap:
            w[:] = problem.weights(alpha)  # from alpha alone: no drift
            reached, unsettled = _look(problem, w, alpha)
            unsettled = unsettled if shrink else unsettled[:0]
        seconds += time.perf_counter() - start

    w = problem.weights(alpha)
    if not kept or max(kept) < done:
        kept[done], clock[done] = w.copy(), seconds
    trace = Trace(
        problem=problem,
        iteration=np.array(list(kept), dtype=np.int64),
        w=np.stack(list(kept.values())),
        w_average=None,
        seconds=np.array(list(clock.values())),
    )
    return DualRun(
        w=w,
        w_average=None,
        n_iter=done,
        trace=trace,
        draws=None,
        seconds=seconds,
        alpha=alpha,
        gap=problem.duality_gap(w, alpha),
        visits=visits,
    )


def _look(problem: HingeProblem, w: FloatArray, alpha: FloatArray) -> tuple[float, IntArray]:
    """Return the duality gap at w = w(alpha), and the examples whose alpha_i is not settled.

    The gap is the mean of (1 - alpha_i) max(0, 1 - m_i) + alpha_i max(0, m_i - 1).
    """
    slack = 1.0 - problem.margins(w)
    gap = float(np.mean(np.where(slack > 0.0, (1.0 - alpha) * slack, -alpha * slack)))
    settled = ((alpha == 0.0) & (slack <= 0.0)) | ((alpha == 1.0) & (slack >= 0.0))
    return gap, np.flatnonzero(~settled)
