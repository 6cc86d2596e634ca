"""The Python side of the chord figure, without a browser."""

import json

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem
from pegasos_lib.widgets import ChordExplorer
from pegasos_lib.widgets.chord import FUNCTIONS, RULES
from tests.node import node

GRID = np.linspace(-2, 2, 81)
THETAS = np.linspace(0, 1, 401)
SHOWN = """
import { DEFAULTS, derive, functionOf, interval } from "./chord/derive.js";
const states = JSON.parse(process.argv[1]);
console.log(JSON.stringify(states.map((changes) => {
  const state = { ...DEFAULTS, ...changes };
  const [low, high] = interval(state);
  const f = functionOf(state);
  const now = derive(state);
  const inside = Array.from({ length: 41 }, (_, i) => low + ((high - low) * i) / 40);
  const gaps = now.samples.map((sample) => sample.corrected);
  return { interval: [low, high], values: inside.map(f), gaps };
})));
"""


def in_the_script(code, *arguments):
    return json.loads(node("--input-type=module", "-e", code, *map(json.dumps, arguments)))


def test_functions_rules_and_gaps_are_those_of_the_script():
    rng = np.random.default_rng(0)
    states = [
        {"phi": phi, "psi": str(rng.choice(list(FUNCTIONS))), "rule": rule,
         "q": round(float(rng.uniform(-3, 3)), 2), "u": round(float(rng.uniform(1, 2)), 2),
         "w": round(float(rng.uniform(0.6, 1)), 2), "mu": round(float(rng.uniform(0, 4)), 2)}
        for phi in FUNCTIONS for rule in RULES
    ]  # fmt: skip
    for state, shown in zip(states, in_the_script(SHOWN, states), strict=True):
        explorer = ChordExplorer(**state)
        assert explorer.interval == pytest.approx(shown["interval"], abs=1e-15)
        values = explorer.function(np.linspace(*explorer.interval, 41))
        np.testing.assert_allclose(values, shown["values"], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(explorer.gap(THETAS), shown["gaps"], rtol=1e-10, atol=1e-10)


def test_first_state_and_names_are_those_of_the_script():
    code = """import { DEFAULTS, FUNCTIONS, RULES } from "./chord/derive.js";
    console.log(JSON.stringify([DEFAULTS, Object.keys(FUNCTIONS), Object.keys(RULES)]));"""
    defaults, functions, rules = in_the_script(code)
    assert ChordExplorer().state() == defaults
    assert (functions, rules) == (list(FUNCTIONS), list(RULES))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("phi", GRID**2),
        ("sum", GRID**2 + 0.5 * np.exp(GRID)),
        ("scale", 0.5 * GRID**2),
        ("max", np.maximum(GRID**2, np.exp(GRID))),
        ("min", np.minimum(GRID**2, np.exp(GRID))),
        ("product", GRID**2 * np.exp(GRID)),
        ("difference", GRID**2 - np.exp(GRID)),
        ("affine", (2 * GRID - 1) ** 2),
    ],
)
def test_rules_combine_as_they_say(rule, expected):
    explorer = ChordExplorer(phi="square", psi="exp", rule=rule, q=0.5)
    np.testing.assert_allclose(explorer.function(GRID), expected, rtol=1e-14)


def test_svm_is_the_objective_of_the_library():
    four = HingeProblem([[2.0], [1.0], [0.6], [-0.8]], np.ones(4), lam=0.1)
    shown = ChordExplorer(phi="svm").function(GRID)
    np.testing.assert_allclose(shown, [four.objective([x]) for x in GRID], rtol=1e-14)


def test_gap_of_the_square_has_its_closed_form():
    explorer = ChordExplorer(phi="square", u=-1, w=1.5, mu=0.5)
    exact = (1 - 0.25) * THETAS * (1 - THETAS) * 2.5**2
    np.testing.assert_allclose(explorer.gap(THETAS), exact, atol=1e-14)


@pytest.mark.parametrize(
    ("traits", "lowest"),
    [
        ({"u": -1, "w": 1}, -1.0),  # the double well, at 0
        ({"phi": "exp"}, 0.0),
        ({"phi": "square", "u": -1, "w": 1, "mu": 3}, -0.5),
        ({"phi": "square", "u": -1, "w": 1, "mu": 2}, 0.0),
        ({"phi": "abs", "psi": "hinge", "rule": "min", "u": 0, "w": 1}, -0.5),
    ],
)
def test_run_finds_where_the_chord_is_lowest(traits, lowest):
    explorer = ChordExplorer(**traits)
    theta, gap = explorer.run()
    assert gap == pytest.approx(lowest, abs=1e-12)
    assert explorer.gap(theta) == gap
    if gap < -1e-9:
        assert theta == pytest.approx(0.5)


def test_ends_outside_of_a_shorter_interval_count_as_moved_into_it():
    explorer = ChordExplorer(phi="log", u=-1, w=2)
    assert explorer.interval == (0.02, 2)
    assert np.isfinite(explorer.gap(THETAS)).all()
    assert explorer.run()[1] < -1


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"phi": "cube"}, "phi"),
        ({"psi": ""}, "psi"),
        ({"rule": "mean"}, "rule"),
        ({"q": 3.5}, "q must lie between -3 and 3; got 3.5"),
        ({"u": -2.1}, "u must lie between -2 and 2; got -2.1"),
        ({"w": float("nan")}, "w must lie between"),
        ({"theta": 1.5}, "theta must lie between 0 and 1"),
        ({"mu": -1}, "mu must lie between 0 and 4"),
        ({"beyond": "on"}, "beyond"),
        ({"guess": "maybe"}, "guess"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        ChordExplorer(**traits)
