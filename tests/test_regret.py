"""Measured regret against plain sums, and every bound of the theorems against measured runs."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_lib import (
    HingeProblem,
    draw_batches,
    make_step,
    pegasos,
    sdca,
    sgd,
    subgradient_descent,
    use_jit,
)
from pegasos_lib import regret as rg
from pegasos_lib.dual import sgd_initialisation
from pegasos_lib.projections import L1Ball
from tests import reference
from tests.generated import data, stored

UP = 1 + 1e-10  # rounding


def plain_objective(X, y, lam, w, batch):
    return reference.objective(X[batch], y[batch], lam, w)


def random_problem(rng, largest=40):
    n, d = int(rng.integers(2, largest)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-1, 2)
    return HingeProblem(X, rng.choice([-1.0, 1.0], n), 10.0 ** rng.uniform(-3, 0.5))


def random_draws(rng, n, T):
    k = int(rng.choice([1, 2, n]))
    kind = rng.choice(["iid", "subset", "permutation", "cyclic"])
    if kind == "cyclic":
        return (np.arange(T * k) % n).reshape(T, k)
    sampling = "permutation" if kind == "permutation" else "iid"
    return draw_batches(rng, n, T, k, kind == "iid", sampling).reshape(T, k)


def inside(rng, d, radius):
    u = rng.standard_normal(d)
    return u * (rng.random() * radius / np.linalg.norm(u))


@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=60)
@given(example=data(), seed=st.integers(0, 99), k=st.integers(1, 4), T=st.integers(1, 20))
def test_regret_is_the_sum_of_differences_on_paper(kind, example, seed, k, T):
    X, y, lam = example
    rng = np.random.default_rng(seed)
    W, u = rng.standard_normal((T, X.shape[1])), rng.standard_normal(X.shape[1])
    draws = rng.integers(len(y), size=(T, k))
    total, expected = 0.0, []
    for w, batch in zip(W, draws, strict=True):
        total += plain_objective(X, y, lam, w, batch) - plain_objective(X, y, lam, u, batch)
        expected.append(total)
    p = HingeProblem(stored(X, kind), y, lam)
    assert rg.regret(p, W, draws, u) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
    one = draws[:, 0]
    assert np.array_equal(rg.regret(p, W, one, u), rg.regret(p, W, one[:, None], u))


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("k", [1, 3])
def test_pieces_do_not_change_the_result(monkeypatch, kind, k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 4)) * (rng.random((9, 4)) < 0.6)
    p = HingeProblem(stored(X, kind), rng.choice([-1.0, 1.0], 9), 0.1)
    W, u, draws = rng.standard_normal((31, 4)), np.ones(4), rng.integers(9, size=(30, k))
    whole = rg.regret(p, W[:-1], draws, u), rg.sharp_regret_bound(p, W, draws, u)
    monkeypatch.setattr(rg, "_CHUNK", 7 * 4 * k)
    pieces = rg.regret(p, W[:-1], draws, u), rg.sharp_regret_bound(p, W, draws, u)
    assert np.allclose(whole, pieces, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=40)
@given(example=data(), seed=st.integers(0, 99), k=st.integers(1, 4), T=st.integers(1, 15))
def test_the_sharp_bound_is_the_formula_on_paper(kind, example, seed, k, T):
    X, y, lam = example
    rng = np.random.default_rng(seed)
    W, u = rng.standard_normal((T + 1, X.shape[1])), rng.standard_normal(X.shape[1])
    draws = rng.integers(len(y), size=(T, k))
    total, expected = 0.0, []
    for t, batch in enumerate(draws, start=1):
        g = reference.subgradient(X, y, lam, W[t - 1], batch)
        total += sum(g**2) / (2 * lam * t)
        expected.append(total - lam * t / 2 * sum((W[t] - u) ** 2))
    bound = rg.sharp_regret_bound(HingeProblem(stored(X, kind), y, lam), W, draws, u)
    assert bound == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


def largest_regret_ratio(runs, seed, project):
    """Check both forms of Lemma 1 at every t of many runs; return the largest ratios met."""
    rng = np.random.default_rng(seed)
    T, worst, sharpest = 80, 0.0, 0.0
    t = np.arange(1, T + 1)
    for _ in range(runs):
        p = random_problem(rng)
        draws = random_draws(rng, p.n, T)
        run = pegasos(
            p, n_iter=T, batch_size=draws.shape[1], draws=draws, project=project, average=None,
            record=range(T + 1),
        )  # fmt: skip
        bound = rg.log_regret_bound(t, p.lam, rg.gradient_bound(p, project))
        star, best = sdca(p, gap=1e-7, n_epochs=50).w, rg.hindsight_optimum(p, draws, gap=1e-7).w
        radius = p.lam**-0.5
        for u in (star, best, np.zeros(p.d), inside(rng, p.d, radius), inside(rng, p.d, radius)):
            measured = rg.run_regret(run, u)
            sharp = rg.sharp_regret_bound(p, run.trace.w, draws, u)
            scale = 1e-10 * (1 + bound)
            assert (measured <= sharp + scale).all(), (p, (measured - sharp).max())
            assert (sharp <= bound + scale).all(), (p, (sharp / bound).max())
            worst = max(worst, (measured / bound).max())
            sharpest = max(sharpest, (measured[sharp > 1e-6] / sharp[sharp > 1e-6]).max(initial=0))
    return worst, sharpest


@pytest.mark.parametrize("project", [True, False])
def test_regret_stays_below_both_bounds_at_every_t(project):
    worst, sharpest = largest_regret_ratio(150, 1, project)
    assert 0.05 < worst < 1, f"regret/bound came to {worst:.3f}"
    assert sharpest > 0.99, f"the sharp bound was never met: {sharpest:.3f}"


@pytest.mark.slow
@pytest.mark.parametrize("project", [True, False])
def test_regret_stays_below_both_bounds_in_a_thousand_runs(project):
    assert largest_regret_ratio(1000, 2, project)[0] < 1


@pytest.mark.parametrize("project", [0.3, L1Ball(0.7)])
def test_regret_in_other_balls_stays_below_the_bound(project):
    rng = np.random.default_rng(3)
    T = 60
    for _ in range(40):
        p = random_problem(rng)
        run = pegasos(p, n_iter=T, rng=rng, project=project, record=range(T))
        bound = rg.log_regret_bound(np.arange(1, T + 1), p.lam, rg.gradient_bound(p, project))
        u = inside(rng, p.d, 0.3) / (np.sqrt(p.d) if isinstance(project, L1Ball) else 1)
        assert (rg.run_regret(run, u) <= bound * UP).all()


def test_the_alternating_stream_breaks_the_printed_constant_without_projection():
    lam = 0.01  # erratum E000-12
    p = HingeProblem([[1.0], [1.0]], [1, -1], lam)
    run = pegasos(p, n_iter=3, draws=[0, 1, 0], project=False, record=range(4))
    assert run.trace.w.ravel()[:3] == pytest.approx([0, 100, 0], abs=1e-12)
    measured = rg.run_regret(run, [0.0])[-1]
    assert measured == pytest.approx(150, rel=1e-12)
    printed = rg.log_regret_bound(3, lam, rg.gradient_bound(p, True))
    assert printed == pytest.approx(127, abs=0.5)
    assert rg.log_regret_bound(3, lam, rg.gradient_bound(p, False)) == pytest.approx(420, abs=0.5)
    assert measured <= rg.sharp_regret_bound(p, run.trace.w, run.draws, [0.0])[-1] * UP


@settings(max_examples=80)
@given(example=data(), seed=st.integers(0, 99), T=st.integers(1, 40))
def test_the_dual_of_the_stream_gives_the_same_identity(example, seed, T):
    X, y, lam = example  # section 5.11: T D_T(a) = sum f_t(w_t) - sum ||g_t||^2/(2 lam t)
    p = HingeProblem(X, y, lam)
    run = pegasos(p, n_iter=T, rng=seed, project=False, record=range(T + 1))
    W, draws = run.trace.w, run.draws
    a = np.array([
        float(y[i] * (X[i] @ w) < 1) for i, w in zip(draws, W, strict=False)
    ])  # fmt: skip
    stream = HingeProblem(X[draws], y[draws], lam)
    paid = rg.instantaneous_objectives(p, W[:T], draws).sum()
    squares = rg.sharp_regret_bound(p, W, draws, W[-1])[-1]  # the distance term is 0
    scale = 1 + paid + squares
    assert abs(T * stream.dual_objective(a) - (paid - squares)) <= 1e-9 * scale
    best = rg.hindsight_optimum(p, draws)
    assert stream.dual_objective(a) <= best.value + 1e-9 * scale
    assert rg.run_regret(run, best.w)[-1] <= squares + 1e-9 * scale


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_hindsight_optimum_is_the_exact_one_of_the_drawn_examples(kind, jit):
    rng = np.random.default_rng(5)
    for _ in range(6):
        X, y = rng.standard_normal((8, 3)), rng.choice([-1.0, 1.0], 8)
        draws = rng.integers(6, size=(15, 2))  # some examples are never drawn
        flat = draws.ravel()
        w, value = reference.optimum(X[flat], y[flat], 0.1)
        with use_jit(jit):
            best = rg.hindsight_optimum(HingeProblem(stored(X, kind), y, 0.1), draws, gap=1e-9)
        assert best.gap <= 1e-9
        assert best.value - best.gap - 1e-9 <= value <= best.value + 1e-9
        assert np.linalg.norm(best.w - w) <= 2e-4
        p = HingeProblem(X, y, 0.1)
        assert rg.instantaneous_objectives(p, best.w, draws).mean() == pytest.approx(best.value)


def test_whole_passes_cost_one(monkeypatch):
    rng = np.random.default_rng(6)
    p, sizes = random_problem(rng), []
    monkeypatch.setattr(rg, "sdca", lambda q, **options: sizes.append(q.n) or sdca(q, **options))
    rg.hindsight_optimum(p, np.tile(np.arange(p.n), 50))
    rg.hindsight_optimum(p, [0, 0, 1, 1, 1])
    rg.hindsight_optimum(p, [1] * 9)
    assert sizes == [p.n, 5, 1]


def batched_pegasos(p, draws, project):
    """Run Pegasos on every row of draws (m, T) at once; return the averages and w_{T+1}."""
    m, T = draws.shape
    w, total = np.zeros((m, p.d)), np.zeros((m, p.d))
    for t in range(1, T + 1):
        x, y = p.X[draws[:, t - 1]], p.y[draws[:, t - 1]]
        total += w
        hit = y * np.sum(x * w, axis=1) < 1
        w = (1 - 1 / t) * w + (hit * y)[:, None] * x / (p.lam * t)
        if project:
            w *= np.minimum(1, p.lam**-0.5 / np.maximum(1e-300, np.linalg.norm(w, axis=1)))[:, None]
    return total / T, w


@pytest.mark.parametrize("project", [True, False])
def test_the_average_and_the_last_iterate_obey_their_bounds(project):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], 30)
    for lam in (0.01, 0.3):
        p = HingeProblem(X, y, lam)
        G, (star, best) = rg.gradient_bound(p, project), reference.optimum(X, y, lam)
        for T in (3, 30, 200):
            average, last = batched_pegasos(p, rng.integers(30, size=(2000, T)), project)
            gaps = p.objective(average) - best
            assert gaps.mean() <= rg.average_iterate_bound(T, lam, G)
            for delta in (0.5, 0.1, 0.01):
                above = np.mean(gaps > rg.high_probability_bound(T, lam, G, delta))
                assert above <= delta, (lam, T, delta, above)
            distance = np.mean(np.sum((last - star) ** 2, axis=1))
            assert distance <= rg.last_iterate_distance_bound(T, lam, G)


@pytest.mark.parametrize("project", [True, False])
def test_the_weighted_average_obeys_its_bound(project):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], 30)
    p, best = HingeProblem(X, y, 0.1), reference.optimum(X, y, 0.1)[1]
    for T in (1, 10, 200):
        runs = [
            sgd(p, n_iter=T, rng=s, step="weighted", average="weighted", project=project)
            for s in range(50)
        ]
        gap = p.objective(np.array([run.w_average for run in runs])).mean() - best
        assert gap <= rg.weighted_average_bound(T, 0.1, rg.gradient_bound(p, project))


def test_regret_of_sgd_stays_below_the_square_root_bounds():
    rng = np.random.default_rng(9)
    T, worst = 80, 0.0
    t = np.arange(1, T + 1)
    for _ in range(150):
        p = random_problem(rng)
        radius, draws = 10.0 ** rng.uniform(-1, 1), random_draws(rng, p.n, T)
        G, D, k = rg.gradient_bound(p, radius), 2 * radius, draws.shape[1]
        options = {"n_iter": T, "draws": draws, "batch_size": k, "project": radius}
        a, eta = D / G, D / (G * np.sqrt(T))
        cases = [
            ("inverse-sqrt", a, rg.sqrt_regret_bound(t, G, D)),
            ("inverse-sqrt", 3 * a, rg.sqrt_regret_bound(t, G, D, 3 * a)),
            ("constant", eta, rg.constant_step_regret_bound(t, G, D, eta)),
        ]
        for name, c, bound in cases:
            run = sgd(p, step=make_step(name, p.lam, c), average=None, record=range(T), **options)
            for u in (inside(rng, p.d, radius), np.zeros(p.d)):
                measured = rg.run_regret(run, u)
                assert (measured <= bound * UP).all(), (name, (measured / bound).max())
                worst = max(worst, (measured / bound).max())
        assert measured[-1] <= rg.constant_step_regret_bound(T, G, D) * UP
    assert worst > 0.1, worst


def play(p, draws, update, state):
    """Return w_1..w_T and g_1..g_T of a rule that maps (state, w, g) to (state, next w)."""
    w, W, gradients = np.zeros(p.d), [], []
    for i in draws:
        g = reference.subgradient(p.X, p.y, p.lam, w, [i])
        W.append(w)
        gradients.append(g)
        state, w = update(state, w, g)
    return np.array(W), np.array(gradients)


def test_exponentiated_gradient_adagrad_and_mirror_descent_obey_their_bounds():
    rng = np.random.default_rng(10)
    T, worst = 60, {"eg": 0.0, "adagrad": 0.0, "mirror": 0.0}
    for _ in range(40):
        p = random_problem(rng)
        z, draws = 10.0 ** rng.uniform(-1, 1), rng.integers(p.n, size=T)
        G, G_inf = p.lam * z + p.R, p.lam * z + np.abs(p.X).max()
        eta = np.sqrt(2 * np.log(2 * p.d) / T) / (z * G_inf)

        def entropic(s, w, g, eta=eta, z=z):
            s = s + g
            q = np.exp(eta * z * np.concatenate([-s, s]))
            return s, z * (q[: len(s)] - q[len(s) :]) / q.sum()

        def adaptive(S, w, g, z=z):
            S = S + g * g
            step = np.divide(g, np.sqrt(S), out=np.zeros_like(g), where=S > 0)
            return S, np.clip(w - np.sqrt(2) * z * step, -z, z)  # a box of width 2 z

        def lazy(s, w, g, z=z, G=G):
            s = s - z / (G * np.sqrt(T)) * g
            return s, s * min(1, z / max(1e-300, np.linalg.norm(s)))

        l1_end = np.zeros(p.d)
        l1_end[rng.integers(p.d)] = z * rng.choice([-1, 1])
        corner, rim = z * rng.choice([-1, 1], p.d), inside(rng, p.d, z)
        best = rg.hindsight_optimum(p, draws).w
        bounds = {
            "eg": rg.exponentiated_gradient_bound(T, G_inf, z, p.d),
            "mirror": rg.mirror_descent_bound(T, G, z),
        }
        rules = [
            ("eg", entropic, l1_end, 1),
            ("adagrad", adaptive, corner, np.inf),
            ("mirror", lazy, rim, 2),
        ]
        for name, update, u, norm in rules:
            W, g = play(p, draws, update, np.zeros(p.d))
            bound = bounds.get(name) or rg.adagrad_bound(np.sum(g**2, axis=0), 2 * z)
            nearby = best * min(1, z / max(np.linalg.norm(best, norm), 1e-300))
            for point in (u, np.zeros(p.d), nearby):
                measured = rg.regret(p, W, draws, point)[-1]
                assert measured <= bound * UP, (name, measured / bound)
                worst[name] = max(worst[name], measured / bound)
    assert min(worst.values()) > 0.05, worst


def test_the_sdca_iterations_reach_the_gap():
    assert rg.sdca_iterations(100, 0.01, 1.0, 0.1) == (70 + 3800, 70 + 3800 + 1000)
    assert rg.sdca_iterations(100, 0.01, 0.5, 0.1) == (208 + 800, 208 + 800 + 250)
    assert rg.sdca_iterations(100, 1e-4, 1.0, 100.0) == (200, 300)
    rng = np.random.default_rng(11)
    X, y = rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40)
    p, epsilon = HingeProblem(X, y, 0.1), 0.5
    burn, T = (-(-steps // 40) for steps in rg.sdca_iterations(40, 0.1, p.R, epsilon))
    gaps = [
        sdca(p, order="random", shrink=False, output="average", n_epochs=T, burn_in=burn,
             gap=1e-12, rng=s).gap
        for s in range(5)
    ]  # fmt: skip
    assert np.mean(gaps) <= epsilon


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
def test_the_first_dual_pass_obeys_its_bound_for_any_norm(scale):
    rng = np.random.default_rng(12)
    n, lam, below = 60, 0.1 * scale**2, []
    for _ in range(30):  # new i.i.d. data each time, on the sphere of radius `scale`
        X = rng.standard_normal((n, 4))
        X *= scale / np.linalg.norm(X, axis=1)[:, None]
        p = HingeProblem(X, np.sign(X[:, 0] + 0.3 * rng.standard_normal(n)), lam)
        best = sdca(p, gap=1e-7)
        alpha = sgd_initialisation(p, rng=rng).alpha
        below.append(p.dual_objective(best.alpha) - p.dual_objective(alpha))
    assert np.mean(below) <= rg.sgd_initialisation_bound(n, lam, scale)
    assert rg.sgd_initialisation_bound(n, lam, scale) == pytest.approx(
        2 * scale**2 * (1 + np.log(n)) / (lam * n)
    )


@pytest.mark.parametrize(("lam", "T"), [(0.1, 2.3e3), (1e-2, 3.8e4), (1e-3, 5.7e5), (1e-4, 7.9e6)])
def test_the_bounds_cross_where_erratum_e000_19_says(lam, T):
    G, D = np.sqrt(lam) + 10, 2 / np.sqrt(lam)
    crossover = rg.bound_crossover(lam, G, D)
    assert crossover == pytest.approx(T, rel=0.03)
    t = np.array([crossover - 1, crossover, 2 * crossover, 100 * crossover])
    below = rg.log_regret_bound(t, lam, G) <= rg.sqrt_regret_bound(t, G, D)
    assert below.tolist() == [False, True, True, True]
    assert rg.bound_crossover(10.0, 1.0, 1.0) == 1


@given(st.floats(-4, 2), st.floats(-4, 1), st.floats(-2, 2))
def test_the_sufficient_iterations_suffice(log_epsilon, log_lam, log_G):
    epsilon, lam, G = 10**log_epsilon, 10**log_lam, 10**log_G
    T = rg.sufficient_iterations(epsilon, lam, G)
    assert (rg.average_iterate_bound(np.array([T, 3 * T]), lam, G) <= epsilon * UP).all()


def test_the_bounds_have_their_values():
    assert rg.log_regret_bound(1, 0.5, 3.0) == 9.0
    assert rg.average_iterate_bound(np.e, 1.0, 2.0) == pytest.approx(4 / np.e)
    assert rg.last_iterate_distance_bound(np.e, 0.5, 2.0) == pytest.approx(4 * 2 / 0.25 / np.e)
    assert rg.weighted_average_bound(3, 0.5, 2.0) == 4.0
    assert rg.sqrt_regret_bound(4, 3.0, 2.0) == 18.0 == rg.sqrt_regret_bound(4, 3.0, 2.0, 2 / 3)
    assert rg.constant_step_regret_bound(4, 3.0, 2.0) == 12.0
    assert rg.constant_step_regret_bound(4, 3.0, 2.0, 1 / 3) == pytest.approx(12.0)
    assert rg.mirror_descent_bound(4, 3.0, 5.0) == 30.0
    assert rg.exponentiated_gradient_bound(2, 3.0, 5.0, 4) == pytest.approx(30 * np.log(8) ** 0.5)
    assert rg.adagrad_bound([[4.0, 9.0], [1.0, 0.0]], 2.0) == pytest.approx([50**0.5 * 2, 8**0.5])
    assert rg.adagrad_bound([4.0, 9.0], 2.0, 1.0) == pytest.approx(15.0)
    t, lam, G = np.arange(1, 9), 0.1, 2.0
    ours = rg.high_probability_bound(t, lam, G, 0.1)
    printed = G**2 / (lam * t) * (0.781 * (1 + np.log(t)) + 6.25 * np.log(10))
    assert (ours <= printed).all()
    assert ours == pytest.approx(printed, rel=2e-3)
    zero = HingeProblem([[0.0]], [1], 1.0)
    assert rg.log_regret_bound(5, 1.0, rg.gradient_bound(zero, False)) == 0.0


def bad_inputs():
    p = HingeProblem(np.eye(3), [1, -1, 1], 0.25)
    W, draws, u = np.zeros((2, 3)), [0, 1], np.zeros(3)
    some = pegasos(p, n_iter=5, record=[2, 5])
    return [
        (lambda: rg.run_regret(some, u), "run the solver with record=range(6); this run kept 2"),
        (lambda: rg.run_regret(subgradient_descent(p, n_iter=2), u), "its draws are None"),
        (lambda: rg.regret(p, W[:1], draws, u), "of shape (2, 3) or (3,); got shape (1, 3)"),
        (lambda: rg.regret(p, W * np.nan, draws, u), "points must be finite"),
        (lambda: rg.regret(p, W, draws, u[:2]), "of shape (3,); got shape (2,)"),
        (lambda: rg.regret(p, W, [0, 3], u), "draws must lie in 0..2"),
        (lambda: rg.regret(p, W, [0.0, 1.0], u), "draws must be integers"),
        (lambda: rg.hindsight_optimum(p, []), "T, k >= 1; got (0,)"),
        (lambda: rg.sharp_regret_bound(p, W, draws, u), "of shape (3, 3); got shape (2, 3)"),
        (lambda: rg.gradient_bound(p, -1.0), "a finite number above 0"),
        (lambda: rg.log_regret_bound(0, 1.0, 1.0), "T must be at least 1"),
        (lambda: rg.log_regret_bound([1, np.inf], 1.0, 1.0), "T must be at least 1 and finite"),
        (lambda: rg.log_regret_bound(1, 0.0, 1.0), "lam must be a finite number above 0"),
        (lambda: rg.average_iterate_bound(1, 1.0, -1.0), "G must be a finite number"),
        (lambda: rg.high_probability_bound(1, 1.0, 1.0, 1.0), "delta must lie inside (0, 1)"),
        (lambda: rg.sufficient_iterations(0.0, 1.0, 1.0), "epsilon must be a finite number"),
        (lambda: rg.sqrt_regret_bound(1, 1.0, 1.0, 0.0), "a must be a finite number above 0"),
        (lambda: rg.constant_step_regret_bound(1, 1.0, -1.0), "diameter must be a finite"),
        (lambda: rg.constant_step_regret_bound(1, 1.0, 1.0, 0.0), "eta must be a finite"),
        (lambda: rg.mirror_descent_bound(1, 1.0, 0.0), "radius must be a finite number above 0"),
        (lambda: rg.exponentiated_gradient_bound(1, 1.0, 1.0, 0), "d must be an integer >= 1"),
        (lambda: rg.adagrad_bound([-1.0], 1.0), "squares must be finite numbers >= 0"),
        (lambda: rg.sdca_iterations(0, 1.0, 1.0, 1.0), "n must be an integer >= 1"),
        (lambda: rg.bound_crossover(1.0, 0.0, 1.0), "G must be a finite number above 0"),
    ]


@pytest.mark.parametrize(("call", "message"), bad_inputs())
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_a_bound_takes_integers_of_any_size():
    for T in (10**30, [1, 10**30]):
        bound = rg.average_iterate_bound(T, 1e-3, 2.0)
        assert np.ravel(bound)[-1] == pytest.approx(rg.average_iterate_bound(1e30, 1e-3, 2.0))
    for T in (10**400, [1, 10**400], [1, None], ["1", 10**30]):
        with pytest.raises(ValueError, match="T must hold real numbers"):
            rg.average_iterate_bound(T, 1e-3, 2.0)
