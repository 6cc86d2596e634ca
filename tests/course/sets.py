"""The problem sets as the tests see them: their cells, answers put into them, what these score."""

import contextlib
import importlib
import io
import re
import textwrap
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat

COURSE = Path(__file__).resolve().parents[2] / "course"
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
SECRET = "SOLUTION", "HIDDEN TESTS", "MARK SCHEME"
# All of the sets, those of the chapters and the concept inventory, and those of the chapters.
ASSIGNMENTS = sorted(path.parent.name for path in (COURSE / "source").glob("*/*.ipynb"))
SETS = sorted(path.parent.name for path in (COURSE / "source").glob("ps*/ps*.ipynb"))


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer: edits of a right one, and the test cells that it fails.

    `fails` names these by what follows the set's name, with spaces between: "p1-margin p1-batch".
    `base` is a name in RIGHT, or "course" for the course's own solutions.
    """

    cell: str
    fails: str
    edits: dict[str, str]
    base: str = "looped"


def dedented(answers):
    """Return the answers as they stand at the left margin."""
    return {cell: textwrap.dedent(body).strip("\n") for cell, body in answers.items()}


def source_of(name):
    return COURSE / "source" / name / f"{name}.ipynb"


@cache
def _parsed(path):
    return nbformat.read(path, as_version=4)


def read(path):
    """Return a notebook, to be changed at will."""
    return nbformat.read(path, as_version=4)


def answers_module(name):
    return importlib.import_module(f"tests.course.answers.{name}")


def nbgrader_of(cell):
    return cell.metadata.get("nbgrader", {})


def is_test(cell):
    """Tell whether a cell is a test that grades by itself."""
    return nbgrader_of(cell).get("grade", False) and not nbgrader_of(cell).solution


def is_answer(cell):
    """Tell whether students write code in a cell that is not graded by hand."""
    told = nbgrader_of(cell)
    return cell.cell_type == "code" and told.get("solution", False) and not told.grade


def is_manual(cell):
    """Tell whether a cell is graded by hand: a proof, with its rubric as a mark scheme."""
    told = nbgrader_of(cell)
    return told.get("task", False) or (told.get("grade", False) and told.get("solution", False))


def problem_of(cell_id):
    """Return the number of the problem that a cell is part of."""
    return re.match(r"\w+-p(\d)", cell_id)[1]


def region(cell, name):
    """Return the lines of a cell between `### BEGIN name` and `### END name`."""
    inside, lines = False, []
    for line in cell.source.splitlines():
        if f"### END {name}" in line:
            inside = False
        if inside:
            lines.append(line)
        if f"### BEGIN {name}" in line:
            inside = True
    return lines


def course_answers(name):
    return {
        cell.id: textwrap.dedent("\n".join(region(cell, "SOLUTION")))
        for cell in _parsed(source_of(name)).cells
        if is_answer(cell)
    }


def right_answers(name):
    """Return all right answers of a set, the course's own among them, each complete."""
    own = course_answers(name)
    others = {key: own | answers for key, answers in answers_module(name).RIGHT.items()}
    return {"course": own} | others


def answers_with(name, mistake):
    """Return the answers that a mistake makes of right ones."""
    mistake = answers_module(name).MISTAKES[mistake] if isinstance(mistake, str) else mistake
    answers = dict(right_answers(name)[mistake.base])
    for old, new in mistake.edits.items():
        assert old in answers[mistake.cell], f"{old!r} is not in the answer that it edits"
        answers[mistake.cell] = answers[mistake.cell].replace(old, new)
    return answers


def put(source, mark, answer):
    """Replace a mark and what follows it by an answer, which is indented like the mark."""
    head, _, _ = source.partition(mark)
    kept, _, margin = head.rpartition("\n")
    return (kept + "\n" if kept else "") + textwrap.indent(answer, margin)


def fill(notebook, answers):
    """Put the answers where the stubs of a released notebook are, as a student would."""
    for cell in notebook.cells:
        if cell.id in answers:
            assert STUB.splitlines()[0] in cell.source, cell.id
            cell.source = put(cell.source, STUB.splitlines()[0], answers[cell.id])
    return notebook


@cache
def _compiled(source, name):
    return compile(source, name, "exec")


def graded_here(name, answers, names=None):
    """Run a set's source with other answers in this process; return the failed tests' messages.

    It runs in `names`, a new namespace if there is none.
    """
    names, failed = {} if names is None else names, {}
    for cell in _parsed(source_of(name)).cells:
        if cell.cell_type == "code" and nbgrader_of(cell) and not is_manual(cell):
            try:
                _run(cell, answers, names)
            except Exception as error:
                failed[cell.id] = f"{type(error).__name__}: {error}"
    return failed


def look_here(name, answers):
    """Run a set's source with other answers up to its ungraded end, its tests left out."""
    names = {}
    for cell in _parsed(source_of(name)).cells:
        if cell.cell_type == "code" and not is_test(cell) and not is_manual(cell):
            _run(cell, answers, names)


def _run(cell, answers, names):
    source = cell.source
    if cell.id in answers:
        source = put(source, "### BEGIN SOLUTION", answers[cell.id])
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(_compiled(source, cell.id), names)


@cache
def failures_of(name, mistake):
    return graded_here(name, answers_with(name, mistake))


def seen(cell):
    """Return the lines of a cell that students see: of a proof none, else those outside marks."""
    inside, lines = is_manual(cell), []
    for line in cell.source.splitlines():
        inside |= any(f"### BEGIN {mark}" in line for mark in SECRET)
        if not inside:
            lines.append(line)
        if any(f"### END {mark}" in line for mark in SECRET):
            inside = is_manual(cell)
    return lines


def secret_lines(name, *marks):
    """Return the lines between such marks that occur nowhere in the part that students see."""
    cells = _parsed(source_of(name)).cells
    lines = {line.strip() for c in cells for mark in marks for line in region(c, mark)}
    return _unseen(cells, lines)


def proof_lines(name):
    """Return the lines of the model proofs and their rubrics, which occur nowhere else."""
    cells = _parsed(source_of(name)).cells
    lines = {line.strip() for c in cells if is_manual(c) for line in c.source.splitlines()}
    return _unseen(cells, lines)


def _unseen(cells, lines):
    # A page shows names in the text without their marks.
    shown = "\n".join(line for cell in cells for line in seen(cell)).replace("`", "")
    return sorted(
        line for line in lines if re.search(r"\w", line) and line.replace("`", "") not in shown
    )


def secrets():
    """Return by set the lines of its solutions, hidden tests and proofs that no set shows."""
    cells = [cell for name in ASSIGNMENTS for cell in _parsed(source_of(name)).cells]
    shown = {line.strip() for cell in cells for line in seen(cell)}
    return {
        name: {*secret_lines(name, "SOLUTION", "HIDDEN TESTS"), *proof_lines(name)} - shown
        for name in ASSIGNMENTS
    }
