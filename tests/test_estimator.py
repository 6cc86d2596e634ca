"""The scikit-learn classifiers against the textbook, the solvers and LinearSVC."""

import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos_lib import (
    HingeProblem,
    draw_batches,
    make_blobs_2d,
    pegasos,
    sdca,
    use_jit,
)
from pegasos_lib.estimator import PegasosClassifier, SDCAClassifier
from tests import reference
from tests.generated import data, stored

LIBLINEAR = {"loss": "hinge", "tol": 1e-10, "max_iter": 10**6, "random_state": 0}
BOTH = pytest.mark.parametrize("make", [PegasosClassifier, SDCAClassifier])


# scikit-learn itself skips two checks of each: the one of the array API, which the next test makes
# because SCIPY_ARRAY_API must be set before SciPy is imported, and, where pandas is not installed,
# the one of data frames. Nothing else is skipped, and nothing may fail.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        PegasosClassifier(),
        PegasosClassifier(
            lam=1e-2, max_iter=50, batch_size=5, sampling="iid", project=False, average=None,
            intercept_scaling=2.0, warm_start=True,
        ),
        SDCAClassifier(),
        SDCAClassifier(lam=1e-2, tol=1e-9, intercept_scaling=2.0, warm_start=True),
    ]
)  # fmt: skip
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_check_that_wants_the_array_api_passes_too():
    code = (
        "from sklearn.utils.estimator_checks import check_array_api_input as check\n"
        "from pegasos_lib.estimator import PegasosClassifier, SDCAClassifier\n"
        "for one in (PegasosClassifier(), SDCAClassifier()):\n"
        "    check(type(one).__name__, one, array_namespace='numpy')\n"
        "print('passed')"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert run.stdout.strip() == "passed", run.stderr


def with_constant(X, scale):
    return np.column_stack([X, np.full(len(X), scale)])


def blobs(n=120, d=4, seed=0):
    """Return overlapping classes whose best intercept is far from 0."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n, p=[0.3, 0.7])
    return rng.standard_normal((n, d)) + 0.7 * y[:, None] + np.arange(d) / d, y


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("lam", [1e-2, 1e-1])
def test_sdca_agrees_with_liblinear_and_the_interior_point_method(kind, lam):
    X, y = blobs()
    sdca_fit = SDCAClassifier(lam, tol=1e-13, fit_intercept=False, random_state=0)
    w = sdca_fit.fit(stored(X, kind), y).coef_[0]
    p = HingeProblem(X, y, lam)
    liblinear = LinearSVC(C=p.C, fit_intercept=False, **LIBLINEAR).fit(X, y)
    assert w == pytest.approx(liblinear.coef_[0], abs=1e-6)
    assert p.objective(w) == pytest.approx(reference.optimum(X, y, lam)[1], abs=1e-8)
    assert sdca_fit.intercept_.tolist() == [0.0]


@pytest.mark.parametrize("scale", [0.5, 1.0, 7.0])
def test_the_intercept_is_that_of_a_regularised_constant_feature(scale):
    X, y = blobs()
    options = {"fit_intercept": True, "intercept_scaling": scale}
    ours = SDCAClassifier(1e-2, tol=1e-13, random_state=0, **options).fit(X, y)
    theirs = LinearSVC(C=1 / (1e-2 * len(y)), **LIBLINEAR, **options).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert abs(ours.intercept_[0]) > 0.1


def test_the_certificate_belongs_to_the_weights():
    X, y = blobs()
    fit = SDCAClassifier(1e-2, tol=1e-3, intercept_scaling=3.0, random_state=1).fit(X, y)
    p = HingeProblem(with_constant(X, 3.0), y, 1e-2)
    v = np.append(fit.coef_[0], fit.intercept_[0] / 3.0)
    assert p.weights(fit.alpha_) == pytest.approx(v, abs=1e-14)
    assert fit.dual_gap_ == pytest.approx(p.objective(v) - p.dual_objective(fit.alpha_), abs=1e-15)
    assert 0.0 < fit.dual_gap_ <= 1e-3
    best = reference.optimum(p.X, y, 1e-2)[1]
    assert p.objective(v) - best <= fit.dual_gap_
    run = sdca(p, gap=1e-3, n_epochs=1000, rng=1)
    assert fit.n_iter_ == run.n_iter
    # To the last bit, which a division by 3 and the product before it need not keep.
    assert (fit.coef_[0] == run.w[:-1]).all()
    assert fit.intercept_[0] == 3.0 * run.w[-1]


def test_sdca_warns_only_if_it_ends_above_tol():
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match=r"gap is 0\.\d+ after 1 epochs, above tol=1e-09"):
        fit = SDCAClassifier(1e-4, max_iter=1, tol=1e-9, random_state=0).fit(X, y)
    assert (fit.n_iter_, fit.dual_gap_ > 1e-9) == (1, True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = SDCAClassifier(1e-2, tol=1e-9, random_state=0).fit(X, y)
        assert fit.dual_gap_ <= 1.1e-9
        # No epoch was to spare.
        assert fit.set_params(max_iter=fit.n_iter_).fit(X, y).dual_gap_ <= 1e-9


def test_sdca_starts_warm_from_its_last_dual_point():
    X, y = blobs()
    fit = SDCAClassifier(1e-3, tol=1e-3, warm_start=True, random_state=0).fit(X, y)
    first, epochs = fit.alpha_.copy(), fit.n_iter_
    assert fit.fit(X, y).n_iter_ == 0  # the gap is reached already
    assert (fit.alpha_ == first).all()
    cold = SDCAClassifier(1e-3, tol=1e-8, random_state=0)
    warm = clone(cold).set_params(warm_start=True)
    warm.alpha_ = sdca(HingeProblem(with_constant(X, 1.0), y, 1e-3), gap=1e-3, rng=5).alpha
    assert 0 < warm.fit(X, y).n_iter_ < cold.fit(X, y).n_iter_
    assert warm.coef_ == pytest.approx(cold.coef_, abs=1e-3)
    assert fit.set_params(warm_start=False).fit(X, y).n_iter_ == epochs
    assert (fit.alpha_ == first).all()


@pytest.mark.parametrize("rows", [60, 120, 150])
@pytest.mark.parametrize("lam", [1e-3, 1e-2, 1.0])
def test_a_warm_start_of_sdca_may_change_lam_and_the_rows(rows, lam):
    X, y = blobs(150)
    fit = SDCAClassifier(1e-2, tol=1e-9, warm_start=True, fit_intercept=False, random_state=1)
    before = fit.fit(X[:120], y[:120]).alpha_
    fit.set_params(lam=lam).fit(X[:rows], y[:rows])
    p = HingeProblem(X[:rows], y[:rows], lam)
    start = [*before[:rows], *[0.0] * (rows - 120)]
    run = sdca(p, gap=1e-9, rng=1, alpha0=start)
    assert (fit.alpha_ == run.alpha).all()
    assert fit.n_iter_ == run.n_iter
    assert (fit.n_iter_ == 0) == ((rows, lam) == (120, 1e-2))
    excess = p.objective(fit.coef_[0]) - reference.optimum(p.X, p.y, lam)[1]
    assert -1e-9 <= excess <= fit.dual_gap_ + 1e-9 <= 2e-9


def test_a_warm_start_of_sdca_on_unlike_data_ends_as_well():
    X, y = blobs()
    fit = SDCAClassifier(1e-2, tol=1e-9, warm_start=True, random_state=0).fit(X, y)
    fit.fit(-X[:, :2], np.where(y > 0, "a", "b"))
    cold = SDCAClassifier(1e-2, tol=1e-9, random_state=0).fit(-X[:, :2], y < 0)
    assert fit.coef_ == pytest.approx(cold.coef_, abs=1e-3)
    assert 0.0 <= fit.dual_gap_ <= 1e-9
    assert (fit.n_features_in_, fit.classes_.tolist()) == (2, ["a", "b"])


@settings(max_examples=60)
@given(
    data(),
    st.integers(0, 99),
    st.sampled_from([None, "uniform", "weighted"]),
    st.sampled_from(["iid", "permutation"]),
    st.sampled_from([False, True, 0.7]),
    st.sampled_from([1, 3]),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from(["dense", "csr"]),
    st.booleans(),
)
def test_pegasos_takes_the_textbooks_steps(
    example, seed, average, sampling, project, k, scale, kind, jit
):
    X, y, lam = example
    assume(len(set(y)) == 2)
    assume(sampling == "iid" or k <= len(y))
    steps, rng = -(-len(y) // k), np.random.default_rng(seed)
    draws = np.concatenate(
        [draw_batches(rng, len(y), steps, k, sampling=sampling).reshape(-1, k) for _ in range(4)]
    )
    rows = with_constant(X, scale) if scale else X
    radius = {False: np.inf, True: lam**-0.5}.get(project, project)
    path, nearest = reference.descend(rows, y, lam, draws, lambda t: 1 / (lam * t), radius)
    assume(nearest > 1e-8)
    expected = reference.average(path, average) if average else path[-1]

    with use_jit(jit):
        fit = PegasosClassifier(
            lam, max_iter=4, batch_size=k, sampling=sampling, project=project, average=average,
            fit_intercept=scale > 0, intercept_scaling=scale, random_state=seed,
        ).fit(stored(X, kind), y)  # fmt: skip
    size = max(1.0, np.abs(path).max())
    d = X.shape[1]
    assert np.abs(fit.coef_ - expected[:d]).max() <= 1e-10 * size
    constant = scale * expected[d] if scale else 0.0
    assert fit.intercept_ == pytest.approx([constant], abs=1e-10 * size * max(1.0, scale))
    assert (fit.n_iter_, fit.n_steps_) == (4, 4 * steps)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
@pytest.mark.parametrize("k", [1, 4])
def test_a_stream_in_pieces_is_one_fit_in_the_same_order(jit, kind, average, k):
    X, y = blobs(240, seed=3)
    options = {"lam": 1e-2, "batch_size": k, "average": average}
    order = np.random.default_rng(5).permutation(len(y))
    with use_jit(jit):
        whole = PegasosClassifier(max_iter=1, random_state=5, **options).fit(stored(X, kind), y)
        pieces = PegasosClassifier(**options)
        for part in np.split(order, [4, 20, 24, 100, 236]):
            pieces.partial_fit(stored(X[part], kind), y[part], classes=[-1, 1])
    assert pieces.n_steps_ == whole.n_steps_ == 240 // k
    assert np.abs(pieces.coef_ - whole.coef_).max() <= 1e-10
    assert np.abs(pieces.intercept_ - whole.intercept_).max() <= 1e-10
    assert pieces.n_iter_ == 1


def test_a_left_over_batch_is_divided_by_its_own_size():
    X, y = blobs(7, seed=2)
    fit = PegasosClassifier(0.1, batch_size=3, fit_intercept=False, project=False, average=None)
    fit.partial_fit(X, y, classes=[-1, 1])
    path, _ = reference.descend(X, y, 0.1, [[0, 1, 2], [3, 4, 5], [6]], lambda t: 1 / (0.1 * t))
    assert fit.coef_[0] == pytest.approx(path[-1], rel=1e-12)
    assert fit.n_steps_ == 3


def shares_of_the_rows(X, y, lam, draws, radius):
    """Return alpha with w_{T+1} = w(alpha), by what each step does to the share of every row."""
    alpha = np.zeros(len(y))
    for t, batch in enumerate(draws, start=1):
        w = (alpha * y) @ X / (lam * len(y))
        hits = [i for i in batch if y[i] * (X[i] @ w) < 1]
        alpha *= 1 - 1 / t
        np.add.at(alpha, np.array(hits, dtype=int), len(y) / (t * len(batch)))
        norm = np.linalg.norm((alpha * y) @ X) / (lam * len(y))
        alpha *= min(1.0, radius / norm) if norm else 1.0
    return alpha


@settings(max_examples=60)
@given(
    data(),
    st.integers(0, 99),
    st.sampled_from([None, "uniform", "weighted"]),
    st.sampled_from(["iid", "permutation"]),
    st.sampled_from([False, True, 0.7]),
    st.sampled_from([1, 2]),
    st.sampled_from(["dense", "csr"]),
    st.booleans(),
)
def test_the_gap_of_pegasos_is_what_its_hits_prove(
    example, seed, average, sampling, project, k, kind, jit
):
    X, y, lam = example
    assume(len(set(y)) == 2)
    steps, rng = -(-len(y) // k), np.random.default_rng(seed)
    draws = np.concatenate(
        [draw_batches(rng, len(y), steps, k, sampling=sampling).reshape(-1, k) for _ in range(5)]
    )
    radius = {False: np.inf, True: lam**-0.5}.get(project, project)
    path, nearest = reference.descend(X, y, lam, draws, lambda t: 1 / (lam * t), radius)
    assume(nearest > 1e-8)
    alpha = shares_of_the_rows(X, y, lam, draws, radius)
    size = max(1.0, np.abs(path[-1]).max())
    assert np.abs((alpha * y) @ X / (lam * len(y)) - path[-1]).max() <= 1e-9 * size
    if sampling == "permutation" and len(y) % k == 0:
        assert alpha.max() <= 1.0 + 1e-9
    with use_jit(jit):
        fit = PegasosClassifier(
            lam, max_iter=5, batch_size=k, sampling=sampling, project=project, average=average,
            fit_intercept=False, random_state=seed,
        ).fit(stored(X, kind), y)  # fmt: skip

    alpha = np.minimum(alpha, 1.0)
    w = (alpha * y) @ X / (lam * len(y))
    multiples = np.linspace(0, 1, 1001)
    duals = multiples * alpha.mean() - lam / 2 * (w @ w) * multiples**2
    primal = reference.objective(X, y, lam, fit.coef_[0])
    slack = 1e-9 * max(1.0, primal)
    # Between two of the multiples, the dual can be higher by a fraction of its curvature.
    finest = lam * (w @ w) * 1e-6 / 8
    assert primal - duals.max() - finest - slack <= fit.dual_gap_ <= primal - duals.max() + slack
    best = reference.optimum(X, y, lam)[1]
    assert max(0.0, primal - best - 1e-7 * max(1.0, best)) <= fit.dual_gap_ <= primal + slack


@pytest.mark.parametrize("scale", [0.0, 2.0])
@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
def test_the_gap_of_permutation_pegasos_closes_with_the_projection(average, scale):
    X, y = blobs(400)
    options = {"fit_intercept": scale > 0, "intercept_scaling": scale or 1.0, "average": average}
    gaps = []
    for epochs in (1, 10, 100):
        fit = PegasosClassifier(1e-2, max_iter=epochs, random_state=0, **options).fit(X, y)
        gaps.append(fit.dual_gap_)
    assert gaps[2] < gaps[1] / 3 < gaps[0] / 9
    assert gaps[2] < 6e-3


def test_the_gap_of_pegasos_lives_from_fit_to_partial_fit():
    X, y = blobs()
    once = PegasosClassifier(1e-2, max_iter=10, random_state=0).fit(X, y)
    twice = PegasosClassifier(1e-2, max_iter=5, random_state=0, warm_start=True).fit(X, y)
    half = twice.dual_gap_
    assert twice.fit(X, y).dual_gap_ == pytest.approx(once.dual_gap_, rel=1e-9)
    assert twice.dual_gap_ < half
    assert not hasattr(twice.partial_fit(X, y), "dual_gap_")
    # The next certificate counts the hits since: true, if not sharp.
    p = HingeProblem(with_constant(X[:80], 1.0), y[:80], 1e-2)
    for lam in (1e-2, 1e-1, 1e-3):
        twice.set_params(lam=lam).fit(X[:80], y[:80])
        p = p.with_lam(lam)
        best = reference.optimum(p.X, p.y, lam)[1]
        v = np.append(twice.coef_[0], twice.intercept_)
        assert 0.0 <= p.objective(v) - best <= twice.dual_gap_ + 1e-9


def test_many_passes_reach_the_optimum_of_the_problem():
    X, y = blobs()
    p = HingeProblem(X, y, 1e-2)
    best = p.objective(SDCAClassifier(1e-2, tol=1e-12, fit_intercept=False).fit(X, y).coef_[0])
    fit = PegasosClassifier(1e-2, max_iter=400, fit_intercept=False, random_state=0).fit(X, y)
    stream = PegasosClassifier(1e-2, fit_intercept=False)
    for _ in range(400):
        stream.partial_fit(X, y, classes=[-1, 1])
    for w in (fit.coef_[0], stream.coef_[0]):
        assert 0.0 < p.objective(w) - best < 5e-4


def test_fit_is_the_solver_pegasos():
    X, y = blobs()
    p = HingeProblem(X, y, 1e-2)
    fit = PegasosClassifier(1e-2, fit_intercept=False, random_state=9).fit(X, y)
    run = pegasos(p, n_iter=20 * p.n, rng=9, sampling="permutation", average="weighted")
    assert fit.coef_[0] == pytest.approx(run.w_average, rel=1e-12)


def test_a_warm_start_continues_steps_average_and_draws():
    X, y = blobs()
    once = PegasosClassifier(max_iter=10, random_state=0).fit(X, y)
    twice = PegasosClassifier(max_iter=5, random_state=0, warm_start=True).fit(X, y)
    half = twice.coef_.copy()
    twice.fit(X, y)
    assert (twice.n_steps_, twice.n_iter_) == (once.n_steps_, 5)
    assert twice.coef_ == pytest.approx(once.coef_, rel=1e-10)
    assert (half != once.coef_).all()
    cold = PegasosClassifier(max_iter=5, random_state=0).fit(X, y).fit(X, y)
    assert (cold.coef_ == half).all()


def test_a_warm_start_may_change_lam():
    X, y = blobs(seed=4)
    fit = PegasosClassifier(1.0, max_iter=1, average=None, random_state=0, warm_start=True)
    before = fit.set_params(fit_intercept=False, project=False).fit(X, y).coef_[0]
    fit.set_params(lam=0.25).partial_fit(X[:1], y[:1])
    t, x = len(y) + 1, X[0] * y[0]
    hit = x @ before < 1
    assert fit.coef_[0] == pytest.approx((1 - 1 / t) * before + hit * x / (0.25 * t), rel=1e-10)


@BOTH
def test_sparse_and_dense_agree_and_the_callers_data_stay(make):
    X, y = blobs()
    X[np.abs(X) < 0.8] = 0.0
    dense = make(1e-2, random_state=0).fit(X, y)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        S = kind(X)
        fit = make(1e-2, random_state=0).fit(S, y)
        assert fit.coef_ == pytest.approx(dense.coef_, abs=1e-10)
        assert fit.intercept_ == pytest.approx(dense.intercept_, abs=1e-10)
        assert fit.decision_function(S) == pytest.approx(dense.decision_function(X), abs=1e-9)
        assert (S.toarray() == X).all()


@BOTH
def test_sparse_data_are_not_made_dense(make):
    rng, n, d, stored = np.random.default_rng(0), 300, 200_000, 20
    columns, starts = rng.integers(d, size=n * stored), np.arange(n + 1) * stored
    X, y = sp.csr_array((rng.random(n * stored), columns, starts), shape=(n, d)), np.arange(n) % 2
    make(max_iter=1, tol=1.0).fit(X[:10], y[:10]) if make is SDCAClassifier else make().fit(X, y)
    tracemalloc.start()
    fit = make(1e-2).fit(X, y)
    fit.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * n * d, f"{peak / 1e6:.0f} MB"


def test_a_stream_needs_no_more_memory_when_it_is_longer():
    X, y = blobs(50)
    fit = PegasosClassifier(random_state=0)
    sizes = [len(pickle.dumps(fit.partial_fit(X, y, classes=[-1, 1]))) for _ in range(100)]
    assert max(sizes) - min(sizes) < 10


@BOTH
@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True], [1.0, 2.0]])
def test_any_two_labels_serve_and_the_greater_is_positive(make, labels):
    X, y = blobs()
    named = np.array(labels)[(y > 0).astype(int)]
    fit, plain = (make(1e-2, random_state=0).fit(X, target) for target in (named, y))
    assert fit.classes_.tolist() == labels
    assert (fit.coef_ == plain.coef_).all()
    assert (fit.predict(X) == np.array(labels)[(plain.predict(X) > 0).astype(int)]).all()
    assert fit.score(X, named) == plain.score(X, y) > 0.8
    assert fit.decision_function(X) == pytest.approx(X @ plain.coef_[0] + plain.intercept_[0])


@BOTH
def test_a_score_of_0_is_the_first_class(make):
    X, y = np.array([[1.0], [-1.0]]), ["b", "a"]
    assert make(fit_intercept=False).fit(X, y).predict([[0.0], [1e-9]]).tolist() == ["a", "b"]


def test_pieces_may_hold_one_class_and_the_first_names_both():
    fit = PegasosClassifier().partial_fit([[1.0], [2.0]], ["b", "b"], classes=["b", "a"])
    assert fit.classes_.tolist() == ["a", "b"]
    assert fit.predict([[1.0]]).tolist() == ["b"]
    fit.partial_fit([[-1.0]], ["a"]).partial_fit([[-1.0]], ["a"], classes=["a", "b"])
    assert fit.n_steps_ == 4


@BOTH
@pytest.mark.parametrize("source", [int, np.random.default_rng, np.random.RandomState])
def test_the_random_state_makes_a_fit_repeatable(make, source):
    X, y = blobs()
    options = {"max_iter": 3} if make is PegasosClassifier else {"tol": 0.1, "lam": 1e-4}
    first, again, other = (make(random_state=source(s), **options).fit(X, y) for s in (1, 1, 2))
    assert (first.coef_ == again.coef_).all()
    assert (first.coef_ != other.coef_).all()


@BOTH
def test_clones_and_pickles_are_whole(make):
    X, y = blobs()
    fit = make(0.02, random_state=3, intercept_scaling=2.0).fit(X, y)
    copy = pickle.loads(pickle.dumps(fit))
    assert (copy.decision_function(X) == fit.decision_function(X)).all()
    fresh = clone(fit)
    assert fresh.get_params() == fit.get_params()
    assert not hasattr(fresh, "coef_")
    assert (fresh.fit(X, y).coef_ == fit.coef_).all()
    if make is PegasosClassifier:
        for one in (fit, copy):
            one.partial_fit(X, y)
        assert (copy.coef_ == fit.coef_).all()
        assert copy.n_steps_ == 21 * len(y)


@BOTH
def test_a_grid_search_over_a_pipeline_finds_lam(make):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), make(random_state=0))
    name = f"{make.__name__.lower()}__lam"
    search = GridSearchCV(model, {name: [1e-3, 1e-2, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_[name] < 10.0
    assert search.best_score_ > 0.95


@BOTH
def test_one_versus_rest_makes_many_classes_of_two(make):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rest = OneVsRestClassifier(make(1e-3, random_state=0)).fit(X, y)
    assert len(rest.estimators_) == 3
    assert rest.score(X, y) > 0.9
    alone = make(1e-3, random_state=0).fit(X, y == 1)
    assert (rest.estimators_[1].coef_ == alone.coef_).all()


def test_one_versus_rest_streams():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rest, alone = OneVsRestClassifier(PegasosClassifier(1e-2)), PegasosClassifier(1e-2)
    for epoch in range(6):
        for part in np.split(np.random.default_rng(epoch).permutation(150), 5):
            rest.partial_fit(X[part], y[part], classes=[0, 1, 2])
            alone.partial_fit(X[part], y[part] == 2, classes=[False, True])
    assert (rest.estimators_[2].coef_ == alone.coef_).all()
    assert rest.score(X, y) > 0.8
    assert rest.estimators_[0].n_steps_ == 900


@BOTH
def test_more_or_fewer_than_two_classes_are_refused(make):
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match=r"Only binary classification is .*multiclass"):
        make().fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match=r"two classes are needed; got 1 class label\(s\): \[5\]"):
        make().fit(X, [5, 5, 5])
    with pytest.raises(ValueError, match="Unknown label type"):
        make().fit(X, [0.1, 0.2, 0.3])


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(make, bad):
    X, y = blobs(20)
    fit = make(random_state=0).fit(X, y)
    X[3, 1] = bad
    for rows in (X, sp.csr_array(X)):
        for call in (lambda: make().fit(rows, y), lambda: fit.predict(rows)):  # noqa: B023
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                call()


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.0}, "lam must be a finite number above 0; got 0.0"),
        ({"lam": "small"}, "lam must be a finite number above 0; got 'small'"),
        ({"lam": np.nan}, "lam must be a finite number above 0; got nan"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"max_iter": 2.0}, "max_iter must be an integer >= 1; got 2.0"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a finite number above 0; got 0.0"),
        ({"random_state": "x"}, "random_state must be None, an integer >= 0,.*; got 'x'"),
        ({"random_state": -1}, "random_state must be None, an integer >= 0,.*; got -1"),
    ],
)
def test_bad_options_are_named(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options).fit(*blobs(20))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
        ({"batch_size": 21}, r"batch_size must lie in 1\.\.20 to draw without replacement"),
        ({"sampling": "cyclic"}, "sampling must be 'iid' or 'permutation'; got 'cyclic'"),
        ({"average": "suffix"}, "average must be 'weighted', 'uniform' or None; got 'suffix'"),
        ({"project": -1.0}, "project, if it is not True or False, must be a finite number above"),
    ],
)
def test_bad_options_of_pegasos_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PegasosClassifier(**options).fit(*blobs(20))


@pytest.mark.parametrize("tol", [0.0, -1.0, np.nan])
def test_a_bad_tol_is_named(tol):
    with pytest.raises(ValueError, match="tol must be a finite number above 0; got"):
        SDCAClassifier(tol=tol).fit(*blobs(20))


def test_a_stream_that_changes_is_refused_and_stays_as_it_was():
    X, y = blobs(20)
    fit = PegasosClassifier()
    with pytest.raises(ValueError, match="classes must name the two labels in the first call"):
        fit.partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes are needed; got 3 class"):
        fit.partial_fit(X, y, classes=[-1, 0, 1])
    fit.partial_fit(X, y, classes=[-1, 1])
    before = fit.coef_.copy()
    with pytest.raises(ValueError, match="expecting 4 features"):
        fit.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"y must hold labels of \[-1  1\] only; found \[2\]"):
        fit.partial_fit(X[:2], [2, 1])
    with pytest.raises(ValueError, match=r"classes must stay \[-1  1\]; got \[0 1\]"):
        fit.partial_fit(X, y, classes=[0, 1])
    for change in ({"average": None}, {"fit_intercept": False}, {"intercept_scaling": 2.0}):
        changed = pickle.loads(pickle.dumps(fit)).set_params(**change)
        with pytest.raises(ValueError, match=r"must be as in the first call, .*'weighted'"):
            changed.partial_fit(X, y)
    assert (fit.coef_ == before).all()
    assert fit.n_steps_ == 20


def test_a_refused_fit_leaves_no_state_of_other_data():
    X, y = blobs(20)
    fit = PegasosClassifier().partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="Only binary"):
        fit.fit(np.ones((3, 9)), [0, 1, 2])
    with pytest.raises(ValueError, match="in the first call"):
        fit.partial_fit(np.ones((3, 9)), [-1, 1, 1])


@BOTH
def test_predicting_before_fitting_is_an_error(make):
    for method in (make().predict, make().decision_function):
        with pytest.raises(NotFittedError):
            method([[1.0]])


@BOTH
def test_the_names_of_the_features_are_kept_and_compared(make, monkeypatch):
    # No data frames are installed here: this is how scikit-learn would read their names.
    names = {"of": np.array(["a", "b"], dtype=object)}
    monkeypatch.setattr("sklearn.utils.validation._get_feature_names", lambda X: names["of"])
    X, y = make_blobs_2d(20)
    fit = make(1e-2, fit_intercept=False).fit(X, y)
    assert (fit.feature_names_in_.tolist(), fit.n_features_in_) == (["a", "b"], 2)
    names["of"] = names["of"][::-1]
    with pytest.raises(ValueError, match="feature names should match"):
        fit.predict(X)
