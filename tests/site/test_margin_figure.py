"""The margin figure in a browser: it mounts, answers every input, and says the right numbers."""

import re

import numpy as np
import pytest

from pegasos_lib import HingeProblem, sdca
from pegasos_lib.widgets import MarginExplorer
from tests.site.reader import Reader, figure_opener

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with the figure in some state, and give the reader's hands and eyes on it."""
    return figure_opener(tmp_path, visit, MarginExplorer, MarginReader)


class MarginReader(Reader):
    """What a reader does with this figure, and reads off it."""

    TABS = 80

    def __init__(self, page):
        super().__init__(page)
        page.wait_for_selector(".pm-total:not(:empty)")

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def set(self, label, value):
        self.field(label).fill(str(value))
        self.field(label).press("Tab")
        self.settle()

    def press(self, name):
        self.button(name).click()
        self.settle()

    def number(self, label):
        return float(self.field(label).input_value())

    def text(self, selector):
        return self.page.locator(selector).inner_text().replace("−", "-")

    @property
    def value(self):
        return float(self.text(".pm-total"))

    @property
    def w(self):
        return np.array([self.number("w₁"), self.number("w₂")])

    @property
    def tip(self):
        return self.page.locator(".pf-handle")

    @property
    def points(self):
        return self.page.locator(".pf-point")

    def at(self, x, y, extent=4):
        """Give the place on the screen of a place on the plane."""
        self.page.locator(".pf-surface").first.scroll_into_view_if_needed()
        box = self.page.locator(".pf-surface").first.bounding_box()
        return (
            box["x"] + box["width"] * (x + extent) / (2 * extent),
            box["y"] + box["height"] * (extent - y) / (2 * extent),
        )

    def selected(self):
        return np.array([self.number("selected x₁"), self.number("selected x₂")])


def three_digits(shown, exact):
    """Tell whether a number shown in about three digits stands for the exact one."""
    return shown == pytest.approx(exact, rel=5.1e-3, abs=1e-9)


def test_figure_mounts_and_shows_what_the_library_computes(figure):
    reader = figure()
    assert reader.page.locator(".pf-fallback").is_hidden()
    explorer = MarginExplorer()
    problem, w = explorer.problem, np.array(explorer.w)
    assert reader.points.count() == problem.n
    assert three_digits(reader.value, problem.objective(w))
    wrong = int((problem.margins(w) <= 0).sum())
    assert f"{wrong} of {problem.n}" in reader.text(".pf-readout")
    assert reader.w == pytest.approx(w)


def test_minimum_stays_hidden_until_the_guess_is_made_and_is_the_certified_one(figure):
    reader = figure()
    assert "hidden" in reader.text(".pf-readout")
    reader.set("w₁", 0.5)
    reader.press("Compare with the minimum")
    explorer = MarginExplorer(w=[0.5, 0.7])
    run, problem = explorer.run(), explorer.problem
    gap = problem.objective([0.5, 0.7]) - problem.objective(run.w)
    said = reader.text(".pm-objective .pf-panel-note")
    value, above = re.fullmatch(
        r".*= ([\d.]+) \(the mark\); your guess is ([\d.]+) above it\.", said
    ).groups()
    assert three_digits(float(value), problem.objective(run.w))
    assert three_digits(float(above), gap)
    reader.press("Go to the minimum")
    assert reader.w == pytest.approx(run.w, abs=1e-3)
    assert "Your guess was" in reader.text(".pm-objective .pf-panel-note")
    assert "Another one is 0" in reader.text(".pm-kinks")


@pytest.mark.parametrize("lam", [1e-5, 0.03, 10])
def test_lambda_and_C_are_one_choice(figure, lam):
    reader = figure()
    reader.set("λ, as a number", lam)
    assert reader.number("C = 1/(λn)") == pytest.approx(1 / (8 * lam), rel=1e-3)
    reader.set("C = 1/(λn)", 0.5)
    assert reader.number("λ, as a number") == pytest.approx(1 / (8 * 0.5), rel=1e-3)


def test_lambda_slider_moves_by_arrow_keys_and_changes_the_objective(figure):
    reader = figure()
    before, lam = reader.value, reader.number("λ, as a number")
    reader.tab_to(reader.field("λ"))
    for _ in range(20):
        reader.page.keyboard.press("ArrowRight")
    reader.settle()
    assert reader.number("λ, as a number") == pytest.approx(10 * lam, rel=1e-2)
    norm2 = np.sum(reader.w**2)
    assert three_digits(reader.value - before, 0.9 / 2 * norm2)


def test_keys_move_the_tip_of_w(figure):
    reader = figure()
    w = reader.w
    reader.tab_to(reader.tip)
    reader.page.keyboard.press("ArrowRight")
    reader.page.keyboard.press("Shift+ArrowDown")
    reader.settle()
    assert reader.w - w == pytest.approx([0.08, -0.8], abs=1e-3)
    assert f"Tip of w at {reader.w[0]:.3g}" in reader.tip.get_attribute("aria-label")


def test_no_key_is_lost_that_comes_before_the_next_draw(figure):
    reader = figure()
    press = """node => {
        for (let i = 0; i < 5; i += 1) {
            node.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        }
    }"""
    w = reader.w
    reader.tip.evaluate(press)
    reader.settle()
    assert reader.w - w == pytest.approx([0.4, 0.0], abs=1e-3)
    reader.tab_to(reader.points.first)
    reader.settle()
    x = reader.number("selected x₁")
    reader.points.first.evaluate(press)
    reader.settle()
    assert reader.number("selected x₁") - x == pytest.approx(0.4, abs=0.011)


def test_keys_choose_move_flip_add_and_delete_points(figure):
    reader, page = figure(), None
    page = reader.page
    reader.tab_to(reader.points.first)
    page.keyboard.press("n")
    reader.settle()
    assert reader.selected() == pytest.approx([1.5, 0.5])
    page.keyboard.press("ArrowUp")
    reader.settle()
    assert reader.selected() == pytest.approx([1.5, 0.58])
    before = reader.value
    page.keyboard.press("f")
    reader.settle()
    assert reader.value > before
    page.keyboard.press("Enter")
    reader.settle()
    assert reader.points.count() == 9
    reader.settle()
    page.keyboard.press("Delete")
    reader.settle()
    page.keyboard.press("Delete")
    reader.settle()
    assert reader.points.count() == 7
    # C follows n.
    assert reader.number("C = 1/(λn)") == pytest.approx(1 / (0.1 * 7), rel=1e-3)


def test_mouse_drags_the_tip_and_a_point(figure):
    reader = figure()
    page = reader.page
    for start, end in [((0.3, 0.7), (1.5, -0.5)), ((-2, 1), (-3, 2))]:
        page.mouse.move(*reader.at(*start))
        page.mouse.down()
        page.mouse.move(*reader.at(*np.mean([start, end], axis=0)))
        page.mouse.move(*reader.at(*end))
        page.mouse.up()
        reader.settle()
    assert reader.w == pytest.approx([1.5, -0.5], abs=0.05)
    assert reader.selected() == pytest.approx([-3, 2], abs=0.05)


def test_a_press_moves_what_was_selected_without_dragging(figure):
    reader = figure()
    page = reader.page
    page.mouse.click(*reader.at(2, -0.5))
    page.mouse.click(*reader.at(3, 3))
    reader.settle()
    assert reader.selected() == pytest.approx([3, 3], abs=0.05)
    w = reader.w
    page.mouse.click(*reader.at(*w))
    page.mouse.click(*reader.at(-1, 2))
    reader.settle()
    assert reader.w == pytest.approx([-1, 2], abs=0.05)
    assert reader.selected() == pytest.approx([3, 3], abs=0.05)


def test_touch_drags_and_taps(figure):
    reader = figure(has_touch=True, viewport={"width": 390, "height": 800})
    page = reader.page
    touch = page.context.new_cdp_session(page)

    def send(kind, *places):
        points = [{"x": x, "y": y} for x, y in places]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", reader.at(0.3, 0.7))
    send("touchMove", reader.at(0.8, 0.2))
    send("touchMove", reader.at(1.5, -1.5))
    send("touchEnd")
    reader.settle()
    assert reader.w == pytest.approx([1.5, -1.5], abs=0.1)
    page.touchscreen.tap(*reader.at(-2, 1))
    page.touchscreen.tap(*reader.at(-3, 3))
    reader.settle()
    assert reader.selected() == pytest.approx([-3, 3], abs=0.1)


def test_link_restores_the_state(figure, visit):
    reader = figure()
    reader.field("Data").select_option("off-origin")
    reader.field("Constant feature: x₃ = 1").check()
    reader.set("λ, as a number", 0.02)
    reader.set("w₁", -1.25)
    reader.set("w₃ (constant), as a number", 2)
    reader.press("Compare with the minimum")
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=margin" in link
    again = MarginReader(visit(link, viewport={"width": 1000, "height": 900}))
    for label in ("λ, as a number", "w₁", "w₂", "w₃ (constant), as a number", "selected x₁"):
        assert again.number(label) == reader.number(label)
    assert again.value == reader.value
    assert again.field("Data").input_value() == "off-origin"
    assert "(the mark)" in again.text(".pm-objective .pf-panel-note")
    again.press("Reset")
    assert again.field("Data").input_value() == "separable"
    assert again.value == pytest.approx(figure().value)


@pytest.mark.parametrize(
    "fragment",
    ["lam=-3&w=a,b&selected=99", "X=1,2;3&y=1,1", "X=1,2&y=0", "extent=7&w=1e9,0", "lam=NaN&w="],
)
def test_a_broken_link_is_put_right(figure, fragment):
    reader = figure(fragment=f"#figure=margin&{fragment}")
    assert reader.value > 0
    assert reader.points.count() in (1, 8)
    assert reader.page.locator(".pf-error").count() == 0


def test_constant_feature_shifts_the_line_and_is_in_the_norm(figure):
    reader = figure(
        state={"X": [[1.0, 2.0], [-2.0, 1.0]], "y": [1, -1], "lam": 0.1, "w": [0.3, 0.7]}
    )
    assert reader.field("w₃ (constant)").is_hidden()
    reader.field("Constant feature: x₃ = 1").check()
    reader.set("w₃ (constant), as a number", -1.5)
    problem = HingeProblem(np.array([[1.0, 2, 1], [-2, 1, 1]]), np.array([1.0, -1]), lam=0.1)
    assert three_digits(reader.value, problem.objective([0.3, 0.7, -1.5]))
    reader.press("Go to the minimum")
    best = sdca(problem, gap=1e-9).w
    assert [*reader.w, reader.number("w₃ (constant), as a number")] == pytest.approx(best, abs=2e-3)


def test_no_line_where_w_is_zero(figure):
    reader = figure(state={"w": [0.0, 0.0]})
    assert reader.value == 1
    assert "no decision line" in reader.text(".pf-panel-note >> nth=0")
    assert reader.page.locator(".pm-decision").get_attribute("d") == ""


def test_differentiability_is_said_where_it_holds(figure):
    reader = figure(
        state={"X": [[1.0, 0.0], [0.0, 2.0]], "y": [1, -1], "lam": 0.5, "w": [0.5, 0.5]}
    )
    # P = lam/2 |w|^2 + ((1 - w1) + (1 + 2 w2))/2 near this w.
    assert "differentiable at this w, with gradient (-0.25, 1.25)" in reader.text(".pm-kinks")
    reader.set("w₁", 1)
    said = reader.text(".pm-kinks")
    assert "Point 1 has margin 1: P is not differentiable" in said
    assert "(0.5, 1.25)" in said


# ---------------------------------------------------------------------------------- the tasks


def test_tasks_bear_the_numbers_by_which_chapter_1_names_them(figure):
    names = ["barely-right", "shortest", "kink", "over-regularised", "exact-C", "intercept"]
    tasks = figure().page.locator(".pf-task")
    assert [task.get_attribute("data-task") for task in tasks.all()] == names
    for number, task in enumerate(tasks.all(), start=1):
        assert task.inner_text().startswith(f"○ {number}. ")


def test_keyboard_alone_reaches_no_error_but_a_loss(figure):
    reader = figure()
    assert reader.reached() == set()
    reader.type_into("w₂", 0.05)
    reader.type_into("w₁", 0.25)
    assert reader.reached() == {"barely-right"}


def test_keyboard_alone_reaches_the_shortest_w_without_loss(figure):
    reader = figure()
    reader.type_into("w₁", 0.9)
    reader.type_into("w₂", 0.3)
    assert "shortest" not in reader.reached()
    assert "0 of 8" in reader.text(".pf-readout")
    reader.type_into("w₁", 0.61)
    reader.type_into("w₂", 0.21)
    assert "shortest" in reader.reached()


def test_keyboard_alone_reaches_the_kink(figure):
    reader = figure()
    assert "kink" not in reader.reached()
    reader.tab_to(reader.button("Snap to its kink"))
    reader.page.keyboard.press("Enter")
    reader.settle()
    assert "kink" in reader.reached()
    assert "Point 1 has margin 1" in reader.text(".pm-kinks")


def test_keyboard_alone_refutes_that_separable_data_has_no_error(figure):
    reader = figure()
    reader.tab_to(reader.field("Data"))
    reader.page.keyboard.type("Nine")
    reader.settle()
    assert reader.field("Data").input_value() == "nine-and-one"
    for lam, refuted in [(1e-4, False), (0.1, True)]:
        reader.type_into("λ, as a number", lam)
        reader.tab_to(reader.button("Go to the minimum"))
        reader.page.keyboard.press("Enter")
        reader.settle()
        assert ("over-regularised" in reader.reached()) is refuted, lam


def test_keyboard_alone_sets_C_by_lambda(figure):
    reader = figure()
    for lam, exact in [(0.125, False), (1 / 16, True)]:
        reader.type_into("λ, as a number", lam)
        assert ("exact-C" in reader.reached()) is exact, lam
    assert reader.number("C = 1/(λn)") == 2


def test_keyboard_alone_removes_the_errors_by_the_constant_feature(figure):
    reader = figure()
    reader.tab_to(reader.field("Data"))
    reader.page.keyboard.type("Away")
    reader.settle()
    for constant in (False, True):
        if constant:
            reader.tab_to(reader.field("Constant feature: x₃ = 1"))
            reader.page.keyboard.press("Space")
            reader.settle()
            assert "intercept" not in reader.reached()  # w has not moved yet
        reader.tab_to(reader.button("Go to the minimum"))
        reader.page.keyboard.press("Enter")
        reader.settle()
        assert ("intercept" in reader.reached()) is constant
    assert "0 of 8" in reader.text(".pf-readout")


def test_passing_by_on_the_way_to_the_minimum_reaches_nothing(figure):
    reader = figure(state={"lam": 1e-4, "w": [-0.5, 0.5]}, reduced_motion="no-preference")
    reader.button("Go to the minimum").click()
    reader.page.wait_for_function(
        "() => document.querySelector('.pm-kinks').textContent.includes('Another one is 0')"
    )
    assert reader.w == pytest.approx(MarginExplorer(lam=1e-4).run().w, abs=1e-3)
    assert "barely-right" not in reader.reached()


def test_changes_are_announced(figure):
    reader = figure()
    reader.set("w₁", 2)
    reader.page.wait_for_function(
        "(text) => document.querySelector('.pf-live').textContent.includes(text)",
        arg=f"P is {reader.value:.3g}",
    )
