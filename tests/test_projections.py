import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos_lib import project_l1_ball, project_l2_ball, project_simplex

vectors = arrays(np.float64, st.integers(1, 6), elements=st.floats(-100, 100))
radii = st.floats(1e-3, 1e3)

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
    w = np.array([3.0, 4.0, 0.5])
    p = ball[0](w, 100.0)
    p += 1.0
    assert w.tolist() == [3.0, 4.0, 0.5]


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
