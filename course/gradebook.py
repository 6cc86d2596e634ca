"""Read nbgrader's gradebook: who has which points, what is left to grade, and exports of it."""

from dataclasses import dataclass

from nbgrader.api import Gradebook, MissingEntry

from course.grader.report import COURSE_ID

NOTHING = "nothing handed in"
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("ID number", "First name", "Last name", "Email address")


def open_gradebook(course):
    """Return the course's gradebook, a context manager."""
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}", COURSE_ID)


@dataclass(frozen=True)
class Row:
    """What one student has in one problem set.

    Attributes
    ----------
    student : dict
        `id`, `first_name`, `last_name`, `email`, `lms_user_id`.
    score, most : float
    status : str
        "graded", "to grade by hand", or `NOTHING`.
    """

    student: dict
    name: str
    score: float
    most: float
    status: str


def rows_of(course, names=()):
    """Return a `Row` for each student and each problem set that somebody handed in.

    Parameters
    ----------
    course : Path
    names : sequence of str
        Of the problem sets; all by default.
    """
    rows = []
    with open_gradebook(course) as book:
        for assignment in sorted(book.assignments, key=lambda a: a.name):
            if not assignment.submissions or (names and assignment.name not in names):
                continue
            for student in sorted(book.students, key=lambda s: s.id):
                score, status = 0.0, NOTHING
                try:
                    found = book.find_submission(assignment.name, student.id)
                except MissingEntry:
                    pass
                else:
                    score = max(0.0, found.score - found.late_submission_penalty)
                    status = "to grade by hand" if found.needs_manual_grade else "graded"
                keys = ("id", "first_name", "last_name", "email", "lms_user_id")
                person = {key: getattr(student, key) or "" for key in keys}
                rows.append(Row(person, assignment.name, score, assignment.max_score, status))
    return rows


def title_of(name, unsafe):
    """Return the heading of a problem set's column; grades made without a sandbox say so."""
    return f"{name} (graded without a sandbox)" if unsafe else name


def table_csv(rows, unsafe):
    """Return a line a student and problem set: for a spreadsheet, or for further programs."""
    head = ["student", "last_name", "first_name", "email", "set", "points", "of", "status"]
    lines = [head + ["warning"] * bool(unsafe)]
    for row in rows:
        who = row.student
        line = [who["id"], who["last_name"], who["first_name"], who["email"]]
        line += [row.name, number(row.score), number(row.most), row.status]
        lines.append(line + ["graded without a sandbox"] * bool(unsafe))
    return lines


def canvas_csv(rows, unsafe):
    """Return what Canvas imports (*Grades*, *Import*): the possible points, then the students.

    Canvas finds a student by `ID` (its own number) or `SIS User ID`, and a column by its name: a
    name that it does not know becomes a new assignment.
    """
    names = sorted({row.name for row in rows})
    most = {row.name: row.most for row in rows}
    points = {(row.student["id"], row.name): row.score for row in rows}
    lines = [[*CANVAS, *(title_of(name, unsafe) for name in names)]]
    lines.append(["    Points Possible", "", "", "", "", *(number(most[name]) for name in names)])
    for who in people_of(rows):
        full = ", ".join(filter(None, (who["last_name"], who["first_name"]))) or who["id"]
        line = [full, who["lms_user_id"], who["id"], who["id"], ""]
        lines.append(line + [number(points[who["id"], name]) for name in names])
    return lines


def moodle_csv(rows, unsafe):
    """Return what Moodle imports (*Import*, *CSV file*): a line a student, a column a set.

    In the import, *Map from* `ID number` *to* `useridnumber`, or `Email address` to `useremail`,
    and each set to its grade item or to *New grade item*.
    """
    names = sorted({row.name for row in rows})
    points = {(row.student["id"], row.name): row.score for row in rows}
    lines = [[*MOODLE, *(title_of(name, unsafe) for name in names)]]
    for who in people_of(rows):
        line = [who["id"], who["first_name"], who["last_name"], who["email"]]
        lines.append(line + [number(points[who["id"], name]) for name in names])
    return lines


FORMATS = {"csv": table_csv, "canvas": canvas_csv, "moodle": moodle_csv}


def people_of(rows):
    return list({row.student["id"]: row.student for row in rows}.values())


def number(value):
    """Return a number of points without needless zeros."""
    return f"{value:g}"
