"""Statements of chapter 9, on 1,000 problems at once, in words of their own."""

from copy import copy
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from pegasos_lib import HingeProblem, pegasos
from pegasos_lib.dual import pegasos_certificate
from tests import reference
from tests.many import Problems

RUNS, N, DIM = 1000, 5, 3


def problems(seed, runs=RUNS, n=N, d=DIM, scale=0.5):
    return Problems(np.random.default_rng(seed), runs, n, d, lam=(-1, 0.5), scale=scale)


def some_alpha(rng, shape):
    """Draw dual points, about half of whose entries are 0 or 1."""
    alpha = rng.random(shape)
    return np.where(rng.random(shape) < 0.5, np.round(alpha), alpha)


def weights(many, alpha):
    return np.einsum("rn,rnd->rd", alpha, many.Z) / (many.lam * many.Z.shape[1])[:, None]


def margins(many, W):
    return np.einsum("rnd,rd->rn", many.Z, W)


def dual(many, alpha, gain=1.0):
    """Return (1/n) sum gain_i alpha_i - lam/2 ||w(alpha)||^2, which is D for gain 1."""
    return (gain * alpha).mean(axis=1) - many.lam / 2 * (weights(many, alpha) ** 2).sum(axis=1)


def step(many, alpha, i, target=1.0):
    """Set alpha_i of each problem to its best value in [0, 1], for margins wanted at `target`."""
    rows, n = np.arange(len(many)), many.Z.shape[1]
    z = many.Z[rows, i]
    norm2 = (z**2).sum(axis=1)
    lack = np.broadcast_to(target, alpha.shape)[rows, i] - (z * weights(many, alpha)).sum(axis=1)
    move = many.lam * n * lack / np.where(norm2 > 0, norm2, 1)
    move = np.where(norm2 > 0, move, np.where(lack > 0, 1.0, -1.0))
    after = alpha.copy()
    after[rows, i] = np.clip(alpha[rows, i] + move, 0, 1)
    return after


def some_of(many, which):
    part = copy(many)
    part.Z, part.lam = many.Z[which], many.lam[which]
    return part


def maximise(many, target=1.0, gap=1e-9):
    """Return maximisers by coordinate steps; problems that are solved are left alone."""
    alpha, target = np.zeros(many.Z.shape[:2]), np.broadcast_to(target, many.Z.shape[:2])
    left = np.arange(len(many))
    for _ in range(300):
        part, now, wanted = some_of(many, left), alpha[left], target[left]
        for i in np.tile(np.arange(many.Z.shape[1]), 50):
            now = step(part, now, np.full(len(left), i), wanted)
        alpha[left] = now
        lack = wanted - margins(part, weights(part, now))
        left = left[np.where(lack > 0, (1 - now) * lack, -now * lack).mean(axis=1) > gap]
        if not len(left):
            return alpha
    raise AssertionError(f"{len(left)} problems are not solved")


@pytest.fixture(scope="module")
def solved():
    """1,000 problems with dual maximisers, w*, and the least values by a primal method."""
    many = problems(1)
    alpha = maximise(many)
    optima = [reference.optimum(many.Z[r], np.ones(N), many.lam[r]) for r in range(RUNS)]
    return many, alpha, np.array([w for w, _ in optima]), np.array([value for _, value in optima])


def test_the_lagrangian_is_the_dual_and_a_square_or_has_no_bound():
    many, rng = problems(2), np.random.default_rng(2)
    W, xi = rng.normal(size=(RUNS, DIM)) * 3, rng.normal(size=(RUNS, N)) * 5

    def lagrangian(W, xi, alpha, nu):
        charged = xi + alpha * (1 - margins(many, W) - xi) - nu * xi
        return many.lam / 2 * (W**2).sum(axis=1) + charged.mean(axis=1)

    alpha = some_alpha(rng, (RUNS, N))
    away = ((W - weights(many, alpha)) ** 2).sum(axis=1)
    found = lagrangian(W, xi, alpha, 1 - alpha)
    assert found == pytest.approx(dual(many, alpha) + many.lam / 2 * away, abs=1e-9)
    nu = rng.random((RUNS, N)) * 2
    alpha = alpha * 2
    downhill = -np.sign(1 - alpha - nu) * 1e9
    assert (lagrangian(W, downhill, alpha, nu) < -1e3).all()


def test_the_gap_is_a_distance_and_a_sum_over_examples():
    many, rng = problems(3), np.random.default_rng(3)
    for _ in range(5):
        alpha = some_alpha(rng, (RUNS, N))
        for W in (weights(many, alpha), rng.normal(size=(RUNS, DIM)) * 2):
            lack = 1 - margins(many, W)
            terms = np.where(lack > 0, (1 - alpha) * lack, -alpha * lack)
            away = ((W - weights(many, alpha)) ** 2).sum(axis=1)
            expected = many.lam / 2 * away + terms.mean(axis=1)
            gap = many.objective(W) - dual(many, alpha)
            assert gap == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert (gap >= -1e-12).all()
    p = HingeProblem(many.Z[0], np.ones(N), many.lam[0])
    assert p.duality_gap(W[0], alpha[0]) == pytest.approx(gap[0])


def test_a_small_gap_means_that_both_points_are_near(solved):
    many, _, w_star, least = solved
    rng = np.random.default_rng(4)
    for size in (3, 0.3, 0.03):
        alpha = some_alpha(rng, (RUNS, N))
        for W in (weights(many, alpha), w_star + size * rng.normal(size=(RUNS, DIM))):
            above, below = many.objective(W) - least, least - dual(many, alpha)
            slack = 1e-7 * np.maximum(1, least)
            assert (many.lam / 2 * ((W - w_star) ** 2).sum(axis=1) <= above + slack).all()
            away = ((weights(many, alpha) - w_star) ** 2).sum(axis=1)
            assert (many.lam / 2 * away <= below + slack).all()


def test_the_largest_dual_is_the_least_primal_and_its_weights_are_w_star(solved):
    many, alpha, w_star, least = solved
    largest = dual(many, alpha)
    assert np.abs(largest - least).max() < 1e-6
    assert np.abs(many.objective(weights(many, alpha)) - least).max() < 1e-6
    distance = np.linalg.norm(weights(many, alpha) - w_star, axis=1)
    assert (distance <= np.sqrt(2e-6 / many.lam)).all()
    rng = np.random.default_rng(5)
    for _ in range(20):
        assert (dual(many, some_alpha(rng, (RUNS, N))) <= least + 1e-7).all()


def exact_optimum(z, lam):
    """Return w* and a dual maximiser of a problem with one feature, in fractions."""
    n = len(z)

    def P(w):
        return lam / 2 * w * w + sum(max(Fraction(0), 1 - a * w) for a in z) / n

    kinks = sorted({1 / a for a in z if a})
    inner = [(a + b) / 2 for a, b in pairwise(kinks)]
    between = [kinks[0] - 1, *inner, kinks[-1] + 1] if kinks else [Fraction(0)]
    stationary = [sum(a for a in z if a * v < 1) / (lam * n) for v in between]
    w = min([*kinks, *stationary], key=P)
    alpha = [Fraction(int(a * w < 1)) for a in z]
    on_kink = [i for i in range(n) if z[i] * w == 1]
    for i in on_kink:
        rest = lam * n * w - sum(a for a in z if a * w < 1)
        alpha[i] = rest * w / len(on_kink)
    return w, alpha, P


def test_zero_gap_optimality_and_slackness_are_one_in_exact_fractions():
    rng, seen = np.random.default_rng(6), {"between": 0, "open": 0, "closed": 0}
    for _ in range(RUNS):
        z = [Fraction(int(a), 2) for a in rng.integers(-4, 6, size=4)]
        lam = Fraction(1, int(rng.integers(1, 12)))
        w_star, best, P = exact_optimum(z, lam)

        def D(alpha, z=z, lam=lam):
            w = sum(a * b for a, b in zip(alpha, z, strict=True)) / (lam * 4)
            return sum(alpha) / 4 - lam / 2 * w * w, w

        assert all(0 <= a <= 1 for a in best)
        assert D(best) == (P(w_star), w_star)
        seen["between"] += any(0 < a < 1 for a in best)
        other = list(best)
        other[rng.integers(4)] = Fraction(int(rng.integers(5)), 4)
        for alpha, w in ((other, D(other)[1]), (best, w_star + Fraction(1, 7)), (other, w_star)):
            m = [a * w for a in z]
            complementary = all(
                (m_i <= 1 or a == 0) and (m_i >= 1 or a == 1)
                for m_i, a in zip(m, alpha, strict=True)
            )
            solves = complementary and w == D(alpha)[1]
            gap = P(w) - D(alpha)[0]
            assert gap >= 0
            assert (gap == 0) == solves == (w == w_star and D(alpha)[0] == P(w_star))
            seen["closed" if solves else "open"] += 1
    assert min(seen.values()) > 100


def test_the_length_of_the_minimiser_and_both_of_its_bounds(solved):
    many, alpha, w_star, _ = solved
    losses = np.maximum(0, 1 - margins(many, w_star)).mean(axis=1)
    length2 = (w_star**2).sum(axis=1)
    assert many.lam * length2 == pytest.approx(alpha.mean(axis=1) - losses, abs=1e-4)
    share = (alpha > 1e-9).mean(axis=1)
    assert (length2 <= share / many.lam * (1 + 1e-3)).all()
    assert (np.sqrt(length2) <= share * many.R / many.lam * (1 + 1e-3)).all()


def test_the_exact_step_beats_a_grid_and_rises_as_promised():
    many, rng = problems(7), np.random.default_rng(7)
    for _ in range(3):
        alpha, i = some_alpha(rng, (RUNS, N)), rng.integers(N, size=RUNS)
        after = step(many, alpha, i)
        for value in np.linspace(0, 1, 41):
            other = alpha.copy()
            other[np.arange(RUNS), i] = value
            assert (dual(many, other) <= dual(many, after) + 1e-12).all()
        moved = ((weights(many, after) - weights(many, alpha)) ** 2).sum(axis=1)
        assert (dual(many, after) - dual(many, alpha) >= many.lam / 2 * moved - 1e-12).all()


def test_the_printed_step_is_the_exact_step_of_another_problem():
    many, rng = problems(8), np.random.default_rng(8)
    y = rng.choice([-1.0, 1.0], size=(RUNS, N))
    rows, lowered = np.arange(RUNS), 0
    for _ in range(3):
        alpha, i = some_alpha(rng, (RUNS, N)), rng.integers(N, size=RUNS)
        z, label = many.Z[rows, i], y[rows, i]
        norm2 = (z**2).sum(axis=1)
        score = label * (z * weights(many, alpha)).sum(axis=1)
        printed = alpha.copy()
        quotient = many.lam * N * (1 - score) * label / np.where(norm2 > 0, norm2, 1)
        printed[rows, i] = np.clip(alpha[rows, i] + quotient, 0, 1)
        some = norm2 > 0
        assert printed[some] == pytest.approx(step(many, alpha, i, target=y)[some])
        for value in np.linspace(0, 1, 21):
            other = alpha.copy()
            other[rows, i] = value
            assert (dual(many, other, y) <= dual(many, printed, y) + 1e-12)[some].all()
        right = label > 0
        assert (dual(many, printed) >= dual(many, alpha) - 1e-12)[some & right].all()
        lowered += int((dual(many, printed) < dual(many, alpha) - 1e-9)[some & ~right].sum())
    assert lowered > 300

    def other_primal(W):
        return many.lam / 2 * (W**2).sum(axis=1) + np.maximum(0, y - margins(many, W)).mean(axis=1)

    alpha = maximise(many, target=y, gap=1e-8)
    assert (other_primal(weights(many, alpha)) - dual(many, alpha, y)).max() < 1e-6
    for _ in range(20):
        W, other = rng.normal(size=(RUNS, DIM)), some_alpha(rng, (RUNS, N))
        assert (other_primal(W) >= dual(many, other, y) - 1e-12).all()


def test_the_gap_after_an_epoch_is_bounded_by_the_way_and_the_ways_by_the_dual(solved):
    many, _, _, least = solved
    rng = np.random.default_rng(9)
    for start in (np.zeros((RUNS, N)), some_alpha(rng, (RUNS, N))):
        alpha, room = start, least - dual(many, start)
        squares, smallest = np.zeros(RUNS), np.full(RUNS, np.inf)
        for epoch in range(1, 31):
            way = np.zeros(RUNS)
            for i in rng.permuted(np.tile(np.arange(N), (RUNS, 1)), axis=1).T:
                after = step(many, alpha, i)
                way += np.linalg.norm(weights(many, after) - weights(many, alpha), axis=1)
                alpha = after
            gap = many.objective(weights(many, alpha)) - dual(many, alpha)
            assert (gap <= many.R * way + 1e-9).all()
            squares, smallest = squares + way**2, np.minimum(smallest, gap)
            assert (squares <= 2 * N / many.lam * (room + 1e-7)).all()
            if not start.any():
                assert (smallest <= many.R * np.sqrt(2 * N / (many.lam * epoch)) + 1e-9).all()


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_regret_of_pegasos_is_an_identity(k):
    many, rng, T = problems(10, scale=1.0), np.random.default_rng(10), 30
    draws = rng.integers(N, size=(RUNS, T, k))
    W, G = many.pegasos(draws, project=False)
    rows = many.batches(draws)  # (runs, T, k, d)
    hit = np.einsum("rtkd,trd->rtk", rows, W[:-1]) < 1
    t = np.arange(1, T + 1)
    known = ((G**2).sum(axis=2).T / (2 * many.lam[:, None] * t)).sum(axis=1)
    paid = many.paid(W[:-1], draws).sum(axis=0)
    pushed = (hit[..., None] * rows).sum(axis=(1, 2)) / (many.lam * T * k)[:, None]
    D_T = hit.mean(axis=(1, 2)) - many.lam / 2 * (pushed**2).sum(axis=1)
    size = 1e-9 * (1 + paid + known)
    assert (np.abs(T * D_T - paid + known) <= size).all()
    for u in (np.zeros((RUNS, DIM)), W[-1], rng.normal(size=(RUNS, DIM))):
        m = np.einsum("rtkd,rd->rtk", rows, u)
        lost = np.where(hit, np.maximum(0, m - 1), np.maximum(0, 1 - m)).sum(axis=(1, 2)) / k
        away = many.lam * T / 2 * ((W[-1] - u) ** 2).sum(axis=1)
        regret = paid - many.paid(u, draws).sum(axis=0)
        assert (np.abs(regret - (known - away - lost)) <= size + 1e-9 * (away + lost)).all()
        assert (regret <= known + size).all()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_counts_of_whole_epochs_are_a_dual_point_of_the_last_iterate(k):
    many, rng = problems(11, n=4, scale=1.0), np.random.default_rng(11)
    n, epochs = 4, 6
    orders = rng.permuted(np.tile(np.arange(n), (RUNS, epochs, 1)), axis=2)
    draws = orders.reshape(RUNS, -1, k)
    W, G = many.pegasos(draws, project=False)
    hit = np.einsum("rtkd,trd->rtk", many.batches(draws), W[:-1]) < 1
    counts = np.zeros((RUNS, n))
    np.add.at(counts, (np.arange(RUNS)[:, None], draws.reshape(RUNS, -1)), hit.reshape(RUNS, -1))
    alpha = counts / epochs
    assert alpha.max() <= 1
    scale = (many.R / many.lam)[:, None]
    assert (np.abs(weights(many, alpha) - W[-1]) <= 1e-12 * scale).all()
    t = np.arange(1, len(G) + 1)[:, None]
    value = many.paid(W[:-1], draws) - (G**2).sum(axis=2) / (2 * many.lam * t)
    assert dual(many, alpha) == pytest.approx(value.mean(axis=0), rel=1e-8, abs=1e-9)
    for r in range(0, RUNS, 100):
        p = HingeProblem(many.Z[r], np.ones(n), many.lam[r])
        given = draws[r] if k > 1 else draws[r, :, 0]
        run = pegasos(p, n_iter=len(given), batch_size=k, draws=given, project=False)
        assert pegasos_certificate(run).alpha == pytest.approx(alpha[r])


def test_cut_counts_of_any_draws_certify_every_point(solved):
    many, _, w_star, least = solved
    rng = np.random.default_rng(12)
    draws = rng.integers(N, size=(RUNS, 23, 1))
    for project in (False, True):
        W, _ = many.pegasos(draws, project)
        hit = np.einsum("rtkd,trd->rtk", many.batches(draws), W[:-1])[..., 0] < 1
        counts = np.zeros((RUNS, N))
        np.add.at(counts, (np.arange(RUNS)[:, None], draws[..., 0]), hit)
        alpha = N * counts / 23
        assert alpha.max() > 1
        value = dual(many, np.minimum(1, alpha))
        assert (value <= least + 1e-7).all()
        for point in (W[-1], W[:-1].mean(axis=0), w_star):
            P = many.objective(point)
            assert (P - least <= P - value + 1e-7 * np.maximum(1, P)).all()


def test_every_subgradient_is_a_certificate_and_every_certificate_of_margins_a_subgradient():
    rng, kinks = np.random.default_rng(13), 0
    for _ in range(RUNS):
        z, w = rng.integers(-2, 3, size=(4, 2)).astype(float), rng.integers(-2, 3, size=2)
        lam, m = float(rng.choice([0.25, 0.5, 2.0])), z @ w
        alpha = np.where(m == 1, some_alpha(rng, 4), m < 1)
        kinks += int((m == 1).sum())
        p = HingeProblem(z, np.ones(4), lam)
        g = lam * (w - p.weights(alpha))
        assert p.duality_gap(w, alpha) == pytest.approx(g @ g / (2 * lam), abs=1e-12)
        U = rng.normal(size=(10, 2)) * 3
        assert (p.objective(U) >= p.objective(w) + (U - w) @ g - 1e-12).all()
        assert p.objective(U).min() >= p.objective(w) - g @ g / (2 * lam) - 1e-12
    assert kinks > 200
