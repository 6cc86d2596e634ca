from importlib.resources import files

import numpy as np
import pytest

from pegasos_lib import (
    HingeProblem,
    load_cell_nuclei,
    load_mnist_binary,
    make_blobs_2d,
    make_mail,
    make_rcv1_like,
    make_ring_2d,
    make_two_arcs_2d,
    sdca,
)

TOYS = [make_blobs_2d, make_two_arcs_2d, make_ring_2d]


@pytest.mark.parametrize(("split", "n"), [("train", 10_000), ("test", 3000)])
def test_mnist_is_0_against_the_rest(split, n):
    X, y = load_mnist_binary(split)
    assert (X.shape, X.dtype, X.flags.c_contiguous) == ((n, 784), np.float64, True)
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert (np.rint(X * 255) == X * 255).all()
    assert set(y) == {-1.0, 1.0}
    assert 0.09 < (y == -1).mean() < 0.11
    # A 0 has a hole: its centre is empty far more often than that of other digits.
    centre = X[:, 14 * 28 + 14]
    assert centre[y == -1].mean() < 0.1 < centre[y == 1].mean()


def test_mnist_knows_its_splits():
    with pytest.raises(ValueError, match="split must be 'train' or 'test'; got 'all'"):
        load_mnist_binary("all")


def test_mnist_ships_with_its_licence():
    text = (files("pegasos_lib") / "data" / "README.md").read_text()
    assert "CC BY-SA 3.0" in text
    assert "LeCun" in text


@pytest.mark.parametrize("make", TOYS)
@pytest.mark.parametrize("n", [1, 2, 41])
def test_toys_have_both_classes_and_repeat_from_a_seed(make, n):
    X, y = make(n, rng=3)
    assert (X.shape, X.dtype, y.shape, y.dtype) == ((n, 2), np.float64, (n,), np.float64)
    assert (y == 1).sum() == (n + 1) // 2
    assert (make(n, rng=np.random.default_rng(3))[0] == X).all()
    assert (make(n, rng=4)[0] != X).any()


@pytest.mark.parametrize("make", TOYS)
def test_flip_turns_that_share_of_labels_and_no_points(make):
    X, y = make(50, rng=1)
    turned_X, turned_y = make(50, flip=0.2, rng=1)
    assert (turned_X == X).all()
    assert (y != turned_y).sum() == 10
    for flip in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"flip must be a share in \[0, 1\]"):
            make(flip=flip)
    with pytest.raises(ValueError, match="n must be an integer >= 1; got 0"):
        make(0)


def test_blobs_are_as_far_apart_as_asked():
    X, y = make_blobs_2d(20_000, separation=4.0)
    apart = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    assert np.linalg.norm(apart) == pytest.approx(4.0, abs=0.1)


def test_ring_surrounds_its_disc():
    X, y = make_ring_2d(2000, noise=0.1)
    radius = np.linalg.norm(X, axis=1)
    assert radius[y == -1].max() <= 1.0 < radius[y == 1].min()


def test_arcs_interlock():
    X, y = make_two_arcs_2d(4000, noise=0.0)
    assert X[y == 1].mean(axis=0) == pytest.approx(-X[y == -1].mean(axis=0), abs=0.05)
    assert (X[y == 1, 1].min(), X[y == -1, 1].max()) == pytest.approx((-0.25, 0.25), abs=0.01)
    assert X[y == 1, 0].max() > X[y == -1, 0].min()


def test_cell_nuclei_are_scaled_and_malignant_is_plus():
    X, y = load_cell_nuclei()
    assert X.shape == (569, 30)
    assert X.mean(axis=0) == pytest.approx(np.zeros(30), abs=1e-12)
    assert X.std(axis=0) == pytest.approx(np.ones(30))
    assert (y == 1).sum() == 212
    assert X[y == 1, 0].mean() > 0.8  # the radius: malignant nuclei are larger


def test_mail_has_document_001s_shape_and_unit_rows():
    mail = make_mail()
    assert (mail.X.shape, mail.X_test.shape) == ((2144, 1448), (800, 1448))
    assert not mail.is_outlier.any()
    for X, y in ((mail.X, mail.y), (mail.X_test, mail.y_test)):
        assert np.sqrt(X.multiply(X).sum(axis=1)) == pytest.approx(np.ones((len(y), 1)))
        assert set(y) == {-1.0, 1.0}
        assert 0.45 < (y == 1).mean() < 0.55
    assert 45 < mail.X.nnz / 2144 < 75  # the real mail: 50
    problem = HingeProblem(mail.X, mail.y, 1e-2)
    w = sdca(problem, gap=1e-4).w
    assert HingeProblem(mail.X_test, mail.y_test, 1e-2).accuracy(w) > 0.97


@pytest.mark.parametrize("kind", ["flipped", "foreign", "long"])
def test_outliers_are_as_many_and_of_the_kind_asked_for(kind):
    clean, mail = make_mail(rng=5), make_mail(outliers=0.1, kind=kind, rng=5)
    assert mail.is_outlier.sum() == 214
    regular = ~mail.is_outlier
    if kind != "foreign":  # the same messages, but for what was done to the outliers
        assert (mail.y[regular] == clean.y[regular]).all()
        assert (mail.y[mail.is_outlier] == -clean.y[mail.is_outlier]).all()
        assert abs(mail.X[regular] - clean.X[regular]).max() == 0
    size = np.sqrt(np.asarray(mail.X.multiply(mail.X).sum(axis=1)).ravel())
    assert size == pytest.approx(np.where(mail.is_outlier & (kind == "long"), 10.0, 1.0))
    losses = {}
    for name, data in (("clean", clean), ("mail", mail)):
        problem = HingeProblem(data.X, data.y, 1e-2)
        losses[name] = np.maximum(0, 1 - problem.margins(sdca(problem, gap=1e-4).w))
    if kind == "long":  # a few long rows spoil the fit of all others
        assert losses["mail"][regular].mean() > 3 * losses["clean"].mean()
    else:
        assert losses["mail"][mail.is_outlier].mean() > 3 * losses["mail"][regular].mean()


def test_sparse_text_has_the_shape_of_rcv1():
    X, y = make_rcv1_like(5000, rng=2)
    assert X.shape == (5000, 47_236)
    assert (X.dtype, X.indices.dtype) == (np.float64, np.int32)
    assert 70 < X.nnz / 5000 < 82
    assert np.sqrt(X.multiply(X).sum(axis=1)) == pytest.approx(np.ones((5000, 1)))
    canonical = X.copy()
    canonical.has_canonical_format = False  # look again
    canonical.sum_duplicates()
    assert (canonical.indices == X.indices).all()
    assert X.data.min() > 0
    clean, labels = make_rcv1_like(5000, flip=0.0, rng=2)
    assert abs(clean - X).max() == 0
    assert (labels == 1).sum() == 2500
    assert (labels != y).sum() == 250
    train, test = HingeProblem(X[:4000], y[:4000], 1e-4), HingeProblem(X[4000:], labels[4000:], 1)
    assert test.accuracy(sdca(train, gap=1e-3).w) > 0.9


def test_a_small_text_may_span_blocks_and_repeats_from_a_seed(monkeypatch):
    whole, y = make_rcv1_like(50, d=30, nnz=4, rng=7)
    again, again_y = make_rcv1_like(50, d=30, nnz=4, rng=np.random.default_rng(7))
    assert abs(whole - again).max() == 0
    assert (y == again_y).all()
    monkeypatch.setattr("pegasos_lib.datasets._ROWS", 7)
    blocks, _ = make_rcv1_like(50, d=30, nnz=4, rng=7)
    assert np.diff(blocks.indptr).min() >= 1
    assert np.diff(blocks.indptr).mean() == pytest.approx(np.diff(whole.indptr).mean(), abs=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_mail(0), "n_train must be an integer >= 1; got 0"),
        (lambda: make_mail(n_words=2.5), "n_words must be an integer >= 1; got 2.5"),
        (lambda: make_mail(outliers=2), r"outliers must be a share in \[0, 1\]; got 2"),
        (lambda: make_mail(kind="odd"), "kind must be 'flipped', 'foreign' or 'long'; got 'odd'"),
        (lambda: make_mail(outliers="0.5"), r"outliers must be a share in \[0, 1\]; got '0.5'"),
        (lambda: make_mail(kind=["long"]), r"kind must be 'flipped', .*; got \['long'\]"),
        (lambda: make_rcv1_like(-1), "n must be an integer >= 1; got -1"),
        (lambda: make_rcv1_like(5, d=10, nnz=6), "nnz must be at most d/2 = 5; got 6"),
        (lambda: make_rcv1_like(5, flip=-1), r"flip must be a share in \[0, 1\]; got -1"),
    ],
)
def test_generators_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()
