"""Euclidean projections onto the sets that the solvers keep their iterates in."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from .problem import FloatArray, check_positive


def project_l2_ball(w: ArrayLike, radius: float) -> FloatArray:
    """Return the point nearest to w (d,) with ||w||_2 <= radius; 0 stays 0.

    Raises
    ------
    ValueError
        If w is not a finite vector, or radius is not finite and above 0.
    """
    w, radius = _check(w), check_positive(radius, "radius")
    # Scaled by the largest entry, so that squares neither overflow nor vanish.
    largest = float(np.abs(w).max(initial=0.0))
    if largest == 0.0:
        return w.copy()
    unit = w / largest
    norm = math.sqrt(float(unit @ unit))
    return w.copy() if largest * norm <= radius else unit * (radius / norm)


def project_simplex(v: ArrayLike, total: float = 1.0) -> FloatArray:
    """Return the point nearest to v (d,) with entries >= 0 that sum to `total`.

    The threshold is found by sorting, in O(d log d) (Duchi et al., 2008).

    Raises
    ------
    ValueError
        If v is not a finite vector with d >= 1, or total is not finite and above 0.
    """
    v, total = _check(v), check_positive(total, "total")
    if v.size == 0:
        raise ValueError("v must hold at least one number; the simplex in 0 dimensions is empty")
    # Shifting by the maximum changes nothing and keeps the running sums small.
    shifted = v - v.max()
    ordered = np.sort(shifted)[::-1]
    thresholds = (np.cumsum(ordered) - total) / np.arange(1, v.size + 1)
    last = int(np.flatnonzero(ordered > thresholds)[-1])
    return cast(FloatArray, np.maximum(shifted - thresholds[last], 0.0))


def project_l1_ball(w: ArrayLike, radius: float) -> FloatArray:
    """Return the point nearest to w (d,) with ||w||_1 <= radius; 0 stays 0.

    Raises
    ------
    ValueError
        If w is not a finite vector, or radius is not finite and above 0.
    """
    w, radius = _check(w), check_positive(radius, "radius")
    size = np.abs(w)
    if float(size.sum()) <= radius:
        return w.copy()
    return cast(FloatArray, np.copysign(project_simplex(size, radius), w))


def _check(w: ArrayLike) -> FloatArray:
    w = np.asarray(w, dtype=float)
    if w.ndim != 1 or not np.isfinite(w).all():
        raise ValueError(f"the point must be a finite vector of shape (d,); got {w!r}")
    return w
