"""Statements of chapters 1 and 6 that the library's own tests do not hold, on generated data."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from pegasos_lib import HingeProblem, make_blobs_2d, pegasos, sdca
from tests.many import Problems

COUNT = 1000


def problems(seed, count=COUNT, largest=30):
    """Draw small problems whose labels a plane explains in part."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(2, largest)), int(rng.integers(1, 6))
        X = rng.normal(size=(n, d)) * rng.uniform(0.3, 3)
        y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
        yield HingeProblem(X, y, lam=10 ** rng.uniform(-2, 0.5)), rng


# --- chapter 1 --------------------------------------------------------------------------------


def test_the_mean_hinge_loss_bounds_the_share_of_mistakes():
    for problem, rng in problems(0):
        W = rng.normal(size=(20, problem.d)) * 3
        W[0] = 0
        assert (1 - problem.accuracy(W) <= problem.losses(W).mean(axis=1)).all()


def test_one_sided_slopes_are_the_formulas_at_kinks_too():
    step = 1e-6
    for problem, rng in problems(1):
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


def test_the_objective_grows_quadratically_away_from_its_minimiser_in_the_ball():
    for problem, rng in problems(2, largest=9):
        best = sdca(problem, gap=1e-10, n_epochs=3000)
        least = min(1 / np.sqrt(problem.lam), problem.R / problem.lam)
        assert np.linalg.norm(best.w) <= least * (1 + 1e-4)
        W = best.w + rng.normal(size=(20, problem.d))
        growth = problem.lam / 2 * ((W - best.w) ** 2).sum(axis=1)
        slack = 2 * np.sqrt(2 * problem.lam * max(best.gap, 0)) * (1 + np.sqrt(growth)) + 1e-9
        assert (problem.objective(W) >= problem.objective(best.w) + growth - slack).all()


def test_chords_lie_above_by_the_strongly_convex_gap():
    for problem, rng in problems(3):
        u, w = rng.normal(size=(2, problem.d)) * 3
        theta = rng.uniform(size=(30, 1))
        gap = problem.lam / 2 * (theta * (1 - theta))[:, 0] * ((u - w) ** 2).sum()
        chord = theta[:, 0] * problem.objective(u) + (1 - theta[:, 0]) * problem.objective(w)
        assert (problem.objective(theta * u + (1 - theta) * w) <= chord - gap + 1e-9).all()


def test_a_larger_lambda_gives_a_shorter_minimiser_with_a_larger_loss():
    for problem, _ in problems(4, largest=8):
        lams = problem.lam * np.array([1.0, 3.0])
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


def hard_margins(Z):
    """Return the shortest w with Z w >= 1 for separable signed rows (runs, n, 2).

    At it one margin is 1 and w is a multiple of that row, or two margins are 1.
    """
    n = Z.shape[1]
    candidates = [Z[:, i] / (Z[:, i] ** 2).sum(axis=1, keepdims=True) for i in range(n)]
    candidates += [
        np.linalg.solve(Z[:, list(pair)], np.ones((len(Z), 2, 1)))[..., 0]
        for pair in combinations(range(n), 2)
    ]
    W = np.array(candidates)  # (candidates, runs, 2)
    allowed = (np.einsum("rnd,crd->crn", Z, W) >= 1 - 1e-9).all(axis=2)
    lengths = np.where(allowed, np.linalg.norm(W, axis=2), np.inf)
    best = lengths.argmin(axis=0)
    return W[best, np.arange(len(Z))]


def test_the_soft_margin_is_bounded_by_the_hard_one_and_tends_to_it():
    rng = np.random.default_rng(12)
    normal = rng.normal(size=(COUNT, 1, 2))
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    Z = rng.normal(size=(COUNT, 6, 2))
    along = (Z * normal).sum(axis=2, keepdims=True)
    Z += (np.abs(along) - along + 0.1) * normal  # separable: every margin at `normal` is >= 0.1
    hard = hard_margins(Z)
    length = np.linalg.norm(hard, axis=1)
    assert np.allclose(np.einsum("rnd,rd->rn", Z, hard).min(axis=1), 1)
    W = rng.normal(size=(200, COUNT, 2))
    nearest = np.einsum("rnd,crd->crn", Z, W).min(axis=2) / np.linalg.norm(W, axis=2)
    assert (nearest <= 1 / length * (1 + 1e-9)).all()  # no separator keeps a larger distance
    largest = 0
    for rows, best in zip(Z, hard, strict=True):
        lam = 10 ** rng.uniform(-2, 1)
        problem = HingeProblem(rows, np.ones(6), lam)
        w = sdca(problem, gap=1e-9, n_epochs=2000).w
        wrong = int((problem.margins(w) <= 0).sum())
        assert wrong <= lam * 6 / 2 * (best @ best)
        assert np.linalg.norm(w) <= np.linalg.norm(best) * (1 + 1e-4)
        largest = max(largest, wrong)
        close = 1e-3 / (best @ best)
        w = sdca(problem.with_lam(close), gap=1e-9 * close, n_epochs=5000).w
        assert np.allclose(w, best, atol=1e-2 * np.linalg.norm(best))
    assert largest > 1, "no soft margin made a mistake: the bound was not tried"


def test_the_c_form_and_rescaled_data_are_the_same_problem():
    rng = np.random.default_rng(13)
    many = Problems(rng, COUNT, 7, 3)
    W, rho = rng.normal(size=(COUNT, 3)), 10 ** rng.uniform(-2, 2, size=COUNT)
    losses = np.maximum(0, 1 - np.einsum("rnd,rd->rn", many.Z, W)).sum(axis=1)
    c_form = (W**2).sum(axis=1) / 2 + losses / (many.lam * 7)
    assert np.allclose(c_form, many.objective(W) / many.lam, rtol=1e-12)
    P = many.objective(rho[:, None] * W)
    regularisers = (many.lam / 2 * rho**2 * (W**2).sum(axis=1), many.lam * rho**2)
    many.Z, many.lam = rho[:, None, None] * many.Z, regularisers[1]
    assert np.allclose(many.objective(W), P, rtol=1e-12)


def test_a_constant_feature_adds_a_regularised_intercept():
    largest = 0.0
    for problem, rng in problems(5, largest=9):
        tau, b, w = rng.uniform(0.5, 5), rng.normal(size=20), rng.normal(size=(20, problem.d))
        features = np.column_stack([problem.X, np.full(problem.n, tau)])
        wide = HingeProblem(features, problem.y, problem.lam)

        def free(w, b, problem=problem):
            losses = np.maximum(0, 1 - problem.y * (w @ problem.X.T + b[:, None])).mean(axis=1)
            return problem.lam / 2 * (w**2).sum(axis=1) + losses

        direct = free(w, b) + problem.lam / 2 * b**2 / tau**2
        assert wide.objective(np.column_stack([w, b / tau])) == pytest.approx(direct, rel=1e-12)
        run = sdca(wide, gap=1e-5, n_epochs=200)
        value = free(run.w[None, :-1], tau * run.w[-1:])
        assert (value <= direct + max(run.gap, 0) + 1e-12).all()
        largest = max(largest, (value / direct).max())
    assert largest > 0.9, "the bound is not tried near its value"


# --- chapter 6 --------------------------------------------------------------------------------


def test_the_strong_subgradient_inequality_on_batches_of_whole_numbers():
    rng = np.random.default_rng(14)
    Z, draws = rng.integers(-2, 3, size=(COUNT, 5, 3)), rng.integers(5, size=(COUNT, 4))
    Z, w = Z[np.arange(COUNT)[:, None], draws], rng.integers(-2, 3, size=(COUNT, 3))
    lam, U = 10 ** rng.uniform(-2, 0.3, size=COUNT), rng.integers(-3, 4, size=(20, COUNT, 3))

    def f(w):
        losses = np.maximum(0, 1 - np.einsum("rkd,...rd->...rk", Z, w)).mean(axis=-1)
        return lam / 2 * (w**2).sum(axis=-1) + losses

    margins = np.einsum("rkd,rd->rk", Z, w)
    g = lam[:, None] * w - ((margins < 1)[..., None] * Z).mean(axis=1)
    lower = f(w) + ((U - w) * g).sum(axis=2) + lam / 2 * ((U - w) ** 2).sum(axis=2)
    assert (f(U) >= lower - 1e-12).all()
    assert (margins == 1).sum() > 100  # kinks are hit
    for r in range(0, COUNT, 100):
        one = HingeProblem(Z[r].astype(float), np.ones(4), lam[r])
        assert np.allclose(one.subgradient(w[r].astype(float)), g[r])


def test_mean_and_variance_of_every_batch_there_is():
    for problem, rng in problems(6, largest=7):
        n, k = problem.n, min(int(rng.integers(1, 4)), problem.n)
        w = rng.normal(size=problem.d)
        g, losses = problem.subgradient(w), problem.losses(w)
        singles = np.array([problem.subgradient(w, [i]) for i in range(n)])
        sigma2 = ((singles - g) ** 2).sum(axis=1).mean()
        for batches, factor in (
            (product(range(n), repeat=k), 1.0),
            (combinations(range(n), k), (n - k) / (n - 1)),
        ):
            batches = np.array(list(batches))
            G, one = singles[batches].mean(axis=1), batches[-1]
            assert np.allclose(problem.subgradient(w, one), G[-1], atol=1e-12)
            f = problem.lam / 2 * (w @ w) + losses[batches].mean(axis=1)
            assert problem.instantaneous_objective(w, one) == pytest.approx(f[-1], rel=1e-12)
            assert f.mean() == pytest.approx(problem.objective(w), rel=1e-12)
            assert np.allclose(G.mean(axis=0), g, atol=1e-12)
            assert ((G - g) ** 2).sum(axis=1).mean() == pytest.approx(
                sigma2 / k * factor, rel=1e-9, abs=1e-12
            )


@pytest.mark.parametrize("project", [True, False])
def test_the_sharp_form_of_the_regret_lemma_holds_at_every_t(project):
    rng = np.random.default_rng(7)
    T, attained = 80, 0.0
    t = np.arange(1, T + 1)[:, None]
    for n, d, k in ((4, 2, 1), (15, 4, 1), (6, 3, 6), (3, 1, 2)):
        many = Problems(rng, 125, n, d, lam=(-2, 0.5), scale=0.5)
        draws = rng.integers(n, size=(125, T, k))
        W, G = many.pegasos(draws, project)
        u = rng.normal(size=(125, d))
        u *= (rng.uniform(size=125) * many.radius / np.linalg.norm(u, axis=1))[:, None]
        sharp = np.cumsum((G**2).sum(axis=2) / (2 * many.lam * t), axis=0)
        distance = many.lam * t / 2 * ((W[1:] - u) ** 2).sum(axis=2)
        regret = np.cumsum(many.paid(W[:-1], draws) - many.paid(u, draws), axis=0)
        assert (regret <= sharp - distance + 1e-9 * (1 + sharp + distance)).all()
        sharp -= distance
        attained = max(attained, (regret / np.maximum(sharp, 1e-12))[sharp > 1].max(initial=0))
    assert attained > 0.5, f"the lemma was never nearly attained: {attained:.2f}"


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("kind", ["one", "two with replacement", "two without"])
def test_the_corollaries_hold_for_the_exact_mean_over_all_runs(project, kind):
    rng, n, largest = np.random.default_rng(15), 3, 0.0
    many = Problems(rng, 200, n, 2, lam=(-2, 0.5), scale=0.5)
    batches, T = {
        "one": ([[0], [1], [2]], 5),
        "two with replacement": (list(product(range(n), repeat=2)), 3),
        "two without": (list(combinations(range(n), 2)), 5),
    }[kind]
    best = [
        sdca(HingeProblem(Z, np.ones(n), lam), gap=1e-9, n_epochs=1000)
        for Z, lam in zip(many.Z, many.lam, strict=True)
    ]
    star = np.array([run.w for run in best])[:, None]
    least = many.objective(star[:, 0])
    for t, average, last in many.all_pegasos(np.array(batches), T, project):
        gap = many.objective(average.swapaxes(0, 1)).mean(axis=0) - least
        far = ((last - star) ** 2).sum(axis=2).mean(axis=1)
        bound = many.constant(project) * (1 + np.log(t)) / (2 * many.lam * t)
        ratios = gap / bound, far / (2 * bound / many.lam)
        assert np.max(ratios) <= 1, (t, np.max(ratios))
        largest = max(largest, np.max(ratios))
    assert largest > 0.05, f"the runs came nowhere near the bounds: {largest:.3f}"


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
