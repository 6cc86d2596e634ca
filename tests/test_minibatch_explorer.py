"""The Python side of the mini-batch figure, without a browser."""

import json
from pathlib import Path

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem
from pegasos_lib.widgets import MinibatchExplorer
from pegasos_lib.widgets.pegasos import figure_draws
from tests.node import node

GOLDEN = Path(__file__).parent / "golden"
STATES = [
    {},
    {"w": [0.0, 0.0], "batch_size": 1},
    {"w": [1.5, -0.25], "batch_size": 7, "replace": False, "seed": 2**31 - 1},
    {"batch_size": 20, "replace": False, "lam": 2.0, "seed": 0},
    {"X": [[1.0, 2.0], [-0.5, 0.25], [3.0, -1.0]], "y": [1, 1, -1], "batch_size": 3, "w": [-1, 2]},
    {"X": [[1.0, 2.0]], "y": [-1], "batch_size": 1, "replace": False},
]
SHOWN = """
import { drawsOf, laboratory } from "./minibatch/derive.js";
const derive = laboratory();
console.log(JSON.stringify(JSON.parse(process.argv[1]).map((state) => {
  const { problem, ...now } = derive(state);
  return { ...now, margins: [...now.margins], draws: [...drawsOf(state, state.batch_size)] };
})));
"""


def test_the_library_computes_what_the_figure_shows():
    explorers = [MinibatchExplorer(**state) for state in STATES]
    asked = json.dumps([explorer.state() for explorer in explorers])
    answers = json.loads(node("--input-type=module", "-e", SHOWN, asked))
    for explorer, shown in zip(explorers, answers, strict=True):
        noise, k = explorer.run(), explorer.batch_size
        assert explorer.draws.ravel().tolist() == shown["draws"]
        for name, value in (
            ("singles", noise.singles),
            ("mean", noise.mean),
            ("cloud", noise.batch_means),
            ("sigma2", noise.sigma2),
            ("variance", noise.variance),
        ):
            np.testing.assert_allclose(value, shown[name], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(noise.measured, shown["measured"][k - 1], atol=1e-12)
        half_axes = np.sqrt(np.maximum(0, np.linalg.eigvalsh(noise.covariance)[::-1]))
        np.testing.assert_allclose(half_axes, shown["ellipse"]["axes"], atol=1e-7)


@pytest.mark.parametrize("replace", [True, False])
def test_the_formula_is_the_variance_over_all_batches(replace):
    from itertools import combinations, product

    X, y = [[1.0, 2.0], [-0.5, 0.25], [3.0, -1.0], [0.2, 0.1]], [1, 1, -1, -1]
    for k in (1, 2, 3, 4):
        explorer = MinibatchExplorer(X, y, w=[0.3, -0.2], batch_size=k, replace=replace)
        batches = product(range(4), repeat=k) if replace else combinations(range(4), k)
        means = np.array([explorer.problem.subgradient(explorer.w, list(b)) for b in batches])
        noise = explorer.run()
        np.testing.assert_allclose(means.mean(axis=0), noise.mean, atol=1e-14)
        spread = means - noise.mean
        np.testing.assert_allclose(spread.T @ spread / len(means), noise.covariance, atol=1e-14)
        assert noise.variance == pytest.approx((spread**2).sum(axis=1).mean(), abs=1e-14)


def test_draws_without_replacement_are_those_of_the_engine():
    cases = json.loads((GOLDEN / "draws.json").read_text())
    held = 0
    for case in cases:
        draws = figure_draws(
            case["seed"],
            case["n"],
            case["n_iter"],
            case["batch_size"],
            case["sampling"],
            case["replace"],
        )
        assert draws.ravel().tolist() == case["expected"]["draws"], case["name"]
        held += case["sampling"] == "iid" and not case["replace"] and case["batch_size"] > 1
    assert held >= 1


def test_each_size_has_draws_of_its_own_and_the_points_bound_it():
    explorer = MinibatchExplorer(batch_size=3)
    first = explorer.draws
    explorer.batch_size = 4
    assert not np.array_equal(first, explorer.draws[:, :3])
    explorer.set_points([[0, 1], [1, 0]], [1, -1])
    assert explorer.draws.shape == (200, 2)
    assert isinstance(explorer.problem, HingeProblem)
    explorer.replace = False
    assert explorer.run().variance == 0


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 0}, "lam must lie between 0.001 and 10"),
        ({"w": [1]}, "w must hold 2 numbers between -4 and 4"),
        ({"w": [5, 0]}, "between -4 and 4"),
        ({"w": [float("nan"), 0]}, "w must hold 2 numbers"),
        ({"batch_size": 0}, "batch_size must lie between 1 and 60; got 0"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        MinibatchExplorer(**traits)
