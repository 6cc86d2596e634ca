"""Collecting: no file that a student names or packs is another student's, or stops the class."""

import io
import zipfile
from pathlib import PurePosixPath

import pytest

from course.collect import gather, owner

ROSTER = {
    "amy": {"first_name": "Amy", "last_name": "Ash", "email": None, "lms_user_id": "11"},
    "bob": {"first_name": "Bob", "last_name": "Bay", "email": None, "lms_user_id": "12"},
}


def zipped(names, date=(2026, 1, 2, 3, 4, 6)):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, date), "{}")
    return buffer.getvalue()


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
