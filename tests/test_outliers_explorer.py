"""The outliers figure's Python side: outliers, runs and suspects are those of the library."""

import json

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import HingeProblem, outlier_pegasos, pegasos, sdca
from pegasos_lib.widgets import OutliersExplorer
from pegasos_lib.widgets.outliers import _FigureDraws
from tests.node import node
from tests.test_golden import cases_of, problem_of
from tests.test_outliers import KINK, PseudoCode

# The one example of E001-09, at which undo refuses every step.
STUCK = {"X": [[1.0, 0.0]], "y": [1], "share": 0.0, "lam": 0.1, "start": [1.0, 1.0]}
STATES = [
    {},
    {"lam": 0.001, "undo": True, "probability": True, "gamma": 0.7, "batch_size": 5, "n_iter": 400},
    {"probability": True, "importance_weights": True, "threshold": 6, "seed": 2**31 - 1}
    | {"n_iter": 500},
    {"outliers": "far", "test": "alive", "batch_size": 3, "threshold": 3, "n_iter": 800},
    {"two_out": False, "probability": True, "gamma": 0.9, "test": "instantaneous"}
    | {"batch_size": 60, "n_iter": 200, "start": [1.0, -2.5], "measure": "clean"},
    {"undo": True, "two_out": False, "n_iter": 50, **STUCK},
    {"X": [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]], "y": [-1, 1, -1], "share": 0.5, "batch_size": 2}
    | {"n_iter": 100},
]
SHOWN = """
import { play } from "./outliers/derive.js";
console.log(JSON.stringify(JSON.parse(process.argv[1]).map((state) => {
  const { run, plain, draws, values, plainValues, best, isOutlier, suspects, caught, T, X, isAt } = play(state);
  const at = (t) => ["removed", "flagged", "doubted"].map((what) => X.map((_, i) => isAt(what, i, t)));
  return { draws: [...run.draws], W: [...run.W], work: [...run.work], flags: [...run.flags], p: [...run.p],
    removed: run.removed, rose: [...run.rose], plainDraws: [...draws], plain: [...plain], isOutlier,
    all: [...values.all], clean: [...values.clean], plainAll: [...plainValues.all], suspects: [...suspects],
    caught: [...caught], half: at(Math.floor(T / 2)), least: [best.all.value, best.clean.value] };
})));
"""  # noqa: E501


def test_the_library_replays_what_the_figure_shows():
    explorers = [OutliersExplorer(**state) for state in STATES]
    states = json.dumps([explorer.state() for explorer in explorers])
    shown = json.loads(node("--input-type=module", "-e", SHOWN, states))
    for explorer, values in zip(explorers, shown, strict=True):
        T = explorer.n_iter
        run, plain = explorer.run(record=range(T + 1)), explorer.plain(record=range(T + 1))
        assert run.draws.ravel().tolist() == values["draws"]
        assert plain.draws.ravel().tolist() == values["plainDraws"]
        np.testing.assert_allclose(run.trace.w.ravel(), values["W"], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(plain.trace.w.ravel(), values["plain"], rtol=1e-10, atol=1e-10)
        assert run.trace_evaluations.tolist() == values["work"]
        assert run.flags.tolist() == values["flags"]
        assert run.removed.tolist() == values["removed"]
        assert run.rises.tolist() == (np.flatnonzero(values["rose"]) + 1).tolist()
        np.testing.assert_allclose(run.p, values["p"], rtol=1e-12)
        assert explorer.is_outlier.tolist() == values["isOutlier"]
        for name, problem, W in (
            ("all", explorer.problem, run.trace.w),
            ("clean", explorer.clean_problem, run.trace.w),
            ("plainAll", explorer.problem, plain.trace.w),
        ):
            np.testing.assert_allclose(problem.objective(W), values[name], rtol=1e-10)
        for least, problem in zip(
            values["least"], (explorer.problem, explorer.clean_problem), strict=True
        ):
            assert problem.objective(run.trace.w).min() >= least - 1e-10
        half = T // 2
        for who, suspects in zip(("removed", "flagged", "doubted"), values["half"], strict=True):
            assert explorer.suspects(who, half).tolist() == suspects
        if explorer.two_out or explorer.probability:
            suspects = explorer.suspects(t=half)
            assert suspects.sum() == values["suspects"][half]
            assert (suspects & explorer.is_outlier).sum() == values["caught"][half]


def test_first_values_are_those_of_the_script():
    code = 'import { DEFAULTS } from "./outliers/derive.js"; console.log(JSON.stringify(DEFAULTS));'
    assert OutliersExplorer().state() == json.loads(node("--input-type=module", "-e", code))


def test_golden_runs_keep_clear_of_the_kink_and_of_ties():
    for case in cases_of("outliers"):
        problem, options = problem_of(case), case["options"]
        batches = np.reshape(case["draws"], (case["n_iter"], -1)).tolist()
        paper = PseudoCode(
            problem.X, problem.y, case["lam"], batches,
            np.inf if options.get("project") is False else case["lam"] ** -0.5,
            options.get("undo", False), options.get("two_out"), options.get("probability"),
            options.get("p_min", 0.01), options.get("importance_weights", False),
            options.get("test", "full"), options.get("w0"),
        )  # fmt: skip
        assert paper.nearest > KINK, case["name"]
        np.testing.assert_allclose(paper.path, case["expected"]["w"], rtol=1e-10, atol=1e-10)


def test_runs_are_the_library_s_solvers_on_the_draws_of_the_figure():
    explorer = OutliersExplorer(probability=True, batch_size=4, undo=True)
    run = explorer.run(record=[0, 500, 1000])
    again = outlier_pegasos(
        explorer.problem, n_iter=1000, undo=True, two_out=2, probability=0.5, batch_size=4,
        draws=explorer.draws, record=[0, 500, 1000],
    )  # fmt: skip
    np.testing.assert_array_equal(run.trace.w, again.trace.w)
    assert run.removed.tolist() == again.removed.tolist()
    plain = explorer.plain()
    assert (
        pegasos(explorer.problem, n_iter=1000, batch_size=4, draws=plain.draws).w == plain.w
    ).all()
    watched = OutliersExplorer(two_out=False, batch_size=4)
    assert (watched.draws == plain.draws).all(), "without a variant nothing is replaced"
    np.testing.assert_allclose(watched.run().w, plain.w, rtol=1e-10)
    explorer.t = 500
    np.testing.assert_array_equal(explorer.w, run.trace.w[1])
    explorer.n_iter = 300
    np.testing.assert_array_equal(explorer.w, explorer.run().w)


def test_what_is_drawn_in_place_of_an_example_is_uniform_and_a_stream_of_its_own():
    source = _FigureDraws(7)
    values = np.array([source.random() for _ in range(20_000)])
    assert 0 <= values.min() < 1e-3 < 1 - 1e-3 < values.max() < 1
    counts = np.histogram(values, 10, (0, 1))[0]
    assert abs(counts - 2000).max() < 5 * np.sqrt(2000 * 0.9)
    draws = source.integers(1000, size=(100, 1)).ravel()
    assert abs(np.corrcoef(draws, values[:100])[0, 1]) < 0.4
    assert (source.integers(1000, size=(100, 1)).ravel() == draws).all()


def test_outliers_are_made_as_it_says_and_a_larger_share_keeps_them():
    flipped, far = OutliersExplorer(), OutliersExplorer(outliers="far")
    mask = flipped.is_outlier
    X, y = np.array(flipped.X), np.array(flipped.y)
    assert mask.sum() == 12
    assert (flipped.problem.y == np.where(mask, -y, y)).all()
    assert (flipped.problem.X == X).all()
    assert (far.problem.y == y).all()
    assert (np.where(mask[:, None], -2 * X, X) == far.problem.X).all()
    assert (X[~mask] == flipped.clean_problem.X).all()
    assert (flipped.clean_problem.y == y[~mask]).all()
    flipped.share = 0.35
    assert flipped.is_outlier.sum() == 21
    assert flipped.is_outlier[mask].all()
    flipped.share = 0
    assert not flipped.is_outlier.any()
    assert flipped.problem.accuracy([1.1, 0.66]) == 1, "a line through 0 separates the clean points"
    assert isinstance(flipped.clean_problem, HingeProblem)
    assert OutliersExplorer(np.ones((100, 2)), np.ones(100), share=0.29).is_outlier.sum() == 29


def test_precision_and_recall_are_counted_on_the_suspects():
    explorer = OutliersExplorer(probability=True)
    run, mask = explorer.run(record=[0]), explorer.is_outlier
    gone = np.isin(np.arange(60), run.removed[run.removed_at <= 200])
    assert explorer.precision_recall() == (mask[gone].mean(), gone[mask].mean())
    assert explorer.precision_recall("removed", 1000) == (mask[~run.alive].mean(), 1.0)
    flagged, doubted = run.flags > 0, run.p < 0.5
    assert explorer.precision_recall("flagged", 1000) == (
        mask[flagged].mean(),
        flagged[mask].mean(),
    )
    assert explorer.precision_recall("doubted", 1000) == (
        mask[doubted].mean(),
        doubted[mask].mean(),
    )
    explorer.two_out = False
    assert (explorer.suspects(t=1000) == (explorer.run(record=[0]).p < 0.5)).all()
    assert np.isnan(explorer.precision_recall(t=0)[0]), "nobody is suspected"
    assert explorer.precision_recall(t=0)[1] == 0
    explorer.share = 0
    precision, recall = explorer.precision_recall(t=1000)
    assert precision == 0
    assert np.isnan(recall)
    with pytest.raises(ValueError, match="who must be one of removed, flagged, doubted; got 'all'"):
        explorer.suspects("all")
    with pytest.raises(ValueError, match="t must lie between 0 and 1000; got 1001"):
        explorer.suspects(t=1001)


def stall(seed, lam, least):
    """Return the longest stretch of steps that undo refuses, 0.04 or more above the minimum."""
    run = OutliersExplorer(undo=True, two_out=False, lam=lam, seed=seed).run(record=range(1001))
    refused = np.isin(np.arange(1, 1001), run.rises) & (run.trace.objective[1:] - least >= 0.04)
    return max(map(len, "".join(".R"[int(r)] for r in refused).split(".")))


def best_precision(seed, **traits):
    explorer = OutliersExplorer(seed=seed, **traits)
    run = explorer.run(record=[0])
    ends = np.append(run.removed_at[1:] != run.removed_at[:-1], True)  # of a step's removals
    precision = np.cumsum(explorer.is_outlier[run.removed]) / np.arange(1, len(run.removed) + 1)
    return round(precision[7:][ends[7:]].max(), 2)


def test_what_was_measured_of_the_tasks_is_so():
    seeds = range(1, 11)
    for lam, expected in ((1e-4, (452, 594)), (0.01, (5, 53))):
        problem = OutliersExplorer(lam=lam).problem
        least = problem.objective(sdca(problem, gap=1e-6, n_epochs=10_000).w)
        stalls = [stall(seed, lam, least) for seed in seeds]
        assert (min(stalls), max(stalls)) == expected, lam
    stuck = OutliersExplorer(undo=True, two_out=False, **STUCK).run()
    assert (stuck.accepted, stuck.rejected) == (0, 1000)
    removed = [
        OutliersExplorer(share=0, threshold=4, seed=seed).run(record=[0]).removed_at
        for seed in seeds
    ]
    early = [(at <= 300).sum() for at in removed]
    assert (min(early), max(early)) == (1, 13)
    assert {len(at) for at in removed} == {59}
    for traits, expected in (
        ({}, (0.44, 0.73)),
        ({"lam": 5e-4, "threshold": 4}, (0.7, 1.0)),
        ({"lam": 5e-4, "threshold": 4, "batch_size": 8}, (0.23, 0.56)),
    ):
        best = [best_precision(seed, **traits) for seed in seeds]
        assert (min(best), max(best)) == expected, traits


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"share": 0.6}, "share must lie between 0 and 0.5; got 0.6"),
        ({"outliers": "lost"}, "outliers"),
        ({"lam": 1e-5}, "lam must lie between 0.0001 and 10; got 1e-05"),
        ({"batch_size": 61}, "batch_size must lie between 1 and 60; got 61"),
        ({"batch_size": 0}, "batch_size must lie between 1 and 60; got 0"),
        ({"threshold": 7}, "6"),
        ({"threshold": 1}, "threshold"),
        ({"gamma": 1.0}, "gamma must lie between 0.1 and 0.9; got 1"),
        ({"test": "half"}, "test"),
        ({"start": [0.0]}, "start"),
        ({"start": [0.0, float("nan")]}, "two numbers between -1000 and 1000; got"),
        ({"n_iter": 2001}, "2000"),
        ({"seed": -1}, "seed"),
        ({"axis": "time"}, "axis"),
        ({"measure": "test"}, "measure"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        OutliersExplorer(**traits)


def test_fewer_points_than_a_batch_make_the_batch_smaller():
    explorer = OutliersExplorer(batch_size=40)
    explorer.set_points([[0, 1], [1, 0]], [1, -1])
    assert explorer.draws.shape == (1000, 2)
