"""Draw the mini-batches of the stochastic solvers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._checks import check_count, check_indices
from .problem import IntArray

Sampling = Literal["iid", "permutation"]
Seed = int | np.random.Generator | np.random.SeedSequence | None

# Subsets that are a large part of the data are ranked in blocks of at most this many numbers.
_BLOCK = 4_000_000


def draw_batches(
    rng: Seed,
    n: int,
    n_iter: int,
    batch_size: int = 1,
    replace: bool = True,
    sampling: Sampling = "iid",
) -> IntArray:
    """Draw the indices of n_iter mini-batches from 0..n-1.

    Parameters
    ----------
    rng : int or numpy.random.Generator
        Seed or source of the randomness.
    n, n_iter, batch_size : int
    replace : bool
        With "iid": independent uniform indices (True), or a uniform subset of batch_size
        different ones, independent from batch to batch (False).
    sampling : {"iid", "permutation"}
        "permutation" lays random permutations of 0..n-1 end to end and cuts them into batches;
        a batch that spans two of them may hold an index twice. `replace` is then of no account.

    Returns
    -------
    ndarray of int64, shape (n_iter,) if batch_size is 1, else (n_iter, batch_size)

    Raises
    ------
    ValueError
        If a count is out of range: batch_size must be at least 1, and at most n where a batch is
        drawn without replacement.
    """
    n, n_iter = check_count(n, "n", 1), check_count(n_iter, "n_iter", 0)
    k = check_batch_size(batch_size, n, replace, sampling)
    draws = draw_indices(make_rng(rng), n, n_iter, k, replace, sampling).astype(np.int64)
    return draws[:, 0] if k == 1 else draws


def draw_indices(
    rng: np.random.Generator, n: int, n_iter: int, k: int, replace: bool, sampling: Sampling
) -> IntArray:
    """Return the numbers that `draw_batches` draws, shape (n_iter, k), as of `index_type`."""
    if sampling == "permutation":
        return _permutations(rng, n, n_iter * k).reshape(n_iter, k)
    if replace or k == 1:
        return rng.integers(n, size=(n_iter, k), dtype=index_type(n))
    if k * k <= 8 * n:
        return _small_subsets(rng, n, n_iter, k)
    return _large_subsets(rng, n, n_iter, k)


def index_type(n: int) -> Any:
    """Return the type of indices below n that halves their memory where it can: 32 or 64 bits.

    A generator draws and shuffles the same numbers in both.
    """
    return np.int32 if n < 2**31 else np.int64


def make_rng(rng: Seed) -> np.random.Generator:
    """Return the generator itself, or a new one from this seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"rng must be an integer >= 0, a numpy.random.Generator or None; got {rng!r}"
        ) from error


def check_batch_size(batch_size: int, n: int, replace: bool, sampling: str) -> int:
    """Return the batch size after checking it and the way of sampling."""
    if sampling not in ("iid", "permutation"):
        raise ValueError(f"sampling must be 'iid' or 'permutation'; got {sampling!r}")
    k = check_count(batch_size, "batch_size", 1)
    if k > n and (sampling == "permutation" or not replace):
        raise ValueError(
            f"batch_size must lie in 1..{n} to draw without replacement from {n} examples; got {k}"
        )
    return k


def check_draws(draws: ArrayLike, n: int, n_iter: int, batch_size: int) -> IntArray:
    """Return given draws as a new (n_iter, batch_size) array after checking shape and range."""
    array = check_indices(draws, n, "draws")
    expected = f"({n_iter}, {batch_size})" + (f" or ({n_iter},)" if batch_size == 1 else "")
    if batch_size == 1 and array.ndim == 1:
        array = array[:, np.newaxis]
    if array.shape != (n_iter, batch_size):
        raise ValueError(
            f"draws must have shape {expected}, as n_iter={n_iter} and batch_size={batch_size} "
            f"say; got {np.shape(draws)}"
        )
    return np.ascontiguousarray(array)


def _permutations(rng: np.random.Generator, n: int, size: int) -> IntArray:
    laps = -(-size // n)
    rows = np.tile(np.arange(n, dtype=index_type(n)), (laps, 1))
    return rng.permuted(rows, axis=1, out=rows).ravel()[:size]


def _small_subsets(rng: np.random.Generator, n: int, n_iter: int, k: int) -> IntArray:
    # Floyd's algorithm, for all batches at once: k draws and k^2/2 comparisons a batch.
    chosen = np.empty((n_iter, k), dtype=index_type(n))
    for column, top in enumerate(range(n - k, n)):
        candidate = rng.integers(top + 1, size=n_iter)
        taken = (chosen[:, :column] == candidate[:, np.newaxis]).any(axis=1)
        chosen[:, column] = np.where(taken, top, candidate)
    return chosen


def _large_subsets(rng: np.random.Generator, n: int, n_iter: int, k: int) -> IntArray:
    chosen = np.empty((n_iter, k), dtype=index_type(n))
    if k == n:
        chosen[:] = np.arange(n)
        return chosen
    rows = max(1, _BLOCK // n)
    for first in range(0, n_iter, rows):
        block = chosen[first : first + rows]
        block[:] = np.argpartition(rng.random((len(block), n)), k, axis=1)[:, :k]
    return chosen
