"""Run the notebooks named on the command line and store their text outputs.

Pictures and widget views are dropped: they differ from run to run and weigh down every commit;
the site's build draws them anew. What stays is compared by nbval.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

DROPPED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def strip(notebook: nbformat.NotebookNode) -> None:
    """Drop from an executed notebook what is not to be stored."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            for mime in DROPPED:
                output.get("data", {}).pop(mime, None)


def run(path: Path) -> None:
    """Execute one notebook in its own folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": path.parent}},
    ).execute()
    strip(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        started = time.perf_counter()
        print(f"{name} ...", end=" ", flush=True)
        run(Path(name))
        print(f"{time.perf_counter() - started:.1f} s", flush=True)
