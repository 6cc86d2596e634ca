"""The descent figure in a browser, with every other host blocked: what it shows, what it obeys."""

import re
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import expect

from pegasos_lib.widgets import DescentExplorer
from tests.site.reader import DRAWN, write_page
from tests.site.test_pegasos_figure import (
    KERNEL,
    choose,
    control,
    enter,
    number_of,
    press,
    tab_to,
    task,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def figure_file(tmp_path):
    """Return `write(*figures) -> address`: a page with these figures and the script."""
    return partial(write_page, tmp_path, "descent")


@pytest.fixture
def show(visit, figure_file):
    """Return `show(**traits) -> page`, the page of one explorer with these traits."""

    def show(options=None, **traits):
        return visit(figure_file(DescentExplorer(**traits)), **(options or {}))

    return show


def number(text):
    """Read a number as the figure writes it."""
    text = text.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    return float(text.replace("·10", "e"))


def told(page):
    """What the table says of each test: the step after which it fires, and f - f* there."""
    rows = {}
    for row in page.locator(".pd-tests tbody tr").all():
        cells = row.locator("td").all_inner_texts()
        step = re.fullmatch(r"step (\d+)", cells[0].strip())
        rows[row.get_attribute("data-test")] = (int(step[1]), number(cells[1])) if step else None
    return rows


def settle(page):
    page.evaluate(DRAWN)


def place(page, a, b):
    """Where the point (a, b) of the plane is on the screen."""
    surface = page.locator(".pf-plane").first.locator(".pf-surface")
    surface.scroll_into_view_if_needed()
    box = surface.bounding_box()
    return box["x"] + box["width"] * (a + 4) / 8, box["y"] + box["height"] * (4 - b) / 8


def start(page):
    settle(page)
    return [float(control(page, f"start {name}").input_value()) for name in "ab"]


@pytest.mark.parametrize(
    "traits",
    [
        {},
        {"function": "hinge", "rule": "inverse-time", "c": 1.0, "t": 28},
        {"function": "squares", "direction": "sampled", "rule": "armijo", "c": 1.0, "t": 9},
        {"function": "ring", "rule": "backtracking", "c": 1.0, "t": 60},
    ],
)
def test_it_shows_what_python_computes(show, traits):
    page, explorer = show(**traits), DescentExplorer(**traits)
    w = explorer.w
    said = number_of(page, "wₜ₊₁").inner_text().strip("()").split(", ")
    assert [number(text) for text in said] == pytest.approx(w, rel=6e-3, abs=1e-9)
    gap = explorer.f(w) - explorer.infimum
    assert number(number_of(page, "f(wₜ₊₁) − f*").inner_text()) == pytest.approx(gap, rel=6e-3)
    path = explorer.path
    for test, step in explorer.first_fires().items():
        shown = told(page)[test]
        assert (shown and shown[0]) == step, test
        if step:
            there = explorer.f(path[step]) - explorer.infimum
            assert shown[1] == pytest.approx(there, rel=6e-3, abs=1e-12)
    assert page.locator(".pf-fallback").is_hidden()


def test_every_choice_changes_the_path(show):
    page = show(function="squares", rule="backtracking", c=0.8, t=9)
    path = page.locator(".pf-plane .pf-path").first
    seen = {path.get_attribute("d")}
    for label, values in {
        "direction": ["coordinate", "exact", "sampled"],
        "step ηₜ": ["armijo", "constant", "inverse-time", "inverse-sqrt"],
        "function f": ["hinge", "bowl", "valley", "ring", "trap", "exp", "corner"],
    }.items():
        for value in values:
            control(page, label).select_option(value)
            settle(page)
            # On the squares Armijo's share is small enough to accept what plain backtracking does.
            if value != "armijo":
                assert path.get_attribute("d") not in seen, value
            seen.add(path.get_attribute("d"))
    assert control(page, "direction").input_value() == "steepest", "no average is sampled"
    assert page.locator("option[value=sampled]").is_disabled()
    control(page, "function f").select_option("hinge")
    control(page, "direction").select_option("sampled")
    settle(page)
    before = path.get_attribute("d")
    page.get_by_role("button", name="New draw").click()
    settle(page)
    assert path.get_attribute("d") != before


def test_the_start_obeys_mouse_press_and_keys(show):
    page = show()
    page.mouse.move(*place(page, 3.5, 1.5))
    page.mouse.down()
    page.mouse.move(*place(page, 1, 0))
    page.mouse.move(*place(page, -2, -3))
    page.mouse.up()
    assert start(page) == pytest.approx([-2, -3], abs=0.05)
    page.mouse.click(*place(page, 2, 2))
    assert start(page) == pytest.approx([2, 2], abs=0.05)
    at = start(page)
    page.locator(".pf-handle").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    assert start(page) == pytest.approx([at[0] - 0.08, at[1] - 0.8])
    control(page, "start a").fill("99")
    control(page, "start a").press("Enter")
    assert start(page)[0] == 4


def test_the_start_obeys_touch(show):
    page = show({"has_touch": True, "viewport": {"width": 390, "height": 800}})
    touch = page.context.new_cdp_session(page)
    for kind, at in (("Start", (3.5, 1.5)), ("Move", (2, 0)), ("Move", (-1, -2)), ("End", None)):
        points = [dict(zip("xy", place(page, *at), strict=True))] if at else []
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    assert start(page) == pytest.approx([-1, -2], abs=0.1)
    page.touchscreen.tap(*place(page, 1, 3))
    assert start(page) == pytest.approx([1, 3], abs=0.1)


def test_steps_are_reached_by_playback_curve_and_table(show):
    page = show()
    shown = page.locator(".pf-count")
    page.get_by_role("button", name="Step ▶").click()
    expect(shown).to_have_text("7 / 100")
    page.locator("[data-test=gradient] button").click()
    expect(shown).to_have_text("63 / 100")
    assert number(number_of(page, "‖gₜ₊₁‖").inner_text()) <= 0.01
    surface = page.locator(".pf-plane").nth(1).locator(".pf-surface")
    surface.scroll_into_view_if_needed()
    curve = surface.bounding_box()
    page.mouse.click(curve["x"] + curve["width"] / 2, curve["y"] + curve["height"] / 4)
    expect(shown).to_have_text("50 / 100")
    letters = page.locator(".pd-letters text").all_text_contents()
    assert letters == ["B", "C", "D", "E", "A"]


def test_a_run_that_ends_early_says_why(show):
    page = show(function="ring", rule="backtracking", c=1.0, t=60)
    expect(number_of(page, "steps t")).to_have_text("46, where the run ends")
    note = page.locator(".pf-panel-note").nth(1)
    expect(note).to_contain_text("no step that the search tries lowers f")
    control(page, "function f").select_option("valley")
    control(page, "step ηₜ").select_option("constant")
    for label, value in (("steps T, as a number", 200), ("c, as a number", 10)):
        control(page, label).fill(str(value))
        control(page, label).press("Enter")
    expect(note).to_contain_text("too large to go on")
    control(page, "function f").select_option("exp")
    control(page, "direction").select_option("exact")
    expect(note).to_contain_text("no least value along this coordinate")
    expect(number_of(page, "steps t")).to_have_text("0, where the run ends")


def test_a_prediction_comes_before_the_run_shows(show):
    page = show(c=0.101)
    press(page, "Hide the run and predict")
    expect(page.locator(".pf-plane .pf-run-0")).to_have_attribute("d", "")
    assert set(page.locator(".pd-tests td:nth-child(2)").all_inner_texts()) == {"hidden"}
    assert page.get_by_role("button", name="Reveal").get_attribute("aria-disabled") == "true"
    choose(page, "f will end", "within")
    press(page, "Reveal")
    said = page.locator(".pf-said").filter(has_text="You said")
    expect(said).to_contain_text("It ends no lower than it began")
    expect(page.locator(".pf-plane .pf-run-0")).to_have_attribute("d", re.compile("^M"))
    enter(page, "c, as a number", 0.05)
    expect(said).to_have_count(0)


# ----------------------------------------------------------------------------------- the tasks


def test_tasks_bear_the_numbers_by_which_chapter_3_names_them(show):
    names = [t.get_attribute("data-task") for t in show().locator(".pf-task").all()]
    assert names == ["stall", "largest-step", "far-stop"]


def test_keyboard_alone_makes_plain_backtracking_stall(show):
    page = show()
    tab_to(page, "function f")
    page.keyboard.type("Ring")
    choose(page, "step ηₜ", "backtracking, as")
    enter(page, "c, as a number", 1)
    settle(page)
    expect(task(page, "stall")).not_to_have_class(re.compile("is-reached"))  # not guessed yet
    choose(page, "It must reach the minimum", "yes")
    expect(task(page, "stall")).to_contain_text("only to 1 above the minimum")
    expect(task(page, "stall")).to_contain_text("not as you said")


def test_armijo_and_a_run_that_arrives_do_not_stall(show):
    page = show(function="ring", rule="armijo", c=1.0)
    control(page, "It must reach the minimum").select_option("no")
    settle(page)
    control(page, "function f").select_option("squares")
    control(page, "step ηₜ").select_option("backtracking")
    settle(page)
    expect(task(page, "stall")).not_to_have_class(re.compile("is-reached"))
    control(page, "function f").select_option("hinge")  # a kink
    expect(task(page, "stall")).to_contain_text("at a kink −g may lead up")
    expect(task(page, "stall")).to_contain_text(", as you said")


def test_keyboard_alone_finds_the_largest_constant_step(show):
    page = show()
    enter(page, "My guess of the limit", 0.2)
    for c, reached in ((0.11, False), (0.08, False), (0.099, True)):
        enter(page, "c, as a number", c)
        settle(page)
        assert ("is-reached" in task(page, "largest-step").get_attribute("class")) == reached, c
    expect(task(page, "largest-step")).to_contain_text("2/L = 0.1; you guessed 0.2")


def test_keyboard_alone_makes_the_small_change_test_stop_far_away(show):
    page = show()
    choose(page, "Then f − f* is", "as large")
    settle(page)
    expect(task(page, "far-stop")).not_to_have_class(re.compile("is-reached"))
    choose(page, "step ηₜ", "c/t")
    enter(page, "c, as a number", 0.06)
    expect(task(page, "far-stop")).to_contain_text("proves nothing, as you said")


# ----------------------------------------------------------------------- pages, links, layout


def test_two_figures_link_and_reset(visit, figure_file):
    address = figure_file(DescentExplorer(), DescentExplorer("ring", t=3))
    page = visit(address)
    first, second = page.locator(".pf-root").nth(0), page.locator(".pf-root").nth(1)
    second.get_by_label("function f").select_option("squares")
    second.get_by_label("direction").select_option("sampled")
    second.get_by_label("start a").fill("-1.5")
    second.get_by_label("start a").press("Enter")
    second.get_by_role("button", name="Step ▶").click()
    expect(second.locator(".pf-count")).to_have_text("4 / 100")
    expect(first.locator(".pf-count")).to_have_text("6 / 100")
    second.get_by_role("button", name="Copy link").click()
    link = second.locator(".pf-link").input_value()
    assert "figure=descent.2" in link
    assert "start=-1.5,1" in link
    again = visit(link).locator(".pf-root").nth(1)
    expect(again.locator(".pf-count")).to_have_text("4 / 100")
    assert again.locator(".pf-readout").inner_text() == second.locator(".pf-readout").inner_text()
    again.get_by_role("button", name="Reset").click()
    expect(again.locator(".pf-count")).to_have_text("3 / 100")
    assert again.get_by_label("function f").input_value() == "ring"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)), "an id is there twice"


def test_traits_and_figure_follow_each_other_in_a_kernel(visit, figure_file):
    page = visit(figure_file(""))
    page.evaluate(
        KERNEL.replace("{ lam: 0.1, t: 3 }", "{ t: 3 }").replace('"pegasos"', '"descent"')
    )
    page.evaluate("model.set('function', 'ring')")
    expect(page.locator(".pd-formula")).to_contain_text("r² up to r = 1")
    control(page, "step ηₜ").select_option("backtracking")
    page.wait_for_function("model.get('rule') === 'backtracking'")
    page.get_by_role("button", name="Copy call").click()
    explorer = eval(page.locator(".pf-link").input_value(), {"DescentExplorer": DescentExplorer})
    # The start is that of the valley, not the ring's own.
    expected = DescentExplorer("ring", start=(3.5, 1.5), rule="backtracking", t=3)
    assert explorer.state() == expected.state()
    page.evaluate("end()")
    assert page.evaluate("left()") == 0, "the figure listens on after its end"


@pytest.mark.parametrize(
    "fragment",
    ["function=cube&c=x&t=1e9", "start=1&direction=sampled&rule=no", "start=a,b&n_iter=-3&eps=0"],
)
def test_a_damaged_link_leaves_a_working_figure(visit, figure_file, fragment):
    page = visit(f"{figure_file(DescentExplorer())}#figure=descent&{fragment}")
    page.get_by_role("button", name="◀ Back").click()
    assert np.isfinite(number(number_of(page, "f(wₜ₊₁)").inner_text()))
    assert page.locator(".pf-error").count() == 0


def test_what_is_shown_is_told(show):
    page = show()
    page.get_by_role("button", name="Step ▶").click()
    expect(page.locator(".pf-live")).to_contain_text("After step 7 w is")
    expect(page.locator(".pf-live")).to_contain_text("decrease after step 26")
    handle = page.locator(".pf-handle")
    expect(handle).to_have_attribute("aria-label", re.compile("Start w₁ at 3.5, 1.5"))
