"""Statements of chapter 7 on generated data: 1,000 runs at once, without the library's solvers."""

from fractions import Fraction
from itertools import product
from math import comb, e, log, sqrt

import numpy as np
import pytest

from pegasos_lib.regret import bound_crossover, high_probability_bound

RUNS, N, D, T = 1000, 8, 3, 60
t_ = np.arange(1, T + 1)[:, None]


def generate(seed, runs=RUNS):
    """Draw problems: signed rows y_i x_i (runs, N, D), how many of them are used, lambda, R."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(runs, N, D)) + rng.normal(size=(runs, 1, D)) * rng.uniform(0, 1.5)
    Z *= 10 ** rng.uniform(-1, 1, size=(runs, 1, 1))
    Z[: runs // 3, :, 1:] = 0  # one feature, where examples oppose each other
    used = rng.integers(1, N + 1, size=runs)
    lam = 10 ** rng.uniform(-3, 0.5, size=runs)
    R = np.where(np.arange(N) < used[:, None], np.linalg.norm(Z, axis=2), 0).max(axis=1)
    return rng, Z, used, lam, R


def shorten(w, radius):
    """Project onto l2 balls."""
    return w * np.minimum(1, radius / np.maximum(np.linalg.norm(w, axis=-1), 1e-300))[..., None]


def into_l1(w, radius):
    """Project onto l1 balls, by sorting."""
    a = -np.sort(-np.abs(w), axis=1)
    excess = (np.cumsum(a, axis=1) - radius[:, None]) / np.arange(1, w.shape[1] + 1)
    threshold = np.maximum(0, np.where(a > excess, excess, -np.inf).max(axis=1))
    return np.sign(w) * np.maximum(0, np.abs(w) - threshold[:, None])


def name_batches(rng, margins, used, t):
    """Return weights (runs, N) of the batch that each run's adversary names; they add up to 1."""
    runs, free = len(used), np.arange(N) < used[:, None]
    one_hot = np.eye(N)
    pair = one_hot[rng.integers(used)] / 2 + one_hot[rng.integers(used)] / 2
    kinds = (
        one_hot[rng.integers(used)],
        pair,
        free / used[:, None],
        one_hot[(t - 1) % used],
        one_hot[np.where(free, margins, np.inf).argmin(axis=1)],
        one_hot[np.where(free, margins, -np.inf).argmax(axis=1)],
    )
    return np.array(kinds)[np.arange(runs) % len(kinds), np.arange(runs)]


def play(rng, Z, used, lam, step, project=lambda w: w, rounds=T):
    """Return w_1..w_{T+1} (T + 1, runs, D), the batches' weights, and g_1..g_T."""
    w = np.zeros((len(Z), Z.shape[2]))
    W, named, gradients = [w], [], []
    for t in range(1, rounds + 1):
        margins = np.einsum("rnd,rd->rn", Z, w)
        weights = name_batches(rng, margins, used, t)
        g = lam[:, None] * w - np.einsum("rn,rnd->rd", weights * (margins < 1), Z)
        w = project(w - step(t)[:, None] * g)
        W.append(w)
        named.append(weights)
        gradients.append(g)
    return np.array(W), np.array(named), np.array(gradients)


def costs(Z, lam, named, u):
    """Return f_t(u_t), shape (T, runs), for points (T, runs, D)."""
    losses = np.maximum(0, 1 - np.einsum("rnd,trd->trn", Z, u))
    return lam / 2 * (u**2).sum(axis=2) + (named * losses).sum(axis=2)


def regret(Z, lam, named, W, u):
    """Return the regret after each round against one u (runs, D)."""
    u = np.broadcast_to(u, W[:-1].shape)
    return np.cumsum(costs(Z, lam, named, W[:-1]) - costs(Z, lam, named, u), axis=0)


def minimise(Z, lam, p, beta, sweeps):
    """Minimise lam/2 |u|^2 + sum_i p_i max(0, 1 - <z_i, u>) by ascent in the dual, from beta."""
    u = np.einsum("rn,rnd->rd", beta * p, Z) / lam[:, None]
    squares = (Z**2).sum(axis=2)
    for _ in range(sweeps):
        for i in range(N):
            curvature = np.maximum(p[:, i] * squares[:, i], 1e-300)
            slack = 1 - (Z[:, i] * u).sum(axis=1)
            new = np.clip(beta[:, i] + lam * slack / curvature, 0, 1)
            new = np.where(p[:, i] > 0, new, beta[:, i])
            u += ((new - beta[:, i]) * p[:, i] / lam)[:, None] * Z[:, i]
            beta[:, i] = new
    return u


def certified(Z, lam, p, sweeps=200):
    """Return what `minimise` finds from 0, its value, and its duality gap."""
    beta = np.zeros(p.shape)
    u = minimise(Z, lam, p, beta, sweeps)
    value = lam / 2 * (u**2).sum(axis=1)
    dual = (p * beta).sum(axis=1) - value
    value = value + (p * np.maximum(0, 1 - np.einsum("rnd,rd->rn", Z, u))).sum(axis=1)
    return u, value, np.maximum(0, value - dual)


def least_growth(lam, u, best, gap):
    """Bound P(u) - P(best) from below by strong convexity; P(best) is within gap of the least."""
    far = np.maximum(0, np.linalg.norm(u - best, axis=1) - np.sqrt(2 * gap / lam))
    return lam / 2 * far**2 - gap


def hindsight(Z, lam, named):
    """Return the (nearly) best points for rounds 1..t, for every t: (T, runs, D)."""
    beta, points = np.zeros(named.shape[1:]), []
    for t, total in enumerate(np.cumsum(named, axis=0), start=1):
        points.append(minimise(Z, lam, total / t, beta, 3))
    return np.array(points)


def against_every_hindsight(Z, lam, named, W, points):
    """Return sum_{s<=t} f_s(w_s) - sum_{s<=t} f_s(u_t) for points u_t of the first t rounds."""
    total = np.cumsum(named, axis=0)
    losses = np.maximum(0, 1 - np.einsum("rnd,trd->trn", Z, points))
    best = t_ * lam / 2 * (points**2).sum(axis=2) + (total * losses).sum(axis=2)
    return np.cumsum(costs(Z, lam, named, W[:-1]), axis=0) - best


def inside(rng, runs, radius):
    u = rng.normal(size=(runs, D))
    return u * (rng.random(runs) ** 0.2 * radius / np.linalg.norm(u, axis=1))[:, None]


@pytest.fixture(scope="module", params=[True, False], ids=["projected", "free"])
def pegasos_runs(request):
    rng, Z, used, lam, R = generate(1)
    radius = lam**-0.5 if request.param else np.full(RUNS, np.inf)
    G = np.sqrt(lam) + R if request.param else 2 * R
    W, named, g = play(rng, Z, used, lam, lambda t: 1 / (lam * t), lambda w: shorten(w, radius))
    assert (np.linalg.norm(g, axis=2) <= G * (1 + 1e-9)).all()
    return rng, Z, used, lam, R, G, W, named, g, hindsight(Z, lam, named)


def test_lemma_1_holds_at_every_t_against_the_best_point_of_every_hindsight(pegasos_runs):
    rng, Z, _, lam, _, G, W, named, g, points = pegasos_runs
    bound = G**2 * (1 + np.log(t_)) / (2 * lam)
    sums = np.cumsum((g**2).sum(axis=2) / (2 * lam * t_), axis=0)
    measured = against_every_hindsight(Z, lam, named, W, points)
    sharp = sums - lam * t_ / 2 * ((W[1:] - points) ** 2).sum(axis=2)
    slack = 1e-9 * (1 + bound)
    assert (measured <= sharp + slack).all()
    assert (sharp <= bound + slack).all()
    assert 0.2 < (measured / bound).max() < 1
    assert (measured / np.maximum(sharp, 1e-9))[sharp > 1e-3].max() > 0.999, "never attained"
    for u in (np.zeros((RUNS, D)), inside(rng, RUNS, lam**-0.5), points[-1]):
        measured = regret(Z, lam, named, W, u)
        assert (measured <= sums - lam * t_ / 2 * ((W[1:] - u) ** 2).sum(axis=2) + slack).all()


def test_the_best_point_in_hindsight_lies_in_both_balls_and_others_pay_the_square(pegasos_runs):
    rng, Z, used, lam, R, _, W, named, _, points = pegasos_runs
    both = np.minimum(lam**-0.5, R / lam)
    assert (np.linalg.norm(points, axis=2) <= both * (1 + 1e-9)).all()  # any dual point's does
    best, _, gap = certified(Z, lam, named.mean(axis=0))
    free = (np.arange(N) < used[:, None]) / used[:, None]
    largest = regret(Z, lam, named, W, best)[-1]
    for u in (certified(Z, lam, free)[0], inside(rng, RUNS, lam**-0.5)):
        extra = largest - regret(Z, lam, named, W, u)[-1]
        growth = least_growth(lam, u, best, gap)
        assert (extra / T >= growth - 1e-9).all()
        assert (growth > 1e-3).mean() > 0.1


def test_hindsight_gains_a_constant_on_fresh_draws_in_the_exact_mean():
    _, Z, _, lam, _ = generate(15)
    n, rounds = 3, 4
    R = np.linalg.norm(Z[:, :n], axis=2).max(axis=1)
    draw = np.eye(N)[:n].mean(axis=0) * np.ones((RUNS, 1))
    star, _, star_gap = certified(Z, lam, draw, 60)
    gain, far, slack = np.zeros((3, RUNS))
    for counts in product(range(rounds + 1), repeat=n):  # how often each example came
        if sum(counts) != rounds:
            continue
        chance = comb(rounds, counts[0]) * comb(rounds - counts[0], counts[1]) / n**rounds
        named = np.array(counts + (0,) * (N - n)) / rounds * np.ones((RUNS, 1))
        best, least, gap = certified(Z, lam, named, 60)
        losses = np.maximum(0, 1 - np.einsum("rnd,rd->rn", Z, star))
        value = lam / 2 * (star**2).sum(axis=1) + (named * losses).sum(axis=1)
        gain += chance * rounds * (value - least)
        far += chance * ((best - star) ** 2).sum(axis=1)
        slack += chance * (rounds * gap + np.sqrt(2 * gap / lam) + np.sqrt(2 * star_gap / lam))
    assert (slack < 1e-3).mean() > 0.5, "too few are solved"
    good = slack < 1e-3
    assert (gain <= R**2 / (2 * lam) + 2 * slack)[good].all()
    assert (far <= R**2 / (lam**2 * rounds) * (1 + 1e-6))[good].all()
    assert (gain / (R**2 / (2 * lam)))[good].max() > 0.1
    assert (far / (R**2 / (lam**2 * rounds)))[good].max() > 0.1


def test_on_parabolas_lemma_1_is_an_equation_and_g_can_be_constant():
    rng = np.random.default_rng(2)
    lam, G = 10 ** rng.uniform(-2, 1, size=RUNS), 10 ** rng.uniform(-1, 1, size=RUNS)
    direction = rng.normal(size=(RUNS, D))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    H = np.cumsum(1 / t_, axis=0)
    assert ((np.log(t_) + 0.5772 < H) & (1 + np.log(t_) >= H)).all()
    for constant_g in (False, True):
        a, W = rng.normal(size=(T, RUNS, D)) * (G / lam)[:, None], np.zeros((T + 1, RUNS, D))
        for t in range(1, T + 1):
            if constant_g:
                a[t - 1] = W[t - 1] + (G / lam)[:, None] * direction
            W[t] = W[t - 1] - (W[t - 1] - a[t - 1]) / t  # the step 1/(lam t)
        means = np.cumsum(a, axis=0) / t_[..., None]
        assert np.allclose(W[1:], means, rtol=0, atol=1e-9 * np.abs(a).max())
        squares = np.cumsum(lam / (2 * t_) * ((W[:-1] - a) ** 2).sum(axis=2), axis=0)
        if constant_g:
            assert np.allclose(squares, G**2 / (2 * lam) * H, rtol=1e-9)
        paid = np.cumsum(lam / 2 * ((W[:-1] - a) ** 2).sum(axis=2), axis=0)
        u = rng.normal(size=(RUNS, D))
        of_u = np.cumsum(lam / 2 * ((a - u) ** 2).sum(axis=2), axis=0)
        far = lam * t_ / 2 * ((W[1:] - u) ** 2).sum(axis=2)
        assert np.allclose(paid - of_u, squares - far, rtol=1e-9, atol=1e-11 * (paid + of_u).max())
        spread = np.cumsum((a**2).sum(axis=2), axis=0) - t_ * (means**2).sum(axis=2)
        assert np.allclose(paid - lam / 2 * spread, squares, rtol=1e-7)


def test_the_alternating_labels_pay_a_logarithm_exactly():
    for lam in (Fraction(1, 100), Fraction(1, 3), Fraction(5)):
        w, paid = Fraction(0), Fraction(0)
        for t in range(1, 201):
            y = 1 if t % 2 else -1
            paid += lam / 2 * w**2 + max(0, 1 - y * w)
            w = (1 - Fraction(1, t)) * w + (y if y * w < 1 else 0) / (lam * t)
            if t % 2 == 0:
                assert w == 0
                formula = sum(Fraction(1, s) + Fraction(1, 2 * s * s) for s in range(1, t, 2)) / lam
                assert paid - t == formula > log(t) / (2 * lam)


@pytest.mark.parametrize("rule", ["D/(G sqrt t)", "kappa", "constant"])
def test_the_regret_of_subgradient_descent_obeys_its_bound_at_every_t(rule):
    rng, Z, used, lam, R = generate(3)
    radius = 10 ** rng.uniform(-1, 1, size=RUNS)
    diameter, G = 2 * radius, lam * radius + R
    kappa = 10 ** rng.uniform(-2, 2, size=RUNS)
    kappa[::4] = G[::4]  # the step as document 000 prints it
    step, bound = {
        "D/(G sqrt t)": (lambda t: diameter / (G * sqrt(t)), 1.5 * G * diameter * np.sqrt(t_)),
        "kappa": (
            lambda t: kappa / sqrt(t),
            (diameter**2 / (2 * kappa) + kappa * G**2) * np.sqrt(t_),
        ),
        "constant": (
            lambda t: diameter / (G * sqrt(T)),
            diameter * G * np.sqrt(T) / 2 * (1 + t_ / T),  # G D sqrt T at t = T
        ),
    }[rule]
    W, named, _ = play(rng, Z, used, lam, step, lambda w: shorten(w, radius))
    points = shorten(hindsight(Z, lam, named), radius)
    measured = [against_every_hindsight(Z, lam, named, W, points)]
    measured += [regret(Z, lam, named, W, u) for u in (shorten(-1e9 * W[-1], radius), W[-1])]
    assert (np.array(measured) <= bound * (1 + 1e-12)).all()
    assert np.max(measured / bound) > 0.1


def test_no_learner_beats_the_square_root_on_random_signs():
    for rounds in range(1, 300):
        mean = Fraction(sum(comb(rounds, j) * abs(rounds - 2 * j) for j in range(rounds + 1)))
        assert (mean / 2**rounds) ** 2 >= Fraction(rounds, 3)
    rng, rounds = np.random.default_rng(4), 7
    signs = np.array(list(product((1, -1), repeat=rounds)))
    prefix = np.array([[sum((s < 0) << j for j, s in enumerate(row[:t])) for t in range(rounds)]
                       for row in signs])  # fmt: skip
    for _ in range(1000):  # a learner is a table: a point of [-1, 1] for every past
        table = rng.uniform(-1, 1, size=(rounds, 2**rounds))
        W = table[np.arange(rounds), prefix]
        outcomes = (signs * W).sum(axis=1) + np.abs(signs.sum(axis=1))
        assert outcomes.mean() == pytest.approx(np.abs(signs.sum(axis=1)).mean())
        assert outcomes.max() >= 0.28 * 2 * sqrt(rounds)


def test_without_a_set_a_bounded_comparator_is_needed_and_enough():
    rng = np.random.default_rng(5)
    eta = 10 ** rng.uniform(-2, 1, size=RUNS)
    drift, start = rng.normal(size=(2, RUNS, D))
    w, inner, squares = start, 0.0, 0.0
    U = [rng.normal(size=(RUNS, D)) * 10, rng.normal(size=(RUNS, D)) - drift * T * eta[:, None]]
    for _ in range(T):
        g = rng.normal(size=(RUNS, D)) * 3 + drift
        inner = inner + np.array([(g * (w - u)).sum(axis=1) for u in U])
        squares = squares + (g**2).sum(axis=1)
        w = w - eta[:, None] * g
        bound = (
            np.array([((start - u) ** 2).sum(axis=1) for u in U]) / (2 * eta) + eta / 2 * squares
        )
        assert (inner <= bound * (1 + 1e-9)).all()
    assert (inner / bound).max() > 0.9
    for N_, G in ((10.0, 1.0), (1e6, 0.01)):  # |G <e, w - w_1> - N|: convex, slopes G, regret N
        direction, first = np.array([0.6, 0.8]), np.array([3.0, -1.0])
        u = first + N_ / G * direction
        f = [abs(G * (direction @ (point - first)) - N_) for point in (first, u)]
        assert f[0] == N_
        assert f[1] == pytest.approx(0, abs=1e-6 * N_)


def test_the_bounds_cross_once_and_for_all():
    rng = np.random.default_rng(6)
    for q in 10 ** rng.uniform(-2.5, 0.5, size=1000):
        lam, G = 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(-1, 1)
        diameter = q * G / (3 * lam)
        cross = bound_crossover(lam, G, diameter)
        steps = np.unique(np.geomspace(1, 1e9, 300).astype(int))
        log_bound = G**2 * (1 + np.log(steps)) / (2 * lam)
        below = log_bound <= 1.5 * G * diameter * np.sqrt(steps)
        assert (below == (1 + np.log(steps) <= q * np.sqrt(steps))).all()
        if q >= 2 / sqrt(e):
            assert cross == 1
            assert below.all()
        else:
            assert below[steps >= cross].all()
            near = (steps >= 3) & (steps < cross)  # back to sqrt e = 1.65
            assert not below[near].any()
            assert cross > e


@pytest.mark.parametrize("shape", ["l1 ball", "box"])
def test_lemma_1_holds_in_other_sets_at_every_t(shape):
    rng, Z, used, lam, R = generate(7)
    size = 10 ** rng.uniform(-1, 1, size=RUNS)
    if shape == "l1 ball":
        radius, project = size, lambda w: into_l1(w, size)
    else:  # from -1/2 to 1 times the size, in every coordinate
        radius = sqrt(D) * size
        project = lambda w: np.clip(w, -size[:, None] / 2, size[:, None])  # noqa: E731
    G = lam * radius + R
    W, named, g = play(rng, Z, used, lam, lambda t: 1 / (lam * t), project)
    bound = G**2 * (1 + np.log(t_)) / (2 * lam)
    sums = np.cumsum((g**2).sum(axis=2) / (2 * lam * t_), axis=0)
    for u in (
        project(hindsight(Z, lam, named)[-1]),
        project(inside(rng, RUNS, 10 * size)),
        0 * W[0],
    ):
        measured = regret(Z, lam, named, W, u)
        sharp = sums - lam * t_ / 2 * ((W[1:] - u) ** 2).sum(axis=2)
        assert (measured <= sharp + 1e-9 * (1 + bound)).all()
        assert (sharp <= bound * (1 + 1e-9)).all()
    if shape == "l1 ball":
        free = (np.arange(N) < used[:, None]) / used[:, None]
        star, least, gap = certified(Z, lam, free)
        wide = sqrt(D) * np.minimum(lam**-0.5, R / lam)
        assert (np.abs(star).sum(axis=1) <= wide * (1 + 1e-9)).all()
        for w in (into_l1(star, size), W[-1]):  # no point of the ball is nearly as good
            losses = np.maximum(0, 1 - np.einsum("rnd,rd->rn", Z, w))
            value = lam / 2 * (w**2).sum(axis=1) + (free * losses).sum(axis=1)
            growth = least_growth(lam, w, star, gap)
            assert (value - least >= growth - 1e-9).all()
            assert (growth > 1e-3).mean() > 0.1


def test_online_to_batch_is_exact_for_any_learner():
    rng, rounds, n = np.random.default_rng(8), 4, 3
    draws = np.array(list(product(range(n), repeat=rounds)))
    past = np.array([[sum(i * n**j for j, i in enumerate(row[:t])) for t in range(rounds)]
                     for row in draws])  # fmt: skip
    for _ in range(1000):
        Z, lam = rng.normal(size=(n, 2)) * 2, 10 ** rng.uniform(-2, 0.5)
        W = rng.normal(size=(rounds, n**rounds, 2))[
            np.arange(rounds), past
        ]  # a point for each past
        u = rng.normal(size=2)

        def P(w, Z=Z, lam=lam):
            return lam / 2 * (w**2).sum(axis=-1) + np.maximum(0, 1 - w @ Z.T).mean(axis=-1)

        def f(w, Z=Z[draws], lam=lam):
            return lam / 2 * (w**2).sum(axis=-1) + np.maximum(0, 1 - (w * Z).sum(axis=-1))

        of_regret = (f(W) - f(u)).sum(axis=1).mean() / rounds
        assert P(W).mean() - P(u) == pytest.approx(of_regret, abs=1e-12)
        assert P(W.mean(axis=1)).mean() - P(u) <= of_regret + 1e-12


def optimum(Z, lam):
    """Return w* and P* of problems that use all N examples."""
    return certified(Z, lam, np.full(Z.shape[:2], 1 / N))[:2]


def primal(Z, lam, w):
    losses = np.maximum(0, 1 - np.einsum("rnd,rd->rn", Z, w))
    return lam / 2 * (w**2).sum(axis=1) + losses.mean(axis=1)


@pytest.mark.parametrize("project", [True, False])
def test_the_exponential_of_one_step_is_at_most_what_the_proof_says(project):
    rng, Z, _, lam, _ = generate(9)
    R = np.linalg.norm(Z, axis=2).max(axis=1)
    G, radius = (np.sqrt(lam) + R, lam**-0.5) if project else (2 * R, R / lam)
    star, _ = optimum(Z, lam)
    for w in (
        inside(rng, RUNS, radius),
        shorten(-1e9 * star, radius),
        shorten(1.01 * star, radius),
    ):
        costs_of = [
            lam[:, None] / 2 * (point**2).sum(axis=1)[:, None]
            + np.maximum(0, 1 - np.einsum("rnd,rd->rn", Z, point))
            for point in (w, star)
        ]
        paid, far = costs_of[0] - costs_of[1], np.linalg.norm(w - star, axis=1)
        assert (np.abs(paid) <= (G * far)[:, None] * (1 + 1e-9)).all()
        xi = (lam / (4 * G**2))[:, None] * (paid.mean(axis=1, keepdims=True) - paid)
        assert xi.max() <= 1
        # A mean gap of at least lam/2 far^2 (strong convexity) makes this the bound of the proof.
        allowed = np.exp((e - 2) * (lam * far / (4 * G)) ** 2)
        assert (np.exp(xi).mean(axis=1) <= allowed * (1 + 1e-12)).all()


@pytest.mark.parametrize("project", [True, False])
def test_the_high_probability_bound_holds_for_all_t_at_once(project):
    rng, Z, _, lam, _ = generate(10, runs=20)
    R = np.linalg.norm(Z, axis=2).max(axis=1)
    _, floor = optimum(Z, lam)
    runs, rounds = 200, 300
    Z, lam, R = np.repeat(Z, runs, 0), np.repeat(lam, runs), np.repeat(R, runs)
    floor = np.repeat(floor, runs)
    G, radius = (np.sqrt(lam) + R, lam**-0.5) if project else (2 * R, np.full(len(R), np.inf))
    w, total = np.zeros((len(Z), D)), np.zeros(len(Z))
    broken = {delta: np.zeros(len(Z), bool) for delta in (0.5, 0.1, 0.01)}
    worst = 0.0
    for t in range(1, rounds + 1):
        total += primal(Z, lam, w) - floor
        for delta, bad in broken.items():
            factor = high_probability_bound(t, 1.0, 1.0, delta)
            bad |= total / t > G**2 / lam * factor
        worst = max(worst, (total / t / (G**2 / lam * factor)).max())
        z = Z[np.arange(len(Z)), rng.integers(N, size=len(Z))]
        hit = (z * w).sum(axis=1) < 1
        w = shorten((1 - 1 / t) * w + hit[:, None] * z / (lam * t)[:, None], radius)
    for delta, bad in broken.items():
        assert bad.reshape(20, runs).mean(axis=1).max() <= delta, (delta, worst)


@pytest.mark.parametrize("project", [True, False])
def test_the_gap_is_at_most_the_slope_times_the_distance(project):
    rng, Z, _, lam, _ = generate(11)
    R = np.linalg.norm(Z, axis=2).max(axis=1)
    G, radius = (np.sqrt(lam) + R, lam**-0.5) if project else (2 * R, R / lam)
    star, floor = optimum(Z, lam)
    for w in (inside(rng, RUNS, radius), shorten(-1e9 * star, radius)):
        far = np.linalg.norm(w - star, axis=1)
        assert (primal(Z, lam, w) - floor <= G * far * (1 + 1e-9)).all()


@pytest.mark.parametrize("project", [True, False])
def test_the_weighted_regret_has_no_logarithm_at_every_t(project):
    rng, Z, used, lam, R = generate(12)
    G, radius = (np.sqrt(lam) + R, lam**-0.5) if project else (2 * R, np.full(RUNS, np.inf))
    W, named, g = play(
        rng, Z, used, lam, lambda t: 2 / (lam * (t + 1)), lambda w: shorten(w, radius)
    )
    assert (np.linalg.norm(g, axis=2) <= G * (1 + 1e-9)).all()
    best = hindsight(Z, lam, named)[-1]
    for u in (best, 0 * best, inside(rng, RUNS, lam**-0.5)):
        rounds = np.diff(regret(Z, lam, named, W, u), axis=0, prepend=0)
        weighted = np.cumsum(t_ * rounds, axis=0)
        first = t_ * G**2 / lam
        bound = first - lam / 4 * t_ * (t_ + 1) * ((W[1:] - u) ** 2).sum(axis=2)
        assert (weighted <= bound + 1e-9 * (1 + first)).all()
    assert (weighted / first).max() > 0.05


def all_runs(seed, project, step, rounds=6):
    """Yield t, w_{t+1} and the t-weighted average of all runs of 1,000 problems of two examples.

    With them come lam, c = G^2, w*, and P, whose mean over the runs is taken.
    """
    rng = np.random.default_rng(seed)
    Z = np.zeros((RUNS, N, D))
    Z[:, :2] = rng.normal(size=(RUNS, 2, D)) * 10 ** rng.uniform(-1, 1, size=(RUNS, 1, 1))
    lam, R = 10 ** rng.uniform(-2, 0.5, size=RUNS), np.linalg.norm(Z, axis=2).max(axis=1)
    G, radius = (np.sqrt(lam) + R, lam**-0.5) if project else (2 * R, np.full(RUNS, np.inf))
    star = certified(Z, lam, np.array([0.5] * 2 + [0.0] * (N - 2)) * np.ones((RUNS, 1)))[0]
    Z, lam_ = Z[:, None, :2], lam[:, None]

    def P(w):
        losses = np.maximum(0, 1 - (Z * w[:, :, None]).sum(axis=-1))
        return (lam_ / 2 * (w**2).sum(axis=-1) + losses.mean(axis=-1)).mean(axis=1)

    w = total = np.zeros((RUNS, 1, D))
    for t in range(1, rounds + 1):
        total = total + t * w
        hit = (Z * w[:, :, None]).sum(axis=-1, keepdims=True) < 1
        g = lam_[..., None, None] * w[:, :, None] - hit * Z  # (runs, sequences, 2, D)
        w = w[:, :, None] - step(t) / lam_[..., None, None] * g
        w = shorten(w.reshape(RUNS, -1, D), radius[:, None])
        yield t, w, total * 2 / (t * (t + 1)), lam, G**2, star[:, None], P
        total = np.repeat(total, 2, axis=1)


@pytest.mark.parametrize("project", [True, False])
def test_the_weighted_average_obeys_its_bound_in_the_exact_mean(project):
    for t, w, average, lam, c, star, P in all_runs(13, project, lambda t: 2 / (t + 1)):
        far = lam / 2 * ((w - star) ** 2).sum(axis=2).mean(axis=1)
        gap = P(average) - P(star)
        assert (gap + far <= 2 * c / (lam * (t + 1)) * (1 + 1e-9)).all()


@pytest.mark.parametrize("project", [True, False])
def test_the_last_iterate_obeys_its_bound_in_the_exact_mean(project):
    for t, w, _, lam, c, star, P in all_runs(14, project, lambda t: 1 / t):
        assert (P(w) - P(star) <= c / lam * sqrt((1 + log(t)) / t)).all()
