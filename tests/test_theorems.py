"""The statements about Pegasos that the book proves, on generated runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_lib import HingeProblem, draw_batches, pegasos, sdca, sgd, subgradient_descent
from tests import reference
from tests.generated import data


def instantaneous(p, w, draws):
    """Return f_t(w_t) for iterates (T, d), or f_t(u) for one u (d,), for all batches (T, k)."""
    w = np.broadcast_to(w, (len(draws), p.d))
    margins = p.y[draws] * np.einsum("td,tkd->tk", w, p.X[draws])
    return p.lam / 2 * np.sum(w**2, axis=1) + np.maximum(0, 1 - margins).mean(axis=1)


def constant(p, project):
    return (np.sqrt(p.lam) + p.R) ** 2 if project else 4 * p.R**2


@pytest.mark.parametrize("project", [True, False])
def test_theorem_2_bounds_the_regret_at_every_t_for_any_batches(project):
    rng = np.random.default_rng(20)
    worst, T = 0.0, 120
    t = np.arange(1, T + 1)
    for _ in range(150):
        n, d = rng.integers(2, 40), rng.integers(1, 6)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-1, 2)
        p = HingeProblem(X, rng.choice([-1.0, 1.0], n), 10.0 ** rng.uniform(-3, 0.5))
        k = int(rng.choice([1, 2, n]))
        draws = draw_batches(rng, n, T, k, replace=bool(rng.integers(2))).reshape(T, k)
        if rng.random() < 0.3:  # the theorem asks nothing of the batches
            draws = np.sort(draws, axis=0)
        run = pegasos(
            p, n_iter=T, batch_size=k, draws=draws, project=project, average=None, record=range(T)
        )
        bound = constant(p, project) * (1 + np.log(t)) / (2 * p.lam)
        paid = instantaneous(p, run.trace.w, draws)
        star = sdca(p, gap=1e-9, n_epochs=200).w
        inside = rng.standard_normal(d)
        inside *= rng.random() / np.sqrt(p.lam) / np.linalg.norm(inside)
        for u in (star, np.zeros(d), inside):
            regret = np.cumsum(paid - instantaneous(p, u, draws))
            worst = max(worst, (regret / bound).max())
            assert (regret <= bound * (1 + 1e-12) + 1e-12).all(), (p, k, (regret / bound).max())
    assert worst > 0.05, f"the runs came nowhere near the bound: {worst:.3f}"


@pytest.mark.parametrize("project", [True, False])
def test_the_deterministic_corollary_bounds_the_average_at_every_t(project):
    rng = np.random.default_rng(21)
    T = 100
    t = np.arange(1, T + 1)
    for _ in range(40):
        n, d = rng.integers(2, 20), rng.integers(1, 5)
        X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
        p = HingeProblem(X, y, 10.0 ** rng.uniform(-3, 0.5))
        run = subgradient_descent(p, n_iter=T, project=project, record=t)
        dual = sdca(p, gap=1e-10)
        suboptimality = run.trace.objective_average - dual.trace.objective[-1] + dual.gap
        assert (suboptimality <= constant(p, project) * (1 + np.log(t)) / (2 * p.lam * t)).all()


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
