"""The regret figure's Python side: streams, runs, regret and bounds are those of the library."""

import json
import math

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem, pegasos, regret
from pegasos_lib.widgets import RegretExplorer
from pegasos_lib.widgets.regret import RULES, STREAMS
from tests.node import node

STATES = [
    {},
    {"stream": "adversary", "n_iter": 2000, "lam": 0.05},
    {"stream": "adversary", "rule": "printed", "lam": 10.0, "n_iter": 300},
    {"stream": "adversary", "rule": "constant", "lam": 0.3, "n_iter": 250},
    {"stream": "adversary", "rule": "inverse-sqrt", "lam": 1e-4},
    {"stream": "cyclic", "rule": "inverse-sqrt", "n_iter": 37},
    {"stream": "you", "picks": [0, 11, 0, 11, 4], "lam": 0.2, "rule": "constant"},
    {"stream": "you", "picks": [3], "n_iter": 1},
    {"X": [[1.0, 2.0]], "y": [-1], "lam": 2.0, "n_iter": 20, "seed": 2**31 - 1},
]
SHOWN = """
import { play } from "./regret/derive.js";
console.log(JSON.stringify(JSON.parse(process.argv[1]).map((state) => {
  const run = play(state);
  const { draws, W, grid, regrets, besides, crossing, size } = run;
  const bounds = grid.map(run.bound);
  return { draws: [...draws], W: [...W], grid, regrets, besides, bounds, crossing, ...size };
})));
"""


def shown_by_the_script(explorers):
    states = json.dumps([explorer.state() for explorer in explorers])
    return json.loads(node("--input-type=module", "-e", SHOWN, states))


def test_the_library_computes_what_the_figure_shows():
    explorers = [RegretExplorer(**state) for state in STATES]
    for explorer, shown in zip(explorers, shown_by_the_script(explorers), strict=True):
        T = len(explorer.draws)
        assert explorer.draws.tolist() == shown["draws"]
        W = explorer.run(record=range(T + 1)).trace.w
        np.testing.assert_allclose(W.ravel(), shown["W"], rtol=1e-10, atol=1e-10)
        some = np.unique(
            np.array(shown["grid"])[np.linspace(0, len(shown["grid"]) - 1, 9, dtype=int)]
        )
        at = np.searchsorted(shown["grid"], some)
        np.testing.assert_allclose(
            explorer.regret(some), np.array(shown["regrets"])[at], rtol=1e-8, atol=2e-7
        )
        np.testing.assert_allclose(
            explorer.regret(some, explorer.optimum),
            np.array(shown["besides"])[at],
            rtol=1e-6,
            atol=1e-6,
        )
        np.testing.assert_allclose(explorer.bound(shown["grid"]), shown["bounds"], rtol=1e-12)
        assert explorer.crossover == shown["crossing"]
        assert (explorer.G, explorer.diameter) == pytest.approx((shown["G"], shown["D"]))


def test_first_values_are_those_of_the_script():
    code = 'import { DEFAULTS } from "./regret/derive.js"; console.log(JSON.stringify(DEFAULTS));'
    assert RegretExplorer().state() == json.loads(node("--input-type=module", "-e", code))


def test_the_steps_of_pegasos_are_the_solver_pegasos():
    explorer = RegretExplorer(stream="adversary", lam=0.01)
    run = explorer.run(record=range(501))
    again = pegasos(explorer.problem, n_iter=500, draws=run.draws, record=range(501))
    np.testing.assert_array_equal(run.trace.w, again.trace.w)
    u = regret.hindsight_optimum(explorer.problem, run.draws, gap=1e-10, n_epochs=10_000).w
    assert explorer.regret() == pytest.approx(regret.run_regret(run, u)[-1], abs=1e-6)
    explorer.t = 137
    np.testing.assert_array_equal(explorer.w, run.trace.w[137])


def test_the_adversary_sends_the_largest_loss_among_equals_the_longest():
    explorer = RegretExplorer(stream="adversary", rule="inverse-sqrt", lam=0.02, n_iter=150)
    problem, draws = explorer.problem, explorer.draws
    lengths = np.linalg.norm(problem.X, axis=1)
    for w, i in zip(explorer.run(record=range(150)).trace.w, draws, strict=True):
        losses = problem.losses(w)
        worst = losses >= losses.max() - 1e-9
        assert worst[i]
        assert lengths[i] == lengths[worst].max()
    assert draws[0] == np.argmax(lengths), "at w = 0 all losses are 1"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("stream", STREAMS)
def test_regret_stays_below_the_bound_of_its_rule(stream, rule):
    picks = np.random.default_rng(5).integers(12, size=120).tolist()
    for lam in (1e-4, 0.02, 1.0, 10.0):
        explorer = RegretExplorer(stream=stream, rule=rule, lam=lam, n_iter=120, picks=picks)
        steps = [1, 2, 3, 7, 20, 60, 120]
        measured, bound = explorer.regret(steps), explorer.bound(steps)
        assert (measured <= bound).all(), f"{lam}: {measured / bound}"
        against_the_pool = explorer.regret(steps, explorer.optimum)
        assert (against_the_pool <= measured + 1e-6).all()
        norms = np.linalg.norm(explorer.run(record=range(121)).trace.w, axis=1)
        assert norms.max() <= explorer.diameter / 2 * (1 + 1e-12)


def test_bounds_are_those_of_the_theorems():
    explorer = RegretExplorer(lam=0.25, n_iter=400)
    G, D, R = explorer.G, explorer.diameter, explorer.problem.R
    assert abs(G - 0.5 - R) < 1e-12
    assert abs(D - 4.0) < 1e-12
    expected = {
        "pegasos": G**2 * (1 + math.log(400)) / 0.5,
        "inverse-sqrt": 1.5 * G * D * 20,
        "constant": G * D * 20,
        "printed": (D**2 / (2 * G) + G**3) * 20,
    }
    for rule, value in expected.items():
        explorer.rule = rule
        assert explorer.bound() == pytest.approx(value)
    first, second = explorer.step([1, 4])
    assert (first, second) == pytest.approx((G, G / 2))
    explorer.rule = "constant"
    assert explorer.step([1, 400]) == pytest.approx([D / (G * 20)] * 2)


def share(**traits):
    explorer = RegretExplorer(**traits)
    return explorer.regret() / explorer.bound()


def test_what_was_measured_of_the_tasks_is_so():
    crossings = [RegretExplorer(lam=lam).crossover for lam in (0.002, 0.00307, 0.00308, 0.01)]
    assert (crossings[0], crossings[3]) == (8494, 1136)
    assert crossings[1] > 5000 >= crossings[2]
    for lam, n_iter, expected in ((0.002, 500, 0.45), (0.002, 2000, 0.51), (0.05, 2000, 0.59)):
        assert round(share(stream="adversary", lam=lam, n_iter=n_iter), 2) == expected
    turns = share(stream="you", picks=[0, 11] * 1000, lam=0.2, n_iter=2000)
    assert round(turns, 2) == 0.61, "a reader can beat the adversary"
    for stream in ("iid", "cyclic"):
        for lam in (1e-4, 0.002, 0.05, 0.5, 1.26, 10.0):
            explorer = RegretExplorer(stream=stream, lam=lam)
            steps = [200, 302, 400, 500]
            assert (explorer.regret(steps) < 0.18 * explorer.bound(steps)).all()
    for stream, expected in (("iid", 2.1), ("cyclic", 2.8), ("adversary", 5.3)):
        printed = RegretExplorer(stream=stream, rule="printed", lam=10.0)
        right = regret.sqrt_regret_bound(500, printed.G, printed.diameter)
        assert round(printed.regret() / right, 1) == expected


def test_without_a_pick_nothing_has_happened():
    explorer = RegretExplorer(stream="you")
    assert explorer.regret() == 0.0
    assert explorer.draws.shape == (0,)
    np.testing.assert_array_equal(explorer.w, [0, 0])
    with pytest.raises(ValueError, match="between 1 and 0"):
        explorer.regret(1)
    with pytest.raises(ValueError, match="steps must be step counts between 1 and 500; got 501"):
        RegretExplorer().regret(501)


def test_another_pool_forgets_the_picks():
    explorer = RegretExplorer(stream="you", picks=[0, 11])
    explorer.set_points([[0, 1], [1, 0]], [1, -1])
    assert explorer.picks == []
    assert isinstance(explorer.problem, HingeProblem)
    explorer.picks = [1, 1]
    assert explorer.draws.tolist() == [1, 1]
    explorer.n_iter = 1
    assert explorer.draws.tolist() == [1]


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 1e-5}, "lam must lie between 0.0001 and 10; got 1e-05"),
        ({"lam": float("nan")}, "lam must lie between"),
        ({"stream": "reader"}, "stream"),
        ({"rule": "armijo"}, "rule"),
        ({"n_iter": 2001}, "2000"),
        ({"n_iter": 0}, "n_iter"),
        ({"view": "polar"}, "view"),
        ({"picks": [12]}, "picks must hold at most 2000 numbers of examples, 0 to 11"),
        ({"picks": [-1]}, "0 to 11"),
        ({"picks": [0] * 2001}, "at most 2000"),
        ({"picks": [0.5]}, "picks"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        RegretExplorer(**traits)
