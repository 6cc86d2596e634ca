"""Stochastic dual coordinate ascent, with the duality gap as its certificate."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ._checks import check_alpha, check_count, check_positive
from ._kernels import gap_loop, greedy_loop, hits_loop, jit_enabled, rows_of, sweep_loop
from ._shrinking import ShrinkingAscent
from ._tail import Tail
from .problem import FloatArray, HingeProblem, IntArray, check_problem
from .run import DualRun, Run, Trace, record_counts
from .sampling import Seed, index_type, make_rng

Order = Literal["permutation", "random"]
Output = Literal["last", "average", "random"]


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Hold a feasible dual point, and what it proves of an iterate.

    Attributes
    ----------
    alpha : ndarray, shape (n,)
        Dual variables in [0, 1].
    w : ndarray, shape (d,)
        The iterate that is certified.
    gap : float
        P(w) - D(alpha) >= P(w) - P(w*).
    """

    alpha: FloatArray = field(repr=False)
    w: FloatArray = field(repr=False)
    gap: float


def sdca(
    problem: HingeProblem,
    *,
    n_epochs: int = 1000,
    gap: float = 1e-6,
    rng: Seed = 0,
    order: Order = "permutation",
    shrink: bool = True,
    output: Output = "last",
    burn_in: int | None = None,
    alpha0: ArrayLike | None = None,
    record: int | Iterable[int] | None = None,
) -> DualRun:
    """Maximise the dual D by exact steps in one alpha_i at a time, in a random order each epoch.

    A coordinate step is alpha_i <- clip(alpha_i + lam n (1 - y_i <w, x_i>)/||x_i||^2) to [0, 1],
    and 1 for a zero row, with w = w(alpha) kept up to date. It stops once the duality gap of
    what it returns is at most `gap`.

    Parameters
    ----------
    problem : HingeProblem
    n_epochs : int
        Largest number of epochs, at least 0; an epoch makes n steps.
    gap : float
        P(w) - D(alpha) to reach; it bounds P(w) - P(w*).
    rng : int or numpy.random.Generator
        Seed or source of the orders, which are its successive permutations of 0..n-1 (or its
        n integers below n, for order="random") if `shrink` is False and `output` not "random".
    order : {"permutation", "random"}
        An epoch visits every example once, or n independent uniform ones, for which alone the
        rate is proved. "random" needs shrink=False.
    shrink : bool
        By default, do without visits that change nothing. Before an epoch, those examples are
        visited often, max(2 n, 20,000) visits at most, that were not settled in the last one
        (alpha_i inside (0, 1), or changed); every 8 sweeps over them are extrapolated where that
        raises the dual. In the epoch, no row is read whose step is known to change nothing, and
        many rows are ordered by blocks of neighbours, which are read faster. So a small gap takes
        far fewer epochs. False gives the textbook's method.
    output : {"last", "average", "random"}
        With alpha^(t) after t steps, T steps made and T_0 = n burn_in: alpha^(T), the mean of
        alpha^(t) over t = T_0..T-1, or one of these chosen uniformly. The rate is proved for the
        last two. They need shrink=False, and the gap is computed after every epoch beyond T_0.
    burn_in : int, optional
        Epochs before those that "average" and "random" look at, below n_epochs; n_epochs // 2 by
        default.
    alpha0 : array_like, shape (n,), optional
        Start in [0, 1]^n, such as `sgd_initialisation(problem).alpha`; 0 by default.
    record : None, int or iterable of int
        Numbers of epochs after which the iterate is kept; an integer spaces them over n_epochs.

    Returns
    -------
    DualRun
        `n_iter` counts epochs; either `gap` is reached or `n_iter == n_epochs`. Where it stops
        early, the last epoch made is kept in place of what `record` names beyond it. `alpha`,
        `w` = w(alpha) and `gap` are those of `output`; the trace holds w(alpha^(t)) as ever.

    Raises
    ------
    ValueError
        If an option is out of its range; the message says what is expected.

    References
    ----------
    Shalev-Shwartz and Zhang, "Stochastic dual coordinate ascent methods for regularized loss
    minimization", Journal of Machine Learning Research 14 (2013).
    """
    check_problem(problem)
    n_epochs = check_count(n_epochs, "n_epochs", 0)
    gap = check_positive(gap, "gap")
    burn_in = _check_options(order, shrink, output, burn_in, n_epochs)
    wanted = set(record_counts(record, n_epochs).tolist())
    rng = make_rng(rng)
    n, alpha, w, reached = problem.n, np.zeros(problem.n), np.zeros(problem.d), 1.0
    data, scale = (rows_of(problem), problem.y), problem.lam * problem.n
    loop, fixed = sweep_loop(), (problem.squared_norms, scale)
    if jit_enabled():
        loop(*data, np.zeros(0, dtype=index_type(n)), *fixed, alpha, w)  # compiles, untimed
        gap_loop()(*data, scale, alpha[:0], w)

    def sweep(indices: IntArray) -> float:
        return loop(*data, indices, *fixed, alpha, w)

    def prove(point: FloatArray, w: FloatArray) -> float:
        if jit_enabled():
            return gap_loop()(*data, scale, point, w) / n
        return _prove(problem, point, w)

    if alpha0 is not None:
        alpha = check_alpha(alpha0, n, "alpha0").copy()
        reached = prove(alpha, w)
    ascent = ShrinkingAscent(problem, alpha, w, rng) if shrink else None
    kept: dict[int, FloatArray] = {}
    clock: dict[int, float] = {}
    done, visits, seconds, known = 0, 0, 0.0, True
    tail, point = Tail(sweep, alpha, rng), alpha
    while True:
        if done in wanted:
            kept[done], clock[done] = w.copy(), seconds
        if done == n_epochs or reached <= gap:
            break
        start = time.perf_counter()
        if ascent:
            seen, made = ascent.epoch()
        else:
            made, indices = n, _draw_order(rng, n, order)
            if output == "last" or done < burn_in:
                seen = sweep(indices)
            else:
                point = tail.average(indices) if output == "average" else tail.choose(indices)
        done, visits, known = done + 1, visits + made, False
        if point is not alpha:
            w[:] = problem.weights(alpha)
            reached = prove(point, np.empty_like(w))
        # The gap costs two passes over the data. `seen` was met before the steps, so it tends to
        # exceed the gap, and tells when that is worth computing.
        elif output == "last" and seen <= 4.0 * gap:
            reached, known = prove(alpha, w), True  # from alpha alone: no drift
            if ascent:
                ascent.read_all()
        seconds += time.perf_counter() - start

    if not known:
        reached = prove(point, w)
    kept[done] = w if point is alpha else problem.weights(alpha)
    clock.setdefault(done, seconds)
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
        alpha=point,
        gap=reached,
        visits=visits,
    )


def sgd_initialisation(problem: HingeProblem, rng: Seed = 0) -> DualPoint:
    r"""Make one pass that sets each alpha_i to the maximiser of the dual of the examples so far.

    The examples are shuffled. The t-th, i, gets the maximiser of D_t(alpha) = (1/t) sum alpha_j
    - lam/2 ||w^(t)||^2, w^(t) = (1/(lam t)) sum alpha_j y_j x_j, both sums over the first t of
    them, with the alpha_j before it fixed: the clip of
    lam (t - (t - 1) y_i <x_i, w^(t-1)>)/||x_i||^2 to [0, 1], and 1 for a zero row. (The paper
    prints it without the factor (t - 1)/t; its proof needs the maximiser.) For i.i.d. data with
    norms of at most 1 the mean of D(alpha*) - D(alpha) is at most 2 (1 + ln n)/(lam n). The first
    epoch of `sdca` often does as well; this can be better only where lam n is large.

    Parameters
    ----------
    problem : HingeProblem
    rng : int or numpy.random.Generator
        Seed or source of the order, which is its permutation of 0..n-1.

    Returns
    -------
    DualPoint
        alpha, w = w(alpha) and their gap; `alpha` is fit to be the `alpha0` of `sdca`.

    References
    ----------
    Shalev-Shwartz and Zhang (2013), procedure Modified-SGD and Theorem 3.
    """
    check_problem(problem)
    order = make_rng(rng).permutation(problem.n)
    alpha, v = np.zeros(problem.n), np.zeros(problem.d)
    norms = problem.squared_norms
    greedy_loop()(rows_of(problem), problem.y, order, norms, problem.lam, alpha, v)
    w = problem.weights(alpha)
    return DualPoint(alpha=alpha, w=w, gap=problem.duality_gap(w, alpha))


def pegasos_certificate(run: Run) -> DualPoint:
    """Return the dual point that Pegasos without projection makes on its way, and the gap at run.w.

    That Pegasos has w_{T+1} = w(alpha) with alpha_i = n c_i/(T k), where c_i counts the steps at
    which example i was drawn with its margin below 1. After whole permutation epochs alpha_i is
    the share of the epochs in which i was hit, so it lies in [0, 1]. Independent draws may hit an
    example too often: alpha_i is then cut to 1, and w(alpha) is no longer w_{T+1}.

    The run keeps no counts, so its draws are replayed, at the cost of the run itself. Any feasible
    alpha bounds P(w) - P(w*) at any w: the gap is true for whatever run the draws come from, and
    for its average (`run.trace.problem.duality_gap(run.w_average, point.alpha)`), but only for
    the Pegasos above does it close.

    Parameters
    ----------
    run : Run
        Of a solver that draws examples.

    Returns
    -------
    DualPoint
        alpha, run.w, and P(run.w) - D(alpha).

    Raises
    ------
    ValueError
        If the run drew no examples.
    """
    if run.draws is None:
        raise ValueError("the certificate needs a run that drew examples; its draws are None")
    problem = run.trace.problem
    draws = run.draws[:, np.newaxis] if run.draws.ndim == 1 else run.draws
    counts, v = np.zeros(problem.n, dtype=np.int64), np.zeros(problem.d)
    hits = np.zeros(draws.shape[1], dtype=np.int64)
    hits_loop()(rows_of(problem), problem.y, draws, problem.lam, v, hits, counts)
    alpha = np.minimum(1.0, counts * problem.n / max(1, draws.size))
    return DualPoint(alpha=alpha, w=run.w, gap=problem.duality_gap(run.w, alpha))


def _check_options(
    order: str, shrink: bool, output: str, burn_in: int | None, n_epochs: int
) -> int:
    """Check the options of `sdca` that depend on each other; return the burn-in."""
    if order not in ("permutation", "random"):
        raise ValueError(f"order must be 'permutation' or 'random'; got {order!r}")
    if output not in ("last", "average", "random"):
        raise ValueError(f"output must be 'last', 'average' or 'random'; got {output!r}")
    for name, value, usual in (("order", order, "permutation"), ("output", output, "last")):
        if shrink and value != usual:
            raise ValueError(
                f"{name}={value!r} needs shrink=False: the visits between two epochs are neither "
                "uniform nor counted"
            )
    if burn_in is None:
        return n_epochs // 2
    if output == "last":
        raise ValueError("burn_in is for output='average' or 'random'; output is 'last'")
    if check_count(burn_in, "burn_in", 0) >= max(1, n_epochs):
        raise ValueError(f"burn_in must lie below n_epochs = {n_epochs}; got {burn_in}")
    return burn_in


def _draw_order(rng: np.random.Generator, n: int, order: Order) -> IntArray:
    """Return the examples of an epoch, as `rng.permutation(n)` or `rng.integers(n, size=n)`."""
    if order == "random":
        return rng.integers(n, size=n, dtype=index_type(n))
    indices: IntArray = np.arange(n, dtype=index_type(n))
    rng.shuffle(indices)
    return indices


def _prove(problem: HingeProblem, alpha: FloatArray, w: FloatArray) -> float:
    """Set w to w(alpha), and return the duality gap there: `prove_gap` in NumPy.

    It is the mean of (1 - alpha_i) max(0, 1 - m_i) + alpha_i max(0, m_i - 1).
    """
    w[:] = problem.weights(alpha)
    slack = 1.0 - problem.margins(w)
    return float(np.mean(np.where(slack > 0.0, (1.0 - alpha) * slack, -alpha * slack)))
