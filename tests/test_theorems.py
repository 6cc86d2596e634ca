"""The statements about Pegasos that the book proves, on generated runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_lib import HingeProblem, draw_batches, pegasos, sdca, sgd, subgradient_descent
from tests import reference
from tests.generated import data
from tests.many import Problems


def as_problem(many, r):
    return HingeProblem(many.Z[r], np.ones(many.Z.shape[1]), many.lam[r])


@pytest.mark.parametrize("project", [True, False])
def test_theorem_2_bounds_the_regret_at_every_t_for_any_batches(project):
    """500 runs for each variant, and the lemma's sharp form with them."""
    rng = np.random.default_rng(20)
    worst, T = 0.0, 120
    t = np.arange(1, T + 1)[:, None]
    for n, d, k in ((2, 1, 1), (7, 3, 2), (12, 4, 1), (20, 5, 3), (9, 2, 9)):
        many = Problems(rng, 100, n, d)
        draws = np.array([
            draw_batches(rng, n, T, k, replace=bool(rng.integers(2))).reshape(T, k)
            for _ in range(100)
        ])  # fmt: skip
        draws[:30] = np.sort(draws[:30], axis=1)  # the theorem asks nothing of the batches
        W, G = many.pegasos(draws, project)
        for r in (0, 99):
            run = pegasos(
                as_problem(many, r), n_iter=T, batch_size=k, draws=draws[r], project=project,
                record=range(T + 1),
            )  # fmt: skip
            assert run.trace.w == pytest.approx(W[:, r], rel=1e-9, abs=1e-9 * abs(W[:, r]).max())
        bound = many.constant(project) * (1 + np.log(t)) / (2 * many.lam)
        sharp = np.cumsum((G**2).sum(axis=2) / (2 * many.lam * t), axis=0)
        paid = many.paid(W[:-1], draws)
        star = np.array([sdca(as_problem(many, r), gap=1e-6, n_epochs=20).w for r in range(100)])
        hindsight = np.array([
            sdca(HingeProblem(rows.reshape(-1, d), np.ones(T * k), lam), gap=1e-4, n_epochs=4).w
            for rows, lam in zip(many.batches(draws), many.lam, strict=True)
        ])  # fmt: skip
        inside = rng.standard_normal((100, d))
        inside *= (many.radius * rng.random(100) / np.linalg.norm(inside, axis=1))[:, None]
        for u in (star, hindsight, np.zeros((100, d)), inside):
            u = many.into_the_ball(u) if project else u
            regret = np.cumsum(paid - many.paid(u, draws), axis=0)
            ratio = regret / bound
            worst = max(worst, ratio.max())
            assert (ratio <= 1 + 1e-12).all(), (n, d, k, ratio.max())
            distance = many.lam * t / 2 * ((W[1:] - u) ** 2).sum(axis=2)
            assert (regret <= sharp - distance + 1e-9 * (bound + distance)).all(), (n, d, k)
    assert worst > 0.05, f"the runs came nowhere near the bound: {worst:.3f}"


@pytest.mark.parametrize("project", [True, False])
def test_the_deterministic_corollary_bounds_the_average_at_every_t(project):
    rng = np.random.default_rng(21)
    T, worst = 100, 0.0
    t = np.arange(1, T + 1)[:, None]
    for n, d in ((2, 1), (5, 2), (11, 3), (19, 4)):
        many = Problems(rng, 125, n, d)
        W, _ = many.pegasos(np.broadcast_to(np.arange(n), (125, T, n)), project)
        average = np.cumsum(W[:-1], axis=0) / t[:, :, None]
        one = as_problem(many, 7)
        run = subgradient_descent(one, n_iter=T, project=project)
        assert run.w_average == pytest.approx(average[-1, 7], abs=1e-9 * abs(average[:, 7]).max())
        dual = (sdca(as_problem(many, r), gap=1e-5, n_epochs=50) for r in range(125))
        lower = [as_problem(many, r).dual_objective(run.alpha) for r, run in enumerate(dual)]
        bound = many.constant(project) * (1 + np.log(t)) / (2 * many.lam * t)
        ratio = (many.objective(average) - lower) / bound
        worst = max(worst, ratio.max())
        assert (ratio <= 1).all(), (n, d, ratio.max())
    assert worst > 0.01, f"the runs came nowhere near the bound: {worst:.3f}"


@settings(max_examples=60)
@given(data(), st.integers(0, 99))
def test_the_unprojected_iterate_is_a_mean_of_violators_and_stays_within_r_over_lambda(
    example, seed
):
    X, y, lam = example
    p = HingeProblem(X, y, lam)
    T = 50
    run = pegasos(p, n_iter=T, rng=seed, project=False, average=None, record=range(T + 1))
    hits = np.array([
        p.y[i] * p.X[i] if p.y[i] * (p.X[i] @ w) < 1 else np.zeros(p.d)
        for i, w in zip(run.draws, run.trace.w, strict=False)
    ])  # fmt: skip
    t = np.arange(1, T + 1)[:, None]
    closed = np.cumsum(hits, axis=0) / (lam * t)
    scale = max(1.0, p.R / lam)
    # Where rounding may turn a test at the kink, the closed form follows the kept iterates.
    assert run.trace.w[1:] == pytest.approx(closed, abs=1e-10 * scale)
    assert np.linalg.norm(run.trace.w, axis=1).max() <= p.R / lam * (1 + 1e-12)


@settings(max_examples=60)
@given(data(), st.integers(0, 99), st.sampled_from([1, 3]))
def test_projected_iterates_and_averages_stay_in_the_ball(example, seed, k):
    X, y, lam = example
    T = 40
    run = pegasos(HingeProblem(X, y, lam), n_iter=T, rng=seed, batch_size=k, record=range(T + 1))
    largest = np.linalg.norm([*run.trace.w, *run.trace.w_average], axis=1).max()
    assert largest <= lam**-0.5 * (1 + 1e-12)


@settings(max_examples=40)
@given(data())
def test_the_optimum_lies_in_both_balls(example):
    X, y, lam = example
    p = HingeProblem(X, y, lam)
    run = sdca(p, gap=1e-10, n_epochs=2000)
    distance = np.sqrt(2 * max(run.gap, 0) / lam)  # strong convexity
    assert np.linalg.norm(run.w) - distance <= min(lam**-0.5, p.R / lam) * (1 + 1e-9)


def test_the_weighted_average_obeys_its_bound_without_a_logarithm():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40)
    p = HingeProblem(X, y, 0.1)
    best = reference.optimum(X, y, 0.1)[1]
    for T in (10, 100, 1000):
        values = [
            p.objective(sgd(p, n_iter=T, rng=s, step="weighted", average="weighted", project=True)
                        .w_average)
            for s in range(40)
        ]  # fmt: skip
        assert np.mean(values) - best <= 2 * (np.sqrt(p.lam) + p.R) ** 2 / (p.lam * (T + 1))


def test_permutation_epochs_without_projection_give_a_dual_certificate():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], 30)
    p, epochs = HingeProblem(X, y, 0.1), 20
    run = pegasos(
        p, n_iter=30 * epochs, sampling="permutation", project=False, record=range(30 * epochs)
    )
    hit = p.y[run.draws] * np.einsum("td,td->t", run.trace.w, X[run.draws]) < 1
    alpha = np.bincount(run.draws, weights=hit, minlength=30) / epochs
    assert p.weights(alpha) == pytest.approx(run.w, abs=1e-12)
    assert 0 <= p.duality_gap(run.w, alpha) < 0.1
