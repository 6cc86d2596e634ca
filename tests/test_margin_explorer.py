"""The Python side of the margin figure, without a browser."""

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem
from pegasos_lib.widgets import MarginExplorer


def test_problem_is_what_the_figure_shows():
    explorer = MarginExplorer([[1, 2], [-1, 0]], [1, -1], lam=0.5)
    problem = explorer.problem
    np.testing.assert_array_equal(problem.X, [[1, 2], [-1, 0]])
    np.testing.assert_array_equal(problem.y, [1, -1])
    assert problem.lam == 0.5
    explorer.constant = True
    np.testing.assert_array_equal(explorer.problem.X, [[1, 2, 1], [-1, 0, 1]])


def test_w_has_a_number_for_each_feature():
    explorer = MarginExplorer(w=[1, 2])
    explorer.constant = True
    assert explorer.w == [1, 2, 0]
    explorer.w = [1, 2, 3]
    assert explorer.problem.objective(explorer.w) > 0
    explorer.constant = False
    assert explorer.w == [1, 2]
    assert MarginExplorer(w=[1, 2, 3], constant=True).w == [1, 2, 3]
    assert MarginExplorer(constant=True, w=[1, 2, 3]).w == [1, 2, 3]


def test_traits_that_the_script_sends_together_are_taken_together():
    explorer = MarginExplorer()
    X, y = [[0.0, 1.0]] * 9, [1] * 9
    explorer.set_state({"X": X, "y": y, "constant": True, "w": [0.5, 0.25, -1.0], "lam": 0.01})
    assert (explorer.X, explorer.y, explorer.w) == (X, y, [0.5, 0.25, -1.0])
    explorer.set_state({"constant": False, "w": [0.5, 0.25]})
    assert explorer.w == [0.5, 0.25]


@pytest.mark.parametrize("lam", [1e-5, 0.1, 10.0])
@pytest.mark.parametrize("constant", [False, True])
def test_run_gives_the_certified_minimum(lam, constant):
    explorer = MarginExplorer(lam=lam, constant=constant)
    run, problem = explorer.run(), explorer.problem
    assert -1e-12 < run.gap <= 1e-10
    assert problem.objective(run.w) <= problem.objective(explorer.w)
    if lam < 1 and not constant:
        np.testing.assert_allclose(run.w, [0.6, 0.2], atol=1e-6)


def test_e000_03_the_minimiser_misclassifies_separable_data():
    nine_and_one = [[1, 0]] * 9 + [[-0.9, 0.3]]
    explorer = MarginExplorer(nine_and_one, [1] * 10)
    mistakes = {}
    for lam in (1, 0.1, 0.01, 1e-3):
        explorer.lam = lam
        mistakes[lam] = int((explorer.problem.margins(explorer.run().w) <= 0).sum())
    assert mistakes == {1: 1, 0.1: 1, 0.01: 1, 1e-3: 0}


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 0}, "lam must lie between 1e-05 and 10"),
        ({"lam": float("nan")}, "lam must lie between"),
        ({"w": [1]}, "w must hold 2 numbers, or 3"),
        ({"w": [1, 2, 3, 4]}, "w must hold 2 numbers, or 3"),
        ({"w": [1, float("nan")]}, "w must hold 2 numbers"),
        ({"w": [101, 0]}, "between -100 and 100"),
        ({"extent": 3}, "extent"),
        ({"selected": -1}, "selected"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        MarginExplorer(**traits)


def test_points_can_be_replaced_by_others_of_another_number():
    explorer = MarginExplorer()
    explorer.set_points([[0, 1]], [-1])
    assert isinstance(explorer.problem, HingeProblem)
    assert explorer.problem.n == 1
