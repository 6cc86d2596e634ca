"""Problem set 6: what students get, what right and wrong answers score, what feedback says."""

import contextlib
import csv
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import pytest

COURSE = Path(__file__).resolve().parents[2] / "course"
SOURCE = COURSE / "source" / "ps06" / "ps06.ipynb"
STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()"
POINTS = {"p1": 6, "p2": 8, "p3": 6}

SUBGRADIENT, PROJECTION = "ps06-p1-answer", "ps06-p2-projection-answer"
STEP, RUN = "ps06-p2-step-answer", "ps06-p3-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    SUBGRADIENT: """
        g = [lam * w_j for w_j in w]
        for i in batch:
            margin = sum(y[i] * X[i, j] * w[j] for j in range(len(w)))
            if margin < 1:
                for j in range(len(w)):
                    g[j] -= y[i] * X[i, j] / len(batch)
        return np.array(g)
    """,
    PROJECTION: """
        norm = np.linalg.norm(w)
        if norm == 0:
            return np.zeros(len(w))
        return min(1.0, 1.0 / (np.sqrt(lam) * norm)) * w
    """,
    STEP: """
        kept = (1 - 1 / t) * w
        total = np.zeros(len(w))
        for i in batch:
            if y[i] * np.dot(w, X[i]) < 1:
                total = total + y[i] * X[i]
        moved = kept + total / (lam * t * len(batch))
        norm = np.linalg.norm(moved)
        if project and norm**2 > 1 / lam:
            moved = moved / (np.sqrt(lam) * norm)
        return moved
    """,
    RUN: """
        T = draws.shape[0]
        w = np.zeros(X.shape[1])
        iterates = []
        for t in range(1, T + 1):
            iterates.append(w.copy())
            A = draws[t - 1]
            hit = A[y[A] * X[A].dot(w) < 1]
            w = (1 - 1 / t) * w
            for i in hit:
                w = w + y[i] * X[i] / (lam * t * len(A))
            norm = np.linalg.norm(w)
            if project and norm > 0:
                w = w * min(1, 1 / np.sqrt(lam) / norm)
        return w, sum(iterates) / T
    """,
}
LOOPED = {cell: textwrap.dedent(body).strip("\n") for cell, body in LOOPED.items()}

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = LOOPED | {
    PROJECTION: """\
import warnings
warnings.warn("slow")
print("norm", np.linalg.norm(w))
outside = np.linalg.norm(w) * np.sqrt(lam) > 1
return np.where(outside, w / np.linalg.norm(w) / np.sqrt(lam), w)""",
}


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer: edits of a right one, and the test cells that it fails."""

    cell: str
    fails: str
    edits: dict[str, str]
    base: str = "looped"  # or "course", whose functions call each other


ALL_OF_1 = "p1-formula p1-margin p1-batch"
ALL_OF_2B = "p2-first p2-size p2-order p2-ball"
ALL_OF_3 = "p3-last p3-average p3-batches"
MISTAKES = {
    "1-wrong-sign": Mistake(SUBGRADIENT, ALL_OF_1, {"g[j] -=": "g[j] +="}),
    "1-wrong-sign-carried": Mistake(SUBGRADIENT, ALL_OF_1, {"w - vio": "w + vio"}, "course"),
    "1-no-division-by-k": Mistake(SUBGRADIENT, ALL_OF_1, {" / len(batch)": ""}),
    "1-division-by-n": Mistake(SUBGRADIENT, ALL_OF_1, {"len(batch)": "len(y)"}),
    "1-division-by-violators": Mistake(
        SUBGRADIENT, ALL_OF_1, {"len(batch)": "sum(y[batch] * (X[batch] @ w) < 1)"}
    ),
    "1-no-regulariser": Mistake(SUBGRADIENT, ALL_OF_1, {"lam * w_j": "0.0"}),
    "1-C-for-lam": Mistake(SUBGRADIENT, ALL_OF_1, {"lam * w_j": "w_j / (lam * len(y))"}),
    "1-kink-counts": Mistake(SUBGRADIENT, "p1-margin", {"margin < 1": "margin <= 1"}),
    "1-perceptron": Mistake(SUBGRADIENT, ALL_OF_1, {"margin < 1": "margin < 0"}),
    "1-batch-as-a-set": Mistake(SUBGRADIENT, "p1-batch", {"in batch": "in set(batch.tolist())"}),
    "1-changes-w": Mistake(SUBGRADIENT, "p1-batch", {"return": "w *= lam\nreturn"}),
    "1-returns-nothing": Mistake(SUBGRADIENT, ALL_OF_1, {"return": "answer ="}),
    "1-plane-only": Mistake(SUBGRADIENT, "p1-formula p1-batch", {"range(len(w))": "(0, 1)"}),
    "2-radius-1-over-lam": Mistake(PROJECTION, "p2-radius", {"np.sqrt(lam)": "lam"}),
    "2-radius-carried": Mistake(PROJECTION, "p2-radius", {"np.sqrt(lam)": "lam"}, "course"),
    "2-sphere-for-ball": Mistake(PROJECTION, "p2-radius", {"min(1.0, 1.0": "(1.0"}),
    "2-projection-of-0": Mistake(
        PROJECTION,
        "p2-zero",
        {
            "min(1.0, 1.0 / (np.sqrt(lam) * norm)) * w": "min(norm, 1.0 / np.sqrt(lam)) * w / norm",
            "norm == 0": "False",
        },
    ),
    "2-t-minus-1": Mistake(STEP, ALL_OF_2B, {"kept =": "t = t - 1\nkept ="}),
    "2-t-plus-1": Mistake(STEP, ALL_OF_2B, {"kept =": "t = t + 1\nkept ="}),
    "2-step-CM-over-t": Mistake(  # E002-15: CM/t is right for g_t and wrong for g_t/lam
        STEP, ALL_OF_2B, {"1 / (lam * t)": "1 / (lam**2 * t)"}, "course"
    ),
    "2-C-for-lam": Mistake(STEP, "p2-first p2-size p2-ball", {"(lam * t": "(t / (lam * len(y))"}),
    "2-shrinks-by-lam-over-t": Mistake(STEP, ALL_OF_2B, {"1 - 1 / t": "1 - lam / t"}),
    "2-margin-after-shrink": Mistake(STEP, "p2-order", {"np.dot(w,": "np.dot(kept,"}),
    "2-no-division-by-k": Mistake(STEP, "p2-first p2-size p2-ball", {"t * len(batch)": "t"}),
    "2-never-projects": Mistake(STEP, "p2-ball", {"project and": "False and"}),
    "2-always-projects": Mistake(STEP, "p2-first p2-size p2-ball", {"if project and": "if"}),
    "2-radius-in-the-step": Mistake(STEP, "p2-ball", {"np.sqrt(lam)": "lam", "1 / lam": "lam**-2"}),
    "2-changes-w": Mistake(STEP, "p2-order", {"moved = kept": "moved = w\nw[:] = kept"}),
    "3-average-with-the-last": Mistake(
        RUN, "p3-average p3-batches", {"sum(iterates) / T": "(sum(iterates) + w) / (T + 1)"}
    ),
    "3-average-without-the-first": Mistake(
        RUN, "p3-average p3-batches", {"sum(iterates) / T": "(sum(iterates) + w) / T"}
    ),
    "3-average-of-changed-arrays": Mistake(
        RUN, "p3-average p3-batches", {"w.copy()": "w", "w = (1 - 1 / t) * w": "w *= 1 - 1 / t"}
    ),
    "3-last-is-w_T": Mistake(RUN, "p3-last p3-batches", {"return w,": "return iterates[-1],"}),
    "3-counts-t-from-2": Mistake(RUN, ALL_OF_3, {"w = (1": "t = t + 1\n    w = (1"}),
    "3-starts-at-1": Mistake(RUN, ALL_OF_3, {"np.zeros(X": "np.ones(X"}),
    "3-margin-of-the-next-w": Mistake(
        RUN,
        ALL_OF_3,
        {
            "    hit =": "    w = (1 - 1 / t) * w\n    hit =",
            "< 1]\n    w = (1 - 1 / t) * w": "< 1]",
        },
    ),
    "3-no-division-by-k": Mistake(RUN, "p3-batches", {" * len(A))": ")"}),
    "3-first-of-the-batch": Mistake(RUN, "p3-batches", {"draws[t - 1]": "draws[t - 1][:1]"}),
    "3-draws-by-itself": Mistake(
        RUN, ALL_OF_3, {"draws[t - 1]": "np.random.default_rng(t).integers(len(y), size=1)"}
    ),
    "3-draws-off-by-one": Mistake(RUN, ALL_OF_3, {"draws[t - 1]": "draws[t % T]"}),
    "3-projects-at-the-end": Mistake(
        RUN,
        ALL_OF_3,
        {
            "    norm =": "norm =",
            "    if project and norm > 0:\n        w": "if project and norm > 0:\n    w",
        },
    ),
    "3-C-for-lam": Mistake(RUN, ALL_OF_3, {"T =": "lam = 1 / (lam * len(y))\nT ="}),
    "3-returns-one-array": Mistake(RUN, ALL_OF_3, {"return w, ": "return w  # "}),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["1-plane-only", "2-margin-after-shrink", "3-average-with-the-last"]


def read(path):
    return nbformat.read(path, as_version=4)


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


def course_answers():
    source = read(SOURCE)
    return {
        cell.id: textwrap.dedent("\n".join(region(cell, "SOLUTION")))
        for cell in source.cells
        if cell.id in LOOPED
    }


def answers_with(mistake):
    answers = dict(LOOPED if mistake.base == "looped" else course_answers())
    for old, new in mistake.edits.items():
        assert old in answers[mistake.cell], f"{old!r} is not in the answer that it edits"
        answers[mistake.cell] = answers[mistake.cell].replace(old, new)
    return answers


@cache
def failures_of(name):
    return graded_here(answers_with(MISTAKES[name]))


def fill(notebook, answers):
    """Put the answers where the stubs are, as a student would."""
    for cell in notebook.cells:
        if cell.id in answers:
            body = textwrap.indent(answers[cell.id], "    ")
            assert STUB in cell.source
            cell.source = cell.source.replace(STUB, body)
    return notebook


def is_test(cell):
    return cell.metadata.get("nbgrader", {}).get("grade", False)


def graded_here(answers):
    """Run the source's cells with other answers in this process; name the failed test cells."""
    notebook, names, failed = read(SOURCE), {}, {}
    for cell in notebook.cells:
        source = cell.source
        if cell.cell_type != "code" or cell.id == "ps06-end-run":
            continue
        if cell.id in answers:
            head = source[: source.index("    ### BEGIN SOLUTION")]
            source = head + textwrap.indent(answers[cell.id], "    ")
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(source, cell.id, "exec"), names)
        except Exception as error:
            failed[cell.id] = f"{type(error).__name__}: {error}"
    return failed


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
    right = {"right-by-the-course": course_answers(), "right-noisy": NOISY}
    if student in MISTAKES:
        return answers_with(MISTAKES[student])
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


def secret_lines(*names):
    """Return the lines between such marks that occur nowhere in the part that students see."""
    cells = read(SOURCE).cells
    regions = {c.id: region(c, "SOLUTION") + region(c, "HIDDEN TESTS") for c in cells}
    shown = "\n".join(
        line for c in cells for line in c.source.splitlines() if line not in regions[c.id]
    )
    lines = {line.strip() for c in cells for name in names for line in region(c, name)}
    return sorted(line for line in lines if re.search(r"\w", line) and line not in shown)


def seen_text(html_page):
    """Return the text of an HTML page as it is read, with single spaces."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", html_page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


# The source


def test_source_is_a_clean_nbgrader_notebook():
    notebook = read(SOURCE)
    nbformat.validate(notebook)
    metadata = {cell.id: cell.metadata.get("nbgrader") for cell in notebook.cells}
    assert len(metadata) == len(notebook.cells), "two cells have the same id"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        if metadata[cell.id]:
            assert metadata[cell.id].schema_version == 3
            assert metadata[cell.id].grade_id == cell.id
    points = {}
    for cell in filter(is_test, notebook.cells):
        problem = cell.id.split("-")[1]
        points[problem] = points.get(problem, 0) + cell.metadata.nbgrader.points
        assert f"({cell.metadata.nbgrader.points} point" in cell.source, cell.id
    assert points == POINTS
    stated = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert f"{sum(POINTS.values())} points" in stated
    for problem, most in POINTS.items():
        assert re.search(rf"## Problem {problem[1]}: .*, {most} points\)", stated)


@pytest.mark.parametrize(
    "answers", [course_answers(), LOOPED, NOISY], ids=["course", "looped", "noisy"]
)
def test_right_answers_pass_every_test(answers):
    assert graded_here(answers) == {}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_fails_its_tests_and_no_other(name):
    mistake = MISTAKES[name]
    failed = failures_of(name)
    assert " ".join(test.removeprefix("ps06-") for test in failed) == mistake.fails, failed
    assert {test.split("-")[1] for test in failed} == {f"p{name[0]}"}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_words(name):
    failed = failures_of(name)
    told = [message for message in failed.values() if message.startswith("Hint: ")]
    assert told, failed
    assert all(len(message.split()) > 8 for message in told), told


# The release


def test_release_is_byte_identical(released):
    _, (first, second) = released
    assert first == second


def test_release_holds_no_solution_and_no_hidden_test(released):
    _, (release, _) = released
    text = "\n".join(strings_in(json.loads(release)))
    solutions, hidden = secret_lines("SOLUTION"), secret_lines("HIDDEN TESTS")
    assert len(solutions) > 10
    assert len(hidden) > 100
    assert [line for line in solutions + hidden if line in text] == []
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN"):
        assert mark not in text
    notebook = nbformat.reads(release.decode(), as_version=4)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in read(SOURCE).cells]
    assert sum(cell.source.count(STUB) for cell in notebook.cells) == len(LOOPED)


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
    hidden = [line for line in secret_lines("HIDDEN TESTS") if line not in own]
    assert len(hidden) > 100
    assert [line for line in hidden if " ".join(line.split()) in seen] == []
    assert "HIDDEN" not in seen
    got = sum(score for score, _ in expected_scores(student).values())
    assert f"(Score: {got:.1f} / 20.0)" in seen
    if student in MISTAKES:
        for message in failures_of(student).values():
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
    assert [line for line in secret_lines("HIDDEN TESTS") if line in text]


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
