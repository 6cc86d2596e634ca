"""The Pegasos figure in a browser, with every other host blocked: what it shows, what it obeys."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import expect

from pegasos_lib.widgets import PegasosExplorer
from tests.site.reader import write_page

pytestmark = pytest.mark.browser

NORMAL = {"reduced_motion": "no-preference"}


@pytest.fixture
def figure_file(tmp_path):
    """Return `write(*figures) -> address`: a page with these figures and the script."""
    return partial(write_page, tmp_path, "pegasos")


@pytest.fixture
def show(visit, figure_file):
    """Return `show(**traits) -> page`, the page of one explorer with these traits."""

    def show(options=None, **traits):
        return visit(figure_file(PegasosExplorer(**traits)), **(options or {}))

    return show


def number_of(page, term):
    """Locate what the read-out says of a term."""
    return (
        page.locator(".pf-readout > div")
        .filter(has=page.locator("dt", has_text=re.compile(f"^{re.escape(term)}$")))
        .locator("dd")
    )


def path_of(page, name):
    return page.locator(f".pf-plane .{name}").first.get_attribute("d")


def control(page, label):
    return page.get_by_label(label, exact=True)


def points(page):
    return page.locator(".pf-plane .pf-point")


def centre(locator):
    box = locator.locator(".pf-dot").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def place_of(page, i):
    """Where point i is, in the words that a screen reader says when it has the focus."""
    points(page).nth(i).focus()
    label = points(page).nth(i).get_attribute("aria-label").replace("−", "-")
    return tuple(float(v) for v in re.search(r"at ([-\d.]+), ([-\d.]+)", label).groups())


def tab_to(page, name):
    """Reach a control with the Tab key alone; fails when it cannot be reached."""
    for _ in range(150):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """() => { const e = document.activeElement;
              return e.getAttribute("aria-label")
                || e.labels?.[0]?.innerText.trim() || e.innerText; }"""
        )
        if (at or "").strip() == name:
            return
    raise AssertionError(f"Tab never reached {name!r}")


def enter(page, name, value):
    """Type a number into a field that Tab reached."""
    tab_to(page, name)
    page.keyboard.press("Control+A")
    page.keyboard.type(str(value))
    page.keyboard.press("Enter")


def press(page, name):
    tab_to(page, name)
    page.keyboard.press("Enter")


def choose(page, name, start):
    """Choose in a list that Tab reached, by the first letters of an option."""
    tab_to(page, name)
    page.keyboard.type(start)


def task(page, name):
    return page.locator(f".pf-task[data-task='{name}']")


# ------------------------------------------------------------------------------------ mounting


def test_it_mounts_with_all_its_parts(show):
    page = show()
    expect(page.locator(".pf-plane")).to_have_count(3)
    expect(points(page)).to_have_count(40)
    expect(page.locator(".pf-fallback")).to_be_hidden()
    assert page.locator(".pf-band").count() >= 6
    assert path_of(page, "pf-run-0").count(",") > 100


def test_a_page_of_the_site_holds_it(visit, http_site):
    page = visit(f"{http_site}/book/pegasos.html")
    expect(page.locator("[data-figure=pegasos] .pf-root").first).to_be_visible()


@pytest.mark.parametrize(
    "broken",
    [
        '<div class="pegasos-figure" data-figure="pegasos" data-state="{oops">Still here</div>',
        '<div class="pegasos-figure" data-figure="unheard-of">Still here</div>',
    ],
)
def test_an_error_is_shown_in_the_figure_and_the_fallback_stays(visit, figure_file, broken):
    page = visit(figure_file(broken, PegasosExplorer()))
    expect(page.get_by_role("alert")).to_contain_text("This figure stopped")
    expect(page.get_by_text("Still here")).to_be_visible()
    expect(page.locator(".pf-root")).to_have_count(1)
    page.faults.clear()


def test_two_figures_on_a_page_do_not_mix(visit, figure_file):
    page = visit(figure_file(PegasosExplorer(), PegasosExplorer(lam=0.3, t=9)))
    first, second = page.locator(".pf-root").nth(0), page.locator(".pf-root").nth(1)
    expect(second.get_by_label("λ", exact=True)).to_have_attribute("aria-valuetext", "0.3")
    first.get_by_role("button", name="Step ▶").click()
    expect(first.locator(".pf-count")).to_have_text("5 / 400")
    expect(second.locator(".pf-count")).to_have_text("9 / 400")
    second.get_by_role("button", name="Copy link").click()
    assert "figure=pegasos.2" in second.locator(".pf-link").input_value()


KERNEL = """
() => {
  // What anywidget hands to a figure: a model whose traits a kernel may set, and an empty element.
  const traits = { lam: 0.1, t: 3 };
  const listeners = {};
  window.model = {
    saved: 0,
    get: (key) => traits[key],
    set(key, value) {
      traits[key] = value;
      (listeners[`change:${key}`] ?? []).forEach((f) => f());
    },
    on(name, f) { (listeners[name] ??= []).push(f); },
    off(name, f) { listeners[name] = listeners[name].filter((g) => g !== f); },
    save_changes() { window.model.saved += 1; },
  };
  window.left = () => Object.values(listeners).flat().length;
  const el = document.createElement("div");
  document.body.append(el);
  window.end = PegasosFigures.widget("pegasos").render({ model: window.model, el });
}
"""


def test_traits_and_figure_follow_each_other_in_a_kernel(visit, figure_file):
    page = visit(figure_file(""))
    page.evaluate(KERNEL)
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "0.1")
    page.evaluate("model.set('lam', 0.5)")
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "0.5")
    control(page, "output").select_option("last")
    page.wait_for_function("model.get('average') === 'last' && model.saved === 1")
    page.get_by_role("button", name="Copy call").click()
    call = page.locator(".pf-link").input_value()
    assert call == 'PegasosExplorer(lam=0.5, average="last", t=3)'
    page.get_by_role("button", name="Add point").click()
    expect(points(page)).to_have_count(41)
    page.get_by_role("button", name="Copy call").click()
    names = {"PegasosExplorer": PegasosExplorer}
    again = eval(page.locator(".pf-link").input_value(), names)
    assert (len(again.X), len(again.y), again.lam, again.average) == (41, 41, 0.5, "last")
    page.evaluate("end()")
    expect(page.locator(".pf-root")).to_have_count(0)
    assert page.evaluate("left()") == 0, "the figure listens on after its end"


# ------------------------------------------------------------------------------------- controls


def test_the_lambda_slider_obeys_the_keyboard(show):
    page = show()
    gap, curve = number_of(page, "P(output) − P*"), path_of(page, "pf-run-0")
    before = gap.inner_text()
    control(page, "λ").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "0.01")
    expect(gap).not_to_have_text(before)
    assert path_of(page, "pf-run-0") != curve
    expect(number_of(page, "C = 1/(λn)")).to_have_text("2.5")


def test_every_choice_changes_the_curve(show):
    page = show()
    seen = {path_of(page, "pf-run-0")}

    def changed(what):
        page.wait_for_function(
            """seen => !seen.includes(
              document.querySelector(".pf-plane .pf-run-0").getAttribute("d"))""",
            arg=list(seen),
        )
        seen.add(path_of(page, "pf-run-0"))
        return what

    for average in "last", "weighted", "suffix":
        control(page, "output").select_option(average)
        changed(average)
    for step in "weighted", "inverse-time", "inverse-sqrt", "constant":
        control(page, "step ηₜ").select_option(step)
        changed(step)
    expect(page.get_by_text("The bound holds for the steps 1/(λt) only.")).to_be_visible()
    control(page, "c, as a number").fill("0.2")
    control(page, "c, as a number").press("Enter")
    changed("c")
    control(page, "project on the ball of radius 1/√λ").uncheck()
    control(page, "step ηₜ").select_option("pegasos")
    changed("projection")
    control(page, "batch size k, as a number").fill("5")
    control(page, "batch size k, as a number").press("Enter")
    changed("batch size")
    expect(page.locator(".pf-plane .is-drawn")).not_to_have_count(0)
    control(page, "sampling").select_option("permutation")
    changed("sampling")
    page.get_by_role("button", name="New draw").click()
    changed("seed")
    control(page, "Toy data").select_option("ring")
    changed("data")
    control(page, "steps T, as a number").fill("2000")
    control(page, "steps T, as a number").press("Enter")
    changed("T")


def test_play_step_and_back_move_the_step(show):
    page = show(NORMAL)
    count = page.locator(".pf-count")
    page.get_by_role("button", name="Step ▶").click()
    expect(count).to_have_text("5 / 400")
    page.get_by_role("button", name="◀ Back").click()
    page.get_by_role("button", name="◀ Back").click()
    expect(count).to_have_text("3 / 400")
    page.get_by_role("button", name="▶ Play").click()
    page.wait_for_function("parseInt(document.querySelector('.pf-count').textContent) >= 8")
    page.get_by_role("button", name="⏸ Pause").click()
    stopped = count.inner_text()
    page.wait_for_timeout(300)
    assert count.inner_text() == stopped
    control(page, "Step t").press("End")
    expect(count).to_have_text("400 / 400")
    expect(page.get_by_role("button", name="Step ▶")).to_be_disabled()
    control(page, "Step t").press("Home")
    expect(page.get_by_text("w₁ = 0 has no line yet")).to_be_visible()


def test_play_makes_few_moves_for_a_reader_who_asked_for_less_motion(show):
    page = show({"reduced_motion": "reduce"})
    page.evaluate(
        """() => { window.moves = 0;
          new MutationObserver(() => { window.moves += 1; }).observe(
            document.querySelector(".pf-count"), {childList: true, subtree: true}); }"""
    )
    page.get_by_role("button", name="▶ Play").click()
    page.wait_for_timeout(2300)
    assert 1 <= page.evaluate("window.moves") <= 2


def test_a_press_on_the_curves_goes_to_that_step(show):
    page = show()
    page.locator(".pf-plane").nth(2).locator(".pf-surface").click()
    expect(page.locator(".pf-count")).to_have_text("20 / 400")


def test_the_parts_of_a_step_are_drawn(show):
    page = show()
    for name in "pf-shrink", "pf-push", "pf-project":
        assert path_of(page, name), f"no {name} at the step that has all three"
    expect(
        page.get_by_text(re.compile("Step 4: shrink by 0.75, push by .* project"))
    ).to_be_visible()
    expect(page.locator(".pf-plane .is-drawn")).to_have_count(1)


def test_a_finger_taps_on_the_curves_and_scrolls_over_them(show):
    page = show({"has_touch": True, "viewport": {"width": 360, "height": 800}})
    surface = page.locator(".pf-plane").nth(2).locator(".pf-surface")
    surface.evaluate("e => e.scrollIntoView({block: 'center'})")
    assert surface.evaluate("e => getComputedStyle(e).touchAction") == "auto"
    surface.tap()
    expect(page.locator(".pf-count")).to_have_text("20 / 400")


# --------------------------------------------------------------------------------------- points


def test_a_point_is_dragged_by_the_mouse(show):
    page = show()
    before, run = place_of(page, 2), path_of(page, "pf-run-0")
    x, y = centre(points(page).nth(2))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    after = place_of(page, 2)
    assert after[0] > before[0] + 0.3
    assert after[1] > before[1] + 0.2
    assert path_of(page, "pf-run-0") != run


def test_a_point_is_dragged_by_touch(show):
    page = show({"has_touch": True, "viewport": {"width": 360, "height": 800}})
    points(page).nth(3).evaluate("point => point.scrollIntoView({block: 'center'})")
    before = place_of(page, 3)
    x, y = centre(points(page).nth(3))
    session = page.context.new_cdp_session(page)

    def touch(kind, *at):
        places = [{"x": at[0], "y": at[1]}] if at else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    touch("touchStart", x, y)
    for step in range(1, 5):
        touch("touchMove", x + 10 * step, y - 8 * step)
    touch("touchEnd")
    page.wait_for_timeout(100)
    after = place_of(page, 3)
    assert after[0] > before[0] + 0.3
    assert after[1] > before[1] + 0.2


def test_a_point_goes_where_the_reader_presses_after_selecting_it(show):
    page = show()
    x, y = centre(points(page).nth(3))
    page.mouse.click(x, y)
    expect(page.get_by_text("Point 4 is selected")).to_be_visible()
    box = page.locator(".pf-plane").first.locator(".pf-surface").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.9)
    a, b = place_of(page, 3)
    assert a > 2
    assert b < -2
    page.keyboard.press("Escape")
    expect(page.get_by_text("Drag a point, or select it")).to_be_visible()


def test_points_obey_the_keyboard(show):
    page = show()
    tab_to_first = points(page).nth(0)
    tab_to_first.focus()
    page.keyboard.press("n")
    expect(points(page).nth(1)).to_be_focused()
    before = place_of(page, 1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    page.wait_for_timeout(100)
    after = place_of(page, 1)
    assert after[0] == pytest.approx(before[0] + 0.06, abs=0.011)
    assert after[1] == pytest.approx(before[1] + 0.63, abs=0.03)
    expect(points(page).nth(1)).to_have_class(re.compile("is-minus"))
    page.keyboard.press("f")
    expect(points(page).nth(1)).to_have_class(re.compile("is-plus"))
    page.keyboard.press("Space")
    expect(points(page).nth(1)).to_have_class(re.compile("is-minus"))
    page.keyboard.press("Enter")
    expect(points(page)).to_have_count(41)
    expect(points(page).nth(40)).to_be_focused()
    page.keyboard.press("Delete")
    expect(points(page)).to_have_count(40)
    page.keyboard.press("p")
    expect(points(page).nth(38)).to_be_focused()


def test_keys_in_one_frame_find_the_point_that_the_last_one_chose(show):
    """Under load several keys come before the next draw: none may go astray."""
    page = show()
    before = page.locator(".pf-plane .pf-point").count()
    points(page).nth(3).focus()
    left = page.evaluate(
        """keys => {
            const options = { bubbles: true, composed: true };
            const active = (root = document) => root.activeElement?.shadowRoot
                ? active(root.activeElement.shadowRoot) : root.activeElement;
            return keys.map((key) => {
                active().dispatchEvent(new KeyboardEvent("keydown", { key, ...options }));
                return active().getAttribute("aria-label");
            });
        }""",
        ["Delete", "p", "f", "Enter", "ArrowRight", "f"],
    )
    assert all(label.startswith("Point") for label in left), left
    expect(points(page)).to_have_count(before)
    expect(points(page).nth(before - 1)).to_be_focused()
    page.keyboard.press("Delete")
    page.keyboard.press("p")
    expect(points(page).nth(before - 3)).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("p")
    expect(points(page).nth(before - 2)).to_be_focused()


def test_buttons_add_flip_and_delete_a_point(show):
    page = show()
    expect(page.get_by_role("button", name="Flip label")).to_be_disabled()
    page.get_by_role("button", name="Add point").click()
    expect(points(page)).to_have_count(41)
    expect(points(page).nth(40)).to_have_class(re.compile("is-plus"))
    page.get_by_role("button", name="Flip label").click()
    expect(points(page).nth(40)).to_have_class(re.compile("is-minus"))
    page.get_by_role("button", name="Delete point").click()
    expect(points(page)).to_have_count(40)


def test_two_hundred_points_are_the_most(show):
    page = show()
    control(page, "points n, as a number").fill("500")
    control(page, "points n, as a number").press("Enter")
    expect(points(page)).to_have_count(200)
    expect(page.get_by_role("button", name="Add point")).to_be_disabled()


# --------------------------------------------------------------------------------- runs and link


def test_up_to_four_runs_stand_side_by_side(show):
    page = show()
    pin = page.get_by_role("button", name="Pin this run")
    for i, lam in enumerate([0.3, 0.1, 0.03, 0.003], 1):
        control(page, "λ, as a number").fill(str(lam))
        control(page, "λ, as a number").press("Enter")
        expect(pin).to_be_enabled()
        pin.click()
        expect(page.locator(".pf-pins li")).to_have_count(i)
    control(page, "λ, as a number").fill("1")
    control(page, "λ, as a number").press("Enter")
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "1")
    expect(pin).to_be_disabled()
    lines = [page.locator(f".pf-plane .pf-run-{i}") for i in range(5)]
    curves = [line.get_attribute("d") for line in lines]
    assert all(curves)
    assert len(set(curves)) == 5
    style = "e => [getComputedStyle(e).stroke, getComputedStyle(e).strokeDasharray]"
    styles = [line.evaluate(style) for line in lines]
    for channel in 0, 1:
        assert len({s[channel] for s in styles}) == 5, f"runs share a colour or a dash: {styles}"
    page.get_by_role("button", name="Remove run B").press("Enter")
    expect(page.locator(".pf-pins li")).to_have_count(3)
    assert page.evaluate("document.activeElement.closest('.pf-pins') !== null"), "the focus is lost"
    expect(page.locator(".pf-pins")).not_to_contain_text("λ 0.1 ")
    page.get_by_role("button", name="Use the settings of run A").click()
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "0.3")


def test_the_bound_has_its_constant_for_either_projection(show):
    page = show()
    note = page.locator(".pf-panel").nth(2).locator(".pf-panel-note")
    expect(note).to_contain_text("c = (√λ + R)²")
    projected = path_of(page, "pf-bound")
    assert projected
    control(page, "project on the ball of radius 1/√λ").uncheck()
    expect(note).to_contain_text("c = 4R²")
    control(page, "step ηₜ").select_option("constant")
    expect(note).to_contain_text("only")
    assert not path_of(page, "pf-bound")


def test_the_link_restores_the_state(show, visit):
    page = show(t=7)
    control(page, "λ, as a number").fill("0.005")
    control(page, "λ, as a number").press("Enter")
    control(page, "output").select_option("suffix")
    page.get_by_role("button", name="Pin this run").click()
    place_of(page, 5)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("f")
    page.wait_for_timeout(100)
    place, gap = place_of(page, 5), number_of(page, "P(output) − P*").inner_text()
    page.get_by_role("button", name="Copy link").click()
    link = page.locator(".pf-link").input_value()
    assert link.startswith("file:")

    again = visit(link)
    expect(control(again, "λ")).to_have_attribute("aria-valuetext", "0.005")
    expect(control(again, "output")).to_have_value("suffix")
    expect(again.locator(".pf-pins li")).to_have_count(1)
    expect(number_of(again, "P(output) − P*")).to_have_text(gap)
    assert place_of(again, 5) == place
    again.get_by_role("button", name="Reset").click()
    expect(control(again, "λ")).to_have_attribute("aria-valuetext", "0.02")
    expect(again.locator(".pf-pins li")).to_have_count(0)


def test_a_damaged_link_leaves_a_working_figure(visit, figure_file):
    url = figure_file(PegasosExplorer())
    page = visit(
        f"{url}#figure=pegasos&lam=oops&batch_size=-3&n_iter=1e9&X=1,2;q&runs=[{{&step=best"
    )
    expect(control(page, "λ")).to_have_attribute("aria-valuetext", "0.02")
    expect(page.locator(".pf-count")).to_have_text("4 / 2000")
    expect(control(page, "step ηₜ")).to_have_value("pegasos")
    assert points(page).count() >= 1


# ----------------------------------------------------------------------- tasks, by keyboard alone


def test_the_task_of_under_optimisation_is_reached_by_keyboard(show):
    page = show()
    expect(task(page, "under-optimised")).not_to_have_class(re.compile("is-reached"))
    enter(page, "λ, as a number", 0.0005)
    expect(task(page, "under-optimised")).to_have_class(re.compile("is-reached"))
    expect(task(page, "under-optimised")).to_contain_text("after 10 epochs")
    expect(page.get_by_role("status").filter(has_text="Task 1 reached")).to_have_count(1)


def test_the_task_of_the_projection_is_reached_by_keyboard(show):
    page = show()
    press(page, "Pin this run")
    expect(page.locator(".pf-pins li")).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    tab_to(page, "project on the ball of radius 1/√λ")
    page.keyboard.press("Space")
    press(page, "Pin this run")
    expect(task(page, "projection")).to_have_class(re.compile("is-reached"))


def test_the_task_of_the_averages_is_reached_by_keyboard(show):
    page = show()
    enter(page, "λ, as a number", 0.003)
    choose(page, "My guess", "average of the")
    for start in "the last", "average of all", "average w", "average of the":
        choose(page, "output", start)
        press(page, "Pin this run")
    expect(page.locator(".pf-pins li")).to_have_count(4)
    expect(task(page, "average")).to_have_class(re.compile("is-reached"))
    expect(task(page, "average")).to_contain_text("average of the last half ends lowest")
    expect(task(page, "average")).to_contain_text("as you guessed")


def test_a_guess_comes_before_the_curve_shows_by_keyboard(show):
    page = show()
    press(page, "Hide the curve and guess")
    expect(number_of(page, "P(output) − P*")).to_have_text("hidden")
    assert not path_of(page, "pf-run-0")
    enter(page, "My guess, as a number", 0.01)
    press(page, "Reveal")
    expect(
        page.get_by_text(re.compile(r"You guessed 0.01; it is 0.00\d+: .* times too high"))
    ).to_be_visible()
    assert path_of(page, "pf-run-0")


def test_a_guess_is_placed_by_pressing_on_the_curves(show):
    page = show()
    page.get_by_role("button", name="Hide the curve and guess").click()
    page.locator(".pf-plane").nth(2).locator(".pf-surface").click(position={"x": 150, "y": 60})
    expect(control(page, "My guess, as a number")).not_to_have_value("0.1")
    expect(page.locator(".pf-count")).to_have_text("4 / 400")


# ------------------------------------------------------------------- told, measured, and the state


def test_what_is_shown_is_told_to_a_screen_reader(show):
    page = show()
    page.get_by_role("button", name="Step ▶").click()
    expect(page.locator(".pf-live")).to_contain_text("Step 5 of 400")
    expect(page.locator(".pf-plane").nth(2)).to_have_attribute("aria-label", re.compile("ends at"))


def test_a_redraw_is_measured(show):
    page = show(n_iter=2000)
    control(page, "λ").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("performance.getEntriesByName('pegasos-figure:redraw').length >= 2")


def test_state_in_the_page_is_what_python_holds(show):
    explorer = PegasosExplorer(X=[[1, 0.5], [-1, 0.25], [0.3, -2]], y=[1, -1, 1], lam=0.1, t=2)
    assert json.loads(json.dumps(explorer.state()))["X"] == [[1.0, 0.5], [-1.0, 0.25], [0.3, -2.0]]
    page = show(X=explorer.X, y=explorer.y, lam=0.1, t=2)
    expect(points(page)).to_have_count(3)
    w = [f"{v:.3g}".replace("-", "−") for v in explorer.w]
    expect(number_of(page, "wₜ₊₁")).to_have_text(f"({w[0]}, {w[1]})")
