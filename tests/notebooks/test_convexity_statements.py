"""The statements of chapter 2, on generated functions that the chapter does not use."""

import numpy as np
import pytest

from pegasos_lib import HingeProblem, sdca

INSTANCES = 1000


class Bowl:
    """A maximum of planes plus a quadratic form: convex, with a known modulus and gradients."""

    def __init__(self, rng, d, *, planes=3, mu=0.0):
        self.A, self.a = rng.normal(size=(planes, d)), rng.normal(size=planes)
        root = rng.normal(size=(d, d))
        self.Q = root @ root.T * rng.uniform(0, 1) + mu * np.eye(d)
        self.mu = np.linalg.eigvalsh(self.Q).min()

    def __call__(self, w):
        bend = np.einsum("...i,ij,...j->...", w, self.Q, w) / 2
        return bend + (w @ self.A.T + self.a).max(axis=-1, initial=-np.inf)


class LogSumExp:
    """log of a sum of exponentials of planes: convex, smooth, with a gradient and a Hessian."""

    def __init__(self, rng, d):
        self.A, self.a = rng.normal(size=(5, d)), rng.normal(size=5)

    def parts(self, w):
        e = np.exp(w @ self.A.T + self.a)
        return e / e.sum(axis=-1, keepdims=True)

    def __call__(self, w):
        return np.log(np.exp(w @ self.A.T + self.a).sum(axis=-1))

    def gradient(self, w):
        return self.parts(w) @ self.A

    def hessian(self, w):
        p = self.parts(w)
        return self.A.T @ (np.diag(p) - np.outer(p, p)) @ self.A


def bowls(seed, *, largest=4, **options):
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        d = int(rng.integers(1, largest + 1))
        yield Bowl(rng, d, **options), d, rng


def gaps(f, u, w, theta):
    part = theta[:, None]
    return theta * f(u) + (1 - theta) * f(w) - f(part * u + (1 - part) * w)


def chords(rng, d, n=50):
    u, w = rng.normal(scale=2, size=(2, n, d))
    return u, w, rng.uniform(size=n)


def dent(w):
    """Evaluate a function that is not convex: the checks must be able to fail."""
    return np.sin(3 * w).sum(axis=-1)


def test_balls_half_spaces_and_intersections_hold_their_segments():
    rng = np.random.default_rng(0)
    for _ in range(INSTANCES):
        d = int(rng.integers(1, 6))
        centre, h, level = rng.normal(size=d), rng.normal(size=d), rng.normal()
        points = rng.normal(scale=2, size=(400, d))

        def ball(p, centre=centre):
            return np.linalg.norm(p - centre, axis=1) <= 2 + 1e-12

        def half(p, h=h, level=level):
            return p @ h <= level + 1e-12

        for inside in (ball, half, lambda p: ball(p) & half(p)):
            chosen = points[inside(points)]
            if len(chosen) < 2:
                continue
            u, w = rng.choice(chosen, size=(2, 300))
            theta = rng.uniform(size=(300, 1))
            assert inside(theta * u + (1 - theta) * w).all()


def test_a_line_beyond_its_segment_is_not_above_a_convex_function():
    for f, d, rng in bowls(1):
        u, w, _ = chords(rng, d)
        for s in (rng.uniform(1, 4, size=50), rng.uniform(-3, 0, size=50)):
            line = f(w) + s * (f(u) - f(w))
            assert (f(w + s[:, None] * (u - w)) >= line - 1e-9 * (1 + np.abs(line))).all()
    assert dent(np.array([np.pi / 2])) < 1.5 * dent(np.array([np.pi / 6]))  # and it can fail


def test_convex_means_a_convex_epigraph():
    for f, d, rng in bowls(2):
        u, w, theta = chords(rng, d)
        above_u, above_w = f(u) + rng.exponential(size=50), f(w) + rng.exponential(size=50)
        z = theta[:, None] * u + (1 - theta)[:, None] * w
        assert (theta * above_u + (1 - theta) * above_w >= f(z) - 1e-9).all()
        level = np.median(f(u))
        low = u[f(u) <= level]
        assert (f((low[:, None] + low[None]) / 2) <= level + 1e-9).all()
    p, q = np.array([np.pi / 6 - 0.4]), np.array([np.pi / 6 + 0.4])
    assert (dent(p) + dent(q)) / 2 < dent((p + q) / 2)  # no convex epigraph


def test_jensen_holds_for_random_averages():
    for f, d, rng in bowls(3):
        W = rng.normal(scale=2, size=(int(rng.integers(1, 40)), d))
        theta = rng.dirichlet(np.full(len(W), 0.5))
        assert f(theta @ W) <= theta @ f(W) + 1e-9
        assert f(W.mean(axis=0)) <= f(W).mean() + 1e-9


def test_descending_to_a_local_minimum_finds_the_global_one():
    grid = np.linspace(-4, 4, 801)[:, None]
    for f, _, _ in bowls(4, largest=1):
        values = f(grid)
        local = np.flatnonzero(
            (values[1:-1] <= values[:-2] - 1e-12) & (values[1:-1] <= values[2:] - 1e-12)
        )
        assert len(local) <= 1
        assert (values[1:-1][local] == values.min()).all()
    values = dent(grid) + 0.1 * grid[:, 0]  # a non-convex function has false ones
    local = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    assert (values[1:-1][local] > values.min() + 0.1).any()


def test_strongly_convex_functions_grow_away_from_their_one_minimiser():
    rng = np.random.default_rng(5)
    low, high = -1.0, 1.0  # a closed convex set: a box
    for d in (1, 2, 3, 4):
        family = [Bowl(rng, d, planes=1, mu=rng.uniform(0.1, 2)) for _ in range(INSTANCES // 4)]
        Q, A = np.array([f.Q for f in family]), np.array([f.A[0] for f in family])
        step = 1 / np.linalg.eigvalsh(Q).max(axis=1, keepdims=True)
        W = np.zeros((len(family), d))
        for _ in range(1000):  # all of them at once
            W = np.clip(W - step * (np.einsum("rij,rj->ri", Q, W) + A), low, high)
        for f, w in zip(family, W, strict=True):
            others = rng.uniform(low, high, size=(50, d))
            growth = f.mu / 2 * ((others - w) ** 2).sum(axis=1)
            assert (f(others) >= f(w) + growth - 1e-9).all()


def test_tangents_lie_below_and_hessians_are_positive_semidefinite():
    rng = np.random.default_rng(6)
    for _ in range(INSTANCES):
        d = int(rng.integers(1, 5))
        f = LogSumExp(rng, d)
        u, w, theta = chords(rng, d)
        tangent = f(w) + (f.gradient(w) * (u - w)).sum(axis=1)
        assert (f(u) >= tangent - 1e-9).all()
        assert (gaps(f, u, w, theta) >= -1e-9).all()
        assert np.linalg.eigvalsh(f.hessian(w[0])).min() >= -1e-10
        h, s = rng.normal(size=d), 1e-3
        second = (f(w[0] + s * h) + f(w[0] - s * h) - 2 * f(w[0])) / s**2
        assert second == pytest.approx(h @ f.hessian(w[0]) @ h, abs=1e-3 * (1 + h @ h) ** 2)


def test_the_second_derivative_decides_for_polynomials():
    rng = np.random.default_rng(7)
    seen = set()
    x = np.linspace(-1, 1, 2001)
    for _ in range(INSTANCES):
        p = np.polynomial.Polynomial(rng.normal(size=5) * [1, 1, 1, 0.3, 0.3])
        least = p.deriv(2)(x).min()
        if abs(least) < 0.05:
            continue
        u, w = rng.uniform(-1, 1, size=(2, 4000))
        lowest = np.argmin(p.deriv(2)(x))
        u[:2], w[:2] = np.clip(x[lowest] + [-0.01, 0.02], -1, 1), np.clip(x[lowest] - 0.02, -1, 1)
        gap = (p(u) + p(w)) / 2 - p((u + w) / 2)
        convex = bool((gap >= -1e-12).all())
        assert convex == (least > 0)
        seen.add(convex)
    assert seen == {True, False}


def test_four_ways_to_say_strongly_convex_agree():
    for f, d, rng in bowls(8, planes=1, mu=0.2):
        u, w, theta = chords(rng, d)
        distance2 = ((u - w) ** 2).sum(axis=1)
        gradient = w @ f.Q + f.A[0]
        for mu, holds in ((f.mu, True), (1.01 * f.mu + 0.01, False)):
            direction = np.linalg.eigh(f.Q)[1][:, 0]  # where f is flattest
            u2 = w + direction if not holds else u
            d2 = np.ones(50) if not holds else distance2
            by_gap = gaps(f, u2, w, theta) - mu / 2 * theta * (1 - theta) * d2
            rest = gaps(lambda v, mu=mu, f=f: f(v) - mu / 2 * (v**2).sum(-1), u2, w, theta)
            by_tangent = f(u2) - f(w) - (gradient * (u2 - w)).sum(axis=1) - mu / 2 * d2
            by_hessian = np.linalg.eigvalsh(f.Q).min() - mu
            for margin in (by_gap, rest, by_tangent, np.array([by_hessian])):
                assert bool((margin >= -1e-9).all()) is holds


def test_the_rules_keep_convexity():
    for f, d, rng in bowls(9):
        g, A, a = Bowl(rng, d), rng.normal(size=(d, d)), rng.normal(size=d)
        q = rng.uniform(0, 3, size=2)
        u, w, theta = chords(rng, d)
        kept = (
            lambda v: q[0] * f(v) + q[1] * g(v),  # noqa: B023
            lambda v: np.maximum(f(v), g(v)),  # noqa: B023
            lambda v: f(v @ A.T + a),  # noqa: B023
        )
        for made in kept:
            assert (gaps(made, u, w, theta) >= -1e-8).all()
        # A partial minimum in closed form: over b of a quadratic in (w, b).
        Q = rng.normal(size=(d + 1, d + 1))
        Q = Q @ Q.T + 0.1 * np.eye(d + 1)
        schur = Q[:d, :d] - np.outer(Q[:d, d], Q[d, :d]) / Q[d, d]
        assert np.linalg.eigvalsh(schur).min() >= -1e-10


@pytest.mark.parametrize(
    ("f", "u", "w"),
    [
        (lambda x: min(x**2, (x - 1) ** 2), 0, 1),
        (lambda x: x * x**2, -2, 0),
        (lambda x: x**2 - x**4, 0, 1),
        (lambda x: -(x**2), -1, 1),
        (lambda x: (x**2 - 1) ** 2, -1, 1),
    ],
)
def test_the_chapters_counterexamples_fail_at_the_middle(f, u, w):
    assert (f(u) + f(w)) / 2 < f((u + w) / 2)


def test_the_straight_path_to_the_minimiser_never_rises():
    rng = np.random.default_rng(10)
    # |B (w - c)|_1 + |w - c|^2 q/2 has kinks, and its minimum 0 at c; q = 0 in half of them.
    B, c = rng.normal(size=(INSTANCES, 4, 3)), rng.normal(size=(INSTANCES, 1, 3))
    q = np.maximum(0, rng.normal(size=(INSTANCES, 1)))
    w_1 = rng.normal(scale=2, size=(INSTANCES, 1, 3))
    s = np.linspace(0, 1, 60)
    off = w_1 + s[:, None] * (c - w_1) - c  # (instances, places, 3)
    values = np.abs(np.einsum("rij,rsj->rsi", B, off)).sum(axis=2) + q / 2 * (off**2).sum(axis=2)
    assert (np.diff(values) <= 1e-12).all()
    assert (values <= (1 - s) * values[:, :1] + 1e-12).all()
    for _ in range(30):  # and the objective of the book
        X = rng.normal(size=(int(rng.integers(2, 8)), 3))
        problem = HingeProblem(X, rng.choice([-1.0, 1.0], len(X)), lam=10 ** rng.uniform(-1, 0))
        best = sdca(problem, n_epochs=10_000, gap=1e-11, rng=0).w
        values = problem.objective(w_1[0] + s[:, None] * (best - w_1[0]))
        assert (np.diff(values) <= 1e-10).all()
        assert (values <= (1 - s) * values[0] + s * values[-1] + 1e-10).all()


def test_e002_02_a_strictly_convex_function_without_a_minimum():
    x = -np.arange(1.0, 700.0)
    assert (np.diff(np.exp(x)) < 0).all()
    assert np.exp(x).min() > 0


def test_e002_06_coordinate_steps_are_stuck_on_a_crease():
    def crease(w):
        bowl = 0.05 * (w[0] ** 2 + w[1] ** 2)  # with it there is a minimiser, (-1, -1)
        return abs(w[0] - w[1]) + 0.1 * (w[0] + w[1]) + bowl

    for step in np.concatenate([-np.logspace(-9, 2, 200), np.logspace(-9, 2, 200)]):
        assert crease((step, 0)) > 0
        assert crease((0, step)) > 0
    assert crease((-1, -1)) == pytest.approx(-0.1)
