"""Whose notebook is it? What students handed in, found in a folder, and who is on the roster.

Understood are `STUDENT_ps06.ipynb`, `STUDENT/ps06.ipynb`, `STUDENT/ps06/ps06.ipynb`, the names that
Canvas and Moodle give to downloads, and zip files of these or named `STUDENT.zip`.
"""

import io
import re
import unicodedata
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path, PurePosixPath

from course.tables import NotUnderstoodError, read_table

NAME = re.compile(r"[^\W_][\w .@+'’-]*")
NAMES = "letters, digits, spaces and . @ + ' - _"
JUNK = re.compile(r"(^|/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini|timestamp\.txt)(/|$)")
MOODLE = re.compile(r"(.+)_(\d+)_assignsubmission_\w+?(_.*)?")
CANVAS = re.compile(r"([^\W\d_][^\W_]*)_(?:LATE_)?(\d+)_\d+(_.*)?")
NOTEBOOK = r"\.ipynb(?:\.txt|\.json)?"  # what some browsers put behind a notebook's name
LARGEST = 20_000_000  # bytes: a zip file of a few kB can hold a notebook of many GB
MOST_IN_A_ZIP = 2_000_000_000  # bytes of all notebooks together
DEEPEST = 3  # zip files in zip files
FIELDS = ("first_name", "last_name", "email", "lms_user_id")


@dataclass(frozen=True)
class Submission:
    """What was handed in: whose, where it was found, when it was saved.

    `content` is None if the roster has the student and the file cannot be graded; `named` tells
    whether it has the set's name, `number` which copy it is: the 1 of `ps06 (1).ipynb`.
    """

    student: str
    place: str
    saved: datetime
    content: bytes | None
    named: bool = True
    number: int = 0

    def rank(self):
        """Return what the submission that counts has the greatest of."""
        return self.content is not None, self.named, self.saved, self.number, self.place


def read_roster(path):
    """Return the students of a CSV file: by id a dict of `FIELDS`, as nbgrader's database has them.

    Raises
    ------
    NotUnderstoodError
        If there is no column `id`, an id twice, or one that no folder can be named by.
    """
    students = {}
    for number, row in read_table(path, ["id"]):
        student = unicodedata.normalize("NFC", row["id"].strip())
        if not is_name(student):
            raise NotUnderstoodError(
                f"{path}, line {number}: {student!r} is no student id: these hold {NAMES}."
            )
        if student in students:
            raise NotUnderstoodError(f"{path}, line {number}: {student} stands there twice.")
        students[student] = {field: row.get(field, "").strip() or None for field in FIELDS}
    return students


def is_name(text):
    """Tell whether a text can be a student's id, and so the name of a folder."""
    letters = "".join(c for c in text if unicodedata.category(c)[0] != "M")  # accents, vowel signs
    return bool(NAME.fullmatch(letters)) and len(text.encode()) <= 200


def files_in(folder):
    """Yield each file of a folder, and of the zip files in it: (place, path, saved, read, trouble).

    The folder may be one file. The path of what is in a zip file begins with the zip's own, as if
    that were a folder. `read()` returns the bytes; `trouble` says in words why there is nothing to
    read, or is None.
    """
    files, top = (folder.rglob("*"), folder) if folder.is_dir() else ([folder], folder.parent)
    for file in sorted(path for path in files if path.is_file()):
        place = file.relative_to(top).as_posix()
        path, saved = PurePosixPath(place), datetime.fromtimestamp(file.lstat().st_mtime)
        if file.is_symlink():  # to the solutions, say
            yield place, path, saved, None, "it is a link"
        elif file.suffix.lower() != ".zip":
            yield place, path, saved, file.read_bytes, None
        else:
            yield from _files_in_zip(file, place, path, saved, DEEPEST)


def _files_in_zip(file, place, path, saved, depth):
    """Yield what `files_in` does, of a zip file: a path, or its bytes in memory."""
    if not zipfile.is_zipfile(file):
        yield place, path, saved, None, "it is called a zip file and is none"
        return
    try:
        archive = zipfile.ZipFile(file)
    except Exception as error:
        yield place, path, saved, None, f"it cannot be read ({error})"
        return
    left = MOST_IN_A_ZIP
    with archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = _name_in_zip(info)
            inside = f"{place}: {name}", path / name.lstrip("/")
            is_zip, trouble = name.lower().endswith(".zip"), None
            left -= info.file_size if is_zip or ".ipynb" in name else 0
            if info.file_size > LARGEST:
                trouble = f"it has more than {LARGEST:,} bytes"
            elif info.flag_bits & 1:
                trouble = "it has a password"
            elif left < 0:
                trouble = f"the zip file holds more than {MOST_IN_A_ZIP:,} bytes before it"
            elif is_zip and not depth:
                trouble = "it lies too deep in other zip files"
            try:
                when = datetime(*info.date_time)
            except ValueError:  # no such day
                when = saved
            if is_zip and trouble is None:
                try:
                    inner = io.BytesIO(archive.read(info))
                except Exception as error:  # each way of compressing has errors of its own
                    yield *inside, when, None, f"it cannot be read ({error})"
                else:
                    yield from _files_in_zip(inner, *inside, when, depth - 1)
            else:
                yield *inside, when, partial(archive.read, info), trouble


def _name_in_zip(info):
    """Return a file's name in a zip file, which some systems write in ways of their own."""
    name = info.filename
    if not info.flag_bits & 0x800:  # not said to be UTF-8, and on macOS it is
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def owner(path, name, roster, named=True):
    """Return the student whom a notebook's path names, or None.

    Parameters
    ----------
    path : PurePosixPath
    name : str
        Of the problem set.
    roster : dict
    named : bool
        Whether the file must have the set's name.

    Raises
    ------
    NotUnderstoodError
        If several on the roster may be meant.
    """
    path = PurePosixPath(unicodedata.normalize("NFC", path.as_posix()))
    own = own_name(path, name)
    if named and not own:
        return None
    # From the outside in: a student chooses the names inside of what is named by the student.
    folders = [part for part in path.parts[:-1] if part != name]
    texts = [re.sub(r"\.zip$", "", part, flags=re.I) for part in folders]
    file = own[1] if own else path.stem
    marked, found = [], []
    for part, text in zip([*folders, None], [*texts, file], strict=True):
        if text is None:
            continue
        whose = re.sub(rf"_{re.escape(name)}$", "", text)
        if known := on_roster(whose, roster):
            return known
        is_file = part is None or part != text  # Canvas's zip file holds no folders
        if lms := MOODLE.fullmatch(text) or (is_file and CANVAS.fullmatch(text)):
            marked.append(f"{lms[1]}_{lms[2]}")
        elif part is not None and whose != text:
            marked.append(whose)
        elif part is not None:
            found.insert(0, text)
    return next(iter([*marked, *([own[1]] if own and own[1] else []), *found]), None)


def on_roster(text, roster):
    """Return the id of the student whom a text names, or None.

    By id, by Canvas's number, by the name as Moodle or Canvas write it, or by an id among its first
    three words: what follows them is the student's own name of the file.

    Raises
    ------
    NotUnderstoodError
        If several have that name.
    """
    if text in roster:
        return text
    canvas, moodle, words = CANVAS.fullmatch(text), MOODLE.fullmatch(text), text.split("_")[:3]
    folded, full = text.casefold(), _words_of(moodle[1] if moodle else words[0])
    ways = [lambda student, row: student.casefold() == folded]
    if canvas:
        ways.append(lambda student, row: row["lms_user_id"] == canvas[2])
    ways.append(lambda student, row: full and _words_of(_full_name(row)) == full)
    if canvas:
        ways.append(lambda student, row: _sortable(row) == canvas[1].lower())
    for is_meant in ways:
        meant = [student for student, row in roster.items() if is_meant(student, row)]
        if len(meant) > 1:
            raise NotUnderstoodError(
                f"it may be from {' or '.join(meant)}: put the right id in place of the name"
            )
        if meant:
            return meant[0]
    return None if moodle else next((word for word in words if word in roster), None)


def _full_name(row):
    return f"{row['first_name'] or ''} {row['last_name'] or ''}"


@cache
def _words_of(name):
    """Return a name's words in an order of their own: some write the last name first."""
    return sorted(re.findall(r"[^\s,]+", name.casefold()))


def _sortable(row):
    """Return a name as Canvas writes it before a file's."""
    return re.sub(r"\W", "", f"{row['last_name'] or ''}{row['first_name'] or ''}").lower()


def own_name(path, name):
    """Return the match of a file's name with those that a set's notebook may have, or None."""
    again = r"(?: ?\((\d+)\)|[ -](\d+))?"  # what browsers and Canvas put behind a second download
    return re.fullmatch(rf"(?:(.+)_)?{re.escape(name)}{again}{NOTEBOOK}", path.name, re.I)


def gather(folder, name, roster, cells=frozenset()):
    """Return what counts of each student, by student, and what was not understood, in words.

    Parameters
    ----------
    folder : Path
    name : str
        Of the problem set, such as "ps06".
    roster : dict
        As `read_roster` returns it; may be empty.
    cells : set of str
        The grade_ids of the set's cells, by which a notebook of another name is known.
    """
    counts, remarks, others = {}, [], []
    for place, path, saved, read, trouble in files_in(folder):
        if JUNK.search(path.as_posix()):
            continue
        named, content, student = own_name(path, name), None, None
        try:
            if trouble is None and (named or re.search(NOTEBOOK + "$", path.name, re.I)):
                content = read()
        except Exception as error:  # each way of compressing has errors of its own
            trouble = f"it cannot be read ({error})"
        held = cells_of(content or b"")
        is_ours, is_others = bool(held & cells), bool(cells and held and not held & cells)
        if is_others and not named:
            others.append(place)
            continue
        try:
            student = owner(path, name, roster, named=False)
        except NotUnderstoodError as error:
            trouble = trouble or str(error)
        if trouble is None and (student is None or not (named or is_ours)):
            trouble = (
                f"its name is neither STUDENT_{name}.ipynb nor that of a student's folder "
                f"with {name}.ipynb in it"
            )
        elif trouble is None and not is_name(student):
            trouble = f"{student!r} should hold {NAMES} only"
        if trouble:
            remarks.append(f"{place}: left out, {trouble}.")
            if student not in roster:
                continue
            content = None
        elif not named:
            remarks.append(f"{place}: taken as {student}'s, for it holds cells of {name}.")
        elif is_others:
            remarks.append(f"{place}: it is another set's notebook; graded all the same.")
        number = int(named[2] or named[3] or 0) if named else 0
        found = Submission(student, place, saved, content, bool(named), number)
        if student in counts:
            older, found = sorted([counts[student], found], key=Submission.rank)
            if older.content is not None:
                remarks.append(
                    f"{older.place}: left out, {found.place} of {student} "
                    f"{'is newer' if older.named == found.named else 'has the right name'}."
                )
        elif roster and student not in roster:
            remarks.append(f"{place}: {student} is not on the roster; graded all the same.")
        counts[student] = found
    if not roster and any("_assignsubmission_" in one.place for one in counts.values()):
        remarks.append(
            "Moodle's numbers differ from set to set: with a roster, roster.csv in the course's "
            "folder, each student has one name in all."
        )
    if others:
        few = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        remarks.append(f"{few}: left out, of another set.")
    return counts, remarks


def cells_of(content):
    """Return the grade_ids in the bytes of a notebook."""
    return {found.decode() for found in re.findall(rb'"grade_id": ?"([\w-]{1,100})"', content)}


def hand_in(submission, course, name):
    """Put a submission where nbgrader looks for it; without a notebook, the folder that says so."""
    target = Path(course) / "submitted" / submission.student / name / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    if submission.content is not None:
        target.write_bytes(submission.content)
