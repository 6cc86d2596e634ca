"""The race figure's Python side: its results are checked, its runs are those of the library."""

import copy
import html
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from traitlets import TraitError

from pegasos_lib import L1Ball, exponentiated_gradient, load_mnist_binary, pegasos
from pegasos_lib.optimizers import BATCH, OPTIMIZERS, comparator
from pegasos_lib.widgets import RaceExplorer
from pegasos_lib.widgets.race import FIRST_SEED, LAMS
from tests.node import node

STORED = Path(__file__).parents[1] / "book" / "_data" / "race.json"


@pytest.fixture(scope="module")
def results():
    """What is committed of the long run, and the figure carries."""
    return json.loads(STORED.read_text())["results"]


# ---------------------------------------------------------------------------------- the results


def test_results_come_as_a_dictionary_or_a_file(results, tmp_path):
    by_path = RaceExplorer(STORED)
    assert by_path.results == RaceExplorer(str(STORED)).results == RaceExplorer(results).results
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(results))
    assert RaceExplorer(bare).results == results
    assert RaceExplorer().results is None
    explorer = RaceExplorer()
    explorer.results = results
    assert explorer.measured()["optimizer"] == "Pegasos"


def without(*path):
    """Return a function that drops an entry of nested results."""

    def change(results):
        for key in path[:-1]:
            results = results[key]
        del results[path[-1]]

    return change


def put(value, *path):
    """Return a function that puts another value into nested results."""

    def change(results):
        for key in path[:-1]:
            results = results[key]
        results[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("baseline"), r"the results must hold n, .*: baseline is missing"),
        (without("iterations", "online"), '"iterations" must hold batch, online: online'),
        (put("many", "n"), "n must hold finite numbers"),
        (put([1, 2], "passes", "batch"), '"passes" of "batch" must be a list of 20 numbers'),
        (put([], "lams"), '"lams" must be a list of numbers'),
        (put([], "optimum"), '"optimum" must hold an entry for each lam'),
        (without("optimum", "0.1"), '"optimum" of lam 0.1 must be a dictionary with free, l1'),
        (without("optimum", "1", "l1", "P"), '"l1" of "optimum" of lam 1 must hold .*: P is'),
        (put(float("nan"), "optimum", "1", "free", "P"), '"P" of .* must hold finite numbers'),
        (without("runs", 3, "seconds"), "run 3 must hold .*: seconds is missing"),
        (put(7, "runs", 3), "run 3 must be a dictionary with optimizer, .*; got int"),
        (without("runs", 5, "accuracy", "low"), '"accuracy" of run 5 must hold .*: low is missing'),
        (put([1], "runs", 2, "accuracy", "low"), '"low" of "accuracy" of run 2 must be a list of'),
        (put("AAAA", "runs", 0, "w"), '"w" of run 0 must be 784 bytes in base64; got 3'),
        (put("?", "runs", 0, "w"), "must be 784 bytes in base64; got 0"),
        (without("runs", -1), "the results lack some runs, the first of them {'optimizer'"),
        (put("Adam", "runs", -1, "optimizer"), "the results lack some runs"),
    ],
)
def test_results_of_another_shape_are_refused_with_what_is_wrong(results, change, message):
    wrong = copy.deepcopy(results)
    change(wrong)
    with pytest.raises(TraitError, match=message):
        RaceExplorer(wrong)


def test_what_is_no_file_of_results_is_refused(tmp_path):
    with pytest.raises(TraitError, match=r"there is no file .*: `python -m benchmarks.race`"):
        RaceExplorer(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("results")
    with pytest.raises(TraitError, match=r"text\.json is no JSON file"):
        RaceExplorer(tmp_path / "text.json")
    with pytest.raises(TraitError, match=r"must be a dictionary or the path .*; got list"):
        RaceExplorer([1])
    with pytest.raises(TraitError, match=r"must be a dictionary with n, n_test"):
        RaceExplorer({"results": None})


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 0.5}, "lam must be one of 0.001, 0.01, 0.1, 1, 10: those were measured; got 0.5"),
        ({"optimizers": []}, "optimizers must name at least one, each once; got"),
        ({"optimizers": ["GD", "GD"]}, "each once"),
        ({"optimizers": ["Adam"]}, "optimizers"),
        ({"feasible": "l2"}, "feasible"),
        ({"output": "best"}, "output"),
        ({"axis": "epochs"}, "axis"),
        ({"focus": "Adam"}, "focus"),
        ({"at": 0}, "at"),
    ],
)
def test_bad_values_are_refused_with_what_is_expected(traits, message):
    with pytest.raises(TraitError, match=message):
        RaceExplorer(**traits)


def test_without_results_the_figure_can_run_and_says_what_it_lacks():
    explorer = RaceExplorer(lam=1)
    with pytest.raises(ValueError, match=r"this figure has no results: give it .*race\.json"):
        explorer.measured()
    assert explorer.run("GD").n_iter == 100
    with pytest.raises(ValueError, match=r"optimizer must be 'GD'"):
        RaceExplorer(STORED).measured("Adam")


# ------------------------------------------------------------------------------------- the runs


def test_a_run_is_that_of_the_first_seed_of_the_measurement(results):
    X, y = load_mnist_binary()
    explorer = RaceExplorer(results, lam=0.1, optimizers=["SEG±", "Pegasos"])
    assert (explorer.problem.n, explorer.problem.lam) == (len(y), 0.1)
    np.testing.assert_array_equal(explorer.problem.X, X)
    counts = results["iterations"]["online"]
    direct = {
        ("Pegasos", "l1"): partial(pegasos, project=L1Ball(10.0)),
        ("Pegasos", "own"): pegasos,
        ("SEG±", "own"): partial(exponentiated_gradient, radius=10.0),
    }
    for (name, explorer.feasible), solve in direct.items():
        run = explorer.run(name)
        again = solve(explorer.problem, n_iter=10_000, rng=FIRST_SEED, record=counts)
        np.testing.assert_array_equal(run.trace.w, again.trace.w)
        explorer.focus = name
        # The picture that was stored is of this run.
        step = np.abs(run.w).max() / 127
        np.testing.assert_allclose(explorer.w.ravel(), run.w, atol=1.01 * step)
    assert explorer.run("GD", record=[3]).trace.iteration.tolist() == [3]


def test_what_was_measured_of_gd_is_what_its_run_gives(results):
    X, y = load_mnist_binary("test")
    explorer = RaceExplorer(results, lam=1, focus="GD", output="average")
    trace = explorer.run().trace
    measured = explorer.measured()
    above = trace.objective_average - explorer.least()["P"]
    np.testing.assert_allclose(measured["suboptimality"]["median"], above, rtol=1e-3, atol=2e-5)
    accuracy = np.mean(y * (trace.w_average @ X.T) > 0, axis=1)
    np.testing.assert_allclose(measured["accuracy"]["median"], accuracy, atol=1e-3)
    assert explorer.least("Pegasos") == results["optimum"]["1"]["l1"]
    assert explorer.least() == results["optimum"]["1"]["free"]


# ----------------------------------------------------------------------------------- the script

SHOWN = """
import { readFileSync } from "node:fs";
import { clean, DEFAULTS, derive } from "./race/derive.js";
const { results } = JSON.parse(readFileSync(process.argv[1], "utf8"));
console.log(JSON.stringify(JSON.parse(process.argv[2]).map((state) => {
  const { x, marker, rows } = derive(results, clean({ ...DEFAULTS, ...state }));
  return { x, marker, rows };
})));
"""
REACHED = """
import { readFileSync } from "node:fs";
import { clean, DEFAULTS, derive, kindOf, LAMS, OPTIMIZERS, TASKS } from "./race/derive.js";
const { results } = JSON.parse(readFileSync(process.argv[1], "utf8"));
const each = (list, f) => list.flatMap(f);
const out = [];
const ask = (id, state) => {
  const whole = clean({ ...DEFAULTS, ...state });
  const now = derive(results, whole);
  const said = TASKS.find((task) => task.id === id).check(whole, now, "?");
  const { sub } = now.rows.find(({ name }) => name === whole.focus);
  out.push({ id, ...whole, said, share: 1 + sub.median / now.focus.least });
};
const settings = each(LAMS, (lam) => each(["l1", "own"], (feasible) =>
  each(["last", "average"], (output) => [{ lam, feasible, output }])));
for (const state of settings) {
  ask("under", { ...state, focus: "Pegasos", at: 10000 });
  for (const focus of OPTIMIZERS) for (const at of results.iterations[kindOf(focus)]) {
    ask("baseline", { ...state, focus, at });
    const other = { GD: "Pegasos", Pegasos: "GD" }[focus];
    if (other) ask("clock", { ...state, optimizers: [focus, other], focus, at, axis: "time" });
  }
}
console.log(JSON.stringify(out));
"""


def test_the_script_reads_off_what_was_measured(results):
    states = [
        {},
        {"lam": 10, "feasible": "own", "output": "average", "axis": "time", "focus": "GD", "at": 7},
        {"lam": 0.001, "axis": "passes", "at": 30, "optimizers": ["GD", "SEG±", "Pegasos"]},
        {"lam": 0.1, "axis": "time", "focus": "SGD", "at": 82, "feasible": "own"},
    ]
    shown = json.loads(node("--input-type=module", "-e", SHOWN, STORED, json.dumps(states)))
    for state, now in zip(states, shown, strict=True):
        explorer = RaceExplorer(results, **state)
        kept = results["iterations"]["batch" if explorer.focus in BATCH else "online"]
        point = int(np.argmin(np.abs(np.log(np.array(kept) / explorer.at))))
        assert now["marker"]["point"] == point
        assert [row["name"] for row in now["rows"]] == explorer.optimizers
        for row in now["rows"]:
            run = explorer.measured(row["name"])
            kind = "batch" if row["name"] in BATCH else "online"
            axis = explorer.axis
            grid = run["seconds"] if axis == "time" else results[axis][kind]
            if row["when"] == "before":
                assert now["x"] < grid[0]
                assert row["sub"]["median"] == 1 - explorer.least(row["name"])["P"]
                continue
            assert row["when"] == ("ended" if now["x"] > grid[-1] else "running")
            at = np.log(now["x"])
            for band in ("median", "low", "high"):
                values = np.log(np.maximum(run["suboptimality"][band], 1e-5))
                sub = np.exp(np.interp(at, np.log(grid), values))
                assert max(row["sub"][band], 1e-5) == pytest.approx(sub, rel=1e-9)
                accuracy = np.interp(at, np.log(grid), run["accuracy"][band])
                assert row["acc"][band] == pytest.approx(accuracy, rel=1e-9)


def test_what_was_measured_of_the_tasks_is_so():
    asked = json.loads(node("--input-type=module", "-e", REACHED, STORED))
    reached = [state for state in asked if state["said"]]

    under = {
        lam: [s["share"] for s in asked if (s["id"], s["lam"]) == ("under", lam)] for lam in LAMS
    }
    assert (round(min(under[0.001]), 1), round(max(under[0.001]), 1)) == (5.9, 12.4)
    assert (round(min(under[0.01]), 1), round(max(under[0.01]), 1)) == (1.3, 2.0)
    assert {s["lam"] for s in reached if s["id"] == "under"} == {0.001}

    useless = [s for s in reached if s["id"] == "baseline"]
    assert {s["focus"] for s in useless if s["lam"] == 10} == set(OPTIMIZERS)
    assert {s["lam"] for s in useless} == {1, 10}

    turned = [s for s in reached if s["id"] == "clock"]
    assert {s["lam"] for s in turned} == set(LAMS)
    start = {**RaceExplorer().state(), "optimizers": ["GD", "Pegasos"], "axis": "time"}
    start |= {"focus": "GD", "at": 55}
    assert [s["said"] for s in turned if s.items() >= start.items()]


def test_first_values_and_names_are_those_of_the_script():
    code = (
        'import { DEFAULTS, LAMS, OPTIMIZERS, comparator } from "./race/derive.js";'
        "const sets = OPTIMIZERS.map((name) => ['l1', 'own'].map((set) => comparator(name, set)));"
        "console.log(JSON.stringify([DEFAULTS, LAMS, OPTIMIZERS, sets]));"
    )
    defaults, lams, names, sets = json.loads(node("--input-type=module", "-e", code))
    assert RaceExplorer().state() == defaults
    assert (tuple(lams), tuple(names)) == (LAMS, OPTIMIZERS)
    assert sets == [[comparator(name, "l1"), comparator(name, "own")] for name in OPTIMIZERS]


# --------------------------------------------------------------------------------- what is stored


def test_stored_form_holds_the_inputs_alone_and_is_the_same_every_time():
    made = [RaceExplorer(given, lam=10, at=5) for given in (STORED, None)]
    forms = [explorer._repr_mimebundle_()[0]["text/html"] for explorer in made]
    assert forms[0] == forms[1], "the results are not stored in a notebook"
    assert 'data-figure="race"' in forms[0]
    text = html.unescape(re.search('data-state="([^"]*)"', forms[0]).group(1))
    assert json.loads(text) == made[0].state()
    assert len(text) < 250
    assert len(forms[0]) < 32_000
    assert repr(made[0]).startswith("RaceExplorer(lam=10.0, feasible='l1', output='last'")
