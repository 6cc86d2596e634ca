"""What holds of every figure in a browser: where it mounts, and how it is laid out."""

import http.server
import threading
from functools import partial
from urllib.parse import unquote

import pytest

from tests.test_widgets import CLASSES, OF_POINTS

from .axe import colour_faults, structure_faults
from .conftest import QuietHandler
from .reader import DRAWN, SHOWN, figure_opener

# The state with the most controls, where it is not the first one.
FULL = {
    "chord": {"phi": "square", "rule": "min", "u": 0.2, "mu": 1, "beyond": "above"},
    "descent": {"function": "trap"},
    "outliers": {"undo": True, "probability": True},
    "regret": {"stream": "you", "picks": [0, 11]},
}
# Its handles stand side by side, a column of the panel each.
CROWDED = {"dual"}
# What leaves the page on its right, but for what scrolls in a box of its own.
OUTSIDE = """() => [...document.querySelectorAll(".pf-root *")]
    .filter((node) => !node.closest("svg") && !node.closest("[role=group][tabindex] *"))
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => node.outerHTML.slice(0, 120))"""
NAMELESS = """() => [...document.querySelectorAll(
    ".pf-root :is(button, select, input, [tabindex])")]
    .filter((node) => node.checkVisibility())
    .filter((node) => node.dataset.lmSuppressShortcuts !== "true"
        || !(node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim()))
    .map((node) => node.outerHTML.slice(0, 120))"""
# What the site's theme sets, on which the figures' grey shades build.
THEME = """
body { background: var(--pst-color-background); color: var(--pst-color-text-base); }
html { --pst-color-text-base: #222; --pst-color-text-muted: #555; --pst-color-background: #fff;
  --pst-color-surface: #f4f4f4; --pst-color-border: #bbb; --pst-color-primary: #0b6fa4; }
html[data-theme="dark"] { --pst-color-text-base: #ddd; --pst-color-text-muted: #aaa;
  --pst-color-background: #111; --pst-color-surface: #222; --pst-color-border: #555;
  --pst-color-primary: #6cb6e6; }"""
# The paint of each kind of shape that has any.
PAINT = """() => Object.fromEntries(
    [...document.querySelectorAll(".pf-panels svg :is(path, line, circle, rect, text)")]
    .map((node) => [node.getAttribute("class"), getComputedStyle(node)])
    .filter(([name, { display }]) => name && display !== "none")
    .map(([name, { stroke, fill }]) => [name, [stroke, fill].filter((paint) =>
        !["none", "rgba(0, 0, 0, 0)", "context-stroke"].includes(paint)).join(" ")])
    .filter(([, paint]) => paint))"""

SMALL = """([least, handle]) => [...document.querySelectorAll(
    ".pf-root :is(button, input, select, summary, .pf-hit, .pf-toggle)")]
    .filter((node) => !node.closest(".pf-toggle") || node.matches(".pf-toggle"))
    .map((node) => [node, node.getBoundingClientRect()])
    .filter(([node, { width, height }]) => width > 0
        && Math.min(width, height) < (node.matches(".pf-hit") ? handle : least) - 0.1)
    .map(([node]) => node.outerHTML.slice(0, 120))"""
UNFOLD = 'document.querySelectorAll(".pf-root details").forEach((part) => { part.open = true; })'

pytestmark = pytest.mark.browser


@pytest.fixture(params=sorted(CLASSES))
def kind(request):
    return request.param


@pytest.fixture
def show(kind, tmp_path, visit):
    """Open a page with one figure of a kind, or with several, all of it unfolded."""

    def unfolded(page):
        page.wait_for_function(
            "(kind) => performance.getEntriesByName(`${kind}-figure:redraw`).length > 0", arg=kind
        )
        page.evaluate(UNFOLD)
        page.evaluate(DRAWN)
        return page

    open_figure = figure_opener(tmp_path, visit, CLASSES[kind], unfolded)
    return lambda **options: open_figure(state=FULL.get(kind, {}), **options)


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_it_fits_the_width_and_axe_finds_nothing(show, width):
    page = show(viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(SMALL, [24, 24]) == []
    assert structure_faults(page) == []


def test_on_a_phone_all_that_can_be_pressed_fits_a_finger(show, kind):
    page = show(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    assert page.evaluate(SMALL, [44, 24 if kind in CROWDED else 44]) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_colour_follows_the_theme_and_stands_out_from_its_ground(show):
    page = show()
    page.add_style_tag(content=THEME)
    light = page.evaluate(PAINT)
    assert colour_faults(page, []) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate(DRAWN)
    dark = page.evaluate(PAINT)
    assert len(light) > 4
    assert [name for name in light if dark[name] == light[name]] == []
    assert colour_faults(page, []) == []


def test_two_on_a_page_do_not_mix_and_each_control_has_a_name_and_keeps_its_keys(show):
    page = show(count=2)
    page.evaluate("PegasosFigures.mountAll()")
    assert page.locator(".pf-root").count() == 2, "mounted again"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids)), "an id is there twice"
    assert page.evaluate(NAMELESS) == []


def test_the_script_alone_begins_as_the_python_class(visit, tmp_path, kind):
    open_figure = figure_opener(tmp_path, visit, CLASSES[kind], lambda page: page)
    alone, given = (open_figure(raw_state=state).evaluate(SHOWN) for state in ({}, None))
    assert alone == given


@pytest.mark.parametrize("kind", sorted(OF_POINTS))
def test_points_at_the_border_are_taken_and_those_beyond_are_not(show, kind):
    reach = OF_POINTS[kind].reach
    for x, taken in ((reach, True), (1.001 * reach, False)):
        points = f"X={x:g},-{x:g};0,0"
        page = show(fragment=f"#figure={kind}&{points}&y=1,-1")
        page.get_by_role("button", name="Copy link").click()
        link = unquote(page.get_by_label("Link to this state").input_value())
        assert (points in link) is taken, link


def test_it_mounts_over_http(show, tmp_path, visit):
    address = show().url.rsplit("/", 1)[1]
    handler = partial(QuietHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = visit(f"http://127.0.0.1:{server.server_port}/{address}")
        page.wait_for_selector(".pf-root .pf-plane")
        assert page.locator(".pf-fallback").is_hidden()
        server.shutdown()


def test_without_javascript_a_picture_and_a_sentence_stand_for_it(show, visit):
    page = visit(show().url, java_script_enabled=False)
    picture = page.locator(".pegasos-figure img")
    assert picture.is_visible()
    assert picture.evaluate("(image) => image.naturalWidth") > 500
    assert len(picture.get_attribute("alt")) > 100
    assert page.get_by_text("A still picture of an interactive figure").is_visible()
