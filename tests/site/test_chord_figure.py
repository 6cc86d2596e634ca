"""The chord figure in a browser: it mounts, answers every input, and says the right numbers."""

import numpy as np
import pytest

from pegasos_lib.widgets import ChordExplorer
from tests.site.reader import Reader, figure_opener

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with the figure in some state, and give the reader's hands and eyes on it."""
    return figure_opener(tmp_path, visit, ChordExplorer, ChordReader)


class ChordReader(Reader):
    """What a reader does with this figure, and reads off it."""

    def __init__(self, page):
        super().__init__(page)
        page.wait_for_selector(".pc-chord[d^=M]", state="attached")

    def field(self, label):
        return self.page.get_by_label(label, exact=True).first

    def number(self, key):
        return float(self.field(f"{key}, as a number").input_value())

    def handle(self, name):
        return self.page.locator(".pf-handle").nth("uwz".index(name))

    def read(self, term):
        row = self.page.locator(".pf-readout > div").filter(has_text=term).first
        return row.locator("dd").inner_text().replace("−", "-")

    def text(self, selector):
        return self.page.locator(selector).first.inner_text().replace("−", "-")

    def at(self, x, share=0.5):
        """Give the place on the screen of an x, at a share of the height."""
        self.page.locator(".pf-surface").first.scroll_into_view_if_needed()
        box = self.page.locator(".pf-surface").first.bounding_box()
        return box["x"] + box["width"] * (x + 2) / 4, box["y"] + box["height"] * share

    def centre(self, name):
        box = self.handle(name).locator(".pf-hit").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_figure_shows_what_python_computes(figure):
    state = {"phi": "svm", "psi": "exp", "rule": "sum", "q": -0.9, "u": -1.5, "w": 1.1}
    explorer = ChordExplorer(**state, theta=0.3)
    reader = figure(state=dict(state, theta=0.3))
    assert reader.page.locator(".pf-fallback").is_hidden()
    shown = float(reader.read("gap at z"))
    assert shown == pytest.approx(float(explorer.gap(0.3)), rel=5.1e-3)
    _, lowest = explorer.run()
    assert lowest < 0
    assert float(reader.read("least gap")) == pytest.approx(lowest, rel=5.1e-3)
    assert "f is not convex" in reader.text(".pf-panel-note")


def test_keys_move_both_ends_and_z_between_them(figure):
    reader = figure()
    for name, key in (("u", "Shift+ArrowRight"), ("w", "ArrowLeft")):
        before = reader.number(name)
        reader.tab_to(reader.handle(name))
        reader.page.keyboard.press(key)
        reader.page.keyboard.press("ArrowUp")  # the graph says how high it is
        reader.settle()
        assert reader.number(name) - before == pytest.approx(0.4 if name == "u" else -0.04)
        assert f"End {name} at" in reader.handle(name).get_attribute("aria-label")
    reader.tab_to(reader.handle("z"))
    z = float(reader.read("z = "))
    reader.page.keyboard.press("Shift+ArrowRight")
    reader.settle()
    assert float(reader.read("z = ")) - z == pytest.approx(0.4, abs=0.02)


def test_mouse_drags_an_end_and_a_press_moves_it_without_dragging(figure):
    reader = figure()
    mouse = reader.page.mouse
    mouse.move(*reader.centre("u"))
    mouse.down()
    mouse.move(*reader.at(-1.2, 0.4))
    mouse.move(*reader.at(-1))
    mouse.up()
    reader.settle()
    assert reader.number("u") == pytest.approx(-1, abs=0.03)
    mouse.click(*reader.centre("w"))
    mouse.click(*reader.at(0.6, 0.1))
    reader.settle()
    assert reader.number("w") == pytest.approx(0.6, abs=0.03)


def test_touch_drags_an_end_and_taps(figure):
    reader = figure(has_touch=True, viewport={"width": 390, "height": 800})
    touch = reader.page.context.new_cdp_session(reader.page)

    def send(kind, *places):
        points = [{"x": x, "y": y} for x, y in places]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    reader.page.locator(".pf-surface").first.scroll_into_view_if_needed()
    send("touchStart", reader.centre("w"))
    send("touchMove", reader.at(0.9))
    send("touchMove", reader.at(0.5))
    send("touchEnd")
    reader.settle()
    assert reader.number("w") == pytest.approx(0.5, abs=0.06)
    reader.page.touchscreen.tap(*reader.centre("u"))
    reader.page.touchscreen.tap(*reader.at(-0.5, 0.1))
    reader.settle()
    assert reader.number("u") == pytest.approx(-0.5, abs=0.06)


def test_keyboard_alone_proves_that_the_well_is_not_convex(figure):
    reader = figure()
    assert reader.reached() == set()
    reader.type_into("w, as a number", 1)
    assert reader.reached() == set()
    reader.type_into("u, as a number", -1)
    assert reader.reached() == {"not-convex"}
    assert "at x = 0 the chord is 1 below" in reader.text("[data-task=not-convex] .pf-task-said")
    assert "At worst by 1, at x = 0" in reader.text(".pf-panel-note")


def test_keyboard_alone_extends_the_line_after_a_guess(figure):
    reader = figure()
    reader.choose("φ", "x²")
    reader.type_into("u, as a number", -1)
    line = reader.page.locator(".pf-layer-curves .pc-line")
    assert line.get_attribute("d") == ""
    reader.choose("The line beyond the ends is", "above")
    assert line.get_attribute("d").count("M") == 2
    assert reader.reached() == {"beyond"}
    assert "not above" in reader.text(".pc-verdict")


def test_keyboard_alone_finds_a_minimum_that_is_not_convex(figure):
    reader = figure()
    reader.choose("f is", "min")
    reader.choose("φ", "x²")
    assert reader.field("ψ").is_visible()
    reader.type_into("u, as a number", 0.2)
    reader.type_into("w, as a number", 1.3)
    assert reader.reached() == {"minimum"}


def test_keyboard_alone_finds_the_largest_mu(figure):
    reader = figure()
    reader.choose("φ", "x²")
    for mu, reached in [(2, set()), (2.5, set()), (1.9, set()), (2, {"largest"})]:
        reader.type_into("μ, as a number", mu)
        assert reader.reached() == reached, mu
        assert ("not μ-strongly convex" in reader.text(".pf-panel-note")) is (mu > 2)


def test_keyboard_alone_finds_an_average_that_is_better_than_both(figure):
    reader = figure()
    reader.choose("φ", "P(x)")
    assert reader.reached() == set()
    reader.type_into("u, as a number", 0)
    reader.type_into("w, as a number", 2)
    assert reader.reached() == {"average"}
    said = reader.text("[data-task=average] .pf-task-said")
    assert "P is 0.6 at the average, 1 at u and 0.85 at w" in said


def test_a_guess_is_answered_and_forgotten_with_another_function(figure):
    reader = figure()
    assert "Choose a guess" in reader.text(".pc-verdict")
    reader.choose("f is, I guess,", "convex")
    assert "Not so: f is not convex" in reader.text(".pc-verdict")
    reader.field("φ").select_option("quartic")
    reader.settle()
    assert "Choose a guess" in reader.text(".pc-verdict")
    reader.choose("f is, I guess,", "convex")
    assert "Right: f is convex" in reader.text(".pc-verdict")
    assert "not strongly convex" in reader.text(".pc-verdict")


def test_the_interval_of_the_logarithm_keeps_the_ends(figure):
    reader = figure(state={"phi": "log"})
    assert reader.number("u") == 0.02
    assert "undefined" not in reader.text(".pf-readout")
    reader.field("f is").select_option("affine")
    reader.settle()
    assert reader.number("u") == 0.51


def test_link_restores_the_state_and_reset_takes_it_back(figure):
    reader = figure(fragment="#figure=chord&phi=exp&u=-0.5&mu=0.25&guess=convex")
    assert [reader.number(key) for key in ("u", "w", "mu") if key != "mu"] == [-0.5, 1.2]
    assert reader.number("μ") == 0.25
    assert "strongly convex" in reader.text(".pc-verdict")
    reader.page.get_by_role("button", name="Reset").click()
    reader.settle()
    assert (reader.number("u"), reader.number("μ")) == (-1.7, 0)


def test_what_cannot_be_is_mended(figure):
    bad = {"phi": "cube", "rule": 3, "q": "x", "u": 99, "w": None, "theta": -4, "mu": 1e9}
    reader = figure(raw_state=bad)
    assert [reader.number(k) for k in ("u", "w", "θ", "μ")] == [2, 1.2, 0, 4]
    assert reader.field("φ").input_value() == "well"


def test_two_figures_on_a_page_do_not_mix(figure):
    reader = figure(count=2)
    reader.type_into("u, as a number", -1)
    values = reader.page.get_by_label("u, as a number", exact=True)
    assert [values.nth(i).input_value() for i in (0, 1)] == ["-1", "-1.7"]


def test_what_changed_is_announced(figure):
    reader = figure(state={"phi": "cosine", "u": 0})
    reader.type_into("u, as a number", -1)
    reader.page.wait_for_function(
        "() => document.querySelector('.pf-live').textContent.includes('At worst by')"
    )
    assert np.isfinite(reader.number("u"))
