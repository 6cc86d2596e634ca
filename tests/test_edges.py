"""Single steps and odd data whose right answers are known by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseTime,
    pegasos,
    sdca,
    sgd,
    subgradient_descent,
    use_jit,
)
from tests import reference
from tests.generated import stored


@pytest.fixture(params=[True, False], ids=["compiled", "plain"], autouse=True)
def jit(request):
    with use_jit(request.param):
        yield request.param


@pytest.fixture(params=["dense", "csr"])
def kind(request):
    return request.param


def test_step_1_forgets_w_1():
    p = HingeProblem([[1.0, 0.0]], [1.0], 0.3)
    far = subgradient_descent(p, n_iter=1, w0=[5.0, 7.0])  # margin 5: no hit
    assert far.w.tolist() == [0.0, 0.0]
    near = subgradient_descent(p, n_iter=1, w0=[-5.0, 7.0])
    assert near.w == pytest.approx([1 / 0.3, 0.0])


def test_a_margin_of_exactly_1_is_no_hit(kind):
    # w_2 = x/lam = (2, 0) has margin 1 on x = (1/2, 0), so step 2 only halves it.
    p = HingeProblem(stored(np.array([[0.5, 0.0]]), kind), [1.0], 0.25)
    run = pegasos(p, n_iter=2, draws=[0, 0], project=False, record=range(3))
    assert run.trace.w.tolist() == [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]]


def test_the_margin_is_tested_before_the_shrink(kind):
    # w_2 = (1.1, 0) has margin 1.1: no hit at t = 2, though the shrunk (0.55, 0) would be one.
    X = np.array([[1.1, 0.0], [1.0, 0.0]])
    p = HingeProblem(stored(X, kind), [1.0, 1.0], 1.0)
    assert pegasos(p, n_iter=2, draws=[0, 1], project=False).w == pytest.approx([0.55, 0.0])


def test_a_batch_counts_repeats_and_divides_by_k(kind):
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    p = HingeProblem(stored(X, kind), [1.0, -1.0], 0.5)
    run = pegasos(p, n_iter=1, batch_size=4, draws=[[0, 0, 0, 1]], project=False)
    assert run.w.tolist() == [1.5, -0.5]


def test_all_margins_of_a_batch_are_tested_before_the_step(kind):
    # Both hit at w = 0, though after the first alone the second would not.
    p = HingeProblem(stored(np.array([[1.0], [3.0]]), kind), [1.0, 1.0], 0.5)
    assert pegasos(p, n_iter=1, batch_size=2, draws=[[1, 0]], project=False).w.tolist() == [4.0]


def test_the_ball_has_radius_one_over_root_lambda(kind):
    p = HingeProblem(stored(np.array([[3.0, 4.0]]), kind), [1.0], 0.25)
    assert pegasos(p, n_iter=1).w == pytest.approx([1.2, 1.6], rel=1e-15)  # norm 2, not 4 or 20
    assert pegasos(p, n_iter=1, project=False).w == pytest.approx([12.0, 16.0], rel=1e-15)
    assert sgd(p, n_iter=1, step="pegasos", project=3.0).w == pytest.approx([1.8, 2.4], rel=1e-15)


def test_the_average_begins_with_w_1_and_ends_before_the_last(kind):
    p = HingeProblem(stored(np.array([[2.0]]), kind), [1.0], 1.0)
    path = [0.0, 2.0, 1.0, 2.0 / 3.0, 0.5]  # one hit, then shrinks; w = 1/2 has margin exactly 1
    options = {"n_iter": 4, "draws": [0, 0, 0, 0], "project": False}
    assert pegasos(p, **options).w == pytest.approx(path[4:])
    expected = {
        "uniform": (0 + 2 + 1 + 2 / 3) / 4,
        "weighted": (2 * 2 + 3 * 1 + 4 * 2 / 3) / 10,
        "suffix": (1 + 2 / 3) / 2,
    }
    for average, value in expected.items():
        assert pegasos(p, average=average, **options).w_average == pytest.approx([value], rel=1e-14)


def test_projection_of_w_0_is_0(kind):
    p = HingeProblem(stored(np.zeros((2, 3)), kind), [1.0, -1.0], 0.1)
    for run in (pegasos(p, n_iter=20), sgd(p, n_iter=20, project=True, step=ConstantStep(30.0))):
        assert run.w.tolist() == [0.0, 0.0, 0.0]
        assert run.w_average.tolist() == [0.0, 0.0, 0.0]
        assert run.trace.objective.tolist() == [1.0]


def test_zero_rows_are_paid_for_in_full_by_every_solver(kind):
    X, y = np.array([[0.0, 0.0], [2.0, 0.0]]), [1.0, 1.0]
    p = HingeProblem(stored(X, kind), y, 0.1)
    run = sdca(p, gap=1e-13)
    assert run.w == pytest.approx([0.5, 0.0])
    assert run.alpha == pytest.approx([1.0, 0.05])
    assert p.objective(run.w) == pytest.approx(0.5 + 0.05 * 0.25)
    assert pegasos(p, n_iter=3000, average="suffix").trace.objective_average[-1] < 0.52


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_one_class_and_one_example_have_the_closed_form(kind, label):
    # One example: w* = y x min(1/||x||^2, 1/lam).
    x = np.array([[0.6, 0.8, 0.0]])
    for lam, length in ((0.5, 1.0), (4.0, 0.25)):
        p = HingeProblem(stored(x, kind), [label], lam)
        expected = label * length * x[0]
        assert sdca(p, gap=1e-14).w == pytest.approx(expected, abs=1e-13)
        run = pegasos(p, n_iter=4000, average="suffix")
        assert run.w_average == pytest.approx(expected, abs=2e-3)
        doubled = HingeProblem(stored(np.vstack([x, x]), kind), [label, label], lam)
        assert sdca(doubled, gap=1e-14).w == pytest.approx(expected, abs=1e-13)


def test_one_feature_with_flipped_labels():
    p = HingeProblem([[1.0], [1.0], [1.0]], [1.0, 1.0, -1.0], 0.1)
    # Slope of P below w = 1 is lam w - 1/3, above it lam w + 1/3: the minimum is the kink at 1.
    run = sdca(p, gap=1e-14)
    assert run.w == pytest.approx([1.0])
    assert p.objective(run.w) == pytest.approx(0.05 + 2 / 3)


def test_a_scale_that_underflows_again_and_again_stays_exact(kind):
    rng = np.random.default_rng(0)
    X, y, lam, T = rng.standard_normal((6, 3)), np.array([1.0, -1, 1, -1, 1, 1]), 1.0, 3000
    p = HingeProblem(stored(X, kind), y, lam)
    for step in (ConstantStep(0.5), ConstantStep(1.0), ConstantStep(1.5)):
        for average in (None, "uniform", "weighted"):
            # Recording splits the run but folds nothing: each kept iterate shows the scale's state.
            run = sgd(p, n_iter=T, step=step, average=average, project=0.8, record=range(T + 1))
            path, _ = reference.descend(
                X, y, lam, run.draws[:, None], lambda t, step=step: step.c, radius=0.8
            )
            assert np.abs(run.trace.w - path).max() <= 1e-10
            if average:
                assert run.w_average == pytest.approx(reference.average(path, average), abs=1e-10)


def test_projecting_every_step_stays_exact(kind):
    # lam is small and rows are long: early steps are all cut back, and the scale falls fast.
    rng = np.random.default_rng(1)
    X, y, lam = 30 * rng.standard_normal((40, 4)), rng.choice([-1.0, 1.0], 40), 1e-5
    run = pegasos(HingeProblem(stored(X, kind), y, lam), n_iter=2000)
    path, _ = reference.descend(X, y, lam, run.draws[:, None], lambda t: 1 / (lam * t), lam**-0.5)
    assert run.w == pytest.approx(path[-1], abs=1e-10 * lam**-0.5)
    assert run.w_average == pytest.approx(reference.average(path, "uniform"), abs=1e-10 * lam**-0.5)


def test_the_norm_of_wide_sparse_data_is_kept_up_to_date_between_refreshes():
    # Two of 80 entries a row: ||v||^2 is computed afresh every 40 hits only, and decides on
    # nearly every projection in between.
    rng = np.random.default_rng(2)
    X, y, lam = np.zeros((30, 80)), rng.choice([-1.0, 1.0], 30), 1e-3
    for row in X:
        row[rng.choice(80, 2, replace=False)] = rng.standard_normal(2) * 3
    p = HingeProblem(sp.csr_array(X), y, lam)
    for k in (1, 3):
        run = pegasos(p, n_iter=300, batch_size=k, record=range(301))
        path, _ = reference.descend(
            X, y, lam, run.draws.reshape(-1, k), lambda t: 1 / (lam * t), lam**-0.5
        )
        assert (np.linalg.norm(path, axis=1) > 0.999 * lam**-0.5).sum() > 20
        assert run.trace.w == pytest.approx(path, abs=1e-10 * lam**-0.5)


def test_a_diverging_step_shows_as_infinity_and_not_as_an_error():
    # Document 002's step CM/t on lambda-scaled subgradients amplifies w by 2^(CM).
    rng = np.random.default_rng(0)
    p = HingeProblem(rng.standard_normal((20, 2)), rng.choice([-1.0, 1.0], 20), 1.0)
    run = sgd(p, n_iter=6000, step=InverseTime(3000.0), average=None)
    assert not np.isfinite(run.w).all() or np.abs(run.w).max() > 1e100


def test_csr_with_empty_columns_and_64_bit_indices():
    X = sp.csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    p = HingeProblem(X, [1, 1, -1], 0.1)
    q = HingeProblem(X.toarray(), [1, 1, -1], 0.1)
    assert pegasos(p, n_iter=99).w == pytest.approx(pegasos(q, n_iter=99).w, rel=1e-12)
