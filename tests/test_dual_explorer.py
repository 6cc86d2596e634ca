"""The dual figure's Python side: starts, steps, gaps and runs are those of the library."""

import json

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem, sdca, sgd_initialisation
from pegasos_lib.widgets import DualExplorer
from tests.node import node

STATES = [
    {},
    {"order": "random", "lam": 0.003, "n_epochs": 30, "seed": 7},
    {"start": "sgd", "lam": 2.0, "n_epochs": 3, "seed": 2**31 - 1},
    {"start": "sgd", "printed": True, "n_epochs": 4},
    {"order": "you", "picks": [0, 11, 0, 11, 4], "lam": 0.02},
    {"order": "you", "picks": [3, 8, 8, 2, 2], "values": [-1, 0.25, -1, 0.5], "start": "sgd"},
    {"order": "you", "picks": [3, 8, 2, 0], "values": [-1, 0.25]},
    {"order": "you", "picks": [3, 8], "values": [-1, 0.25], "lam": 0.5},
    {"order": "you", "picks": [8, 8], "values": [0.75], "printed": True},
    {"order": "you"},
    {"X": [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]], "y": [-1, 1, -1], "lam": 0.7, "n_epochs": 2},
    {"X": [[1.0, 2.0], [0.0, 0.0]], "y": [-1, 1], "start": "sgd", "printed": True},
]
SHOWN = """
import { play } from "./dual/derive.js";
console.log(JSON.stringify(JSON.parse(process.argv[1]).map((state) => {
  const { draws, T, W, primals, duals, gaps, alphaAt, best } = play(state);
  const alphas = Array.from({ length: T + 1 }, (_, t) => [...alphaAt(t)]);
  return { draws: [...draws], W: [...W], primals: [...primals], duals: [...duals], gaps: [...gaps],
    alphas, least: best.value };
})));
"""


def test_the_library_computes_what_the_figure_shows():
    explorers = [DualExplorer(**state) for state in STATES]
    states = json.dumps([explorer.state() for explorer in explorers])
    shown = json.loads(node("--input-type=module", "-e", SHOWN, states))
    for explorer, values in zip(explorers, shown, strict=True):
        problem, alphas = explorer.problem, explorer.alphas
        assert explorer.draws.tolist() == values["draws"]
        np.testing.assert_allclose(alphas, values["alphas"], rtol=1e-10, atol=1e-10)
        W = np.array([problem.weights(alpha) for alpha in alphas])
        np.testing.assert_allclose(W.ravel(), values["W"], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(problem.objective(W), values["primals"], rtol=1e-10)
        duals = [problem.dual_objective(alpha) for alpha in alphas]
        np.testing.assert_allclose(duals, values["duals"], rtol=1e-10, atol=1e-10)
        gaps = explorer.gap(range(len(alphas)))
        np.testing.assert_allclose(gaps, values["gaps"], rtol=1e-10, atol=1e-10)
        optimum = sdca(problem, gap=1e-12, n_epochs=100_000)
        assert values["least"] == pytest.approx(problem.objective(optimum.w), abs=1e-11)


def test_first_values_are_those_of_the_script():
    code = 'import { DEFAULTS } from "./dual/derive.js"; console.log(JSON.stringify(DEFAULTS));'
    assert DualExplorer().state() == json.loads(node("--input-type=module", "-e", code))


@pytest.mark.parametrize("state", [state for state in STATES if not state.get("printed")])
def test_run_is_the_library_s_solver_on_the_steps_of_the_figure(state):
    explorer = DualExplorer(**state)
    alphas, n = explorer.alphas, len(explorer.X)
    run = explorer.run()
    np.testing.assert_allclose(run.alpha, alphas[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.w, explorer.problem.weights(alphas[-1]), rtol=1e-10, atol=1e-10)
    assert run.gap == pytest.approx(explorer.gap(len(alphas) - 1), abs=1e-10)
    if explorer.order != "you":
        trace = explorer.run(record=range(explorer.n_epochs + 1)).trace
        assert trace.iteration[-1] == run.n_iter <= explorer.n_epochs
        expected = [explorer.problem.weights(alphas[n * epoch]) for epoch in trace.iteration]
        np.testing.assert_allclose(trace.w, expected, rtol=1e-10, atol=1e-10)


def test_a_step_is_the_textbook_s_and_the_misprint_is_the_document_s():
    rng = np.random.default_rng(3)
    for label in (1, -1):
        for _ in range(50):
            X, y = rng.normal(size=(4, 2)), rng.choice([-1, 1], size=4)
            y[0] = label
            lam, values = rng.uniform(0.05, 1), rng.uniform(size=4).tolist()
            explorer = DualExplorer(X, y, lam=lam, order="you", picks=[1, 2, 3, 0, 0])
            explorer.values = [*values[1:], values[0]]
            w = explorer.problem.weights([values[0], *values[1:]])
            square, alpha = X[0] @ X[0], label * values[0]  # the document's is signed
            right = alpha + lam * 4 * (label - X[0] @ w) / square
            printed = alpha + lam * 4 * (1 - X[0] @ w) * label * label / square
            documents = label * np.clip(
                lam * 4 * (1 - X[0] @ w) * label / square + alpha * label, 0, 1
            )
            assert explorer.alphas[-1][0] == pytest.approx(np.clip(label * right, 0, 1), abs=1e-12)
            explorer.printed = True
            assert explorer.alphas[-1][0] == pytest.approx(label * documents, abs=1e-12)
            assert label == -1 or right == pytest.approx(printed)


def test_the_start_after_an_sgd_pass_is_the_library_s():
    explorer = DualExplorer(start="sgd", lam=1.0, seed=4)
    point = explorer.start_alpha
    assert 0 < point.max() <= 1
    problem = explorer.problem
    # One pass in some order: the example that came first has the alpha of its own problem.
    first = np.clip(problem.lam / problem.squared_norms, 0, 1)
    assert np.isclose(point, first, atol=1e-12).any()
    values = [sgd_initialisation(problem, rng=seed).gap for seed in range(50)]
    assert (
        min(values) - 0.05 < problem.duality_gap(problem.weights(point), point) < max(values) + 0.05
    )
    explorer.seed = 5
    assert (explorer.start_alpha != point).any(), "another seed is another order"


def reaches(explorer, level):
    """Return the first number of steps after which the gap is at most `level`."""
    return int(np.argmax(explorer.gap(range(len(explorer.draws) + 1)) <= level))


def by_hand(score, n_steps):
    """Take n_steps steps, each on the coordinate of the largest score."""
    explorer = DualExplorer(order="you")
    for t in range(n_steps):
        explorer.t = t
        alpha, margins = explorer.alpha, explorer.problem.margins(explorer.w)
        explorer.picks = [*explorer.picks, int(np.argmax(score(explorer, alpha, margins)))]
    return explorer


def coordinate_gaps(_explorer, alpha, margins):
    return np.where(margins < 1, (1 - alpha) * (1 - margins), alpha * (margins - 1))


def distances(explorer, alpha, margins):
    squares = explorer.problem.squared_norms
    target = np.clip(alpha + explorer.lam * len(alpha) * (1 - margins) / squares, 0, 1)
    return np.abs(target - alpha)


def test_what_was_measured_of_the_tasks_is_so():
    assert reaches(by_hand(distances, 12), 0.01) == 9
    assert reaches(by_hand(coordinate_gaps, 12), 0.01) == 8
    random = [reaches(DualExplorer(seed=seed), 0.01) for seed in range(1, 21)]
    assert (min(random), max(random)) == (22, 54)
    explorer = DualExplorer()
    best = sdca(explorer.problem, gap=1e-13, n_epochs=100_000)
    margins, alpha = explorer.problem.margins(best.w), best.alpha
    at_zero, at_one = alpha < 1e-6, alpha > 1 - 1e-6
    assert (at_zero.sum(), at_one.sum()) == (5, 5)
    assert (margins[at_zero] > 1.3).all()
    assert (margins[at_one] < 0.71).all()
    np.testing.assert_allclose(margins[~at_zero & ~at_one], 1, atol=1e-6)


def test_printed_steps_lower_the_dual_only_on_label_minus_one():
    for start in ("zero", "sgd"):
        for seed in range(1, 6):
            explorer = DualExplorer(printed=True, start=start, seed=seed, n_epochs=5)
            duals = [explorer.problem.dual_objective(alpha) for alpha in explorer.alphas]
            falls = np.flatnonzero(np.diff(duals) < -1e-9)
            assert all(explorer.y[explorer.draws[t]] == -1 for t in falls)
            assert start == "zero" or falls[0] < 12
            assert explorer.gap(60) > 0.1, "and the gap does not close"


def test_gap_at_no_step_and_at_steps_that_are_not_there():
    explorer = DualExplorer(t=0)
    assert explorer.gap() == 1.0, "at alpha = 0"
    np.testing.assert_array_equal(explorer.w, [0, 0])
    explorer.t = 2000
    assert explorer.gap() == explorer.gap(120)
    np.testing.assert_array_equal(explorer.alpha, explorer.alphas[-1])
    with pytest.raises(ValueError, match="between 0 and 120; got 121"):
        explorer.gap(121)
    with pytest.raises(ValueError, match="as printed"):
        DualExplorer(printed=True).run()


def test_other_points_forget_the_picks():
    explorer = DualExplorer(order="you", picks=[0, 11], values=[0.5])
    explorer.set_points([[0, 1], [1, 0]], [1, -1])
    assert (explorer.picks, explorer.values) == ([], [])
    assert isinstance(explorer.problem, HingeProblem)
    explorer.picks = [1, 1]
    assert explorer.draws.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 1e-4}, "lam must lie between 0.001 and 10; got 0.0001"),
        ({"lam": float("nan")}, "lam must lie between"),
        ({"order": "reader"}, "order"),
        ({"start": "best"}, "start"),
        ({"n_epochs": 51}, "50"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"view": "polar"}, "view"),
        ({"picks": [12]}, "picks must hold at most 2000 numbers of examples, 0 to 11"),
        ({"picks": [-1]}, "0 to 11"),
        ({"picks": [0] * 2001}, "at most 2000"),
        ({"picks": [0.5]}, "picks"),
        ({"values": [1.5]}, "values must hold at most 2000 numbers, each -1 .* or 0 to 1"),
        ({"values": [float("nan")]}, "values must hold"),
        ({"values": [-1.0] * 2001}, "at most 2000"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        DualExplorer(**traits)
