"""The Python side of the subgradient figure, without a browser, and its script under Node."""

import json

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib.widgets import SubgradientExplorer
from pegasos_lib.widgets.subgradient import FUNCTIONS, FUNCTIONS_OF_TWO
from tests.node import node

CLOSED = {
    "abs": abs,
    "hinge": lambda x: max(0, 1 - x),
    "three": lambda x: max(-1 - x, (1 + x) / 2, 2 * x - 1),
    "square": lambda x: x * x,
    "bent": lambda x: abs(x) + x * x / 2,
    "svm": lambda x: x * x / 12 + sum(max(0, 1 - a * x) for a in (1, 2, -1)) / 3,
}
SCRIPT = """
import { LINES, PLANES, line, step, value } from "./subgradient/derive.js";
const { lines, planes } = JSON.parse(process.argv[1]);
console.log(JSON.stringify({
  names: [Object.keys(LINES), Object.keys(PLANES)],
  lines: lines.map(([f, x, a]) => {
    const { low, high, supports } = line(LINES[f], x, a);
    return [value(LINES[f], [x]), low, high, supports];
  }),
  planes: planes.map(([f, w, theta, eta]) => {
    const { g, next, before, after, far, near } = step(PLANES[f], w, theta, eta);
    return [...g, ...next, before, after, far, near];
  }),
}));
"""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_interval_at_x_is_that_of_the_supporting_slopes(name):
    f, grid = CLOSED[name], np.linspace(-6, 6, 481)
    values = np.array([f(u) for u in grid])
    for x in np.linspace(-2, 2, 17):
        explorer = SubgradientExplorer(function=name, x=float(x))
        assert explorer.value(x) == pytest.approx(f(x), abs=1e-14)
        low, high = explorer.subdifferential
        for slope in (low - 0.03, low, (low + high) / 2, high, high + 0.03):
            if abs(slope) <= 4:
                explorer.slope = float(slope)
                below = values - f(x) - slope * (grid - x)
                assert explorer.supports == (below >= -1e-12).all(), (x, slope)


def test_svm_is_the_objective_of_its_problem():
    explorer = SubgradientExplorer(function="svm")
    for x in np.linspace(-2, 2, 9):
        assert explorer.value(x) == pytest.approx(explorer.problem.objective([x]), abs=1e-14)
        explorer.x = float(x)
        low, high = explorer.subdifferential
        assert low - 1e-12 <= explorer.problem.subgradient([x])[0] <= high + 1e-12
    explorer.x = 0.5
    assert explorer.subdifferential == pytest.approx((1 / 12 - 2 / 3, 1 / 12))


def test_the_step_ascends_and_comes_nearer():
    step = SubgradientExplorer(w=[1, 0], theta=1, eta=0.1).step()
    np.testing.assert_allclose(step.g, [1, 3])
    np.testing.assert_allclose(step.w, [0.9, -0.3])
    assert step.values == pytest.approx((1, 1.8))
    assert step.distances == pytest.approx((1, np.sqrt(0.9)))


@pytest.mark.parametrize("name", FUNCTIONS_OF_TWO)
def test_a_step_of_any_subgradient_below_the_limit_comes_nearer(name):
    rng = np.random.default_rng(0)
    for _ in range(300):
        w = np.round(rng.uniform(-2, 2, 2), 0 if rng.random() < 0.5 else 2)
        explorer = SubgradientExplorer(function2=name, w=w, theta=rng.random())
        step = explorer.step()
        gap = step.values[0] - explorer.value2(explorer.minimiser)
        assert gap >= -1e-15
        limit = 2 * gap / max(step.g @ step.g, 1e-300)
        if limit > 0.011:
            explorer.eta = min(2.0, 0.99 * limit)
            assert explorer.step().distances[1] < step.distances[0]
        for u in rng.uniform(-3, 3, (5, 2)):
            assert explorer.value2(u) >= step.values[0] + step.g @ (u - w) - 1e-12


def test_the_script_computes_the_same():
    rng = np.random.default_rng(1)
    lines = [(f, x, a) for f in FUNCTIONS for x in (-1.0, 0.0, 0.5, 1.0, 1.35) for a in (-1.0, 0.3)]
    planes = [
        (f, np.round(rng.uniform(-2, 2, 2), k).tolist(), 0.25, 0.4)
        for f in FUNCTIONS_OF_TWO
        for k in (0, 0, 1, 2)
    ]
    asked = json.dumps({"lines": lines, "planes": planes})
    shown = json.loads(node("--input-type=module", "-e", SCRIPT, asked))
    assert shown["names"] == [list(FUNCTIONS), list(FUNCTIONS_OF_TWO)]
    for (f, x, slope), got in zip(lines, shown["lines"], strict=True):
        explorer = SubgradientExplorer(function=f, x=x, slope=slope)
        expected = [explorer.value(x), *explorer.subdifferential, explorer.supports]
        assert got == pytest.approx(expected, abs=1e-12)
    for (f, w, theta, eta), got in zip(planes, shown["planes"], strict=True):
        step = SubgradientExplorer(function2=f, w=w, theta=theta, eta=eta).step()
        assert got == pytest.approx([*step.g, *step.w, *step.values, *step.distances], abs=1e-12)


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"x": 2.5}, "x must lie between -2 and 2; got 2.5"),
        ({"slope": float("nan")}, "slope must lie between"),
        ({"theta": -0.1}, "theta must lie between 0 and 1"),
        ({"eta": 0}, "eta must lie between 0.01 and 2"),
        ({"w": [1]}, "w must hold 2 numbers between -2 and 2"),
        ({"w": [3, 0]}, "w must hold 2 numbers"),
        ({"function": "cube"}, "function"),
        ({"guess": "maybe"}, "guess"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        SubgradientExplorer(**traits)
