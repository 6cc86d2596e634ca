"""What happened to each problem of each student, from the gradebook and the graded notebooks."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from .submission import unreadable
from .values import plain

COURSE_ID = "pegasos"
NOT_HANDED_IN = "not handed in"
UNSAFE = "Graded without a sandbox: this code ran with the grader's own rights."


@dataclass(frozen=True)
class Outcome:
    """The points of one graded cell of one student, and in words why.

    `problem` is the number in the cell's name ("2" of ps06-p2-order), "" if there is none.
    `what` is "passed", or what the student is told, or why there are no points.
    """

    student: str
    problem: str
    cell: str
    points: float
    max_points: float
    what: str


def outcomes(course_root: str | Path, set_name: str) -> list[Outcome]:
    """Return what each student got for each graded cell of a set, sorted by student and cell.

    Every student is in it who is in the gradebook or has a folder in submitted/.

    Raises
    ------
    LookupError
        If the set was never released.
    """
    root = Path(course_root)
    with _gradebook(root) as book:
        cells = _graded_cells(book, set_name)
        if not cells:
            raise LookupError(f"{set_name} was never released: the gradebook does not know it.")
        grades = _grades(book, set_name)
        students = set(book.db.scalars(book.db.query(Student.id).statement))
    folders = (path.parent.name for path in root.glob(f"submitted/*/{set_name}"))
    students |= {name for name in folders if not name.startswith(".")}
    rows = []
    for student in sorted(students):
        told = _messages(root, student, set_name)
        why = _why_ungraded(root, student, set_name)
        for cell, (points, kind) in cells.items():
            grade = grades.get((student, cell))
            got = grade.score if grade else 0.0
            what = why or _in_words(grade, got, points, kind, told.get(cell, ""))
            rows.append(Outcome(plain(student), problem_of(cell), cell, got, points, what))
    return rows


def is_unsafe(course_root: str | Path, set_name: str | None = None) -> bool:
    """Tell whether any grade, of one set or of all, was made without a sandbox."""
    with _gradebook(Path(course_root)) as book:
        query = (
            book.db.query(Comment.id)
            .join(SubmittedNotebook, Comment.notebook_id == SubmittedNotebook.id)
            .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .filter(Comment.auto_comment.contains(UNSAFE, autoescape=True))
        )
        if set_name is not None:
            query = query.filter(Assignment.name == set_name)
        return query.first() is not None


def problem_of(cell: str) -> str:
    """Return the number of the problem that a cell's name holds, "" if it holds none."""
    found = re.search(r"-p(\d+)", cell)
    return found[1] if found else ""


def _gradebook(root: Path) -> Gradebook:
    database = root / "gradebook.db"
    if not database.exists():
        raise LookupError(f"There is no gradebook {database}: release a problem set first.")
    return Gradebook(f"sqlite:///{database}", COURSE_ID)


def _graded_cells(book: Gradebook, set_name: str) -> dict[str, tuple[float, str]]:
    """Return the graded cells' points and kinds in the order of the notebook."""
    assignment = book.db.query(Assignment).filter(Assignment.name == set_name).one_or_none()
    if assignment is None:
        return {}
    found = {}
    for notebook in assignment.notebooks:
        graded = {cell.name: cell for cell in [*notebook.grade_cells, *notebook.task_cells]}
        answered_by_hand = {cell.name for cell in notebook.solution_cells}
        # Cells are stored in the notebook's order; those of one problem are named alike.
        for name in [*dict.fromkeys(c.name for c in notebook.source_cells), *graded]:
            if name in graded:
                cell = graded[name]
                by_hand = cell.cell_type == "markdown" or name in answered_by_hand
                found[name] = (cell.max_score, "manual" if by_hand else "test")
    return found


def _grades(book: Gradebook, set_name: str) -> dict[tuple[str, str], Grade]:
    rows = (
        book.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == set_name)
    )
    return {(student, name): grade for student, name, grade in rows}


def _messages(root: Path, student: str, set_name: str) -> dict[str, str]:
    """Return what the failed cells of a graded notebook say, by cell."""
    path = root / "autograded" / student / set_name / f"{set_name}.ipynb"
    if not path.is_file():
        return {}
    messages = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                kind = "" if output["ename"] == "Hint" else f"{output['ename']}: "
                messages[name] = kind + output["evalue"]
    return messages


def _why_ungraded(root: Path, student: str, set_name: str) -> str:
    """Return the reason that holds for all cells of a student, "" if they were graded."""
    folder = root / "submitted" / student / set_name
    if not folder.is_dir():
        graded = root / "autograded" / student / set_name
        return "" if graded.is_dir() else NOT_HANDED_IN
    if reason := unreadable(folder / f"{set_name}.ipynb"):
        return reason
    if not (root / "autograded" / student / set_name / f"{set_name}.ipynb").is_file():
        return "handed in, but not graded: the reason is in nbgrader.log"
    return ""


def _in_words(grade: Grade | None, got: float, points: float, kind: str, told: str) -> str:
    if grade is None:
        return "not graded: the set was released anew since"
    if grade.manual_score is not None:
        what = "graded by hand"
        if kind == "test":
            what = f"changed by hand; {told or 'passed'}"
        return f"{what}, to be looked at again" if grade.needs_manual_grade else what
    if kind == "manual":
        return "waits for grading by hand" if grade.auto_score is None else "not answered"
    if grade.auto_score is None:
        return "not graded"
    return "passed" if got >= points else (told or "failed")
