"""Collecting: no file that a student names or packs is another student's, or stops the class."""

import io
import os
import re
import zipfile
from pathlib import PurePosixPath

import pytest

from course.collect import NotUnderstoodError, cells_of, gather, owner, read_roster
from course.release import student_version

from .sets import ASSIGNMENTS, source_of

ROSTER = {
    "amy": {"first_name": "Amy", "last_name": "Ash", "email": None, "lms_user_id": "11"},
    "bob": {"first_name": "Bob", "last_name": "Bay", "email": None, "lms_user_id": "12"},
}


def zipped(names, date=(2026, 1, 2, 3, 4, 6), content="{}"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, date), content)
    return buffer.getvalue()


def notebook_of(name):
    return f'{{"cells": [{{"metadata": {{"nbgrader": {{"grade_id": "{name}-setup"}}}}}}]}}'


@pytest.mark.parametrize("roster", [ROSTER, {}])
@pytest.mark.parametrize("inner", ["amy_ps06.ipynb", "amy/ps06.ipynb", "/amy/ps06.ipynb"])
def test_a_name_inside_of_a_students_zip_file_makes_it_nobody_elses(tmp_path, roster, inner):
    (tmp_path / "amy_ps06.ipynb").write_text("[]")
    (tmp_path / "bob_ps06.zip").write_bytes(zipped([inner], (2090, 1, 1, 0, 0, 0)))
    found, _ = gather(tmp_path, "ps06", roster)
    assert {student: one.content for student, one in found.items()} == {"amy": b"[]", "bob": b"{}"}


@pytest.mark.parametrize(
    "path",
    [
        "Bob Bay_12_assignsubmission_file_/amy_ps06.ipynb",
        "baybob_12_3456_amy_ps06.ipynb",
        "baybob_LATE_12_3456_amy_ps06.ipynb",
        "bob/amy_ps06.ipynb",
    ],
)
def test_what_the_course_software_says_counts_not_the_students_own_file_name(path):
    assert owner(PurePosixPath(path), "ps06", ROSTER) == "bob"


def test_a_name_that_no_folder_can_have_is_left_out_and_stops_nothing(tmp_path):
    (tmp_path / "all.zip").write_bytes(zipped([f"{'a' * 300}/ps06.ipynb", "amy/ps06.ipynb"]))
    found, (remark,) = gather(tmp_path, "ps06", {})
    assert list(found) == ["amy"]
    assert "aaa" in remark


def test_links_and_broken_zip_files_are_left_out_and_stop_nothing(tmp_path):
    (tmp_path / "solutions").write_text("the right answers")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "amy_ps06.ipynb").write_text("{}")
    (folder / "bob_ps06.ipynb").symlink_to(tmp_path / "solutions")
    whole = zipped(["ps06.ipynb"])
    no_day = bytearray(whole)
    at = whole.index(b"PK\x01\x02")
    no_day[at + 14 : at + 16] = b"\0\0"  # the day 0 of the month 0
    (folder / "cid_ps06.zip").write_bytes(no_day)
    torn = bytearray(whole)
    torn[at : at + 4] = b"PK\0\0"
    (folder / "dan_ps06.zip").write_bytes(torn)
    odd = bytearray(whole)
    odd[8] = odd[at + 10] = 14  # said to be packed with LZMA
    (folder / "eve_ps06.zip").write_bytes(odd)
    found, remarks = gather(folder, "ps06", {})
    assert sorted(found) == ["amy", "cid"]
    assert len(remarks) == 3
    assert "link" in remarks[0]


NAMES = """id,first_name,last_name,lms_user_id
jdoe,Jane,Doe,4711
jroe,Jürgen,Roe,4712
sharma,देवेन्द्र,शर्मा,
jane2,Jane,Lee,
jane3,Jane,Lee,
"""


def roster_of(folder, text=NAMES):
    (folder / "roster.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_roster(folder / "roster.csv")


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("roejurgen_4711_4712_ps06.ipynb", "jdoe"),  # the number of a file is nobody's
        ("doejane_9_99_ps06.ipynb", "jdoe"),  # Canvas's name, where the roster has no number
        ("roejürgen_9_99_ps06.ipynb", "jroe"),
        ("roeju\u0308rgen_LATE_9_99_ps06.ipynb", "jroe"),  # as macOS writes an umlaut
        ("Roe Jürgen_12_assignsubmission_file/ps06.ipynb", "jroe"),
        ("Roe, Jürgen_12_assignsubmission_file_ps06.ipynb", "jroe"),
        ("देवेन्द्र शर्मा_12_assignsubmission_file_/ps06.ipynb", "sharma"),
        ("JDoe_ps06.ipynb", "jdoe"),
        ("jdoe_ps06.ipynb.txt", "jdoe"),
        ("doejane_4711_99_work.zip/inner/ps06.ipynb", "jdoe"),
    ],
)
def test_a_name_is_found_on_the_roster_however_it_is_written(tmp_path, path, student):
    assert owner(PurePosixPath(path), "ps06", roster_of(tmp_path)) == student


@pytest.mark.parametrize(
    "path", ["Jane Lee_12_assignsubmission_file_/ps06.ipynb", "leejane_9_99_ps06.ipynb"]
)
def test_two_of_one_name_are_not_taken_for_each_other(tmp_path, path):
    roster = roster_of(tmp_path)
    with pytest.raises(NotUnderstoodError, match="jane2 or jane3"):
        owner(PurePosixPath(path), "ps06", roster)
    folder = tmp_path / "in"
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text("{}")
    found, (remark,) = gather(folder, "ps06", roster)
    assert (found, "jane2 or jane3" in remark) == ({}, True)


@pytest.mark.parametrize(
    ("path", "student"),
    [
        (
            "doejane_4711_990_ps06.ipynb",
            "doejane_4711",
        ),  # as in the next set, and after a second try
        ("Jane Doe_12_assignsubmission_file_/ps06.ipynb", "Jane Doe_12"),
        ("Participant_12_assignsubmission_file_ps06.ipynb", "Participant_12"),
        ("Zoë_ps06.ipynb", "Zoë"),
        ("ps1_10.ipynb", None),
        ("ann_ps012.ipynb", None),
        ("2026_10_05/ann_ps06.ipynb", "ann"),
    ],
)
def test_without_a_roster_the_course_software_s_names_serve(path, student):
    assert owner(PurePosixPath(path), "ps06" if "ps06" in path else "ps01", {}) == student


def test_whoever_handed_in_something_is_told_of_with_what_counts_and_why(tmp_path):
    roster, folder = roster_of(tmp_path), tmp_path / "in"
    ours = notebook_of("ps06")
    inner = zipped(["Homework/ps06.ipynb", "__MACOSX/Homework/._ps06.ipynb"], content=ours)
    lms = {
        "Jane Doe_1_assignsubmission_file_/Homework.zip": inner,
        "Jürgen Roe_2_assignsubmission_file_/My work (final).ipynb": ours,
        "देवेन्द्र शर्मा_3_assignsubmission_file_/solution.pdf": "%PDF",
        "Jane Doe_1_assignsubmission_file_/ps05.ipynb": notebook_of("ps05"),
    }
    folder.mkdir()
    with zipfile.ZipFile(folder / "class.zip", "w") as archive:
        for name, content in lms.items():
            archive.writestr(name, content)
    time = 1_700_000_000
    for name in ("ann_ps06.ipynb", "ann_ps06 (1).ipynb"):
        (folder / name).write_text(name)
        os.utime(folder / name, (time, time))
    (folder / "bo_ps06.ipynb").write_text(notebook_of("ps05"))
    found, remarks = gather(folder, "ps06", roster, {"ps06-setup", "ps06-p1-answer"})
    contents = {student: one.content and one.content.decode() for student, one in found.items()}
    assert contents == {
        "jdoe": ours,
        "jroe": ours,
        "sharma": None,
        "ann": "ann_ps06 (1).ipynb",
        "bo": notebook_of("ps05"),
    }
    told = "\n".join(remarks)
    for line in (
        r"My work \(final\)\.ipynb: taken as jroe's",
        r"solution\.pdf: left out",
        r"ps05\.ipynb: left out, of another set",
        r"ann_ps06\.ipynb: left out, ann_ps06 \(1\)\.ipynb of ann is newer",
        r"bo_ps06\.ipynb: it is another set's notebook",
    ):
        assert re.search(line, told), line


@pytest.mark.parametrize("flag", [True, False], ids=["said to be UTF-8", "as macOS does"])
def test_a_name_in_a_zip_file_is_read_whatever_wrote_it(tmp_path, flag):
    archive = zipped(["Zoë_ps06.ipynb"] if flag else ["Zo##_ps06.ipynb", "b\\ps06.ipynb"])
    (tmp_path / "class.zip").write_bytes(archive.replace(b"##", "ë".encode()))
    assert set(gather(tmp_path, "ps06", {})[0]) == ({"Zoë"} if flag else {"Zoë", "b"})


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_released_notebook_is_known_by_its_cells(tmp_path, name):
    cells = cells_of(source_of(name).read_bytes())
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "Copy of it.ipynb").write_text(student_version(source_of(name)), "utf-8")
    found, (remark,) = gather(tmp_path, name, {}, cells)
    assert (list(found), "taken as ann's" in remark) == (["ann"], True)


def test_one_file_may_stand_for_the_folder(tmp_path):
    for name in ("ann_ps06.zip", "class.zip"):
        (tmp_path / name).write_bytes(zipped(["ps06.ipynb", "bo_ps06.ipynb"]))
    (tmp_path / "cy_ps06.ipynb").write_text("{}")
    told = {name.name: sorted(gather(name, "ps06", {})[0]) for name in tmp_path.iterdir()}
    assert told == {"ann_ps06.zip": ["ann"], "class.zip": ["bo", "class"], "cy_ps06.ipynb": ["cy"]}


def test_zip_files_in_zip_files_end(tmp_path):
    nested = zipped(["ps06.ipynb"])
    for _ in range(9):
        nested = zipped(["a.zip"], content=nested)
    (tmp_path / "ann_ps06.zip").write_bytes(nested)
    found, (remark,) = gather(tmp_path, "ps06", {})
    assert (found, "too deep" in remark) == ({}, True)


ALL = {"jdoe", "jroe", "sharma", "jane2", "jane3"}


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + NAMES.replace("\n", "\r\n").encode(),
        NAMES.replace(",", ";"),
        NAMES.replace(",", "\t").encode("utf-16"),
        NAMES.replace("id,", " ID ,", 1) + ",,,\n\n",
        "\n".join(line.split(",")[0] for line in NAMES.splitlines()),
    ],
    ids=["BOM", "semicolons", "UTF-16", "capitals and empty lines", "ids alone"],
)
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path, text):
    assert set(roster_of(tmp_path, text)) == ALL


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (NAMES.encode("cp1252", "replace"), "save it as CSV UTF-8"),
        (b"PK\x03\x04\x14\x00\xff", "save it as CSV UTF-8"),
        ("name\nx\n", "no column id: its first line must name the columns, and holds name"),
        ("", "holds nothing"),
        ("id\na\n\na\n", "line 4: a stands there twice"),
        ("id\n../x\n", "line 2: '../x' is no student id"),
        ("id\n" + "a" * 300, "is no student id"),
    ],
)
def test_a_roster_with_a_fault_is_refused_with_what_is_expected(tmp_path, text, told):
    with pytest.raises(NotUnderstoodError, match=re.escape(told)):
        roster_of(tmp_path, text)
