"""The hands and eyes of a reader, as the browser tests of several figures use them."""

import html
import json
import re

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
