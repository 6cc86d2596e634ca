"""One contract over every solver: what the same arguments mean, whatever form they come in.

`test_solvers.py` holds the solvers that draw examples to most of it. Here are the others (batch
descent with its line search, SDCA and the outlier variants with their options, gradient descent,
the estimators), and for all of them the forms of the input, the recorded objectives, what a run
owns, and the arguments that are refused.
"""

import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos_lib import (
    ArmijoStep,
    HingeProblem,
    L1Ball,
    PegasosClassifier,
    PegasosStep,
    SDCAClassifier,
    SmallChange,
    SmallGap,
    adagrad,
    draw_batches,
    exponentiated_gradient,
    gradient_descent,
    make_blobs_2d,
    make_mail,
    make_two_arcs_2d,
    mirror,
    mirror_descent,
    outlier_pegasos,
    pegasos,
    project_l1_ball,
    project_l2_ball,
    project_simplex,
    regret,
    sdca,
    sgd,
    sgd_initialisation,
    subgradient_descent,
    use_jit,
)
from tests import reference
from tests.test_solvers import SOLVERS, values


def outliers(**fixed):
    return lambda p, **options: outlier_pegasos(p, **fixed, **options)


def batch(**fixed):
    return lambda p, rng=0, **options: subgradient_descent(p, **fixed, **options)


def dual(**fixed):
    return lambda p, n_iter, **options: sdca(p, **{"n_epochs": n_iter, **fixed, **options})


# Those whose seeds, steps, storage and convergence no other file compares one by one.
OTHERS = {
    "outliers, none": outliers(),
    "outliers, undo": outliers(undo=True),
    "outliers, two-out, alive": outliers(two_out=2, test="alive", average="weighted"),
    "outliers, probability, weighted": outliers(probability=0.5, importance_weights=True),
    "outliers, all three, k = 3": outliers(
        undo=True, two_out=3, probability=0.7, p_min=0.1, batch_size=3, average="suffix"
    ),
    "outliers, instantaneous, free": outliers(undo=True, test="instantaneous", project=False),
    "batch, Armijo": batch(step=ArmijoStep()),
    "batch, l2 ball": batch(step="weighted", project=2.0, average="weighted"),
    "batch, l1 ball": batch(project=L1Ball(4.0), average="suffix"),
    "batch, tests that never fire": batch(stop=[SmallChange(1e-300), SmallGap(1e-300)]),
    "sdca, textbook": dual(gap=1e-300, shrink=False),
    "sdca, random": dual(gap=1e-300, shrink=False, order="random"),
    "sdca, mean": dual(gap=1e-300, shrink=False, order="random", output="average"),
    "sdca, random point": dual(gap=1e-300, shrink=False, output="random"),
    "sdca, SGD first": lambda p, n_iter, **options: sdca(
        p, n_epochs=n_iter, gap=1e-300, shrink=False, alpha0=sgd_initialisation(p).alpha, **options
    ),
}  # fmt: skip
ALL = {**SOLVERS, **OTHERS}
SEEDED = [name for name in OTHERS if not name.startswith("batch")]
DRAWING = [name for name in ALL if not re.match("batch|subgradient|sdca", name)]


@pytest.fixture(params=ALL)
def solver(request):
    return ALL[request.param]


@pytest.fixture(params=OTHERS)
def other(request):
    return OTHERS[request.param]


@pytest.fixture(scope="module")
def blobs():
    # Multiples of 1/64, which float32 holds, with zeros, and two rows that differ by the label.
    X, y = make_blobs_2d(24, separation=2.0, flip=0.1, rng=5)
    X = np.column_stack([X, np.where(X > 0.5, X, 0.0)])
    X = np.rint(64 * X) / 64
    X[7], y[7] = X[6], -y[6]
    return X, y, 0.1


def certificate(run):
    return [run.alpha, run.gap, run.visits] if hasattr(run, "alpha") else []


def assert_same(a, b, atol=0.0):
    """Compare all that two runs hold, the clock apart."""
    assert a.n_iter == b.n_iter
    assert (a.trace.iteration == b.trace.iteration).all()
    for x, y in zip(values(a) + certificate(a), values(b) + certificate(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=atol)


# ---------------------------------------------------------------- seeds, steps and records


def test_a_seed_in_any_form_gives_the_same_run(solver, blobs):
    p = HingeProblem(*blobs)
    first = solver(p, n_iter=20, rng=7, record=4)
    for seed in (7, np.int64(7), np.random.SeedSequence(7), np.random.default_rng(7)):
        assert_same(first, solver(p, n_iter=20, rng=seed, record=4))


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_gives_another_run(name, blobs):
    p = HingeProblem(*blobs)
    a, b = (OTHERS[name](p, n_iter=6, rng=seed, record=range(7)) for seed in (1, 2))
    if a.draws is not None:
        assert (a.draws != b.draws).any()  # a variant that undoes all steps would hide it
    else:
        assert (a.trace.w != b.trace.w).any()


def test_exactly_n_iter_steps_are_taken(other, blobs):
    for T in (0, 1, 2, 13):
        run = other(HingeProblem(*blobs), n_iter=T, record=[0, T])
        if other is OTHERS["batch, Armijo"] and run.stopped_by == "no decrease":
            T = run.n_iter  # a kink, as its docstring says
        assert run.n_iter == T
        assert run.trace.iteration.tolist() == sorted({0, T})
        if run.draws is not None:
            assert len(run.draws) == T


def test_one_step_gives_finite_float64_vectors(solver, blobs):
    p = HingeProblem(*blobs)
    run = solver(p, n_iter=1)
    assert run.n_iter == 1
    for w in (run.w, run.w_average if run.w_average is not None else run.w):
        assert isinstance(w, np.ndarray)
        assert w.shape == (p.d,)
        assert w.dtype == np.float64
        assert np.isfinite(w).all()
    assert run.trace.w.shape == (1, p.d)
    assert run.trace.w.dtype == np.float64
    assert isinstance(run.seconds, float)


def test_what_is_recorded_is_in_order_and_its_objective_is_that_of_w(solver, blobs):
    X, y, lam = blobs
    run = solver(HingeProblem(X, y, lam), n_iter=25, record=[25, 3, 0, 10, 3])
    trace = run.trace
    assert (np.diff(trace.iteration) > 0).all()
    assert trace.iteration[0] == 0
    assert trace.iteration[-1] == run.n_iter
    assert trace.iteration.dtype == np.int64
    assert len(trace) == len(trace.w) == len(trace.seconds) == len(trace.objective)
    expected = [reference.objective(X, y, lam, w) for w in trace.w]
    np.testing.assert_allclose(trace.objective, expected, rtol=1e-13)
    if trace.w_average is not None:
        assert (trace.w_average[-1] == run.w_average).all()
        expected = [reference.objective(X, y, lam, w) for w in trace.w_average]
        np.testing.assert_allclose(trace.objective_average, expected, rtol=1e-13)


def test_recording_does_not_change_the_run(other, blobs):
    p = HingeProblem(*blobs)
    quiet, chatty = other(p, n_iter=20), other(p, n_iter=20, record=range(21))
    assert (quiet.w == chatty.w).all()
    assert len(quiet.trace) == 1


@pytest.mark.parametrize("name", [n for n in DRAWING if n in OTHERS])
def test_given_draws_are_replayed(name, blobs):
    p = HingeProblem(*blobs)
    run = OTHERS[name](p, n_iter=40, rng=2)
    draws = run.draws.copy()
    again = OTHERS[name](p, n_iter=40, rng=99, draws=draws)
    assert_same(run, again)
    assert not np.shares_memory(again.draws, draws)


# ---------------------------------------------------------------- where it leads


def test_the_reference_optimum_is_approached_from_above(blobs):
    X, y, lam = blobs
    p = HingeProblem(X, y, lam)
    w_star, best = reference.optimum(X, y, lam)
    tolerance = {
        "outliers, none": 1e-2,
        "batch, l2 ball": 1e-2,
        "batch, tests that never fire": 5e-2,
        "sdca, textbook": 1e-10,
        "sdca, random": 1e-10,
        "sdca, mean": 1e-3,
        "sdca, SGD first": 1e-10,
    }
    for name, least in tolerance.items():
        run = OTHERS[name](p, n_iter=600, rng=3)
        w = run.w if run.w_average is None else run.w_average
        gap = reference.objective(X, y, lam, w) - best
        assert -1e-9 <= gap <= least, f"{name}: P - P* = {gap:.2e}"
        assert lam / 2 * np.sum((w - w_star) ** 2) <= gap + 1e-9  # strong convexity


# ---------------------------------------------------------------- forms of the input


def strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    view = wide[::2, 1::3]
    view[:] = X
    return view


def scrambled(X, form):
    """Return X as CSR with columns backwards, every entry as two halves, and explicit zeros."""
    data, columns, starts = [], [], [0]
    for row in X:
        for j in range(len(row) - 1, -1, -1):
            data += [row[j] / 2, row[j] / 2]
            columns += [j, j]
        starts.append(len(data))
    return form((np.array(data), np.array(columns), np.array(starts)), shape=X.shape)


ARRAYS = {
    "Fortran order": np.asfortranarray,
    "strided view": strided,
    "reversed view": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "float32": lambda X: X.astype(np.float32),
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "matrix": np.asmatrix,
}
SPARSE = {
    "CSR": sp.csr_array,
    "CSR, scrambled": lambda X: scrambled(X, sp.csr_array),
    "CSR matrix, scrambled": lambda X: scrambled(X, sp.csr_matrix),
    "CSR, float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSC": sp.csc_array,
    "COO": sp.coo_array,
    "CSR, sliced": lambda X: sp.csr_array(np.vstack([X, X]))[: len(X)],
}


@pytest.mark.parametrize(
    ("forms", "atol"), [(ARRAYS, 0.0), (SPARSE, 1e-10)], ids=["array", "sparse"]
)
def test_every_form_of_the_data_gives_the_same_run(solver, blobs, forms, atol):
    X, y, lam = blobs
    plain = solver(HingeProblem(X, y, lam), n_iter=15, rng=1, record=3)
    for name, form in forms.items():
        run = solver(HingeProblem(form(X), y, lam), n_iter=15, rng=1, record=3)
        try:
            assert_same(plain, run, atol=atol)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def test_whole_numbers_of_any_type_are_the_same_data(solver):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (12, 3)), rng.choice([-1, 1], 12)
    plain = solver(HingeProblem(X.astype(float), y.astype(float), 0.3), n_iter=15, rng=1)
    for labels in (y, y.astype(np.int8), y.astype(np.float32), y.tolist()):
        assert_same(plain, solver(HingeProblem(X, labels, 0.3), n_iter=15, rng=1))
    for dtype in (np.int8, np.int32, np.uint8, np.float16, bool):
        assert_same(plain, solver(HingeProblem(X.astype(dtype), y, 0.3), n_iter=15, rng=1))
        # lam = 0.3 keeps margins off the kink, where the order of a sum would decide.
        if dtype is not np.float16:  # SciPy has no sparse arrays of it
            sparse = HingeProblem(sp.csr_array(X.astype(dtype)), y, 0.3)
            assert_same(plain, solver(sparse, n_iter=15, rng=1), atol=1e-10)


def test_compiled_and_plain_agree(other, blobs):
    X, y, lam = blobs
    for form in (X, sp.csr_array(X)):
        runs = []
        for jit in (True, False):
            with use_jit(jit):
                runs.append(other(HingeProblem(form, y, lam), n_iter=40, rng=2, record=10))
        assert_same(*runs, atol=1e-11)


@pytest.mark.parametrize("form", ["array", "CSR, scrambled"])
def test_input_is_not_changed(other, blobs, form):
    X, y = blobs[0].copy(), blobs[1].copy()
    if form == "array":
        parts = [X]
    else:
        X = scrambled(X, sp.csr_array)
        parts = [X.data, X.indices, X.indptr]
    before = [part.copy() for part in (*parts, y)]
    other(HingeProblem(X, y, 0.1), n_iter=20)
    for part, old in zip((*parts, y), before, strict=True):
        assert (part == old).all()


# ---------------------------------------------------------------- what a run owns


def test_a_run_is_not_touched_by_a_later_one(solver, blobs):
    p, rng = HingeProblem(*blobs), np.random.default_rng(0)
    first = solver(p, n_iter=12, rng=rng, record=4)
    parts = [*values(first), *(x for x in certificate(first) if isinstance(x, np.ndarray))]
    before = [part.copy() for part in parts]
    second = solver(p, n_iter=12, rng=rng, record=4)
    assert all((part == old).all() for part, old in zip(parts, before, strict=True))
    # Nor does writing into one reach the problem or the other.
    kept = [part.copy() for part in values(second)]
    for part in parts:
        part[...] = 77
    assert all((part == old).all() for part, old in zip(values(second), kept, strict=True))
    assert (blobs[0] == p.X).all()
    assert (p.y == blobs[1]).all()


def test_the_last_iterate_is_a_copy_of_its_own(solver, blobs):
    run = solver(HingeProblem(*blobs), n_iter=6, record=3)
    last = run.trace.w[-1].copy()
    run.w[:] = 77.0
    assert (run.trace.w[-1] == last).all()


def test_starts_are_copied():
    p = HingeProblem(*make_blobs_2d(10), 0.1)
    for solve in (subgradient_descent, outlier_pegasos):
        for w0 in (np.array([3.0, -1.0]), np.array([3, -1]), [3, -1], np.array([3.0, 0, -1])[::2]):
            before = list(w0)
            run = solve(p, n_iter=4, w0=w0, record=[0, 4])
            assert list(w0) == before
            assert run.trace.w[0].tolist() == [3.0, -1.0]
            assert_same(run, solve(p, n_iter=4, w0=[3.0, -1.0], record=[0, 4]))
    alpha0 = np.linspace(0.0, 1.0, 10)
    run = sdca(p, n_epochs=2, gap=1e-300, alpha0=alpha0)
    assert (alpha0 == np.linspace(0.0, 1.0, 10)).all()
    assert not np.shares_memory(run.alpha, alpha0)
    assert_same(run, sdca(p, n_epochs=2, gap=1e-300, alpha0=alpha0.tolist()))


# ---------------------------------------------------------------- gradient descent


def quadratic(w):
    return 0.5 * float(w @ w)


@pytest.mark.parametrize(
    "w0",
    [[3, -1], (3.0, -1.0), np.array([3, -1], np.int8), np.array([3, -1], np.float32),
     np.array([3.0, 9.0, -1.0])[::2]],
)  # fmt: skip
def test_gradient_descent_takes_any_form_of_start_and_keeps_it(w0):
    before = list(w0)
    plain = gradient_descent(quadratic, lambda w: w, np.array([3.0, -1.0]), n_iter=3)
    run = gradient_descent(quadratic, lambda w: w.tolist(), w0, n_iter=3)
    assert (run.path == plain.path).all()
    assert run.path.dtype == np.float64
    assert run.path[0].tolist() == [3.0, -1.0]
    assert (run.values == [quadratic(w) for w in run.path]).all()
    assert list(w0) == before


def test_one_step_of_gradient_descent():
    run = gradient_descent(quadratic, lambda w: w, [2.0], n_iter=1)
    assert run.n_iter == 1
    assert run.w.shape == (1,)
    assert run.step_sizes.shape == (1,)
    assert run.path.shape == (2, 1)
    assert run.stopped_by == "n_iter"


# ---------------------------------------------------------------- estimators


ESTIMATORS = {
    "pegasos": lambda: PegasosClassifier(0.1, max_iter=4, random_state=3),
    "pegasos, iid, k = 4, last": lambda: PegasosClassifier(
        0.1, max_iter=4, batch_size=4, sampling="iid", average=None, random_state=3
    ),
    "pegasos, free, no intercept": lambda: PegasosClassifier(
        0.1, max_iter=4, project=False, average="uniform", fit_intercept=False, random_state=3
    ),
    "sdca": lambda: SDCAClassifier(0.1, random_state=3),
    "sdca, scaled": lambda: SDCAClassifier(0.1, intercept_scaling=3.0, random_state=3),
}


# scikit-learn refuses numpy.matrix.
@pytest.mark.parametrize("name", [name for name in [*ARRAYS, *SPARSE] if name != "matrix"])
@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_estimators_take_every_form_of_the_data_and_leave_it(make, name, blobs):
    X, y, _ = blobs
    plain = make().fit(X, y)
    form = {**ARRAYS, **SPARSE}[name](X)
    parts = [form.data, *(getattr(form, a) for a in ("indices", "indptr") if hasattr(form, a))] if (
        name in SPARSE
    ) else [np.asarray(form)]  # fmt: skip
    before = [part.copy() for part in parts]
    model = make().fit(form, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        model.decision_function(form), plain.decision_function(X), rtol=0, atol=1e-10
    )
    assert (model.predict(form) == plain.predict(X)).all()
    for part, old in zip(parts, before, strict=True):
        assert (part == old).all()


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_estimators_are_compiled_as_plain_and_untouched_by_a_later_fit(make, blobs):
    X, y, _ = blobs
    models = []
    for jit in (True, False):
        with use_jit(jit):
            models.append(make().fit(X, y))
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=0, atol=1e-11)
    first = models[0].coef_
    before = first.copy()
    models[0].fit(-X, y)
    assert (first == before).all()
    assert first.dtype == np.float64
    assert first.shape == (1, X.shape[1])


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"X": [[np.nan, 1.0], [0.0, 1.0]]}, "X"),
        ({"X": [[np.inf, 1.0], [0.0, 1.0]]}, "X"),
        ({"X": sp.csr_array([[-np.inf, 1.0], [0.0, 1.0]])}, "X"),
        ({"X": [1.0, 2.0]}, "X"),
        ({"X": [[[1.0]], [[2.0]]]}, "X"),
        ({"X": 3.0}, "X"),
        ({"X": None}, "X"),
        ({"X": "rows"}, "X"),
        ({"X": [["a", "b"], ["c", "d"]]}, "X"),
        ({"X": [[1j, 1.0], [0.0, 1.0]]}, "X"),
        ({"X": np.zeros((0, 2)), "y": []}, "X"),
        ({"X": np.zeros((2, 0))}, "X"),
        ({"X": np.array([[1.0, 2.0], [3.0, None]], dtype=object)}, "X"),
        ({"y": [1.0]}, "y"),
        ({"y": [1.0, -1.0, 1.0]}, "y"),
        ({"y": [[1.0], [-1.0]]}, "y"),
        ({"y": 1.0}, "y"),
        ({"y": None}, "y"),
        ({"y": [0, 1]}, "label"),
        ({"y": [1.0, np.nan]}, "label"),
        ({"y": [1.0, np.inf]}, "label"),
        ({"y": ["1", "-1"]}, "label"),
        ({"y": [True, False]}, "label"),
        ({"y": [1.0, -1.0 + 1e-12]}, "label"),
        ({"lam": 0.0}, "lam"),
        ({"lam": -1.0}, "lam"),
        ({"lam": np.nan}, "lam"),
        ({"lam": np.inf}, "lam"),
        ({"lam": "small"}, "lam"),
        ({"lam": None}, "lam"),
        ({"lam": [0.1, 0.2]}, "lam"),
        ({"lam": True}, "lam"),
        ({"lam": 1j}, "lam"),
        ({"lam": "0.1"}, "lam"),
        ({"lam": 10**400}, "lam"),
        ({"lam": Fraction(1, 10**400)}, "lam"),
    ],
)
def test_bad_data_are_refused_by_name(changes, word):
    good = {"X": [[1.0, 0.0], [0.0, 1.0]], "y": [1.0, -1.0], "lam": 0.5}
    with pytest.raises((ValueError, TypeError), match=rf"\b{word}"):
        HingeProblem(**{**good, **changes})


def test_ragged_rows_are_refused_by_name():
    with pytest.raises(ValueError, match=r"\bX\b"):
        HingeProblem([[1.0, 2.0], [3.0]], [1.0, -1.0], 0.5)


def test_no_text_is_read_as_a_number(blobs):
    p, two = HingeProblem(*blobs), ["1", "2"]
    calls = [
        *[(f, "1") for f in (L1Ball, PegasosStep, SmallGap, ArmijoStep, p.with_lam)],
        (lambda c: ArmijoStep(c1=c), "0.5"),
        (PegasosStep(0.1), "3"),
        (PegasosStep(0.1), two),
        *[(f, [*two, "3"]) for f in (p.margins, p.losses, p.objective, p.subgradient, p.accuracy)],
        *[(f, ["0.5"] * p.n) for f in (p.weights, p.dual_objective)],
        (lambda i: p.subgradient([0, 0, 0], i), two),
        *[(lambda w, f=f: f(w, 1.0), two) for f in (project_l2_ball, project_l1_ball)],
        *[(lambda r, f=f: f([1.0], r), "1") for f in (project_l2_ball, project_l1_ball)],
        (lambda s: project_l1_ball([3.0, 1.0], 1.0, s), two),
        (project_simplex, two),
        (lambda total: project_simplex([1.0], total), "1"),
        *[(lambda v, a=a: make_blobs_2d(**{a: v}), "1") for a in ("n", "separation", "flip")],
        (lambda noise: make_two_arcs_2d(noise=noise), "1"),
        (lambda share: make_mail(5, 5, outliers=share), "0.5"),
        (lambda n: draw_batches(0, n, 3), "5"),
        (lambda T: regret.log_regret_bound(T, 0.1, 1.0), "2"),
        (lambda lam: regret.log_regret_bound(2, lam, 1.0), "2"),
        (lambda G: regret.log_regret_bound(2, 0.1, G), "2"),
        (lambda S: regret.adagrad_bound(S, 1.0), two),
        (lambda u: regret.regret(p, np.zeros((2, 3)), [0, 1], u), [*two, "3"]),
        (lambda c: PegasosClassifier(c).fit(blobs[0], blobs[1]), "0.1"),
        (lambda tol: SDCAClassifier(tol=tol).fit(blobs[0], blobs[1]), "0.1"),
        (lambda w0: gradient_descent(quadratic, lambda w: w, w0, n_iter=1), two),
        (lambda g: gradient_descent(quadratic, lambda w: g, [0.0, 1.0], n_iter=1), two),
    ]  # fmt: skip
    for function, text in calls:
        with pytest.raises(ValueError, match=" must "):
            function(text)


COUNTS = [-1, 2.0, 2.5, "10", None, True, np.float64(3.0), [3], np.nan, np.inf]


def assert_each_is_refused(call, values, word):
    """Call with each value in turn, and look for the name of the argument in the message."""
    for value in values:
        try:
            call(value)
        except (ValueError, TypeError) as error:
            assert re.search(rf"\b({word})\b", str(error)), f"{value!r}: {error}"  # noqa: PT017
        else:
            pytest.fail(f"{word} = {value!r} is accepted")


def test_a_bad_number_of_steps_is_refused_by_name(solver, blobs):
    p = HingeProblem(*blobs)
    assert_each_is_refused(lambda value: solver(p, n_iter=value), COUNTS, "n_iter|n_epochs")


def test_a_number_of_steps_may_be_of_numpys_integers(solver, blobs):
    p = HingeProblem(*blobs)
    assert_same(solver(p, n_iter=np.int64(4)), solver(p, n_iter=4))


@pytest.mark.parametrize("options", [{"n_iter": np.int32(3)}, {"project": L1Ball(2)}], ids=str)
def test_compiled_loops_see_python_numbers_alone(blobs, options, monkeypatch):
    seen = []
    for name in ("run_loop", "run_in_l1_ball"):
        monkeypatch.setattr(mirror, name, lambda *arguments, **_: seen.append(arguments))
    mirror_descent(HingeProblem(*blobs), **{"n_iter": 3, **options})
    inner = seen[0][3] if isinstance(seen[0][3], tuple) else ()
    numbers = [x for x in [*seen[0], *inner] if np.isscalar(x)]
    assert numbers
    assert all(type(x) in (int, float, bool) for x in numbers)
    radius = seen[0][4] if "project" in options else 1.0
    assert type(radius) is float


BAD_RECORDS = [0, -3, [0.5], [-1], [6], [], "all", [[1, 2]], [None], True, {"a": 1}]


def test_a_bad_record_is_refused_by_name(solver, blobs):
    p = HingeProblem(*blobs)
    assert_each_is_refused(lambda v: solver(p, n_iter=5, record=v), BAD_RECORDS, "record")


def test_a_record_that_is_no_iterable_is_refused_by_name(blobs):
    p = HingeProblem(*blobs)
    assert_each_is_refused(lambda v: pegasos(p, n_iter=5, record=v), [1.5], "record")


def test_a_bad_seed_is_refused_by_name(blobs):
    p = HingeProblem(*blobs)
    for name in [*SEEDED, *DRAWING, "sdca"]:
        bad = [-1, 1.5, "seed", [0.5], object()]
        assert_each_is_refused(lambda v, f=ALL[name]: f(p, n_iter=5, rng=v), bad, "rng")


def call(name):
    """Return the solver with its required options given, and n_iter where it counts steps."""
    return {
        "exponentiated_gradient": lambda p, **o: exponentiated_gradient(
            p, **{"n_iter": 5, "radius": 1.0, **o}
        ),
        "sdca": lambda p, **o: sdca(p, **{"n_epochs": 5, **o}),
    }.get(name, lambda p, **o: BY_NAME[name](p, **{"n_iter": 5, **o}))


BY_NAME = {
    f.__name__: f
    for f in (
        pegasos, sgd, subgradient_descent, mirror_descent, exponentiated_gradient, adagrad, sdca,
        outlier_pegasos,
    )
}  # fmt: skip
ONLINE = [n for n in BY_NAME if n not in ("subgradient_descent", "sdca")]
AVERAGING = [n for n in BY_NAME if n != "sdca"]


@pytest.mark.parametrize("name", [*BY_NAME, "sgd_initialisation"])
def test_data_in_place_of_a_problem_are_refused_by_name(name, blobs):
    solve = call(name) if name in BY_NAME else sgd_initialisation
    X = blobs[0]
    for data in (X, X.tolist(), sp.csr_array(X), blobs, None):
        expected = f"problem must be HingeProblem(X, y, lam); got {type(data).__name__}"
        with pytest.raises(ValueError, match=re.escape(expected)):
            solve(data)


NOT_POSITIVE = [0.0, -1.0, np.nan, np.inf, "big", "1", [1.0, 2.0], np.bool_(True), 1j, 10**400]

REFUSED = [
    *[(n, "batch_size", [0, -1, 2.0, "2", None, True, np.nan]) for n in ONLINE],
    *[(n, "sampling", ["cyclic", None, 1]) for n in ONLINE[:-1]],
    *[(n, "average", ["last", "", 1, True]) for n in AVERAGING],
    *[
        (n, "draws", [[0], [0] * 6, [0, 1, 2, 3, 24], [-1, 0, 0, 0, 0], [0.0] * 5, [[0, 1]] * 5,
                      [np.nan] * 5, ["a"] * 5, 3, [True] * 5])
        for n in ONLINE
    ],
    *[
        (n, "project", [0, -1.0, np.nan, np.inf, "l2", "1", None, [1.0, 2.0]])
        for n in (
            "pegasos", "sgd", "subgradient_descent", "mirror_descent", "adagrad", "outlier_pegasos"
        )
    ],
    ("outlier_pegasos", "project", [L1Ball(1.0)]),
    ("exponentiated_gradient", "radius", [*NOT_POSITIVE, None, True]),
    *[(n, "eta", NOT_POSITIVE) for n in ("mirror_descent", "exponentiated_gradient", "adagrad")],
    *[(n, "step", ["fast", 0.1, None]) for n in ("sgd", "subgradient_descent")],
    *[
        (n, "w0", [[1.0], [[0.0] * 4], 0.0, [np.nan] * 4, [np.inf] * 4, np.zeros(5), list("123")])
        for n in ("subgradient_descent", "outlier_pegasos")
    ],
    ("sgd", "step", [ArmijoStep()]),
    ("subgradient_descent", "stop", [1e-3, "small", [1e-3], None]),
    ("sdca", "gap", [*NOT_POSITIVE, None, True]),
    ("sdca", "order", ["cyclic", None, "random"]),
    ("sdca", "output", ["first", None, "average"]),
    ("sdca", "alpha0", [[0.0], [2.0] * 24, [-0.1] * 24, [np.nan] * 24, ["0.5"] * 24, 0.5]),
    ("sdca", "burn_in", [0, 5, -1, 2.0]),
    ("outlier_pegasos", "two_out", [0, -1, 1.5, "two", True]),
    ("outlier_pegasos", "probability", [*NOT_POSITIVE, 1.0, True]),
    ("outlier_pegasos", "p_min", [*NOT_POSITIVE, 1.5, None]),
    ("outlier_pegasos", "test", ["some", None, 1]),
    ("subgradient_descent", "w0", ["start", [[1.0], [1.0, 2.0]]]),
    ("outlier_pegasos", "w0", ["start", [[1.0], [1.0, 2.0]]]),
    ("pegasos", "draws", [[[0], [0, 1]]]),
    ("pegasos", "average", [[]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument", "values"), REFUSED)
def test_a_bad_option_is_refused_by_name(blobs, name, argument, values):
    p = HingeProblem(*blobs)
    assert_each_is_refused(lambda value: call(name)(p, **{argument: value}), values, argument)


@pytest.mark.parametrize("name", ONLINE[:-1])
def test_a_batch_without_replacement_is_at_most_the_data(blobs, name):
    p = HingeProblem(*blobs)
    for options in ({"replace": False}, {"sampling": "permutation"}):
        assert call(name)(p, batch_size=24, **options).draws.shape == (5, 24)
        with pytest.raises(ValueError, match=r"batch_size must lie in 1\.\.24"):
            call(name)(p, batch_size=25, **options)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        *[({"n_iter": v}, "n_iter") for v in COUNTS],
        *[({"w0": v}, "w0") for v in ([[1.0]], 1.0, [np.nan], [np.inf], ["1"])],
        *[({"step": v}, "step") for v in ("pegasos", 0.1, None)],
        *[({"stop": v}, "stop") for v in (0.1, None, ["small"])],
        ({"stop": SmallGap(0.1)}, "SmallGap"),
        ({"grad": lambda w: 1.0}, "grad"),
        ({"grad": lambda w: np.ones(2)}, "grad"),
    ],
)
def test_gradient_descent_refuses_by_name(options, word):
    good = {"f": quadratic, "grad": lambda w: w, "w0": [1.0], "n_iter": 3}
    with pytest.raises((ValueError, TypeError), match=word):
        gradient_descent(**{**good, **options})
