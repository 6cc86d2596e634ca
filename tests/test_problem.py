import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_lib import HingeProblem, make_blobs_2d, problem
from tests import reference
from tests.generated import data, integer_data, stored

X4 = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 0.5], [3.0, -2.0]])
Y4 = np.array([1.0, -1.0, -1.0, 1.0])


@pytest.fixture(params=["dense", "csr"])
def kind(request):
    return request.param


@given(data(), st.integers(0, 2**32 - 1), st.sampled_from(["dense", "csr"]))
def test_objective_and_subgradient_are_the_textbooks(example, seed, kind):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    rng = np.random.default_rng(seed)
    w, batch = rng.standard_normal(p.d), rng.integers(p.n, size=3)
    assert p.objective(w) == pytest.approx(reference.objective(X, y, lam, w), rel=1e-12)
    assert p.subgradient(w) == pytest.approx(reference.subgradient(X, y, lam, w), abs=1e-12)
    assert p.subgradient(w, batch) == pytest.approx(
        reference.subgradient(X, y, lam, w, batch), abs=1e-11
    )
    assert p.instantaneous_objective(w, batch) == pytest.approx(
        reference.objective(X[batch], y[batch], lam, w), rel=1e-12
    )


@settings(max_examples=300)
@given(integer_data(), st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_strong_subgradient_inequality_holds_exactly_kinks_included(example, point):
    X, y, lam, w = example
    p, u = HingeProblem(X, y, lam), np.array(point[: X.shape[1]], float)
    g = p.subgradient(w)
    lower = p.objective(w) + g @ (u - w) + lam / 2 * np.sum((u - w) ** 2)
    assert p.objective(u) >= lower - 1e-13 * max(1.0, abs(lower))


@settings(max_examples=200)
@given(data(), st.integers(0, 2**32 - 1))
def test_strong_subgradient_inequality_holds_on_mini_batches(example, seed):
    X, y, lam = example
    p, rng = HingeProblem(X, y, lam), np.random.default_rng(seed)
    w, u = rng.standard_normal((2, p.d)) * 10.0 ** rng.integers(-1, 2)
    batch = rng.integers(p.n, size=rng.integers(1, 5))
    g = p.subgradient(w, batch)
    lower = p.instantaneous_objective(w, batch) + g @ (u - w) + lam / 2 * np.sum((u - w) ** 2)
    upper = p.instantaneous_objective(u, batch)
    assert upper >= lower - 1e-12 * (abs(upper) + abs(g @ (u - w)) + 1.0)


def test_a_margin_of_exactly_1_is_inactive(kind):
    p = HingeProblem(stored(np.array([[1.0, 0.0]]), kind), [1.0], 0.5)
    assert p.subgradient([1.0, 0.0]).tolist() == [0.5, 0.0]
    assert p.subgradient([np.nextafter(1.0, 0.0), 0.0])[0] < -0.4


def test_many_iterates_at_once_give_the_values_one_by_one(kind, monkeypatch):
    monkeypatch.setattr(problem, "_CHUNK", 10)  # two iterates a piece
    p = HingeProblem(stored(X4, kind), Y4, 0.1)
    W = np.random.default_rng(0).standard_normal((7, 2))
    assert p.margins(W).shape == (7, 4)
    assert p.objective(W) == pytest.approx([p.objective(w) for w in W], rel=1e-14)
    assert p.losses(W) == pytest.approx(np.array([p.losses(w) for w in W]))
    assert p.accuracy(W) == pytest.approx([p.accuracy(w) for w in W])
    assert isinstance(p.objective(W[0]), float)
    assert isinstance(p.accuracy(W[0]), float)


def test_a_score_of_exactly_0_is_wrong():
    p = HingeProblem(X4, Y4, 0.1)
    assert p.accuracy([0.0, 0.0]) == 0.0
    assert p.accuracy([1.0, 0.0]) == 0.75  # the zero row counts as wrong


def test_constants_are_those_of_the_data(kind):
    p = HingeProblem(stored(X4, kind), Y4, 0.1)
    assert (p.n, p.d, p.is_sparse) == (4, 2, kind == "csr")
    assert pytest.approx(np.sqrt(13.0)) == p.R
    assert pytest.approx(1 / (0.1 * 4)) == p.C
    assert p.squared_norms == pytest.approx([5.0, 0.0, 1.25, 13.0])


def test_c_form_is_the_objective_divided_by_lambda():
    p, w = HingeProblem(X4, Y4, 0.1), np.array([0.3, -0.2])
    assert 0.5 * w @ w + p.C * p.losses(w).sum() == pytest.approx(p.objective(w) / 0.1)


def test_with_lam_shares_the_data_and_changes_lambda_alone():
    p = HingeProblem(X4, Y4, 0.1)
    q = p.with_lam(2.0)
    assert q.X is p.X
    assert (p.lam, q.lam, q.C) == (0.1, 2.0, 1 / 8)
    assert q.objective([1.0, 1.0]) == HingeProblem(X4, Y4, 2.0).objective([1.0, 1.0])
    with pytest.raises(ValueError, match="lam must be a finite number above 0; got -1"):
        p.with_lam(-1)


@given(data(), st.integers(0, 2**32 - 1), st.sampled_from(["dense", "csr"]))
def test_gap_is_a_mean_of_fenchel_young_gaps_and_bounds_the_distance(example, seed, kind):
    X, y, lam = example
    p, rng = HingeProblem(stored(X, kind), y, lam), np.random.default_rng(seed)
    alpha = rng.choice([0.0, 1.0, 0.5, rng.random()], p.n)
    w = p.weights(alpha)
    assert w == pytest.approx(sum(a * b * x for a, b, x in zip(alpha, y, X)) / (lam * p.n))  # noqa: B905
    m = p.margins(w)
    mean = np.mean((1 - alpha) * np.maximum(0, 1 - m) + alpha * np.maximum(0, m - 1))
    scale = 1 + p.objective(w)
    assert p.duality_gap(w, alpha) == pytest.approx(mean, abs=1e-12 * scale)
    assert p.dual_objective(alpha) == pytest.approx(np.mean(alpha) - lam / 2 * w @ w)
    other = rng.standard_normal(p.d)
    assert p.duality_gap(other, alpha) >= -1e-12 * scale  # weak duality, at any w


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
def test_other_real_numbers_become_float64(dtype, kind):
    X = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    p = HingeProblem(stored(X, kind), np.array([1, -1, 1], dtype=np.int8), 1)
    assert p.X.dtype == np.float64
    assert p.y.dtype == np.float64
    assert p.margins([1.0, 2.0]).tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize("form", ["csc", "coo", "lil", "csr"])
def test_every_sparse_format_is_read(form):
    for X in (sp.csr_matrix(X4).asformat(form), sp.csr_array(X4).asformat(form)):
        p = HingeProblem(X, Y4, 0.1)
        assert p.X.format == "csr"
        assert p.objective([1.0, 2.0]) == pytest.approx(
            HingeProblem(X4, Y4, 0.1).objective([1.0, 2.0])
        )


def test_unsorted_and_repeated_csr_entries_are_summed_on_a_copy():
    parts = (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3]))
    X = sp.csr_array(parts, shape=(1, 2))
    p = HingeProblem(X, [1], 0.1)
    assert p.X.toarray().tolist() == [[2.0, 4.0]]
    assert p.squared_norms.tolist() == [20.0]
    assert X.data.tolist() == [1.0, 2.0, 3.0]
    assert X.indices.tolist() == [1, 0, 1]


def test_orders_of_memory_do_not_matter():
    X = np.asfortranarray(np.arange(12.0).reshape(3, 4))[:, ::2]
    assert HingeProblem(X, [1, 1, -1], 1).margins([1, 0]).tolist() == [0.0, 4.0, -8.0]


def test_data_is_read_only_and_the_callers_arrays_stay_as_they_were(kind):
    X, y = stored(X4.copy(), kind), Y4.copy()
    p = HingeProblem(X, y, 0.1)
    for array in (p.y, p.X.data if kind == "csr" else p.X):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    y[0] = 1.0  # the caller may still write
    X[0, 0] = 1.0


def bad_csr(value):
    return sp.csr_array(np.array([[1.0, 0.0], [0.0, value]]))


BAD = [
    ((X4, Y4[:3], 1), "y must have shape (4,), one label for each row of X; got (3,)"),
    ((X4, Y4[:, None], 1), "y must have shape (4,), one label for each row of X; got (4, 1)"),
    ((X4[0], Y4, 1), "X must have shape (n, d), one example a row; got (2,)"),
    ((X4, [0, 1, 1, 0], 1), "labels must be -1 or +1; found 0"),
    ((X4, [0, 1, 2, 3], 1), "labels must be -1 or +1; found 0, 2, 3"),
    ((X4, [np.nan, 1, 1, 1], 1), "labels must be -1 or +1; found nan"),
    ((X4, [True, False, True, True], 1), "labels must be the numbers -1 and +1; got dtype bool"),
    ((X4, list("abab"), 1), "labels must be the numbers -1 and +1; got dtype <U1"),
    ((np.zeros((0, 2)), [], 1), "at least one example and one feature; its shape is (0, 2)"),
    ((np.zeros((2, 0)), [1, 1], 1), "at least one example and one feature; its shape is (2, 0)"),
    ((sp.csr_array((0, 2)), [], 1), "at least one example and one feature; its shape is (0, 2)"),
    ((X4 * 1j, Y4, 1), "X must hold real numbers; got dtype complex128"),
    ((X4.astype(str), Y4, 1), "X must hold real numbers; got dtype <U"),
    ((bad_csr(1j), [1, 1], 1), "X must hold real numbers; got dtype complex128"),
    (([[1.0, np.nan]], [1], 1), "X must be finite; row 0, column 1 holds nan"),
    (([[1.0, 2.0], [np.inf, -np.inf]], [1, 1], 1), "row 1, column 0 holds inf"),
    ((bad_csr(np.nan), [1, 1], 1), "X must be finite; row 1, column 1 holds nan"),
    ((bad_csr(-np.inf), [1, 1], 1), "X must be finite; row 1, column 1 holds -inf"),
    ((X4, Y4, 0), "lam must be a finite number above 0; got 0"),
    ((X4, Y4, -1e-3), "lam must be a finite number above 0; got -0.001"),
    ((X4, Y4, np.nan), "lam must be a finite number above 0; got nan"),
    ((X4, Y4, np.inf), "lam must be a finite number above 0; got inf"),
    ((X4, Y4, "big"), "lam must be a finite number above 0; got 'big'"),
    ((X4, Y4, True), "lam must be a finite number above 0; got True"),
    ((X4, Y4, None), "lam must be a finite number above 0; got None"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_data_is_refused_with_what_was_wrong(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HingeProblem(*arguments)


def test_finite_data_whose_sum_overflows_is_accepted():
    assert HingeProblem([[1e308, 1e308]], [1], 1).n == 1


W_ERRORS = [
    ("margins", ([1.0],), "w must have shape (2,), or (m, 2) for m iterates; got (1,)"),
    ("objective", (np.zeros((2, 2, 2)),), "w must have shape (2,), or (m, 2)"),
    ("subgradient", (np.zeros((1, 2)),), "w must have shape (2,); got (1, 2)"),
    ("subgradient", ([0, 0], [4]), "indices must lie in 0..3; they reach from 4 to 4"),
    ("subgradient", ([0, 0], [-1, 2]), "indices must lie in 0..3; they reach from -1 to 2"),
    ("subgradient", ([0, 0], [0.5]), "indices must be integers; got dtype float64"),
    ("subgradient", ([0, 0], []), "one mini-batch of shape (k,) with k >= 1; got (0,)"),
    ("instantaneous_objective", ([0, 0], [[1]]), "one mini-batch of shape (k,)"),
    ("weights", ([1, 1],), "alpha must have shape (4,); got (2,)"),
    (
        "dual_objective",
        ([0, 0, 0, 1.5],),
        "alpha must lie in [0, 1]; its values reach from 0 to 1.5",
    ),
    ("dual_objective", ([0, -0.1, 0, 1],), "alpha must lie in [0, 1]; its values reach from -0.1"),
    ("weights", ([0, np.nan, 0, 1],), "alpha must lie in [0, 1]"),
    ("duality_gap", (np.zeros((1, 2)), np.zeros(4)), "w must have shape (2,); got (1, 2)"),
]


@pytest.mark.parametrize(("method", "arguments", "message"), W_ERRORS)
def test_bad_arguments_are_refused_with_what_was_wrong(method, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(HingeProblem(X4, Y4, 0.1), method)(*arguments)


def test_data_scaled_by_s_is_lambda_divided_by_s_squared():
    X, y = make_blobs_2d(20, rng=1)
    w, s = np.array([0.7, -0.4]), 3.0
    scaled = HingeProblem(s * X, y, 0.2).objective(w)
    assert scaled == pytest.approx(HingeProblem(X, y, 0.2 / s**2).objective(s * w), rel=1e-13)


def test_every_public_method_has_a_docstring():
    members = inspect.getmembers(HingeProblem, callable)
    assert not [name for name, member in members if name[0] != "_" and not member.__doc__]


@pytest.mark.parametrize("piece", [1, 3, 7, 1000])
def test_squared_norms_of_sparse_rows_come_in_pieces_of_any_size(monkeypatch, piece):
    monkeypatch.setattr("pegasos_lib.problem._PIECE", piece)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.3)
    X[[0, 1, 17, 38, 39]] = 0.0  # first, last and between
    problem = HingeProblem(sp.csr_array(X), np.ones(40), 0.1)
    np.testing.assert_allclose(problem.squared_norms, (X**2).sum(axis=1), rtol=1e-15)
    empty = HingeProblem(sp.csr_array(np.zeros((5, 3))), np.ones(5), 0.1)
    assert not empty.squared_norms.any()


def test_margins_and_losses_are_the_callers_own():
    X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    problem, w = HingeProblem(X, y, 0.1), np.array([0.5, 2.0, 3.0])
    margins = problem.margins(w)
    losses = problem.losses(w)
    margins[:] = losses[:] = np.nan
    np.testing.assert_array_equal(problem.margins(w), [0.5, -2.0, 3.0])
    np.testing.assert_array_equal(w, [0.5, 2.0, 3.0])
    np.testing.assert_array_equal(X, np.eye(3))
