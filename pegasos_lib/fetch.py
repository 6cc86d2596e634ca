"""The real data sets that do not ship: found in a local folder or a cache, or downloaded.

A file is looked for in the folder that the environment variable PEGASOS_DATA names, then in the
cache of pooch, then at the address PEGASOS_DATA_URL, for example a course's server. Its SHA-256
checksum is verified wherever it was, and a file that is there is never changed or deleted. RCV1 and
the whole of MNIST come through scikit-learn, which keeps and checks a cache of its own.

Every function raises ValueError for a file or content that is not the right one, NotADirectoryError
if PEGASOS_DATA names no folder, FileNotFoundError or ConnectionError, which say what to put where,
if the data are not here or out of reach, and ImportError if a download needs pooch.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._checks import check_choice
from .datasets import MNIST_SPLITS, Mail, load_mnist_binary, zero_against_rest
from .problem import FloatArray, csr_squared_norms


class _File(NamedTuple):
    """Name a file, the checksum of its bytes, and where to get one that does not ship."""

    name: str
    sha256: str
    origin: str = ""


_MNIST = _File(
    "mnist_10000_3000.npz",
    "a97c7f065409b1e855a02b70bdcf00c48da167f9fc67513e5d043e6d5e573014",
)
_MAIL = _File(
    "cs229_spam_2144_800.npz",
    "1c3b5b35bd46e4a1b49c8b444a1043bdd7d8900fb5b47f4dc9147afc46fb03d1",
    "It holds MATRIX.TRAIN and MATRIX.TEST of problem set 2 of CS229 (Stanford), which have no"
    " lasting public address, as arrays: help(fetch_cs229_spam) says which.",
)
_CELLS = _File(
    "blood_cells_28x28.npz",
    "93ed8af4caafe0f6e837e8b0654af5ee4b2dff882f7175bd251764ea9a92008a",
    "It holds the cells of https://github.com/Shenggan/BCCD_Dataset, cut out at 28 x 28 pixels, and"
    " has no public address in this form: ask whoever teaches the course.",
)

# Shape of the whole corpus, its stories of class CCAT, and how many of its rows are for testing.
_RCV1_SHAPE, _RCV1_CCAT, _RCV1_TEST = (804_414, 47_236), 381_327, 23_149

CELL_KINDS = ("red", "white", "platelet")  # in the order of the file's labels 0, 1, 2


def fetch_mnist(
    split: Literal["train", "test"] = "train", *, complete: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return MNIST's images and whether each shows another digit than 0.

    The images are those of OpenML's `mnist_784`, or the first of them where the folder PEGASOS_DATA
    holds `mnist_10000_3000.npz`; a line on standard error says which. OpenML's text takes about a
    minute to read and 1.3 GB of memory.

    Parameters
    ----------
    split : {"train", "test"}
        60,000 training or 10,000 test images; from the local file, the first 10,000 or 3,000.
    complete : bool
        Whether to pass over the local file.

    Returns
    -------
    X : ndarray, shape (n, 784)
        Grey levels in [0, 1], row by row of the 28 x 28 image.
    y : ndarray, shape (n,)
        -1 for the digit 0, about a tenth of the images, and +1 for the others.

    Raises
    ------
    ValueError, OSError
        If `split` is neither of the two, OpenML's images are not MNIST's, or as the module says.

    References
    ----------
    LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition" (1998)
    """
    check_choice(split, "split", MNIST_SPLITS)
    folder = None if complete else _local_folder()
    if folder and (path := _in_folder(folder, _MNIST)):
        print(f"MNIST: the part in {path}; complete=True takes all images", file=sys.stderr)
        with np.load(path) as archive:
            return zero_against_rest(archive[f"X_{split}"], archive[f"y_{split}"])
    from sklearn.datasets import fetch_openml

    # The pandas parser is faster, but fails on digits since pandas 3.1 (scikit-learn#34902).
    with _sklearn_cache("MNIST", 16, "openml into {home}; or call load_mnist_binary(), a part"):
        images, digits = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
    rows = slice(0, 60_000) if split == "train" else slice(60_000, 70_000)
    X, y = zero_against_rest(images[rows], digits[rows].astype(int))
    shipped_X, shipped_y = load_mnist_binary(split)
    n = len(shipped_y)
    if not (np.array_equal(X[:n], shipped_X) and np.array_equal(y[:n], shipped_y)):
        raise ValueError(f"OpenML's {split} images must begin with those that ship; they do not")
    return X, y


def fetch_rcv1(split: Literal["train", "test", "all"] = "train") -> tuple[Any, FloatArray]:
    """Return the news stories of RCV1-v2 and whether each is about corporations or industry.

    This is the problem "CCAT" of the papers on Pegasos. They train on the 781,265 later stories and
    test on the 23,149 earlier ones, which LYRL2004 (and scikit-learn) call "test" and "train". The
    folder `RCV1` of a scikit-learn cache, copied into the folder PEGASOS_DATA, serves without a
    network; its files are pickles, so copy it from where you trust.

    Parameters
    ----------
    split : {"train", "test", "all"}
        The 781,265 stories, the 23,149, or all, the 23,149 first.

    Returns
    -------
    X : CSR matrix of float64, shape (n, 47236)
        Weighted word frequencies, a row of unit length.
    y : ndarray, shape (n,)
        +1 for a story of class CCAT (381,327 of all), -1 for another.

    Raises
    ------
    ValueError, OSError
        If `split` is none of the three, what was read is not the corpus, or as the module says.

    References
    ----------
    Lewis, Yang, Rose and Li, "RCV1: a new benchmark collection for text categorization research"
    (2004); Shalev-Shwartz, Singer, Srebro and Cotter, "Pegasos" (2011).
    """
    check_choice(split, "split", ("train", "test", "all"))
    from sklearn.datasets import fetch_rcv1 as fetch

    folder = _local_folder()
    if folder and (folder / "RCV1").is_dir():
        corpus = fetch(data_home=folder, download_if_missing=False)
    else:
        with _sklearn_cache("RCV1", 656, "RCV1 into {home} or the folder PEGASOS_DATA"):
            corpus = fetch()
    ccat = corpus.target[:, [list(corpus.target_names).index("CCAT")]].toarray().ravel() == 1
    if corpus.data.shape != _RCV1_SHAPE or ccat.sum() != _RCV1_CCAT:
        raise ValueError(
            f"RCV1 must have the shape {_RCV1_SHAPE} and {_RCV1_CCAT} stories of class CCAT; got"
            f" {corpus.data.shape} and {ccat.sum()}"
        )
    first, last = {"train": (_RCV1_TEST, None), "test": (0, _RCV1_TEST), "all": (0, None)}[split]
    return _unit_rows(corpus.data[first:last]), np.where(ccat[first:last], 1.0, -1.0)


def fetch_cs229_spam(*, unit_rows: bool = True) -> Mail:
    """Return document 001's mail: 2144 messages to train on and 800 to test on.

    The file `cs229_spam_2144_800.npz` is looked for as the module says. `numpy.savez_compressed`
    writes it, to the byte, from `train_data`, `train_indices`, `train_indptr`, `test_data`,
    `test_indices`, `test_indptr` (int32: the CSR arrays of the counts), `shape_train`, `shape_test`
    (int64), `y_train` and `y_test` (int8, +1 for spam) in this order. A line of MATRIX.TRAIN, after
    three of header, is the label (1 for spam), then pairs of a step to the next word's index, from
    0, and its count, then -1. Read so, a public copy begins as the file does; the rest is unseen.

    Parameters
    ----------
    unit_rows : bool
        Whether to scale a message's counts to length 1, as `make_mail` does.

    Returns
    -------
    Mail
        1448 words; half of the messages are spam. None is marked as an outlier, since it is not
        known which are.

    Raises
    ------
    ValueError, OSError, ImportError
        As the module says.

    References
    ----------
    CS229 (Stanford), problem set 2; Ryu and Choi, "Variants of Pegasos", CS229 (2009).
    """
    from scipy.sparse import csr_matrix

    with np.load(_find(_MAIL)) as archive:
        file = dict(archive)
    X, X_test = (
        csr_matrix(
            (file[f"{part}_data"].astype(float), file[f"{part}_indices"], file[f"{part}_indptr"]),
            shape=file[f"shape_{part}"],
        )
        for part in ("train", "test")
    )
    if unit_rows:
        X, X_test = _unit_rows(X), _unit_rows(X_test)
    y, y_test = file["y_train"].astype(float), file["y_test"].astype(float)
    return Mail(X, y, X_test, y_test, np.zeros(len(y), dtype=bool))


@dataclass(frozen=True, eq=False)
class BloodCells:
    """Hold pictures of blood cells of one kind (+1) and of the others (-1).

    Attributes
    ----------
    X : ndarray, shape (n, 2352)
        Red, green and blue in [0, 1], pixel by pixel and row by row of the 28 x 28 picture.
    y : ndarray, shape (n,)
    image : ndarray of int, shape (n,)
        Number of the photograph it was cut from. Cells of one photograph look alike and overlap:
        keep them on one side of a split.
    """

    X: FloatArray
    y: FloatArray
    image: NDArray[np.int64]


def fetch_blood_cells(positive: Literal["red", "white", "platelet"] = "white") -> BloodCells:
    """Return pictures of 4,886 blood cells, for document 004: one kind against the other two.

    The file `blood_cells_28x28.npz` is looked for as the module says. It holds `images` (uint8,
    4886 x 28 x 28 x 3), `labels` (uint8: 0 for 4,153 red cells, 1 for 372 white ones, 2 for 361
    platelets), `source_image` (int16) and `classes`. The cells are marked in the 364 photographs of
    BCCD; how they were cut out and resized is not recorded, so the file cannot be made from those.

    Parameters
    ----------
    positive : {"red", "white", "platelet"}
        The kind of cell that is labelled +1.

    Returns
    -------
    BloodCells

    Raises
    ------
    ValueError, OSError, ImportError
        If `positive` is none of the three, or as the module says.

    References
    ----------
    BCCD, <https://github.com/Shenggan/BCCD_Dataset>, under the MIT licence.
    """
    check_choice(positive, "positive", CELL_KINDS)
    with np.load(_find(_CELLS)) as archive:
        images, labels, source = archive["images"], archive["labels"], archive["source_image"]
    y = np.where(labels == CELL_KINDS.index(positive), 1.0, -1.0)
    return BloodCells(images.reshape(len(images), -1) / 255.0, y, source.astype(np.int64))


def _find(file: _File) -> Path:
    """Return the path of a file of the right checksum, downloading it if it must be."""
    folder = _local_folder()
    if folder and (path := _in_folder(folder, file)):
        return path
    try:
        import pooch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        pooch = None
    cache = Path(pooch.os_cache("pegasos_lib")) if pooch else None
    if cache and (path := _in_folder(cache, file)):
        return path

    advice = (
        f"{file.origin} Put the file (SHA-256 {file.sha256}) into a folder that the environment"
        f" variable PEGASOS_DATA names."
    )
    server = os.environ.get("PEGASOS_DATA_URL")
    if not server:
        raise FileNotFoundError(
            f"{file.name} was not found: PEGASOS_DATA is {folder or 'not set'}, the cache is"
            f" {cache or 'off (no pooch)'}, and PEGASOS_DATA_URL is not set. {advice}"
        )
    if not pooch:
        raise ImportError(f"downloading {file.name} needs pooch: pip install 'pooch[progress]'")
    url = f"{server.rstrip('/')}/{file.name}"
    download = pooch.HTTPDownloader(progressbar=find_spec("tqdm") is not None)
    try:
        found = pooch.retrieve(url, f"sha256:{file.sha256}", file.name, cache, downloader=download)
    except OSError as error:
        raise ConnectionError(f"{url} could not be downloaded ({error}). {advice}") from error
    return Path(found)


def _local_folder() -> Path | None:
    """Return the folder that PEGASOS_DATA names, or None where it is not set."""
    name = os.environ.get("PEGASOS_DATA")
    folder = Path(name).expanduser() if name else None
    if folder and not folder.is_dir():
        raise NotADirectoryError(f"PEGASOS_DATA must name a folder; got {name!r}, which is none")
    return folder


def _in_folder(folder: Path, file: _File) -> Path | None:
    """Return the path of a file in a folder after verifying its checksum, or None without it."""
    path = folder / file.name
    if not path.exists():
        return None
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise ValueError(
            f"{path} must have the SHA-256 checksum {file.sha256}; got {found}: it is damaged or"
            f" another file. It was left as it is: replace it or move it away"
        )
    return path


@contextmanager
def _sklearn_cache(name: str, size: int, advice: str) -> Iterator[None]:
    """Say what scikit-learn is about to fetch, and what to do if its source is out of reach."""
    from http.client import HTTPException

    from sklearn.datasets import get_data_home

    home = get_data_home()
    print(f"{name}: from {home}, or by a download of {size} MB into it ...", file=sys.stderr)
    try:
        yield
    except (OSError, HTTPException) as error:
        raise ConnectionError(
            f"{name} could not be downloaded ({error}). From where there is a network, copy"
            f" scikit-learn's folder {advice.format(home=home)}."
        ) from error


def _unit_rows(X: Any) -> Any:
    """Return a CSR matrix of the rows scaled to length 1; empty ones stay empty."""
    from scipy.sparse import csr_matrix

    data = X.data / np.repeat(np.sqrt(csr_squared_norms(X)), np.diff(X.indptr))
    return csr_matrix((data, X.indices, X.indptr), shape=X.shape)
