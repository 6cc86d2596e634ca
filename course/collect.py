"""Whose notebook is it? What students handed in, found in a folder, and who is on the roster.

Understood are `STUDENT_ps06.ipynb`, `STUDENT/ps06.ipynb`, `STUDENT/ps06/ps06.ipynb`, the names that
Canvas and Moodle give to downloads, and zip files of these or named `STUDENT.zip`.
"""

import csv
import re
import zipfile
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

NAME = re.compile(r"[^\W_][\w .@+'-]*")
JUNK = re.compile(r"(^|/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini|timestamp\.txt)(/|$)")
LARGEST = 20_000_000  # bytes: a zip file of a few kB can hold a notebook of many GB
FIELDS = ("first_name", "last_name", "email", "lms_user_id")


class NotUnderstoodError(Exception):
    """Something that an instructor gave cannot be used, and the message says why."""


@dataclass(frozen=True)
class Submission:
    """A notebook that was handed in: whose, where it was found, when it was saved."""

    student: str
    place: str
    saved: datetime
    content: bytes


def read_roster(path):
    """Return the students of a CSV file: by id a dict of `FIELDS`, as nbgrader's database has them.

    Raises
    ------
    NotUnderstoodError
        If there is no column `id`, an id twice, or one that no folder can be named by.
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    students = {}
    for number, row in enumerate(rows, start=2):
        student = (row.get("id") or "").strip()
        if not NAME.fullmatch(student):
            raise NotUnderstoodError(
                f"{path}, line {number}: {student!r} is no student id. The first line must name a "
                f"column id (and may name {', '.join(FIELDS)}); an id holds letters, digits, "
                "spaces and . @ + ' - _"
            )
        if student in students:
            raise NotUnderstoodError(f"{path}, line {number}: {student} stands there twice.")
        students[student] = {field: (row.get(field) or "").strip() or None for field in FIELDS}
    return students


def files_in(folder):
    """Yield each file of a folder, and of the zip files in it: (place, path, saved, read, trouble).

    The path of what is in a zip file begins with the zip's own, as if it had been unpacked there.
    `read()` returns the bytes; `trouble` says in words why there is nothing to read, or is None.
    """
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = file.relative_to(folder).as_posix()
        path, saved = PurePosixPath(place), datetime.fromtimestamp(file.lstat().st_mtime)
        if file.is_symlink():  # to the solutions, say
            yield place, path, saved, None, "it is a link"
        elif file.suffix.lower() != ".zip":
            yield place, path, saved, file.read_bytes, None
        elif not zipfile.is_zipfile(file):
            yield place, path, saved, None, "it is called a zip file and is none"
        else:
            try:
                archive = zipfile.ZipFile(file)
            except Exception as error:
                yield place, path, saved, None, f"it cannot be read ({error})"
                continue
            with archive:
                for info in archive.infolist():
                    if not info.is_dir():
                        inner = info.filename.lstrip("/")
                        inside = f"{place}: {info.filename}", path.with_suffix("") / inner
                        trouble = None
                        if info.file_size > LARGEST:
                            trouble = f"it has more than {LARGEST:,} bytes"
                        elif info.flag_bits & 1:
                            trouble = "it has a password"
                        try:
                            when = datetime(*info.date_time)
                        except ValueError:  # no such day
                            when = saved
                        yield *inside, when, partial(archive.read, info), trouble


def owner(path, name, roster):
    """Return the student that a notebook's path names, or None.

    Parameters
    ----------
    path : PurePosixPath
    name : str
        Of the problem set.
    roster : dict
    """
    again = r"(?:[ -]?\(?\d+\)?)?"  # what browsers and Canvas put behind a second download
    own = re.fullmatch(rf"(?:(.+)_)?{re.escape(name)}{again}\.ipynb", path.name, re.I)
    if not own:
        return None
    # From the outside in: a student chooses the names inside of what is named by the student.
    folders = [part for part in path.parts[:-1] if part != name]
    marks = [
        re.fullmatch(rf"(.+?)(_{re.escape(name)}|_assignsubmission_file_?)", f) for f in folders
    ]
    texts = [
        m[1] if m and "_assign" not in m[2] else f for m, f in zip(marks, folders, strict=True)
    ]
    for text in [*texts, *filter(None, [own[1]])]:
        if known := on_roster(text, roster):
            return known
    marked = [text for mark, text in zip(marks, texts, strict=True) if mark]
    return next(iter([*marked, *filter(None, [own[1]]), *reversed(folders)]), None)


def on_roster(text, roster):
    """Return the id of the student whom a text names: by id, by Canvas's number, or in full."""
    if text in roster:
        return text
    # What Canvas puts first; the student's own name of the file follows.
    words = text.split("_")[:3]
    for student, row in roster.items():
        full = f"{row['first_name']} {row['last_name']}"
        if row["lms_user_id"] in words[1:] or student in words or full == words[0]:
            return student
    return None


def gather(folder, name, roster):
    """Return each student's newest notebook, by student, and what was not understood, in words.

    Parameters
    ----------
    folder : Path
    name : str
        Of the problem set, such as "ps06".
    roster : dict
        As `read_roster` returns it; may be empty.
    """
    newest, remarks = {}, []
    for place, path, saved, read, trouble in files_in(folder):
        if JUNK.search(path.as_posix()):
            continue
        student = owner(path, name, roster)
        if trouble is None and student is None:
            trouble = (
                f"its name is neither STUDENT_{name}.ipynb nor that of a student's folder "
                f"with {name}.ipynb in it"
            )
        elif trouble is None and not NAME.fullmatch(student):
            trouble = f"{student!r} should hold letters, digits, spaces and . @ + ' - _ only"
        if trouble is None:
            try:
                found = Submission(student, place, saved, read())
            except Exception as error:  # each way of compressing has errors of its own
                trouble = f"it cannot be read ({error})"
        if trouble:
            remarks.append(f"{place}: left out, {trouble}.")
            continue
        if student in newest:
            pair = [newest[student], found]
            older, found = sorted(pair, key=lambda one: (one.saved, one.place))
            remarks.append(f"{older.place}: left out, {found.place} of {student} is newer.")
        elif roster and student not in roster:
            remarks.append(f"{place}: {student} is not on the roster; graded all the same.")
        newest[student] = found
    return newest, remarks


def hand_in(submission, course, name):
    """Put a submission where nbgrader looks for it."""
    target = Path(course) / "submitted" / submission.student / name / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(submission.content)
