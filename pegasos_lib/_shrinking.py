"""The epochs of SDCA with shrinking: no row is read whose step is known to change nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._kernels import add_rows, chosen, jit_enabled, rows_of, sweeps_loop
from ._rows import PREFETCH, add_row, prefetch, row_dot
from .problem import FloatArray, HingeProblem, IntArray

# The unsettled examples are visited until the sum of their coordinate gaps has fallen to this
# share of that of the last sweep over all, or this many times n (or _LEAST) in all.
_SHARE, _TIMES, _LEAST = 0.05, 2, 10_000
# Sweeps in the same order, after which they are extrapolated.
_SWEEPS = 8
# In an order of so many examples or more, blocks of neighbours stay together: the processor
# reads ahead. Fewer rows are in the cache anyway.
_MANY, _BLOCK = 4096, 32


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
        self._n, self._lam, self._all = problem.n, problem.lam, np.arange(problem.n)
        self._unsettled, self._gaps = self._all[:0], np.inf
        # An extrapolation handles all of w, so the rows it is to help must hold as many numbers.
        size = problem.X.nnz if problem.is_sparse else problem.X.size
        self._worthwhile = problem.d * problem.n / max(1, size)
        self._sweeps = sweeps_loop()
        self._watch, self._add = chosen(take_watchful_sweep), chosen(add_rows)
        self.read_all()
        if jit_enabled():
            self._watch_sweep(self._all[:0])  # compiles
            self._add(self._data[0], self._all[:0], np.zeros(0), np.zeros(problem.d))

    def read_all(self) -> None:
        """Have every row read in the next epoch: no rounding then outlives it."""
        self._path, self._settled_until = 0.0, np.zeros(self._n)

    def epoch(self) -> tuple[float, int]:
        """Visit the unsettled examples, then sweep over all.

        Returns
        -------
        tuple of float and int
            The sweep's coordinate gaps, each met before its step, as a sum over n; rows read.
        """
        visits = self._settle()
        self._unsettled, self._gaps, read = self._watch_sweep(_shuffled(self._rng, self._all))
        return self._gaps / self._n, visits + read

    def _settle(self) -> int:
        """Sweep over the unsettled examples alone; return how many visits were made."""
        examples, start, visits = self._unsettled, self._w.copy(), 0
        gaps, enough, limit = self._gaps, _SHARE * self._gaps, _TIMES * max(self._n, _LEAST)
        while len(examples) and gaps > enough and visits < limit:
            examples = _shuffled(self._rng, np.sort(examples))
            points = [self._alpha[examples]]
            while len(points) <= _SWEEPS and gaps > enough and visits < limit:
                gaps = self._sweep(examples)
                points.append(self._alpha[examples])
                visits += len(examples)
            if len(points) > _SWEEPS and len(examples) >= self._worthwhile:
                self._extrapolate(examples, np.array(points))
            now = self._alpha[examples]
            examples = examples[(points[-1] != points[-2]) | ((now > 0.0) & (now < 1.0))]
        self._path += float(np.linalg.norm(self._w - start))
        return visits

    def _extrapolate(self, examples: IntArray, points: FloatArray) -> None:
        """Go towards the limit of the points (K + 1, m) of the examples, as far as the dual rises.

        The limit is taken to be the affine combination of the last K points for which that of
        their last steps is shortest (Anderson's acceleration; Bertrand and Massias, "Anderson
        acceleration of coordinate descent", AISTATS 2021), cut to [0, 1].
        """
        steps = np.diff(points, axis=0)
        products = steps @ steps.T
        size = float(np.trace(products))
        if size == 0.0:
            return
        c = np.linalg.solve(products + 1e-7 * size * np.eye(len(steps)), np.ones(len(steps)))
        # Written with steps, it leaves what did not move exactly where it is.
        limit = points[-1] - np.cumsum(c / c.sum())[:-1] @ steps[1:]
        move, dw = np.clip(limit, 0.0, 1.0) - points[-1], np.zeros_like(self._w)
        X, y = self._data
        self._add(X, examples, move * y[examples] / (self._lam * self._n), dw)
        # The dual along the move is t slope - t^2 bend/2.
        slope = float(move.sum()) / self._n - self._lam * float(self._w.dot(dw))
        bend = self._lam * float(dw.dot(dw))
        if slope > 0.0:
            t = 1.0 if slope >= bend else slope / bend
            self._alpha[examples] = np.clip(points[-1] + t * move, 0.0, 1.0)
            self._w += t * dw

    def _sweep(self, examples: IntArray) -> float:
        """Visit these examples in this order; return the sum of their coordinate gaps."""
        orders = examples[np.newaxis]
        gaps = self._sweeps(*self._data, orders, *self._fixed, 0.0, self._alpha, self._w)[1]
        return float(gaps) * len(examples)

    def _watch_sweep(self, order: IntArray) -> tuple[IntArray, float, int]:
        """Return the unsettled examples, the sum of the coordinate gaps and the rows read."""
        unsettled = np.empty(len(order), dtype=np.int64)
        count, gaps, read, self._path = self._watch(
            *self._data, order, *self._fixed, self._alpha, self._w,
            self._settled_until, self._path, unsettled,
        )  # fmt: skip
        return unsettled[:count].copy(), float(gaps), int(read)


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
    unsettled: Any,
) -> tuple[int, float, int, float]:
    """Run one sweep of exact coordinate ascent on the dual that leaves out settled examples.

    Parameters
    ----------
    X, y, order, squared_norms, scale, alpha, w : as for `take_sweeps`, with one order (n,)
    settled_until : (n,) the length of w's path up to which an example is settled; changed in place
    path : length of w's path so far
    unsettled : (n,) room for the examples that are not settled

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
        gaps += (1.0 - old) * slack if slack > 0.0 else -old * slack
        new = old + scale * slack / squared_norms[i] if norm > 0.0 else 1.0
        new = min(max(new, 0.0), 1.0)
        if new == old and (new == 0.0 or new == 1.0):
            settled_until[i] = path + abs(slack) / norm if norm > 0.0 else np.inf
            continue
        unsettled[count] = i
        count += 1
        settled_until[i] = 0.0
        if new != old:
            alpha[i] = new
            add_row(X, i, (new - old) * y[i] / scale, w, 0.0, False)
            path += abs(new - old) * norm / scale
    return count, gaps, read, path


def _shuffled(rng: np.random.Generator, examples: IntArray) -> IntArray:
    """Return the examples in a random order, that of many by blocks."""
    if len(examples) < _MANY:
        return rng.permutation(examples)
    blocks = rng.permutation(-(-len(examples) // _BLOCK))
    places = blocks[:, np.newaxis] * _BLOCK + np.arange(_BLOCK)
    places = rng.permuted(places, axis=1, out=places).ravel()
    shuffled: IntArray = examples[places[places < len(examples)]]
    return shuffled
