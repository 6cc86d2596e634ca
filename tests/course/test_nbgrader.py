"""A problem set through nbgrader's own commands: release, grades, feedback, export."""

import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from .sets import (
    COURSE,
    STUB,
    answers_module,
    answers_with,
    course_answers,
    failures_of,
    fill,
    is_test,
    read,
    right_answers,
    secret_lines,
    source_of,
)

SOURCE = source_of("ps06")
MISTAKES, SUBMITTED = answers_module("ps06").MISTAKES, answers_module("ps06").SUBMITTED
LOOPED = course_answers("ps06")
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
    }
    command = [sys.executable, "-m", "nbgrader", *arguments, f"--CourseDirectory.root={course}"]
    done = subprocess.run(
        command, cwd=away, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Return a copy of the course, released twice, and the two released files' bytes."""
    course = tmp_path_factory.mktemp("ps06") / "course"
    course.mkdir()
    shutil.copytree(COURSE / "source", course / "source")
    for name in ("nbgrader_config.py", ".gitignore"):
        shutil.copy(COURSE / name, course / name)
    files = []
    for _ in range(2):
        stock(course, "generate_assignment", "ps06", "--force")
        (notebook,) = (course / "release" / "ps06").iterdir()
        files.append(notebook.read_bytes())
    return course, files


def answers_of(student):
    right = {"right-by-the-course": course_answers("ps06"), "right-noisy": NOISY}
    if student in MISTAKES:
        return answers_with("ps06", student)
    return right.get(student, {})


@pytest.fixture(scope="module")
def graded(released):
    """Return the course after all submissions were collected, graded and answered."""
    course, (release, _) = released
    archive = course / "downloaded" / "ps06" / "archive"
    archive.mkdir(parents=True)
    for student in students():
        notebook = fill(nbformat.reads(release.decode(), as_version=4), answers_of(student))
        nbformat.write(notebook, archive / f"{student}_ps06.ipynb")
    stock(course, "zip_collect", "ps06")
    stock(course, "autograde", "ps06")
    stock(course, "generate_feedback", "ps06")
    stock(course, "export", f"--to={course / 'grades.csv'}")
    return course


def cell_scores(course, student):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        grades = book.find_submission_notebook("ps06", "ps06", student).grades
        return {grade.name: (grade.score, grade.max_score) for grade in grades}


def students():
    return ["right-by-the-course", "right-noisy", *SUBMITTED, "unchanged"]


def expected_scores(student):
    """Return the points of each test cell that a student should get."""
    points = {c.id: c.metadata.nbgrader.points for c in read(SOURCE).cells if is_test(c)}
    failed = []
    if student == "unchanged":
        failed = list(points)
    elif student in MISTAKES:
        failed = [f"ps06-{test}" for test in MISTAKES[student].fails.split()]
    return {test: (0 if test in failed else most, most) for test, most in points.items()}


def strings_in(value):
    """Yield all strings of a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_in(inner)


def seen_text(html_page):
    """Return the text of an HTML page as it is read, with single spaces."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", html_page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


# The release


def test_release_is_byte_identical(released):
    _, (first, second) = released
    assert first == second


def test_release_holds_no_solution_and_no_hidden_test(released):
    _, (release, _) = released
    text = "\n".join(strings_in(json.loads(release)))
    solutions, hidden = secret_lines("ps06", "SOLUTION"), secret_lines("ps06", "HIDDEN TESTS")
    assert len(solutions) > 10
    assert len(hidden) > 100
    assert [line for line in solutions + hidden if line in text] == []
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN"):
        assert mark not in text
    notebook = nbformat.reads(release.decode(), as_version=4)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in read(SOURCE).cells]
    assert sum(cell.source.count(STUB.splitlines()[0]) for cell in notebook.cells) == len(LOOPED)


def test_release_still_tells_each_test_cell_in_words(released):
    _, (release, _) = released
    for cell in filter(is_test, nbformat.reads(release.decode(), as_version=4).cells):
        assert cell.source.startswith("# Test "), cell.id
        assert "check(" in cell.source


def test_source_validates_and_release_does_not(released):
    course, _ = released
    source, release = (course / step / "ps06" / "ps06.ipynb" for step in ("source", "release"))
    assert "Success! Your notebook passes all the tests." in stock(course, "validate", str(source))
    assert f"VALIDATION FAILED ON {len(expected_scores('unchanged'))} CELL" in stock(
        course, "validate", str(release)
    )


# Grading, feedback, export


@pytest.mark.parametrize("student", students())
def test_nbgrader_gives_the_points_of_what_is_right(graded, student):
    scores = cell_scores(graded, student)
    assert scores == expected_scores(student)
    lost = {test.split("-")[1] for test, (got, most) in scores.items() if got < most}
    if student in MISTAKES:
        assert lost == {f"p{student[0]}"}


@pytest.mark.parametrize("student", students())
def test_feedback_says_what_is_wrong_and_shows_no_hidden_test(graded, student):
    page = graded / "feedback" / student / "ps06" / "ps06.html"
    seen = seen_text(page.read_text(encoding="utf-8"))
    own = "\n".join(answers_of(student).values())
    hidden = [line for line in secret_lines("ps06", "HIDDEN TESTS") if line not in own]
    assert len(hidden) > 100
    assert [line for line in hidden if " ".join(line.split()) in seen] == []
    assert "HIDDEN" not in seen
    got = sum(score for score, _ in expected_scores(student).values())
    assert f"(Score: {got:.1f} / 20.0)" in seen
    if student in MISTAKES:
        for message in failures_of("ps06", student).values():
            assert " ".join(message.split()) in seen


def test_tracebacks_before_feedback_do_quote_hidden_tests(graded):
    """Without this, the search of the feedback for hidden tests might look for nothing."""
    notebook = read(graded / "autograded" / "1-plane-only" / "ps06" / "ps06.ipynb")
    text = "\n".join(
        line
        for cell in filter(is_test, notebook.cells)
        for output in cell.outputs
        if output.output_type == "error"
        for line in output.traceback
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert [line for line in secret_lines("ps06", "HIDDEN TESTS") if line in text]


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
        right = sum(score for score, _ in expected_scores(row["student_id"]).values())
        assert (float(row["score"]), float(row["max_score"])) == (right, 20.0), row["student_id"]


def test_nbgrader_writes_only_what_git_ignores(graded):
    ignored = {line.strip("/") for line in (graded / ".gitignore").read_text().split("\n")}
    made = {path.name for path in graded.iterdir()} - {path.name for path in COURSE.iterdir()}
    assert {"gradebook.db", "release", "submitted", "autograded", "feedback"} <= made
    assert made <= ignored
    assert (graded / "nbgrader.log").read_text(encoding="utf-8")
    assert list((graded.parent / "elsewhere").iterdir()) == []
