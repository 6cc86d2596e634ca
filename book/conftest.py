"""Hand what nbval's kernels put out to the site's build, so that each notebook runs once.

A notebook all of whose cells passed goes into the cache that `_ext/execution.py` chooses, where
myst-nb looks.
"""

import copy
import sys
from pathlib import Path

import pytest

BOOK = Path(__file__).parent
PASSED = pytest.StashKey[dict]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keep the outputs of a cell that passed."""
    report = yield
    if call.when == "call" and report.passed and hasattr(item, "test_outputs"):
        item.parent.stash.setdefault(PASSED, {})[item.cell_num] = item.test_outputs
    return report


def pytest_runtest_teardown(item, nextitem):
    """Cache a notebook behind its last cell."""
    if PASSED in item.parent.stash and (nextitem is None or nextitem.parent is not item.parent):
        cache(item.parent.path, item.parent.nb, item.parent.stash[PASSED])


def cache(path, notebook, outputs):
    """Store a notebook with the outputs of its code cells, unless some are missing."""
    executed = copy.deepcopy(notebook)
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    if len(outputs) < len(cells):
        return
    executed.metadata.setdefault("language_info", {})["pygments_lexer"] = "ipython3"  # as a kernel
    for count, cell in enumerate(cells):
        cell.outputs, cell.execution_count = outputs[count], count + 1
    sys.path.insert(0, str(BOOK / "_ext"))
    try:
        from execution import cache_folder, keep
    finally:
        sys.path.pop(0)
    keep(executed, path, cache_folder(BOOK.parent, BOOK.parent / "_build"))
