"""Drive nbgrader with the course's own settings.

`nbgrader autograde` and the rest do the same, but tell a program nothing; here each student's fate
is known, and what was graded by hand stays.
"""

import fcntl
import logging
import math
import os
import re
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
from nbgrader import utils
from nbgrader.api import (
    Assignment,
    Grade,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.apps import NbGraderAPI
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SAWarning
from traitlets.config import PyFileConfigLoader

from course.gradebook import open_gradebook
from course.grader import sandbox
from course.grader.autograde import IsolatedAutograde
from course.grader.sandbox import UNSAFE_VARIABLE
from course.grader.submission import unreadable
from course.grader.values import one_line
from course.tables import NotUnderstoodError, read_table, write_table

LOG = "nbgrader.log"
NO_NEW_CELLS = "Cannot add or remove cells"


@contextmanager
def connect(course, unsafe=False):
    """Give nbgrader's own interface, with the settings of a course's folder, and keep a log.

    Raises
    ------
    NotUnderstoodError
        If another command has it: each would take the other's files away.
    """
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"
    api = NbGraderAPI(config=config)
    handler = logging.FileHandler(course / LOG, encoding="utf-8")
    try:
        fcntl.flock(handler.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handler.close()
        raise NotUnderstoodError(
            f"Another command works on {course} at this moment: wait until it has ended."
        ) from None
    handler.setLevel(logging.WARNING)
    # nbconvert says this of each preprocessor for each student.
    handler.addFilter(lambda record: "not recognized by" not in record.getMessage())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    api.log.addHandler(handler)
    if unsafe:
        os.environ[UNSAFE_VARIABLE] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # of how nbgrader uses its database
            yield api
    finally:
        if unsafe:
            del os.environ[UNSAFE_VARIABLE]
        api.log.removeHandler(handler)
        handler.close()


def need_sandbox():
    """Fail where students' code cannot be shut in, unless that was asked for.

    Raises
    ------
    NotUnderstoodError
    """
    if not sandbox.unsafe_is_asked():
        try:
            sandbox.check()
        except sandbox.NoSandbox as why:
            raise NotUnderstoodError(str(why)) from None


def reason(result):
    """Return what nbgrader said of a failure, or None if it did not fail.

    Raises
    ------
    KeyboardInterrupt
        If it was that: nbgrader takes it for one more failure.
    """
    if result["success"]:
        return None
    if "KeyboardInterrupt" in result["error"]:
        raise KeyboardInterrupt
    said = [*result["error"].splitlines(), *result.get("log", "").splitlines()]
    errors = [line for line in map(str.strip, said) if re.match(r"[\w.]*(Error|Entry): ", line)]
    return (errors or said)[-1].strip()


def register(api, name):
    """Tell the gradebook what a set's cells are now: their tests, their points; release it anew.

    Raises
    ------
    NotUnderstoodError
        If cells came or went since the first submission was graded, or the source is wrong.
    """
    result = api.generate_assignment(name, force=True)
    if result["success"]:
        return
    if NO_NEW_CELLS in result["log"]:
        raise NotUnderstoodError(
            f"Cells came to {name} or went since it was first graded. Tests and points may change "
            "then, cells may not: put the new problem into a set of its own, or start over with "
            "another gradebook (move gradebook.db away) and grade all again."
        )
    raise NotUnderstoodError(f"The source of {name} is wrong: {reason(result)}")


class ClassGrader(IsolatedAutograde):
    """Grades some students' notebooks of a set, tells of each, and keeps why one was not graded.

    `marked` holds by student the answers that were graded by hand.
    """

    def __init__(self, students, marked, tell, **kwargs):
        super().__init__(**kwargs)
        self.students, self.marked, self.tell, self.troubles = set(students), marked, tell, {}

    def init_notebooks(self):
        super().init_notebooks()
        wanted = [path for path in self.assignments if Path(path).parent.name in self.students]
        self.assignments = {path: self.assignments[path] for path in wanted}

    def convert_single_notebook(self, notebook_filename):
        student = Path(notebook_filename).parts[-3]
        self.tell(student)
        try:
            super().convert_single_notebook(notebook_filename)
        except Exception as error:
            self.troubles[student] = f"{type(error).__name__}: {error}"
            raise
        if student in self.marked:  # at once: grading that is interrupted goes on from here
            root, name = Path(self.coursedir.root), self.coursedir.assignment_id
            keep_marks(root, name, student, self.marked[student])


def autograde(api, name, students, tell):
    """Grade what students handed in. Return by student, in words, why it was not graded.

    A grade given by hand stays. It is to be looked at again if the answer is another one now, or if
    it is more than the answer can have now.

    Parameters
    ----------
    api : NbGraderAPI
    name : str
        Of the set.
    students : list of str
    tell : callable
        Called with each student's id when their turn comes.
    """
    root = Path(api.coursedir.root)
    marked = {}
    for student, cells in marked_by_hand(root, name).items():
        answers = answers_of(root, name, student)
        marked[student] = {cell: answers.get(cell) for cell in cells}
    api.coursedir.assignment_id = name
    grader = ClassGrader(students, marked, tell, coursedir=api.coursedir, parent=api, force=True)
    with suppress(NbGraderException):  # the log has what it sums up
        grader.start()
    troubles = {}
    for student in students:
        told = unreadable(root / "submitted" / student / name / f"{name}.ipynb")
        if not graded(root, name, student).is_file():
            enter(root, name, student)
            told = told or grader.troubles.get(student, "not graded: the reason is in the log")
        if told:
            troubles[student] = one_line(told.split("\n")[0])
    return troubles


def graded(course, name, student):
    """Return the path of a student's graded notebook."""
    return Path(course) / "autograded" / student / name / f"{name}.ipynb"


def answers_of(course, name, student):
    """Return the texts of the answers that are graded by hand, by the names of their cells."""
    path = graded(course, name, student)
    if not path.is_file():
        return {}
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if utils.is_grade(cell) and utils.is_solution(cell)
    }


def marked_by_hand(course, name):
    """Return by student the cells whose grade by hand is not to be looked at again."""
    cells = {}
    with open_gradebook(course) as book:
        rows = book.db.query(SubmittedAssignment.student_id, Grade).join(Assignment)
        rows = rows.join(SubmittedNotebook).join(Grade).filter(Assignment.name == name)
        for student, grade in rows.filter(Grade.manual_score.is_not(None)):
            if not grade.needs_manual_grade:
                cells.setdefault(student, []).append(grade.name)
    return cells


def keep_marks(course, name, student, before):
    """Take off the list of what is to be graded by hand what was, and is the same as then."""
    after = answers_of(course, name, student)
    with open_gradebook(course) as book:
        for grade in book.find_submission_notebook(name, name, student).grades:
            same = grade.name in after and before.get(grade.name) == after[grade.name]
            if grade.manual_score is not None and same:
                grade.needs_manual_grade = grade.manual_score > grade.max_score
        book.db.commit()


def enter(course, name, student):
    """Make sure that the gradebook has a student's submission, though it could not be graded."""
    with open_gradebook(course) as book:
        book.update_or_create_student(student)
        book.update_or_create_submission(name, student)


def write_roster(course, roster):
    """Enter the students of a roster into the gradebook."""
    with open_gradebook(course) as book:
        for student, fields in roster.items():
            book.update_or_create_student(student, **fields)


def proofs(course, name, students=()):
    """Return what is graded by hand: a dict for each answer, as a line of the sheet to fill in."""
    lines = []
    with open_gradebook(course) as book:
        for submission in sorted(book.assignment_submissions(name), key=lambda s: s.student.id):
            student = submission.student.id
            answers = answers_of(course, name, student)
            for grade in book.find_submission_notebook(name, name, student).grades:
                if grade.name in answers:
                    comment = None
                    with suppress(MissingEntry):
                        comment = book.find_comment(grade.name, name, name, student).manual_comment
                    lines.append(
                        {
                            "student": student,
                            "cell": grade.name,
                            "points": "" if grade.needs_manual_grade else f"{grade.score:g}",
                            "of": f"{grade.max_score:g}",
                            "comment": comment or "",
                            "answer": answers[grade.name],
                        }
                    )
    return lines


def write_sheet(course, name, path, lines):
    """Write the sheet of what `proofs` returns.

    Raises
    ------
    NotUnderstoodError
        If a sheet is there with points or comments that were not entered.
    """
    if path.is_file():
        with open_gradebook(course) as book:
            for place, line in read_table(path, ["student", "cell", "points", "comment"]):
                if not is_entered(book, name, line):
                    raise NotUnderstoodError(
                        f"{path}, line {place}, has points or a comment that are not entered: "
                        "enter them with marks, or name another sheet with --to."
                    )
    write_table(path, [list(lines[0]), *(list(line.values()) for line in lines)])


def student_of(book, text):
    """Return the student whom a sheet names; spreadsheets take the first zeros off a number."""
    ids = {student.id for student in book.students}
    alike = [one for one in ids if one.lstrip("0") == text]
    return alike[0] if text not in ids and len(alike) == 1 else text


def is_entered(book, name, line):
    """Tell whether the gradebook holds the points and the comment of a sheet's line."""
    points, comment = line["points"].strip(), line["comment"].split()
    cell, student = line["cell"], student_of(book, line["student"])
    try:
        grade = book.find_grade(cell, name, name, student)
        told = book.find_comment(cell, name, name, student).manual_comment
    except MissingEntry:
        return not (points or comment)
    given = grade.auto_score if grade.manual_score is None else grade.manual_score
    same = not comment or comment == (told or "").split()
    return same and (not points or number_of_points(points) == given)


def number_of_points(text):
    """Return a number of points, NaN if it is none; a comma may stand for the point."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan


def mark(course, name, sheet):
    """Enter the points and comments of a filled-in sheet; lines without both stay as they are.

    Return how many lines have points, and how many there are.

    Raises
    ------
    NotUnderstoodError
        If it is no such sheet, a line names no answer of a student or has no possible number of
        points, or two lines of one answer differ.
    """
    lines, seen, entered = read_table(sheet, ["student", "cell", "points"]), {}, 0
    with open_gradebook(course) as book:
        for place, line in lines:
            student, cell, points = (line[key].strip() for key in ("student", "cell", "points"))
            comment = line.get("comment", "").strip()
            if not points and not comment:
                continue
            student = student_of(book, student)
            if seen.setdefault((student, cell), (points, comment)) != (points, comment):
                raise NotUnderstoodError(
                    f"{sheet}, line {place}: {student!r} has other points or another comment for "
                    f"{cell!r} further up."
                )
            try:
                grade = book.find_grade(cell, name, name, student)
                told = book.find_comment(cell, name, name, student)
            except MissingEntry:
                raise NotUnderstoodError(
                    f"{sheet}, line {place}: {student!r} has no answer {cell!r} in {name}."
                ) from None
            value = number_of_points(points)
            if points and not 0 <= value <= grade.max_score:
                raise NotUnderstoodError(
                    f"{sheet}, line {place}: {points!r} is no number from 0 to {grade.max_score:g}."
                )
            if points and (grade.needs_manual_grade or value != grade.score):
                grade.manual_score, grade.needs_manual_grade = value, False
            if "comment" in line:
                told.manual_comment = comment or None
            entered += bool(points)
        book.db.commit()
    return entered, len(lines)
