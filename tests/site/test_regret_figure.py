"""The regret figure in a browser: it mounts, answers all input, and says right numbers."""

import re

import pytest

from pegasos_lib.widgets import RegretExplorer
from tests.site.reader import FirstFigureReader, figure_opener
from tests.site.test_pegasos_figure import KERNEL

pytestmark = pytest.mark.browser


@pytest.fixture
def figure(tmp_path, visit):
    """Open a page with figures in some state, and give the reader's hands and eyes on the first."""
    return figure_opener(tmp_path, visit, RegretExplorer, RegretReader)


class RegretReader(FirstFigureReader):
    """What a reader does with this figure, and reads off it."""

    TABS = 40

    def at(self, i):
        """Give the place on the screen of an example of the first pool."""
        return self.place(*RegretExplorer().X[i])

    def place(self, x, y):
        """Give the place on the screen of a point of the pool's plane, seen from -3 to 3."""
        surface = self.root.locator(".pf-surface").first
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        return box["x"] + box["width"] * (x + 3) / 6, box["y"] + box["height"] * (3 - y) / 6


def number(text):
    """Read a number as the figure writes it."""
    text = text.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")).replace(",", "")
    return float(text.replace("·10", "e"))


def shows(reader, explorer):
    """Tell whether the read-out at the last step holds the library's numbers."""
    numbers, T = reader.numbers(), len(explorer.draws)
    regret, bound = explorer.regret(), explorer.bound(T)
    wanted = {
        "steps t": T,
        "regret": regret,
        "its bound": bound,
        "regret/t": regret / T,
        "regret against w*": explorer.regret(comparator=explorer.optimum),
        "step ηₜ": explorer.step([T])[0],
        "G = √λ + R": explorer.G,
        "D = 2/√λ": explorer.diameter,
        "bounds cross at T": explorer.crossover,
    }
    share = float(numbers["share of the bound"].replace(" %", ""))
    return share == pytest.approx(100 * regret / bound, abs=0.6) and all(
        number(numbers[name]) == pytest.approx(value, rel=6e-3) for name, value in wanted.items()
    )


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"stream": "adversary", "lam": 0.05, "rule": "constant", "n_iter": 300, "t": 300},
        {"stream": "you", "picks": [0, 11, 0, 3], "lam": 0.2, "rule": "inverse-sqrt", "t": 4},
    ],
)
def test_figure_mounts_and_shows_what_the_library_computes(figure, state):
    reader = figure(state=state)
    assert reader.page.locator(".pf-fallback").is_hidden()
    assert shows(reader, RegretExplorer(**state))


def test_controls_change_stream_rule_lambda_and_length(figure):
    reader, explorer = figure(), RegretExplorer()
    reader.page.mouse.click(*reader.at(0))
    assert reader.root.locator(".rg-point[tabindex]").count() == 0, "only a reader sends examples"
    reader.press("New draws")
    explorer.seed = 2
    assert shows(reader, explorer)
    reader.select("examples", "adversary")
    reader.set("λ, as a number", 0.05)
    reader.set("steps T, as a number", 120)
    explorer.stream, explorer.lam, explorer.n_iter = "adversary", 0.05, 120
    assert shows(reader, explorer)
    for rule in ("constant", "inverse-sqrt", "printed", "pegasos"):
        reader.select("step ηₜ", rule)
        explorer.rule = rule
        assert shows(reader, explorer)
    reader.press("Reset")
    assert shows(reader, RegretExplorer())


def test_every_view_draws_the_regret_on_axes_of_its_own(figure):
    reader = figure(state={"stream": "adversary", "rule": "printed", "lam": 0.2})
    line = reader.root.locator(".pf-panel").nth(1).locator(".pf-run-0").first
    label = reader.root.locator(".pf-panel").nth(1).locator(".pf-axis-label").nth(1)
    seen = set()
    for view in ("loglog", "log", "linear", "average"):
        reader.select("show", view)
        drawn = [float(v) for v in re.findall(r"[\d.]+", line.get_attribute("d"))]
        assert min(drawn) >= -1
        seen.add(line.get_attribute("d"))
        assert label.text_content() == ("regret/t" if view == "average" else "regret")
    assert len(seen) == 4


def test_the_step_shown_is_chosen_by_play_keys_and_press(figure):
    reader = figure(state={"stream": "cyclic"})
    reader.tab_to(reader.field("Step t"))
    reader.page.keyboard.press("Home")
    reader.settle()
    assert reader.numbers()["regret"] == "none yet"
    reader.press("Step ▶")
    assert reader.numbers()["steps t"] == "1"
    assert "Example 1 came in step 1 and cost 1." in reader.root.inner_text()
    curve = reader.root.locator(".pf-surface").nth(1)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 40)
    reader.settle()
    assert int(reader.numbers()["steps t"]) == pytest.approx(500**0.5, abs=2)
    reader.press("◀ Back")
    assert int(reader.numbers()["steps t"]) == pytest.approx(500**0.5 - 1, abs=2)


def test_reader_sends_examples_by_mouse_touch_and_keys(figure):
    reader = figure(state={"stream": "you", "lam": 0.2}, has_touch=True)
    page, sent = reader.page, []
    explorer = RegretExplorer(stream="you", lam=0.2)
    assert reader.numbers()["regret"] == "none yet"
    page.mouse.click(*reader.at(0))
    reader.settle()
    page.touchscreen.tap(*reader.at(11))
    reader.settle()
    sent += [0, 11]
    reader.tab_to(reader.root.locator(".rg-point[tabindex='0']"))
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-label").startswith("Send example 12, label −1")
    for key in ("ArrowDown", "Enter", "n", "Space"):
        page.keyboard.press(key)
        reader.settle()
    label = focused.get_attribute("aria-label")
    assert label.startswith("Send example 2,"), label
    sent += [0, 1]
    explorer.picks = sent
    assert shows(reader, explorer)
    page.mouse.click(*reader.place(-1.5, 2.2))
    reader.settle()
    assert shows(reader, explorer), "a press beside all examples sends none"
    reader.press("Take back")
    explorer.picks = sent[:-1]
    assert shows(reader, explorer)
    reader.press("As the adversary")
    explorer.picks = [*sent[:-1], 11]
    assert shows(reader, explorer)
    reader.set("steps T, as a number", 9)
    reader.press("Repeat up to T")
    explorer.picks, explorer.n_iter = [0, 11, 0, 11] * 2 + [0], 9
    assert shows(reader, explorer)
    page.mouse.click(*reader.at(5))
    reader.settle()
    assert shows(reader, explorer), "no example comes after the last step"
    reader.press("Begin again")
    assert reader.numbers()["steps t"] == "0"


def test_keyboard_alone_finds_the_crossing_after_a_guess(figure):
    reader = figure()
    reader.type_into("λ, as a number", 0.01)
    assert reader.reached() == set()
    assert reader.numbers()["bounds cross at T"] == "1,136"
    reader.type_into("my guess: λ =", 0.1)
    assert reader.reached() == {"crossover"}
    said = reader.said("crossover")
    assert "The smallest λ that does it here is 0.00308; your guess was 0.1." in said
    crossings = [RegretExplorer(lam=lam).crossover for lam in (0.00307, 0.00308)]
    assert crossings[0] > 5000 >= crossings[1]


def test_keyboard_alone_makes_the_bound_half_tight(figure):
    reader = figure()
    reader.choose("my guess: stream", "an adv")
    reader.type_into("λ, as a number", 0.05)
    assert reader.reached() == set()
    reader.choose("examples", "an adv")
    assert reader.reached() == {"tight"}
    assert "56 % of the bound after 500 steps" in reader.said("tight")


def test_a_reader_by_turns_makes_it_tighter_still(figure):
    reader = figure(state={"stream": "you", "lam": 0.2})
    reader.choose("my guess: stream", "you")
    reader.tab_to(reader.root.locator(".rg-point[tabindex='0']"))
    for key in ("Enter", *"nnnnnnnnnnn", "Enter"):
        reader.page.keyboard.press(key)
    reader.settle()
    reader.tab_to(reader.root.get_by_role("button", name="Repeat up to T"))
    reader.page.keyboard.press("Enter")
    reader.settle()
    assert reader.reached() == {"tight"}
    assert "60 % of the bound after 500 steps" in reader.said("tight")


def test_keyboard_alone_makes_the_printed_step_pay(figure):
    reader = figure()
    reader.choose("my guess: λ", "large")
    reader.choose("step ηₜ", "G/√t")
    assert reader.reached() == set()
    reader.type_into("λ, as a number", 10)
    assert reader.reached() == {"printed"}
    assert reader.numbers()["bounds cross at T"] == "nowhere"
    assert "its regret 2.06 times the bound of the right one" in reader.said("printed")


def test_traits_and_figure_follow_each_other_in_a_kernel(figure):
    reader = figure()
    reader.page.evaluate(KERNEL.replace('widget("pegasos")', 'widget("regret")'))
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.page.evaluate("model.set('stream', 'you'); model.set('picks', [0, 11])")
    reader.settle()
    reader.press("As the adversary")
    explorer = RegretExplorer(stream="you", lam=0.1, picks=[0, 11])
    expected = [0, 11, RegretExplorer(stream="adversary", lam=0.1, n_iter=3).draws[2]]
    assert RegretExplorer(stream="adversary", lam=0.1, n_iter=2).draws.tolist() == [0, 11]
    explorer.picks = reader.page.evaluate("model.get('picks')")
    assert explorer.picks == expected
    assert shows(reader, explorer)
    reader.press("Copy call")
    call = reader.field("Python call that gives this state").input_value()
    again = eval(call, {"RegretExplorer": RegretExplorer})
    explorer.t = 3
    assert again.state() == explorer.state()


def test_link_restores_the_state_of_the_second_of_two_figures(figure, visit):
    reader = figure(count=2, state={"stream": "you", "picks": [1, 2]})
    reader.root = reader.page.locator(".pf-root").nth(1)
    reader.page.mouse.click(*reader.at(0))
    reader.settle()
    reader.set("λ, as a number", 0.3)
    reader.select("show", "linear")
    reader.press("Copy link")
    link = reader.field("Link to this state").input_value()
    assert "figure=regret.2" in link
    again = RegretReader(visit(link, viewport={"width": 1000, "height": 900}))
    assert shows(again, RegretExplorer(stream="you", picks=[1, 2]))
    again.root = again.page.locator(".pf-root").nth(1)
    assert shows(again, RegretExplorer(stream="you", picks=[1, 2, 0], lam=0.3))
    assert again.field("show").input_value() == "linear"


@pytest.mark.parametrize(
    "fragment",
    [
        "lam=-3&stream=me&rule=none&n_iter=1e9&t=-4",
        "X=1,2;3&y=1,1&picks=0,99,a",
        "stream=you&picks=12,3.5,-1&seed=-1&t=7&view=linear",
        "lam=NaN&view=polar&n_iter=",
    ],
)
def test_a_broken_link_is_put_right(figure, fragment):
    reader = figure(fragment=f"#figure=regret&{fragment}")
    assert "undefined" not in " ".join(reader.numbers().values())
    assert 1 <= int(reader.field("steps T, as a number").input_value()) <= 2000
    assert reader.page.locator(".pf-error").count() == 0
    assert "NaN" not in reader.root.inner_html()


def test_changes_are_announced(figure):
    reader = figure()
    reader.select("examples", "cyclic")
    reader.page.wait_for_function(
        "() => document.querySelector('.pf-live').textContent.includes('Step 500: example 8 came')"
    )


def test_without_a_step_there_is_nothing_to_play(figure):
    reader = figure(state={"stream": "you"})
    buttons = [reader.root.get_by_role("button", name=n) for n in ("▶ Play", "Step ▶", "◀ Back")]
    assert [button.is_disabled() for button in buttons] == [True] * 3
