"""The concept inventory: right letters, no other, nothing told too early, twice the same."""

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    LockCells,
)
from traitlets.config import Config

from .sets import (
    STUB,
    course_answers,
    graded_here,
    is_answer,
    is_test,
    nbgrader_of,
    read,
    region,
    source_of,
)

TWICE = ["before", "after"]
LETTERS = "abcd"
QUESTIONS = [f"q{number:02d}" for number in range(1, 16)]
ERRATA = Path(__file__).resolve().parents[2] / "book" / "errata.md"


@cache
def cells_of(name):
    return {cell.id: cell for cell in read(source_of(name)).cells}


@cache
def right_letters():
    own = course_answers("before")
    return {
        q: re.fullmatch(rf'{q} = "([a-d])"', own[f"inventory-{q}-answer"])[1] for q in QUESTIONS
    }


def told(name, question):
    """Return what the hidden test of a question tells whoever does not know."""
    tree = ast.parse("\n".join(region(cells_of(name)[f"inventory-{question}"], "HIDDEN TESTS")))
    (text,) = [node.value.value for node in tree.body if getattr(node, "targets", None)
               and node.targets[0].id == "_told"]  # fmt: skip
    return text


def options_of(question):
    """Return the four answers that a question offers, in their order."""
    text = cells_of("before")[f"inventory-{question}-text"].source
    return re.findall(r"^\* \*\*([a-d])\.\*\* (.+)$", text, re.M)


def graded(name, answers):
    """Return the questions that these answers lose, each with what is told."""
    cells = {f"inventory-{q}-answer": answers.get(q, STUB) for q in QUESTIONS}
    failed = graded_here(name, cells)
    lost = {cell: why for cell, why in failed.items() if is_test(cells_of(name)[cell])}
    assert set(failed) - set(lost) <= set(cells), "a cell of the inventory's own failed"
    return {cell.removeprefix("inventory-"): why for cell, why in lost.items()}


def written(letters):
    return {q: f"{q} = {letter!r}" for q, letter in letters.items()}


@pytest.mark.parametrize("name", TWICE)
def test_it_is_a_clean_set_of_fifteen_questions_of_one_point(name):
    notebook = read(source_of(name))
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert nbgrader_of(cell).grade_id == cell.id
        assert nbgrader_of(cell).locked != nbgrader_of(cell).solution
        assert cell.get("outputs", []) == []
    tests = [cell for cell in notebook.cells if is_test(cell)]
    assert [cell.id for cell in tests] == [f"inventory-{q}" for q in QUESTIONS]
    assert {nbgrader_of(cell).points for cell in tests} == {1}
    answers = [cell.id for cell in notebook.cells if is_answer(cell)]
    assert answers == [f"inventory-{q}-answer" for q in QUESTIONS]


def test_both_times_the_same_is_asked():
    """They differ in the first cell, and in what a hidden test tells whoever does not know."""
    before, after = cells_of("before"), cells_of("after")
    assert list(before) == list(after)
    for name, cell in before.items():
        other = after[name]
        assert cell.metadata == other.metadata
        if is_test(cell):
            hidden = ("\n".join(region(c, "HIDDEN TESTS")) for c in (cell, other))
            first, second = (ast.dump(ast.parse(text)) for text in hidden)
            question = name.removeprefix("inventory-")
            assert first == second.replace(
                repr(told("after", question)), repr(told("before", question))
            )
            visible = [c.source.partition("### END HIDDEN TESTS")[2] for c in (cell, other)]
            assert visible[0] == visible[1]
        elif name != "inventory-intro":
            assert cell.source == other.source


@pytest.mark.parametrize("name", TWICE)
def test_right_answers_have_all_points_and_blank_ones_none(name):
    assert graded(name, written(right_letters())) == {}
    assert set(graded(name, {})) == set(QUESTIONS)


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("letter", LETTERS)
def test_a_wrong_letter_loses_its_point_and_no_other(name, letter):
    lost = graded(name, written(dict.fromkeys(QUESTIONS, letter)))
    assert set(lost) == {q for q, right in right_letters().items() if right != letter}
    assert lost == {q: f"Hint: {told(name, q)}" for q in lost}


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_counts_by_itself(name, question):
    wrong = LETTERS[LETTERS.index(right_letters()[question]) - 1]
    assert set(graded(name, written(right_letters() | {question: wrong}))) == {question}
    answers = written(right_letters())
    del answers[question]
    assert set(graded(name, answers)) == {question}


@pytest.mark.parametrize("spelled", ["{}", " {} ", "({})", "{}.", "{}) "])
def test_a_letter_counts_however_it_is_spelled(spelled):
    letters = {q: spelled.format(letter) for q, letter in right_letters().items()}
    assert graded("before", written(letters)) == {}
    assert graded("before", written({q: text.upper() for q, text in letters.items()})) == {}


@pytest.mark.parametrize("answer", ["", "e", "abcd", "ab", None, 1, ["a", "b"], list(LETTERS), {}])
def test_what_is_no_letter_is_wrong(answer):
    assert set(graded("before", written(dict.fromkeys(QUESTIONS, answer)))) == set(QUESTIONS)


def test_letters_and_lengths_give_nothing_away():
    counts = Counter(right_letters().values())
    assert sorted(counts.values()) == [3, 4, 4, 4]
    longest = shortest = 0
    for question, right in right_letters().items():
        letters, answers = zip(*options_of(question), strict=True)
        assert letters == tuple(LETTERS), question
        assert len(set(answers)) == 4
        lengths = [len(answer) for answer in answers]
        assert max(lengths) < 2 * min(lengths), question
        longest += len(answers[LETTERS.index(right)]) == max(lengths)
        shortest += len(answers[LETTERS.index(right)]) == min(lengths)
    assert longest <= 5
    assert shortest <= 5


def test_the_first_feedback_says_right_or_wrong_only():
    texts = {told("before", q) for q in QUESTIONS}
    assert len(texts) == 1
    assert "Chapter" not in texts.pop()


def test_the_second_feedback_explains_with_one_erratum_each():
    named = []
    for question, right in right_letters().items():
        text = told("after", question)
        assert text.startswith(f"{right} is right. ")
        assert len(text.split()) > 25
        named += re.findall(r"\(Chapters? [\d and]+, (E00\d-\d\d)\)$", text)
    assert len(set(named)) == len(QUESTIONS)
    errata = ERRATA.read_text(encoding="utf-8")
    assert [name for name in named if name not in errata] == []


@cache
def released(name):
    """Return the student version, by the steps of nbgrader that take something out."""
    exporter = NotebookExporter(config=Config({"Exporter": {"default_preprocessors": []}}))
    for step in (LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ClearHiddenTests):
        exporter.register_preprocessor(step, enabled=True)
    resources = {"unique_key": name, "nbgrader": {"notebook": name}}
    return exporter.from_filename(str(source_of(name)), resources=resources)[0]


@pytest.mark.parametrize("name", TWICE)
def test_the_release_holds_no_answer(name):
    text = json.dumps(json.loads(released(name)), ensure_ascii=False)
    assert text.count(STUB.splitlines()[0]) == len(QUESTIONS)
    assert "HIDDEN" not in text
    assert re.findall(r"q\d\d\s*=\s*\W{0,3}[a-d]\b", text) == []
    assert "_told" not in text
    assert "is right. " not in text
    for question in QUESTIONS:
        lines = region(cells_of("after")[f"inventory-{question}"], "HIDDEN TESTS")
        secret = [line.strip(' "') for line in lines if len(line) > 40]
        assert secret
        assert [line for line in secret if line in text] == []


def test_the_releases_differ_in_their_first_cell_alone():
    first, second = (nbformat.reads(released(name), as_version=4).cells for name in TWICE)
    assert [a.id for a, b in zip(first, second, strict=True) if a.source != b.source] == [
        "inventory-intro"
    ]
