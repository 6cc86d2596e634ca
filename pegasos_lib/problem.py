"""The support vector machine's objective, its subgradients and its dual."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import as_reals, check_alpha, check_indices, check_positive

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Margins of many iterates at once are computed in pieces of at most this many numbers (64 MB).
_CHUNK = 8_000_000
_PIECE = 65_536  # numbers that the cache holds


class HingeProblem:
    r"""Hold the data and lambda of one linear support vector machine without intercept.

    The objective is P(w) = lam/2 ||w||^2 + (1/n) sum_i max(0, 1 - y_i <w, x_i>). A term whose
    margin y_i <w, x_i> equals 1 counts as inactive: the kink convention of the whole book.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, d)
        One example a row. A C-ordered float64 array is kept without a copy; other numbers are
        converted, and every sparse format becomes CSR with sorted, unique 32-bit column indices.
    y : array_like, shape (n,)
        Labels, each -1 or +1. A float64 array is kept without a copy.
    lam : float
        Regularisation, finite and above 0.

    Attributes
    ----------
    X, y, lam
        The validated data. The arrays are read-only: what a solver learns of them stays true.
    n, d : int
        Numbers of examples and of features.
    R : float
        max_i ||x_i||_2.
    C : float
        1/(lam n), the constant of the form 1/2 ||w||^2 + C sum_i loss_i.
    is_sparse : bool
        Whether X is stored as CSR.

    Raises
    ------
    ValueError
        If a shape, a label or a number is not as above; the message names what was found.
    """

    def __init__(self, X: Any, y: ArrayLike, lam: float) -> None:
        self.is_sparse = hasattr(X, "tocsr")
        self.X: Any = _check_csr(X) if self.is_sparse else _check_dense(X)
        self.n, self.d = (int(size) for size in self.X.shape)
        self.y: FloatArray = _check_labels(y, self.n)
        self.lam = check_positive(lam, "lam")

    def __repr__(self) -> str:
        kind = "CSR" if self.is_sparse else "dense"
        return f"HingeProblem(n={self.n}, d={self.d}, lam={self.lam:g}, {kind})"

    def with_lam(self, lam: float) -> HingeProblem:
        """Return the problem with another lambda on the same data, which is not checked again."""
        other = object.__new__(HingeProblem)
        other.__dict__.update(self.__dict__)
        other.lam = check_positive(lam, "lam")
        return other

    @property
    def C(self) -> float:
        """Return 1/(lam n)."""
        return 1.0 / (self.lam * self.n)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """Return the (n,) array of ||x_i||_2^2."""
        if self.is_sparse:
            return csr_squared_norms(self.X)
        return cast(FloatArray, np.einsum("ij,ij->i", self.X, self.X))

    @property
    def R(self) -> float:
        """Return the largest ||x_i||_2."""
        return math.sqrt(float(self.squared_norms.max()))

    def margins(self, w: ArrayLike) -> FloatArray:
        """Return y_i <w, x_i>, shape (n,) for w (d,) and (m, n) for m iterates W (m, d)."""
        margins = self._scores(self._check_w(w))
        margins *= self.y
        return margins

    def losses(self, w: ArrayLike) -> FloatArray:
        """Return the hinge losses max(0, 1 - y_i <w, x_i>), shaped as `margins`."""
        return _hinge(self.margins(w))

    def objective(self, w: ArrayLike) -> Any:
        """Return P(w): a float for w (d,), an array (m,) for m iterates W (m, d).

        The scores of all iterates come from one matrix product, in pieces that bound the memory.
        """
        w = self._check_w(w)
        if w.ndim == 1:
            return 0.5 * self.lam * float(w @ w) + float(np.mean(self.losses(w)))
        values = 0.5 * self.lam * np.einsum("ij,ij->i", w, w)
        rows = max(1, _CHUNK // self.n)
        for first in range(0, len(w), rows):
            part = slice(first, first + rows)
            values[part] += self.losses(w[part]).mean(axis=1)
        return values

    def subgradient(self, w: ArrayLike, indices: ArrayLike | None = None) -> FloatArray:
        """Return lam w - (1/k) sum_i [y_i <w, x_i> < 1] y_i x_i, an element of the subdifferential.

        Parameters
        ----------
        w : array_like, shape (d,)
        indices : array_like of int, shape (k,), optional
            The mini-batch, where an example may come more than once. All n examples by default.

        Returns
        -------
        ndarray, shape (d,)
        """
        w = self._check_vector(w)
        X, y = self._batch(indices)
        active = np.where(y * (X @ w) < 1.0, y, 0.0)
        return cast(FloatArray, self.lam * w - (X.T @ active) / len(y))

    def instantaneous_objective(self, w: ArrayLike, indices: ArrayLike) -> float:
        """Return f_t(w) = lam/2 ||w||^2 + (1/k) sum of the losses on the mini-batch `indices`."""
        w = self._check_vector(w)
        X, y = self._batch(indices)
        return 0.5 * self.lam * float(w @ w) + float(np.mean(_hinge(y * (X @ w))))

    def accuracy(self, w: ArrayLike) -> Any:
        """Return the share of examples with y_i <w, x_i> > 0; a score of exactly 0 is wrong."""
        share = np.mean(self.margins(w) > 0.0, axis=-1)
        return float(share) if share.ndim == 0 else share

    def weights(self, alpha: ArrayLike) -> FloatArray:
        """Return w(alpha) = (1/(lam n)) sum_i alpha_i y_i x_i, for alpha in [0, 1]^n."""
        alpha = check_alpha(alpha, self.n)
        return cast(FloatArray, (self.X.T @ (alpha * self.y)) / (self.lam * self.n))

    def dual_objective(self, alpha: ArrayLike) -> float:
        """Return D(alpha) = mean(alpha) - lam/2 ||w(alpha)||^2 for alpha in [0, 1]^n."""
        w = self.weights(alpha)
        return float(np.mean(check_alpha(alpha, self.n))) - 0.5 * self.lam * float(w @ w)

    def duality_gap(self, w: ArrayLike, alpha: ArrayLike) -> float:
        """Return P(w) - D(alpha), which bounds P(w) - P(w*) from above for any feasible alpha."""
        return float(self.objective(self._check_vector(w))) - self.dual_objective(alpha)

    def _scores(self, w: FloatArray) -> FloatArray:
        if w.ndim == 1:
            return cast(FloatArray, self.X @ w)
        return cast(FloatArray, np.asarray(self.X @ w.T).T)

    def _batch(self, indices: ArrayLike | None) -> tuple[Any, FloatArray]:
        if indices is None:
            return self.X, self.y
        batch = check_indices(indices, self.n, "indices")
        if batch.ndim != 1 or batch.size == 0:
            raise ValueError(
                f"indices must be one mini-batch of shape (k,) with k >= 1; got {batch.shape}"
            )
        return self.X[batch], self.y[batch]

    def _check_w(self, w: ArrayLike) -> FloatArray:
        w = as_reals(w, "w")
        if w.ndim not in (1, 2) or w.shape[-1] != self.d:
            raise ValueError(
                f"w must have shape ({self.d},), or (m, {self.d}) for m iterates; got {w.shape}"
            )
        return w

    def _check_vector(self, w: ArrayLike) -> FloatArray:
        w = as_reals(w, "w")
        if w.shape != (self.d,):
            raise ValueError(f"w must have shape ({self.d},); got {w.shape}")
        return w


def check_problem(problem: HingeProblem) -> None:
    """Refuse anything else that a solver may be given first, such as X alone."""
    if not isinstance(problem, HingeProblem):
        raise ValueError(f"problem must be HingeProblem(X, y, lam); got {type(problem).__name__}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view through which `array` cannot be written."""
    view = array.view()
    view.setflags(write=False)
    return view


def _hinge(margins: FloatArray) -> FloatArray:
    losses = 1.0 - margins
    return np.maximum(0.0, losses, out=losses)


def csr_squared_norms(X: Any) -> FloatArray:
    """Return ||x_i||^2 (n,) of the rows, in pieces: the squares of all would be a copy of X."""
    norms = np.zeros(X.shape[0])
    rows = max(1, _PIECE * X.shape[0] // max(1, X.nnz))
    for first in range(0, len(norms), rows):
        starts = X.indptr[first : first + rows + 1]
        filled = np.flatnonzero(np.diff(starts))
        if len(filled):
            squares = np.square(X.data[starts[0] : starts[-1]])
            norms[first + filled] = np.add.reduceat(squares, starts[filled] - starts[0])
    return norms


def _check_dense(X: Any) -> FloatArray:
    array = as_reals(X, "X")
    if array.ndim != 2:
        raise ValueError(f"X must have shape (n, d), one example a row; got {array.shape}")
    _check_size(array.shape)
    array = np.ascontiguousarray(array)
    if not _is_finite(array):
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"X must be finite; row {row}, column {column} holds {array[row, column]}")
    return read_only(array)


def _is_finite(array: FloatArray) -> bool:
    # A sum is finite only if all are; it costs no array of booleans. (A product with itself is no
    # quicker: its threads wait for a core on a busy machine.)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum())) or bool(np.isfinite(array).all())


def _check_csr(X: Any) -> Any:
    _check_size(X.shape)
    matrix = X.tocsr()
    data = as_reals(matrix.data, "X")
    if not _is_finite(data):
        place = int(np.flatnonzero(~np.isfinite(data))[0])
        row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        column = int(matrix.indices[place])
        raise ValueError(f"X must be finite; row {row}, column {column} holds {data[place]}")
    if not matrix.has_canonical_format:
        matrix = matrix.astype(np.float64, copy=True)
        matrix.sum_duplicates()
        data = matrix.data
    # A new matrix over read-only views: the caller's own stays as it was.
    return type(matrix)(
        (read_only(data), read_only(matrix.indices), read_only(matrix.indptr)), shape=matrix.shape
    )


def _check_size(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] < 1 or shape[1] < 1:
        raise ValueError(f"X must hold at least one example and one feature; its shape is {shape}")


def _check_labels(y: ArrayLike, n: int) -> FloatArray:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(
            f"y must have shape ({n},), one label for each row of X; got {labels.shape}"
        )
    wrong = (
        np.unique(labels[(labels != -1) & (labels != 1)]) if labels.dtype.kind in "iuf" else None
    )
    if wrong is None:
        raise ValueError(f"labels must be the numbers -1 and +1; got dtype {labels.dtype}")
    if wrong.size:
        shown = ", ".join(f"{value:g}" for value in wrong[:5]) + (", ..." if wrong.size > 5 else "")
        raise ValueError(f"labels must be -1 or +1; found {shown}")
    return read_only(labels.astype(np.float64, copy=False))
