"""Statements of chapters 1 and 6 that the library's own tests do not hold, on generated data."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from pegasos_lib import HingeProblem, draw_batches, make_blobs_2d, pegasos, sdca


def problems(count, seed):
    """Draw small problems whose labels a plane explains in part."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        X = rng.normal(size=(n, d)) * rng.uniform(0.3, 3)
        y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
        yield HingeProblem(X, y, lam=10 ** rng.uniform(-2, 0.5)), rng


# --- chapter 1 --------------------------------------------------------------------------------


def test_the_mean_hinge_loss_bounds_the_share_of_mistakes():
    for problem, rng in problems(50, 0):
        W = rng.normal(size=(20, problem.d)) * 3
        W[0] = 0
        assert (1 - problem.accuracy(W) <= problem.losses(W).mean(axis=1)).all()


def test_one_sided_slopes_are_the_formulas_at_kinks_too():
    step = 1e-6
    for problem, rng in problems(50, 1):
        w = rng.normal(size=problem.d)
        i = int(rng.integers(problem.n))
        w /= problem.y[i] * (problem.X[i] @ w)  # a margin of 1
        margins = problem.margins(w)
        at, below = np.isclose(margins, 1, atol=1e-12), margins < 1 - 1e-12
        if not at.any() or np.abs(margins[~at] - 1).min(initial=1) < 1e-4:
            continue
        h = rng.normal(size=problem.d)
        pulls = problem.y * (problem.X @ h)
        slope = problem.lam * (w @ h) - pulls[below].sum() / problem.n
        slope += np.maximum(0, -pulls[at]).sum() / problem.n
        measured = (problem.objective(w + step * h) - problem.objective(w)) / step
        assert measured == pytest.approx(slope, abs=1e-4 * (1 + h @ h))


def test_the_objective_grows_quadratically_away_from_its_minimiser():
    for problem, rng in problems(50, 2):
        best = sdca(problem, gap=1e-10, n_epochs=3000)
        W = best.w + rng.normal(size=(20, problem.d))
        growth = problem.lam / 2 * ((W - best.w) ** 2).sum(axis=1)
        slack = 2 * np.sqrt(2 * problem.lam * max(best.gap, 0)) * (1 + np.sqrt(growth)) + 1e-9
        assert (problem.objective(W) >= problem.objective(best.w) + growth - slack).all()


def test_chords_lie_above_by_the_strongly_convex_gap():
    for problem, rng in problems(50, 3):
        u, w = rng.normal(size=(2, problem.d)) * 3
        theta = rng.uniform(size=(30, 1))
        gap = problem.lam / 2 * (theta * (1 - theta))[:, 0] * ((u - w) ** 2).sum()
        chord = theta[:, 0] * problem.objective(u) + (1 - theta[:, 0]) * problem.objective(w)
        assert (problem.objective(theta * u + (1 - theta) * w) <= chord - gap + 1e-9).all()


def test_a_larger_lambda_gives_a_shorter_minimiser_with_a_larger_loss():
    for problem, _ in problems(20, 4):
        lams = problem.lam * np.array([1.0, 3.0, 10.0])
        best = [sdca(problem.with_lam(lam), gap=1e-10, n_epochs=3000).w for lam in lams]
        assert (np.diff([np.linalg.norm(w) for w in best]) <= 1e-4).all()
        assert (np.diff([problem.losses(w).mean() for w in best]) >= -1e-4).all()


def test_the_minimiser_tends_to_the_hard_margin():
    X = np.array([[1.0, 0.0]] * 9 + [[-0.9, 0.3]])
    hard = np.array([1.0, 1.9 / 0.3])
    for lam, wrong in ((1.0, 1), (0.1, 1), (1e-3, 0)):
        problem = HingeProblem(X, np.ones(10), lam)
        w = sdca(problem, gap=1e-11, n_epochs=200_000).w
        assert (problem.margins(w) <= 0).sum() == wrong
        assert np.linalg.norm(w) <= np.linalg.norm(hard) + 1e-6
    assert np.allclose(w, hard, atol=1e-3)


def test_a_constant_feature_adds_a_regularised_intercept():
    for problem, rng in problems(20, 5):
        tau, b, w = rng.uniform(0.5, 5), rng.normal(), rng.normal(size=problem.d)
        wide = np.column_stack([problem.X, np.full(problem.n, tau)])
        with_feature = HingeProblem(wide, problem.y, problem.lam).objective(np.append(w, b / tau))
        losses = np.maximum(0, 1 - problem.y * (problem.X @ w + b)).mean()
        direct = problem.lam / 2 * (w @ w + b**2 / tau**2) + losses
        assert with_feature == pytest.approx(direct, rel=1e-12)


# --- chapter 6 --------------------------------------------------------------------------------


def test_mean_and_variance_of_every_batch_there_is():
    for problem, rng in problems(20, 6):
        n, k = min(problem.n, 6), int(rng.integers(1, 4))
        small = HingeProblem(problem.X[:n], problem.y[:n], problem.lam)
        w, k = rng.normal(size=small.d), min(k, n)
        g = small.subgradient(w)
        singles = np.array([small.subgradient(w, [i]) for i in range(n)])
        sigma2 = ((singles - g) ** 2).sum(axis=1).mean()
        for batches, factor in (
            (product(range(n), repeat=k), 1.0),
            (combinations(range(n), k), (n - k) / (n - 1)),
        ):
            batches = [list(batch) for batch in batches]
            G = np.array([small.subgradient(w, batch) for batch in batches])
            f = np.mean([small.instantaneous_objective(w, batch) for batch in batches])
            assert f == pytest.approx(small.objective(w), rel=1e-12)
            assert np.allclose(G.mean(axis=0), g, atol=1e-12)
            assert ((G - g) ** 2).sum(axis=1).mean() == pytest.approx(
                sigma2 / k * factor, rel=1e-9, abs=1e-12
            )


@pytest.mark.parametrize("project", [True, False])
def test_the_sharp_form_of_the_regret_lemma_holds_at_every_t(project):
    T, attained = 80, 0.0
    t = np.arange(1, T + 1)
    for problem, rng in problems(100, 7):
        k = int(rng.choice([1, problem.n]))
        draws = draw_batches(rng, problem.n, T, k).reshape(T, k)
        run = pegasos(
            problem, n_iter=T, batch_size=k, draws=draws, project=project, record=range(T + 1)
        )
        W = run.trace.w
        g = np.array([problem.subgradient(w, batch) for w, batch in zip(W, draws, strict=False)])
        u = rng.normal(size=problem.d)
        u *= rng.uniform() / np.sqrt(problem.lam) / np.linalg.norm(u)
        f = problem.instantaneous_objective
        paid = np.array([f(w, batch) - f(u, batch) for w, batch in zip(W, draws, strict=False)])
        sharp = np.cumsum((g**2).sum(axis=1) / (2 * problem.lam * t))
        sharp -= problem.lam * t / 2 * ((W[1:] - u) ** 2).sum(axis=1)
        scale = np.abs(sharp) + np.abs(np.cumsum(paid)) + 1
        assert (np.cumsum(paid) <= sharp + 1e-9 * scale).all()
        attained = max(
            attained, (np.cumsum(paid) / np.maximum(sharp, 1e-12))[sharp > 1].max(initial=0)
        )
    assert attained > 0.5, f"the lemma was never nearly attained: {attained:.2f}"


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("replace", [True, False])
def test_the_corollaries_bound_the_mean_gap_and_the_mean_distance(project, replace):
    problem = HingeProblem(*make_blobs_2d(n=60, flip=0.1, rng=3), lam=0.05)
    best = sdca(problem, gap=1e-11, n_epochs=3000).w
    c = (np.sqrt(problem.lam) + problem.R) ** 2 if project else 4 * problem.R**2
    rng = np.random.default_rng(8)
    for T in (5, 50, 500):
        runs = [
            pegasos(problem, n_iter=T, batch_size=2, replace=replace, project=project, rng=rng)
            for _ in range(100)
        ]
        gap = np.mean([problem.objective(run.w_average) for run in runs]) - problem.objective(best)
        far = np.mean([((run.w - best) ** 2).sum() for run in runs])
        assert 0 < gap <= c * (1 + np.log(T)) / (2 * problem.lam * T)
        assert 0 < far <= c * (1 + np.log(T)) / (problem.lam**2 * T)


def test_the_printed_constant_is_false_without_projection_and_true_with_it():
    lam = Fraction(1, 100)
    w, regret = Fraction(0), Fraction(0)
    for t, y in enumerate((1, -1, 1), start=1):
        regret += lam / 2 * w**2 + max(0, 1 - y * w) - 1
        w = (1 - Fraction(1, t)) * w + (y if y * w < 1 else 0) / (lam * t)
    assert (regret, w) == (150, Fraction(100, 3))
    printed = (0.1 + 1) ** 2 * (1 + np.log(3)) / 0.02
    assert printed < 150 < 4 * (1 + np.log(3)) / 0.02

    two = HingeProblem(np.ones((2, 1)), np.array([1.0, -1.0]), lam=0.01)
    for project, exceeds in ((False, True), (True, False)):
        run = pegasos(two, n_iter=3, draws=[0, 1, 0], project=project, record=range(4))
        paid = sum(two.instantaneous_objective(run.trace.w[t], [(0, 1, 0)[t]]) for t in range(3))
        assert (paid - 3 > printed) == exceeds


def test_the_step_of_the_c_form_is_1_over_t():
    X, y = make_blobs_2d(n=40, flip=0.1, rng=9)
    problem = HingeProblem(X, y, lam=1 / 20)
    draws = np.random.default_rng(10).integers(40, size=500)
    C_n, w = problem.C * problem.n, np.zeros(2)
    for t, i in enumerate(draws, start=1):
        w = w - (w - C_n * (y[i] * (X[i] @ w) < 1) * y[i] * X[i]) / t
    assert np.allclose(w, pegasos(problem, n_iter=500, draws=draws, project=False).w, atol=1e-10)
