"""Statements of chapter 8 on generated data: 1,000 runs at once, without the library's solvers."""

import json
from bisect import bisect_right
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

RUNS, D, T = 1000, 4, 50
RACE = Path(__file__).parents[2] / "book" / "_data" / "race.json"
ONLINE = ("SGD", "SMD", "SEG±", "AdaGrad", "Pegasos")


def shorten(w, radius):
    """Project onto l2 balls."""
    return w * np.minimum(1, radius / np.maximum(np.linalg.norm(w, axis=-1), 1e-300))[..., None]


def into_l1(w, radius, weights=None):
    """Project onto l1 balls, in a weighted norm, by bisection of the threshold."""
    weights = np.ones_like(w) if weights is None else weights
    inverse = 1 / np.maximum(weights, 1e-12)
    low, high = np.zeros(len(w)), (np.abs(w) / inverse).max(axis=1) + 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        size = np.maximum(0, np.abs(w) - middle[:, None] * inverse).sum(axis=1)
        low, high = np.where(size > radius, middle, low), np.where(size > radius, high, middle)
    inside = np.abs(w).sum(axis=1) <= radius
    shrunk = np.sign(w) * np.maximum(0, np.abs(w) - high[:, None] * inverse)
    return np.where(inside[:, None], w, shrunk)


def name_gradient(rng, w, kind, number):
    """Return linear losses (runs, D), some drawn, some that always oppose where w is."""
    drawn = rng.normal(size=w.shape)
    against = np.sign(w) + 0.1 * rng.normal(size=w.shape)
    steady = np.broadcast_to(np.eye(D)[0] - 0.3, w.shape)
    turning = steady * (1 if number <= T // 2 else -1)
    return np.array([drawn, against, steady, turning])[kind, np.arange(len(w))]


def play(seed, follow, r, scale=1.0):
    """Let `follow(gradients so far, w)` name w_1..w_T; return them and the gradients."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=RUNS)
    size = scale * 10 ** rng.uniform(-1, 1, size=(RUNS, 1))
    W, g = [], np.zeros((0, RUNS, D))
    for number in range(1, T + 1):
        W.append(follow(g, W))
        new = size * name_gradient(rng, W[-1], kind, number)
        g = np.concatenate([g, new[None]])
    return np.array(W), g


def points(seed, r):
    """Return comparators in the l1 balls: 0, corners, and points between."""
    rng = np.random.default_rng([seed, 1])
    corners = np.eye(D)[rng.integers(D, size=RUNS)] * rng.choice([-1, 1], size=(RUNS, 1))
    between = into_l1(rng.normal(size=(RUNS, D)), np.ones(RUNS))
    return [np.zeros((RUNS, D)), r[:, None] * corners, r[:, None] * between]


def linear_regret(W, g, u):
    """Return sum_{s<=t} <g_s, w_s - u> for all t."""
    return np.einsum("trd,trd->tr", g, W - u).cumsum(axis=0)


def best_corner(g, r):
    """Return the point of the l1 ball that is best in hindsight for linear losses."""
    total = g.sum(axis=0)
    j = np.abs(total).argmax(axis=1)
    u = np.zeros_like(total)
    u[np.arange(RUNS), j] = -r * np.sign(total[np.arange(RUNS), j])
    return u


def radii(seed):
    return 10 ** np.random.default_rng([seed, 2]).uniform(-1, 1, size=RUNS)


def test_laziness_costs_no_more_for_a_mirror_map_that_is_not_euclidean():
    # psi = 1/2 sum_j a_j w_j^2 is 1-strongly convex for its own norm, whose dual has 1/a_j.
    r, rng = radii(1), np.random.default_rng(1)
    a, eta = 10 ** rng.uniform(-1, 1, size=(RUNS, D)), 10 ** rng.uniform(-2, 1, size=RUNS)
    box = r[:, None]
    W, g = play(1, lambda g, W: np.clip(-eta[:, None] * g.sum(axis=0) / a, -box, box), r)
    squares = (g**2 / a).sum(axis=2).cumsum(axis=0)
    largest = 0.0
    for u in (*points(1, r), -box * np.sign(g.sum(axis=0))):
        bound = (a * u**2).sum(axis=1) / (2 * eta) + eta / 2 * squares
        measured = linear_regret(W, g, u)
        assert (measured <= bound * (1 + 1e-9) + 1e-12).all()
        largest = max(largest, (measured / np.maximum(bound, 1e-300)).max())
    assert largest > 0.9  # nothing much smaller would hold


@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_lazy_mirror_descent_keeps_its_bound_in_both_balls(ball):
    r = radii(2)
    onto = (lambda w: shorten(w, r)) if ball == "l2" else (lambda w: into_l1(w, r))
    # A first play, with any step, only to learn how long the gradients of this seed get.
    G = 10.0 * 2.5 * sqrt(D) * 2
    eta = (r / (G * sqrt(T)))[:, None]
    W, g = play(2, lambda g, W: onto(-eta * g.sum(axis=0)), r)
    longest = np.linalg.norm(g, axis=2).max()
    assert longest <= G
    size = np.linalg.norm(W, axis=2) if ball == "l2" else np.abs(W).sum(axis=2)
    assert (size <= r * (1 + 1e-9)).all()
    for u in (*points(2, r), best_corner(g, r)):
        assert (linear_regret(W, g, u)[-1] <= G * r * sqrt(T)).all()
    # With the step for the length that they have, the bound is met to a factor.
    own = np.linalg.norm(g, axis=2).max(axis=0)
    step = (r / (own * sqrt(T)))[:, None]
    W = np.array([onto(-step * g[:t].sum(axis=0)) for t in range(T)])
    ratio = linear_regret(W, g, best_corner(g, r))[-1] / (own * r * sqrt(T))
    assert 0.3 < ratio.max() <= 1 + 1e-9


def test_exponentiated_gradient_keeps_its_bound_and_stays_in_the_ball():
    r, eta = radii(3), 10 ** np.random.default_rng(3).uniform(-2, 0.5, size=RUNS)

    def follow(g, _):
        exponent = eta[:, None] * r[:, None] * g.sum(axis=0)
        both = np.concatenate([-exponent, exponent], axis=1)
        theta = np.exp(both - both.max(axis=1, keepdims=True))
        theta /= theta.sum(axis=1, keepdims=True)
        return r[:, None] * (theta[:, :D] - theta[:, D:])

    W, g = play(3, follow, r)
    assert (np.abs(W).sum(axis=2) <= r * (1 + 1e-12)).all()
    largest_entry = np.abs(g).max(axis=(0, 2))
    bound = log(2 * D) / eta + eta / 2 * r**2 * largest_entry**2 * T
    ratios = [linear_regret(W, g, u)[-1] / bound for u in (*points(3, r), best_corner(g, r))]
    assert np.max(ratios) <= 1 + 1e-9
    eta = np.sqrt(2 * log(2 * D) / T) / (r * largest_entry)
    W = np.array([follow(g[:t], None) for t in range(T)])
    ratio = linear_regret(W, g, best_corner(g, r))[-1]
    ratio /= r * largest_entry * sqrt(2 * T * log(2 * D))
    assert 0.2 < ratio.max() <= 1 + 1e-9


def test_the_entropy_is_strongly_convex_for_the_l1_norm():
    rng = np.random.default_rng(4)
    p, q = (rng.dirichlet(np.full(6, alpha), size=5000) for alpha in (0.3, 1.0))
    p[:50] = q[:50] * (1 + 1e-4 * rng.normal(size=(50, 6)))
    p[:50] /= p[:50].sum(axis=1, keepdims=True)

    def entropy(x):
        return np.where(x > 0, x * np.log(np.maximum(x, 1e-300)), 0).sum(axis=1)

    for theta in (0.1, 0.5, 0.8):
        left = entropy((1 - theta) * p + theta * q)
        apart = np.abs(p - q).sum(axis=1) ** 2
        right = (1 - theta) * entropy(p) + theta * entropy(q) - theta * (1 - theta) / 2 * apart
        assert (left <= right + 1e-12).all()
    two = np.array([[0.5 + 1e-3, 0.5 - 1e-3]]), np.array([[0.5 - 1e-3, 0.5 + 1e-3]])
    excess = (entropy(two[0]) + entropy(two[1])) / 2 - entropy((two[0] + two[1]) / 2)
    apart = np.abs(two[0] - two[1]).sum() ** 2
    assert excess[0] == pytest.approx(apart / 8, rel=1e-4)  # no larger constant holds


@pytest.mark.parametrize("kind", ["box", "l1"])
def test_adagrad_keeps_its_bound_for_every_step(kind):
    r, eta = radii(5), 10 ** np.random.default_rng(5).uniform(-1, 1, size=RUNS)
    idle = np.arange(RUNS) < RUNS // 4  # a coordinate that is never pushed

    def follow(g, W):
        if not len(g):
            return np.zeros((RUNS, D))
        g = np.where(idle[:, None] & (np.arange(D) == 3), 0, g)
        root = np.sqrt((g**2).sum(axis=0))
        step = np.divide(g[-1], root, out=np.zeros_like(root), where=root > 0)
        w = W[-1] - (eta * r)[:, None] * step
        return np.clip(w, -r[:, None], r[:, None]) if kind == "box" else into_l1(w, r, root)

    W, g = play(5, follow, r)
    g = np.where(idle[:, None] & (np.arange(D) == 3), 0, g)
    assert (np.abs(W[:, idle, 3]) == 0).all()
    roots = np.sqrt((g**2).cumsum(axis=0)).sum(axis=2)
    largest = 0.0
    for u in (*points(5, r), best_corner(g, r)):
        far = np.maximum.accumulate(np.abs(W - u).max(axis=2), axis=0)
        bound = (far**2 / (2 * eta * r) + eta * r) * roots
        measured = linear_regret(W, g, u)
        assert (measured <= bound * (1 + 1e-7) + 1e-12).all()
        largest = max(largest, (measured / np.maximum(bound, 1e-300)).max())
    assert largest > 0.4
    a = 10 ** np.random.default_rng(6).uniform(-9, 3, size=10_000)
    b = a * np.random.default_rng(7).random(10_000)
    assert ((a - b) / np.sqrt(a) <= 2 * (np.sqrt(a) - np.sqrt(b)) + 1e-12 * np.sqrt(a)).all()


def test_the_certificate_in_a_ball_never_exceeds_p_and_closes():
    tightest = 0.0
    for number in range(10):
        rng = np.random.default_rng([8, number])
        n, r, lam = int(rng.integers(1, 9)), 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-2, 0)
        Z = rng.normal(size=(n, 3)) + rng.normal(size=3)

        def onto(v, r=r):
            return into_l1(v[None], np.array([r]))[0]

        def dual(alpha, Z=Z, n=n, lam=lam, onto=onto):
            v = alpha @ Z / (lam * n)
            u = onto(v)
            return alpha.mean() + lam / 2 * (u @ u) - lam * (u @ v), u

        def primal(w, Z=Z, lam=lam):
            return lam / 2 * (w @ w) + np.maximum(0, 1 - Z @ w).mean()

        for _ in range(20):
            below, u = dual(rng.random(n))
            w = onto(rng.normal(size=3) * r)
            assert below <= min(primal(w), primal(u)) + 1e-10
        found = minimize(
            lambda alpha, Z=Z, n=n, dual=dual: (-dual(alpha)[0], -(1 - Z @ dual(alpha)[1]) / n),
            np.full(n, 0.5), jac=True, bounds=[(0, 1)] * n, method="L-BFGS-B",
            options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 150},
        )  # fmt: skip
        best, u = dual(found.x)
        polished = minimize(
            lambda p, primal=primal: primal(p[:3] - p[3:]), np.maximum(0, [*u, *-u]),
            bounds=[(0, r)] * 6, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda p, r=r: r - p.sum()},
        )  # fmt: skip
        gap = min(primal(u), polished.fun if polished.success else np.inf) - best
        assert gap >= -1e-7
        tightest += gap < 1e-3
    assert tightest >= 9


def test_brighter_pixels_are_the_same_run_at_another_lambda():
    rng = np.random.default_rng(9)
    Z = rng.normal(size=(RUNS, 6, D)) * 10 ** rng.uniform(-1, 1, size=(RUNS, 1, 1))
    lam, rho = 10 ** rng.uniform(-3, 0, size=RUNS), 10 ** rng.uniform(-2, 3, size=RUNS)
    draws = rng.integers(6, size=(T, RUNS))

    def pegasos(Z, lam, radius):
        w, path = np.zeros((RUNS, D)), []
        for t, i in enumerate(draws, start=1):
            x = Z[np.arange(RUNS), i]
            hit = (np.einsum("rd,rd->r", w, x) < 1)[:, None]
            w = shorten((1 - 1 / t) * w + hit * x / (lam * t)[:, None], radius)
            path.append(w)
        return np.array(path)

    plain = pegasos(Z, lam, lam**-0.5)
    bright = pegasos(rho[:, None, None] * Z, rho**2 * lam, (rho**2 * lam) ** -0.5)
    np.testing.assert_allclose(
        rho[:, None] * bright, plain, rtol=1e-8, atol=1e-8 * np.abs(plain).max()
    )
    kept = pegasos(rho[:, None, None] * Z, rho**2 * lam, lam**-0.5)  # a ball that is not rescaled
    assert np.abs(rho[:, None] * kept - plain).max() > 1e-3


def test_the_words_on_the_race_say_what_was_measured():
    race = json.loads(RACE.read_text(encoding="utf-8"))["results"]
    runs = {(r["optimizer"], r["lam"], r["set"], r["output"]): r for r in race["runs"]}
    batch, online = race["iterations"]["batch"], race["iterations"]["online"]

    def curve(name, lam, output, kind="l1", key="suboptimality"):
        return np.array(runs[name, lam, "own" if name == "GD" else kind, output][key]["median"])

    # Figure 3.1: at a small lambda Pegasos is the lower one within the first hundred steps only.
    below = {
        (lam, output): curve("Pegasos", lam, output) < curve("SGD", lam, output)
        for lam in race["lams"]
        for output in ("average", "last")
    }
    assert [case for case, lower in below.items() if lower.all()] == [(10, "last")]
    for output in ("average", "last"):
        lower = np.array(online)[below[0.001, output]]
        assert len(lower) > 0
        assert lower.max() < 110

    # Figure 3.2: by steps both GDs are ahead from some step on, but for the average of GD.
    def near(name, output, steps):
        """Return the least of an online solver's values that were kept around so many steps."""
        at = bisect_right(online, steps)
        return curve(name, 0.1, output)[at - 1 : at + 1].min()

    for name, output, first in (
        ("GD", "last", 16),
        ("projected GD", "last", 16),
        ("projected GD", "average", 2),
    ):
        for steps, reached in zip(batch, curve(name, 0.1, output), strict=True):
            if steps >= first:
                assert reached < min(near(other, output, steps) for other in ONLINE)
    behind = curve("GD", 0.1, "average")[-1]
    assert [name for name in ONLINE if near(name, "average", 100) > behind] == ["SEG±"]
    ends = {
        output: {n: curve(n, 0.1, output)[-1] for n in ONLINE} for output in ("average", "last")
    }
    assert sorted(ends["average"], key=ends["average"].get)[:2] == ["SMD", "Pegasos"]
    assert min(ends["last"], key=ends["last"].get) == "Pegasos"
    assert all(max(end, key=end.get) == "AdaGrad" for end in ends.values())
    for lam in race["lams"]:
        own = {n: curve(n, lam, "average", "l1" if n == "SEG±" else "own")[-1] for n in ONLINE}
        assert sorted(own, key=own.get).index("AdaGrad") < 3

    # Figure 3.4: the larger lambda, the lower the end; at 10 only the objective moves.
    last = [curve("Pegasos", lam, "average")[-1] for lam in race["lams"]]
    assert last == sorted(last, reverse=True)
    for output in ("average", "last"):
        at_start = 1 - race["optimum"]["10"]["l1"]["P"]
        assert curve("Pegasos", 10, output)[-1] < at_start / 1000
        accuracy = curve("Pegasos", 10, output, key="accuracy")[1:]
        assert np.abs(accuracy - race["baseline"]).max() < 1e-3
