"""The fetchers of real data, without a network: made files, a server on this machine, no reply.

Where PEGASOS_DATA names a folder with the real files, these are checked too.
"""

import gc
import hashlib
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.client import BadStatusLine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from urllib.error import URLError

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets

from pegasos_lib import HingeProblem, fetch, load_mnist_binary
from pegasos_lib.fetch import fetch_blood_cells, fetch_cs229_spam, fetch_mnist, fetch_rcv1

REAL = os.environ.get("PEGASOS_DATA")
SHIPPED = Path(str(files("pegasos_lib") / "data" / "mnist_10000_3000.npz"))
COUNTS = [
    np.array([[0, 3, 0, 4], [1, 0, 0, 0], [2, 2, 1, 0]]),
    np.array([[5, 0, 0, 12], [0, 0, 7, 0]]),
]


@pytest.fixture(autouse=True)
def nothing_is_set(tmp_path, monkeypatch):
    proxies = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    for name in ("PEGASOS_DATA", "PEGASOS_DATA_URL", *proxies):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setenv("PEGASOS_DATA", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / "pegasos_lib"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def expect(monkeypatch, kind, path):
    """Make the checksum of a made file the one that is expected."""
    monkeypatch.setattr(fetch, kind, getattr(fetch, kind)._replace(sha256=sha256(path)))


def write_mail(folder, monkeypatch):
    arrays = {}
    for part, counts in zip(("train", "test"), COUNTS, strict=True):
        X = sp.csr_matrix(counts.astype(np.int32))
        arrays |= {f"{part}_data": X.data, f"{part}_indices": X.indices}
        arrays |= {f"{part}_indptr": X.indptr, f"shape_{part}": np.array(X.shape)}
    y = {"y_train": np.array([1, -1, 1], np.int8), "y_test": np.array([-1, 1], np.int8)}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cs229_spam_2144_800.npz"
    np.savez_compressed(path, **arrays, **y)
    expect(monkeypatch, "_MAIL", path)
    return path


def write_cells(folder, monkeypatch):
    labels = np.array([0, 0, 1, 2, 0], np.uint8)
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28, 3), dtype=np.uint8)
    path = folder / "blood_cells_28x28.npz"
    source = np.array([0, 0, 2, 2, 9], np.int16)
    np.savez_compressed(path, images=images, labels=labels, source_image=source)
    expect(monkeypatch, "_CELLS", path)
    return images, labels


def test_import_loads_nothing_heavy():
    heavy = ("pooch", "requests", "http.client", "sklearn", "scipy")
    code = f"import sys, pegasos_lib.fetch; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


@pytest.mark.parametrize("split", ["train", "test"])
def test_mnist_from_the_folder_is_what_ships_and_says_so(folder, split, capsys):
    shutil.copy(SHIPPED, folder)
    X, y = fetch_mnist(split)
    shipped_X, shipped_y = load_mnist_binary(split)
    assert (X.dtype, y.dtype) == (np.float64, np.float64)
    assert np.array_equal(X, shipped_X)
    assert np.array_equal(y, shipped_y)
    said = capsys.readouterr()
    assert said.out == ""
    assert f"MNIST: the part in {folder}" in said.err


def test_mail_is_a_problem_of_unit_rows_or_counts(folder, monkeypatch):
    write_mail(folder, monkeypatch)
    mail, raw = fetch_cs229_spam(), fetch_cs229_spam(unit_rows=False)
    for X, counts, expected in zip((mail.X, mail.X_test), (raw.X, raw.X_test), COUNTS, strict=True):
        assert (X.format, X.dtype, X.indices.dtype) == ("csr", np.float64, np.int32)
        assert np.array_equal(counts.toarray(), expected)
        length = np.linalg.norm(expected, axis=1, keepdims=True)
        assert X.toarray() == pytest.approx(expected / length, abs=1e-15)
    assert (mail.y.tolist(), mail.y_test.tolist()) == ([1.0, -1.0, 1.0], [-1.0, 1.0])
    assert mail.is_outlier.tolist() == [False] * 3
    assert HingeProblem(mail.X, mail.y, 0.1).objective(np.zeros(4)) == 1.0


@pytest.mark.parametrize(("kind", "label"), [("red", 0), ("white", 1), ("platelet", 2)])
def test_cells_are_one_kind_against_the_rest(folder, monkeypatch, kind, label):
    images, labels = write_cells(folder, monkeypatch)
    cells = fetch_blood_cells(kind)
    assert (cells.X.shape, cells.X.dtype) == ((5, 2352), np.float64)
    assert (cells.X.reshape(images.shape) == images / 255.0).all()
    assert cells.y.tolist() == [1.0 if each == label else -1.0 for each in labels]
    assert cells.image.tolist() == [0, 0, 2, 2, 9]


def test_white_cells_are_plus_if_not_told(folder, monkeypatch):
    write_cells(folder, monkeypatch)
    assert (fetch_blood_cells().y == fetch_blood_cells("white").y).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fetch_mnist("all"), "split must be 'train' or 'test'; got 'all'"),
        (lambda: fetch_rcv1("dev"), "split must be 'train', 'test' or 'all'; got 'dev'"),
        (
            lambda: fetch_blood_cells("WBC"),
            "positive must be 'red', 'white' or 'platelet'; got 'WBC'",
        ),
    ],
)
def test_a_wrong_choice_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("call", [fetch_mnist, fetch_rcv1, fetch_cs229_spam, fetch_blood_cells])
def test_the_folder_must_be_one(call, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    for name in (str(tmp_path / "absent"), str(file)):
        monkeypatch.setenv("PEGASOS_DATA", name)
        with pytest.raises(NotADirectoryError, match="PEGASOS_DATA must name a folder; got '"):
            call()


def test_the_folder_may_be_under_the_home(folder, monkeypatch):
    write_mail(folder, monkeypatch)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("PEGASOS_DATA", f"~/{folder.name}")
    assert fetch_cs229_spam().X.shape == (3, 4)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (fetch_mnist, "mnist_10000_3000.npz"),
        (fetch_cs229_spam, "cs229_spam_2144_800.npz"),
        (fetch_blood_cells, "blood_cells_28x28.npz"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", SHIPPED.read_bytes()[:-1]])
def test_another_file_is_refused_and_kept(folder, call, name, content):
    path = folder / name
    path.write_bytes(content)
    kind = {"m": fetch._MNIST, "c": fetch._MAIL, "b": fetch._CELLS}[name[0]]
    with pytest.raises(ValueError, match="SHA-256") as error:
        call()
    for part in (str(path), kind.sha256, hashlib.sha256(content).hexdigest()):
        assert part in str(error.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("call", "origin"),
    [(fetch_cs229_spam, "CS229"), (fetch_blood_cells, "https://github.com/Shenggan/BCCD_Dataset")],
)
@pytest.mark.parametrize("pooch", [True, False])
def test_a_missing_file_says_what_to_put_where(call, origin, pooch, folder, request, monkeypatch):
    if pooch:
        where = str(request.getfixturevalue("cache"))
    else:
        where = "off (no pooch)"
        monkeypatch.setitem(sys.modules, "pooch", None)
    file = fetch._MAIL if call is fetch_cs229_spam else fetch._CELLS
    with pytest.raises(FileNotFoundError, match=f"{file.name} was not found") as error:
        call()
    for part in (f"PEGASOS_DATA is {folder}", where, origin, file.sha256, "PEGASOS_DATA_URL"):
        assert part in str(error.value)
    monkeypatch.delenv("PEGASOS_DATA")
    with pytest.raises(FileNotFoundError, match="PEGASOS_DATA is not set"):
        call()


@contextmanager
def server(answer):
    """Serve on this machine, and list the paths that were asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            answer(self)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", asked
        finally:
            http.shutdown()
            thread.join()


def send(content, length=None):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(length or len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def left_in(cache):
    return [path.name for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_file_is_downloaded_once_and_kept(cache, tmp_path, monkeypatch, capfd, folder, slash):
    path = write_mail(tmp_path / "served", monkeypatch)
    with server(send(path.read_bytes())) as (url, asked):
        monkeypatch.setenv("PEGASOS_DATA_URL", url + "/data" + slash)
        first, again = fetch_cs229_spam(), fetch_cs229_spam()
    assert asked == [f"/data/{path.name}"]
    assert left_in(cache) == [path.name]
    assert list(folder.iterdir()) == []
    assert abs(first.X - again.X).max() == 0
    pytest.importorskip("tqdm")
    assert "100%" in capfd.readouterr().err


def test_the_folder_comes_before_cache_and_network(cache, folder, tmp_path, monkeypatch):
    write_mail(folder, monkeypatch)
    cache.mkdir(parents=True)
    (cache / "cs229_spam_2144_800.npz").write_bytes(b"other")
    monkeypatch.setenv("PEGASOS_DATA_URL", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch_cs229_spam().X.shape == (3, 4)


def test_a_wrong_file_in_the_cache_is_refused_and_kept(cache, monkeypatch):
    cache.mkdir(parents=True)
    path = cache / "blood_cells_28x28.npz"
    path.write_bytes(b"other")
    monkeypatch.setenv("PEGASOS_DATA_URL", "http://127.0.0.1:1")
    with pytest.raises(ValueError, match=f"must have the SHA-256 checksum {fetch._CELLS.sha256}"):
        fetch_blood_cells()
    assert path.read_bytes() == b"other"


def test_a_wrong_download_is_refused_and_not_kept(cache, monkeypatch):
    with server(send(b"other")) as (url, _):
        monkeypatch.setenv("PEGASOS_DATA_URL", url)
        with pytest.raises(ValueError, match=r"blood_cells_28x28\.npz") as error:
            fetch_blood_cells()
    for part in (fetch._CELLS.sha256, hashlib.sha256(b"other").hexdigest()):
        assert part in str(error.value)
    assert left_in(cache) == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda handler: handler.send_error(404), "404"),
        (lambda handler: handler.send_error(503), "503"),
        (send(b"the first part", length=100), "14 bytes read"),
        (lambda handler: handler.connection.close(), "onnection"),
        (None, "refused"),
    ],
    ids=["absent", "overloaded", "interrupted", "hung up", "no network"],
)
def test_a_failed_download_says_what_to_do_and_leaves_nothing(cache, monkeypatch, answer, why):
    with server(answer) as (url, asked):
        if answer is not None:
            monkeypatch.setenv("PEGASOS_DATA_URL", url)
            with pytest.raises(ConnectionError, match=why) as error:
                fetch_blood_cells()
            assert asked == ["/blood_cells_28x28.npz"]
    if answer is None:  # its port is closed by now
        monkeypatch.setenv("PEGASOS_DATA_URL", url)
        with pytest.raises(ConnectionError, match=why) as error:
            fetch_blood_cells()
    for part in (f"{url}/blood_cells_28x28.npz", "BCCD", fetch._CELLS.sha256, "PEGASOS_DATA"):
        assert part in str(error.value)
    assert left_in(cache) == []
    del error
    gc.collect()  # a bar that stopped half way is closed, and shown, here


def test_a_download_without_pooch_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setenv("PEGASOS_DATA_URL", "http://127.0.0.1:1")
    with pytest.raises(ImportError, match=r"needs pooch: pip install 'pooch\[progress\]'"):
        fetch_cs229_spam()


@pytest.fixture
def openml(monkeypatch):
    """Answer as OpenML would, with the shipped images in their places and 3s between."""
    images, digits = np.zeros((70_000, 784), np.uint8), np.full(70_000, "3", dtype=object)
    with np.load(SHIPPED) as archive:
        for first, split in ((0, "train"), (60_000, "test")):
            rows = slice(first, first + len(archive[f"y_{split}"]))
            images[rows] = archive[f"X_{split}"].reshape(-1, 784)
            digits[rows] = archive[f"y_{split}"].astype(str)
    calls = []

    def answer(name, **arguments):
        calls.append((name, arguments["version"], arguments["parser"]))
        return images, digits

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    return images, digits, calls


def test_complete_mnist_comes_from_openml(openml, folder, capsys):
    shutil.copy(SHIPPED, folder)
    X, y = fetch_mnist("test", complete=True)
    assert (X.shape, X.dtype, y.shape) == ((10_000, 784), np.float64, (10_000,))
    shipped_X, shipped_y = load_mnist_binary("test")
    assert (X[:3000] == shipped_X).all()
    assert (y[:3000] == shipped_y).all()
    assert (y[3000:] == 1).all()
    assert openml[2] == [("mnist_784", 1, "liac-arff")]
    assert "MNIST: from " in (said := capsys.readouterr().err)
    assert "16 MB" in said


def test_mnist_without_a_local_file_is_complete(openml, monkeypatch, folder):
    # Pictures of one pixel keep 60,000 of them small.
    images = openml[0][:, :1]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *args, **how: (images, openml[1]))
    X, y = load_mnist_binary("train")
    monkeypatch.setattr(fetch, "load_mnist_binary", lambda split: (X[:, :1], y))
    assert [each.shape for each in fetch_mnist()] == [(60_000, 1), (60_000,)]


@pytest.mark.parametrize("what", [0, 1])
def test_other_images_than_mnists_are_refused(openml, what):
    openml[what][60_000:] = openml[what][60_000:][::-1].copy()
    with pytest.raises(ValueError, match="OpenML's test images must begin with those that ship"):
        fetch_mnist("test")


@pytest.fixture
def corpus(monkeypatch):
    """Make a corpus of eight stories that scikit-learn's own reader takes for RCV1."""
    X = sp.random(8, 5, density=0.6, format="csr", random_state=1)
    X = sp.vstack([X[:7], sp.csr_matrix((1, 5))]).tocsr()  # an empty story comes last
    topics = np.zeros((8, 3), np.uint8)
    topics[[0, 2, 3, 6], 1] = 1
    topics[:, 2] = 1
    monkeypatch.setattr(fetch, "_RCV1_SHAPE", (8, 5))
    monkeypatch.setattr(fetch, "_RCV1_CCAT", 4)
    monkeypatch.setattr(fetch, "_RCV1_TEST", 3)

    def write(home):
        (home / "RCV1").mkdir(parents=True)
        for name, content in {
            "samples": X,
            "sample_id": np.arange(8),
            "sample_topics": sp.csr_matrix(topics),
            "topics_names": np.array(["C15", "CCAT", "ECAT"], dtype=object),
        }.items():
            joblib.dump(content, home / "RCV1" / f"{name}_py3.pkl", compress=9)
        return {path: sha256(path) for path in (home / "RCV1").iterdir()}

    return X.toarray(), np.where(topics[:, 1], 1.0, -1.0), write


@pytest.mark.parametrize("place", ["folder", "cache"])
@pytest.mark.parametrize(
    ("split", "rows"), [("train", slice(3, 8)), ("test", slice(0, 3)), ("all", slice(0, 8))]
)
def test_rcv1_is_ccat_against_the_rest_in_unit_rows(
    corpus, folder, tmp_path, place, split, rows, capsys
):
    raw, labels, write = corpus
    sums = write(folder if place == "folder" else tmp_path / "sklearn")
    X, y = fetch_rcv1(split)
    assert (X.format, X.dtype, X.indices.dtype) == ("csr", np.float64, np.int32)
    length = np.linalg.norm(raw[rows], axis=1, keepdims=True)
    assert X.toarray() == pytest.approx(raw[rows] / np.where(length == 0, 1, length), abs=1e-15)
    assert y.tolist() == labels[rows].tolist()
    assert {path: sha256(path) for path in sums} == sums
    said = capsys.readouterr().err
    assert ("656 MB" in said) is (place == "cache")


def test_another_corpus_is_refused(corpus, folder, monkeypatch):
    corpus[2](folder)
    monkeypatch.setattr(fetch, "_RCV1_CCAT", 5)
    with pytest.raises(ValueError, match=r"the shape \(8, 5\) and 5 stories .* got \(8, 5\) and 4"):
        fetch_rcv1()
    monkeypatch.setattr(fetch, "_RCV1_CCAT", 4)
    monkeypatch.setattr(fetch, "_RCV1_SHAPE", (8, 6))
    with pytest.raises(ValueError, match=r"the shape \(8, 6\)"):
        fetch_rcv1()


def test_half_a_corpus_is_no_reason_to_download(corpus, folder, monkeypatch):
    sums = corpus[2](folder)
    (folder / "RCV1" / "topics_names_py3.pkl").unlink()
    with pytest.raises(FileNotFoundError, match=r"topics_names_py3\.pkl"):
        fetch_rcv1()
    assert len(list((folder / "RCV1").iterdir())) == len(sums) - 1


@pytest.mark.parametrize(
    "error", [URLError("no route"), TimeoutError("no route"), BadStatusLine("no route")]
)
@pytest.mark.parametrize(
    ("call", "fetcher", "parts"),
    [
        (fetch_mnist, "fetch_openml", ["MNIST", "openml", "load_mnist_binary()"]),
        (fetch_rcv1, "fetch_rcv1", ["RCV1", "PEGASOS_DATA"]),
    ],
)
def test_without_a_network_it_says_what_to_copy(call, fetcher, parts, error, monkeypatch, tmp_path):
    def fail(*args, **arguments):
        raise error

    monkeypatch.setattr(sklearn.datasets, fetcher, fail)
    with pytest.raises(ConnectionError, match=r"could not be downloaded .*no route") as caught:
        call()
    for part in [*parts, str(tmp_path / "sklearn")]:
        assert part in str(caught.value)


def needs(name):
    return pytest.mark.skipif(
        REAL is None or not (Path(REAL) / name).is_file(),
        reason=f"PEGASOS_DATA names no folder with {name}",
    )


@needs("cs229_spam_2144_800.npz")
def test_the_real_mail(monkeypatch, tmp_path):
    monkeypatch.setenv("PEGASOS_DATA", REAL)
    mail, counts = fetch_cs229_spam(), fetch_cs229_spam(unit_rows=False)
    assert (mail.X.shape, mail.X_test.shape) == ((2144, 1448), (800, 1448))
    assert [int((y == s).sum()) for y in (mail.y, mail.y_test) for s in (1, -1)] == [
        1070, 1074, 400, 400,
    ]  # fmt: skip
    for X, raw in ((mail.X, counts.X), (mail.X_test, counts.X_test)):
        assert np.sqrt(X.multiply(X).sum(axis=1)) == pytest.approx(np.ones((X.shape[0], 1)))
        assert (raw.data >= 1).all()
        assert (raw.data == np.rint(raw.data)).all()
    # The first numbers of the public MATRIX.TRAIN's second message: "31 1 3 1 2 1 42 1 19 1 158 2".
    assert mail.y[1] == -1
    assert counts.X[1].indices[:6].tolist() == np.cumsum([31, 3, 2, 42, 19, 158]).tolist()
    assert counts.X[1].data[:6].tolist() == [1, 1, 1, 1, 1, 2]
    # The file can be written again from its arrays, as the docstring says.
    with np.load(Path(REAL) / fetch._MAIL.name) as archive:
        np.savez_compressed(tmp_path / "again.npz", **archive)
    assert sha256(tmp_path / "again.npz") == fetch._MAIL.sha256


@needs("blood_cells_28x28.npz")
@pytest.mark.parametrize(("kind", "n"), [("red", 4153), ("white", 372), ("platelet", 361)])
def test_the_real_cells(monkeypatch, kind, n):
    monkeypatch.setenv("PEGASOS_DATA", REAL)
    cells = fetch_blood_cells(kind)
    assert cells.X.shape == (4886, 28 * 28 * 3)
    assert 0.0 <= cells.X.min() < cells.X.max() <= 1.0
    assert ((cells.y == 1).sum(), (cells.y == -1).sum()) == (n, 4886 - n)
    assert len(np.unique(cells.image)) == 364
    # BCCD marks 15 red cells and a white one in its photograph 2.
    assert (cells.y[cells.image == 2] == 1).sum() == {"red": 15, "white": 1, "platelet": 0}[kind]
    with np.load(Path(REAL) / fetch._CELLS.name) as archive:
        assert archive["classes"].tolist() == ["RBC", "WBC", "Platelets"]


@needs("mnist_10000_3000.npz")
def test_the_real_part_of_mnist(monkeypatch):
    monkeypatch.setenv("PEGASOS_DATA", REAL)
    for split, n, zeros in (("train", 10_000, 1001), ("test", 3000, 271)):
        X, y = fetch_mnist(split)
        assert (X.shape, (y == -1).sum()) == ((n, 784), zeros)
