"""Tables as instructors have them: CSV files that a spreadsheet wrote, or will read."""

import codecs
import csv
import io
from itertools import zip_longest

MOST = 20_000_000  # characters of a cell; the csv module's own limit is shorter than some proofs
FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # some spreadsheets take wide signs too


class NotUnderstoodError(Exception):
    """Something that an instructor gave cannot be used, and the message says why."""


def read_table(path, columns):
    """Return the lines of a CSV file, each with its number: a dict of texts by column.

    Commas, semicolons and tabs may part the cells, as Excel does by the language of its user, and
    the text may be UTF-8 or UTF-16. The names of columns are made lower case; empty lines are
    left out.

    Parameters
    ----------
    path : Path
    columns : list of str
        Those that must be there.

    Raises
    ------
    NotUnderstoodError
        If it is no such file, or has no such columns.
    """
    data = path.read_bytes()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise NotUnderstoodError(
            f"{path} is no table in UTF-8: save it as CSV UTF-8 in Excel, or as Text CSV with the "
            "character set Unicode (UTF-8) in LibreOffice."
        ) from None
    first = text.split("\n", 1)[0]
    csv.field_size_limit(MOST)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        head = [name.strip().lower() for name in next(lines, [])]
        if missing := [name for name in columns if name not in head]:
            raise NotUnderstoodError(
                f"{path} has no column {' and no column '.join(missing)}: its first line must name "
                f"the columns, and holds {', '.join(filter(None, head)) or 'nothing'}."
            )
        return [
            (number, dict(zip_longest(head, map(shown, cells[: len(head)]), fillvalue="")))
            for number, cells in enumerate(lines, start=2)
            if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise NotUnderstoodError(f"{path} is no table: {error}.") from None


def write_table(path, lines, program=False):
    """Write lines as CSV in UTF-8; a text that a spreadsheet would run as a formula is shown.

    A mark at its start tells Excel of text beyond ASCII that it is UTF-8; a program needs none.
    """
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([[plain(cell) for cell in line] for line in lines])
    text = buffer.getvalue()
    mark = "" if program or text.isascii() else "\ufeff"
    path.write_bytes(f"{mark}{text}".encode())


def plain(cell):
    """Return a text as a spreadsheet shows it and does not run it."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def shown(cell):
    """Return the text that `plain` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell
