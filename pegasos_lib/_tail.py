"""The points that SDCA met in its last epochs: their mean, or one of them at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .problem import FloatArray, IntArray


class Tail:
    """Sum or sample the points alpha^(t) of the epochs that `sdca` makes beyond T_0.

    Parameters
    ----------
    sweep : callable
        Takes the coordinate steps of an array of indices, changing `alpha` (n,).
    alpha, rng : ndarray and numpy.random.Generator
    """

    def __init__(
        self, sweep: Callable[[IntArray], float], alpha: FloatArray, rng: np.random.Generator
    ) -> None:
        self._sweep, self._alpha, self._rng = sweep, alpha, rng
        self._epochs, self._total = 0, np.zeros_like(alpha)
        self._chosen = alpha

    def average(self, indices: IntArray) -> FloatArray:
        """Make one epoch; return the mean of alpha before each step of all epochs so far."""
        self._epochs += 1
        n, alpha = len(indices), self._alpha
        self._total += n * alpha
        for piece in _distinct_pieces(indices):
            old = alpha[indices[piece]]
            self._sweep(indices[piece])
            # What step j changes holds before each of the n - 1 - j steps after it.
            later = n - 1 - np.arange(piece.start, piece.stop)
            self._total[indices[piece]] += (alpha[indices[piece]] - old) * later
        # Rounding alone can leave [0, 1].
        return np.clip(self._total / (n * self._epochs), 0.0, 1.0)

    def choose(self, indices: IntArray) -> FloatArray:
        """Make one epoch; return alpha before one step chosen uniformly among all so far."""
        self._epochs += 1
        # This epoch's points take the place of the earlier choice with the share that is theirs.
        place = int(self._rng.integers(len(indices) * self._epochs))
        if 0 < place < len(indices):
            self._sweep(indices[:place])
            indices, place = indices[place:], 0
        if place == 0:
            self._chosen = self._alpha.copy()
        self._sweep(indices)
        return self._chosen


def _distinct_pieces(indices: IntArray) -> list[slice]:
    """Cut `indices` into pieces as long as can be in which no index comes twice."""
    n = len(indices)
    order = np.argsort(indices, kind="stable")
    again = indices[order[1:]] == indices[order[:-1]]
    # From each place on, the first place that repeats an index met since.
    ends = np.full(n, n)
    ends[order[:-1][again]] = order[1:][again]
    ends = np.minimum.accumulate(ends[::-1])[::-1]
    pieces, start = [], 0
    while start < n:
        pieces.append(slice(start, int(ends[start])))
        start = int(ends[start])
    return pieces
