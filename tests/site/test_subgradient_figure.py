"""The subgradient figure in a browser: every hand reaches it, and it says the right numbers."""

import pytest

from pegasos_lib.widgets import SubgradientExplorer
from tests.site.reader import Reader, figure_opener

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with the figure in some state, and give the reader's hands and eyes on it."""
    return figure_opener(tmp_path, visit, SubgradientExplorer, SubgradientReader)


class SubgradientReader(Reader):
    """What a reader does with this figure, and reads off it."""

    def __init__(self, page):
        super().__init__(page)
        page.wait_for_selector(".ps-said:not(:empty)")

    def field(self, label, at=0):
        return self.page.get_by_label(label, exact=True).nth(at)

    def number(self, label):
        return float(self.field(f"{label}, as a number").input_value())

    def text(self, selector=".ps-said"):
        return self.page.locator(selector).first.inner_text().replace("−", "-")

    def row(self, term):
        cells = self.page.locator(".pf-readout > div").filter(
            has=self.page.get_by_text(term, exact=True)
        )
        return cells.locator("dd").inner_text().replace("−", "-")

    def handle(self, panel, at=0):
        return self.page.locator(".pf-panel").nth(panel).locator(".pf-handle").nth(at)

    def at(self, panel, x, y, wide, low, high):
        """Give the place on the screen of a place on a panel."""
        surface = self.page.locator(".pf-surface").nth(panel)
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        return (
            box["x"] + box["width"] * (x + wide) / (2 * wide),
            box["y"] + box["height"] * (high - y) / (high - low),
        )

    def type_into(self, label, value):
        super().type_into(f"{label}, as a number", value)


def test_figure_mounts_and_shows_what_python_computes(figure):
    reader = figure()
    assert reader.page.locator(".pf-fallback").is_hidden()
    assert "The slope 0.5 is no subgradient at x = 1; the subgradients there are only 1" in (
        reader.text()
    )
    assert "most on view at x = 0, by 0.5" in reader.text(".pf-panel-note")
    assert reader.row("f before") == f"{SubgradientExplorer().step().values[0]:g}"
    assert reader.row("f after") == "guess first"


def test_keys_move_every_handle(figure):
    reader = figure()
    reader.tab_to(reader.handle(0, 1))
    reader.page.keyboard.press("ArrowLeft")
    reader.settle()
    assert reader.number("x") == pytest.approx(0.95)
    reader.tab_to(reader.handle(0, 0))
    reader.page.keyboard.press("ArrowUp")
    reader.settle()
    assert reader.number("slope") != 0.5
    slope = reader.number("slope")
    reader.tab_to(reader.handle(1))
    reader.page.keyboard.press("ArrowUp")
    reader.page.keyboard.press("ArrowRight")
    reader.settle()
    assert reader.number("slope") == pytest.approx(slope + 0.05)
    assert reader.number("x") == pytest.approx(1.0)
    reader.tab_to(reader.handle(2))
    reader.page.keyboard.press("ArrowDown")
    reader.settle()
    assert reader.number("v") == pytest.approx(0.45)


def test_mouse_drags_and_presses(figure):
    reader = figure()
    mouse = reader.page.mouse
    mouse.move(*reader.at(0, 1, 1, 2.5, -1.5, 5))
    mouse.down()
    mouse.move(*reader.at(0, 0.5, 1, 2.5, -1.5, 5))
    mouse.move(*reader.at(0, -1.5, 1, 2.5, -1.5, 5))
    mouse.up()
    reader.settle()
    assert reader.number("x") == pytest.approx(-1.5, abs=0.051)
    mouse.click(*reader.at(1, 0, 0.25, 2.5, -4.5, 4.5))  # no drag: press where it should go
    reader.settle()
    assert reader.number("x") == 0
    assert reader.number("slope") == pytest.approx(0.25, abs=0.051)
    assert "is a subgradient at x = 0" in reader.text()
    mouse.click(*reader.at(2, -1, 1, 2.444, -2.2, 2.2))
    reader.settle()
    assert [reader.number("u"), reader.number("v")] == pytest.approx([-1, 1], abs=0.051)


def test_touch_drags_and_taps(figure):
    reader = figure(has_touch=True, viewport={"width": 390, "height": 800})
    touch = reader.page.context.new_cdp_session(reader.page)

    def send(kind, *places):
        points = [{"x": x, "y": y} for x, y in places]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    view = 2.5, -4.5, 4.5
    send("touchStart", reader.at(1, 1, 0.5, *view))
    send("touchMove", reader.at(1, 0.5, 1, *view))
    send("touchMove", reader.at(1, -1, 2, *view))
    send("touchEnd")
    reader.settle()
    assert [reader.number("x"), reader.number("slope")] == pytest.approx([-1, 2], abs=0.11)
    reader.page.touchscreen.tap(*reader.at(1, 1.5, -2, *view))
    reader.settle()
    assert [reader.number("x"), reader.number("slope")] == pytest.approx([1.5, -2], abs=0.11)


def test_link_restores_the_state_and_reset_the_start(figure, visit):
    reader = figure()
    reader.field("f").select_option("svm")
    reader.type_into("x", 0.5)
    reader.type_into("v", -0.25)
    reader.field("Show the graph in panel 1").uncheck()
    reader.page.get_by_role("button", name="Copy link").click()
    link = reader.field("Link to this state").input_value()
    assert "figure=subgradient" in link
    again = SubgradientReader(visit(link))
    assert again.text() == reader.text()
    assert again.number("v") == -0.25
    assert not again.field("Show the graph in panel 1").is_checked()
    again.page.get_by_role("button", name="Reset").click()
    again.settle()
    assert again.field("f").input_value() == "abs"
    assert again.number("x") == 1


@pytest.mark.parametrize(
    "fragment", ["x=99&slope=a&function=cube", "w=1&theta=7&eta=-1&guess=maybe", "w=NaN,1&x="]
)
def test_a_broken_link_is_put_right(figure, fragment):
    reader = figure(fragment=f"#figure=subgradient&{fragment}")
    assert reader.page.locator(".pf-error").count() == 0
    assert abs(reader.number("x")) <= 2


def test_two_figures_on_a_page_are_two(figure):
    reader = figure(count=2)
    first, second = (reader.page.locator(".pf-root").nth(i) for i in range(2))
    before = second.locator(".pf-panels").inner_text()
    first.get_by_label("x, as a number").fill("0")
    first.get_by_label("x, as a number").press("Enter")
    reader.settle()
    assert "at x = 0" in first.locator(".ps-said").inner_text()
    assert second.locator(".pf-panels").inner_text() == before


# ---------------------------------------------------------------------------------- the tasks


def test_keyboard_alone_finds_two_supporting_lines(figure):
    reader = figure()
    reader.type_into("x", 0)
    assert reader.reached() == set()
    reader.type_into("slope", 2)
    assert reader.reached() == set()
    reader.type_into("slope", -0.5)
    assert "0.5 both support" in reader.text(".pf-task-said")
    assert reader.reached() == {"two-lines"}


def test_keyboard_alone_finds_the_minimum_without_the_graph(figure):
    reader = figure()
    reader.choose("f", "SVM")
    reader.type_into("slope", 0)
    reader.type_into("x", 0.5)
    assert "this x is a minimiser" in reader.text()
    assert reader.reached() == set()
    reader.tab_to(reader.field("Show the graph in panel 1"))
    reader.page.keyboard.press("Space")
    reader.settle()
    assert reader.page.locator(".ps-graph").first.get_attribute("d") == ""
    assert reader.reached() == {"fermat"}


def test_keyboard_alone_goes_up_and_comes_nearer_after_a_guess(figure):
    reader = figure()
    reader.type_into("v", 0)
    assert reader.reached() == set()
    reader.choose("Your guess", "f will not")
    assert "you guessed wrong" in reader.text(".ps-third .pf-panel-note")
    assert reader.reached() == {"ascend"}
    assert [reader.row("f before"), reader.row("f after")] == ["1", "1.8"]
    assert reader.row("nearer for every η below") == "0.2"


def test_changes_are_announced(figure):
    reader = figure()
    reader.type_into("x", 0)
    reader.page.wait_for_function(
        "() => document.querySelector('.pf-live').textContent.includes('at x = 0')"
    )
