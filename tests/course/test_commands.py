"""The commands of the course, from release to export, on a set that is made here."""

import csv
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import PurePosixPath

import click
import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy.exc import OperationalError

from course.__main__ import Commands, main
from course.collect import gather, hand_in, owner, read_roster
from course.gain import gains
from course.gradebook import rows_of
from course.grading import autograde, connect, proofs
from course.tables import NotUnderstoodError

from . import tiny
from .sets import (
    ASSIGNMENTS,
    COURSE,
    STUB,
    is_answer,
    proof_lines,
    read,
    secret_lines,
    secrets,
    source_of,
)

ROOT = COURSE.parent
ROSTER = """id,first_name,last_name,email,lms_user_id
jdoe,Jane,Doe,jdoe@example.org,4711
mroe,Max,Roe,mroe@example.org,4712
late,Lee,Late,late@example.org,4713
"""


def run(course, *words, fails=False):
    """Run a command on a course's folder; return what it printed, errors too."""
    result = CliRunner().invoke(main, ["--course", str(course), *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def new_course(folder):
    """Return a course that holds the tiny set alone, with the shipped settings, and a roster."""
    course = folder / "course"
    course.mkdir()
    shutil.copy(COURSE / "nbgrader_config.py", course)
    tiny.write_source(course)
    (course / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return course


@pytest.fixture
def course(tmp_path):
    return new_course(tmp_path)


def points(course):
    return {row.student["id"]: (row.score, row.status) for row in rows_of(course)}


# Release


def test_assignments_writes_the_same_bytes_again_and_leaves_them_untouched(course):
    assert "1 problem sets" in run(course, "assignments")
    released = course / "release" / "tiny" / "tiny.ipynb"
    first, time = released.read_bytes(), released.stat().st_mtime_ns
    stale = course / "release" / "gone" / "gone.ipynb"
    stale.parent.mkdir()
    stale.write_text("{}")
    run(course, "assignments")
    assert (released.read_bytes(), released.stat().st_mtime_ns) == (first, time)
    assert not stale.parent.exists(), "a set without a source is still there"
    released.unlink()
    run(course, "assignments")
    assert released.read_bytes() == first


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_release_holds_stubs_in_place_of_answers_and_nothing_secret(name, tmp_path):
    from course.release import student_version

    source = read(source_of(name))
    released = nbformat.reads(student_version(source_of(name)), as_version=4)
    assert [cell.id for cell in released.cells] == [cell.id for cell in source.cells]
    code = "\n".join(cell.source for cell in released.cells if cell.cell_type == "code")
    assert code.count(STUB.splitlines()[0]) == sum(is_answer(cell) for cell in source.cells)
    text = "\n".join(everything_in(released))
    secret = secret_lines(name, "SOLUTION", "HIDDEN TESTS") + proof_lines(name)
    assert len(secret) > 20
    assert [line for line in secret if line in text] == []
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN", "MARK SCHEME"):
        assert mark not in text
    for cell in released.cells:
        assert cell.get("outputs", []) == []


def everything_in(value):
    """Yield all strings of a notebook, keys and metadata included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from everything_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everything_in(inner)


def test_the_package_holds_nothing_of_the_course(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("pegasos_lib", "course", "tests"):
        os.symlink(ROOT / name, tmp_path / name)
    code = "from setuptools import build_meta; build_meta.build_wheel('wheel')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        texts = [archive.read(n).decode() for n in names if n.endswith((".py", ".md", ".js"))]
    assert len(texts) > 30
    assert {name.split("/")[0].split("-")[0] for name in names} == {"pegasos_lib"}
    for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME"):
        assert not [text for text in texts if f"### {mark}" in text]


# Whose is it?


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("jdoe_ps06.ipynb", "jdoe"),
        ("some/where/jdoe_ps06.ipynb", "jdoe"),
        ("j_doe_ps06.ipynb", "j_doe"),
        ("jdoe/ps06.ipynb", "jdoe"),
        ("jdoe/ps06/ps06.ipynb", "jdoe"),
        ("jdoe_ps06/ps06.ipynb", "jdoe"),
        ("class/jdoe/ps06.ipynb", "jdoe"),
        ("jdoe/homework/ps06.ipynb", "jdoe"),  # by the roster
        ("jdoe_ps06 (1).ipynb", "jdoe"),
        ("jdoe_PS06.ipynb", "jdoe"),
        ("doejane_4711_990_ps06.ipynb", "jdoe"),  # Canvas
        ("doejane_LATE_4711_990_ps06-1.ipynb", "jdoe"),
        ("Jane Doe_1234_assignsubmission_file/ps06.ipynb", "jdoe"),  # Moodle
        ("stranger_ps06.ipynb", "stranger"),
        ("ps06.ipynb", None),
        ("jdoe_ps05.ipynb", None),
        ("jdoe/notes.txt", None),
    ],
)
def test_a_notebook_s_path_says_whose_it_is(path, student, tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    assert owner(PurePosixPath(path), "ps06", read_roster(tmp_path / "roster.csv")) == student


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_of_a_folder_each_file_is_taken_or_named_with_the_reason(tmp_path):
    (tmp_path / "a_ps06.ipynb").write_text("old")
    os.utime(tmp_path / "a_ps06.ipynb", (1_600_000_000, 1_600_000_000))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ps06.ipynb").write_text("new")
    zipped(tmp_path / "b.zip", {"ps06.ipynb": "in a zip", "__MACOSX/._ps06.ipynb": "junk"})
    zipped(tmp_path / "all.zip", {"c_ps06.ipynb": "c", "d/ps06.ipynb": "d", "e/other.ipynb": "e"})
    (tmp_path / "f.zip").write_text("no zip file")
    (tmp_path / "ps06.ipynb").write_text("whose?")
    (tmp_path / "[g]_ps06.ipynb").write_text("a name that is a pattern")
    (tmp_path / ".DS_Store").write_text("junk")
    found, remarks = gather(tmp_path, "ps06", {})
    assert {s: one.content.decode() for s, one in found.items()} == {
        "a": "new", "b": "in a zip", "c": "c", "d": "d",
    }  # fmt: skip
    told = {re.split(": left out", remark)[0]: remark for remark in remarks}
    assert set(told) == {
        "a_ps06.ipynb", "all.zip: e/other.ipynb", "f.zip", "ps06.ipynb", "[g]_ps06.ipynb",
    }  # fmt: skip
    assert "a/ps06.ipynb of a is newer" in told["a_ps06.ipynb"]
    assert "none" in told["f.zip"]
    assert "STUDENT_ps06.ipynb" in told["ps06.ipynb"]


# Grading


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course whose tiny set was handed in by three students of its roster and one stranger."""
    course = new_course(tmp_path_factory.mktemp("graded"))
    run(course, "assignments")
    released, folder = course / "release" / "tiny" / "tiny.ipynb", course.parent / "came back"
    (folder / "Jane Doe_1234_assignsubmission_file").mkdir(parents=True)
    right = tiny.answered(released, "return 2 * x", "Even, as the half is a whole number.")
    (folder / "Jane Doe_1234_assignsubmission_file" / "tiny.ipynb").write_bytes(right)
    zipped(folder / "mroe_tiny.zip", {"tiny.ipynb": tiny.answered(released, "return -2 * x")})
    (folder / "stranger_tiny.ipynb").write_bytes(tiny.answered(released, "return 6"))
    (folder / "broken_tiny.ipynb").write_text('{"cells": [')
    (folder / "essay.docx").write_text("mine")
    return course, run(course, "grade", "tiny", folder)


def test_grade_tells_of_everyone(graded):
    course, told = graded
    assert points(course) == {
        "jdoe": (2.0, "to grade by hand"),
        "mroe": (0.0, "graded"),
        "stranger": (0.0, "graded"),
        "broken": (0.0, "graded"),
        "late": (0.0, "nothing handed in"),
    }
    assert re.search(r"^jdoe +2 of 6  to grade by hand$", told, re.M)
    assert re.search(r"^broken +0 of 6  .*not JSON", told, re.M)
    assert "essay.docx: left out" in told
    assert "stranger is not on the roster" in told
    assert "Nothing was handed in by late." in told
    assert "3 graded, 1 not" in told
    with (course / "reports" / "tiny.csv").open(newline="", encoding="utf-8") as file:
        lines = {(line["student"], line["problem"]): line for line in csv.DictReader(file)}
    assert len(lines) == 5 * 2
    assert lines["jdoe", "1"]["what happened"] == "passed"
    assert tiny.HINT in lines["mroe", "1"]["what happened"]
    assert "not JSON" in lines["broken", "1"]["what happened"]
    assert lines["late", "2"]["what happened"] == "not handed in"


def test_items_shows_shares_and_the_commonest_failures(graded):
    told = run(graded[0], "items", "tiny")
    assert "Problem 1: 0.50 of 2 points on average" in told
    assert " 25%  Test 1.1, twice a number" in told
    assert f"1 x {HINT_START}" in " ".join(told.split())
    assert "Problem 2" in told
    assert "1 x  waits for grading by hand" in told


HINT_START = tiny.HINT[:40]


def test_feedback_holds_the_sentence_and_no_hidden_test(graded):
    run(graded[0], "feedback", "tiny")
    page = graded[0] / "feedback" / "mroe" / "tiny" / "tiny.html"
    text = page.read_text(encoding="utf-8")
    assert HINT_START in text
    assert tiny.HIDDEN_HINT not in text
    assert "HIDDEN" not in text


def table(course, kind, folder):
    run(course, "export", "--format", kind, "--to", folder / "out.csv")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_exports_have_the_columns_that_the_systems_import(graded, tmp_path):
    head, *lines = table(graded[0], "csv", tmp_path)
    assert head == ["student", "last_name", "first_name", "email", "set", "points", "of", "status"]
    jane = dict(zip(head, lines[1], strict=True))
    assert [line[0] for line in lines] == ["broken", "jdoe", "late", "mroe", "stranger"]
    assert (jane["last_name"], jane["points"], jane["of"]) == ("Doe", "2", "6")

    head, possible, *lines = table(graded[0], "canvas", tmp_path)
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "tiny"]
    assert possible == ["    Points Possible", "", "", "", "", "6"]
    assert lines[1] == ["Doe, Jane", "4711", "jdoe", "jdoe", "", "2"]

    head, *lines = table(graded[0], "moodle", tmp_path)
    assert head == ["ID number", "First name", "Last name", "Email address", "tiny"]
    assert lines[1] == ["jdoe", "Jane", "Doe", "jdoe@example.org", "2"]
    assert len(lines) == 5


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "＝1＋1"])
def test_a_text_is_no_formula_in_a_spreadsheet_and_comes_back_as_it_was(tmp_path, text):
    from course.tables import read_table, write_table

    write_table(tmp_path / "x.csv", [["name"], [text]])
    assert f"'{text}".encode() in (tmp_path / "x.csv").read_bytes()
    assert read_table(tmp_path / "x.csv", ["name"]) == [(2, {"name": text})]


def test_no_name_in_a_zip_file_writes_lines_or_commands_on_the_terminal(course, tmp_path):
    run(course, "assignments")
    folder = tmp_path / "came back"
    folder.mkdir()
    zipped(folder / "all.zip", {"\x1b[2J\x07eve\namy 6 of 6/tiny.ipynb": b"{}"})
    zipped(folder / "amy_tiny.zip", {"tiny.ipynb": b"{}"})
    told = run(course, "grade", "tiny", folder)
    assert "eve" in told
    assert not re.search(r"[\x1b\x07]|^amy 6 of 6", told, re.M)


def sheet_of(course, name="tiny"):
    path = course / "sheet.csv"
    run(course, "proofs", name, "--to", path)
    with path.open(newline="", encoding="utf-8-sig") as file:
        return path, list(csv.DictReader(file))


def fill_in(path, lines):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return path


def test_what_was_graded_by_hand_stays_when_tests_points_or_answers_change(course):
    run(course, "assignments")
    released = course / "release" / "tiny" / "tiny.ipynb"
    folder = course.parent / "came back"
    folder.mkdir()
    notebook = folder / "jdoe_tiny.ipynb"
    notebook.write_bytes(tiny.answered(released, "return 2 * x", "The half is a whole number."))
    run(course, "grade", "tiny", folder)

    path, lines = sheet_of(course)
    assert [line["student"] for line in lines] == ["jdoe"]
    assert lines[0]["answer"] == "The half is a whole number."
    assert (lines[0]["points"], lines[0]["of"]) == ("", "4")
    lines[0] |= {"points": "5"}
    assert "from 0 to 4" in run(course, "marks", "tiny", fill_in(path, lines), fails=True)
    lines[0] |= {"points": "3", "comment": "Say what even means."}
    run(course, "marks", "tiny", fill_in(path, lines))
    assert points(course)["jdoe"] == (5.0, "graded")

    tiny.write_source(course, points=7, hidden=10.0)  # another test, other points
    run(course, "grade", "tiny")
    assert points(course)["jdoe"] == (10.0, "graded")
    tiny.write_source(course, points=7, hidden=11)  # a test that nobody passes
    run(course, "grade", "tiny")
    assert points(course)["jdoe"] == (3.0, "graded")

    notebook.write_bytes(tiny.answered(released, "return 2 * x", "Another proof."))
    run(course, "grade", "tiny", folder)
    assert points(course)["jdoe"] == (3.0, "to grade by hand"), "the answer is another one"
    _, lines = sheet_of(course)
    assert (lines[0]["points"], lines[0]["comment"]) == ("", "Say what even means.")

    run(course, "marks", "tiny", fill_in(path, [lines[0] | {"points": "2"}]))
    notebook.write_bytes(tiny.answered(released, "return 2 * x", "A third proof."))
    (folder / "mroe_tiny.ipynb").write_bytes(tiny.answered(released, "return 2 * x"))

    def interrupt(student):
        if student == "mroe":
            raise KeyboardInterrupt

    for one in gather(folder, "tiny", {})[0].values():
        hand_in(one, course, "tiny")
    with connect(course) as api, pytest.raises(KeyboardInterrupt):
        autograde(api, "tiny", ["jdoe", "mroe"], interrupt)
    for _ in range(2):
        assert points(course)["jdoe"] == (2.0, "to grade by hand"), "its change is forgotten"
        run(course, "grade", "tiny")

    tiny.write_source(course, more=True)
    assert "Cells came to tiny or went" in run(course, "grade", "tiny", fails=True)
    assert points(course)["jdoe"][0] == 2.0


@pytest.fixture(scope="module")
def with_proofs(tmp_path_factory):
    """A course in which three students wrote a proof, and the sheet for it."""
    course = new_course(tmp_path_factory.mktemp("with proofs"))
    run(course, "assignments")
    released, folder = course / "release" / "tiny" / "tiny.ipynb", course.parent / "came back"
    folder.mkdir()
    for student, proof in [("jdoe", "=1+1"), ("mroe", "- für\n- alle"), ("007", "Klar.")]:
        notebook = tiny.answered(released, "return 2 * x", proof)
        (folder / f"{student}_tiny.ipynb").write_bytes(notebook)
    run(course, "grade", "tiny", folder)
    return course


@pytest.mark.parametrize(
    ("encoding", "comma", "end", "decimal"),
    [
        ("utf-8-sig", ";", "\r\n", ","),  # Excel in German
        ("utf-8", ",", "\n", "."),  # LibreOffice in English
        ("utf-16", "\t", "\r\n", ","),  # Excel's Unicode text
    ],
)
def test_a_sheet_comes_back_from_any_spreadsheet(with_proofs, encoding, comma, end, decimal):
    path = with_proofs / f"{encoding}.csv"
    run(with_proofs, "proofs", "tiny", "--to", path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("\ufeff"), "Excel does not see that it is UTF-8"
    lines = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    late, jane, max_ = lines
    assert [line["answer"] for line in lines] == ["Klar.", "'=1+1", "'- für\n- alle"]
    jane |= {"points": f"2{decimal}5", "comment": "'-1 für λ"}
    late |= {"student": "7", "points": "", "comment": "Nein; warum?"}  # as Excel writes 007
    max_ |= {"points": "4", "comment": ""}
    columns = ["comment", "answer", "points", "cell", "student"]
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(
            file, columns, extrasaction="ignore", delimiter=comma, lineterminator=end
        )
        writer.writeheader()
        writer.writerows(lines)
    assert "2 of 3 answers have points" in run(with_proofs, "marks", "tiny", path)
    assert points(with_proofs)["jdoe"] == (4.5, "graded")
    kept = {line["student"]: line["comment"] for line in proofs(with_proofs, "tiny")}
    assert kept == {"jdoe": "-1 für λ", "007": "Nein; warum?", "mroe": ""}
    run(with_proofs, "proofs", "tiny", "--to", path)  # for all of it is entered


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("jdoe,tiny-p2-proof,1", "jdoe,tiny-p2-proof,1\njdoe,tiny-p2-proof,2"), "further up"),
        (("jdoe,", "jdo,"), "line 2: 'jdo' has no answer"),
        (("tiny-p2-proof", "tiny-p1-test"), "line 2: 'jdoe' has no answer 'tiny-p1-test'"),
        (("proof,1", "proof,4.5"), "line 2: '4.5' is no number from 0 to 4"),
        (("proof,1", "proof,½"), "'½' is no number"),
        (("points", "marks"), "no column points"),
        (("student,cell,points\n", ""), "holds jdoe, tiny-p2-proof, 1"),
    ],
)
def test_a_sheet_with_a_fault_enters_nothing(with_proofs, tmp_path, change, told):
    before = points(with_proofs)
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("student,cell,points\njdoe,tiny-p2-proof,1\n".replace(*change), "utf-8")
    said = run(with_proofs, "marks", "tiny", sheet, fails=True)
    assert told in said
    assert "Nothing was entered." in said
    assert points(with_proofs) == before


@pytest.mark.parametrize("column", ["points", "comment"])
def test_a_sheet_that_is_not_entered_is_not_written_over(with_proofs, column):
    path, lines = sheet_of(with_proofs)
    lines[1][column] = "3.25"
    content = fill_in(path, lines).read_bytes()
    told = run(with_proofs, "proofs", "tiny", "--to", path, fails=True)
    assert f"{path}, line 3, has points or a comment that are not entered" in told
    assert path.read_bytes() == content
    path.unlink()


def test_a_second_command_waits_for_the_first(with_proofs):
    with connect(with_proofs):
        for command in ("grade", "feedback"):
            told = run(with_proofs, command, "tiny", fails=True)
            assert "Another command works on" in told
    run(with_proofs, "feedback", "tiny")


def test_a_page_that_cannot_be_written_is_told_with_the_reason(with_proofs):
    page = with_proofs / "feedback"
    shutil.rmtree(page, ignore_errors=True)
    page.write_text("a file in the place of the folder")
    told = run(with_proofs, "feedback", "tiny", fails=True)
    page.unlink()
    assert re.search(r"^No page for jdoe: \w+Error: .*feedback", told, re.M)


def test_a_seed_that_is_none_stops_before_anybody_is_graded(with_proofs, monkeypatch):
    monkeypatch.setenv("PEGASOS_COURSE_SEED", "twenty")
    told = run(with_proofs, "grade", "tiny", fails=True)
    assert "PEGASOS_COURSE_SEED must be a nonnegative integer, got 'twenty'" in told


def test_the_seed_is_the_settings_unless_the_environment_has_another(course, monkeypatch):
    monkeypatch.delenv("PEGASOS_COURSE_SEED", raising=False)
    drawn = np.random.default_rng([2027, 1]).integers(1 << 60)
    rng = "__import__('pegasos_lib.exercises').exercises.fresh_rng(1)"
    tiny.write_source(course, hidden=f"10 * ({rng}.integers(1 << 60) == {drawn})")
    config = course / "nbgrader_config.py"
    config.write_text(
        config.read_text().replace("IsolatedGrade.seed = 0", "IsolatedGrade.seed = 2027")
    )
    run(course, "assignments")
    folder = course.parent / "came back"
    folder.mkdir()
    released = course / "release" / "tiny" / "tiny.ipynb"
    (folder / "jdoe_tiny.ipynb").write_bytes(tiny.answered(released, "return 2 * x"))
    assert re.search(r"jdoe +2 of 6", run(course, "grade", "tiny", folder))
    monkeypatch.setenv("PEGASOS_COURSE_SEED", "1")
    assert re.search(r"jdoe +0 of 6", run(course, "grade", "tiny"))
    monkeypatch.delenv("PEGASOS_COURSE_SEED")
    config.write_text(config.read_text().replace("seed = 2027", "seed = -1"))
    told = run(course, "grade", "tiny", fails=True)
    assert re.search(r"nbgrader_config.py: The value of the 'seed' .* not be less than 0", told)


def test_a_disk_a_file_or_a_gradebook_at_fault_is_told_in_a_sentence(course, tmp_path):
    full = sqlite3.OperationalError("database or disk is full")
    faults = {
        OSError(28, "No space left on device", "x.csv"): "No space left on device: 'x.csv'",
        OperationalError("INSERT", {}, full): "gradebook.db: database or disk is full.",
        NotUnderstoodError("so it is"): "so it is",
    }
    for fault, told in faults.items():

        @click.group(cls=Commands)
        @click.pass_context
        def commands(context):
            context.obj = course

        @commands.command()
        def fails(fault=fault):
            raise fault

        result = CliRunner().invoke(commands, ["fails"])
        assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
        assert result.output.startswith("Error: ")
        assert told in result.output


def test_without_a_sandbox_nothing_is_graded_unless_unsafe_which_every_export_says(
    course, tmp_path, monkeypatch
):
    from course.grader import sandbox

    def no_sandbox():
        raise sandbox.NoSandbox("bubblewrap does not start here")

    run(course, "assignments")
    released = course / "release" / "tiny" / "tiny.ipynb"
    (folder := tmp_path / "came back").mkdir()
    (folder / "jdoe_tiny.ipynb").write_bytes(tiny.answered(released, "return 2 * x"))
    monkeypatch.setattr(sandbox, "check", no_sandbox)
    told = run(course, "grade", "tiny", folder, fails=True)
    assert "Error: bubblewrap does not start here" in told
    assert not (course / "gradebook.db").exists()

    run(course, "grade", "tiny", folder, "--unsafe")
    assert points(course)["jdoe"] == (2.0, "graded")
    head, *lines = table(course, "csv", tmp_path)
    assert [line[head.index("warning")] for line in lines] == ["graded without a sandbox"] * 3
    for kind in ("canvas", "moodle"):
        assert table(course, kind, tmp_path)[0][-1] == "tiny (graded without a sandbox)"


# The inventory


def test_gain_compares_those_who_answered_both():
    before = {"a": {"1": 0.0, "2": 1.0}, "b": {"1": 0.0, "2": 1.0}, "gone": {"1": 1.0, "2": 0.0}}
    after = {"a": {"1": 1.0, "2": 1.0}, "b": {"1": 0.0, "2": 1.0}, "new": {"1": 1.0, "2": 1.0}}
    rows, both = gains(before, after)
    assert both == ["a", "b"]
    assert [(row.question, row.before, row.after, row.normalised) for row in rows] == [
        ("1", 0.0, 0.5, 0.5),
        ("2", 1.0, 1.0, None),
        ("all", 0.5, 0.75, 0.5),
    ]


def test_gain_is_shown_for_each_question(graded):
    told = run(graded[0], "gain", "tiny", "tiny")
    assert re.search(r"^ +25% +25%  0\.00  Test 1\.1, twice a number$", told, re.M)
    assert re.search(r"^ +12% +12%  0\.00  all$", told, re.M)
    assert "4 students answered both." in told
    assert "no problem set 'before'" in run(graded[0], "gain", fails=True)


# A student's own check


def test_check_says_of_each_test_what_it_found(graded, tmp_path, capfd):
    released = graded[0] / "release" / "tiny" / "tiny.ipynb"
    notebook = tmp_path / "mine.ipynb"
    notebook.write_bytes(content := tiny.answered(released, "return -2 * x"))
    told = run(graded[0], "check", notebook, fails=True)
    assert "not yet  Test 1.1, twice a number." in told
    assert tiny.HINT in told
    assert "0 of 1 visible tests passed, 0 of 2 points." in told
    assert notebook.read_bytes() == content
    assert capfd.readouterr().err == "", "the kernel says something"
    notebook.write_text("{}")
    assert "is not a notebook" in run(graded[0], "check", notebook, fails=True)


def test_check_needs_the_book_s_environment_only():
    """On Binder neither nbgrader nor the course's sources are there."""
    code = (
        "import sys; sys.modules['nbgrader'] = None; import course.check, course.__main__; "
        "assert 'course.grading' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    pins = (ROOT / "requirements.txt").read_text()
    assert re.search(r"^click==", pins, re.M)
    assert re.search(r"^nbclient==", pins, re.M)


# Faults


def test_faults_are_told_in_a_sentence(course, tmp_path):
    (tmp_path / "empty").mkdir()
    for words, told in [
        (["grade", "ps99", tmp_path / "empty"], "There is no problem set 'ps99'. There are: tiny."),
        (["grade", "tiny", tmp_path / "empty"], "There is nothing to grade in"),
        (["grade", "tiny"], "Nobody handed in tiny"),
    ]:
        assert told in run(course, *words, fails=True)
    shutil.rmtree(tmp_path / "course" / "source")
    assert "There is no problem set in" in run(course, "assignments", fails=True)


@pytest.mark.parametrize("command", ["items", "feedback", "proofs"])
def test_without_a_gradebook_the_next_step_is_named(course, command):
    assert "first python -m course grade" in run(course, command, "tiny", fails=True)


# What the pages say


def test_the_commands_on_the_pages_exist():
    pages = [ROOT / "book" / name for name in ("instructors.md", "problem_sets.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in [*pages, COURSE / "README.md"])
    found = re.findall(r"python -m course (?:--course \S+ )?(\w+)(.*)$", text, re.M)
    assert {name for name, _ in found} == set(main.commands) - {"assignments"}
    for name, rest in found:
        options = {o for p in main.commands[name].params for o in p.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= options, name


def test_binder_keeps_the_students_versions_and_removes_what_answers_them(tmp_path):
    for name in ("course", "tests/course"):
        made = shutil.ignore_patterns("__pycache__", "submitted", "autograded", "feedback")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=made)
    for name in ("requirements-dev.txt", "postBuild"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".git").mkdir()
    tools = tmp_path.parent / "tools"  # nbgrader is here already
    tools.mkdir()
    for name, does in [("pip", ""), ("python", f'exec {sys.executable} "$@"')]:
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    env = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([tmp_path / "postBuild"], cwd=tmp_path, env=env, check=True, timeout=120)
    assert not (tmp_path / ".git").exists()
    for name in ASSIGNMENTS:
        assert (tmp_path / "course" / "release" / name / f"{name}.ipynb").is_file()
    assert not (tmp_path / "tests" / "course").exists()
    left = [p for p in (tmp_path / "course").rglob("*.*") if p.suffix in {".ipynb", ".md"}]
    texts = [path.read_text(encoding="utf-8") for path in left]
    lines = {line.strip().strip('",').removesuffix("\\n") for t in texts for line in t.splitlines()}
    for name, secret in secrets().items():
        assert sorted(secret & lines) == [], name
