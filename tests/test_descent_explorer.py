"""The Python side of the descent figure, and its script's numbers, without a browser."""

import json
import math

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import (
    ArmijoStep,
    Descent,
    Run,
    SmallChange,
    SmallDecrease,
    SmallGradient,
    gradient_descent,
    sdca,
    sgd,
    subgradient_descent,
)
from pegasos_lib.widgets import DescentExplorer
from tests.node import node

FUNCTIONS = tuple(DescentExplorer.formulas)
SMOOTH = "bowl", "squares", "valley", "ring", "exp"


def points(number=40, reach=4.0):
    return np.random.default_rng(7).uniform(-reach, reach, size=(number, 2))


# --------------------------------------------------------------------------------- the functions


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_support_the_function_from_below(name):
    explorer = DescentExplorer(name)
    for w in points(30):
        for v in points(30):
            rise = explorer.gradient(w) @ (v - w)
            assert explorer.f(v) >= explorer.f(w) + rise - 1e-9


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_the_smooth_ones_are_the_slopes(name):
    explorer, h = DescentExplorer(name), 1e-6
    for w in points():
        slope = [(explorer.f(w + h * e) - explorer.f(w - h * e)) / (2 * h) for e in np.eye(2)]
        assert slope == pytest.approx(explorer.gradient(w), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_lies_below_the_infimum_and_the_minimiser_reaches_it(name):
    explorer = DescentExplorer(name)
    assert min(explorer.f(w) for w in points(500)) >= explorer.infimum
    if explorer.minimiser is not None:
        assert explorer.f(explorer.minimiser) == pytest.approx(explorer.infimum, abs=1e-15)
    assert (explorer.minimiser is None) == (name == "exp")


def test_the_minimum_of_the_hinge_objective_is_the_certified_one():
    explorer = DescentExplorer("hinge")
    run = sdca(explorer.problem, n_epochs=100_000, gap=1e-13)
    assert explorer.infimum == pytest.approx(run.trace.objective[-1], abs=1e-12)
    assert run.w == pytest.approx(explorer.minimiser, abs=1e-6)


def test_the_function_without_a_minimum_falls_to_its_infimum():
    exp = DescentExplorer("exp")
    assert exp.f(np.array([-300.0, 0])) < 1e-100 == 1e-100
    assert exp.infimum == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exact_steps_are_least_along_their_coordinate(name):
    for w in points(25):
        explorer = DescentExplorer(name, start=w, direction="exact", n_iter=2)
        path = explorer.path
        if name == "exp":  # no least value along a
            assert len(path) == 1
            assert explorer.run().stopped_by == "no minimum"
            continue
        for before, after, j in ((path[0], path[1], 0), (path[1], path[2], 1)):
            assert after[1 - j] == before[1 - j]
            for shift in (-1, -0.1, -1e-3, 1e-3, 0.1, 1):
                assert explorer.f(after + shift * np.eye(2)[j]) >= explorer.f(after) - 1e-12


@pytest.mark.parametrize("name", ["squares", "hinge"])
def test_sampled_terms_average_to_the_gradient(name):
    explorer = DescentExplorer(name, direction="sampled", n_iter=1, c=0.5)
    n = 3 if name == "squares" else 6
    for w in points(10):
        explorer.start = w
        steps = {}
        for seed in range(40):
            explorer.seed = seed
            steps[explorer.draws[0]] = (explorer.path[0] - explorer.path[1]) / 0.5
        assert sorted(steps) == list(range(n))
        assert np.mean([*steps.values()], axis=0) == pytest.approx(explorer.gradient(w), abs=1e-12)


# -------------------------------------------------------------------------- runs of the library


def test_steepest_descent_is_the_librarys():
    explorer = DescentExplorer("hinge", rule="armijo", c=2.0, gamma=0.3, n_iter=60)
    run = subgradient_descent(
        explorer.problem,
        n_iter=60,
        step=ArmijoStep(c=2.0, factor=0.3),
        average=None,
        w0=explorer.start,
    )
    assert isinstance(explorer.run(), Run)
    np.testing.assert_array_equal(explorer.run().w, run.w)
    np.testing.assert_array_equal(explorer.path[-1], run.w)
    valley = DescentExplorer("valley", rule="inverse-sqrt", c=0.05)
    assert isinstance(valley.run(), Descent)
    assert valley.run().step_sizes == pytest.approx(0.05 / np.sqrt(np.arange(1, 101)))


@pytest.mark.parametrize("rule", ["constant", "inverse-time", "inverse-sqrt"])
def test_sampled_hinge_steps_are_those_of_sgd(rule):
    explorer = DescentExplorer(
        "hinge", start=(0, 0), direction="sampled", rule=rule, c=0.7, seed=3, n_iter=200
    )
    run = sgd(
        explorer.problem,
        n_iter=200,
        step=explorer._library_rule(),
        draws=explorer.draws,
        record=range(201),
    )
    np.testing.assert_allclose(explorer.path, run.trace.w, atol=1e-12)


@pytest.mark.parametrize("name", ["squares", "valley", "ring", "hinge", "corner"])
@pytest.mark.parametrize("rule", ["constant", "armijo"])
def test_first_fires_are_where_the_librarys_tests_stop(name, rule):
    explorer = DescentExplorer(name, rule=rule, c=0.08, eps=0.02, n_iter=200)
    fired = explorer.first_fires()
    tests = {"decrease": SmallDecrease(0.02), "change": SmallChange(0.02)}
    for key, test in {**tests, "gradient": SmallGradient(0.02)}.items():
        if name == "hinge":
            run = subgradient_descent(
                explorer.problem,
                n_iter=200,
                step=explorer._library_rule(),
                w0=explorer.start,
                stop=test,
            )
        else:
            run = gradient_descent(
                explorer.f,
                explorer.gradient,
                explorer.start,
                n_iter=200,
                step=explorer._library_rule(),
                stop=test,
            )
        assert fired[key] == (run.n_iter if run.stopped_by == test.name else None), key


# ------------------------------------------------------------------------ what chapter 3 tells


def test_e002_07_plain_backtracking_stalls_on_the_ring():
    explorer = DescentExplorer("ring", rule="backtracking", c=1.0, n_iter=200)
    run = explorer.run()
    assert run.stopped_by == "no decrease"
    assert run.n_iter == 46
    assert (np.diff(run.values) < 0).all()
    size = np.linalg.norm(run.path, axis=1)
    np.testing.assert_allclose(size, 1 + 0.5 ** np.arange(47), rtol=0, atol=1e-13)
    for start in ((0, -3.1), (2.2, 1.7)):
        explorer.start = start
        assert explorer.f(explorer.path[-1]) == pytest.approx(1)
        explorer.rule = "armijo"
        assert explorer.f(explorer.path[-1]) < 1e-8
        explorer.rule = "backtracking"


def test_e002_04_four_ways_to_miss_the_optimum():
    grown = DescentExplorer("bowl", start=(1, 0), c=1.1, n_iter=50).path[-1]
    assert grown == pytest.approx([1.2**50, 0])
    cycle = DescentExplorer("corner", start=(0.5, 0.5), c=1.0).path
    assert set(np.abs(cycle).ravel()) == {0.5}
    trap = DescentExplorer("trap", direction="exact")
    assert trap.path[1:] == pytest.approx(0)
    assert trap.f(trap.path[-1]) == 0 > trap.infimum
    assert DescentExplorer("exp", c=1.0, start=(0, 0), n_iter=200).w[0] < -1


@pytest.mark.parametrize(("name", "limit"), [("bowl", 1), ("squares", 2 / 3), ("valley", 0.1)])
def test_constant_steps_converge_below_two_over_l_alone(name, limit):
    explorer = DescentExplorer(name, n_iter=200)
    hessian = np.array([explorer.gradient(e) - explorer.gradient(np.zeros(2)) for e in np.eye(2)])
    assert 2 / np.linalg.eigvalsh(hessian).max() == pytest.approx(limit)
    for c, converges in ((0.97 * limit, True), (1.03 * limit, False)):
        explorer.c = c
        path = explorer.path
        assert (explorer.f(path[-1]) < explorer.f(path[0])) == converges


def test_e002_08_the_printed_test_fires_at_the_first_decrease():
    for name in ("bowl", "valley", "hinge", "ring"):
        fired = DescentExplorer(name, c=0.08, eps=1e-6).first_fires()
        assert fired["increase"] == 1
        assert fired["decrease"] != 1


def test_e002_09_short_steps_fire_far_from_the_minimum():
    explorer = DescentExplorer("hinge", rule="inverse-time", c=1.0, start=(-2, 2.5))
    t = explorer.first_fires()["change"]
    assert explorer.f(explorer.path[t]) - explorer.infimum > 10 * explorer.eps


# ----------------------------------------------------------------------------- the traits


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"function": "cube"}, "function"),
        ({"start": (1, 2, 3)}, "start must hold 2 numbers between -4 and 4"),
        ({"start": (1, 4.5)}, "start must hold 2 numbers"),
        ({"start": (1, math.nan)}, "start must hold 2 numbers"),
        ({"direction": "newton"}, "direction"),
        ({"direction": "sampled"}, "to be one of squares, hinge; got valley"),
        ({"rule": "pegasos"}, "rule"),
        ({"c": 0}, "c must lie between 0.001 and 10; got 0"),
        ({"c": math.nan}, "c must lie between"),
        ({"gamma": 1}, "gamma must lie between 0.05 and 0.95"),
        ({"eps": 2}, "eps must lie between 1e-06 and 1"),
        ({"n_iter": 201}, "200"),
        ({"t": -1}, "t"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        DescentExplorer(**traits)


def test_a_function_that_is_no_average_is_not_sampled():
    explorer = DescentExplorer("hinge", direction="sampled")
    assert len(explorer.draws) == 100
    explorer.function = "bowl"
    assert explorer.direction == "steepest"
    assert explorer.draws is None
    explorer.set_state({"function": "squares", "direction": "sampled", "start": [1.0, 1.0]})
    assert (explorer.function, explorer.direction) == ("squares", "sampled")


# ----------------------------------------------------------------------- the script's numbers

SCRIPT = """
import { descend, firstFires } from "./descent/derive.js";
import { FUNCTIONS, HINGE } from "./descent/functions.js";
import { DEFAULTS } from "./descent/state.js";
const answers = JSON.parse(process.argv[1]).map((state) => {
  const run = descend(state);
  const finite = (list) => list.map((x) => (Number.isFinite(x) ? x : null));
  return { path: run.path.map(finite), values: finite(run.values), stopped: run.stopped,
    etas: finite(run.etas), draws: run.draws && [...run.draws], fired: firstFires(run, state) };
});
const functions = Object.fromEntries(Object.entries(FUNCTIONS).map(([name, f]) => [name, {
  start: f.start, infimum: f.infimum, minimiser: f.minimiser }]));
console.log(JSON.stringify({ answers, functions, HINGE, DEFAULTS }));
"""


def cases():
    rules = [("constant", 0.09), ("constant", 1.1), ("inverse-time", 1.0), ("inverse-sqrt", 0.3)]
    for name in FUNCTIONS:
        average = name in ("squares", "hinge")
        for direction in ("steepest", "coordinate", "sampled")[: 3 if average else 2]:
            for rule, c in [*rules, ("backtracking", 1.0), ("armijo", 1.3)]:
                yield DescentExplorer(
                    name, direction=direction, rule=rule, c=c, gamma=0.4, seed=5, n_iter=60
                )
        yield DescentExplorer(name, direction="exact", n_iter=40)
    yield DescentExplorer("valley", c=10.0, n_iter=200)
    # Here Armijo's share decides: from c = 1 every step lowers f, ever less.
    yield DescentExplorer("ring", rule="armijo", c=1.0)
    yield DescentExplorer("ring", rule="backtracking", c=1.0, start=(1.3, -2.1), n_iter=200)
    yield DescentExplorer("exp", rule="armijo", c=10.0, start=(4, -4), n_iter=200)


@pytest.fixture(scope="module")
def shown():
    explorers = list(cases())
    asked = json.dumps([explorer.state() for explorer in explorers])
    return explorers, json.loads(node("--input-type=module", "-e", SCRIPT, asked))


def test_script_and_python_take_the_same_steps(shown):
    for explorer, answer in zip(shown[0], shown[1]["answers"], strict=True):
        run, name = explorer.run(), repr(explorer)
        stopped = run.stopped_by if run.stopped_by != "n_iter" else ""
        assert answer["stopped"] == stopped, name
        path = np.array(answer["path"], dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.where(np.isfinite(explorer.path), explorer.path, np.nan)
            values = np.array([explorer.f(w) for w in explorer.path])
        np.testing.assert_allclose(path, expected, rtol=1e-10, atol=1e-10, err_msg=name)
        np.testing.assert_allclose(
            np.array(answer["values"], dtype=float),
            np.where(np.isfinite(values), values, np.nan),
            rtol=1e-10,
            atol=1e-10,
            err_msg=name,
        )
        assert answer["draws"] == explorer.draws, name
        assert answer["fired"] == explorer.first_fires(), name
        if isinstance(run, Descent):
            np.testing.assert_allclose(
                np.array(answer["etas"], dtype=float), run.step_sizes, rtol=1e-12, err_msg=name
            )


def test_script_and_python_have_the_same_functions_and_defaults(shown):
    functions = shown[1]["functions"]
    assert tuple(functions) == FUNCTIONS
    for name, told in functions.items():
        explorer = DescentExplorer(name)
        assert told["start"] == explorer.start
        assert told["infimum"] == pytest.approx(explorer.infimum, abs=1e-12)
        if told["minimiser"]:
            assert told["minimiser"] == pytest.approx(explorer.minimiser, abs=1e-9)
        else:
            assert explorer.minimiser is None
    problem = DescentExplorer("hinge").problem
    np.testing.assert_array_equal(problem.X, shown[1]["HINGE"]["X"])
    np.testing.assert_array_equal(problem.y, shown[1]["HINGE"]["y"])
    assert problem.lam == shown[1]["HINGE"]["lam"]
    assert shown[1]["DEFAULTS"] == DescentExplorer().state()
