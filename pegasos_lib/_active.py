"""Follow the margins below 1 from one iterate of a batch method to the next, and their sum."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ._kernels import add_rows, compiled, jit_enabled, rows_of
from ._rows import row_dot
from .problem import FloatArray, HingeProblem, IntArray

# More rows than this share are read faster with all the others than picked out: in NumPy, which
# copies what it picks, and compiled.
_FEW, _FEW_COMPILED = 0.2, 0.7
# A dense X is read as CSR where at most this share of it is not 0, once as many passes over it
# have been made as the CSR form costs, which is made in blocks that the cache holds.
_THIN, _PASSES, _BLOCK = 0.3, 3, 50_000
# An iterate with at most this share of numbers that are not 0 is read by the columns of X.
_SPARSE = 0.2
# Rounding of a margin, as a share of ||x_i|| ||w||, with room for long rows.
_ROUNDING = 1e-12


class _Known(NamedTuple):
    """Hold the sum of y_i x_i over the active examples, made by so many additions."""

    active: NDArray[np.bool_]
    total: FloatArray
    additions: int


class ActiveSum:
    """Give the sum of y_i x_i over the margins below 1, at one w after the other.

    Between two iterates most margins stay on their side of 1. From c m_i to its value at another
    w the margin m_i moves by at most ||x_i|| ||w - c w_old||, whatever c; so only the examples
    whose margin may have reached 1 are looked at again. Of the sums that are known, the one that
    fewest examples separate from the new one is changed. Any w is right at any time: one that is
    far away costs a pass over X, as the first does. A w that was given must not change.
    """

    def __init__(self, problem: HingeProblem) -> None:
        self.problem, self._read, self._sparse = problem, 0, 0
        self._X, self._columns = _Rows(problem), cast("_Rows | None", None)
        self._norms, self._all = np.sqrt(problem.squared_norms), np.arange(problem.n)
        # At 0 all margins are 0; what is below 1 there is found by the first call.
        self._w = np.zeros(problem.d)
        self._margins, self._drift = np.zeros(problem.n), np.zeros(problem.n)
        # The sum of nothing, that of the first call (of all examples, at 0) and the last two:
        # steps that are too long go to and fro between two sets.
        self._known = [_Known(np.zeros(problem.n, dtype=bool), np.zeros(problem.d), 0)]

    def at(self, w: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
        """Return which margins are below 1 at w (d,), and the sum (d,) of their y_i x_i."""
        self._follow(w)
        active, y = self._margins < 1.0, self.problem.y
        known = min(self._known, key=lambda sum_: np.count_nonzero(sum_.active != active))
        crossed = np.flatnonzero(active != known.active)
        if known.additions + len(crossed) > 2 * len(y):  # their rounding adds up: afresh
            known, crossed = self._known[0], np.flatnonzero(active)
        self._count(len(crossed))
        signs = np.where(active[crossed], y[crossed], -y[crossed])
        total = known.total + self._X.combined(crossed, signs)
        new = _Known(active, total, known.additions + len(crossed))
        self._known = [*self._known[:2], *self._known[2:][-1:], new]
        return active, total

    def margins(self, w: FloatArray) -> FloatArray:
        """Return all margins at w (d,), to the last digits; `at` this w is then quick."""
        self._margins, self._drift = self._margins_of(self._all, w), np.zeros(self.problem.n)
        self._w = w
        return self._margins

    def _follow(self, w: FloatArray) -> None:
        """Bring the margins to w, to the last digits wherever they may have reached 1."""
        if w is self._w:
            return
        if np.count_nonzero(w) <= _SPARSE * len(w):
            self.margins(w)
            return
        square = float(self._w.dot(self._w))
        c = float(w.dot(self._w)) / square if square > 0.0 else 0.0
        move = w - c * self._w
        distance = math.sqrt(move.dot(move)) + _ROUNDING * math.sqrt(w.dot(w))
        self._margins, self._w = c * self._margins, w
        self._drift = abs(c) * self._drift + distance
        # So written, a margin or a w that is not a number is unsure too.
        unsure = np.flatnonzero(~(np.abs(self._margins - 1.0) > self._norms * self._drift))
        self._margins[unsure], self._drift[unsure] = self._margins_of(unsure, w), 0.0

    def _margins_of(self, examples: IntArray, w: FloatArray) -> FloatArray:
        used = np.flatnonzero(w)
        if len(used) == 0:
            return np.zeros(len(examples))
        if len(examples) == self.problem.n and len(used) <= _SPARSE * len(w) and self._by_column():
            return self.problem.y * cast(_Rows, self._columns).combined(used, w[used])
        self._count(len(examples))
        return self.problem.y[examples] * self._X.dots(examples, w)

    def _count(self, examples: int) -> None:
        """Count the rows read, and go over to CSR where that pays."""
        before, self._read = self._read, self._read + examples
        X, limit = self.problem.X, _PASSES * self.problem.n
        if before <= limit < self._read and not self.problem.is_sparse and X.size < 2**31:
            sample = X[:: max(1, len(X) // 500)]
            if np.count_nonzero(sample) <= _THIN * sample.size:
                self._X = _Rows(HingeProblem(_thin(X), self.problem.y, self.problem.lam))

    def _by_column(self) -> bool:
        """Return whether the columns are at hand, which CSR rows give once that pays."""
        self._sparse += 1
        if self._columns is None and self._sparse > _PASSES and self._X.is_sparse:
            self._columns = _Rows(
                HingeProblem(self._X.matrix.T.tocsr(), np.ones(self.problem.d), self.problem.lam)
            )
        return self._columns is not None


class _Rows:
    """Read rows of a problem's X, in NumPy or compiled."""

    def __init__(self, problem: HingeProblem) -> None:
        self.matrix, self.is_sparse = problem.X, problem.is_sparse
        self._compiled = jit_enabled()
        self._few = (_FEW_COMPILED if self._compiled else _FEW) * problem.n
        if self._compiled:
            self._rows, none = rows_of(problem), np.zeros(0, dtype=np.int64)
            self.dots(none, np.zeros(problem.d))  # compiles
            self.combined(none, np.zeros(0))

    def dots(self, rows: IntArray, v: FloatArray) -> FloatArray:
        """Return <x_i, v> for these rows."""
        if len(rows) > self._few:
            return cast(FloatArray, (self.matrix @ v)[rows])
        if not self._compiled:
            return cast(FloatArray, self.matrix[rows] @ v)
        dots = np.empty(len(rows))
        compiled(put_dots)(self._rows, rows, v, dots)
        return dots

    def combined(self, rows: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return the sum of c_i x_i over these rows."""
        if len(rows) > self._few:
            weights = np.zeros(self.matrix.shape[0])
            weights[rows] = coefficients
            return cast(FloatArray, self.matrix.T @ weights)
        if not self._compiled:
            return cast(FloatArray, self.matrix[rows].T @ coefficients)
        total = np.zeros(self.matrix.shape[1])
        compiled(add_rows)(self._rows, rows, coefficients, total)
        return total


def put_dots(X: Any, rows: Any, v: Any, dots: Any) -> None:
    """Put <x_i, v> of these rows into `dots`; a loop to be compiled."""
    for j in range(len(rows)):
        dots[j] = row_dot(X, rows[j], v)


def count_entries(X: Any, counts: Any) -> None:
    """Put the number of entries of each row of a dense X that are not 0 into `counts`."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            counts[i] += X[i, j] != 0.0


def put_entries(X: Any, indptr: Any, data: Any, columns: Any) -> None:
    """Put the entries of a dense X that are not 0, and their columns, in the CSR format."""
    for i in range(X.shape[0]):
        p = indptr[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                data[p], columns[p] = X[i, j], j
                p += 1


def _thin(X: FloatArray) -> Any:
    """Return dense X in the CSR format."""
    from scipy.sparse import csr_array

    n, d = X.shape
    counts = np.zeros(n, dtype=np.int64)
    if jit_enabled():
        compiled(count_entries)(X, counts)
        indptr = np.append(0, np.cumsum(counts)).astype(np.int32)
        data, columns = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
        compiled(put_entries)(X, indptr, data, columns)
        return csr_array((data, columns, indptr), shape=X.shape)

    size = max(1, _BLOCK // d)
    of_place = np.tile(np.arange(d, dtype=np.int32), min(n, size))
    data_of, columns_of = [], []
    for first in range(0, n, size):
        block = X[first : first + size]
        there = block != 0.0
        places = np.flatnonzero(there)
        data_of.append(block.ravel()[places])
        columns_of.append(of_place[places])
        counts[first : first + size] = np.count_nonzero(there, axis=1)
    indptr = np.append(0, np.cumsum(counts)).astype(np.int32)
    return csr_array((np.concatenate(data_of), np.concatenate(columns_of), indptr), shape=X.shape)
