"""The hands and eyes of a reader, as the browser tests of several figures use them."""

import html
import json
import re
from importlib.resources import files

from pegasos_lib.widgets.base import static_text

AXE = files("axe_playwright_python").joinpath("axe.min.js")
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A figure</title>
<link rel="icon" href="data:,"><body><main><h1>A figure</h1>{figures}</main>
<script src="figures.js"></script><script src="data.js"></script>
<script src="{kind}.js"></script></body></html>"""

# What the panels of a page say, and what its controls hold.
SHOWN = """() => [document.querySelector('.pf-panels').innerText,
    ...[...document.querySelectorAll('.pf-root :is(input, select)')]
        .map((node) => node.type === 'checkbox' ? node.checked : node.value)]"""


def with_state(markup, raw_state):
    """Return a figure's element with another state, right or wrong; None leaves its own."""
    if raw_state is None:
        return markup
    return re.sub(
        'data-state="[^"]*"', f'data-state="{html.escape(json.dumps(raw_state))}"', markup
    )


def figure_opener(folder, visit, explorer, reader, data=""):
    """Return a function that opens a page with figures in some state, for the reader's class.

    The page, which has no theme of the site, and the scripts are written to the folder; `data` is
    the script with the measured results, for a figure that shows some.
    """
    (folder / "data.js").write_text(data, "utf-8")
    for name in ("figures.js", f"{explorer.kind}.js"):
        (folder / name).write_text(static_text(name), "utf-8")

    def open_figure(theme="light", raw_state=None, fragment="", count=1, state=(), **options):
        element = with_state(explorer(**dict(state)).to_html(), raw_state)
        page = folder / "page.html"
        page.write_text(PAGE.format(theme=theme, figures=element * count, kind=explorer.kind))
        options.setdefault("viewport", {"width": 1000, "height": 900})
        return reader(visit(page.as_uri() + fragment, **options))

    return open_figure


def small_targets(page):
    """Return what can be pressed and is less than 24 px wide or high."""
    return page.evaluate(
        """() => [...document.querySelectorAll(
             '.pf-root :is(button, input, select, summary, .pf-hit, .pf-toggle)')]
           .filter((node) => !node.closest('.pf-toggle') || node.matches('.pf-toggle'))
           .map((node) => [node.outerHTML.slice(0, 80), node.getBoundingClientRect()])
           .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < 23.9)"""
    )


def axe_faults(page):
    """Return what axe finds in the figures; colours come from the site's theme, not here."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(
        """axe.run('.pegasos-figure', {rules: {'color-contrast': {enabled: false}}})
           .then(({violations}) => violations.map(({id, nodes}) => `${id}: ${nodes[0].html}`))"""
    )


class Reader:
    """What a reader does with a figure, and reads off it.

    `root` is where its tasks are looked for; `TABS` is how often Tab is pressed at most to reach
    an element; a figure's own class says how a `field` is found by its label.
    """

    TABS = 60

    def __init__(self, page):
        self.page = self.root = page

    def settle(self):
        """Wait for the next frames to be drawn."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def field(self, label):
        return self.page.get_by_label(label, exact=True)

    def reached(self):
        tasks = self.root.locator(".pf-task.is-reached")
        return {tasks.nth(i).get_attribute("data-task") for i in range(tasks.count())}

    def tab_to(self, locator):
        """Reach an element by the Tab key alone."""
        self.page.evaluate("document.activeElement?.blur()")
        for _ in range(self.TABS):
            self.page.keyboard.press("Tab")
            if locator.evaluate("(node) => node === document.activeElement"):
                return
        raise AssertionError(f"Tab does not reach {locator}")

    def type_into(self, label, value):
        self.tab_to(self.field(label))
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(str(value))
        self.page.keyboard.press("Enter")
        self.settle()

    def choose(self, label, words):
        """Choose an option of a list by typing its first letters."""
        self.tab_to(self.field(label))
        self.page.keyboard.type(words)
        self.settle()


class FirstFigureReader(Reader):
    """The reader of the first figure of a page, who waits until it says its numbers."""

    def __init__(self, page):
        super().__init__(page)
        self.root = page.locator(".pf-root").first
        page.wait_for_selector(".pf-readout dd:not(:empty)")

    def field(self, label):
        return self.root.get_by_label(label, exact=True)

    def set(self, label, value):
        self.field(label).fill(str(value))
        self.field(label).press("Tab")
        self.settle()

    def select(self, label, value):
        self.field(label).select_option(value)
        self.settle()

    def press(self, name):
        self.root.get_by_role("button", name=name, exact=True).click()
        self.settle()

    def numbers(self):
        """The read-out as a dictionary of texts."""
        rows = self.root.locator(".pf-readout > div").all_inner_texts()
        return dict(row.split("\n") for row in rows)

    def said(self, task):
        return self.root.locator(f'[data-task="{task}"] .pf-task-said').inner_text()
