import re

import cvxopt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos_lib import project_l1_ball, project_l2_ball, project_simplex
from pegasos_lib._projection_kernels import register
from pegasos_lib.projections import (
    L1Ball,
    l1_projection,
    nearest_in_l1_ball,
    nearest_in_l2_ball,
    nearest_in_weighted_l2_ball,
)

vectors = arrays(np.float64, st.integers(1, 6), elements=st.floats(-100, 100))
radii = st.floats(1e-3, 1e3)
weighted = st.integers(1, 8).flatmap(
    lambda d: st.tuples(
        arrays(np.float64, d, elements=st.floats(-100, 100)),
        arrays(np.float64, d, elements=st.sampled_from([1e-6, 1e-2, 0.5, 1.0, 1.0, 3.0, 1e3])),
    )
)

SETS = {
    "l2": (project_l2_ball, lambda w: np.sqrt(w @ w)),
    "l1": (project_l1_ball, lambda w: np.abs(w).sum()),
    "simplex": (project_simplex, np.sum),
}


@pytest.fixture(params=SETS)
def ball(request):
    return SETS[request.param]


def members(name_or_norm, radius, d, rng):
    """Return points of the set: random ones and corners."""
    project, norm = name_or_norm
    if project is project_simplex:
        return radius * np.vstack([rng.dirichlet(np.ones(d), 5), np.eye(d)])
    points = rng.standard_normal((5, d))
    points *= (radius * rng.random(5) / [norm(p) for p in points])[:, None]
    return np.vstack([points, radius * np.eye(d), -radius * np.eye(d), np.zeros((1, d))])


@given(w=vectors, radius=radii, seed=st.integers(0, 99), name=st.sampled_from(list(SETS)))
def test_the_projection_is_the_nearest_member(w, radius, seed, name):
    project, norm = SETS[name]
    p = project(w, radius)
    assert norm(p) <= radius * (1 + 1e-12)
    if name == "simplex":
        assert p.sum() == pytest.approx(radius, rel=1e-9, abs=1e-10)
        assert p.min() >= 0.0
    # A member p is nearest to w exactly if <w - p, u - p> <= 0 for all members u.
    for u in members(SETS[name], radius, len(w), np.random.default_rng(seed)):
        assert (w - p) @ (u - p) <= 1e-9 * (1 + np.abs(w).max() + radius) ** 2


@given(w=vectors, radius=radii, name=st.sampled_from(["l1", "l2"]))
def test_a_point_inside_stays_to_the_last_bit(w, radius, name):
    project, norm = SETS[name]
    if norm(w) < radius:
        assert project(w, radius).tolist() == w.tolist()
    p = project(w, radius)
    assert project(p, radius) == pytest.approx(p, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("project", [project_l1_ball, project_l2_ball])
def test_the_projection_of_0_is_0(project):
    assert project(np.zeros(3), 0.5).tolist() == [0.0, 0.0, 0.0]
    assert project([], 0.5).tolist() == []


def test_known_projections():
    assert project_l2_ball([3.0, 4.0], 1.0) == pytest.approx([0.6, 0.8])
    assert project_l1_ball([3.0, -1.0], 2.0).tolist() == [2.0, 0.0]
    assert project_l1_ball([2.0, -2.0], 2.0).tolist() == [1.0, -1.0]
    assert project_simplex([0.5, 0.5, -3.0]).tolist() == [0.5, 0.5, 0.0]
    assert project_simplex([7.0]).tolist() == [1.0]


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_l2_projection_neither_overflows_nor_vanishes(size):
    p = project_l2_ball(np.array([3.0, 4.0]) * size, size)
    assert p / size == pytest.approx([0.6, 0.8], rel=1e-14)


def test_the_argument_is_not_changed(ball):
    for point in ([3.0, 4.0, 0.5], [0.0, 0.0, 0.0]):
        w = np.array(point)
        p = ball[0](w, 100.0)
        p += 1.0
        assert w.tolist() == point


@given(weighted, st.floats(0.0, 9.0))
def test_a_point_on_the_l1_sphere_stays_to_the_last_bit(point, tau):
    w, s = point
    radius = float(np.abs(w).sum())
    if radius > 0.0:
        assert project_l1_ball(w, radius).tolist() == w.tolist()
        assert project_l1_ball(w, radius, s).tolist() == w.tolist()
    radius, u = float(np.abs(w) @ np.ones(len(w))), np.empty_like(w)
    for weights in (None, s):
        assert nearest_in_l1_ball(w, weights, radius, tau, u) == tau
        assert u.tolist() == w.tolist()


@pytest.mark.parametrize("radius", [0, -1.0, np.inf, np.nan, "1m"])
def test_a_bad_radius_is_refused(ball, radius):
    with pytest.raises(ValueError, match="must be a finite number above 0; got"):
        ball[0]([1.0, 2.0], radius)


@pytest.mark.parametrize("w", [[np.nan, 1.0], [np.inf], [[1.0, 2.0]], 3.0])
def test_a_bad_point_is_refused(ball, w):
    with pytest.raises(ValueError, match=re.escape("a finite vector of shape (d,); got")):
        ball[0](w, 1.0)


def test_the_empty_simplex_is_refused():
    with pytest.raises(ValueError, match="the simplex in 0 dimensions is empty"):
        project_simplex([])


def onto_l1_ball_by_bisection(w, radius, weights=None):
    """Return sign(w_j) max(0, |w_j| - tau/s_j) with the tau that brings the l1 norm to radius."""
    s = np.ones_like(w) if weights is None else weights
    if np.abs(w).sum() <= radius:
        return w
    low, high = 0.0, (s * np.abs(w)).max()
    for _ in range(300):
        middle = (low + high) / 2
        too_long = np.maximum(np.abs(w) - middle / s, 0.0).sum() > radius
        low, high = (middle, high) if too_long else (low, middle)
    return np.sign(w) * np.maximum(np.abs(w) - high / s, 0.0)


def onto_l2_ball_by_bisection(w, radius, weights):
    """Return s_j w_j/(s_j + mu) with the mu that brings the l2 norm to radius, found by its log."""
    if np.linalg.norm(w) <= radius:
        return w
    low, high = np.log([weights.min(), weights.max()]) + np.array([-50.0, 50.0])
    for _ in range(200):
        middle = (low + high) / 2
        too_long = np.linalg.norm(w * weights / (weights + np.exp(middle))) > radius
        low, high = (middle, high) if too_long else (low, middle)
    return w * weights / (weights + np.exp(high))


def nearest_by_qp(w, radius, s):
    """Return the weighted projection by an interior-point method, with u = p - q and p, q >= 0."""
    d = len(w)
    quadratic = np.block([[np.diag(s), -np.diag(s)], [-np.diag(s), np.diag(s)]])
    linear = np.concatenate([-s * w, s * w])
    G, h = np.vstack([-np.eye(2 * d), np.ones(2 * d)]), np.append(np.zeros(2 * d), radius)
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
    solution = cvxopt.solvers.qp(*map(cvxopt.matrix, (quadratic, linear, G, h)), options=options)
    p, q = np.array(solution["x"]).reshape(2, d)
    return p - q


@given(weighted, radii)
def test_the_weighted_projection_meets_the_kkt_conditions(point, radius):
    w, s = point
    u = project_l1_ball(w, radius, s)
    assert np.abs(u).sum() <= radius * (1 + 1e-12)
    if np.abs(w).sum() <= radius:
        assert u.tolist() == w.tolist()
        return
    # s_j (w_j - u_j) is tau sign(u_j) where u_j != 0 and at most tau in size elsewhere.
    pull = s * (w - u)
    tau, rounding = np.abs(pull).max(), 1e-13 * s.max() * np.abs(w).sum()
    assert np.abs(u).sum() == pytest.approx(radius, abs=1e-13 * np.abs(w).sum())
    assert (np.abs(pull[u != 0]) >= tau - rounding).all(), (pull, tau)
    assert (pull * u >= -rounding * radius).all()


def test_the_weighted_projection_is_the_quadratic_programs():
    rng = np.random.default_rng(6)
    for _ in range(40):
        d = rng.integers(1, 9)
        w, s = 3 * rng.standard_normal(d), rng.uniform(0.1, 4.0, d)
        radius = rng.uniform(0.1, 1.2) * np.abs(w).sum()
        u = project_l1_ball(w, radius, s)
        assert u == pytest.approx(nearest_by_qp(w, radius, s), abs=1e-5), (w, s, radius)


@given(weighted, radii)
def test_the_weighted_l2_projection_meets_the_kkt_conditions(point, radius):
    w, s = point
    u = project_l2_ball(w, radius, s)
    if np.linalg.norm(w) <= radius:
        assert u.tolist() == w.tolist()
        return
    assert np.linalg.norm(u) == pytest.approx(radius, rel=1e-14)
    # s_j (w_j - u_j) is mu u_j with one mu >= 0: one that the largest of all u_j tells best.
    largest = np.abs(u).argmax()
    mu = s[largest] * (w[largest] - u[largest]) / u[largest]
    assert mu >= 0.0
    assert u == pytest.approx(s * w / (s + mu), abs=1e-10 * radius)
    assert (u * w >= 0.0).all()


def test_the_weighted_l2_projection_is_the_cone_programs():
    rng = np.random.default_rng(7)
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    for _ in range(40):
        d = int(rng.integers(1, 9))
        w, s = 3 * rng.standard_normal(d), rng.uniform(0.1, 4.0, d)
        radius = rng.uniform(0.1, 1.2) * np.linalg.norm(w)
        G, h = np.vstack([np.zeros(d), -np.eye(d)]), np.append(radius, np.zeros(d))
        solution = cvxopt.solvers.coneqp(
            *map(cvxopt.matrix, (np.diag(s), -s * w, G, h)),
            dims={"l": 0, "q": [d + 1], "s": []}, options=options,
        )  # fmt: skip
        u = project_l2_ball(w, radius, s)
        assert u == pytest.approx(np.array(solution["x"]).ravel(), abs=1e-4), (w, s, radius)


BALLS = pytest.mark.parametrize("project", [project_l1_ball, project_l2_ball])


@BALLS
@given(point=weighted, radius=radii)
def test_equal_weights_are_none(project, point, radius):
    w, s = point
    plain = project(w, radius)
    assert project(w, radius, np.full(len(w), s[0])) == pytest.approx(plain, abs=1e-11)


@BALLS
@given(point=weighted, radius=radii, scale=st.sampled_from([1e-150, 1e150]))
def test_the_scale_of_the_weights_is_of_no_account(project, point, radius, scale):
    w, s = point
    assert project(w, radius, s * scale) == pytest.approx(project(w, radius, s), abs=1e-10)


@BALLS
@given(point=weighted, radius=radii, mask=st.integers(0, 2**8 - 1))
def test_weights_of_0_are_the_limit_of_small_weights(project, point, radius, mask):
    w, s = point
    off = np.array([mask >> j & 1 for j in range(len(w))], bool)
    zero, small = np.where(off, 0.0, s), np.where(off, 1e-100, s)
    u, on_l1 = project(w, radius, zero), project is project_l1_ball
    assert np.linalg.norm(u, 1 if on_l1 else 2) <= radius * (1 + 1e-12)
    # A coordinate of 1e-7 of the radius changes an l2 norm by rounding alone.
    assert u == pytest.approx(project(w, radius, small), abs=1e-9 if on_l1 else 1e-5)


def test_known_weighted_projections():
    assert project_l1_ball([1.0, 1.0], 1.0, [1e-100, 1e-6]).tolist() == [0.0, 1.0]
    # 3 - tau/3 = 2.5 has the solution tau = 1.5, which leaves nothing of 1 - tau; then tau = 0.75.
    assert project_l1_ball([3.0, -1.0], 2.5, [3.0, 1.0]) == pytest.approx([2.5, 0.0])
    assert project_l1_ball([3.0, -1.0], 3.0, [3.0, 1.0]) == pytest.approx([2.75, -0.25])
    assert project_l1_ball([3.0, -2.0], 4.0, [1.0, 0.0]).tolist() == [3.0, -1.0]
    assert project_l1_ball([3.0, -2.0], 2.0, [1.0, 0.0]).tolist() == [2.0, 0.0]
    assert project_l1_ball([3.0, -2.0], 3.0, [0.0, 0.0]).tolist() == [2.0, -1.0]
    # 4 w_1/(4 + mu) and w_2/(1 + mu) are 2/3 and 1/2 of w at mu = 2 and at mu = 1.
    assert project_l2_ball([3.0, 9.0], 13**0.5, [4.0, 1.0]) == pytest.approx([2.0, 3.0])
    assert project_l2_ball([5.0, -2.0], 17**0.5, [4.0, 1.0]) == pytest.approx([4.0, -1.0])
    assert project_l2_ball([3.0, -9.0], 5.0, [1.0, 0.0]) == pytest.approx([3.0, -4.0])
    assert project_l2_ball([3.0, -9.0], 2.0, [1.0, 0.0]).tolist() == [2.0, 0.0]
    assert project_l2_ball([3.0, -4.0], 2.5, [0.0, 0.0]) == pytest.approx([1.5, -2.0])


def loops_l1_projection(radius):
    """Return the projection of a solver's loop, which begins at the threshold of the last time."""
    tau = 0.0

    def project(w, weights=None):
        nonlocal tau
        u = np.empty_like(w)
        tau = nearest_in_l1_ball(w, weights, radius, tau, u)
        return u

    return project


@given(st.lists(weighted, min_size=1, max_size=5), radii, st.booleans())
def test_the_loops_projection_is_the_sorted_one_whatever_came_before(points, radius, plain):
    d = min(len(w) for w, _ in points)
    project = loops_l1_projection(radius)
    for w, s in points:
        w, s = w[:d], None if plain else s[:d]
        expected = project_l1_ball(w, radius, s)
        assert expected == pytest.approx(onto_l1_ball_by_bisection(w, radius, s), abs=1e-9)
        u = project(w, s)
        assert u == pytest.approx(expected, abs=1e-11)
        assert np.abs(u).sum() <= radius * (1 + 1e-12)


@pytest.fixture(scope="module", params=["plain", "compiled"])
def loops_l2(request):
    """Return the weighted l2 projection of a solver's loop, in NumPy or compiled."""
    if request.param == "plain":
        return nearest_in_weighted_l2_ball
    numba = pytest.importorskip("numba")
    register()
    return numba.njit(lambda *arguments: nearest_in_weighted_l2_ball(*arguments))


@given(points=st.lists(weighted, min_size=1, max_size=5), radius=radii, mu=st.floats(0.0, 1e6))
def test_the_loops_weighted_l2_projection_is_the_bisections_from_any_start(
    loops_l2, points, radius, mu
):
    d = min(len(w) for w, _ in points)
    for w, s in points:
        w, s = w[:d], s[:d]
        u = w.copy()
        mu = loops_l2(u, s, radius, mu, u)
        assert np.linalg.norm(u) <= radius * (1 + 1e-12)
        assert mu >= 0.0
        if np.linalg.norm(w) <= radius * (1 + 1e-12):
            assert u == pytest.approx(w, rel=1e-11)
            continue
        assert np.linalg.norm(u) == pytest.approx(radius, rel=1e-14)
        assert u == pytest.approx(s * w / (s + mu), abs=1e-12 * radius)
        assert u == pytest.approx(onto_l2_ball_by_bisection(w, radius, s), abs=1e-6)
        assert u == pytest.approx(project_l2_ball(w, radius, s), abs=1e-6)


def test_the_loops_weighted_l2_projection_shows_a_run_that_diverged(loops_l2):
    for bad in ([np.nan, 1.0], [np.inf, 1.0], [-np.inf, np.inf]):
        u = np.array(bad)
        loops_l2(u, np.array([1.0, 2.0]), 1.0, 0.5, u)
        assert np.isnan(u).all()


def test_weights_of_all_sizes_and_a_far_start_need_few_steps_to_the_weighted_l2_projection(
    loops_l2,
):
    rng, u = np.random.default_rng(9), np.empty(6)
    for start in (0.0, 1e-100, 1.0, 1e200, 1e300):
        for _ in range(50):
            w, s = rng.standard_normal(6), 10.0 ** rng.uniform(-150, 0, 6)
            radius = np.linalg.norm(w) * rng.uniform(0.05, 0.95)
            loops_l2(w, s, radius, start, u)
            assert u == pytest.approx(onto_l2_ball_by_bisection(w, radius, s), abs=1e-9)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.5, 2.0, 4.0])])
def test_the_loops_projection_follows_the_smallest_moves(weights):
    # The threshold of the last point is nearly right, but what remains must not add up.
    rng = np.random.default_rng(8)
    project, w = loops_l1_projection(1.0), np.array([0.9, -0.7, 0.5, 0.01])
    for _ in range(50):
        w += 1e-10 * rng.standard_normal(4)
        assert project(w, weights) == pytest.approx(project_l1_ball(w, 1.0, weights), abs=1e-14)


@given(vectors, radii)
def test_the_loops_l2_projection_is_the_checked_one_and_tells_its_factor(w, radius):
    u = w.copy()
    factor = nearest_in_l2_ball(u, radius)
    assert u == pytest.approx(project_l2_ball(w, radius), rel=1e-12, abs=1e-300)
    assert u == pytest.approx(factor * w, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("size", [1e-160, 1e20, 1e150])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 1e-9, 2.0])])
def test_a_point_of_another_scale_than_the_ball_is_projected_into_it(size, weights):
    w = size * np.array([3.0, -2.0, 0.0])
    for u in (project_l1_ball(w, 1.0, weights), loops_l1_projection(1.0)(w, weights)):
        assert np.isfinite(u).all()
        assert np.abs(u).sum() <= 1.0 + 1e-12
        assert (u * w >= 0.0).all()
    u = project_l2_ball(w, 1.0, weights)
    assert np.linalg.norm(u) == pytest.approx(min(1.0, np.linalg.norm(w)), rel=1e-14)
    assert (u * w >= 0.0).all()


@pytest.mark.parametrize("bad", [[np.nan, 1.0], [np.inf, 1.0], [-np.inf, np.inf], [0.0, np.nan]])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0])])
def test_the_loops_projection_shows_a_run_that_diverged(bad, weights):
    project = loops_l1_projection(1.0)
    assert project(np.array([3.0, 2.5]), weights).tolist() != [0.0, 0.0]
    with np.errstate(invalid="ignore"):
        assert np.isnan(project(np.array(bad), weights)).all()
    assert project(np.array([3.0, 0.0]), weights).tolist() == [1.0, 0.0]
    assert project(np.array([0.3, -0.1]), weights).tolist() == [0.3, -0.1]


@given(st.lists(vectors.map(lambda w: np.resize(w, 4)), min_size=1, max_size=4), radii)
def test_the_kept_projection_gives_new_arrays(points, radius):
    project = l1_projection(L1Ball(radius))
    for w in points:
        before = w.copy()
        u = project(w)
        assert u == pytest.approx(project_l1_ball(w, radius), abs=1e-11)
        if np.abs(w).sum() < radius * (1 - 1e-12):
            assert u.tolist() == w.tolist()
        u += 1.0
        assert w.tolist() == before.tolist()
    with np.errstate(invalid="ignore"):
        assert np.isnan(project(np.array([np.inf, 1.0]))).all()


def test_a_start_far_beyond_the_threshold_is_no_harm():
    out = np.empty(3)
    for start in (0.0, 0.5, 2.9, 3.0, 1e9):
        for weights in (None, np.ones(3), np.array([1.0, 2.0, 4.0])):
            tau = nearest_in_l1_ball(np.array([3.0, -2.0, 0.1]), weights, 2.0, start, out)
            expected = project_l1_ball([3.0, -2.0, 0.1], 2.0, weights)
            assert out == pytest.approx(expected, abs=1e-13), (start, weights)
            assert 0.0 < tau < 4.0


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0], 2.0])
def test_bad_weights_are_refused(weights):
    message = "weights must be finite numbers >= 0 of shape (2,); got"
    for project in (project_l1_ball, project_l2_ball):
        for point in ([0.1, 0.2], [0.0, 0.0]):
            with pytest.raises(ValueError, match=re.escape(message)):
                project(point, 1.0, weights)


@pytest.mark.parametrize("radius", [0, -1.0, np.inf, np.nan, True])
def test_a_ball_of_bad_radius_is_refused(radius):
    with pytest.raises(ValueError, match="radius must be a finite number above 0; got"):
        L1Ball(radius)
