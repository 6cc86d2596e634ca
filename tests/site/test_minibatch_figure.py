"""The mini-batch figure in a browser: it mounts, answers all input, and says right numbers."""

import numpy as np
import pytest

from pegasos_lib.widgets import MinibatchExplorer
from tests.site.reader import FirstFigureReader, figure_opener

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with figures in some state, and give the reader's hands and eyes on the first."""
    return figure_opener(tmp_path, visit, MinibatchExplorer, MinibatchReader)


class MinibatchReader(FirstFigureReader):
    """What a reader does with this figure, and reads off it."""

    TABS = 40

    def numbers(self):
        """The read-out as a dictionary of texts."""
        rows = self.root.locator(".pf-readout > div")
        texts = [row.inner_text().replace("−", "-").split("\n") for row in rows.all()]
        return {term.strip(): value.strip() for term, value in texts}

    @property
    def w(self):
        return np.array([float(self.field(name).input_value()) for name in ("w₁", "w₂")])

    @property
    def tip(self):
        return self.root.locator(".pf-handle")

    def at(self, x, y):
        """Give the place on the screen of a place on the data plane, seen from -4 to 4."""
        surface = self.root.locator(".pf-surface").first
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        return box["x"] + box["width"] * (x + 4) / 8, box["y"] + box["height"] * (4 - y) / 8


def shows(reader, explorer):
    """Tell whether the read-out holds the library's numbers in three digits."""
    noise, numbers = explorer.run(), reader.numbers()
    formula = "σ²/k" if explorer.replace else "σ²/k · (n-k)/(n-1)"
    pairs = [("σ², one example", noise.sigma2), (formula, noise.variance)]
    pairs += [("measured", noise.measured), ("standard deviation", np.sqrt(noise.variance))]
    return all(
        float(numbers[name]) == pytest.approx(value, rel=5.1e-3, abs=1e-9) for name, value in pairs
    )


def test_figure_mounts_and_shows_what_the_library_computes(figure):
    reader = figure()
    assert reader.page.locator(".pf-fallback").is_hidden()
    assert shows(reader, MinibatchExplorer())
    other = {"w": [-0.5, 1.25], "batch_size": 6, "replace": False, "seed": 8}
    assert shows(figure(state=other), MinibatchExplorer(**other))


def test_controls_change_size_way_and_draws(figure):
    reader, explorer = figure(), MinibatchExplorer()
    reader.set("size k, as a number", 5)
    explorer.batch_size = 5
    assert shows(reader, explorer)
    reader.field("with replacement").uncheck()
    reader.settle()
    explorer.replace = False
    assert shows(reader, explorer)
    reader.press("New draws")
    explorer.seed = 2
    assert shows(reader, explorer)
    reader.press("Reset")
    assert shows(reader, MinibatchExplorer())


def test_keys_mouse_press_and_touch_move_w(figure):
    reader = figure(has_touch=True)
    page, w = reader.page, reader.w
    reader.tab_to(reader.tip)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    reader.settle()
    assert reader.w - w == pytest.approx([0.08, -0.8], abs=2e-3)
    page.mouse.move(*reader.at(*reader.w))
    page.mouse.down()
    page.mouse.move(*reader.at(1, 1))
    page.mouse.move(*reader.at(2, -1))
    page.mouse.up()
    reader.settle()
    assert reader.w == pytest.approx([2, -1], abs=0.05)
    page.mouse.click(*reader.at(-1.5, 0.5))
    reader.settle()
    assert reader.w == pytest.approx([-1.5, 0.5], abs=0.05)
    page.touchscreen.tap(*reader.at(3, 3))
    reader.settle()
    assert reader.w == pytest.approx([3, 3], abs=0.05)
    touch = page.context.new_cdp_session(page)
    for kind, place in (("touchStart", (3, 3)), ("touchMove", (1, 2)), ("touchMove", (0, 1))):
        x, y = reader.at(*place)
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    reader.settle()
    assert reader.w == pytest.approx([0, 1], abs=0.1)


def test_keyboard_alone_halves_the_deviation_after_a_guess(figure):
    reader = figure()
    reader.type_into("size k, as a number", 4)
    assert reader.numbers()["share of k = 1"] == "50.0 %"
    assert reader.reached() == set()
    reader.type_into("my guess: k =", 2)
    assert reader.reached() == {"halve"}
    said = reader.root.locator('[data-task="halve"] .pf-task-said').inner_text()
    assert "your guess was 2" in said


def test_keyboard_alone_makes_the_noise_of_the_batch_vanish(figure):
    reader = figure()
    reader.type_into("size k, as a number", 20)
    assert reader.reached() == set()
    reader.tab_to(reader.field("with replacement"))
    reader.page.keyboard.press("Space")
    reader.settle()
    assert reader.reached() == {"vanish"}
    assert reader.numbers()["standard deviation"] == "0"


def test_keyboard_alone_finds_a_w_without_noise(figure):
    reader = figure()
    reader.tab_to(reader.field("Data"))
    reader.page.keyboard.type("Two blobs apart")
    reader.settle()
    assert reader.field("Data").input_value() == "separable"
    assert reader.reached() == set()
    reader.type_into("w₁", 3.5)
    reader.type_into("w₂", 2)
    assert reader.reached() == {"quiet"}
    assert reader.numbers()["share of k = 1"] == "no noise"


def test_the_noise_stays_at_the_minimum(figure):
    reader = figure()
    reader.press("Go to the minimum")
    assert float(reader.numbers()["σ², one example"]) > 0.25
    assert reader.w == pytest.approx(MinibatchExplorer(w=reader.w).w)


def test_link_restores_the_state_of_the_second_of_two_figures(figure, visit):
    reader = figure(count=2)
    second = reader.page.locator(".pf-root").nth(1)
    reader.root = second
    reader.field("with replacement").uncheck()
    reader.set("w₁", -1.25)
    reader.set("size k, as a number", 9)
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=minibatch.2" in link
    again = MinibatchReader(visit(link, viewport={"width": 1000, "height": 900}))
    assert shows(again, MinibatchExplorer())
    again.root = again.page.locator(".pf-root").nth(1)
    assert shows(again, MinibatchExplorer(w=[-1.25, 0.4], batch_size=9, replace=False))


@pytest.mark.parametrize(
    "fragment",
    ["lam=-3&w=a,b&batch_size=99", "X=1,2;3&y=1,1", "X=1,2&y=0", "seed=-1&w=1e9,0", "lam=NaN&w="],
)
def test_a_broken_link_is_put_right(figure, fragment):
    reader = figure(fragment=f"#figure=minibatch&{fragment}")
    assert "undefined" not in " ".join(reader.numbers().values())
    assert 1 <= int(reader.field("size k, as a number").input_value()) <= 20
    assert reader.page.locator(".pf-error").count() == 0


def test_changes_are_announced(figure):
    reader = figure()
    reader.set("size k, as a number", 7)
    reader.page.wait_for_function(
        "() => document.querySelector('.pf-live').textContent.includes('k is 7, with replacement')"
    )
