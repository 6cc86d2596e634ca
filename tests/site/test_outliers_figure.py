"""The outliers figure in a browser: it mounts, answers all input, and says right numbers."""

import numpy as np
import pytest

from pegasos_lib.widgets import OutliersExplorer
from tests.site.reader import FirstFigureReader, figure_opener
from tests.site.test_dual_figure import number
from tests.site.test_pegasos_figure import KERNEL

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with figures in some state, and give the reader's hands and eyes on the first."""
    return figure_opener(tmp_path, visit, OutliersExplorer, OutliersReader)


class OutliersReader(FirstFigureReader):
    """What a reader does with this figure, and reads off it."""

    def tab_to(self, locator):
        """Reach an element by the Tab key alone, from where the focus is."""
        for _ in range(self.TABS):
            self.page.keyboard.press("Tab")
            if locator.evaluate("(node) => node === document.activeElement"):
                return
        raise AssertionError(f"Tab does not reach {locator}")

    def keys(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def tick(self, name):
        self.root.get_by_role("checkbox", name=name).check()
        self.settle()

    def press_panel(self, panel, x, y=0.1, press="click"):
        """Press a panel at a share of its width and height."""
        surface = self.root.locator(".pf-surface").nth(panel)
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        at = box["x"] + box["width"] * x, box["y"] + box["height"] * y
        (self.page.mouse.click if press == "click" else self.page.touchscreen.tap)(*at)
        self.settle()

    def marked(self, name):
        """The points with a class."""
        found = self.root.locator(".ou-point").evaluate_all(
            f"(nodes) => nodes.map((node) => node.classList.contains('{name}'))"
        )
        return np.flatnonzero(found).tolist()


def percent(share):
    return "none yet" if np.isnan(share) else f"{int(100 * share + 0.5)} %"


def assert_shows(reader, explorer):
    """Hold the numbers and the points of the figure to those of the library."""
    numbers, problem, t = reader.numbers(), explorer.problem, explorer.t
    run, plain = explorer.run(record=[t]), explorer.plain(record=[t])
    removed, flagged, doubted = (
        explorer.suspects(who) for who in ("removed", "flagged", "doubted")
    )
    rises = int((run.rises <= t).sum())
    streak, refused = 0, set(run.rises.tolist()) if explorer.undo else set()
    while t - streak in refused:
        streak += 1
    counts = {
        "steps t": t,
        "work, evaluations": run.trace_evaluations[0],
        "plain Pegasos' work": explorer.batch_size * t,
        "steps that rose": rises,
        "steps refused": rises if explorer.undo else 0,
        "refused in a row": streak,
        "flagged": flagged.sum(),
        "removed": removed.sum(),
        "weight below ½": doubted.sum(),
    }
    assert {name: int(numbers[name].replace(",", "")) for name in counts} == counts
    for name, value in {
        "P(w)": problem.objective(run.trace.w[0]),
        "P of plain Pegasos": problem.objective(plain.trace.w[0]),
        "P of the clean ones": explorer.clean_problem.objective(run.trace.w[0]),
        "clean ones, plain Pegasos": explorer.clean_problem.objective(plain.trace.w[0]),
    }.items():
        assert number(numbers[name]) == pytest.approx(value, rel=6e-3), name
    if explorer.two_out or explorer.probability:
        precision, recall = explorer.precision_recall()
        assert (numbers["precision"], numbers["recall"]) == (percent(precision), percent(recall))
    else:
        assert numbers["precision"] == numbers["recall"] == "none yet"
    assert reader.marked("is-outlier") == np.flatnonzero(explorer.is_outlier).tolist()
    assert reader.marked("is-gone") == np.flatnonzero(removed).tolist()
    batch = run.draws.reshape(explorer.n_iter, -1)[t - 1 : t]
    assert reader.marked("is-drawn") == np.unique(batch).tolist()


def test_figure_shows_what_the_library_computes_and_a_link_restores_any_state(figure):
    reader = figure()
    assert reader.page.locator(".pf-fallback").is_hidden()
    assert_shows(reader, OutliersExplorer())
    for link, state in {
        "undo=true&two_out=false&lam=0.001&t=0": {
            "undo": True, "two_out": False, "lam": 0.001, "t": 0,
        },
        "probability=true&gamma=0.7&batch_size=5&importance_weights=true&outliers=far&t=77": {
            "probability": True, "gamma": 0.7, "batch_size": 5, "importance_weights": True,
            "outliers": "far", "t": 77,
        },
        "X=1,0&y=1&share=0&lam=0.1&start=1,1&undo=true&n_iter=400&t=400": {
            "X": [[1, 0]], "y": [1], "share": 0, "lam": 0.1, "start": [1, 1], "undo": True,
            "n_iter": 400, "t": 400,
        },
    }.items():  # fmt: skip
        reader.page.evaluate("(hash) => { location.hash = hash; }", f"figure=outliers&{link}")
        reader.settle()
        assert_shows(reader, OutliersExplorer(**state))


def test_every_control_changes_the_run(figure):
    reader, explorer = figure(), OutliersExplorer()
    reader.set("share, as a number", 0.3)
    reader.select("an outlier has", "far")
    reader.set("λ, as a number", 0.003)
    explorer.share, explorer.outliers, explorer.lam = 0.3, "far", 0.003
    assert_shows(reader, explorer)
    reader.set("batch k, as a number", 3)
    reader.set("steps T, as a number", 300)
    reader.press("New draws")
    explorer.batch_size, explorer.n_iter, explorer.t, explorer.seed = 3, 300, 300, 2
    assert_shows(reader, explorer)
    reader.tick("undo")
    reader.tick("probability")
    reader.tick("weigh by")
    reader.set("flags, as a number", 5)
    reader.set("factor γ, as a number", 0.8)
    reader.select("may not rise:", "instantaneous")
    explorer.undo = explorer.probability = explorer.importance_weights = True
    explorer.threshold, explorer.gamma, explorer.test = 5, 0.8, "instantaneous"
    assert_shows(reader, explorer)
    reader.select("may not rise:", "alive")
    explorer.test = "alive"
    assert_shows(reader, explorer)
    for name in ("undo", "two-out", "probability", "weigh by"):
        reader.root.get_by_role("checkbox", name=name).uncheck()
    reader.settle()
    explorer.undo = explorer.two_out = explorer.probability = explorer.importance_weights = False
    assert_shows(reader, explorer)
    assert reader.field("flags").is_hidden()
    reader.press("Reset")
    assert_shows(reader, OutliersExplorer())


def test_the_step_is_chosen_by_keys_press_and_touch_on_steps_or_work(figure):
    reader, explorer = figure(has_touch=True), OutliersExplorer()
    reader.tab_to(reader.field("Step t"))
    reader.keys("ArrowRight", "ArrowRight")
    reader.press("◀ Back")
    explorer.t = 201
    assert_shows(reader, explorer)
    reader.press_panel(2, 2 / 3)
    explorer.t = int(reader.numbers()["steps t"])
    assert explorer.t == pytest.approx(100, abs=3), "two thirds of an axis from 1 to 1,000"
    assert_shows(reader, explorer)
    reader.press_panel(1, 1 / 3, press="tap")
    explorer.t = int(reader.numbers()["steps t"])
    assert explorer.t == pytest.approx(10, abs=1)
    curves = [".pf-run-0", ".ou-plain"]
    before = [reader.root.locator(f".pf-panel {name}").first.get_attribute("d") for name in curves]
    reader.select("against", "work")
    after = [reader.root.locator(f".pf-panel {name}").first.get_attribute("d") for name in curves]
    ends = [float(d.split("L")[-1].split(",")[0]) for d in after]
    width = float(reader.root.locator(".pf-surface").nth(1).get_attribute("width"))
    work = explorer.run(record=[0]).evaluations
    assert ends == pytest.approx([width, width * np.log(1000) / np.log(work)], abs=0.2)
    reader.press_panel(1, 0.5)
    explorer.t = int(reader.numbers()["steps t"])
    spent = explorer.run(record=[explorer.t]).trace_evaluations[0]
    assert spent == pytest.approx(work**0.5, rel=0.6), "half of the logarithm of the work"
    assert_shows(reader, explorer)
    reader.select("of", "clean")
    again = [reader.root.locator(f".pf-panel {name}").first.get_attribute("d") for name in curves]
    assert len({*before, *after, *again}) == 6


def test_who_is_what_is_told_by_shape_and_in_a_table(figure):
    state = {"probability": True, "threshold": 3, "t": 400}
    reader, explorer = figure(state=state), OutliersExplorer(**state)
    seen = reader.root.locator(".ou-point").evaluate_all(
        """(nodes) => nodes.map((node) => {
             const shown = (name) => getComputedStyle(node.querySelector(name)).display !== 'none';
             const dot = node.querySelector('.ou-dot');
             return [dot.tagName, shown('.ou-square'), shown('.ou-cross'),
               dot.getAttribute('transform') ?? '', node.querySelector('text')?.textContent ?? '0'];
           })"""
    )
    run = explorer._run(400, [0])
    flags = np.where(run.alive, run.flags, 0)
    for i, (tag, square, cross, size, text) in enumerate(seen):
        assert tag == ("circle" if explorer.problem.y[i] > 0 else "path")
        assert (square, cross, int(text)) == (explorer.is_outlier[i], not run.alive[i], flags[i])
        assert (size != "") == (run.p[i] < 1)
    reader.root.get_by_text("Every example in numbers").click()
    reader.settle()
    rows = reader.root.locator(".ou-table tbody tr").all_inner_texts()
    when = dict(zip(run.removed.tolist(), run.removed_at.tolist(), strict=True))
    for i, row in enumerate(rows):
        _, _, outlier, count, weight, gone = row.split("\t")
        assert (outlier == "yes", int(count)) == (explorer.is_outlier[i], run.flags[i])
        assert number(weight) == pytest.approx(run.p[i], rel=6e-3)
        assert gone == str(when.get(i, "–"))
    assert len(rows) == 60


def test_keyboard_alone_makes_undo_stall(figure):
    reader = figure()
    reader.type_into("λ, as a number", 0.0001)
    for name in ("undo", "two-out"):
        reader.tab_to(reader.root.get_by_role("checkbox", name=name))
        reader.keys("Space")
    assert reader.reached() == set(), "the guess comes first"
    reader.choose("my guess: λ", "s")
    explorer = OutliersExplorer(undo=True, two_out=False, lam=1e-4)
    assert_shows(reader, explorer)
    assert reader.reached() == {"stall"}
    assert "all steps from 1 to 561 were refused, at P = 1," in reader.said("stall")
    # The exact stall, by its button; its points come with it and go with Reset.
    reader.press("One example, E001-09")
    reader.field("Step t").press("End")
    reader.settle()
    assert reader.numbers()["refused in a row"] == "1,000"
    assert number(reader.numbers()["P(w)"]) == 0.1
    reader.press("Reset")
    assert_shows(reader, OutliersExplorer())


def test_keyboard_alone_makes_two_out_remove_clean_points(figure):
    reader = figure()
    reader.type_into("share, as a number", 0)
    reader.type_into("flags, as a number", 4)
    assert reader.reached() == set(), "the guess comes first"
    reader.type_into("my guess: removed =", 6)
    assert reader.reached() == {"clean"}
    assert "59 of 60 clean points were removed in 1000 steps, 1 left" in reader.said("clean")


def test_keyboard_alone_finds_a_precise_step(figure):
    explorer = OutliersExplorer(lam=5e-4, threshold=4)
    run = explorer.run(record=[0])
    right = np.cumsum(explorer.is_outlier[run.removed])
    first = next(m for m in range(8, 60) if right[m - 1] >= 0.75 * m)
    explorer.t = int(run.removed_at[first - 1])
    reader = figure(state={"t": explorer.t - 2})
    reader.type_into("λ, as a number", 0.0005)
    reader.type_into("flags, as a number", 4)
    reader.choose("my guess: it will", "f")
    reader.tab_to(reader.field("Step t"))
    reader.keys("ArrowRight")
    assert reader.reached() == set()
    reader.keys("ArrowRight")
    assert reader.reached() == {"precision"}
    assert_shows(reader, explorer)
    other = OutliersExplorer(lam=5e-4, threshold=4, batch_size=8, t=explorer.t)
    said = f"it would be {other.suspects().sum()}, {percent(other.precision_recall()[0])} of them"
    assert f"With k = 8 in place of 1 {said}" in reader.said("precision")


def test_traits_and_figure_follow_each_other_in_a_kernel(figure):
    reader = figure()
    reader.page.evaluate(KERNEL.replace('widget("pegasos")', 'widget("outliers")'))
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.page.evaluate("model.set('undo', true); model.set('t', 30)")
    reader.settle()
    reader.set("share, as a number", 0.1)
    reader.tick("probability")
    explorer = OutliersExplorer()
    for name in ("undo", "t", "share", "probability", "lam"):
        setattr(explorer, name, reader.page.evaluate(f"model.get('{name}')"))
    assert (explorer.undo, explorer.t, explorer.share) == (True, 30, 0.1)
    assert explorer.probability
    assert_shows(reader, explorer)
    reader.press("One example, E001-09")
    reader.press("Copy call")
    call = reader.field("Python call that gives this state").input_value()
    made = eval(call, {"OutliersExplorer": OutliersExplorer})
    assert (made.X, made.start, made.lam) == ([[1, 0]], [1, 1], 0.1)
    assert_shows(reader, made)


def test_link_restores_the_state_of_the_second_of_two_figures(figure, visit):
    reader = figure(count=2, state={"t": 50})
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.set("λ, as a number", 0.3)
    reader.tick("undo")
    reader.select("against", "work")
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=outliers.2" in link
    again = OutliersReader(visit(link, viewport={"width": 1000, "height": 900}))
    assert_shows(again, OutliersExplorer(t=50))
    again.root = again.page.locator(".pf-root").nth(1)
    assert_shows(again, OutliersExplorer(t=50, lam=0.3, undo=True))
    assert again.field("against").input_value() == "work"


def test_broken_links_are_put_right(figure):
    fragments = [
        "lam=-3&share=7&outliers=me&batch_size=1e9&undo=maybe&threshold=0.5&gamma=x&t=-4",
        "X=1,2;3&y=1,1&start=1&test=best&n_iter=0&axis=polar",
        "start=a,b&seed=-1&measure=none&lam=NaN&n_iter=",
        # Right, but at the border.
        "X=1,0&y=1&lam=10&share=0.5&undo=true&probability=true&n_iter=1&t=1&axis=work",
        "X=0,0;0,0&y=-1,1&share=0.5&test=alive&batch_size=2&axis=work&measure=clean",
    ]
    reader = figure(fragment=f"#figure=outliers&{fragments[0]}")
    for fragment in fragments:
        reader.page.evaluate("(hash) => { location.hash = hash; }", f"figure=outliers&{fragment}")
        reader.settle()
        assert "undefined" not in " ".join(reader.numbers().values())
        assert reader.page.locator(".pf-error").count() == 0
        assert "NaN" not in reader.root.inner_html()
        assert "Infinity" not in reader.root.inner_html()


def test_changes_are_announced(figure):
    state = {"undo": True, "probability": True}
    reader = figure(state=state)
    reader.press("Step ▶")
    reader.page.wait_for_function(
        "(text) => document.querySelector('.pf-live').textContent.startsWith(text)",
        arg=f"Step 201 drew example {OutliersExplorer(**state).draws[200] + 1}",
    )
