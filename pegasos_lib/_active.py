"""Follow the margins below 1 from one iterate of a batch method to the next, and their sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _kernels
from ._kernels import jit_enabled, rows_of
from ._rows import add_row, row_dot
from .problem import FloatArray, HingeProblem, IntArray

# More rows than this share are read faster with all the others than picked out.
_FEW = 0.1
# A dense X is read as CSR where at most this share of it is not 0, once passes over it have cost
# about what it costs to make the CSR form, which is made in blocks that the cache holds.
_THIN, _PASSES, _BLOCK = 0.3, 8, 200_000
# Rounding of a margin, as a share of ||x_i|| ||w||, with room for long rows.
_ROUNDING = 1e-12


class ActiveSum:
    """Give the sum of y_i x_i over the margins below 1, at one w after the other.

    Between two iterates most margins stay on their side of 1. From c m_i to its value at another
    w the margin m_i moves by at most ||x_i|| ||w - c w_old||, whatever c; so only the examples
    whose margin may have reached 1 are looked at again, and only those that crossed change the
    sum. Any w is right at any time: one that is far away costs a pass over X, as the first does.
    """

    def __init__(self, problem: HingeProblem) -> None:
        self.problem, self._read = problem, 0
        self._keep(problem)
        self._norms, self._all = np.sqrt(problem.squared_norms), np.arange(problem.n)
        # At 0 all margins are 0; what is below 1 there is found by the first call.
        self._w, self._sum, self._changes = np.zeros(problem.d), np.zeros(problem.d), 0
        self._margins, self._drift = np.zeros(problem.n), np.zeros(problem.n)
        self._active = np.zeros(problem.n, dtype=bool)

    def at(self, w: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
        """Return which margins are below 1 at w (d,), and the sum (d,) of their y_i x_i."""
        self._follow(w)
        active, y = self._margins < 1.0, self.problem.y
        crossed = np.flatnonzero(active != self._active)
        self._changes += len(crossed)
        if self._changes > 2 * len(y):  # their rounding adds up: afresh
            self._sum, self._changes, crossed = np.zeros(len(w)), 0, np.flatnonzero(active)
        signs = np.where(active[crossed], y[crossed], -y[crossed])
        self._active, self._sum = active, self._sum + self._sum_of(crossed, signs)
        return active, self._sum

    def margins(self, w: FloatArray) -> FloatArray:
        """Return all margins at w (d,), to the last digits; `at` this w is then quick."""
        self._margins, self._drift = self._margins_of(self._all, w), np.zeros(self.problem.n)
        self._w = w
        return self._margins

    def _follow(self, w: FloatArray) -> None:
        """Bring the margins to w, to the last digits wherever they may have reached 1."""
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
        self._count(len(examples))
        y = self.problem.y
        if len(examples) > _FEW * len(y):
            return cast(FloatArray, (y * (self._X @ w))[examples])
        if not self._loops:
            return cast(FloatArray, y[examples] * (self._X[examples] @ w))
        margins = np.empty(len(examples))
        self._loops[0](self._rows, y, examples, w, margins)
        return margins

    def _sum_of(self, examples: IntArray, signs: FloatArray) -> FloatArray:
        """Return the sum of sign_i x_i over these examples."""
        self._count(len(examples))
        if len(examples) > _FEW * self.problem.n:
            weights = np.zeros(self.problem.n)
            weights[examples] = signs
            return cast(FloatArray, self._X.T @ weights)
        if not self._loops:
            return cast(FloatArray, self._X[examples].T @ signs)
        total = np.zeros(self.problem.d)
        self._loops[1](self._rows, examples, signs, total)
        return total

    def _count(self, examples: int) -> None:
        """Count the rows read, and go over to CSR where that pays."""
        before, self._read = self._read, self._read + examples
        X, limit = self.problem.X, _PASSES * self.problem.n
        if before <= limit < self._read and not self.problem.is_sparse and X.size < 2**31:
            sample = X[:: max(1, len(X) // 500)]
            if np.count_nonzero(sample) <= _THIN * sample.size:
                self._keep(HingeProblem(_thin(X), self.problem.y, self.problem.lam))

    def _keep(self, problem: HingeProblem) -> None:
        """Read the rows from this problem's X from now on."""
        self._X = problem.X
        self._loops: tuple[Callable[..., None], ...] = ()
        if jit_enabled():
            self._rows, self._loops = rows_of(problem), _compiled()
            none, w = np.zeros(0, dtype=np.int64), np.zeros(problem.d)
            self._loops[0](self._rows, problem.y, none, w, np.zeros(0))  # compiles
            self._loops[1](self._rows, none, np.zeros(0), w)


def put_margins(X: Any, y: Any, examples: Any, w: Any, margins: Any) -> None:
    """Put the margins of these examples at w into `margins`; a loop to be compiled."""
    for j in range(len(examples)):
        margins[j] = y[examples[j]] * row_dot(X, examples[j], w)


def add_signed_rows(X: Any, examples: Any, signs: Any, total: Any) -> None:
    """Add the sum of sign_i x_i over these examples to `total`; a loop to be compiled."""
    for j in range(len(examples)):
        add_row(X, examples[j], signs[j], total, 0.0, False)


@cache
def _compiled() -> tuple[Callable[..., None], ...]:
    _kernels.steps_loop()  # registers the row operations
    loops: tuple[Any, ...] = (put_margins, add_signed_rows)
    return tuple(_kernels._cached_njit(loop) for loop in loops)


def _thin(X: FloatArray) -> Any:
    """Return dense X in the CSR format."""
    from scipy.sparse import csr_array

    n, d = X.shape
    data, columns, counts = [], [], []
    for first in range(0, n, max(1, _BLOCK // d)):
        block = X[first : first + max(1, _BLOCK // d)]
        places = np.flatnonzero(block != 0.0)
        data.append(block.ravel()[places])
        rows = places // d
        columns.append((places - d * rows).astype(np.int32))
        counts.append(np.bincount(rows, minlength=len(block)))
    indptr = np.append(0, np.cumsum(np.concatenate(counts))).astype(np.int32)
    return csr_array((np.concatenate(data), np.concatenate(columns), indptr), shape=(n, d))
