"""The epochs of SDCA with shrinking: no row is read whose step is known to change nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._kernels import add_rows, chosen, jit_enabled, rows_of
from ._rows import PREFETCH, add_row, coordinate_gap, maximised, prefetch, row_dot
from .problem import FloatArray, HingeProblem, IntArray
from .sampling import index_type

# The unsettled examples are visited until the sum of their coordinate gaps has fallen to this
# share of that of the last sweep over all, or this many times n (or _LEAST) in all.
_SHARE, _TIMES, _LEAST = 0.05, 2, 10_000
# The last sweeps of those in the same order are extrapolated. That takes as long as thousands of
# visits to rows in the cache, so it follows so many visits at least.
_SWEEPS, _VISITS = 8, 3000
# In an order of so many examples or more, blocks of neighbours stay together: the processor
# reads ahead. Fewer rows are in the cache anyway.
_MANY, _BLOCK = 4096, 32
# A length between these is above its 32-bit form once it is multiplied by the first.
_SHORTER, _SHORTEST, _LONGEST = 1.0 - 2.0**-23, 1e-37, 3e38


class ShrinkingAscent:
    """Maximise the dual by epochs that look for unsettled examples, and often visit those.

    An example is settled if its alpha_i is at an end of [0, 1] at which its margin holds it. From
    one w to another a margin moves by at most ||x_i|| times their distance; until the path of w
    since an example was read is long enough for its margin to reach 1, it stays settled unread.

    Parameters
    ----------
    problem : HingeProblem
    alpha, w : ndarray, shapes (n,) and (d,)
        In [0, 1], and w(alpha); changed in place.
    rng : numpy.random.Generator
        Source of the orders.
    """

    def __init__(
        self, problem: HingeProblem, alpha: FloatArray, w: FloatArray, rng: np.random.Generator
    ) -> None:
        self._alpha, self._w, self._rng = alpha, w, rng
        self._data = (rows_of(problem), problem.y)
        self._fixed = (problem.squared_norms, problem.lam * problem.n)
        self._n, self._lam = problem.n, problem.lam
        self._unsettled, self._gaps = np.zeros(0, dtype=index_type(problem.n)), np.inf
        # An extrapolation handles all of w, so the rows it is to help must hold as many numbers.
        size = problem.X.nnz if problem.is_sparse else problem.X.size
        self._worthwhile = problem.d * problem.n / max(1, size)
        self._sweeps, self._watch = chosen(take_sweeps), chosen(take_watchful_sweep)
        self._add = chosen(add_rows)
        self.read_all()
        if jit_enabled():
            self._sweep(self._unsettled, 0, 0.0, np.zeros((1, 0)))  # compiles
            self._watch_sweep(self._unsettled)
            self._add(self._data[0], self._unsettled, np.zeros(0), np.zeros(problem.d))

    def read_all(self) -> None:
        """Have every row read in the next epoch: no rounding then outlives it."""
        self._path, self._settled_until = 0.0, np.zeros(self._n, dtype=np.float32)

    def epoch(self) -> tuple[float, int]:
        """Visit the unsettled examples, then sweep over all.

        Returns
        -------
        tuple of float and int
            The sweep's coordinate gaps, each met before its step, as a sum over n; rows read.
        """
        visits = self._settle()
        self._unsettled, self._gaps, read = self._watch_sweep(_shuffled(self._rng, self._n))
        return self._gaps / self._n, visits + read

    def _settle(self) -> int:
        """Sweep over the unsettled examples alone; return how many visits were made."""
        examples, start, visits = self._unsettled, self._w.copy(), 0
        gaps, enough, limit = self._gaps, _SHARE * self._gaps, _TIMES * max(self._n, _LEAST)
        while len(examples) and gaps > enough and visits < limit:
            examples = np.sort(examples)[_shuffled(self._rng, len(examples))]
            m = len(examples)
            # Of many examples too few sweeps are made, and their steps would take much room.
            keeps = self._worthwhile <= m <= max(self._n, 2 * _LEAST) / _SWEEPS
            steps = np.zeros((_SWEEPS if keeps else 1, m))
            times = _SWEEPS * -(-_VISITS // (_SWEEPS * m))
            wanted = min(times, -(-(limit - visits) // m))
            sweeps, gaps = self._sweep(examples, wanted, enough, steps)
            visits += sweeps * m
            moved = steps[(sweeps - 1) % len(steps)] != 0.0
            if keeps and sweeps == times:
                self._extrapolate(examples, steps)
            now = self._alpha[examples]
            examples = examples[moved | ((now > 0.0) & (now < 1.0))]
        self._path += float(np.linalg.norm(self._w - start))
        return visits

    def _extrapolate(self, examples: IntArray, steps: FloatArray) -> None:
        """Go on from where the last `steps` (K, m) of the examples led, as far as the dual rises.

        The limit is taken to be the affine combination of the last K points for which that of
        the steps to them is shortest (Anderson's acceleration; Bertrand and Massias, "Anderson
        acceleration of coordinate descent", AISTATS 2021), cut to [0, 1].
        """
        point, products = self._alpha[examples], steps @ steps.T
        size = float(np.trace(products))
        if size == 0.0:
            return
        c = np.linalg.solve(products + 1e-7 * size * np.eye(len(steps)), np.ones(len(steps)))
        # Written with steps, it leaves what did not move exactly where it is.
        limit = point - np.cumsum(c / c.sum())[:-1] @ steps[1:]
        move, dw = np.clip(limit, 0.0, 1.0) - point, np.zeros_like(self._w)
        X, y = self._data
        self._add(X, examples, move * y[examples] / (self._lam * self._n), dw)
        # The dual along the move is t slope - t^2 bend/2.
        slope = float(move.sum()) / self._n - self._lam * float(self._w.dot(dw))
        bend = self._lam * float(dw.dot(dw))
        if slope > 0.0:
            t = 1.0 if slope >= bend else slope / bend
            self._alpha[examples] = np.clip(point + t * move, 0.0, 1.0)
            self._w += t * dw

    def _sweep(
        self, examples: IntArray, times: int, enough: float, steps: FloatArray
    ) -> tuple[int, float]:
        """Visit these examples in this order, over and over, as `take_sweeps` does."""
        sweeps, gaps = self._sweeps(
            *self._data, examples, *self._fixed, times, enough, self._alpha, self._w, steps
        )
        return int(sweeps), float(gaps)

    def _watch_sweep(self, order: IntArray) -> tuple[IntArray, float, int]:
        """Return the unsettled examples, the sum of the coordinate gaps and the rows read."""
        count, gaps, read, self._path = self._watch(
            *self._data, order, *self._fixed, self._alpha, self._w, self._settled_until, self._path
        )
        return order[:count].copy(), float(gaps), int(read)


def take_sweeps(
    X: Any,
    y: Any,
    order: Any,
    squared_norms: Any,
    scale: float,
    times: int,
    enough: float,
    alpha: Any,
    w: Any,
    steps: Any,
) -> tuple[int, float]:
    """Repeat one sweep of exact coordinate ascent on the dual.

    Parameters
    ----------
    X, y, order, squared_norms, scale, alpha, w : as for `take_sweep`
    times : largest number of sweeps
    enough : stop after a sweep whose coordinate gaps, each met before its step, sum to this
    steps : (K, m) changes of alpha in the last K sweeps, sweep s in row s mod K

    Returns
    -------
    tuple of int and float
        Sweeps made, and the sum of the coordinate gaps of the last one.
    """
    column = order.reshape(-1, 1)
    sweeps, gaps = 0, np.inf
    while sweeps < times and gaps > enough:
        row, gaps = sweeps % len(steps), 0.0
        for j in range(len(order)):
            prefetch(X, column, j + PREFETCH)
            i = order[j]
            old = alpha[i]
            slack = 1.0 - y[i] * row_dot(X, i, w)
            gaps += coordinate_gap(old, slack)
            new = maximised(old, slack, squared_norms[i], scale)
            steps[row, j] = new - old
            if new != old:
                alpha[i] = new
                add_row(X, i, (new - old) * y[i] / scale, w, 0.0, False)
        sweeps += 1
    return sweeps, gaps


def take_watchful_sweep(
    X: Any,
    y: Any,
    order: Any,
    squared_norms: Any,
    scale: float,
    alpha: Any,
    w: Any,
    settled_until: Any,
    path: float,
) -> tuple[int, float, int, float]:
    """Run one sweep of exact coordinate ascent on the dual that leaves out settled examples.

    Parameters
    ----------
    X, y, order, squared_norms, scale, alpha, w : as for `take_sweep`; the examples that are not
        settled take the first places of the order
    settled_until : (n,) the length of w's path up to which an example is settled, in 32 bits;
        changed in place
    path : length of w's path so far

    Returns
    -------
    tuple of int, float, int and float
        Unsettled examples; sum of the coordinate gaps, each met before its step; rows read; path.
    """
    count, gaps, read = 0, 0.0, 0
    column = order.reshape(-1, 1)
    for j in range(len(order)):
        i = order[j]
        if settled_until[i] > path:
            continue
        prefetch(X, column, j + PREFETCH)
        read += 1
        old, norm = alpha[i], math.sqrt(squared_norms[i])
        slack = 1.0 - y[i] * row_dot(X, i, w)
        gaps += coordinate_gap(old, slack)
        new = maximised(old, slack, squared_norms[i], scale)
        if new == old and (new == 0.0 or new == 1.0):
            until = path + abs(slack) / norm if norm > 0.0 else np.inf
            # Not above the true length in 32 bits either, nor infinite there.
            settled_until[i] = min(_SHORTER * until, _LONGEST) if until > _SHORTEST else 0.0
            continue
        order[count] = i
        count += 1
        settled_until[i] = 0.0
        if new != old:
            alpha[i] = new
            add_row(X, i, (new - old) * y[i] / scale, w, 0.0, False)
            path += abs(new - old) * norm / scale
    return count, gaps, read, path


def _shuffled(rng: np.random.Generator, m: int) -> IntArray:
    """Return 0..m-1 in a random order, that of many by blocks; what is left over comes last."""
    order: IntArray = np.arange(m, dtype=index_type(m))
    if m < _MANY:
        rng.shuffle(order)
        return order
    whole = m // _BLOCK
    blocks = order[: whole * _BLOCK].reshape(whole, _BLOCK)
    np.add(
        _BLOCK * rng.permutation(whole)[:, np.newaxis], order[:_BLOCK], out=blocks, casting="unsafe"
    )
    rng.permuted(blocks, axis=1, out=blocks)
    rng.shuffle(order[whole * _BLOCK :])
    return order
