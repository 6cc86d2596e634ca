"""The dual figure in a browser: it mounts, answers all input, and says right numbers."""

import numpy as np
import pytest

from pegasos_lib import sdca
from pegasos_lib.widgets import DualExplorer
from tests.site.reader import FirstFigureReader, figure_opener
from tests.site.test_pegasos_figure import KERNEL

# The coordinates that are farthest from where their step would go, by turns.
FARTHEST = [0, 4, 7, 2, 11, 1, 11, 1, 6]

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with figures in some state, and give the reader's hands and eyes on the first."""
    return figure_opener(tmp_path, visit, DualExplorer, DualReader)


class DualReader(FirstFigureReader):
    """What a reader does with this figure, and reads off it."""

    def keys(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def press_by_key(self, name):
        self.tab_to(self.root.get_by_role("button", name=name, exact=True))
        self.keys("Enter")

    def cases(self):
        """The examples that the figure lists as at 0, inside and at 1, counted from 0."""
        texts = self.root.locator(".du-list").all_inner_texts()
        plain = [text.replace("↑", "").replace("↓", "") for text in texts]
        return [[] if t == "none" else [int(i) - 1 for i in t.split(", ")] for t in plain]

    def focused_bar(self):
        """Reach the bars by Tab."""
        self.tab_to(self.root.locator(".du-bar[tabindex='0']"))

    def place(self, i, value, n=12):
        """Give the place on the screen of a value of alpha_i."""
        surface = self.root.locator(".pf-surface").nth(1)
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        x, y = (i + 1 - 0.4) / (n + 0.2), (1.1 - value) / 1.17
        return box["x"] + box["width"] * x, box["y"] + box["height"] * y


def number(text):
    """Read a number as the figure writes it."""
    if text == "below 10⁻¹⁵":
        return 0.0
    text = text.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    return float(text.replace("·10", "e"))


def assert_shows(reader, explorer):
    """Hold the numbers, bars and cases of the figure to those of the library."""
    numbers, problem, alpha = reader.numbers(), explorer.problem, explorer.alpha
    w = explorer.w
    wanted = {
        "steps t": min(explorer.t, len(explorer.draws)),
        "primal P(w(α))": problem.objective(w),
        "dual D(α)": problem.dual_objective(alpha),
        "gap": explorer.gap(),
        "optimum P* = D*": problem.objective(sdca(problem, gap=1e-10, n_epochs=100_000).w),
    }
    bars = reader.root.locator(".du-fill").evaluate_all(
        "(bars) => bars.map((bar) => bar.getAttribute('height'))"
    )
    height = float(reader.root.locator(".pf-surface").nth(1).get_attribute("height"))
    drawn = np.array(bars, dtype=float) / height * 1.17
    np.testing.assert_allclose(drawn, alpha, atol=1e-3)
    for name, value in wanted.items():
        assert number(numbers[name]) == pytest.approx(value, rel=6e-3, abs=1e-12), name
    cases = alpha <= 0, (alpha > 0) & (alpha < 1), alpha >= 1
    assert reader.cases() == [np.flatnonzero(which).tolist() for which in cases]


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"order": "random", "start": "sgd", "lam": 0.5, "n_epochs": 3, "t": 36},
        {"order": "you", "picks": [0, 8, 8], "values": [-1, 0.25], "printed": True, "t": 3},
    ],
)
def test_figure_mounts_and_shows_what_the_library_computes(figure, state):
    reader = figure(state=state)
    assert reader.page.locator(".pf-fallback").is_hidden()
    assert_shows(reader, DualExplorer(**state))


def test_controls_change_order_start_lambda_and_epochs(figure):
    reader, explorer = figure(), DualExplorer()
    reader.press("New order")
    explorer.seed = 2
    assert_shows(reader, explorer)
    reader.select("next α", "random")
    reader.select("start", "sgd")
    reader.set("λ, as a number", 0.5)
    explorer.order, explorer.start, explorer.lam = "random", "sgd", 0.5
    assert_shows(reader, explorer)
    reader.set("epochs, as a number", 2)
    reader.field("Step t").press("End")
    reader.settle()
    explorer.n_epochs, explorer.t = 2, 24
    assert_shows(reader, explorer)
    reader.press("Reset")
    assert_shows(reader, DualExplorer())


def test_the_step_shown_is_chosen_by_play_keys_and_press(figure):
    reader, explorer = figure(), DualExplorer()
    reader.tab_to(reader.field("Step t"))
    reader.keys("Home")
    assert number(reader.numbers()["gap"]) == 1
    reader.press("Step ▶")
    explorer.t = 1
    assert_shows(reader, explorer)
    curve = reader.root.locator(".pf-surface").nth(2)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    reader.settle()
    explorer.t = int(reader.numbers()["steps t"])
    assert explorer.t == pytest.approx(120**0.5, abs=2), "the middle of a logarithmic axis"
    assert_shows(reader, explorer)
    lines = [".pf-run-0", ".du-primal", ".du-dual"]
    before = [reader.root.locator(f".pf-panel {line}").first.get_attribute("d") for line in lines]
    reader.select("show", "values")
    after = [reader.root.locator(f".pf-panel {line}").first.get_attribute("d") for line in lines]
    assert after[0] == ""
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_reader_steps_and_sets_alpha_by_mouse_and_touch(figure):
    reader = figure(state={"t": 5}, has_touch=True)
    explorer = DualExplorer(t=6)
    picks = explorer.draws[:5].tolist()
    reader.page.mouse.click(*reader.place(2, 0.9))
    reader.settle()
    explorer.order, explorer.picks = "you", [*picks, 2]
    # A press takes the exact step, after the step that is shown.
    assert_shows(reader, explorer)
    reader.page.touchscreen.tap(*reader.place(6, 0.9))
    reader.settle()
    explorer.picks, explorer.t = [*explorer.picks, 6], 7
    assert_shows(reader, explorer)
    reader.page.mouse.move(*reader.place(10, explorer.alpha[10]))
    reader.page.mouse.down()
    for value in (0.3, 0.7, 0.5):
        reader.page.mouse.move(*reader.place(10, value), steps=2)
    reader.page.mouse.up()
    reader.settle()
    explorer.picks, explorer.t = [*explorer.picks, 10], 8
    explorer.values = [-1] * 7 + [0.5]
    # A drag sets alpha, as one step.
    assert_shows(reader, explorer)
    reader.press("Take back")
    explorer.t = 7
    assert_shows(reader, explorer)
    reader.press("Begin again")
    assert number(reader.numbers()["gap"]) == 1


def test_reader_steps_and_sets_alpha_by_keys(figure):
    reader, explorer = figure(state={"order": "you", "t": 0}), DualExplorer(order="you")
    reader.focused_bar()
    reader.keys("ArrowRight", "Enter", "n", "n", "p", "Space")
    explorer.picks = [1, 2]
    assert_shows(reader, explorer)
    reader.keys("End", "ArrowDown", "Shift+ArrowDown")
    explorer.picks, explorer.values = [1, 2, 2], [-1, -1, 0.75]
    assert_shows(reader, explorer)
    reader.keys("ArrowLeft", "ArrowLeft", "ArrowLeft", "Home")
    explorer.picks, explorer.values = [1, 2, 2, 11], [-1, -1, 0.75, 0]
    assert_shows(reader, explorer)
    assert reader.page.locator(":focus").get_attribute("aria-label").startswith("Example 12: α 0,")
    reader.type_into("example", 9)
    reader.type_into("set its α", 0.125)
    reader.press_by_key("Take its step")
    explorer.picks = [1, 2, 2, 11, 8, 8]
    explorer.values = [-1, -1, 0.75, 0, 0.125]
    assert_shows(reader, explorer)
    margin = explorer.problem.margins(explorer.w)[8]
    assert number(reader.numbers()["its margin"]) == pytest.approx(margin, rel=6e-3)


def test_points_are_moved_added_and_deleted(figure):
    reader, explorer = figure(), DualExplorer()
    X, y = explorer.X, explorer.y
    reader.tab_to(reader.root.locator(".pf-point[tabindex='0']"))
    reader.keys("ArrowRight", "f", "n")
    moved = [[X[0][0] + 0.06, X[0][1]], *X[1:]]
    explorer.set_points(moved, [-y[0], *y[1:]])
    assert_shows(reader, explorer)
    assert reader.numbers()["chosen example"] == "2", "the chosen point is the chosen example"
    reader.press("Delete point")
    explorer.set_points([moved[0], *X[2:]], [-y[0], *y[2:]])
    assert_shows(reader, explorer)
    assert reader.root.locator(".du-bar").count() == 11
    reader.press("Add point")
    assert reader.root.locator(".du-bar").count() == 12


def test_every_example_is_told_with_its_case(figure):
    reader, explorer = figure(), DualExplorer()
    reader.root.get_by_text("Every example in numbers").click()
    reader.settle()
    margins, alpha = explorer.problem.margins(explorer.w), explorer.alpha
    rows = reader.root.locator(".du-table tbody tr")
    assert rows.count() == 12
    for i, row in enumerate(rows.all()):
        _, label, value, margin, must, holds, part = row.locator("td").all_inner_texts()
        m, a = margins[i], alpha[i]
        assert label == ("+1" if explorer.y[i] > 0 else "−1")
        assert (number(value), number(margin)) == pytest.approx((a, m), rel=6e-3)
        assert must == ("margin ≥ 1" if a == 0 else "margin ≤ 1" if a == 1 else "margin = 1")
        right = m >= 0.999 if a == 0 else m <= 1.001 if a == 1 else abs(m - 1) <= 1e-3
        assert holds == ("yes" if right else "no, α ↑" if m < 1 else "no, α ↓")
        gap = ((1 - a) * max(0, 1 - m) + a * max(0, m - 1)) / 12
        assert number(part) == pytest.approx(gap, rel=6e-3, abs=1e-12)


def test_keyboard_alone_closes_the_gap_by_choosing(figure):
    reader = figure()
    reader.press_by_key("Begin again")
    reader.focused_bar()
    at = 0
    for i in FARTHEST:
        reader.keys(*["ArrowRight"] * ((i - at) % 12), "Enter")
        at = i
    explorer = DualExplorer(order="you", picks=FARTHEST)
    assert_shows(reader, explorer)
    assert explorer.gap() <= 0.01
    assert reader.reached() == set(), "the guess comes first"
    reader.type_into("my guess: steps =", 20)
    assert reader.reached() == {"gap"}
    gaps = DualExplorer().gap(range(121))
    random = int(np.argmax(gaps <= 0.01))
    text = f"after 9 steps. The random order with seed 1 takes {random}; your guess was 20."
    assert text in reader.said("gap")


def test_keyboard_alone_tells_the_cases_from_the_line(figure):
    reader, explorer = figure(state={"t": 120}), DualExplorer(t=120)
    margins = explorer.problem.margins(explorer.w)
    cases = np.where(abs(margins - 1) < 1e-6, 1, np.where(margins > 1, 0, 2))
    reader.press_by_key("Guess at w*")
    assert reader.cases() == [[], [], []], "alpha is hidden"
    assert reader.numbers()["its α"] == "hidden"
    # The task is far below what it speaks of: the reader is taken to the plane and the bars.
    assert reader.page.locator(":focus").get_attribute("aria-label").startswith("Example 1,")
    top = reader.root.locator(".pf-surface").first.bounding_box()["y"]
    assert 0 <= top < 400
    for case in cases:
        reader.keys(*["Enter"] * (case + 1), "ArrowRight")
    assert reader.cases() == [np.flatnonzero(cases == case).tolist() for case in range(3)]
    assert reader.reached() == set()
    reader.press_by_key("Check")
    assert reader.reached() == {"slack"}
    assert "margin > 1, so α = 0: 4, 6, 9, 10, 11." in reader.said("slack")
    reader.focused_bar()
    reader.keys("Enter", "ArrowUp", "Home")
    assert reader.numbers()["steps t"] == "120", "a bar of w* takes no step"
    reader.press_by_key("Back to the steps")
    assert_shows(reader, explorer)


def test_guesses_are_made_by_mouse_and_forgotten_with_other_points(figure):
    reader = figure()
    reader.press("Guess at w*")
    for _ in range(2):
        reader.page.mouse.click(*reader.place(3, 0.9))
    reader.settle()
    assert reader.cases() == [[], [3], []]
    reader.page.mouse.click(*reader.place(0, 0.1))
    reader.settle()
    # The keys change the guess of the bar that was pressed.
    reader.keys("End")
    assert reader.cases() == [[], [3], [0]]
    reader.press("Check")
    assert "1 of 12 are right." in reader.root.inner_text()
    assert reader.reached() == set()
    reader.set("λ, as a number", 1)
    assert reader.cases() == [[], [], []]
    reader.press("Reset")
    assert_shows(reader, DualExplorer())


def test_keyboard_alone_finds_a_printed_step_that_lowers_the_dual(figure):
    reader = figure(state={"t": 0})
    reader.choose("start", "after")
    reader.tab_to(reader.root.get_by_role("checkbox"))
    reader.keys("Space")
    reader.choose("my guess: label", "e")
    assert reader.reached() == set()
    explorer = DualExplorer(start="sgd", printed=True)
    duals = [explorer.problem.dual_objective(alpha) for alpha in explorer.alphas]
    t = int(np.argmax(np.diff(duals) < -1e-9)) + 1
    reader.tab_to(reader.root.get_by_role("button", name="Step ▶", exact=True))
    for _ in range(t):
        reader.keys("Enter")
    explorer.t = t
    assert_shows(reader, explorer)
    assert reader.reached() == {"printed"}
    example = explorer.draws[t - 1] + 1
    assert f"step {t} on example {example}, label −1, took the dual" in reader.said("printed")


def test_traits_and_figure_follow_each_other_in_a_kernel(figure):
    reader = figure()
    reader.page.evaluate(KERNEL.replace('widget("pegasos")', 'widget("dual")'))
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.page.evaluate("model.set('order', 'you'); model.set('picks', [0, 11])")
    reader.page.evaluate("model.set('t', 2)")
    reader.settle()
    reader.set("example", 3)
    reader.set("set its α", 0.5)
    explorer = DualExplorer(t=3)
    for name in ("order", "picks", "values", "t"):
        setattr(explorer, name, reader.page.evaluate(f"model.get('{name}')"))
    assert (explorer.picks, explorer.values) == ([0, 11, 2], [-1, -1, 0.5])
    assert_shows(reader, explorer)
    reader.press("Copy call")
    call = reader.field("Python call that gives this state").input_value()
    assert eval(call, {"DualExplorer": DualExplorer}).state() == explorer.state()


def test_link_restores_the_state_of_the_second_of_two_figures(figure, visit):
    state = {"order": "you", "picks": [1, 2], "t": 2}
    reader = figure(count=2, state=state)
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.page.mouse.click(*reader.place(0, 0.9))
    reader.settle()
    reader.set("set its α", 0.25)
    reader.set("λ, as a number", 0.3)
    reader.select("show", "values")
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=dual.2" in link
    again = DualReader(visit(link, viewport={"width": 1000, "height": 900}))
    assert_shows(again, DualExplorer(**state))
    again.root = again.page.locator(".pf-root").nth(1)
    explorer = DualExplorer(
        order="you", picks=[1, 2, 0, 0], values=[-1, -1, -1, 0.25], lam=0.3, t=4
    )
    assert_shows(again, explorer)
    assert again.field("show").input_value() == "values"


def test_broken_links_are_put_right(figure):
    fragments = [
        "lam=-3&order=me&start=none&n_epochs=1e9&t=-4&printed=maybe",
        "X=1,2;3&y=1,1&picks=0,99,a&values=7,b",
        "order=you&picks=12,3.5,-1,4&values=0,0,0,2&seed=-1&t=7&view=values",
        "lam=NaN&view=polar&n_epochs=",
        # Right, but at the border: one point, whose first step closes the gap.
        "X=1,0&y=1&lam=10&start=sgd&order=you",
        "X=0,0&y=-1&order=random",
    ]
    reader = figure(fragment=f"#figure=dual&{fragments[0]}")
    for fragment in fragments:
        reader.page.evaluate("(hash) => { location.hash = hash; }", f"figure=dual&{fragment}")
        reader.settle()
        assert "undefined" not in " ".join(reader.numbers().values())
        assert 0 <= number(reader.numbers()["gap"]) < 3
        assert reader.page.locator(".pf-error").count() == 0
        assert "NaN" not in reader.root.inner_html()


def test_changes_are_announced(figure):
    reader = figure()
    reader.press("Step ▶")
    explorer = DualExplorer(t=13)
    example = explorer.draws[12] + 1
    reader.page.wait_for_function(
        "(text) => document.querySelector('.pf-live').textContent.includes(text)",
        arg=f"Step 13: α of example {example} went from",
    )


def test_without_a_step_there_is_nothing_to_play(figure):
    reader = figure(state={"order": "you"})
    buttons = [reader.root.get_by_role("button", name=n) for n in ("▶ Play", "Step ▶", "◀ Back")]
    assert [button.is_disabled() for button in buttons] == [True] * 3
