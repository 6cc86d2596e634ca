"""The data of the book: what ships in the package or with scikit-learn, and generators."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._checks import check_choice, check_count, check_finite, check_share
from .problem import FloatArray
from .sampling import Seed, make_rng

MNIST_SPLITS = ("train", "test")
_ROWS = 20_000  # rows of `make_rcv1_like` made at once


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
    check_choice(split, "split", MNIST_SPLITS)
    path = files(__package__) / "data" / "mnist_10000_3000.npz"
    with path.open("rb") as stream, np.load(stream) as archive:
        return zero_against_rest(archive[f"X_{split}"], archive[f"y_{split}"])


def zero_against_rest(images: NDArray[Any], digits: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Return grey levels in [0, 1], a row an image, and -1 for the digit 0, +1 for the others."""
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
    rng, separation = make_rng(rng), check_finite(separation, "separation")
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
    rng, noise = make_rng(rng), check_finite(noise, "noise", least=0.0)
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
    rng, noise = make_rng(rng), check_finite(noise, "noise", least=0.0)
    y = _labels(n)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    disc, ring = np.sqrt(rng.uniform(0.0, 1.0, n)), 2.0 + noise * rng.standard_normal(n)
    radius = np.where(y > 0, ring, disc)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), _flip(y, flip, rng)


def load_cell_nuclei() -> tuple[FloatArray, FloatArray]:
    """Return the cell nuclei of scikit-learn's breast-cancer data: malignant or benign.

    Returns
    -------
    X : ndarray, shape (569, 30)
        Ten measures of the nuclei of a sample (mean, standard error and worst value of each), every
        column scaled to mean 0 and variance 1.
    y : ndarray, shape (569,)
        +1 for a malignant sample (212 of them), -1 for a benign one.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.

    References
    ----------
    Street, Wolberg and Mangasarian, "Nuclear feature extraction for breast tumor diagnosis" (1993).
    """
    try:
        from sklearn.datasets import load_breast_cancer
    except ImportError as error:
        raise ImportError(
            "load_cell_nuclei needs scikit-learn: pip install scikit-learn"
        ) from error
    measures, benign = load_breast_cancer(return_X_y=True)
    X = (measures - measures.mean(axis=0)) / measures.std(axis=0)
    return X, np.where(benign == 1, -1.0, 1.0)


OUTLIER_KINDS = ("flipped", "foreign", "long")


@dataclass(frozen=True, eq=False)
class Mail:
    """Hold messages, generated or real, spam (+1) or not (-1), as rows of word counts.

    Attributes
    ----------
    X, y : CSR matrix, shape (n_train, n_words), and ndarray, shape (n_train,)
    X_test, y_test : CSR matrix, shape (n_test, n_words), and ndarray, shape (n_test,)
        Without outliers.
    is_outlier : ndarray of bool, shape (n_train,)
        Which training messages were made outliers; none of the real ones.
    """

    X: Any
    y: FloatArray
    X_test: Any
    y_test: FloatArray
    is_outlier: NDArray[np.bool_]


def make_mail(
    n_train: int = 2144,
    n_test: int = 800,
    n_words: int = 1448,
    outliers: float = 0.0,
    kind: Literal["flipped", "foreign", "long"] = "flipped",
    rng: Seed = 0,
) -> Mail:
    """Generate messages of the shape of document 001's mail, with known outliers.

    Words have frequencies after Zipf and Mandelbrot, which differ between the two classes; a
    message draws its words independently, its length is log-normal around 64, and its row of counts
    is scaled to length 1.

    Parameters
    ----------
    n_train, n_test, n_words : int
    outliers : float
        Share of the training messages, rounded to a whole number, that become outliers.
    kind : {"flipped", "foreign", "long"}
        "flipped" turns the label; "foreign" draws all words alike, with a label by chance; "long"
        turns the label of a message ten times as long as a row of unit length.
    rng : int or numpy.random.Generator

    Returns
    -------
    Mail

    Raises
    ------
    ValueError
        If a count is below 1, `outliers` is no share, or `kind` is not one of the three.
    """
    n_train, n_test = check_count(n_train, "n_train", 1), check_count(n_test, "n_test", 1)
    n_words = check_count(n_words, "n_words", 1)
    outliers = check_share(outliers, "outliers")
    check_choice(kind, "kind", OUTLIER_KINDS)
    rng = make_rng(rng)
    n = n_train + n_test
    y = rng.permutation(_labels(n))
    tilt = 0.5 * rng.standard_normal(n_words)
    frequency = rng.permutation(1.0 / (np.arange(n_words) + 10.0))
    words = {s: frequency * np.exp(s * tilt) for s in (-1.0, 1.0)}

    is_outlier = np.zeros(n_train, dtype=bool)
    is_outlier[rng.permutation(n_train)[: round(outliers * n_train)]] = True
    chosen = np.flatnonzero(is_outlier)
    length = np.maximum(1, np.rint(64.0 * np.exp(0.65 * rng.standard_normal(n)))).astype(np.int64)
    counts = np.empty((n, n_words))
    for label, rate in words.items():
        rows = y == label
        counts[rows] = rng.multinomial(length[rows], rate / rate.sum())
    size = np.ones(n)
    if kind == "foreign":
        counts[chosen] = rng.multinomial(length[chosen], np.full(n_words, 1.0 / n_words))
        y[chosen] = rng.choice([-1.0, 1.0], len(chosen))
    else:
        y[chosen] *= -1.0
    if kind == "long":
        size[chosen] = 10.0
    counts *= (size / np.linalg.norm(counts, axis=1))[:, np.newaxis]

    from scipy.sparse import csr_matrix

    train, test = csr_matrix(counts[:n_train]), csr_matrix(counts[n_train:])
    return Mail(train, y[:n_train], test, y[n_train:], is_outlier)


def make_rcv1_like(
    n: int = 20_000, d: int = 47_236, nnz: int = 76, flip: float = 0.05, rng: Seed = 0
) -> tuple[Any, FloatArray]:
    """Generate sparse text-like rows of unit length, in the shape of RCV1.

    Words have frequencies after Zipf and Mandelbrot; a number is (1 + ln count) times minus the
    log of the word's frequency, and a row is scaled to length 1. The two classes differ in the
    frequencies of their words.

    Parameters
    ----------
    n, d : int
        Numbers of rows and of columns.
    nnz : int
        Mean number of non-zeros of a row, at most d/2.
    flip : float
        Share of the rows whose label is turned.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : CSR matrix of float64, shape (n, d), its column indices 32-bit, sorted and unique
    y : ndarray, shape (n,)
        +1 for half of the rows (one more if n is odd), -1 for the others, before the flips.

    Raises
    ------
    ValueError
        If a count or a share is out of its range.
    """
    n, d, nnz = check_count(n, "n", 1), check_count(d, "d", 2), check_count(nnz, "nnz", 1)
    if 2 * nnz > d:
        raise ValueError(f"nnz must be at most d/2 = {d // 2}; got {nnz}")
    rng = make_rng(rng)
    frequency = rng.permutation(1.0 / (np.arange(d) + 20.0))
    frequency /= frequency.sum()
    weight, y = -np.log(frequency), rng.permutation(_labels(n))
    tilt = 0.4 * rng.standard_normal(d)
    cumulative = {s: np.cumsum(frequency * np.exp(s * tilt)) for s in (-1.0, 1.0)}
    spread = np.exp(0.6 * rng.standard_normal(n) - 0.18)  # of mean 1
    tokens = np.rint(spread * _tokens_for(frequency, nnz)).astype(np.int64).clip(1)

    parts = []
    for first in range(0, n, _ROWS):
        lengths = tokens[first : first + _ROWS]
        owner = np.repeat(np.arange(first, first + len(lengths)), lengths)
        column = np.empty(len(owner), dtype=np.int64)
        for label, steps in cumulative.items():
            mine = y[owner] == label
            column[mine] = np.searchsorted(steps, rng.random(int(mine.sum())) * steps[-1])
        keys, counts = np.unique((owner - first) * d + column, return_counts=True)
        row, column = np.divmod(keys, d)
        start = np.searchsorted(row, np.arange(len(lengths) + 1))
        data = (1.0 + np.log(counts)) * weight[column]
        data /= np.repeat(np.sqrt(np.add.reduceat(data * data, start[:-1])), np.diff(start))
        parts.append((data, column.astype(np.int32), np.diff(start)))

    from scipy.sparse import csr_matrix

    values, columns, sizes = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    X = csr_matrix((values, columns, np.concatenate([[0], np.cumsum(sizes)])), shape=(n, d))
    X.has_canonical_format = True
    return X, _flip(y, flip, rng)


def _tokens_for(frequency: FloatArray, distinct: int) -> float:
    """Return how many words must be drawn for this many different ones on average."""
    low, high = float(distinct), 2.0 * distinct
    absent = np.log1p(-frequency)
    while -np.expm1(high * absent).sum() < distinct:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if -np.expm1(middle * absent).sum() < distinct else (low, middle)
    return high


def _labels(n: int) -> FloatArray:
    n = check_count(n, "n", 1)
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _flip(y: FloatArray, flip: float, rng: np.random.Generator) -> FloatArray:
    turned = rng.choice(len(y), size=round(check_share(flip, "flip") * len(y)), replace=False)
    y = y.copy()
    y[turned] *= -1.0
    return y
