"""Student versions of the problem sets: byte for byte what `nbgrader generate_assignment` makes.

The same preprocessors in the same order, without the database: a set takes milliseconds, and
nothing is needed but the source. The book's pages and Binder's image are made by it.
"""

import shutil

from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from traitlets.config import Config

STEPS = (
    LockCells,
    ClearSolutions,
    ClearOutput,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
)


def sets_in(course):
    """Return the names of the problem sets that a course's folder holds the sources of."""
    return sorted({path.parent.name for path in (course / "source").glob("*/*.ipynb")})


def student_version(source):
    """Return the text of a notebook without solutions, hidden tests, mark schemes and outputs."""
    exporter = NotebookExporter(config=Config({"Exporter": {"default_preprocessors": []}}))
    for step in STEPS:
        exporter.register_preprocessor(step, enabled=True)
    resources = {"unique_key": source.stem, "nbgrader": {"notebook": source.stem}}
    return exporter.from_filename(str(source), resources=resources)[0]


def release(course, name):
    """Write a set's student version into release/; a file that is there and right stays untouched.

    Return the paths of the set's notebooks.
    """
    source, target = course / "source" / name, course / "release" / name
    target.mkdir(parents=True, exist_ok=True)
    notebooks = []
    for path in sorted(source.glob("*.ipynb")):
        content, released = student_version(path).encode(), target / path.name
        if not released.is_file() or released.read_bytes() != content:
            released.write_bytes(content)
        notebooks.append(released)
    return notebooks


def drop_others(course):
    """Remove from release/ the sets that have no source any more."""
    names = sets_in(course)
    for folder in (course / "release").glob("*/"):
        if folder.name not in names:
            shutil.rmtree(folder)
