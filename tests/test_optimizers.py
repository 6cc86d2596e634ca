"""The seven set-ups of the book: each is its solver, in the set that it is said to be in."""

import math
from functools import partial

import numpy as np
import pytest

from pegasos_lib import (
    HingeProblem,
    L1Ball,
    adagrad,
    exponentiated_gradient,
    mirror_descent,
    pegasos,
    sgd,
    subgradient_descent,
)
from pegasos_lib.optimizers import BATCH, OPTIMIZERS, RADIUS, SETS, comparator, optimize

BALL = L1Ball(10.0)
DIRECT = {
    ("GD", "l1"): subgradient_descent,
    ("GD", "own"): subgradient_descent,
    ("projected GD", "l1"): partial(subgradient_descent, project=BALL),
    ("projected GD", "own"): partial(subgradient_descent, project=True),
    ("SGD", "l1"): partial(sgd, project=BALL),
    ("SGD", "own"): sgd,
    ("SMD", "l1"): partial(mirror_descent, project=BALL),
    ("SMD", "own"): mirror_descent,
    ("SEG±", "l1"): partial(exponentiated_gradient, radius=10.0),
    ("SEG±", "own"): partial(exponentiated_gradient, radius=10.0),
    ("AdaGrad", "l1"): partial(adagrad, project=BALL),
    ("AdaGrad", "own"): adagrad,
    ("Pegasos", "l1"): partial(pegasos, project=BALL),
    ("Pegasos", "own"): pegasos,
}


@pytest.fixture(scope="module")
def problem():
    """Examples whose optimum lies outside both balls: every projection is needed."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 3)) * 0.1
    return HingeProblem(X, np.where(X[:, 0] + 0.02 * X[:, 1] > 0, 1.0, -1.0), lam=2e-3)


def test_each_optimizer_is_its_solver_with_the_steps_it_has_by_default(problem):
    assert {(name, feasible) for name in OPTIMIZERS for feasible in SETS} == set(DIRECT)
    for (name, feasible), solve in DIRECT.items():
        options = {"n_iter": 300, "record": [0, 7, 300]}
        run = optimize(name, problem, feasible=feasible, rng=5, **options)
        again = solve(problem, **options, **({} if name in BATCH else {"rng": 5}))
        np.testing.assert_array_equal(run.trace.w, again.trace.w, err_msg=f"{name}, {feasible}")
        np.testing.assert_array_equal(run.trace.w_average, again.trace.w_average)
        assert (run.draws is None) == (name in BATCH)


def test_the_iterates_stay_where_the_comparator_is_best(problem):
    root = 1 / math.sqrt(problem.lam)
    for name, feasible in DIRECT:
        run = optimize(name, problem, feasible=feasible, n_iter=400, record=50)
        reach = np.abs(run.trace.w).sum(axis=1).max()
        if comparator(name, feasible) == "l1":
            assert reach <= RADIUS * (1 + 1e-9), f"{name}, {feasible}: {reach}"
        elif name != "SGD":  # whose steps are too short here to come so far
            assert reach > RADIUS, f"{name}, {feasible}: {reach}"
        if feasible == "own" and name in ("projected GD", "SMD", "Pegasos"):
            assert np.linalg.norm(run.trace.w, axis=1).max() <= root * (1 + 1e-9)


def test_an_unknown_name_or_set_is_refused(problem):
    with pytest.raises(ValueError, match=r"optimizer must be 'GD', .* or 'Pegasos'; got 'Adam'"):
        optimize("Adam", problem, n_iter=1)
    with pytest.raises(ValueError, match="feasible must be 'l1' or 'own'; got 'l2'"):
        optimize("SGD", problem, n_iter=1, feasible="l2")
    with pytest.raises(ValueError, match="feasible must be"):
        comparator("SGD", "l2")
