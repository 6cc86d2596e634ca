"""A student's own check of a notebook: run it from the top, and say of each test what it found.

Needs the book's environment only, neither nbgrader nor the course's sources.
"""

import re
from dataclasses import dataclass

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

TITLE = re.compile(r"^# Test (\d+\.\d+) \((\d+) points?\): (.+)$", re.M)
SECONDS = 60  # for one cell


@dataclass(frozen=True)
class Result:
    """What a visible test found; `trouble` is None where it passed."""

    test: str
    points: int
    title: str
    trouble: str | None


def run(path, progress=lambda done, total: None):
    """Return a `Result` for each test cell of a notebook, in its order, and the cells that failed.

    Parameters
    ----------
    path : Path
    progress : callable
        Called with the numbers of cells run and to run.

    Raises
    ------
    ValueError
        If the file is no notebook, or a cell does not end.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever JSON and its schema raise
        raise ValueError(f"{path} is not a notebook: {error}") from None
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    done = []

    def ran(cell, cell_index, **_):
        done.append(cell_index)
        progress(len(done), len(cells))

    client = NotebookClient(
        notebook, timeout=SECONDS, allow_errors=True, kernel_name="python3", on_cell_executed=ran,
        resources={"metadata": {"path": str(path.parent.resolve())}},
        extra_arguments=["--log-level=ERROR"],  # the kernel's own warnings are no student's concern
    )  # fmt: skip
    try:
        client.execute()
    except CellTimeoutError:
        raise ValueError(
            f"A cell took longer than {SECONDS} seconds, and the check stopped there. "
            "Does a loop in your code never end?"
        ) from None
    except DeadKernelError:
        raise ValueError(
            "Python itself ended while your code ran: too much memory, or an exit()?"
        ) from None
    results, broken = [], []
    for cell in cells:
        title, trouble = TITLE.search(cell.source), trouble_of(cell)
        if title:
            results.append(Result(title[1], int(title[2]), title[3], trouble))
        elif trouble:
            broken.append((cell.source.strip().split("\n")[0], trouble))
    return results, broken


def trouble_of(cell):
    """Return in words what went wrong in a cell that ran, or None."""
    for output in cell.outputs:
        if output.output_type == "error":
            if output.ename == "Hint":
                return output.evalue
            if output.ename == "NotImplementedError":
                return "Not written yet."
            return f"{output.ename}: {output.evalue}"
    return None
