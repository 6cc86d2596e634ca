"""Statements of chapter 4, on generated data, in words of their own."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear
from scipy.sparse import block_diag

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    project_l1_ball,
    project_l2_ball,
    sdca,
    subgradient_descent,
)
from tests.many import Problems


def whole_number_problems(count, seed, d=2, largest=6):
    """Draw problems and points of whole numbers, so that margins of exactly 1 occur."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, largest))
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
        y = rng.choice([-1.0, 1.0], n)
        lam = float(rng.choice([0.05, 0.25, 1.0, 2.0]))
        yield HingeProblem(X, y, lam=lam), rng.integers(-2, 3, size=d).astype(float), rng


def hinge_sum(X, y, lam, w):
    return lam / 2 * (w @ w) + np.maximum(0.0, 1 - y * (X @ w)).mean()


def element(X, y, lam, w, theta):
    """Return the subgradients of the mean objective that take theta[..., i] at the kink of i."""
    margins = y * (X @ w)
    counted = np.where(margins == 1, theta, margins < 1)
    return lam * w - counted @ (y[:, None] * X) / len(y)


def corner_elements(problem, w):
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=problem.n)))
    return element(problem.X, problem.y, problem.lam, w, corners)


def test_a_gradient_is_the_only_subgradient():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        Q = rng.normal(size=(3, 3))
        Q = Q @ Q.T  # f(w) = <w, Q w>/2
        w, wrong = rng.normal(size=(2, 3))
        U = w + rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-3, 1, size=(50, 1))
        rise = ((U @ Q) * U).sum(axis=1) / 2 - w @ Q @ w / 2
        assert (rise >= (U - w) @ (Q @ w) - 1e-9).all()
        u = w + 1e-3 / np.abs(Q).sum() * wrong  # no other vector survives a short step towards it
        assert u @ Q @ u / 2 - w @ Q @ w / 2 < (Q @ w + wrong) @ (u - w)


def test_in_one_variable_the_subgradients_are_between_the_one_sided_slopes():
    rng, grid = np.random.default_rng(1), np.arange(-40, 41) / 4
    for _ in range(1000):
        slopes, heights = rng.integers(-3, 4, size=(2, 4)).astype(float)
        x = float(rng.integers(-2, 3))

        def f(u, slopes=slopes, heights=heights):
            return np.max(np.multiply.outer(u, slopes) + heights, axis=-1) + u * u / 4

        left, right = (f(x) - f(x - 1e-7)) / 1e-7, (f(x + 1e-7) - f(x)) / 1e-7
        assert left <= right + 1e-6
        for g in (left - 0.3, left + 1e-5, (left + right) / 2, right - 1e-5, right + 0.3):
            near = np.concatenate([grid, x + np.array([-0.01, 0.01])])
            supports = (f(near) >= f(x) + g * (near - x) - 1e-3 * np.abs(near - x)).all()
            assert supports == (left - 1e-2 <= g <= right + 1e-2)


def excess_of_best_supports(rises, steps):
    """Return how far the best affine functions through (w, f(w)) must rise above f at points u.

    One linear program for all cases, over all slopes g, from f(u) - f(w) (cases, points) and u - w
    (cases, points, d). For a convex f the answer is 0 for all finite sets of points; then, by
    compactness, one slope serves all of space.
    """
    cases, points, d = steps.shape
    rows = [np.column_stack([step, -np.ones(points)]) for step in steps]
    found = linprog(
        np.tile(np.r_[np.zeros(d), 1.0], cases),  # least t >= 0 with <g, u - w> - t <= f(u) - f(w)
        A_ub=block_diag(rows, format="csr"),
        b_ub=rises.ravel(),
        bounds=([(None, None)] * d + [(0, None)]) * cases,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    g = found.x.reshape(cases, d + 1)[:, :d]
    return (np.einsum("cpd,cd->cp", steps, g) - rises).max(axis=1)


def test_a_finite_convex_function_has_a_supporting_line_everywhere():
    rng, rises, steps, kinks = np.random.default_rng(2), [], [], []
    for trial in range(1000):
        w = rng.integers(-2, 3, size=3).astype(float)
        A = rng.integers(-3, 4, size=(6, 3)).astype(float)
        b = rng.integers(-2, 3, size=6).astype(float)
        b[0] += (A[1:] @ w + b[1:]).max() - A[0] @ w - b[0]  # a kink at w: two pieces tie

        def pieces(u, A=A, b=b):
            return (u @ A.T + b).max(axis=-1)

        def cone(u, A=A, w=w):  # norms of linear images: no gradient at w
            return np.linalg.norm((u - w) @ A[:3].T, axis=-1) + np.abs((u - w) @ A[3:].T).sum(-1)

        def distance(u, b=b):  # to a ball in the l1 norm, from anywhere
            v = np.atleast_2d(u) - b[:3]
            far = np.array([np.linalg.norm(row - project_l1_ball(row, 1.0)) for row in v])
            return far if np.ndim(u) == 2 else far[0]

        f = (pieces, cone, distance)[trial % 3]
        scale = 10.0 ** rng.uniform(-1, 1, size=(12, 1))
        U = np.vstack([w + rng.normal(size=(12, 3)) * scale, w - np.eye(3), w + np.eye(3)])
        rises.append(f(U) - f(w))
        steps.append(U - w)
        bend = np.abs(f(w + np.eye(3)) + f(w - np.eye(3)) - 2 * f(w)).max()
        kinks.append(f is not distance and bend > 0.1)
    rises, steps = np.array(rises), np.array(steps)
    assert excess_of_best_supports(rises, steps).max() <= 1e-9
    assert sum(kinks) > 300  # the same kinks upside down have no support
    assert excess_of_best_supports(-rises[kinks], steps[kinks]).min() > 1e-3


def test_fermat_zero_is_a_subgradient_at_the_minimiser_and_nowhere_else():
    minima, others = 0, 0
    for problem, w, rng in whole_number_problems(1000, 3, largest=4):
        if rng.random() < 0.6:  # unit vectors: minima at kinks are common
            X = np.eye(2)[rng.integers(2, size=problem.n)]
            problem, w = HingeProblem(X, problem.y, lam=problem.lam), np.sign(w)
        best = sdca(problem, gap=1e-12, n_epochs=10_000, rng=0).w
        excess = problem.objective(w) - problem.objective(best)
        pushes = problem.y[:, None] * problem.X / problem.n
        margins = problem.margins(w)
        shortest = problem.lam * w - pushes[margins < 1].sum(axis=0)
        if (margins == 1).any():  # the theta at the kinks that make the subgradient shortest
            at_kinks = pushes[margins == 1].T
            theta = lsq_linear(at_kinks, shortest, bounds=(0, 1), method="bvls").x
            shortest = shortest - at_kinks @ theta
        if np.linalg.norm(shortest) < 1e-9:
            minima += 1
            assert excess <= 1e-9
        else:
            others += 1
            assert excess > 1e-9
    assert minima > 10
    assert others > 100


def test_projection_is_nearest_and_no_two_points_part():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        radius, project = rng.uniform(0.1, 3), rng.choice([project_l1_ball, project_l2_ball])
        w, other = rng.normal(size=(2, 3)) * 4
        p, q = project(w, radius), project(other, radius)
        U = rng.normal(size=(20, 3))
        size = np.abs(U).sum(axis=1) if project is project_l1_ball else np.linalg.norm(U, axis=1)
        U *= radius * (rng.random(20) ** 0.3 / size)[:, None]
        assert ((U - p) @ (w - p)).max() <= 1e-9
        closer = ((w - U) ** 2).sum(axis=1) - ((w - p) ** 2).sum() - ((U - p) ** 2).sum(axis=1)
        assert closer.min() >= -1e-9
        assert np.linalg.norm(p - q) <= np.linalg.norm(w - other) + 1e-12


def test_rules_multiples_sums_affine_maps_and_maxima():
    rng = np.random.default_rng(5)
    for _ in range(1000):
        A, B = rng.integers(-3, 4, size=(2, 4, 3)).astype(float)
        a, b = rng.integers(-2, 3, size=(2, 4)).astype(float)
        M, shift = rng.integers(-2, 3, size=(3, 2)).astype(float), rng.normal(size=3)
        w, c = rng.integers(-2, 3, size=2).astype(float), rng.uniform(0, 3)
        U = rng.normal(size=(20, 2)) * 3

        def piece(A, a, v):
            return (v @ A.T + a).max(axis=-1)

        at, others = M @ w + shift, U @ M.T + shift
        g, h = (C[np.argmax(at @ C.T + e)] for C, e in ((A, a), (B, b)))
        total = c * piece(A, a, others) + piece(B, b, others)
        start = c * piece(A, a, at) + piece(B, b, at)
        assert (total >= start + (U - w) @ (M.T @ (c * g + h)) - 1e-9).all()
        larger = np.maximum(piece(A, a, others), piece(B, b, others))
        chosen = g if piece(A, a, at) >= piece(B, b, at) else h
        now = max(piece(A, a, at), piece(B, b, at))
        assert (larger >= now + (U - w) @ (M.T @ chosen) - 1e-9).all()


def test_slopes_are_the_largest_products_so_there_is_no_other_subgradient():
    for problem, w, rng in whole_number_problems(1000, 6, largest=5):
        H = rng.normal(size=(10, 2))
        step = 2.0**-22
        measured = (problem.objective(w + step * H) - problem.objective(w)) / step
        exact = (corner_elements(problem, w) @ H.T).max(axis=0)
        np.testing.assert_allclose(measured, exact, atol=1e-4)


@pytest.mark.parametrize("theta", [0.0, 1.0, None])
def test_every_theta_gives_the_strong_subgradient_inequality(theta):
    kinks = 0
    for problem, w, rng in whole_number_problems(1000, 7):
        share = rng.random(problem.n) if theta is None else np.full(problem.n, theta)
        g = element(problem.X, problem.y, problem.lam, w, share)
        kinks += int((problem.margins(w) == 1).sum())
        if theta == 0:
            np.testing.assert_allclose(g, problem.subgradient(w), atol=1e-12)
        for u in rng.integers(-3, 4, size=(4, 2)).astype(float):
            bound = hinge_sum(problem.X, problem.y, problem.lam, w) + g @ (u - w)
            bound += problem.lam / 2 * ((u - w) ** 2).sum()
            assert hinge_sum(problem.X, problem.y, problem.lam, u) >= bound - 1e-12
    assert kinks > 100


def test_theta_outside_of_0_and_1_is_no_subgradient():
    X, y, w = np.array([[2.0]]), np.array([1.0]), np.array([0.5])
    grid = np.linspace(-3, 3, 601)[:, None]
    for theta, valid in ((-0.1, False), (0.0, True), (0.4, True), (1.0, True), (1.1, False)):
        g = element(X, y, 0.1, w, [theta])
        holds = all(hinge_sum(X, y, 0.1, u) >= hinge_sum(X, y, 0.1, w) + g @ (u - w) for u in grid)
        assert holds == valid


def test_the_optimum_is_the_sum_of_examples_that_the_dual_solver_finds():
    for problem, _w, _rng in whole_number_problems(1000, 8):
        run = sdca(problem, gap=1e-12, n_epochs=10_000, rng=0)
        m, alpha = problem.margins(run.w), run.alpha
        w = (alpha * problem.y) @ problem.X / (problem.lam * problem.n)
        np.testing.assert_allclose(w, run.w, atol=1e-9)
        assert (alpha[m < 1 - 1e-4] > 1 - 1e-6).all()
        assert (alpha[m > 1 + 1e-4] < 1e-6).all()
        assert problem.lam * (w @ w) == pytest.approx(alpha @ m / problem.n, abs=1e-9)
        assert problem.lam * (w @ w) <= 1 + 1e-9


def test_a_step_below_the_limit_comes_nearer_to_every_minimiser():
    rng, ascents = np.random.default_rng(9), 0
    for _ in range(1000):  # f(w) = max(0, max_j <a_j, w> + b_j): many minimisers, where it is 0
        A, b = rng.integers(-3, 4, size=(4, 2)).astype(float), -rng.integers(0, 4, 4).astype(float)

        def f(v, A=A, b=b):
            return max(0.0, (A @ v + b).max())

        w = rng.integers(-3, 4, size=2).astype(float)
        if f(w) == 0:
            continue
        tied = np.flatnonzero(A @ w + b == f(w))
        g = A[rng.choice(tied)]
        after = w - rng.uniform(0.01, 0.99) * 2 * f(w) / (g @ g) * g
        ascents += f(after) > f(w)
        minimisers = [v for v in [np.zeros(2), *rng.normal(size=(10, 2))] if f(v) == 0]
        for v in minimisers:
            assert np.linalg.norm(after - v) < np.linalg.norm(w - v)
    assert ascents > 20


@pytest.mark.parametrize("decaying", [False, True])
def test_bounds_of_the_projected_method_hold_at_every_t(decaying):
    """1,000 runs for each rule, steps from far too short to far too long, random comparators."""
    rng, runs, T = np.random.default_rng(10), 1000, 40
    t = np.arange(1, T + 1)[:, None]
    many = Problems(rng, runs, 8, 3, lam=(-2, 0.5), scale=0.7)
    kappa = 10 ** rng.uniform(-2, 1, size=runs)
    eta = kappa / np.sqrt(t) if decaying else np.broadcast_to(kappa, (T, runs))
    G = np.sqrt(many.lam) + many.R
    W = [np.zeros((runs, 3))]
    for size in eta:
        hit = np.einsum("rnd,rd->rn", many.Z, W[-1]) < 1
        g = many.lam[:, None] * W[-1] - (hit[..., None] * many.Z).mean(axis=1)
        assert (np.linalg.norm(g, axis=1) <= G * (1 + 1e-12)).all()
        W.append(many.into_the_ball(W[-1] - size[:, None] * g))
    W = np.array(W)
    for r in range(0, runs, 250):
        problem = HingeProblem(many.Z[r], np.ones(8), lam=many.lam[r])
        rule = (InverseSqrt if decaying else ConstantStep)(kappa[r])
        run = subgradient_descent(problem, n_iter=T, step=rule, project=True, record=range(T + 1))
        np.testing.assert_allclose(run.trace.w, W[:, r], atol=1e-9)
    u = rng.normal(size=(runs, 3))
    u[::2] = many.Z[::2].mean(axis=1)  # far along the first step, where much is to be gained
    u = many.into_the_ball(u * many.radius[:, None])
    square = (u**2).sum(axis=1)
    excess = many.objective(W[:-1]) - many.objective(u)
    any_step = square / 2 + G**2 / 2 * np.cumsum(eta**2, axis=0)
    assert (np.cumsum(eta * excess, axis=0) <= any_step * (1 + 1e-9)).all()
    if decaying:
        bound = (4 * many.radius**2 / (2 * kappa) + kappa * G**2) / np.sqrt(t)
    else:
        bound = square / (2 * kappa * t) + kappa * G**2 / 2
    mean = np.cumsum(excess, axis=0) / t
    assert (mean <= bound * (1 + 1e-9)).all()
    averages = np.cumsum(W[:-1], axis=0) / t[:, :, None]
    assert (many.objective(averages) - many.objective(u) <= mean + 1e-9 * bound).all()
    assert (mean / bound).max() > 0.1, "the bounds are not tested near their value"
