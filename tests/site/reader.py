"""The hands and eyes of a reader, as the browser tests of several figures use them."""

import html
import importlib.util
import json
import re

from pegasos_lib.widgets.base import static_text

from .conftest import ROOT

PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A figure</title>
<link rel="icon" href="data:,"><body><main><h1>A figure</h1>{figures}</main>
<script src="figures.js"></script><script src="data.js"></script>
<script src="{kind}.js"></script></body></html>"""

# Two frames: what is asked for in one is drawn in the next.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# What the panels of a page say, and what its controls hold.
SHOWN = """() => [document.querySelector('.pf-panels').innerText,
    ...[...document.querySelectorAll('.pf-root :is(input, select)')]
        .map((node) => node.type === 'checkbox' ? node.checked : node.value)]"""


def load_extension():
    """Return the module of the site's build that brings scripts to pages."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "book/_ext/figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXTENSION = load_extension()


def results_script(kind):
    """Return the script with the measured results that a kind of figure shows, "" if none."""
    if kind not in EXTENSION.MEASURED:
        return ""
    return EXTENSION.results_script(kind, ROOT / f"book/_data/{kind}.json")


def with_state(markup, raw_state):
    """Return a figure's element with another state, right or wrong; None leaves its own."""
    if raw_state is None:
        return markup
    return re.sub(
        'data-state="[^"]*"', f'data-state="{html.escape(json.dumps(raw_state))}"', markup
    )


def write_page(folder, kind, *figures, theme="light", data=None):
    """Write a page that holds figures of a kind, as Python makes them or as markup; give its URL.

    The page has no theme of the site; its scripts are written beside it. `data` is the script with
    the measured results, by default the book's.
    """
    (folder / "data.js").write_text(results_script(kind) if data is None else data, "utf-8")
    for name in ("figures.js", f"{kind}.js"):
        (folder / name).write_text(static_text(name), "utf-8")
    markup = "\n".join(f if isinstance(f, str) else f.to_html() for f in figures)
    page = folder / "page.html"
    page.write_text(PAGE.format(theme=theme, figures=markup, kind=kind), "utf-8")
    return page.as_uri()


def figure_opener(folder, visit, explorer, reader, data=None):
    """Return a function that opens a page with figures in some state, for the reader's class."""

    def open_figure(theme="light", raw_state=None, fragment="", count=1, state=(), **options):
        element = with_state(explorer(**dict(state)).to_html(), raw_state)
        page = write_page(folder, explorer.kind, *[element] * count, theme=theme, data=data)
        options.setdefault("viewport", {"width": 1000, "height": 900})
        return reader(visit(page + fragment, **options))

    return open_figure


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
        self.page.evaluate(DRAWN)

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
