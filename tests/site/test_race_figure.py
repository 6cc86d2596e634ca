"""The race figure in a browser: it shows what was measured, and answers all input."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from pegasos_lib.widgets import RaceExplorer
from tests.site.reader import EXTENSION, FirstFigureReader, figure_opener, results_script
from tests.site.test_pegasos_figure import KERNEL

BOOK = Path(__file__).parents[2] / "book"
STORED = BOOK / "_data" / "race.json"
SMALL = 1e-5

pytestmark = pytest.mark.browser


DATA = results_script("race")


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with figures in some state, and give the reader's hands and eyes on the first."""
    return figure_opener(tmp_path, visit, RaceExplorer, RaceReader)


class RaceReader(FirstFigureReader):
    """What a reader does with this figure, and reads off it."""

    def keys(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def table(self):
        """Return the rows of the table at the marker: name -> the cells' texts."""
        rows = self.root.locator(".ra-table tbody tr").all()
        return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}

    def caption(self):
        return self.root.locator(".ra-table caption").inner_text()

    def place(self, panel, share):
        """Return a point on the screen, at a share of the width of a panel."""
        surface = self.root.locator(".pf-surface").nth(panel)
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        return box["x"] + share * box["width"], box["y"] + 30

    def said(self, task):
        return self.root.locator(f"[data-task='{task}'] .pf-task-said").inner_text()


def number(text):
    """Read a number as the figure writes it."""
    if text == "less than 10⁻⁵":
        return SMALL
    text = text.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    return float(text.replace("·10", "e").replace(",", ""))


def assert_shows_the_end(reader, explorer):
    """Hold the table to what was measured at the end of the runs, where the marker stands."""
    table, words = reader.table(), reader.root.locator(".pf-summary").inner_text().split("\n")
    assert list(table) == explorer.optimizers
    for name, (above, band, accuracy, _) in table.items():
        measured = explorer.measured(name)
        low, median, high = (measured["suboptimality"][b][-1] for b in ("low", "median", "high"))
        assert number(above) == pytest.approx(max(median, SMALL), rel=6e-3)
        if low == high:
            assert band == ""
        else:
            ends = [number(text) for text in band.split(" to ")]
            assert ends == pytest.approx([max(low, SMALL), max(high, SMALL)], rel=6e-2)
        assert float(accuracy) == pytest.approx(measured["accuracy"]["median"][-1], abs=6e-5)
    optimum = explorer.results["optimum"][f"{explorer.lam:g}"]
    assert f"{100 * optimum['free']['test_error']:.2f} %" in words
    assert f"{100 * optimum['l1']['train_error']:.2f} %" in words


@pytest.mark.parametrize(
    "state",
    [{}, {"lam": 0.001, "feasible": "own", "output": "average", "optimizers": ["GD", "Pegasos"]}],
)
def test_figure_mounts_and_shows_what_was_measured(figure, state):
    reader = figure(state=state)
    assert reader.page.locator(".pf-fallback").is_hidden()
    explorer = RaceExplorer(STORED, **state)
    assert_shows_the_end(reader, explorer)
    lines = reader.root.locator(".pf-layer-lines").first.locator("path")
    assert lines.count() == len(explorer.optimizers)
    # From the first to the last of the numbers that were measured, one vertex each.
    vertices = lines.last.get_attribute("d").count(",")
    assert vertices == len(explorer.results["iterations"]["online"])


def test_controls_change_what_is_drawn(figure):
    reader, explorer = figure(), RaceExplorer(STORED)
    picture = reader.root.locator(".ra-weights").inner_html()
    for name in ("SMD", "AdaGrad"):
        reader.field(name).click()
    reader.select("λ", "0.001")
    reader.select("output", "average")
    explorer.optimizers = [n for n in explorer.optimizers if n not in ("SMD", "AdaGrad")]
    explorer.lam, explorer.output = 0.001, "average"
    assert_shows_the_end(reader, explorer)
    reader.select("set", "own")
    explorer.feasible = "own"
    assert_shows_the_end(reader, explorer)
    assert reader.root.locator(".ra-weights").inner_html() != picture
    reader.select("marker on", "AdaGrad")
    assert "AdaGrad" in reader.table(), "who carries the marker is drawn"
    for name in ("GD", "projected GD", "SGD", "SEG±", "Pegasos", "AdaGrad"):
        reader.field(name).click()
    reader.settle()
    assert list(reader.table()) == ["AdaGrad"], "one stays"
    assert reader.field("AdaGrad").is_checked()
    reader.press("Reset")
    assert_shows_the_end(reader, RaceExplorer(STORED))


def test_marker_moves_by_keys_press_drag_and_touch_on_every_axis(figure):
    reader = figure(has_touch=True)
    explorer = RaceExplorer(STORED)
    counts = explorer.results["iterations"]["online"]
    reader.tab_to(reader.field("at"))
    reader.keys("ArrowLeft", "ArrowLeft")
    assert reader.caption() == f"At the marker, after {counts[-3]:,} iterations"
    measured = explorer.measured()["suboptimality"]["median"][-3]
    assert number(reader.table()["Pegasos"][0]) == pytest.approx(measured, rel=6e-3)
    assert reader.table()["GD"][3].endswith("ended")
    reader.page.mouse.click(*reader.place(0, 0.5))
    reader.settle()
    middle = min(counts, key=lambda k: max(k / 100, 100 / k))
    assert reader.caption() == f"At the marker, after {middle} iterations"
    reader.page.touchscreen.tap(*reader.place(1, 0.01))
    reader.settle()
    assert reader.caption() == "At the marker, after 1 iteration"
    grip = reader.root.locator(".ra-grip").nth(1).bounding_box()
    reader.page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    reader.page.mouse.down()
    reader.page.mouse.move(*reader.place(1, 0.25), steps=3)
    reader.page.mouse.up()
    reader.settle()
    quarter = min(counts, key=lambda k: max(k / 10, 10 / k))
    assert reader.caption() == f"At the marker, after {quarter} iterations"
    reader.select("against", "passes")
    assert reader.caption() == f"At the marker, after {quarter / 10_000:g} passes"
    assert reader.table()["GD"][3] == "at w = 0", "a pass of GD is one iteration"
    reader.select("against", "time")
    point = counts.index(quarter)
    seconds = number(reader.caption().split()[-2])
    assert seconds == pytest.approx(explorer.measured()["seconds"][point], rel=6e-3)
    assert reader.table()["Pegasos"][3] == str(quarter)
    reader.field("marker on").select_option("GD")
    reader.field("at").press("End")
    reader.settle()
    explorer.focus = "GD"
    end = number(reader.caption().split()[-2])
    assert end == pytest.approx(explorer.measured()["seconds"][-1], rel=6e-3)


# --------------------------------------------------------------------------------------- the tasks


def test_keyboard_alone_finds_what_learns_nothing_and_what_is_not_finished(figure):
    reader, explorer = figure(), RaceExplorer(STORED, lam=0.001)
    reader.choose("λ", "10")
    assert reader.reached() == set(), "the guess comes first"
    reader.choose("my guess: λ of task 1", "0.001")
    assert reader.reached() == {"baseline"}
    baseline = explorer.results["baseline"]
    assert f"always +1 gets {100 * baseline:.1f} %. You guessed λ = 0.001." in reader.said(
        "baseline"
    )
    reader.choose("my guess: λ of task 2", "10")
    assert reader.reached() == {"baseline"}
    reader.choose("λ", "0.001")
    assert reader.reached() == {"baseline", "under"}
    times = 1 + explorer.measured()["suboptimality"]["median"][-1] / explorer.least()["P"]
    assert f"{times:.3g} times the least value" in reader.said("under")
    error = explorer.results["optimum"]["0.001"]["free"]["test_error"]
    assert f"w* errs on {100 * error:.2f} % of them" in reader.said("under")


def test_keyboard_alone_turns_an_order_round_by_the_clock(figure):
    reader = figure()
    for name in ("projected GD", "SGD", "SMD", "SEG±", "AdaGrad"):
        reader.tab_to(reader.field(name))
        reader.keys("Space")
    reader.choose("marker on", "GD")
    counts = RaceExplorer(STORED).results["iterations"]["batch"]
    reader.tab_to(reader.field("at"))
    reader.keys("End", *["ArrowLeft"] * (len(counts) - 1 - counts.index(55)))
    reader.choose("my guess: by the clock", "online")
    assert reader.reached() == set(), "it is seen against seconds"
    reader.choose("against", "seconds")
    assert reader.reached() == {"clock"}
    assert "after 55 iterations each, GD is " in reader.said("clock")
    assert "the winner is of the online kind; you guessed online." in reader.said("clock")


# ------------------------------------------------------------------------- pages, links, kernels


def test_without_results_it_says_what_is_missing_and_a_kernel_may_bring_them(tmp_path, visit):
    bare = figure_opener(tmp_path, visit, RaceExplorer, lambda page: page, data="")()
    missing = bare.locator(".ra-missing")
    assert "This figure shows measured results, and here are none" in missing.inner_text()
    assert bare.locator(".pf-panels").is_hidden()
    assert bare.locator(".pf-error").count() == 0
    bare.evaluate(KERNEL.replace('widget("pegasos")', 'widget("race")'))
    assert missing.nth(1).is_visible()
    bare.evaluate(f"{DATA} model.set('results', PegasosData.race)")
    bare.evaluate("model.set('lam', 0.1)")
    reader = RaceReader.__new__(RaceReader)
    reader.page, reader.root = bare, bare.locator(".pf-root").nth(1)
    reader.settle()
    explorer = RaceExplorer(STORED, lam=0.1)
    assert_shows_the_end(reader, explorer)
    wide = reader.root.locator(".pf-plane").first.bounding_box()["width"]
    assert wide > 350, "what was hidden is measured when it is shown"
    reader.field("GD").click()
    reader.settle()
    explorer.optimizers = bare.evaluate("model.get('optimizers')")
    assert_shows_the_end(reader, explorer)
    reader.press("Copy call")
    call = reader.field("Python call that gives this state").input_value()
    names = {"RaceExplorer": RaceExplorer, "results": explorer.results}
    assert eval(call, names).state() == explorer.state()
    bare.evaluate("model.set('results', {runs: 1})")
    assert "are not those of" in missing.nth(1).inner_text()


def test_link_restores_the_state_of_the_second_of_two_figures(figure, visit):
    reader = figure(count=2, raw_state={})
    # The script begins as the Python class does.
    assert_shows_the_end(reader, RaceExplorer(STORED))
    reader.root = reader.page.locator(".pf-root").nth(1)
    for name in ("projected GD", "SEG±"):
        reader.field(name).click()
    reader.select("λ", "1")
    reader.select("against", "passes")
    reader.page.mouse.click(*reader.place(1, 0.2))
    reader.settle()
    before = reader.caption(), reader.table()
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=race.2" in link
    again = RaceReader(visit(link, viewport={"width": 1000, "height": 900}))
    assert_shows_the_end(again, RaceExplorer(STORED))
    again.root = again.page.locator(".pf-root").nth(1)
    assert (again.caption(), again.table()) == before


def test_a_broken_link_is_put_right(figure):
    wrong = "lam=0.5&feasible=l2&output=&axis=polar&focus=Adam&at=1e999&optimizers=Adam,,GD,SGD"
    reader = figure(fragment=f"#figure=race&{wrong}")
    values = [reader.field(name).input_value() for name in ("λ", "set", "against", "marker on")]
    assert values == ["0.01", "l1", "iterations", "SGD"]
    assert list(reader.table()) == ["GD", "SGD"]
    assert reader.page.locator(".pf-error").count() == 0
    assert "NaN" not in reader.root.inner_html()


def test_changes_are_announced(figure):
    reader = figure()
    reader.select("λ", "0.1")
    reader.page.wait_for_function(
        "() => document.querySelector('.pf-live').textContent"
        ".startsWith('λ = 0.1. Marker after 10,000 iterations of Pegasos')"
    )


def test_the_script_with_the_results_is_the_committed_file_and_small():
    text = DATA.partition("??{},")[2].removesuffix(");\n")
    assert json.loads(text) == {"race": json.loads(STORED.read_text())["results"]}
    assert len(DATA.encode()) < 300_000


def test_a_page_loads_the_results_before_the_figure_or_the_build_says_what_is_missing(
    tmp_path, monkeypatch
):
    said = []
    monkeypatch.setattr(
        EXTENSION.logger, "warning", lambda text, *args, **_: said.append(text % args)
    )

    def scripts_on(source):
        app = SimpleNamespace(srcdir=source, outdir=tmp_path / "_build" / "html")
        config = SimpleNamespace(html_static_path=[])
        EXTENSION.add_static_folder(app, config)
        body = "<p></p>" + "".join(f'<div data-figure="{kind}"></div>' for kind in ("race", "dual"))
        context = {"body": body, "pathto": lambda name, resource: name}
        EXTENSION.add_scripts(app, "book/page", "page.html", context, None)
        copied = {Path(path).name for path in config.html_static_path}
        loaded = re.findall(r'src="_static/([\w.-]+)\?', context["body"])
        assert set(loaded) <= copied
        return loaded

    expected = ["figures.js", "race-data.js", "race.js", "dual.js"]
    assert scripts_on(BOOK.parent) == expected
    assert said == []
    assert scripts_on(tmp_path) == ["figures.js", "dual.js"]
    assert said[0].startswith("a figure stands here, but race-data.js is not built: run `make js`")
