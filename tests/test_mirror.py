"""Mirror descent, exponentiated gradient and AdaGrad: the textbook, and what the theory says."""

import re

import cvxopt
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    draw_batches,
    make_blobs_2d,
    pegasos,
    sgd,
    subgradient_descent,
    use_jit,
)
from pegasos_lib._active import ActiveSum
from pegasos_lib._mirror_kernels import signed_softmax
from pegasos_lib.descent import _Point
from pegasos_lib.mirror import adagrad, exponentiated_gradient, mirror_descent
from pegasos_lib.projections import L1Ball, l1_projection
from pegasos_lib.steps import SmallGap
from tests import reference
from tests.generated import data, stored
from tests.test_projections import onto_l1_ball_by_bisection, onto_l2_ball_by_bisection
from tests.test_solvers import KINK, assert_follows

AVERAGES = st.sampled_from(["uniform", "weighted", "suffix", None])


def follow(X, y, lam, batches, next_iterate):
    """Return w_1..w_{T+1} with w_{t+1} = next_iterate(g_1..g_t, w_t), and the nearest kink."""
    w = np.zeros(X.shape[1])
    path, past, nearest = [w], [], np.inf
    for batch in batches:
        nearest = min(nearest, *(abs(y[i] * np.dot(X[i], w) - 1) for i in batch))
        past.append(reference.subgradient(X, y, lam, w, batch))
        w = next_iterate(np.array(past), w)
        path.append(w)
    return np.array(path), nearest


def lazy(eta, onto_set):
    return lambda past, w: onto_set(-eta * past.sum(axis=0))


def multiplicative(eta, z):
    def next_iterate(past, w):
        exponents = eta * z * np.concatenate([-past.sum(axis=0), past.sum(axis=0)])
        theta = np.exp(exponents - exponents.max())
        plus, minus = np.split(theta / theta.sum(), 2)
        return z * (plus - minus)

    return next_iterate


def adaptive(eta, z=None, onto_set=onto_l1_ball_by_bisection):
    def next_iterate(past, w):
        g, S = past[-1], (past**2).sum(axis=0)
        w = np.array([
            w[j] - (eta * g[j] / np.sqrt(S[j]) if S[j] > 0 else 0.0) for j in range(len(w))
        ])  # fmt: skip
        # A coordinate that never moved is at 0, where its weight is of no account.
        return w if z is None else onto_set(w, z, np.sqrt(np.where(S > 0, S, 1)))

    return next_iterate


def stepwise(eta, onto_set):
    return lambda past, w: onto_set(w - eta / np.sqrt(len(past)) * past[-1])


def onto_l2_ball(z):
    return lambda w: w * min(1.0, z / max(np.linalg.norm(w), 1e-300))


def onto_l1_ball(z):
    return lambda w: onto_l1_ball_by_bisection(w, z)


# How the library runs it, and the textbook's next iterate, both with step size eta and radius z.
METHODS = {
    "mirror descent, free": (
        lambda p, eta, z, **o: mirror_descent(p, project=False, eta=eta, **o),
        lambda eta, z: lazy(eta, lambda w: w),
    ),
    "mirror descent, l2 ball": (
        lambda p, eta, z, **o: mirror_descent(p, project=z, eta=eta, **o),
        lambda eta, z: lazy(eta, onto_l2_ball(z)),
    ),
    "mirror descent, l1 ball": (
        lambda p, eta, z, **o: mirror_descent(p, project=L1Ball(z), eta=eta, **o),
        lambda eta, z: lazy(eta, onto_l1_ball(z)),
    ),
    "exponentiated gradient": (
        lambda p, eta, z, **o: exponentiated_gradient(p, radius=z, eta=eta, **o),
        multiplicative,
    ),
    "adagrad, free": (
        lambda p, eta, z, **o: adagrad(p, project=False, eta=eta, **o),
        lambda eta, z: adaptive(eta),
    ),
    "adagrad, l1 ball": (
        lambda p, eta, z, **o: adagrad(p, project=L1Ball(z), eta=eta, **o),
        adaptive,
    ),
    "adagrad, l2 ball": (
        lambda p, eta, z, **o: adagrad(p, project=z, eta=eta, **o),
        lambda eta, z: adaptive(eta, z, onto_l2_ball_by_bisection),
    ),
    "sgd, l1 ball": (
        lambda p, eta, z, **o: sgd(p, step=InverseSqrt(eta or 1.0), project=L1Ball(z), **o),
        lambda eta, z: stepwise(eta, onto_l1_ball(z)),
    ),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=20)
@given(
    example=data(),
    seed=st.integers(0, 2**32 - 1),
    T=st.integers(0, 40),
    k=st.integers(1, 4),
    sampling=st.sampled_from(["iid", "permutation"]),
    eta=st.sampled_from([0.01, 0.1, 0.3]),
    z=st.sampled_from([0.3, 2.0, 50.0]),
    average=AVERAGES,
)
def test_each_is_the_textbooks(name, kind, jit, example, seed, T, k, sampling, eta, z, average):
    X, y, lam = example
    k = min(k, len(y))
    solve, textbook = METHODS[name]
    if name == "exponentiated gradient":
        eta /= z**2  # a longer step than 1/(lam z^2) multiplies the rounding
    with use_jit(jit):
        run = solve(
            HingeProblem(stored(X, kind), y, lam), eta, z, n_iter=T, rng=seed, batch_size=k,
            sampling=sampling, average=average, record=range(0, T + 1, 3),
        )  # fmt: skip
    path, nearest = follow(X, y, lam, run.draws.reshape(T, k), textbook(eta, z))
    assume(nearest > KINK)
    assert_follows(run, path, average, T)


@settings(max_examples=30)
@given(data(), st.integers(0, 99), st.integers(1, 50))
def test_free_mirror_descent_is_sgd_of_constant_step(example, seed, T):
    X, y, lam = example
    p = HingeProblem(X, y, lam)
    lazily = mirror_descent(p, n_iter=T, rng=seed, project=False, eta=0.1)
    steps = sgd(p, n_iter=T, rng=seed, step=ConstantStep(0.1))
    _, nearest = reference.descend(X, y, lam, lazily.draws.reshape(T, 1), lambda t: 0.1)
    assume(nearest > KINK)
    scale = 1e-11 * max(1.0, np.abs(steps.w).max())
    assert lazily.w == pytest.approx(steps.w, abs=scale)
    assert lazily.w_average == pytest.approx(steps.w_average, abs=scale)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_lazy_steps_know_the_norm_after_v_is_rescaled(kind, jit):
    # theta shrinks by ten a step, so that s falls under 1e-100 again and again, at some steps
    # without a hit. The columns of zeros put off the norm that is due after so many added rows.
    rng = np.random.default_rng(5)
    X, lam, T, z = np.zeros((12, 500)), 0.1, 1000, 4.0
    X[:, :3], y = rng.standard_normal((12, 3)), rng.choice([-1.0, 1.0], 12)
    with use_jit(jit):
        p = HingeProblem(stored(X, kind), y, lam)
        run = mirror_descent(p, n_iter=T, project=z, eta=0.9 / lam, rng=3, record=range(T + 1))
    path, nearest = follow(X, y, lam, run.draws.reshape(T, 1), lazy(0.9 / lam, onto_l2_ball(z)))
    assert nearest > KINK
    assert np.linalg.norm(run.trace.w - path, axis=1).max() <= 1e-9 * z


RUNS = {name: run for name, (run, _) in METHODS.items()} | {
    "pegasos, l1 ball": lambda p, eta, z, **o: pegasos(p, project=L1Ball(z), **o),
}
IN_L1_BALL = [name for name in RUNS if "l1" in name or name == "exponentiated gradient"]


@pytest.mark.parametrize("name", IN_L1_BALL)
@settings(max_examples=40)
@given(
    example=data(),
    eta=st.sampled_from([None, 1e-9, 1.0, 1e6]),
    z=st.sampled_from([1e-3, 1.0, 1e3]),
    average=AVERAGES,
)
def test_iterates_and_averages_stay_in_the_l1_ball(name, example, eta, z, average):
    run = RUNS[name](HingeProblem(*example), eta, z, n_iter=40, average=average, record=40)
    kept = run.trace.w if average is None else np.vstack([run.trace.w, run.trace.w_average])
    assert np.isfinite(kept).all()
    assert np.abs(kept).sum(axis=1).max() <= z * (1 + 1e-12)


@settings(max_examples=40)
@given(
    st.sampled_from([mirror_descent, adagrad]),
    data(),
    st.sampled_from([None, 1e-9, 1.0, 1e6]),
    st.sampled_from([True, 1e-3, 1.0, 1e3]),
)
def test_iterates_and_averages_stay_in_the_l2_ball(solve, example, eta, project):
    p = HingeProblem(*example)
    run = solve(p, n_iter=40, project=project, eta=eta, record=40)
    z = p.lam**-0.5 if project is True else project
    norms = np.linalg.norm(np.vstack([run.trace.w, run.trace.w_average]), axis=1)
    assert norms.max() <= z * (1 + 1e-12)


# The default step size and the regret bound of each at T steps: R is max ||x_i||_2, "most"
# max |x_ij|, S the sums of the squared subgradients.
THEORY = {
    "mirror descent, l2 ball": (
        lambda p, z, T, most: z / ((p.lam * z + p.R) * np.sqrt(T)),
        lambda p, z, T, most, S: (p.lam * z + p.R) * z * np.sqrt(T),
    ),
    "mirror descent, l1 ball": (
        lambda p, z, T, most: z / ((p.lam * z + p.R) * np.sqrt(T)),
        lambda p, z, T, most, S: (p.lam * z + p.R) * z * np.sqrt(T),
    ),
    "exponentiated gradient": (
        lambda p, z, T, most: np.sqrt(2 * np.log(2 * p.d) / T) / (z * (p.lam * z + most)),
        lambda p, z, T, most, S: z * (p.lam * z + most) * np.sqrt(2 * T * np.log(2 * p.d)),
    ),
    **dict.fromkeys(
        ["adagrad, l1 ball", "adagrad, l2 ball"],
        (
            lambda p, z, T, most: 2 * z / np.sqrt(2),
            lambda p, z, T, most, S: np.sqrt(2) * 2 * z * np.sqrt(S).sum(),
        ),
    ),
    "mirror descent, free": (
        lambda p, z, T, most: min(p.lam**-0.5, p.R / p.lam) / (2 * p.R * np.sqrt(T)),
        lambda p, z, T, most, S: min(p.lam**-0.5, p.R / p.lam) * 2 * p.R * np.sqrt(T),
    ),
    # Lemma 1, whose set may be the l1 ball.
    "pegasos, l1 ball": (
        lambda p, z, T, most: None,
        lambda p, z, T, most, S: (p.lam * z + p.R) ** 2 * (1 + np.log(T)) / (2 * p.lam),
    ),
}


def comparators(name, X, y, lam, z, draws, rng):
    """Return the best points of the set for P and in hindsight, its corners and 0."""
    d, seen = X.shape[1], draws.ravel()
    order = 1 if name in IN_L1_BALL else 2
    if name == "mirror descent, free":
        z = min(lam**-0.5, np.linalg.norm(X, axis=1).max() / lam)
    best = [optimum_in_ball(X[part], y[part], lam, z, order) for part in (slice(None), seen)]
    away = rng.standard_normal(d)
    away *= z / np.linalg.norm(away, order)
    points = [*best, np.zeros(d), *(z * np.eye(d)), *(-z * np.eye(d)), away]
    assert max(np.linalg.norm(u, order) for u in points) <= z * (1 + 1e-7)
    return points


def optimum_in_ball(X, y, lam, z, order):
    """Return argmin P over ||w||_1 <= z or ||w||_2 <= z, by an interior-point method."""
    n, d = X.shape
    # Over w, xi >= 1 - margin, xi >= 0 and s >= |w|.
    quadratic = np.diag(np.concatenate([np.full(d, lam), np.zeros(n + d)]))
    linear = np.concatenate([np.zeros(d), np.full(n, 1 / n), np.zeros(d)])
    none, eye = np.zeros((n, d)), np.eye(d)
    G = np.block([
        [-y[:, None] * X, -np.eye(n), none],
        [none, -np.eye(n), none],
        [eye, none.T, -eye],
        [-eye, none.T, -eye],
    ])  # fmt: skip
    h = np.concatenate([-np.ones(n), np.zeros(n + 2 * d)])
    dims = {"l": len(h), "q": [], "s": []}
    if order == 1:
        G = np.vstack([G, np.concatenate([np.zeros(d + n), np.ones(d)])])
        dims["l"] += 1
    else:
        G = np.vstack([G, np.zeros(d + n + d), np.hstack([-eye, np.zeros((d, n + d))])])
        dims["q"] = [d + 1]
    h = np.concatenate([h, [z], np.zeros(len(G) - len(h) - 1)])
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    solution = cvxopt.solvers.coneqp(
        *map(cvxopt.matrix, (quadratic, linear, G, h)), dims=dims, options=options
    )
    return np.array(solution["x"]).ravel()[:d]


@pytest.mark.parametrize("name", THEORY)
def test_the_regret_stays_below_its_bound_at_every_t(name):
    rng = np.random.default_rng(30)
    worst, T = 0.0, 50
    eta_of, bound_of = THEORY[name]
    for _ in range(12):
        n, d = rng.integers(2, 20), rng.integers(1, 6)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-1, 2)
        lam, z = 10.0 ** rng.uniform([-3, -1], [0, 1])
        y = rng.choice([-1.0, 1.0], n)
        p, most, k = HingeProblem(X, y, lam), np.abs(X).max(), int(rng.choice([1, 2]))
        draws = draw_batches(rng, n, T, k).reshape(T, k)
        if rng.random() < 0.3:  # the bounds ask nothing of the batches
            draws = np.sort(draws, axis=0)
        run = RUNS[name](p, None, z, n_iter=T, batch_size=k, draws=draws, record=range(T))
        given = RUNS[name](
            p, eta_of(p, z, T, most), z, n_iter=T, batch_size=k, draws=draws, record=range(T)
        )
        assert run.trace.w == pytest.approx(given.trace.w, rel=1e-9, abs=1e-9 * z)

        paid = [p.instantaneous_objective(w, A) for w, A in zip(run.trace.w, draws, strict=True)]
        g = np.array([
            reference.subgradient(X, y, lam, w, A) for w, A in zip(run.trace.w, draws, strict=True)
        ])  # fmt: skip
        bound = np.array([bound_of(p, z, T, most, S) for S in np.cumsum(g**2, axis=0)])
        for u in comparators(name, X, y, lam, z, draws, rng):
            regret = np.cumsum([
                f - p.instantaneous_objective(u, A) for f, A in zip(paid, draws, strict=True)
            ])  # fmt: skip
            worst = max(worst, (regret / bound).max())
            assert (regret <= bound * (1 + 1e-9)).all(), (name, p, (regret / bound).max())
    assert worst > 0.05, f"the runs came nowhere near the bound: {worst:.3f}"


@pytest.mark.parametrize("order", [1, 2])
def test_the_reference_in_a_large_ball_is_the_reference_without(order):
    X, y = make_blobs_2d(20, separation=1.0, rng=6)
    expected, _ = reference.optimum(X, y, 0.1)
    assert optimum_in_ball(X, y, 0.1, 100.0, order) == pytest.approx(expected, abs=1e-5)


@pytest.fixture(scope="module")
def small_ball():
    """Return a problem, a radius of the l1 ball that w* lies outside of, and the best there."""
    X, y = make_blobs_2d(30, separation=2.0, flip=0.1, rng=5)
    X = np.column_stack([X, 0.3 * X[:, 0] + 0.1])
    p = HingeProblem(X, y, 0.05)
    z = 0.5 * np.abs(reference.optimum(X, y, 0.05)[0]).sum()
    w = optimum_in_ball(X, y, 0.05, z, 1)
    return p, z, p.objective(w), reference.optimum(X, y, 0.05)[1]


@pytest.mark.parametrize("name", IN_L1_BALL)
def test_the_best_point_of_the_l1_ball_is_approached_from_above(name, small_ball):
    p, z, best, unconstrained = small_ball
    run = RUNS[name](p, None, z, n_iter=10_000, rng=3)
    gap = p.objective(run.w_average) - best
    assert -1e-8 <= gap <= 6e-3, f"P - P* = {gap:.2e}"
    assert best - unconstrained > 0.02  # so that the ball matters


@pytest.mark.parametrize("d", [1, 3])
def test_a_huge_step_size_moves_exponentiated_gradient_from_corner_to_corner(d):
    # The one example of class +1 pushes w to the corner z e_1; once there, only lam w pulls.
    p = HingeProblem(np.eye(d)[:1], [1.0], 1e-6)
    run = exponentiated_gradient(p, n_iter=5, radius=2.0, eta=1e5, record=range(6))
    corner = 2.0 * np.eye(d)[0]
    assert run.trace.w[1] == pytest.approx(corner, abs=1e-12)
    assert run.w == pytest.approx(corner, abs=1e-12)


def test_exponentiated_gradient_keeps_its_digits_where_one_exponential_underflows():
    # exp(-2 * 371) is still a number, exp(-2 * 373) is not: both ways meet there.
    for total in (1e-8, 1.0, 371.0, 373.0, 800.0):
        p = HingeProblem([[1.0, 0.5, 0.0]], [1.0], 1e-9)
        run = exponentiated_gradient(p, n_iter=1, radius=2.0, eta=total / 2)
        a = np.array([total, total / 2, 0.0])
        e = np.exp(np.concatenate([a, -a]) - total)
        expected = 2.0 * (e[:3] - e[3:]) / e.sum()
        assert run.w == pytest.approx(expected, rel=1e-12, abs=1e-15), total


def test_adagrad_leaves_a_feature_that_never_comes_at_0_and_takes_first_steps_of_eta():
    X = np.array([[1e-9, 3.0, 0.0], [-1e-9, -2.0, 0.0]])
    p = HingeProblem(X, [1.0, -1.0], 0.1)
    run = adagrad(p, n_iter=30, eta=0.25, record=range(31))
    assert run.trace.w[1].tolist() == [0.25, 0.25, 0.0]
    assert (run.trace.w[:, 2] == 0.0).all()
    assert adagrad(p, n_iter=30).w == pytest.approx(adagrad(p, n_iter=30, eta=1 / p.R).w)


@pytest.mark.parametrize("name", RUNS)
def test_data_of_zeros_stay_at_0(name):
    p = HingeProblem(np.zeros((3, 2)), [1.0, -1.0, 1.0], 0.1)
    run = RUNS[name](p, None, 1.0, n_iter=10)
    assert run.w.tolist() == [0.0, 0.0]


def test_batch_descent_reaches_the_best_point_of_the_l1_ball(small_ball):
    p, z, best, unconstrained = small_ball
    run = subgradient_descent(
        p, n_iter=20_000, project=L1Ball(z), average="weighted", step="weighted", record=range(50)
    )
    assert -1e-8 <= p.objective(run.w_average) - best <= 1e-4
    assert best - unconstrained > 0.02
    w = np.zeros(p.d)
    for t, kept in enumerate(run.trace.w, start=1):
        assert kept == pytest.approx(w, abs=1e-11)
        g = reference.subgradient(p.X, p.y, p.lam, w)
        w = onto_l1_ball_by_bisection(w - 2 / (p.lam * (t + 1)) * g, z)


@pytest.mark.parametrize("step", ["pegasos", "weighted", ConstantStep(0.05), ConstantStep(30.0)])
@pytest.mark.parametrize("eps", [0.1, 0.02, 0.002])
def test_small_gap_certifies_the_best_point_of_the_l1_ball(eps, step, small_ball):
    p, z, best, unconstrained = small_ball
    run = subgradient_descent(p, n_iter=5000, project=L1Ball(z), step=step, stop=SmallGap(eps))
    excess = p.objective(run.w) - best
    if step == ConstantStep(30.0):  # alpha is cut: the gap is true, but need not close
        assert run.stopped_by == "n_iter" or excess <= eps + 1e-8
        return
    assert run.stopped_by == "small gap"
    assert -1e-8 <= excess <= eps + 1e-8
    # No certificate for P without the ball could fire so low.
    assert best - unconstrained > 0.02


@settings(max_examples=60)
@given(data(), st.sampled_from([0.05, 1.0, 30.0]), st.sampled_from([0.1, 1.0, 1e3]))
def test_the_gap_in_the_l1_ball_is_p_less_the_least_lagrangian(example, z, eta):
    X, y, lam = example
    p, rng = HingeProblem(X, y, lam), np.random.default_rng(7)
    onto_ball = l1_projection(L1Ball(z))
    point = _Point(ActiveSum(p), np.zeros(p.d), np.zeros(p.n), L1Ball(z))
    for _ in range(8):
        point = point.moved(eta, onto_set=onto_ball)
    alpha, dual = point._alpha, p.objective(point.w) - point.gap

    def lagrangian(u):
        return lam / 2 * (u @ u) + np.mean(alpha * (1 - y * (X @ u)))

    scale = max(1.0, abs(dual), lagrangian(point.w))
    assert alpha.min() >= 0.0
    assert alpha.max() <= 1.0
    assert point.gap >= -1e-9 * scale
    # Of the ball's points none is lower, and one is as low.
    shares = rng.standard_normal((20, p.d))
    shares *= z * rng.random((20, 1)) / np.abs(shares).sum(axis=1, keepdims=True)
    corners = z * np.vstack([np.eye(p.d), -np.eye(p.d)])
    least = onto_l1_ball_by_bisection(X.T @ (alpha * y) / (lam * p.n), z)
    for u in (*shares, *corners, point.w):
        assert lagrangian(u) >= dual - 1e-9 * scale
    assert lagrangian(least) == pytest.approx(dual, abs=1e-9 * scale)


ALIKE = RUNS | {
    "sgd, free": lambda p, eta, z, **o: sgd(p, step=InverseSqrt(eta), **o),
    "pegasos, free": lambda p, eta, z, **o: pegasos(p, project=False, **o),
    "pegasos, l2 ball": lambda p, eta, z, **o: pegasos(p, project=z, **o),
    "batch descent, free": lambda p, eta, z, rng, **o: subgradient_descent(p, **o),
    "batch descent, l1 ball": lambda p, eta, z, rng, **o: subgradient_descent(
        p, project=L1Ball(z), **o
    ),
}


@pytest.mark.parametrize("z", [0.3, 3.0])
@pytest.mark.parametrize("name", ALIKE)
def test_compiled_plain_dense_and_csr_are_alike(name, z):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((80, 30)) * (rng.random((80, 30)) < 0.25)
    y = rng.choice([-1.0, 1.0], 80)
    kept = []
    for jit in (True, False):
        for kind in ("dense", "csr"):
            with use_jit(jit):
                p = HingeProblem(stored(X, kind), y, 0.05)
                run = ALIKE[name](p, 0.1, z, n_iter=300, rng=4, record=range(0, 301, 10))
            kept.append(np.vstack([run.trace.w, run.trace.w_average]))
    scale = max(1.0, np.abs(kept[0]).max())
    for other in kept[1:]:
        assert np.abs(other - kept[0]).max() <= 1e-10 * scale
    assert np.abs(kept[0]).max() > 0.0


BAD = [
    (lambda p: mirror_descent(p, n_iter=5, eta=0.0), "eta must be a finite number above 0; got 0"),
    (lambda p: mirror_descent(p, n_iter=5, project="l1"), "project, if it is not True or False,"),
    (lambda p: exponentiated_gradient(p, n_iter=5, radius=0.0), "radius must be a finite number"),
    (
        lambda p: exponentiated_gradient(p, n_iter=5, radius=1.0, eta=np.nan),
        "eta must be a finite number above 0; got nan",
    ),
    (lambda p: adagrad(p, n_iter=5, eta=-1.0), "eta must be a finite number above 0; got -1.0"),
    (lambda p: adagrad(p, n_iter=5, project=-2.0), "project, if it is not True or False,"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_options_are_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(HingeProblem([[1.0]], [1.0], 1.0))


@pytest.mark.parametrize("largest", [1.0, 340.0, 500.0, 700.0, 720.0, 800.0, 1e4])
def test_the_signed_softmax_of_large_and_small_numbers_at_once(largest):
    theta, w = np.array([largest, -largest, 0.0, 1.0, -2.0]), np.empty(5)
    both = np.concatenate([theta, -theta])
    shares = np.exp(both - both.max()) / np.exp(both - both.max()).sum()
    with np.errstate(over="ignore", divide="ignore"):  # as where the loop calls it
        signed_softmax(theta, 3.0, w)
    assert w == pytest.approx(3.0 * (shares[:5] - shares[5:]), rel=1e-13, abs=1e-16)
