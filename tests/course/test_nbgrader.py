"""A problem set through nbgrader's own commands: release, grades, feedback, export."""

import csv
import html
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch

import nbformat
import pytest

from course.release import student_version

from .sets import (
    COURSE,
    answers_module,
    answers_with,
    course_answers,
    failures_of,
    fill,
    is_manual,
    is_test,
    read,
    right_answers,
    secret_lines,
    source_of,
)

SOURCE = source_of("ps06")
MISTAKES, SUBMITTED = answers_module("ps06").MISTAKES, answers_module("ps06").SUBMITTED
NOISY = right_answers("ps06")["noisy"]


def stock(course, *arguments):
    """Run one of nbgrader's own commands, from outside the course and with no user's settings."""
    home = course.parent / "home"
    away = course.parent / "elsewhere"
    away.mkdir(exist_ok=True)
    foreign = ("JUPYTER", "IPYTHON", "XDG_", "PYTEST_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    env |= {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(COURSE.parent),
    }
    command = [sys.executable, "-m", "nbgrader", *arguments, f"--CourseDirectory.root={course}"]
    done = subprocess.run(
        command, cwd=away, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a copy of the course after the four commands, each run once over all submissions."""
    course = tmp_path_factory.mktemp("ps06") / "course"
    shutil.copytree(SOURCE.parent, course / "source" / "ps06")
    for name in ("nbgrader_config.py", ".gitignore"):
        shutil.copy(COURSE / name, course / name)
    stock(course, "generate_assignment", "ps06")
    for student in students():
        notebook = fill(read(course / "release" / "ps06" / "ps06.ipynb"), answers_of(student))
        handed_in = course / "submitted" / student / "ps06" / "ps06.ipynb"
        handed_in.parent.mkdir(parents=True)
        nbformat.write(notebook, handed_in)
    stock(course, "autograde", "ps06")
    stock(course, "generate_feedback", "ps06")
    stock(course, "export", f"--to={course / 'grades.csv'}")
    return course


def answers_of(student):
    right = {"right-by-the-course": course_answers("ps06"), "right-noisy": NOISY}
    if student in MISTAKES:
        return answers_with("ps06", student)
    return right.get(student, {})


def cell_scores(course, student):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        grades = book.find_submission_notebook("ps06", "ps06", student).grades
        return {grade.name: (grade.score, grade.max_score) for grade in grades}


def students():
    return ["right-by-the-course", "right-noisy", *SUBMITTED, "unchanged"]


def expected_scores(student):
    """Return the points of each graded cell that a student should get: none wrote a proof."""
    graded = [cell for cell in read(SOURCE).cells if is_test(cell) or is_manual(cell)]
    failed = [cell.id for cell in graded if is_manual(cell) or student == "unchanged"]
    if student in MISTAKES:
        failed += [f"ps06-{test}" for test in MISTAKES[student].fails.split()]
    points = {cell.id: cell.metadata.nbgrader.points for cell in graded}
    return {cell: (0 if cell in failed else most, most) for cell, most in points.items()}


def total(student):
    """Return the points that a student should get, and those of the set."""
    return tuple(map(sum, zip(*expected_scores(student).values(), strict=True)))


def seen_text(html_page):
    """Return the text of an HTML page as it is read, with single spaces."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", html_page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_the_command_and_the_book_release_the_same_bytes(graded):
    released = graded / "release" / "ps06" / "ps06.ipynb"
    assert released.read_text(encoding="utf-8") == student_version(SOURCE)


@pytest.mark.parametrize("student", students())
def test_nbgrader_gives_the_points_of_what_is_right(graded, student):
    scores = cell_scores(graded, student)
    assert scores == expected_scores(student)


@pytest.mark.parametrize("student", students())
def test_feedback_says_what_is_wrong_and_shows_no_hidden_test(graded, student):
    page = graded / "feedback" / student / "ps06" / "ps06.html"
    seen = seen_text(page.read_text(encoding="utf-8"))
    own = "\n".join(answers_of(student).values())
    hidden = [line for line in secret_lines("ps06", "HIDDEN TESTS") if line not in own]
    assert len(hidden) > 100
    assert [line for line in hidden if " ".join(line.split()) in seen] == []
    assert "HIDDEN" not in seen
    got, most = total(student)
    assert f"(Score: {got:.1f} / {most:.1f})" in seen
    if student in MISTAKES:
        for message in failures_of("ps06", student).values():
            assert " ".join(message.split()) in seen


def test_right_answers_leave_no_error_in_any_cell(graded):
    for student in students()[:2]:
        for cell in read(graded / "autograded" / student / "ps06" / "ps06.ipynb").cells:
            errors = [out for out in cell.get("outputs", []) if out.output_type == "error"]
            assert errors == [], f"{student}, {cell.id}"


def test_export_holds_every_student_once_with_the_right_score(graded):
    with (graded / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["student_id"] for row in rows) == sorted(students())
    for row in rows:
        student = row["student_id"]
        assert (float(row["score"]), float(row["max_score"])) == total(student), student


def test_nbgrader_writes_only_what_git_ignores(graded):
    ignored = [line.strip("/") for line in (graded / ".gitignore").read_text().splitlines()]
    made = {path.name for path in graded.iterdir()} - {"source", "nbgrader_config.py", ".gitignore"}
    assert {"gradebook.db", "release", "submitted", "autograded", "feedback"} <= made
    assert [name for name in made if not any(fnmatch(name, pattern) for pattern in ignored)] == []
    assert (graded / "nbgrader.log").read_text(encoding="utf-8")
    assert list((graded.parent / "elsewhere").iterdir()) == []
