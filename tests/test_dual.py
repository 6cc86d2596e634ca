import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from pegasos_lib import (
    HingeProblem,
    load_mnist_binary,
    make_blobs_2d,
    make_ring_2d,
    make_two_arcs_2d,
    sdca,
    use_jit,
)
from tests import reference
from tests.generated import data, stored


@settings(max_examples=40)
@given(data(), st.integers(0, 99), st.sampled_from(["dense", "csr"]), st.booleans())
def test_the_certificate_is_true_and_the_optimum_independent_of_the_way(example, seed, kind, jit):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    with use_jit(jit):
        run = sdca(p, gap=1e-9, n_epochs=3000, rng=seed)
    assert run.alpha.min() >= 0
    assert run.alpha.max() <= 1
    assert run.w == pytest.approx(p.weights(run.alpha), rel=1e-12, abs=1e-12)
    assert run.gap == pytest.approx(p.duality_gap(run.w, run.alpha))
    assert run.gap <= 1.1e-9
    best = reference.optimum(X, y, lam)[1]
    assert p.objective(run.w) - best == pytest.approx(0.0, abs=3e-8 * max(1.0, best))


@pytest.mark.parametrize("make", [make_blobs_2d, make_two_arcs_2d, make_ring_2d])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_toys_are_certified_to_twelve_digits(make, lam):
    X, y = make(flip=0.05)
    run = sdca(HingeProblem(X, y, lam), gap=1e-12, n_epochs=3000)
    assert run.gap <= 1.1e-12
    assert run.n_iter < 3000


def test_mnist_is_certified_and_agrees_with_liblinear():
    X, y = load_mnist_binary()
    p = HingeProblem(X, y, 1e-3)
    run = sdca(p, gap=2e-10)
    assert run.gap <= 2.1e-10
    assert run.n_iter < 60
    assert p.objective(run.w) == pytest.approx(0.0197629490, abs=3e-10)
    small = HingeProblem(X[:1000], y[:1000], 1e-2)
    liblinear = LinearSVC(loss="hinge", C=small.C, fit_intercept=False, tol=1e-10, max_iter=10**6)
    w = liblinear.fit(small.X, small.y).coef_[0]
    assert sdca(small, gap=1e-12).w == pytest.approx(w, abs=1e-5)


def test_shrinking_saves_epochs_and_changes_no_optimum():
    X, y = make_blobs_2d(300, flip=0.05)
    p = HingeProblem(X, y, 1e-2)
    fast, plain = (sdca(p, gap=1e-11, n_epochs=5000, shrink=s) for s in (True, False))
    assert max(fast.gap, plain.gap) <= 1.1e-11
    assert fast.n_iter < plain.n_iter
    assert fast.w == pytest.approx(plain.w, abs=1e-4)
    assert (plain.visits, fast.visits >= 300 * fast.n_iter) == (300 * plain.n_iter, True)


def test_the_dual_never_falls():
    X, y = make_blobs_2d(30, flip=0.1)
    for shrink in (True, False):
        p = HingeProblem(X, y, 1e-2)
        duals = [
            p.dual_objective(sdca(p, n_epochs=e, gap=1e-15, shrink=shrink).alpha) for e in range(9)
        ]
        assert (np.diff(duals) >= -1e-15).all()


def test_no_epochs_give_alpha_0_and_a_gap_of_1():
    X, y = make_blobs_2d(10)
    run = sdca(HingeProblem(X, y, 0.1), n_epochs=0, record=[0])
    assert (run.n_iter, run.visits, run.gap) == (0, 0, 1.0)
    assert run.alpha.tolist() == [0.0] * 10
    assert run.trace.objective.tolist() == [1.0]


def test_record_beyond_the_stop_keeps_the_stop():
    X, y = make_blobs_2d(40, rng=2)
    run = sdca(HingeProblem(X, y, 0.1), gap=1e-3, n_epochs=500, record=[0, 1, 400, 500])
    assert run.n_iter < 400
    assert run.trace.iteration.tolist() == [0, 1, run.n_iter][: len(run.trace)]
    assert (run.trace.w[-1] == run.w).all()


def test_nothing_is_printed(capfd):
    X, y = make_blobs_2d(20)
    sdca(HingeProblem(sp.csr_array(X), y, 0.1))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
