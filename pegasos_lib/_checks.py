"""Checks of what the functions of the library are given; each names the argument it refuses."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from .problem import FloatArray, IntArray


def _as_array(value: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def as_reals(value: Any, name: str) -> FloatArray:
    """Return `value` as a float64 array, or say that it holds no real numbers."""
    array = _as_array(value, name)
    if array.dtype == object:  # integers of more than 64 bits among them are numbers too
        numbers_alone = [_as_number(entry) for entry in array.flat]
        if all(map(math.isfinite, numbers_alone)):
            return np.array(numbers_alone).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def check_indices(indices: ArrayLike | Sequence[int], n: int, name: str) -> IntArray:
    """Return `indices` as int64 after checking that all are integers in 0..n-1."""
    array = _as_array(indices, name)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers; got dtype {array.dtype}")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= n):
        raise ValueError(
            f"{name} must lie in 0..{n - 1}; they reach from {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def check_positive(value: float, name: str) -> float:
    """Return `value` as a float after checking that it is a finite number above 0."""
    number = _as_number(value)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}")
    return number


def check_finite(value: float, name: str, least: float = -math.inf) -> float:
    """Return `value` as a float after checking that it is a finite number of at least `least`."""
    number = _as_number(value)
    if not (math.isfinite(number) and number >= least):
        bound = "" if least == -math.inf else f" >= {least:g}"
        raise ValueError(f"{name} must be a finite number{bound}; got {value!r}")
    return number


def _as_number(value: Any) -> float:
    """Return a real number as a float; NaN for all else, also for True and for "1"."""
    try:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return float(value) if real else math.nan
    except OverflowError:
        return math.inf


def check_share(value: float, name: str) -> float:
    """Return `value` as a float after checking that it is a number in [0, 1]."""
    number = _as_number(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a share in [0, 1]; got {value!r}")
    return number


def check_count(value: int, name: str, least: int) -> int:
    """Return `value` as an int after checking that it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}; got {value!r}")
    return int(value)


def check_choice(value: str | None, name: str, choices: Collection[str | None]) -> None:
    """Refuse what is none of the choices, of which there are at least two."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}; got {value!r}")


def check_alpha(alpha: ArrayLike, n: int, name: str = "alpha") -> FloatArray:
    """Return dual variables as an array after checking that they are n numbers in [0, 1]."""
    array = as_reals(alpha, name)
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},); got {array.shape}")
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise ValueError(
            f"{name} must lie in [0, 1]; its values reach from "
            f"{float(array.min()):g} to {float(array.max()):g}"
        )
    return array


def check_start(w0: ArrayLike, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return a copy of the start w_1 after checking that it is a finite vector (of this shape)."""
    w = as_reals(w0, "w0").copy()
    if w.ndim != 1 or (shape and w.shape != shape) or not np.isfinite(w).all():
        raise ValueError(f"w0 must be a finite vector of shape {shape or '(d,)'}; got {w0!r}")
    return w
