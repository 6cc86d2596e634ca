"""Statements of chapter 3, each on 1,000 random instances at once, with zero violations.

The functions are sums of Huber losses of <a_i, w - w*> and, where strong convexity is asked for, of
mu/2 ||w - w*||^2: L-smooth, convex, in part flat and in part curved, with the minimum 0 at w*.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from pegasos_lib import (
    ArmijoStep,
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    InverseTime,
    gradient_descent,
    pegasos,
)
from tests.many import Problems

RUNS, T = 1000, 100


class Hubers:
    """Hold `RUNS` functions; a point is a row for each of them, W of shape (RUNS, d)."""

    def __init__(self, seed, strong):
        rng = self.rng = np.random.default_rng(seed)
        scale = 10 ** rng.uniform(-1, 1, size=(RUNS, 1, 1))
        self.A = scale * rng.normal(size=(RUNS, 5, 3))
        self.best = rng.normal(size=(RUNS, 3))
        self.width = 10 ** rng.uniform(-1, 1, size=(RUNS, 1))
        curved = np.linalg.norm(self.A, 2, axis=(1, 2)) ** 2
        self.mu = curved * 10 ** rng.uniform(-3, 0, size=RUNS) * strong
        self.L = curved + self.mu

    def value(self, W):
        residual = np.abs(np.einsum("rij,rj->ri", self.A, W - self.best))
        inner = np.minimum(residual, self.width)
        return (inner * (residual - inner / 2)).sum(axis=1) + self.mu / 2 * self.distance2(W)

    def gradient(self, W):
        residual = np.einsum("rij,rj->ri", self.A, W - self.best)
        pull = np.clip(residual, -self.width, self.width)
        return np.einsum("rij,ri->rj", self.A, pull) + self.mu[:, None] * (W - self.best)

    def distance2(self, W):
        return ((W - self.best) ** 2).sum(axis=1)

    def points(self):
        return self.best + self.rng.normal(size=(RUNS, 3)) * 10 ** self.rng.uniform(-1, 1.5)

    def descend(self, W, eta):
        """Return w_1..w_T for the steps eta of shape (T - 1, RUNS)."""
        path = [W]
        for size in eta:
            path.append(path[-1] - size[:, None] * self.gradient(path[-1]))
        return path

    def single(self, r):
        """Return function number r and its gradient, for the library."""
        A, best, width, mu = self.A[r], self.best[r], self.width[r, 0], self.mu[r]

        def f(w):
            residual = np.abs(A @ (w - best))
            inner = np.minimum(residual, width)
            return float(inner @ (residual - inner / 2) + mu / 2 * ((w - best) @ (w - best)))

        def gradient(w):
            return np.clip(A @ (w - best), -width, width) @ A + mu * (w - best)

        return f, gradient


def rules(family, factor=1.0):
    """Yield the sizes (T - 1, RUNS) of each rule, none above factor/L."""
    t = np.arange(1.0, T)[:, None]
    kappa = factor * family.rng.uniform(0.2, 1, size=RUNS) / family.L
    yield "constant", np.ones((T - 1, 1)) * kappa, kappa
    yield "inverse-sqrt", kappa / np.sqrt(t), kappa
    yield "inverse-time", kappa / t, kappa


def test_the_batched_runs_are_those_of_the_library():
    family = Hubers(0, strong=True)
    W = family.points()
    make = {"constant": ConstantStep, "inverse-sqrt": InverseSqrt, "inverse-time": InverseTime}
    for name, eta, kappa in rules(family):
        path = family.descend(W, eta)
        values = np.array([family.value(W_t) for W_t in path])
        for r in range(0, RUNS, 250):
            f, gradient = family.single(r)
            run = gradient_descent(f, gradient, W[r], n_iter=T - 1, step=make[name](kappa[r]))
            assert np.allclose(run.path, [W_t[r] for W_t in path], atol=1e-9)
            assert np.allclose(run.values, values[:, r], rtol=1e-8, atol=1e-12)


def test_the_negative_gradient_descends_and_nothing_is_steeper():
    family = Hubers(1, strong=False)
    W = family.points()
    g = family.gradient(W)
    length = np.linalg.norm(g, axis=1)
    assert (length > 0).all()
    small = 1e-3 / family.L[:, None]
    assert (family.value(W - small * g) < family.value(W)).all()
    for _ in range(20):
        p = family.rng.normal(size=(RUNS, 3))
        p /= np.linalg.norm(p, axis=1, keepdims=True)
        assert ((p * g).sum(axis=1) >= -length * (1 + 1e-12)).all()
        # a negative slope is enough; the smallest step is short against slope and curvature
        slope = (p * g).sum(axis=1)
        step = np.maximum(-slope, 0) / family.L
        falls = family.value(W + step[:, None] * p) < family.value(W)
        assert falls[slope < -1e-3 * length].all()
    towards = ((family.best - W) * g).sum(axis=1)
    assert (towards <= -family.value(W) * (1 - 1e-12)).all()


def test_a_smooth_strongly_convex_function_lies_between_two_parabolas():
    family = Hubers(2, strong=True)
    for _ in range(20):
        W, U = family.points(), family.points()
        g, square = family.gradient(W), ((U - W) ** 2).sum(axis=1)
        above = family.value(U) - family.value(W) - (g * (U - W)).sum(axis=1)
        slack = 1e-12 * (family.value(U) + family.value(W) + family.L * square)
        assert (above >= family.mu / 2 * square - slack).all()
        assert (above <= family.L / 2 * square + slack).all()
        for share in (0.5, 1.0, 1.9):
            eta = share / family.L
            fall = family.value(W) - family.value(W - eta[:, None] * g)
            promised = eta * (1 - share / 2) * (g**2).sum(axis=1)
            assert (fall >= promised - 1e-12 * family.value(W)).all()


def test_the_squared_hinge_objective_is_smooth_and_its_constant_is_attained():
    rng = np.random.default_rng(3)
    largest = np.zeros(RUNS)
    X, y = rng.normal(size=(RUNS, 8, 3)), rng.choice([-1.0, 1.0], size=(RUNS, 8))
    lam = 10 ** rng.uniform(-2, 0, size=RUNS)
    L = lam + np.linalg.norm(X, 2, axis=(1, 2)) ** 2 / 8

    def gradient(W):
        loss = np.maximum(0, 1 - y * np.einsum("rij,rj->ri", X, W))
        return lam[:, None] * W - np.einsum("rij,ri->rj", X, y * loss) / 8

    top = np.linalg.svd(X)[2][:, 0]  # the direction that X stretches most
    for scale in (1e-3, 0.1, 1, 10):
        W = rng.normal(size=(RUNS, 3)) * scale
        for h in (rng.normal(size=(RUNS, 3)), 1e-4 * top):
            ratio = np.linalg.norm(gradient(W + h) - gradient(W), axis=1)
            ratio /= L * np.linalg.norm(h, axis=1)
            assert (ratio <= 1 + 1e-9).all()
            largest = np.maximum(largest, ratio)
    assert (largest > 1 - 1e-6).all()  # near 0 all losses are active


@pytest.mark.parametrize("strong", [False, True])
def test_the_sum_of_the_steps_bounds_descent_at_every_t(strong):
    family = Hubers(4, strong)
    W = family.points()
    start = family.distance2(W)
    for name, eta, _ in rules(family):
        values = np.array([family.value(W_t) for W_t in family.descend(W, eta)])
        assert (np.diff(values, axis=0) <= 1e-14 * values[:-1]).all(), name
        ratio = values[1:] * 2 * np.cumsum(eta, axis=0) / start
        assert ratio.max() <= 1, (name, ratio.max())
        assert ratio.max() > 0.2, (name, ratio.max())  # the check could fail


def test_the_product_bounds_descent_on_strongly_convex_functions_at_every_t():
    family = Hubers(5, strong=True)
    W = family.points()
    for name, eta, _ in rules(family):
        values = np.array([family.value(W_t) for W_t in family.descend(W, eta)])
        product = np.cumprod(1 - family.mu * eta, axis=0)
        assert (values[1:] <= values[0] * product * (1 + 1e-10) + 1e-300).all(), name
        assert (product <= np.exp(-family.mu * np.cumsum(eta, axis=0)) * (1 + 1e-12)).all()


def test_the_rates_of_the_single_rules_hold_at_every_t():
    family = Hubers(6, strong=True)
    W, t = family.points(), np.arange(2.0, T + 1)[:, None]
    distance2, fall = family.distance2(W), family.value(W)
    for name, eta, kappa in rules(family):
        if name == "constant":
            eta = np.ones((T - 1, 1)) / family.L
        values = np.array([family.value(W_t) for W_t in family.descend(W, eta)[1:]])
        if name == "constant":
            bounds = [family.L * distance2 / (2 * (t - 1))]
            bounds += [(1 - family.mu / family.L) ** (t - 1) * fall]
        elif name == "inverse-sqrt":
            bounds = [distance2 / (4 * kappa * (np.sqrt(t) - 1))]
        else:
            bounds = [distance2 / (2 * kappa * np.log(t)), t ** (-family.mu * kappa) * fall]
        for bound in bounds:
            assert (values <= bound * (1 + 1e-10) + 1e-300).all(), name


def test_a_finite_sum_of_steps_stops_short():
    family = Hubers(7, strong=True)
    W, t = family.points(), np.arange(1.0, T)[:, None]
    eta = family.rng.uniform(0.05, 0.95, size=RUNS) / family.L / t**2
    distance = np.sqrt([family.distance2(W_t) for W_t in family.descend(W, eta)])
    wall = distance[0] * np.cumprod(1 - family.L * eta, axis=0)
    assert (distance[1:] >= wall * (1 - 1e-12)).all()
    product = np.prod(1 - 0.5 / np.arange(1.0, 10**6) ** 2)
    root = np.pi * np.sqrt(0.5)
    assert product == pytest.approx(np.sin(root) / root, rel=1e-6)


def test_descent_on_a_quadratic_is_known_exactly():
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(rng.normal(size=(RUNS, 3, 3)))[0]
    mu = np.sort(10 ** rng.uniform(-1.5, 1, size=(RUNS, 3)), axis=1)
    H = np.einsum("rij,rj,rkj->rik", Q, mu, Q)
    W = rng.normal(size=(RUNS, 3))
    low, high = mu[:, 0], mu[:, -1]
    best = 2 / (low + high)
    for eta in (1 / high, best, 1.98 / high, 2.1 / high):
        rho = np.maximum(np.abs(1 - eta * low), np.abs(1 - eta * high))
        assert ((rho < 1) == (eta < 2 / high)).all()
        assert (rho >= (high - low) / (high + low) * (1 - 1e-12)).all()
        extreme = np.where((np.abs(1 - eta * high) >= rho)[:, None], Q[:, :, -1], Q[:, :, 0])
        w, v = W, extreme
        for t in range(1, 41):
            w = w - eta[:, None] * np.einsum("rij,rj->ri", H, w)
            v = v - eta[:, None] * np.einsum("rij,rj->ri", H, v)
            along = np.einsum("rji,rj->ri", Q, w)
            exact = np.einsum("rji,rj->ri", Q, W) * (1 - eta[:, None] * mu) ** t
            assert np.allclose(along, exact, rtol=1e-6, atol=1e-10)
            size = np.linalg.norm(w, axis=1)
            assert (size <= rho**t * np.linalg.norm(W, axis=1) * (1 + 1e-9) + 1e-12).all()
        assert np.allclose(np.linalg.norm(v, axis=1), rho**40, rtol=1e-6, atol=1e-10)
    chi = high / low
    assert np.allclose(np.abs(1 - best * high), (chi - 1) / (chi + 1), rtol=1e-9)
    assert np.allclose(np.abs(1 - best * low), (chi - 1) / (chi + 1), rtol=1e-9)


def test_armijos_rule_keeps_its_four_promises_at_every_t():
    family = Hubers(9, strong=True)
    rng, W = family.rng, family.points()
    for r in range(RUNS):
        f, gradient = family.single(r)
        share, cut = rng.uniform(0.05, 0.95), rng.uniform(0.2, 0.9)
        kappa = 10 ** rng.uniform(-1, 1.5) / family.L[r]
        rule = ArmijoStep(c=kappa, c1=share, factor=cut, max_cuts=500)
        run = gradient_descent(f, gradient, W[r], n_iter=8, step=rule)
        g2 = np.array([gradient(w) @ gradient(w) for w in run.path[:-1]])
        least = min(kappa, 2 * cut * (1 - share) / family.L[r])
        values, t = run.values, np.arange(1, run.n_iter + 1)
        if values[-1] > 1e-14 * values[0]:
            assert run.n_iter == 8
        assert run.step_sizes.min() >= least * (1 - 1e-12)
        tiny = 1e-15 * values[0]
        assert (values[1:] <= values[:-1] - share * least * g2 + tiny).all()
        assert (np.minimum.accumulate(g2) <= (values[0] + tiny) / (share * least * t)).all()
        start = (W[r] - family.best[r]) @ (W[r] - family.best[r])
        convex = start + kappa * max(0, 1 / share - 2) * values[0]
        assert (values[1:] <= convex / (2 * least * t) + tiny).all()
        strong = (1 - 2 * family.mu[r] * share * least) ** t * values[0]
        assert (values[1:] <= strong * (1 + 1e-12) + tiny).all()


def test_the_smallest_armijo_step_is_exact():
    rng = np.random.default_rng(10)
    for _ in range(RUNS):
        L, share, cut = 10 ** rng.uniform(-1, 1), rng.uniform(0.05, 0.95), rng.uniform(0.2, 0.9)
        edge = 2 * (1 - share) / L
        for kappa, taken in ((edge * (1 - 1e-9), 1.0), (edge * (1 + 1e-9), cut)):
            rule = ArmijoStep(c=kappa, c1=share, factor=cut)
            eta = rule.search(lambda eta, L=L: L / 2 * (1 - eta * L) ** 2, L / 2, -(L**2))
            assert eta == pytest.approx(kappa * taken, rel=1e-12)


def test_plain_backtracking_stalls_at_exact_fractions():
    half = Fraction(1, 2)

    def f(w):
        a = abs(w)
        return a * a if a <= 1 else 3 * half * half * a * a + half * a - half * half

    def slope(w):
        return 2 * w if abs(w) <= 1 else 3 * half * w + (half if w > 0 else -half)

    grid = [Fraction(k, 8) for k in range(-32, 33)]
    for a, b in pairwise(grid):
        assert 3 * half * (b - a) <= slope(b) - slope(a) <= 2 * (b - a)
        middle = f((a + b) / 2)
        assert middle <= (f(a) + f(b)) / 2 - 3 * half / 8 * (b - a) ** 2  # 3/2-strongly convex
        between = [f(a) + slope(a) * (b - a) + q * half * (b - a) ** 2 for q in (3 * half, 2)]
        assert between[0] <= f(b) <= between[1]
    w = Fraction(2)
    for t in range(1, 1001):
        assert w == (-1) ** (t - 1) * (1 + Fraction(2, 2**t))
        assert 1 < f(w - slope(w)) < f(w)
        w -= slope(w)


def test_the_change_of_pegasos_is_at_most_its_bound_at_every_t():
    rng, t = np.random.default_rng(11), np.arange(1, 31)[:, None]
    many = Problems(rng, RUNS, 9, 3, lam=(-2, 0))
    draws = rng.integers(9, size=(RUNS, 30, 1))
    W, _ = many.pegasos(draws, project=False)
    for r in (0, 500, 999):
        problem = HingeProblem(many.Z[r], np.ones(9), lam=many.lam[r])
        run = pegasos(problem, n_iter=30, draws=draws[r, :, 0], record=range(31), project=False)
        assert run.trace.w == pytest.approx(W[:, r], abs=1e-9 * np.abs(W[:, r]).max())
    ratio = np.linalg.norm(np.diff(W, axis=0), axis=2) / (2 * many.R / (many.lam * t))
    assert ratio.max() <= 1 + 1e-9
    assert ratio.max() > 0.5, "the bound is not tried near its value"


def test_a_small_gradient_certifies_the_value_and_the_place():
    family = Hubers(12, strong=True)
    for _ in range(20):
        W = family.points()
        g = np.linalg.norm(family.gradient(W), axis=1)
        values = family.value(W)
        assert (values <= g**2 / (2 * family.mu) * (1 + 1e-12)).all()
        assert (values >= g**2 / (2 * family.L) * (1 - 1e-12)).all()
        assert (np.sqrt(family.distance2(W)) <= g / family.mu * (1 + 1e-12)).all()
