"""Every number in a chapter's prose has a mark or a reason; the linter is tried on many cases."""

import itertools
import json
import re

import pytest

from tests.notebooks import numbers_in_prose as linter
from tests.notebooks.checks import MARK
from tests.notebooks.test_notebooks import NOTEBOOKS, code, each_notebook, notebook, printed, words

CELLS = {"a-cell": "runs = 100\nlimits = 0.25, 1e-5, 10**6, 1_500\nshare = 0.45\ncount = -7"}


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


@each_notebook
def test_every_number_in_prose_has_a_mark_or_a_reason(path):
    assert linter.prose_problems(read(path)) == []


@each_notebook
def test_numbers_of_alt_texts_and_captions_are_those_of_the_code(path):
    assert linter.picture_problems(read(path)) == []


# Each number in each place: found when it is bare, and not when something stands behind it.
TYPED = ["100", "0.25", "1,500", "45 %", "45%", "1,000,000", "7", "$0.25$", "$10^{-5}$", "$100$"]
PLACES = [
    "{}", "After {} steps it stops.", "It takes {}.", "({})", "**{}**", "*{} runs*", "| a | {} |",
    "from {}, or more", "* {} of them", "1. {} of them", "about {}; then $x=2$",
    "A text\n{} in front", ":::{{prf:lemma}} Name\n:label: a-lemma\n\nWith {} steps.\n:::",
    "[a link with {}](page.md#sec-3)", "chapter 6, {} runs", "see chapters 6 and 7: {} runs",
    "Document 003 says {}", "`k = 3` and {}", "$\\lambda=0.01$ and {}",
    "$$\nx=3\n$$ (eq-3)\n\n{} steps", "task 2: {}", "12<!--=name--> and {}", "0 or {}",
    "> {} of them", "“{}”", "“{} steps”", "step {}", "a gap of {}:",
]  # fmt: skip
every_number_in_every_place = pytest.mark.parametrize("place", PLACES)


@every_number_in_every_place
def test_a_bare_number_is_found(place):
    for number in TYPED:
        found = linter.text_problems(place.format(number), CELLS)
        assert len(found) == 1, (number, found)
        assert number in found[0]
        assert "neither mark nor reason" in found[0]


@every_number_in_every_place
def test_a_number_with_mark_or_reason_passes(place):
    endings = "<!--=name-->", "<!--:in a-cell-->", "<!--:exact: a half of it-->", (
        "<!--: given: as one\n  likes it -->"
    )  # fmt: skip
    for number, ending in itertools.product(TYPED, endings):
        if "$10" in number and "=" in ending:
            continue  # a mark wants a mantissa: test_marks_and_reasons_keep_to_their_forms
        assert linter.text_problems(place.format(number + ending), CELLS) == [], (number, ending)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("101<!--:in a-cell-->", "not typed in a-cell"),
        ("0.2<!--:in a-cell-->", "not typed in a-cell"),
        ("46 %<!--:in a-cell-->", "not typed in a-cell"),
        ("$10^{-4}$<!--:in a-cell-->", "not typed in a-cell"),
        ("100<!--:in b-cell-->", "no code cell b-cell"),
        ("100<!--:-->", "is no reason"),
        ("100<!--:given-->", "is no reason"),
        ("100<!--:given: x-->", "is no reason"),
        ("100<!--:because: of the cell-->", "is no reason"),
        ("100<!--:in a cell-->", "is no reason"),
        ("100 <!--:in a-cell-->", "no number stands before"),
        ("many<!--:in a-cell-->", "no number stands before"),
        ("100<!-- :in a-cell-->", "neither mark nor reason"),
        ("100<!-- a comment -->", "neither mark nor reason"),
        ("$10^{-5}$<!--=name-->", "neither mark nor reason"),
        ("## With 100<!--:in a-cell--> runs", "a comment would enter the anchor"),
        ("## With 100 runs", "neither mark nor reason"),
        ("$x\\approx3.14$", "take the rounded number out"),
        ("$x\\approx-5.9\\cdot10^9$", "take the rounded number out"),
        ("0 violations", "neither mark nor reason"),
        ("0 of the runs", "neither mark nor reason"),
        ("1 out of ten", "neither mark nor reason"),
        ("0 % of them", "neither mark nor reason"),
        ("1% of them", "neither mark nor reason"),
        ("0.0", "neither mark nor reason"),
        ("the bound 0.15", "neither mark nor reason"),
        ("chapter 100", "neither mark nor reason"),
        ("chapter 3 % of", "neither mark nor reason"),
        ("task 2, 3 steps", "neither mark nor reason"),
        ("chapters and 3 runs", "neither mark nor reason"),
        ("document 12", "neither mark nor reason"),
        ("in 2011 steps", "neither mark nor reason"),
        ("E000-1 is 3", "neither mark nor reason"),
        ("Time: 90 minutes", "neither mark nor reason"),
        ("x 10. It is", "neither mark nor reason"),
    ],
)
def test_marks_and_reasons_keep_to_their_forms(text, message):
    assert any(message in problem for problem in linter.text_problems(text, CELLS))


THINGS = [
    "chapter {}", "Chapter {}", "[chapter {}](page.md)", "chapters {} and 7", "task {}.",
    "(task {})", "tasks {}, 2 and 3", "section {}", "Section {}.3", "sections {}.2 and 2.1,",
    "Theorem {}:", "lemmas {} to 9", "Algorithm {}", "rule {} says", "line {}.1",
    "inequality\n({})", "panel {}", "corollaries {} and 8", "Example {} is left", "part {}?",
    "rules ({}) and (3)", "task {}<!--task an-id-->",
    "tasks {}<!--task an-id--> and 4<!--task other-->, done",
]  # fmt: skip


@pytest.mark.parametrize("text", THINGS)
def test_a_number_that_names_a_thing_needs_no_reason(text):
    for number in (2, 6, 12):
        assert linter.text_problems(text.format(number), {}) == [], number


@pytest.mark.parametrize(
    "text",
    [
        "Document 003", "documents 000, 001 and 003", "as do 002 and 004", "E000-12",
        "E000-21 to E000-23", "problem set ps06", "a 0–1 loss", "(2011)",
        "problem sets 4 and 11", "[problem set 2](a)",
        "1. first\n2. second\n   3. third", "*1.* Multiply.",
        "**Time:** 90 minutes (60 without proofs), 45 more.", "margin below 1", "is 0, so",
        "0 or 1.", "$x=0.25$ and $\\frac{17}{3}$", "$$\nx=100\n$$ (eq-100)", "`n = 100`",
        "```\nn = 100\n```", "{prf:ref}`thm-100`", "[x](page.md#sec-100)", ":label: thm-100",
        "(sec-100)=", "$7$", "$-1$", ":::{solution} ex-100\n:class: dropdown-2\n\nText\n:::",
        "$10\\,000=n$", "a hundred runs", "<!-- 100 -->", "half of w2 and x_1", "$T\\approx100k$",
        "$k\\approx c\\ln T$",
    ],
)  # fmt: skip
def test_what_needs_no_reason_passes(text):
    assert linter.text_problems(text, {}) == []


REMOVABLE = re.compile(r"<!--[=:].*?-->", re.S)


@each_notebook
def test_taking_away_any_mark_or_reason_of_a_chapter_is_found(path):
    """The prose of the chapters itself as test cases: nothing in it hides a number."""
    sources, missed, tried = linter.sources_of(read(path)), [], 0
    for cell in read(path)["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        text = linter.text_of(cell["source"])
        for comment in REMOVABLE.finditer(text):
            number = re.search(r"\S*$", text[: comment.start()])[0]
            if re.fullmatch(r"\W*[01]\W*", number):
                continue  # 0 and 1 may be constants
            tried += 1
            if not linter.text_problems(text[: comment.start()] + text[comment.end() :], sources):
                missed.append(f"{cell['id']}: {number}")
    assert tried > 3
    assert missed == []


def pictured(alt, caption="A curve that falls", source="plt.plot(x[:100])", outputs=()):
    shown = {"mystnb": {"image": {"alt": alt}, "figure": {"caption": caption}}}
    return notebook(
        code("n = 2000", [printed("order 10^152\n")], id="before"),
        code(source, outputs, metadata=shown, id="picture"),
        code("later = 77", id="after"),
    )


@pytest.mark.parametrize(
    ("alt", "found"),
    [
        ("The first 100 steps", 0), ("about 2,000 steps on", 0), ("of the order 152", 0),
        ("a line at 1, a dot at 0", 0), ("no number", 0), ("the first 101 steps", 1),
        ("about 3,000 steps, near 0.7", 2), ("the 77 of a later cell", 1), ("x1 and w2", 0),
    ],
)  # fmt: skip
def test_a_number_of_an_alt_text_or_caption_that_no_code_knows_is_found(alt, found):
    assert len(linter.picture_problems(pictured(alt))) == found
    assert len(linter.picture_problems(pictured("A curve", caption=alt))) == found


def test_the_sentence_around_a_number_is_shown_with_its_cell():
    broken = notebook(words("Some words first. It takes 17 steps, and more."), code("x = 1"))
    (problem,) = linter.prose_problems(broken)
    assert problem.startswith("words: 17 has neither mark nor reason: ")
    assert "It takes 17 steps" in problem


def test_the_linter_reads_numbers_as_the_marks_do():
    """What `checks.mark_problems` takes for a marked number, the linter takes for one too."""
    for typed in ("0.23", "360,000", "1234", "$0.2266$", r"$2.5\cdot10^{7}$", "90 %", "-1.5"):
        assert MARK.fullmatch(f"{typed}<!--=name-->")
        assert linter.text_problems(f"It is {typed}<!--=name--> here.", {}) == []
        assert len(linter.text_problems(f"It is {typed} here.", {})) == 1


def test_the_chapters_use_reasons_that_are_verified():
    """Most reasons name a cell: a number that a cell types cannot go stale in silence."""
    text = " ".join(
        linter.text_of(cell["source"]) for path in NOTEBOOKS for cell in read(path)["cells"]
    )
    reasons = re.findall(r"<!--:\s*(\w+)", text)
    assert reasons.count("in") > len(reasons) / 2
