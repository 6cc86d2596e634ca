"""The figures' Python side: what they store, what they refuse, and the runs that they replay."""

import html
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import traitlets

from pegasos_lib import HingeProblem, widgets
from pegasos_lib.widgets import PegasosExplorer
from pegasos_lib.widgets.base import Figure, PointsFigure, script
from pegasos_lib.widgets.pegasos import SETTINGS, figure_draws
from tests.node import JS, node
from tests.test_golden import GOLDEN

STATIC = JS.parent / "static"
SHARED = STATIC / "figures.js"
KINDS = sorted(path.stem for path in STATIC.glob("*.js") if path != SHARED)
CLASSES = {figure.kind: figure for figure in map(vars(widgets).get, widgets.__all__)}
OF_POINTS = {kind: figure for kind, figure in CLASSES.items() if issubclass(figure, PointsFigure)}
# What is stored must not depend on what was computed.
USED = {
    "chord": ({"u": 0.25}, "run"),
    "descent": ({"function": "ring", "rule": "backtracking", "c": 1.0}, "run"),
    "dual": ({"order": "you", "picks": [3, 4], "values": [0.5]}, "gap"),
    "margin": ({"lam": 0.25}, "run"),
    "minibatch": ({"batch_size": 5}, "run"),
    "outliers": ({"undo": True}, "precision_recall"),
    "pegasos": ({"lam": 0.1, "project": False}, "run"),
    "regret": ({"stream": "you", "picks": [3, 4]}, "regret"),
    "subgradient": ({"x": 0.5}, "step"),
}


# ------------------------------------------------------------------------------ what is stored


def test_html_is_the_same_in_another_process():
    code = "from pegasos_lib.widgets import PegasosExplorer as E; print(E(lam=0.1).to_html())"
    pages = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (0, 1)
    }
    assert pages == {PegasosExplorer(lam=0.1).to_html() + "\n"}


def test_html_holds_the_inputs_sorted_and_escaped():
    page = PegasosExplorer(lam=0.25, project=False).to_html()
    text = html.unescape(re.search(r'data-state="([^"]*)"', page)[1])
    state = json.loads(text)
    assert list(state) == sorted(state)
    assert set(state) == {*SETTINGS, "t", "view", "runs", "X", "y"}
    assert state["lam"] == 0.25
    assert state["project"] is False
    assert len(text) < 1500, "the page carries the inputs, nothing else"


def test_a_notebook_gets_widget_picture_and_words():
    data, _ = PegasosExplorer(seed=5)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"].startswith("PegasosExplorer(lam=0.02, batch_size=1, step='pegasos'")
    assert "seed=5" in data["text/plain"]
    assert re.search(r'<img alt="[^"]{80,}" src="data:image/svg\+xml,', data["text/html"])
    assert len(data["text/html"]) < 32_000


def test_the_module_for_a_kernel_is_the_pages_scripts():
    explorer = PegasosExplorer()
    scripts = SHARED.read_text("utf-8") + (STATIC / "pegasos.js").read_text("utf-8")
    assert explorer._esm.startswith(scripts)
    assert explorer._esm.endswith('export default PegasosFigures.widget("pegasos");\n')


@pytest.mark.parametrize("kind", sorted(USED))
def test_stored_form_holds_the_inputs_and_is_the_same_every_time(kind):
    traits, method = USED[kind]
    used, fresh = (CLASSES[kind](**traits) for _ in range(2))
    getattr(used, method)()
    form = used._repr_mimebundle_()[0]["text/html"]
    assert form == fresh.to_html()
    assert f'data-figure="{kind}"' in form
    state = json.loads(html.unescape(re.search('data-state="([^"]*)"', form)[1]))
    assert state == used.state()
    assert {name: state[name] for name in traits} == traits
    assert re.search(r'<img alt="[^"]{80,}" src="data:image/svg\+xml,', form)
    assert len(form) < 32_000


def test_importing_the_library_loads_no_widget():
    code = "import sys, pegasos_lib; print([m for m in sys.modules if 'widget' in m])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert printed == "[]\n"


# --------------------------------------------------------------------------------- what it takes


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"lam": 0}, "lam must lie between 1e-05 and 10; got 0"),
        ({"lam": float("nan")}, "lam must lie between"),
        ({"step_c": 1000.0}, "step_c must lie between 0.001 and 100"),
        ({"batch_size": 41}, "batch_size must lie between 1 and 40"),
        ({"n_iter": 2001}, "2000"),
        ({"step": "best"}, "step"),
        ({"average": "mean"}, "average"),
        ({"runs": [{}] * 5}, "at most 4"),
        ({"runs": [{"lambda": 1}]}, "keys among lam"),
    ],
)
def test_bad_input_is_refused_with_what_is_expected(traits, message):
    with pytest.raises(traitlets.TraitError, match=message):
        PegasosExplorer(**traits)


@pytest.mark.parametrize("kind", sorted(OF_POINTS))
def test_points_that_are_none_are_refused_with_what_is_expected(kind):
    figure = OF_POINTS[kind]
    many, far = figure.most_points + 1, figure.reach * 1.001
    for traits, message in [
        ({"X": [[0, 1]]}, "X and y must be given together"),
        ({"X": [[0, 1]], "y": [1, 1]}, "X has 1 points, y has 2 labels"),
        ({"X": [[0, 1, 2]], "y": [1]}, r"shape \(n, 2\); got \(1, 3\)"),
        ({"X": [[0, np.nan]], "y": [1]}, f"from -{figure.reach:g} to {figure.reach:g}"),
        ({"X": [[0, -far]], "y": [1]}, f"from -{figure.reach:g} to {figure.reach:g}"),
        ({"X": np.zeros((many, 2)), "y": np.ones(many)}, f"1 to {many - 1} points of the plane"),
        ({"X": [[0, 1]], "y": [0]}, "labels -1 and [+]1"),
    ]:
        with pytest.raises(traitlets.TraitError, match=message):
            figure(**traits)


def test_points_may_be_arrays_and_are_set_together():
    explorer = PegasosExplorer(X=np.array([[1.0, 2.0], [-1, 0]]), y=np.array([1, -1]))
    assert explorer.X == [[1.0, 2.0], [-1.0, 0.0]]
    explorer.set_points(np.eye(2), [-1, 1])
    assert explorer.state()["y"] == [-1, 1]
    assert explorer.problem.n == 2
    with pytest.raises(traitlets.TraitError, match="labels"):
        explorer.y = [0, 1]


# ---------------------------------------------------------------------------------- what it runs


def test_draws_are_those_of_the_engine():
    cases = json.loads((GOLDEN / "draws.json").read_text())
    held = 0
    for case in cases:
        if case["sampling"] == "iid" and not case["replace"] and case["batch_size"] > 1:
            continue  # the figure draws with replacement
        draws = figure_draws(
            case["seed"], case["n"], case["n_iter"], case["batch_size"], case["sampling"]
        )
        assert draws.ravel().tolist() == case["expected"]["draws"], case["name"]
        held += 1
    assert held >= 4


RUNS = [
    {},
    {"lam": 1e-4, "n_iter": 2000, "average": "suffix"},
    {"lam": 0.3, "project": False, "average": "weighted", "step": "weighted"},
    {"batch_size": 7, "sampling": "permutation", "step": "inverse-sqrt", "step_c": 0.3},
    {"batch_size": 40, "sampling": "permutation", "average": "last", "n_iter": 50},
    {"step": "constant", "step_c": 0.05, "project": False, "seed": 2**31 - 1},
    {"step": "inverse-time", "step_c": 5.0, "batch_size": 3, "n_iter": 1},
]
REPLAY = """
import { laboratory } from "./pegasos/runs.js";
const { X, y, runs } = JSON.parse(process.argv[1]);
const lab = laboratory();
console.log(JSON.stringify(runs.map((settings) => {
  const { W, A, draws, best } = lab.run(settings, X, y);
  return { W: [...W], A: [...A], draws: [...draws], optimum: best.value };
})));
"""


def test_run_replays_every_iterate_of_the_figure():
    explorers = [PegasosExplorer(**settings) for settings in RUNS]
    asked = {"X": explorers[0].X, "y": explorers[0].y, "runs": [e.settings() for e in explorers]}
    answers = json.loads(node("--input-type=module", "-e", REPLAY, json.dumps(asked)))
    for explorer, shown in zip(explorers, answers, strict=True):
        assert explorer.draws.ravel().tolist() == shown["draws"]
        run = explorer.run(record=range(explorer.n_iter + 1))
        np.testing.assert_allclose(run.trace.w.ravel(), shown["W"], rtol=1e-10, atol=1e-10)
        averages = run.trace.w if explorer.average == "last" else run.trace.w_average
        np.testing.assert_allclose(averages.ravel(), shown["A"], rtol=1e-10, atol=1e-10)
        assert run.trace.objective.min() >= shown["optimum"] - 1e-12
        explorer.t = explorer.n_iter
        np.testing.assert_array_equal(explorer.w, run.w)


def test_problem_is_the_one_of_the_figure():
    explorer = PegasosExplorer(lam=0.2)
    assert isinstance(explorer.problem, HingeProblem)
    assert (explorer.problem.n, explorer.problem.d, explorer.problem.lam) == (40, 2, 0.2)


def test_first_points_and_settings_are_those_of_the_script():
    code = 'import { DEFAULTS } from "./pegasos/state.js"; console.log(JSON.stringify(DEFAULTS));'
    defaults = json.loads(node("--input-type=module", "-e", code))
    assert PegasosExplorer().state() == defaults


# ------------------------------------------------------------------------------------ the script


def test_the_committed_scripts_are_what_the_sources_build(tmp_path):
    modules = JS / "node_modules"
    assert modules.is_dir(), "run `npm ci` in pegasos_lib/widgets/js, or `make js`"
    copy = tmp_path / "js"
    shutil.copytree(JS, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(modules)
    (tmp_path / "static").mkdir()
    node("build.mjs", cwd=copy)
    built = {path.name: path.read_bytes() for path in (tmp_path / "static").iterdir()}
    committed = {path.name: path.read_bytes() for path in STATIC.glob("*.js")}
    assert built == committed, "the sources changed: run `make js` and commit the scripts"


@pytest.mark.parametrize("path", sorted(JS.glob("*.test.js")) + sorted(JS.glob("*/*.test.js")))
def test_the_tests_of_the_scripts_pass(path):
    assert "# fail 0" in node("--test", "--test-reporter=tap", path)


def test_every_figure_has_a_class_a_script_and_a_picture():
    assert set(CLASSES) == set(KINDS) == {path.stem for path in STATIC.glob("*.svg")}
    for kind, figure in CLASSES.items():
        assert issubclass(figure, Figure)
        assert figure._esm == script(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scripts_of_a_figure_are_small_and_name_no_host(kind):
    text = script(kind)
    assert len(text.encode()) < 150_000
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    assert hosts <= {"www.w3.org"}, f"the script names {hosts}: only the SVG namespace may stand"


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_takes_what_all_share_from_the_shared_script(kind):
    own, shared = (STATIC / f"{kind}.js").read_text("utf-8"), SHARED.read_text("utf-8")
    of_the_frame = ("createElementNS", "Reloading the page", "Mike Bostock")
    assert all(text in shared for text in of_the_frame)
    assert [text for text in of_the_frame if text in own] == []


def test_the_shared_script_carries_the_licence_of_what_it_holds():
    text = SHARED.read_text("utf-8")
    assert text.startswith("/*!")
    assert "Mike Bostock" in text[:2000]


def test_the_lock_file_names_no_registry():
    lock = (JS / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert "http" not in re.sub(r'"url": "[^"]*"', "", lock)
    assert '"integrity"' in lock


def test_all_that_may_be_bundled_has_the_licence_of_the_header():
    packages = json.loads((JS / "package-lock.json").read_text())["packages"]
    licences = {p["license"] for name, p in packages.items() if name and "esbuild" not in name}
    assert licences == {"ISC"}
    assert "ISC licence:" in SHARED.read_text("utf-8").split("*/")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_still_pictures_stand_by_themselves(kind):
    picture = (STATIC / f"{kind}.svg").read_text("utf-8")
    assert picture.startswith("<svg xmlns=")
    assert not re.search(r"(href|src)=|var\(", picture)
    assert len(picture) < 20_000
