"""Projections, plain or weighted, onto the sets that the solvers keep their iterates in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ._checks import as_reals, check_positive
from .problem import FloatArray, read_only

# A smaller share of the largest weight counts as 0: sums of its inverse might overflow.
_LEAST_WEIGHT = 1e-200
# A ball that is smaller than this share of the point is projected on as if it were as large.
_FARTHEST = 1e-50
# Rounding of the norm of a projection, as a share of the larger norm that is known.
ROUNDING = 1e-15


@dataclass(frozen=True)
class L1Ball:
    """Name the set ||w||_1 <= radius for the option `project` of a solver.

    Raises
    ------
    ValueError
        If radius is not finite and above 0.
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_positive(self.radius, "radius"))


def project_l2_ball(w: ArrayLike, radius: float, weights: ArrayLike | None = None) -> FloatArray:
    """Return the point u nearest to w (d,) with ||u||_2 <= radius; a point inside stays.

    Parameters
    ----------
    w, radius, weights
        As for `project_l1_ball`.

    Raises
    ------
    ValueError
        As for `project_l1_ball`.
    """
    w, radius = _check(w), check_positive(radius, "radius")
    if weights is not None:
        weights = _check_weights(weights, w)
    # Scaled by the largest entry, so that squares neither overflow nor vanish.
    largest = float(np.abs(w).max(initial=0.0))
    if largest == 0.0:
        return w.copy()
    unit = w / largest
    norm = math.sqrt(float(unit @ unit))
    if largest * norm <= radius:
        return w.copy()
    if weights is None:
        return unit * (radius / norm)
    # Where squares might overflow, all points of the ball are as near, up to rounding.
    reduced = max(radius / largest, _FARTHEST)
    return _pull(unit, reduced, weights) * (radius / reduced)


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


def project_l1_ball(w: ArrayLike, radius: float, weights: ArrayLike | None = None) -> FloatArray:
    """Return the point u nearest to w (d,) with ||u||_1 <= radius; a point inside stays.

    Parameters
    ----------
    w : array_like, shape (d,)
    radius : float
    weights : array_like, shape (d,), optional
        s_j >= 0 of the distance sum_j s_j (u_j - w_j)^2, which is AdaGrad's; all 1 by default.
        Where some are 0 and several points are nearest, the result is the one of them that is
        nearest in the plain distance: the limit of small weights.

    Raises
    ------
    ValueError
        If w is not a finite vector, radius is not finite and above 0, or weights are not d finite
        numbers >= 0.
    """
    w, radius = _check(w), check_positive(radius, "radius")
    size = np.abs(w)
    if weights is not None:
        weights = _check_weights(weights, w)
    if float(size.sum()) <= radius:
        return w.copy()
    if weights is None:
        return cast(FloatArray, np.copysign(project_simplex(size, radius), w))
    return np.copysign(_shrink(size, radius, weights), w)


def nearest_in_l2_ball(w: FloatArray, radius: float) -> float:
    """Scale w (d,) in place into the l2 ball; return the factor, which is 1 if w is inside.

    For the loop of a solver: quick, and unchecked. A w that is not finite stays as it is or
    turns into NaN.
    """
    norm = math.sqrt(w.dot(w))
    if not norm > radius:
        return 1.0
    factor = radius / norm
    w *= factor
    return factor


def nearest_in_weighted_l2_ball(
    w: FloatArray, weights: FloatArray, radius: float, mu: float, out: FloatArray
) -> float:
    """Put `project_l2_ball` of w into out (which may be w), given the multiplier of the last time.

    For the loop of a solver: quick, and unchecked; the weights (d,) must be above 0. The nearest
    point is u_j = s_j w_j/(s_j + mu) with the multiplier mu, which is returned, such that ||u|| is
    the radius. 1/||u|| rises with mu, and is concave, so that Newton's method for its crossing of
    1/radius rises to the solution after at most one step down (Conn, Gould and Toint, "Trust
    region methods", SIAM 2000, section 7.3). A point inside stays to the last bit, and one that is
    not finite gives NaN in every coordinate.
    """
    norm, rising = math.sqrt(w.dot(w)), False
    if norm <= radius:
        out[:] = w
        return mu
    if not norm < math.inf:
        out[:] = math.nan
        return mu
    pulled = weights * w / radius
    while True:
        inverse = 1.0 / (weights + mu)
        u = pulled * inverse
        square, bend = float(u.dot(u)), float(u.dot(u * inverse))
        norm = math.sqrt(square)
        # After a step up mu is at most the solution, until rounding says otherwise.
        if abs(norm - 1.0) <= ROUNDING or (rising and norm < 1.0):
            break
        # Where a start is so large that nothing is left of u, the next is 0.
        following = max(0.0, mu + (norm - 1.0) * square / bend) if bend > 0.0 else 0.0
        if following == mu:
            break
        mu, rising = following, norm > 1.0
    np.multiply(u, radius / max(1.0, norm), out=out)
    return mu


def nearest_in_l1_ball(
    w: FloatArray, weights: FloatArray | None, radius: float, tau: float, out: FloatArray
) -> float:
    """Put `project_l1_ball` of w into out (which may be w), given the threshold of the last time.

    For the loop of a solver: quick, and unchecked; the weights (d,) must be above 0. The
    threshold tau, which is returned, solves sum_j max(0, |w_j| - tau/s_j) = radius, whose left
    side is convex and piecewise linear, so that Newton's method ends at the solution itself
    (Michelot, 1986, for equal weights); from the last call's tau it takes one or two steps of
    O(d). A point inside stays to the last bit, and one that is not finite gives NaN in every
    place; tau then stays too.
    """
    # In compiled loops `_projection_kernels` puts an overload in the place of this function: the
    # same steps, taken from the support |w_j| s_j > tau, without arrays. Neither form serves for
    # both. Compiled, this one takes up to 2.1 times as long (d = 100 to 50,000), and that one, in
    # NumPy, up to 4 times.
    size, one = np.abs(w), ones(len(w))
    total = float(size.dot(one))
    if total <= radius:
        out[:] = w
        return tau
    if not total < math.inf:
        out[:] = math.nan
        return tau
    inverse = None if weights is None else 1.0 / weights
    shrunk, stepped = np.empty_like(size), False
    while True:
        np.subtract(size, tau if inverse is None else tau * inverse, out=shrunk)
        np.maximum(shrunk, 0.0, out=shrunk)
        left = float(shrunk.dot(one))
        # After a step tau is at most the solution, until rounding says otherwise.
        if not abs(left - radius) > ROUNDING * total or (stepped and left < radius):
            break
        if left == 0.0:  # too large a start
            tau = 0.0
            continue
        slope = np.count_nonzero(shrunk) if inverse is None else float(inverse.dot(shrunk > 0.0))
        following = tau + (left - radius) / (slope or math.nan)
        if following == tau:
            break
        tau, stepped = following, True
    if left > radius:
        shrunk *= radius / left
    np.copysign(shrunk, w, out=out)
    return tau


@lru_cache(maxsize=8)
def ones(d: int) -> FloatArray:
    """Return d ones: a product with them is a sum in a third of the time that `sum` takes."""
    return cast(FloatArray, read_only(np.ones(d)))


def l1_projection(ball: L1Ball) -> Callable[[FloatArray], FloatArray]:
    """Return a function from w (d,) to a new array with its projection onto the ball.

    It is `nearest_in_l1_ball`, unchecked as that is, and keeps the threshold from one call to the
    next.
    """
    radius, tau = ball.radius, 0.0

    def project(w: FloatArray) -> FloatArray:
        nonlocal tau
        nearest = np.empty_like(w)
        tau = nearest_in_l1_ball(w, None, radius, tau, nearest)
        return nearest

    return project


def _shrink(size: FloatArray, radius: float, weights: FloatArray) -> FloatArray:
    """Return the nearest point to size >= 0, which lies outside, by sorting the breakpoints."""
    shares = weights / (weights.max() or 1.0)
    seen = shares >= _LEAST_WEIGHT
    nearest = size.copy()
    room = radius - float(size[seen].sum())
    if room > 0.0:
        nearest[~seen] = project_l1_ball(size[~seen], room)
        return nearest
    nearest[~seen] = 0.0
    # u_j = max(0, |w_j| - tau/s_j) leaves 0 where tau is under the breakpoint s_j |w_j|.
    breakpoints = size[seen] * shares[seen]
    order = np.argsort(breakpoints)[::-1]
    inverse = 1.0 / shares[seen]
    taus = (np.cumsum(size[seen][order]) - radius) / np.cumsum(inverse[order])
    # The first is above its tau, though not always by more than the rounding.
    last = max(1, int(np.count_nonzero(breakpoints[order] > taus))) - 1
    # The others are 0, even where a tau that rounding made a little too small would leave some.
    left = np.zeros(len(order))
    active = order[: last + 1]
    left[active] = np.maximum(size[seen][active] - taus[last] * inverse[active], 0.0)
    nearest[seen] = left
    return _inside(nearest, radius, float(nearest.sum()))


def _pull(unit: FloatArray, radius: float, weights: FloatArray) -> FloatArray:
    """Return the nearest point to a unit, which lies outside, in the l2 ball."""
    shares = weights / (weights.max() or 1.0)
    seen = shares >= _LEAST_WEIGHT
    nearest = unit.copy()
    room = radius * radius - float(unit[seen] @ unit[seen])
    if room > 0.0:
        nearest[~seen] = project_l2_ball(unit[~seen], math.sqrt(room))
        return nearest
    nearest[~seen] = 0.0
    inside = np.empty(np.count_nonzero(seen))
    nearest_in_weighted_l2_ball(unit[seen], shares[seen], radius, 0.0, inside)
    nearest[seen] = inside
    return nearest


def _inside(size: FloatArray, radius: float, total: float) -> FloatArray:
    # Rounding is in proportion to what was projected, which may be much larger than the ball.
    return size * (radius / total) if total > radius else size


def _check(w: ArrayLike) -> FloatArray:
    w = as_reals(w, "the point")
    if w.ndim != 1 or not np.isfinite(w).all():
        raise ValueError(f"the point must be a finite vector of shape (d,); got {w!r}")
    return w


def _check_weights(weights: ArrayLike, w: FloatArray) -> FloatArray:
    weights = as_reals(weights, "weights")
    if weights.shape != w.shape or not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(f"weights must be finite numbers >= 0 of shape {w.shape}; got {weights!r}")
    return weights
