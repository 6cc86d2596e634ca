"""Reading what students hand in, whatever it is."""

import json
import re
import stat
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict

from .values import one_line, plain

MOST_BYTES = 20_000_000
MOST_CELLS = 2_000
KINDS = "code", "markdown", "raw"


def unreadable(path: Path) -> str:
    """Return why a submitted notebook cannot be read, "" if it can."""
    try:
        read(path)
    except Unreadable as reason:
        return str(reason)
    return ""


class Unreadable(ValueError):
    """A submission that is no notebook, with the reason in words."""


def read(path: Path) -> NotebookNode:
    """Read a submitted notebook of any format version.

    Raises
    ------
    Unreadable
        If it is missing, a link, too large, not JSON, or no notebook.
    """
    if path.parent.is_symlink() or path.parent.parent.is_symlink():
        raise Unreadable("the notebook could not be read: its folder is a link")
    try:
        found = path.lstat()
    except OSError:
        others = sorted(one_line(other.name) for other in path.parent.glob("*.ipynb"))
        instead = f" (there is {', '.join(others)[:200]})" if others else ""
        raise Unreadable(f"no notebook named {path.name} was handed in{instead}") from None
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("the notebook could not be read: it is a link or no file")
    if found.st_size > MOST_BYTES:
        raise Unreadable(f"the notebook could not be read: it holds over {MOST_BYTES:,} bytes")
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError, OSError) as error:
        what = "empty" if found.st_size == 0 else f"not JSON ({type(error).__name__})"
        raise Unreadable(f"the notebook could not be read: it is {what}") from None
    return _as_notebook(content)


def _as_notebook(content: object) -> NotebookNode:
    """Build a clean notebook of the parts that grading needs; outputs are made anew."""
    try:
        cells = content.get("cells")
        if cells is None:  # format 3 and older
            cells = [cell for sheet in content["worksheets"] for cell in sheet["cells"]]
        clean = [_as_cell(cell, place) for place, cell in enumerate(cells[:MOST_CELLS])]
    except (AttributeError, KeyError, TypeError):
        raise Unreadable("the notebook could not be read: it is JSON, but no notebook") from None
    if not clean:
        raise Unreadable("the notebook holds no cells")
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=clean)


def _as_cell(cell: dict[str, Any], place: int) -> NotebookNode:
    kind = cell["cell_type"] if cell.get("cell_type") in KINDS else "markdown"
    source = cell.get("source", cell.get("input"))
    made = new_cell(kind, _text_of(source), f"cell-{place}")
    told = cell.get("metadata")
    told = told.get("nbgrader") if isinstance(told, dict) else None
    if isinstance(told, dict) and isinstance(told.get("grade_id"), str):
        made.metadata["nbgrader"] = {"grade_id": told["grade_id"]}
    if isinstance(cell.get("id"), str) and re.fullmatch(r"[\w-]{1,64}", cell["id"], re.ASCII):
        made.id = cell["id"]
    pictures = cell.get("attachments")
    if kind == "markdown" and isinstance(pictures, dict):
        made.attachments = from_dict(
            {
                plain(name): {plain(kind): _text_of(data) for kind, data in picture.items()}
                for name, picture in pictures.items()
                if isinstance(picture, dict)
            }
        )
    return made


def _text_of(lines: object) -> str:
    """Return a text that may be kept as a list of lines; "" of what is none."""
    lines = lines if isinstance(lines, list) else [lines]
    return plain("".join(line for line in lines if isinstance(line, str)))


def new_cell(kind: str, source: str, cell_id: str) -> NotebookNode:
    """Return a new cell; unlike nbformat's own function it does not validate each by itself."""
    made = NotebookNode(cell_type=kind, id=cell_id, metadata=NotebookNode(), source=source)
    if kind == "code":
        made.update(execution_count=None, outputs=[])
    return made
