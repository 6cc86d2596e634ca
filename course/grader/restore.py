"""Which cell of a submission is which of the source's, whatever was done to it.

A cell is known by its id, else by the grade_id in its metadata, else by what it holds. What it is
worth and whether it is locked is the source's to say, never the submission's.
"""

import copy
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from .submission import new_cell

# Spaces only, no ends of lines: a search that crosses these takes the square of a text's length.
STUB = re.compile(r"^[ \t]*(# YOUR CODE HERE|YOUR ANSWER HERE)[ \t\r]*$", re.MULTILINE)
REGION = re.compile(r"^.*### BEGIN (HIDDEN TESTS|SOLUTION|MARK SCHEME).*$", re.MULTILINE)


@dataclass(frozen=True)
class Wanted:
    """A cell of the source, as a submission should have it.

    `first_line` and `names` (that students see it define) tell it where its id is lost.
    """

    id: str
    cell_type: str
    metadata: NotebookNode
    first_line: str
    names: tuple[str, ...]

    @property
    def told(self) -> dict:
        return self.metadata.get("nbgrader", {})

    @property
    def in_gradebook(self) -> bool:
        """Whether nbgrader keeps the cell: graded, an answer, a task, or locked."""
        return any(self.told.get(flag) for flag in ("grade", "solution", "task", "locked"))

    @property
    def by_hand(self) -> bool:
        return self.cell_type == "markdown" and self.told.get("solution", False)


@dataclass(frozen=True)
class _Look:
    """What a cell is known by whose id is lost: the names that it defines, and its first lines."""

    names: frozenset[str]
    lines: frozenset[str]

    @classmethod
    def at(cls, cell):
        lines = cell.source.split("\n", 40)[:40]
        return cls(frozenset(_names(cell.source)), frozenset(line.strip() for line in lines))

    def is_like(self, want):
        if want.names:
            return self.names.issuperset(want.names)
        return bool(want.told.get("locked") and want.first_line in self.lines - {""})


def wanted_cells(source: NotebookNode) -> list[Wanted]:
    """Return what a submission of a source should hold, in its order."""
    cells = []
    for cell in source.cells:
        metadata = copy.deepcopy(cell.metadata)
        visible = _without_hidden(cell.source).strip()
        names = ()
        if cell.cell_type == "code" and metadata.get("nbgrader", {}).get("solution", False):
            hides = metadata.get("pegasos", {}).get("hides", [])
            asks = _names(cell.source)
            metadata["pegasos"] = NotebookNode(hides=list(hides), asks=list(asks))
            names = _names(visible) or asks
        first_line = visible.split("\n")[0].strip()
        cells.append(Wanted(cell.id, cell.cell_type, metadata, first_line, names))
    return cells


def restore(notebook: NotebookNode, wanted: list[Wanted]) -> list[str]:
    """Put a submission's cells in the source's order with its metadata; return what was mended.

    Cells of the student's own follow the cell that they stood behind.
    """
    cells = notebook.cells
    notes = []
    claims = _claims(cells, wanted, notes)
    owner = {place: want for want, place in claims}
    groups: dict[str, list[NotebookNode]] = {"": []}
    current, used = "", {want.id for want in wanted}
    for place, cell in enumerate(cells):
        if place in owner:
            want = owner[place]
            current = want.id
            groups[current] = [_as_wanted(cell, want, notes)]
        else:
            if cell.id in used:
                cell.id = next(f"own-{n}" for n in range(len(used) + 1) if f"own-{n}" not in used)
            used.add(cell.id)
            cell.metadata = NotebookNode()
            groups[current].append(cell)
    order = [want.id for want in wanted if want.id in groups]
    if order != [name for name in groups if name]:
        notes.append("the cells were put back in their order")
    notebook.cells = groups[""] + [cell for name in order for cell in groups[name]]
    return notes


def put_back(notebook: NotebookNode, wanted: list[Wanted], text: dict[str, str]) -> list[str]:
    """Put back the text of locked cells, and cells that are missing; return what was put back.

    A missing answer comes before the student's own cells at its place, which may hold the answer.

    Parameters
    ----------
    text : dict of str
        What each cell holds as it was released, hidden tests included, by grade_id.
    """
    ids = {want.id for want in wanted}
    head, groups = [], {}
    current = head
    locked = {want.id for want in wanted if want.told.get("locked")}
    for cell in notebook.cells:
        if cell.id in locked:
            cell.source = text[cell.id]
            cell.pop("attachments", None)
        if cell.id in ids:
            current = groups[cell.id] = []
        current.append(cell)
    ordered, notes = [head], []
    for want in wanted:
        if want.id in groups:
            ordered.append(groups[want.id])
        elif want.in_gradebook:
            made = new_cell(want.cell_type, text[want.id], want.id)
            made.metadata = copy.deepcopy(want.metadata)
            notes.append(f"cell {want.id} was missing and was put back")
            last = ordered[-1]
            if want.told.get("solution") and last is not head:
                ordered.append([made, *last[1:]])
                del last[1:]
            else:
                ordered.append([made])
    notebook.cells = [cell for group in ordered for cell in group]
    return notes


def _claims(cells, wanted, notes) -> list[tuple[Wanted, int]]:
    """Return which source cell is at which place of the submission."""
    claims: dict[str, int] = {}
    by_id = {want.id: want for want in wanted}
    looks = [_Look.at(cell) for cell in cells]  # once, not for each cell that is wanted

    def claim(how, finds):
        for want in wanted:
            if want.id not in claims:
                free = [p for p in range(len(cells)) if p not in claims.values()]
                if places := finds(want, free):
                    claims[want.id] = _best(places, cells, want)
                    if len(places) > 1:
                        notes.append(f"cell {want.id} stood {len(places)} times; one counts")
                    if how:
                        notes.append(f"cell {want.id} was known by {how}")

    claim("", lambda want, free: [p for p in free if cells[p].id == want.id])
    claim("its grade_id", lambda want, free: [p for p in free if _told_id(cells[p]) == want.id])
    claim("what it holds", lambda want, free: [p for p in free if looks[p].is_like(want)])
    _claim_between(cells, wanted, claims, notes)
    return [(by_id[name], place) for name, place in claims.items()]


def _claim_between(cells, wanted, claims, notes):
    """Find a proof without metadata: it is the free texts between the cells around its place."""
    for i, want in enumerate(wanted):
        if want.by_hand and want.id not in claims:
            before = [claims[w.id] for w in wanted[:i] if w.id in claims]
            after = [claims[w.id] for w in wanted[i + 1 :] if w.id in claims]
            start, stop = (before or [-1])[-1] + 1, (after or [len(cells)])[0]
            taken = set(claims.values())
            free = [
                p
                for p in range(start, stop)
                if p not in taken and cells[p].cell_type != "code" and cells[p].source.strip()
            ]
            if free:
                claims[want.id] = free[0]
                cells[free[0]].source = "\n\n".join(cells[p].source for p in free)
                for place in free[1:]:
                    cells[place].source = ""
                notes.append(f"cell {want.id} was known by its place")


def _best(places, cells, want):
    """Return which of several cells counts: of answers the last one that was written."""
    if not want.told.get("solution"):
        return places[0]
    written = [p for p in places if cells[p].source.strip() and not STUB.search(cells[p].source)]
    return (written or places)[-1]


def _as_wanted(cell, want, notes):
    if cell.cell_type != want.cell_type:
        notes.append(f"cell {want.id} had become {cell.cell_type}")
        cell = new_cell(want.cell_type, cell.source, want.id)
    cell.id = want.id
    cell.metadata = copy.deepcopy(want.metadata)
    return cell


def _told_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _names(source: str) -> tuple[str, ...]:
    """Return the names that a cell defines at its top level. A submission is not parsed."""
    found = re.findall(
        r"^(?:async )?(?:def|class) +(\w+)|^(\w+) *(?::[^=\n]+)?=(?!=)", source, re.MULTILINE
    )
    return tuple(dict.fromkeys(a or b for a, b in found))


def _without_hidden(source: str) -> str:
    kept, hidden = [], False
    for line in source.split("\n"):
        if REGION.match(line):
            hidden = True
        if not hidden:
            kept.append(line)
        if "### END " in line:
            hidden = False
    return "\n".join(kept)
