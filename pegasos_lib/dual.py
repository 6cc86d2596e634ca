"""Stochastic dual coordinate ascent, with the duality gap as its certificate."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from ._kernels import jit_enabled, rows_of, sweeps_loop
from .problem import FloatArray, HingeProblem, check_count, check_positive
from .run import DualRun, Trace, record_counts
from .sampling import Seed

# Sweeps over small data are handed to the kernel in groups of about this many coordinate steps.
_GROUP = 200_000


def sdca(
    problem: HingeProblem,
    *,
    n_epochs: int = 1000,
    gap: float = 1e-6,
    rng: Seed = 0,
    record: int | Iterable[int] | None = None,
) -> DualRun:
    """Maximise the dual D by exact steps in one alpha_i at a time, in a random order each epoch.

    A coordinate step is alpha_i <- clip(alpha_i + lam n (1 - y_i <w, x_i>)/||x_i||^2) to [0, 1],
    and 1 for a zero row, with w = w(alpha) kept up to date. It stops once the duality gap is
    at most `gap`. The gap costs a pass over the data, so it is computed only where the
    coordinate gaps met during an epoch say that it may be small enough.

    Parameters
    ----------
    problem : HingeProblem
    n_epochs : int
        Largest number of epochs, at least 0; an epoch visits every example once.
    gap : float
        P(w) - D(alpha) to reach; it bounds P(w) - P(w*).
    rng : int or numpy.random.Generator
        Seed or source of the orders.
    record : None, int or iterable of int
        Numbers of epochs after which the iterate is kept; an integer spaces them over n_epochs.

    Returns
    -------
    DualRun
        `n_iter` counts epochs, `gap` is reached or `n_iter == n_epochs`. What `record` names
        beyond the epoch of the stop is left out, and that epoch is kept in its place.

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
    counts = record_counts(record, n_epochs)
    rng = np.random.default_rng(rng)
    n = problem.n
    alpha, w = np.zeros(n), np.zeros(problem.d)
    reached = problem.duality_gap(w, alpha)

    loop, X, y, squared_norms = sweeps_loop(), rows_of(problem), problem.y, problem.squared_norms
    scale = problem.lam * n
    if jit_enabled():
        nothing = np.zeros((0, n), dtype=np.int64)
        loop(X, y, nothing, squared_norms, scale, 0.0, alpha, w)  # compiles, outside the timing

    kept: dict[int, FloatArray] = {}
    clock: dict[int, float] = {}
    wanted = counts.tolist()
    seconds, done = 0.0, 0
    if 0 in wanted:
        kept[0], clock[0] = w.copy(), 0.0
    while done < n_epochs and reached > gap:
        until = min([count for count in wanted if count > done], default=n_epochs)
        size = min(until - done, max(1, _GROUP // n))
        orders = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
        start = time.perf_counter()
        made, seen = loop(X, y, orders, squared_norms, scale, gap, alpha, w)
        done += made
        # The coordinate gaps were met before their steps, so they tend to exceed the true gap.
        if seen <= 4.0 * gap or done == n_epochs:
            w[:] = problem.weights(alpha)  # from alpha alone: no drift
            reached = problem.duality_gap(w, alpha)
        seconds += time.perf_counter() - start
        if done in wanted:
            kept[done], clock[done] = w.copy(), seconds
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
    )
