"""A problem set of two problems, a function and a proof, for the tests of the commands."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

NAME = "tiny"
PROOF = "A sum of two equal numbers is even, by definition."
RUBRIC = "4 points: the definition of even is used."
HINT = "Twice a number is the number plus itself: look at the sign of your sum."
HIDDEN_HINT = "For another number the answer is wrong: is yours always the same?"


def cell(kind, name, source, **told):
    """Return a cell with nbgrader's metadata; what is not told is False."""
    new = new_code_cell if kind == "code" else new_markdown_cell
    flags = {"grade": False, "locked": False, "solution": False, "task": False} | told
    metadata = {"nbgrader": {"schema_version": 3, "grade_id": name, **flags}}
    return new(source, id=name, metadata=metadata)


def source(points=2, hidden=10, more=False):
    """Return the source of the set, as it is or changed: its points, its hidden test, its cells."""
    title = f"# Test 1.1 ({points} points): twice a number."
    test = f"""{title}
check(ask(double, 3), 6, "{HINT}")
### BEGIN HIDDEN TESTS
check(ask(double, 5), {hidden}, "{HIDDEN_HINT}", show=False)
### END HIDDEN TESTS"""
    answer = "def double(x):\n    ### BEGIN SOLUTION\n    return x + x\n    ### END SOLUTION"
    proof = f"{PROOF}\n\n### BEGIN MARK SCHEME\n{RUBRIC}\n### END MARK SCHEME"
    cells = [
        cell("text", "tiny-intro", "# A tiny set", locked=True),
        cell("code", "tiny-setup", "from pegasos_lib.exercises import ask, check", locked=True),
        cell("code", "tiny-p1-answer", answer, solution=True),
        cell("code", "tiny-p1-test", test, grade=True, locked=True, points=points),
        cell("text", "tiny-p2-proof", proof, grade=True, solution=True, points=4),
    ]
    if more:
        cells.append(cell("code", "tiny-p3-test", "# no test", grade=True, locked=True, points=1))
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write_source(course, name=NAME, **changes):
    path = course / "source" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(source(**changes), path)


def answered(released, code=None, proof=None):
    """Return the bytes of a released notebook, read from its path, with a student's answers."""
    notebook = nbformat.read(released, as_version=4)
    for one in notebook.cells:
        if one.id == "tiny-p1-answer" and code:
            one.source = f"def double(x):\n    {code}"
        if one.id == "tiny-p2-proof" and proof:
            one.source = proof
    return nbformat.writes(notebook).encode()
