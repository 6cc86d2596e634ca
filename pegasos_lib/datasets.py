"""The data of the book: MNIST 0-versus-rest, shipped in the package, and 2-D toys."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import numpy as np

from .problem import FloatArray, check_count
from .sampling import Seed


def load_mnist_binary(
    split: Literal["train", "test"] = "train",
) -> tuple[FloatArray, FloatArray]:
    """Return MNIST's images and whether each shows another digit than 0.

    Parameters
    ----------
    split : {"train", "test"}
        The first 10,000 training images, or the first 3,000 test images.

    Returns
    -------
    X : ndarray, shape (n, 784)
        Grey levels in [0, 1], row by row of the 28 x 28 image.
    y : ndarray, shape (n,)
        -1 for the digit 0, about a tenth of the images, and +1 for the others.

    Raises
    ------
    ValueError
        If `split` is neither of the two.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split must be 'train' or 'test'; got {split!r}")
    path = files(__package__) / "data" / "mnist_10000_3000.npz"
    with path.open("rb") as stream, np.load(stream) as archive:
        images, digits = archive[f"X_{split}"], archive[f"y_{split}"]
    return images.reshape(len(images), -1) / 255.0, np.where(digits == 0, -1.0, 1.0)


def make_blobs_2d(
    n: int = 40, separation: float = 3.0, flip: float = 0.0, rng: Seed = 0
) -> tuple[FloatArray, FloatArray]:
    """Draw two Gaussian clouds of unit variance, n/2 points each.

    Parameters
    ----------
    n : int
        Number of points; an odd one more is of class +1.
    separation : float
        Distance of the two centres, which lie on a diagonal on either side of the origin.
    flip : float
        Share of the points, rounded to a whole number of them, whose label is turned.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : ndarray, shape (n, 2)
    y : ndarray, shape (n,)
    """
    rng = np.random.default_rng(rng)
    y = _labels(n)
    centre = np.array([1.0, 1.0]) * (separation / np.sqrt(8.0))
    X = y[:, np.newaxis] * centre + rng.standard_normal((n, 2))
    return X, _flip(y, flip, rng)


def make_two_arcs_2d(
    n: int = 80, noise: float = 0.1, flip: float = 0.0, rng: Seed = 0
) -> tuple[FloatArray, FloatArray]:
    """Draw two interlocking half circles of radius 1, which no line separates.

    Parameters
    ----------
    n : int
        Number of points; an odd one more is of class +1.
    noise : float
        Standard deviation of the Gaussian noise on both coordinates.
    flip : float
        Share of the points whose label is turned.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : ndarray, shape (n, 2)
    y : ndarray, shape (n,)
    """
    rng = np.random.default_rng(rng)
    y = _labels(n)
    angle = rng.uniform(0.0, np.pi, n)
    arc = np.column_stack([np.cos(angle) - 0.5, np.sin(angle) - 0.25])
    X = y[:, np.newaxis] * arc + noise * rng.standard_normal((n, 2))
    return X, _flip(y, flip, rng)


def make_ring_2d(
    n: int = 80, noise: float = 0.15, flip: float = 0.0, rng: Seed = 0
) -> tuple[FloatArray, FloatArray]:
    """Draw a ring of radius 2 (class +1) around a disc of radius 1 (class -1).

    Parameters
    ----------
    n : int
        Number of points; an odd one more is of class +1.
    noise : float
        Standard deviation of the ring's radius.
    flip : float
        Share of the points whose label is turned.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : ndarray, shape (n, 2)
    y : ndarray, shape (n,)
    """
    rng = np.random.default_rng(rng)
    y = _labels(n)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    disc, ring = np.sqrt(rng.uniform(0.0, 1.0, n)), 2.0 + noise * rng.standard_normal(n)
    radius = np.where(y > 0, ring, disc)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), _flip(y, flip, rng)


def _labels(n: int) -> FloatArray:
    n = check_count(n, "n", 1)
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _flip(y: FloatArray, flip: float, rng: np.random.Generator) -> FloatArray:
    if not 0.0 <= flip <= 1.0:
        raise ValueError(f"flip must be a share in [0, 1]; got {flip!r}")
    turned = rng.choice(len(y), size=round(flip * len(y)), replace=False)
    y = y.copy()
    y[turned] *= -1.0
    return y
