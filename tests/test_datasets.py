from importlib.resources import files

import numpy as np
import pytest

from pegasos_lib import load_mnist_binary, make_blobs_2d, make_ring_2d, make_two_arcs_2d

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
