"""How a class did, problem by problem and test by test."""

from collections import Counter
from dataclasses import dataclass

import nbformat

from course.check import TITLE
from course.grader.report import NOT_HANDED_IN


@dataclass(frozen=True)
class Item:
    """One graded cell: how many students got all its points, and what the others were told."""

    cell: str
    title: str
    problem: str
    right: float
    points: float
    most: float
    failures: list


def handed_in(outcomes):
    """Return the outcomes of those students who handed something in."""
    return [one for one in outcomes if one.what != NOT_HANDED_IN]


def items(outcomes, titles):
    """Return an `Item` for each graded cell, in the notebook's order.

    Parameters
    ----------
    outcomes : list of Outcome
        Of one set, as `course.grader.report` returns them.
    titles : dict from str to str
        What each cell is about.
    """
    by_cell = {}
    for one in handed_in(outcomes):
        by_cell.setdefault(one.cell, []).append(one)
    rows = []
    for cell, found in by_cell.items():
        right = sum(one.points >= one.max_points for one in found) / len(found)
        points = sum(one.points for one in found) / len(found)
        # The values behind the first line are each student's own.
        said = Counter(o.what.split("\n")[0] for o in found if o.points < o.max_points)
        first = found[0]
        title = titles.get(cell, cell)
        rows.append(
            Item(cell, title, first.problem, right, points, first.max_points, said.most_common())
        )
    return rows


def titles_of(source):
    """Return what each graded cell of a source notebook is about, by its name."""
    titles = {}
    for cell in nbformat.read(source, as_version=4).cells:
        found, told = TITLE.search(cell.source), cell.metadata.get("nbgrader", {})
        if told.get("grade"):
            test = found and f"Test {found[1]}, {found[3].removesuffix('.')}"
            titles[cell.id] = test or "graded by hand"
    return titles
