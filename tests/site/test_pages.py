"""Every page in a browser: accessible, silent, and no wider than a phone."""

import re

import pytest
from playwright.sync_api import TimeoutError

from .axe import colour_faults, structure_faults
from .conftest import ROOT
from .reader import DRAWN

CONTENTS = re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
# The problem sets' pages are made alike: one of a kind stands for the others in `make test`.
ALIKE = re.compile(r"course/release/(?!before|ps06)")
PAGES = [
    pytest.param(f"{name}.html", marks=[pytest.mark.slow] if ALIKE.match(name) else [])
    for name in [*CONTENTS, "genindex", "search"]
]

pytestmark = [pytest.mark.browser]


# Nine tenths of a chapter's elements are formulas and coloured code, and axe visits all of them at
# every run. What KaTeX makes is of one kind: one page keeps it whole, the visual half left out,
# which is hidden from screen readers; and of each kind of token one is enough. Colours do not
# change with the width: they are measured once for all pages.
WITH_FORMULAS = "book/notation.html"
ONE_OF_A_KIND = """() => {
    document.querySelectorAll('.katex').forEach((formula) => {
        formula.replaceChildren(formula.textContent.slice(0, 1));
    });
    const seen = new Set();
    document.querySelectorAll('.highlight span').forEach((token) => {
        if (seen.has(token.className)) token.replaceWith(...token.childNodes);
        else seen.add(token.className);
    });
}"""
# What stands out of sight is laid out for each question that axe asks of it, and forgotten again.
ALL_IN_SIGHT = "article * { content-visibility: visible !important; }"
# After a resize the figures answer with the next frame, the boxes that scroll when the browser is
# idle (site.js).
SETTLED = f"() => document.fonts.ready.then({DRAWN})"
BOXES = ".math-scroll, .highlight pre, .pst-scrollable-table-container, .cell_output .text_html"
WRONG_BOXES = """(boxes) => [...document.querySelectorAll(boxes)].filter((box) => {
    if (!box.checkVisibility()) return false; // in a folded cell: measured when it opens
    const named = box.tabIndex === 0 && box.getAttribute('role') === 'group'
        && box.getAttribute('aria-label');
    return (box.scrollWidth > box.clientWidth) !== Boolean(named);
}).map((box) => box.textContent.slice(0, 80))"""


def wait_for_boxes(page):
    """Wait until every box that scrolls can be reached and has a name, and no other box has."""
    page.evaluate(SETTLED)
    try:
        page.wait_for_function(f"(boxes) => ({WRONG_BOXES})(boxes).length === 0", arg=BOXES)
    except TimeoutError:
        pytest.fail(f"boxes wrongly named or not: {page.evaluate(WRONG_BOXES, BOXES)}")


@pytest.fixture(scope="module")
def known_colours():
    """The kinds of text whose colours were measured on a page before."""
    return []


GROUND = "getComputedStyle(document.body).backgroundColor"
FRAMES = """() => [...document.querySelectorAll(".text_html:has([data-figure])")]
    .map((box) => getComputedStyle(box).backgroundColor)"""


WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('article *')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)
        .concat(`${document.documentElement.scrollWidth} px wide`)"""
# A displayed formula has a box of its own; one in a line is cut by the box that the line is in.
CUT_FORMULAS = """() => {
    const folded = [...document.querySelectorAll("article .toggle-hidden")];
    const closed = [...document.querySelectorAll("article details:not([open])")];
    folded.forEach((box) => box.classList.remove("toggle-hidden"));
    closed.forEach((box) => { box.open = true; });
    document.body.offsetHeight; // laid out now, so that the fonts come
    return document.fonts.ready.then(() => {
        const right = (element) => element.getBoundingClientRect().right;
        const cut = [...document.querySelectorAll("article .katex")].map((formula) => {
            const own = formula.parentElement.matches(".katex-display");
            if (!own && formula.closest(".pst-scrollable-table-container")) return [0];
            const box = formula.closest(own ? ".katex-display" : ".admonition, article");
            const end = Math.max(...[...formula.querySelectorAll(".base")].map(right));
            return [Math.round(end - right(box)), formula.querySelector("annotation").textContent];
        }).filter(([over]) => over > 1);
        folded.forEach((box) => box.classList.add("toggle-hidden"));
        closed.forEach((box) => { box.open = false; });
        return cut.map(([over, tex]) => `${over} px: ${tex.trim().slice(0, 80)}`);
    });
}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_from_disk_fits_a_phone_and_axe_finds_nothing_in_light_and_dark(
    visit, file_site, known_colours, name
):
    """On a phone also its formulas: what must be pushed aside is read as if it were not there."""
    phone = {"width": 360, "height": 740}
    page = visit(f"{file_site}/{name}", color_scheme="light", viewport=phone)
    assert page.locator("h1:visible").count() >= 1
    wait_for_boxes(page)
    assert page.evaluate(WIDE) == []
    assert page.evaluate(CUT_FORMULAS) == []
    page.set_viewport_size(phone | {"width": 320})
    page.evaluate(SETTLED)
    assert page.evaluate(WIDE) == [], "at 320 px"

    page.add_style_tag(content=ALL_IN_SIGHT)
    if name != WITH_FORMULAS:
        page.evaluate(ONE_OF_A_KIND)
    page.set_viewport_size(phone | {"width": 390})
    wait_for_boxes(page)
    found = [f"at 390 px: {line}" for line in structure_faults(page)]
    page.set_viewport_size({"width": 1280, "height": 900})
    wait_for_boxes(page)
    found += colour_faults(page, known_colours) + structure_faults(page)
    # The mode changes colours alone: test_the_mode_changes_no_structure.
    light = page.evaluate(GROUND)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate(SETTLED)
    assert page.evaluate(GROUND) != light
    found += [f"dark: {line}" for line in colour_faults(page, known_colours)]
    frames = set(page.evaluate(FRAMES))
    assert frames <= {"rgba(0, 0, 0, 0)"}, "a figure has a frame of another colour"
    assert found == []


STRUCTURE_OF = """() => [...document.querySelectorAll("article *, article")].map((node) =>
    [node.tagName, ...[...node.attributes].filter(({ name }) => name !== "style")
        .map(({ name, value }) => `${name}=${value}`)].join(" "))"""


@pytest.mark.parametrize("name", ["intro", "objective"])  # plain, and with a figure
def test_the_mode_changes_no_structure(visit, http_site, name):
    both = []
    for scheme in "light", "dark":
        page = visit(f"{http_site}/book/{name}.html", color_scheme=scheme)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        wait_for_boxes(page)
        both.append(page.evaluate(STRUCTURE_OF))
    assert len(both[0]) > 10
    assert both[0] == both[1]


def test_the_icons_and_the_formulas_have_their_fonts(visit, http_site):
    page = visit(f"{http_site}/book/pegasos.html", viewport={"width": 1280, "height": 900})
    page.wait_for_function(
        """wanted => { const there = [...document.fonts].filter((font) => font.status === "loaded")
            .map((font) => font.family.replaceAll('"', ""));
            return wanted.every((family) => there.includes(family)); }""",
        arg=["Font Awesome 6 Free", "KaTeX_Main", "KaTeX_Math"],
        timeout=5000,
    )


@pytest.mark.parametrize("wait", [0, 5000], ids=["at once", "later"])
def test_a_link_within_a_long_chapter_leads_to_its_place(visit, file_site, wait):
    """Sections that are not laid out yet must not make the browser miss."""
    address = f"{file_site}/book/pegasos.html"
    page = visit(f"{address}#the-guarantee", viewport={"width": 1440, "height": 900})
    in_sight = """id => { const { top } = document.getElementById(id).getBoundingClientRect();
        return top >= 0 && top < 200; }"""
    page.wait_for_timeout(wait)
    page.wait_for_function(in_sight, arg="the-guarantee")
    if wait:
        for name in ("exercises", "the-question", "mnist-is-it-a-0"):
            page.locator(f".page-toc a[href='#{name}'], .bd-toc a[href='#{name}']").first.click()
            page.wait_for_function(in_sight, arg=name)
            page.wait_for_timeout(500)
            assert page.evaluate(in_sight, name)


def test_the_index_leads_to_the_first_page(visit, http_site):
    page = visit(http_site + "/index.html")
    page.wait_for_url("**/book/intro.html")


@pytest.mark.parametrize("place", ["http", "disk"])
@pytest.mark.parametrize(("word", "found"), [("Pegasos", "book/"), ("margin", "#term-margin")])
def test_the_search_finds_a_chapter_and_a_term(visit, http_site, file_site, place, word, found):
    address = http_site if place == "http" else file_site
    page = visit(f"{address}/search.html?q={word}")
    page.wait_for_selector(f"#search-results li a[href*='{found}']")
    if place == "http":  # with a summary of each page that is found
        page.wait_for_function(
            """() => [...document.querySelectorAll("#search-results li")]
                .every((found) => found.querySelector(".context"))"""
        )
    links = [link.get_attribute("href") for link in page.locator("#search-results li a").all()]
    assert not [link for link in links if "#use-of" in link or "#definition-of" in link]


def test_the_search_opens_on_a_page_and_the_mode_can_be_changed(visit, http_site):
    page = visit(f"{http_site}/book/intro.html", color_scheme="light")
    page.keyboard.press("Control+k")
    page.wait_for_selector("#pst-search-dialog[open] input:focus")
    page.keyboard.press("Escape")
    button = page.locator(".theme-switch-button").first
    modes = set()
    for _ in range(3):
        button.click()
        modes.add(page.evaluate("document.documentElement.dataset.mode"))
    assert modes == {"light", "dark", "auto"}


def test_the_contents_open_on_a_phone(visit, http_site):
    page = visit(f"{http_site}/book/intro.html", viewport={"width": 360, "height": 740})
    page.locator(".primary-toggle:visible").click()
    page.locator("dialog[open] a", has_text="Pegasos").first.click()
    page.wait_for_url("**/book/pegasos.html")


def test_a_page_reads_without_scripts(visit, http_site):
    page = visit(f"{http_site}/book/notation.html", java_script_enabled=False)
    assert page.locator("h1").first.is_visible()
    assert page.locator(".math .katex-html").first.is_visible()
    assert not page.locator(".theme-switch-button").first.is_visible()
