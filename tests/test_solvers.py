"""One suite over all solvers, and each against the textbook."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    InverseTime,
    PegasosStep,
    WeightedStep,
    make_blobs_2d,
    pegasos,
    sdca,
    sgd,
    subgradient_descent,
    use_jit,
)
from pegasos_lib.mirror import adagrad, exponentiated_gradient, mirror_descent
from pegasos_lib.projections import L1Ball
from tests import reference
from tests.generated import data, stored

KINK = 1e-8  # a margin nearer to 1 than this may fall on either side of it


def rules(lam):
    return [
        PegasosStep(lam), WeightedStep(lam), InverseTime(0.7), InverseSqrt(0.3), ConstantStep(0.2),
    ]  # fmt: skip


def assert_follows(run, path, kind, T):
    """Compare a run with the path w_1..w_{T+1}; errors count against the largest iterate."""
    scale = max(1.0, np.abs(path).max())
    assert run.n_iter == T
    assert np.abs(run.w - path[T]).max() <= 1e-10 * scale
    for s, w in zip(run.trace.iteration, run.trace.w, strict=True):
        assert np.abs(w - path[s]).max() <= 1e-10 * scale
    if kind is None:
        assert run.w_average is None
        assert run.trace.w_average is None
        return
    assert np.abs(run.w_average - reference.average(path, kind)).max() <= 1e-10 * scale
    for s, w in zip(run.trace.iteration, run.trace.w_average, strict=True):
        assert np.abs(w - reference.average(path[: s + 1], kind)).max() <= 1e-10 * scale


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=100)
@given(
    example=data(),
    seed=st.integers(0, 2**32 - 1),
    T=st.integers(0, 60),
    rule=st.integers(0, 4),
    k=st.integers(1, 5),
    replace=st.booleans(),
    sampling=st.sampled_from(["iid", "permutation"]),
    project=st.sampled_from([False, True, 0.5]),
    average=st.sampled_from(["uniform", "weighted", "suffix", None]),
)
def test_sgd_is_the_textbooks(
    jit, kind, example, seed, T, rule, k, replace, sampling, project, average
):
    X, y, lam = example
    k = k if replace and sampling == "iid" else min(k, len(y))
    eta = rules(lam)[rule]
    with use_jit(jit):
        run = sgd(
            HingeProblem(stored(X, kind), y, lam), n_iter=T, rng=seed, step=eta, batch_size=k,
            replace=replace, sampling=sampling, project=project, average=average,
            record=range(0, T + 1, 3),
        )  # fmt: skip
    radius = {False: np.inf, True: lam**-0.5}.get(project, project)
    path, nearest = reference.descend(
        X, y, lam, run.draws.reshape(T, k), lambda t: float(eta(t)), radius
    )
    assume(nearest > KINK)
    assert_follows(run, path, average, T)


@settings(max_examples=60)
@given(
    example=data(),
    T=st.integers(0, 40),
    rule=st.integers(0, 4),
    project=st.sampled_from([False, True, 0.5]),
    average=st.sampled_from(["uniform", "weighted", "suffix", None]),
    start=st.sampled_from([None, 3.0]),
    kind=st.sampled_from(["dense", "csr"]),
)
def test_subgradient_descent_is_the_textbooks(example, T, rule, project, average, start, kind):
    X, y, lam = example
    w0 = None if start is None else np.full(X.shape[1], start)
    eta = rules(lam)[rule]
    run = subgradient_descent(
        HingeProblem(stored(X, kind), y, lam), n_iter=T, step=eta, project=project,
        average=average, record=range(0, T + 1, 3), w0=w0,
    )  # fmt: skip
    radius = {False: np.inf, True: lam**-0.5}.get(project, project)
    batches = [range(len(y))] * T
    path, nearest = reference.descend(X, y, lam, batches, lambda t: float(eta(t)), radius, w0)
    assume(nearest > KINK)
    assert_follows(run, path, average, T)


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=30)
@given(example=data(), seed=st.integers(0, 2**32 - 1), epochs=st.integers(0, 4))
def test_sdca_is_the_textbooks(jit, kind, example, seed, epochs):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    rng = np.random.default_rng(seed)
    with use_jit(jit):
        run = sdca(p, n_epochs=epochs, gap=1e-300, rng=seed, shrink=False)
    orders = [rng.permutation(p.n) for _ in range(run.n_iter)]
    expected = reference.ascend(X, y, lam, orders)
    assert run.alpha == pytest.approx(expected, abs=1e-10)
    assert run.visits == run.n_iter * p.n
    assert run.n_iter == epochs or run.gap <= 1e-15


def stepper(**fixed):
    return lambda p, **options: sgd(p, **{"step": PegasosStep(p.lam), **fixed, **options})


SOLVERS = {
    "pegasos": pegasos,
    "pegasos, no projection": lambda p, **options: pegasos(p, project=False, **options),
    "pegasos, weighted, k = 4": lambda p, **options: pegasos(
        p, batch_size=4, average="weighted", **options
    ),
    "pegasos, suffix, permutation": lambda p, **options: pegasos(
        p, sampling="permutation", average="suffix", **options
    ),
    "sgd, weighted step": lambda p, **options: sgd(
        p, step=WeightedStep(p.lam), average="weighted", **options
    ),
    "sgd, subsets of 3": stepper(batch_size=3, replace=False),
    "sgd, inverse sqrt": lambda p, **options: sgd(
        p, step=InverseSqrt(0.5), project=True, **options
    ),
    "sgd, l1 ball": stepper(project=L1Ball(4.0)),
    "mirror descent": mirror_descent,
    "mirror descent, free, k = 2": lambda p, **options: mirror_descent(
        p, project=False, batch_size=2, **options
    ),
    "mirror descent, l1 ball": lambda p, **options: mirror_descent(
        p, project=L1Ball(4.0), **options
    ),
    "exponentiated gradient": lambda p, **options: exponentiated_gradient(p, radius=4.0, **options),
    "adagrad, suffix": lambda p, **options: adagrad(p, average="suffix", **options),
    "adagrad, l1 ball, permutation": lambda p, **options: adagrad(
        p, project=L1Ball(2.0), sampling="permutation", **options
    ),
    "adagrad, l2 ball, suffix": lambda p, **options: adagrad(
        p, project=2.0, average="suffix", **options
    ),
    "subgradient descent": lambda p, rng=0, **options: subgradient_descent(p, **options),
    "sdca": lambda p, n_iter, **options: sdca(p, n_epochs=n_iter, gap=1e-11, **options),
}
RANDOM = [name for name in SOLVERS if name not in ("subgradient descent", "sdca")]


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs_2d(30, separation=2.0, flip=0.1, rng=5)
    return X, y, 0.1, *reference.optimum(X, y, 0.1)


def values(run):
    parts = (run.w, run.w_average, run.trace.w, run.trace.w_average, run.draws)
    return [part for part in parts if part is not None]


def test_a_seed_gives_the_same_run(solver, blobs):
    p = HingeProblem(*blobs[:3])
    options = {"n_iter": 50, "record": 5}
    first, second = solver(p, rng=7, **options), solver(p, rng=7, **options)
    generator = solver(p, rng=np.random.default_rng(7), **options)
    for a, b, c in zip(values(first), values(second), values(generator), strict=True):
        assert (a == b).all()
        assert (a == c).all()


@pytest.mark.parametrize("name", RANDOM)
def test_another_seed_gives_another_run(name, blobs):
    p = HingeProblem(*blobs[:3])
    assert (SOLVERS[name](p, n_iter=50, rng=1).w != SOLVERS[name](p, n_iter=50, rng=2).w).any()


@pytest.mark.parametrize("T", [0, 1, 2, 17])
def test_exactly_n_iter_steps_are_taken(solver, blobs, T):
    run = solver(HingeProblem(*blobs[:3]), n_iter=T, record=[0, T])
    if solver is SOLVERS["sdca"] and run.gap <= 1e-11:
        T = run.n_iter  # the stopping test that was asked for fired
    assert run.n_iter == T
    assert run.trace.iteration.tolist() == sorted({0, T})
    assert run.trace.w[0].tolist() == [0.0, 0.0]
    assert (run.trace.w[-1] == run.w).all()
    if run.draws is not None:
        assert len(run.draws) == T
    if T == 0:
        assert run.w.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", SOLVERS)
def test_the_reference_optimum_is_approached_from_above(name, blobs):
    X, y, lam, w_star, best = blobs
    run = SOLVERS[name](HingeProblem(X, y, lam), n_iter=20_000, rng=3)
    w = run.w if run.w_average is None else run.w_average
    gap = reference.objective(X, y, lam, w) - best
    assert -1e-9 <= gap <= (1e-9 if name == "sdca" else 2e-3), f"P - P* = {gap:.2e}"
    assert lam / 2 * np.sum((w - w_star) ** 2) <= gap + 1e-9  # strong convexity


def test_dense_csr_compiled_and_plain_agree(solver, blobs):
    X, y, lam = blobs[:3]
    X = np.column_stack([X, np.where(X > 0.5, X, 0.0)])
    runs = []
    for jit in (True, False):
        for form in (X, sp.csr_array(X), sp.csr_matrix(X)):
            with use_jit(jit):
                runs.append(solver(HingeProblem(form, y, lam), n_iter=100, rng=2, record=10))
    for run in runs[1:]:
        for a, b in zip(values(run), values(runs[0]), strict=True):
            assert a == pytest.approx(b, abs=1e-11)


@pytest.mark.parametrize("name", RANDOM)
def test_given_draws_are_replayed(name, blobs):
    p = HingeProblem(*blobs[:3])
    run = SOLVERS[name](p, n_iter=40, rng=2)
    draws = run.draws.copy()
    again = SOLVERS[name](p, n_iter=40, rng=99, draws=draws)
    assert (again.w == run.w).all()
    assert (again.w_average == run.w_average).all()
    assert (again.draws == draws).all()
    assert not np.shares_memory(again.draws, draws)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_input_is_not_changed(solver, blobs, kind):
    X, y = stored(blobs[0].copy(), kind), blobs[1].copy()
    solver(HingeProblem(X, y, 0.1), n_iter=30)
    assert (np.asarray(X.todense() if kind == "csr" else X) == blobs[0]).all()
    assert (y == blobs[1]).all()


def test_recording_does_not_change_the_run(solver, blobs):
    p = HingeProblem(*blobs[:3])
    quiet, chatty = solver(p, n_iter=60), solver(p, n_iter=60, record=range(61))
    assert (quiet.w == chatty.w).all()
    assert len(quiet.trace) == 1
    if quiet.w_average is not None:
        assert quiet.w_average == pytest.approx(chatty.w_average, abs=1e-13)


def test_nothing_is_evaluated_while_running(solver, blobs, monkeypatch):
    if solver is SOLVERS["sdca"]:
        pytest.skip("its stopping test is the duality gap")
    p = HingeProblem(*blobs[:3])
    with monkeypatch.context() as patch:
        patch.setattr(HingeProblem, "objective", None)
        run = solver(p, n_iter=20, record=5)
    assert run.trace.objective == pytest.approx([p.objective(w) for w in run.trace.w])


def test_seconds_grow_along_the_trace(solver, blobs):
    run = solver(HingeProblem(*blobs[:3]), n_iter=50, record=10)
    assert (np.diff(run.trace.seconds) >= 0).all()
    assert run.seconds >= run.trace.seconds[-1] >= 0


BAD = [
    ({"n_iter": -1}, "must be an integer >= 0; got -1"),
    ({"n_iter": 2.0}, "must be an integer >= 0; got 2.0"),
    ({"n_iter": True}, "must be an integer >= 0; got True"),
    (
        {"n_iter": 5, "record": [0, 6]},
        "record must name step counts in 0..5; they reach from 0 to 6",
    ),
    ({"n_iter": 5, "record": [-1]}, "record must name step counts in 0..5"),
    ({"n_iter": 5, "record": 0}, "record must be an integer >= 1; got 0"),
    (
        {"n_iter": 5, "record": [0.5]},
        "record must be None, a number of iterates to keep, or a list",
    ),
    ({"n_iter": 5, "record": []}, "record must be None, a number of iterates to keep, or a list"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options_are_refused_by_every_solver(solver, blobs, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        solver(HingeProblem(*blobs[:3]), **options)


BAD_ONLINE = [
    ({"average": "last"}, "average must be one of uniform, weighted, suffix, or None"),
    ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
    ({"batch_size": 31, "replace": False}, "batch_size must lie in 1..30 to draw without"),
    ({"sampling": "cyclic"}, "sampling must be 'iid' or 'permutation'"),
    ({"draws": [0, 1]}, "draws must have shape (5, 1) or (5,)"),
    ({"draws": [0, 1, 2, 3, 30]}, "draws must lie in 0..29; they reach from 0 to 30"),
]


BAD_PROJECT = [
    ({"project": 0.0}, "project, if it is not True or False, must be a finite number above 0"),
    ({"project": np.nan}, "project, if it is not True or False, must be a finite number above 0"),
]
BALLS = [pegasos, sgd, mirror_descent]
STOCHASTIC = [
    *BALLS,
    lambda p, **options: exponentiated_gradient(p, radius=1.0, **options),
    adagrad,
]


@pytest.mark.parametrize(
    ("solve", "options", "message"),
    [(solve, *bad) for solve in STOCHASTIC for bad in BAD_ONLINE]
    + [(solve, *bad) for solve in BALLS for bad in BAD_PROJECT],
)
def test_bad_options_are_refused_by_the_stochastic_solvers(solve, blobs, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        solve(HingeProblem(*blobs[:3]), n_iter=5, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: sgd(p, n_iter=5, step="fast"), "step must be a StepRule or one of"),
        (
            lambda p: subgradient_descent(p, n_iter=5, w0=[1.0]),
            "w0 must be a finite vector of shape",
        ),
        (lambda p: subgradient_descent(p, n_iter=5, w0=[np.nan, 0]), "w0 must be a finite vector"),
        (lambda p: sdca(p, gap=0.0), "gap must be a finite number above 0; got 0.0"),
        (lambda p: sdca(p, n_epochs=-1), "n_epochs must be an integer >= 0; got -1"),
    ],
)
def test_bad_options_of_one_solver_are_refused(blobs, call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(HingeProblem(*blobs[:3]))


def test_pegasos_is_sgd_with_its_step(blobs):
    p = HingeProblem(*blobs[:3])
    for project in (True, False):
        a = pegasos(p, n_iter=100, project=project)
        b = sgd(p, n_iter=100, step="pegasos", project=project)
        assert (a.w == b.w).all()


def test_a_full_batch_is_batch_descent(blobs):
    p = HingeProblem(*blobs[:3])
    a = pegasos(p, n_iter=50, batch_size=p.n, replace=False, project=True)
    b = subgradient_descent(p, n_iter=50, project=True)
    assert a.w == pytest.approx(b.w, abs=1e-12)
    assert a.w_average == pytest.approx(b.w_average, abs=1e-12)


def test_a_callers_generator_moves_on(blobs):
    rng = np.random.default_rng(0)
    p = HingeProblem(*blobs[:3])
    assert (pegasos(p, n_iter=30, rng=rng).draws != pegasos(p, n_iter=30, rng=rng).draws).any()
