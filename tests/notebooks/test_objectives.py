"""Each objective of each chapter is tied to its figure and to a graded problem that exist."""

import json
from collections import Counter

import pytest

from tests.notebooks import objectives
from tests.notebooks.checks import text_of
from tests.notebooks.test_notebooks import NOTEBOOKS, ROOT, code, each_notebook, notebook, words

JS = ROOT / "pegasos_lib" / "widgets" / "js"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def graded_names():
    sources = sorted((ROOT / "course" / "source").glob("*/*.ipynb"))
    return objectives.graded_problems([read(path) for path in sources])


def figure_of(path):
    """Return the kind of the one figure that a chapter makes."""
    from pegasos_lib import widgets

    text = "\n".join(
        text_of(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "code"
    )
    (kind,) = {getattr(widgets, n).kind for n in widgets.__all__ if f"explorer = {n}(" in text}
    return kind


@pytest.fixture(scope="module")
def tasks_by_kind():
    return {
        path.stem: objectives.tasks_of(path.stem, JS)
        for path in JS.glob("*.js")
        if (JS / path.stem).is_dir() and path.stem != "ui"
    }


@each_notebook
def test_each_objective_names_a_task_and_a_graded_problem_that_exist(path, tasks_by_kind):
    tasks = tasks_by_kind[figure_of(path)]
    assert 2 <= len(tasks) == len(set(tasks))
    known = tasks_by_kind | {"": tasks}
    assert objectives.objective_problems(read(path), known, graded_names()) == []


@each_notebook
def test_each_task_of_the_figure_serves_an_objective(path):
    top = text_of(read(path)["cells"][0]["source"])
    tasks = objectives.tasks_of(figure_of(path), JS)
    assert [task for task in tasks if f"<!--task {task}-->" not in top] == []


def test_each_graded_problem_serves_an_objective():
    tops = " ".join(text_of(read(path)["cells"][0]["source"]) for path in NOTEBOOKS)
    served = {name for name, to_come in objectives.GRADED.findall(tops) if not to_come}
    assert graded_names() >= served
    assert served >= {"hinge_subgradient", "pegasos_step", "minibatch_pegasos"}


def test_a_problem_to_come_is_asked_for_by_one_objective():
    names = Counter(
        name
        for path in NOTEBOOKS
        for name, to_come in objectives.GRADED.findall(text_of(read(path)["cells"][0]["source"]))
        if to_come
    )
    assert [name for name, times in names.items() if times > 1] == []


TOP = """# A chapter

:::{admonition} After this chapter you can
:class: tip

1. **read** a picture,
   in two lines;
   *figure: task 1<!--task one-->, the first; graded: `exists`.*
2. **say** what it says;
   *figure: the second prediction, tasks 1<!--task one--> and 2<!--task two-->; graded: `a` (to come).*
3. **do** it.
   *figure: the first prediction, task 1<!--task other/far--> of chapter 2; graded: `exists` and `other` (to come).*

**Before you start:** nothing.
**Time:** 5 minutes.
:::
"""  # noqa: E501
QUESTION = "## The question\n\n* Not this list.\n\n**Predict first, then try:**\n\n* One?\n* Two?\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("1<!--task one-->, the first", "2<!--task two-->, the first", None),
        ("1<!--task one-->, the first", "1, the first", "lacks its id"),
        ("1<!--task one-->, the first", "2<!--task one-->, the first", "one is task 1, not 2"),
        ("and 2<!--task two-->", "and 3<!--task three-->", "no task three"),
        ("task 1<!--task one-->, the first", "the first prediction", "no task of a figure"),
        ("1<!--task one-->, the first", "1<!--task other/far-->, the first", None),
        ("1<!--task one-->, the first", "1<!--task other/one-->, the first", "no task one"),
        ("1<!--task one-->, the first", "1<!--task none/far-->, the first", "no task far"),
        ("the second prediction", "the third prediction", "no third prediction"),
        ("`exists`.*\n2", "nothing.*\n2", "no graded problem"),
        ("`exists`.*\n2", "`exist`.*\n2", "no problem exist"),
        ("`exists`.*\n2", "`exists` (to come).*\n2", "exists has come"),
        ("`a` (to come)", "`a`", "no problem a"),
        ("; graded: `exists` and `other` (to come).*", ".*", "3 objectives, but 2 say"),
        ("**Time:**", "", "no **Time:**"),
        ("**Before you start:**", "", "no **Before"),
        ("{admonition} After", "{note} After", "no box"),
        ("3. **do** it.\n   *figure: the first", "   *the first", "2 objectives, not 3 to 5"),
    ],
)
def test_an_error_in_the_objectives_is_found(old, new, message):
    assert old in TOP
    broken = notebook(words(TOP.replace(old, new, 1) if old else TOP), words(QUESTION), code("x"))
    found = objectives.objective_problems(
        broken, {"": ["one", "two"], "other": ["far"]}, {"exists"}
    )
    assert found == [] if message is None else any(message in problem for problem in found)


def test_tasks_are_read_from_the_script_in_their_order(tmp_path):
    (tmp_path / "kind").mkdir()
    (tmp_path / "kind.js").write_text('const x = { id: "no-task", label: "text: " };')
    (tmp_path / "kind" / "goals.js").write_text(
        'tasks(fig, [\n  { id: "one", text: "Do." },\n  {\n    id: "two-a",\n    text: `Do.` }]);'
    )
    (tmp_path / "kind" / "goals.test.js").write_text('{ id: "three", text: "Test." }')
    assert objectives.tasks_of("kind", tmp_path) == ["one", "two-a"]
    assert objectives.tasks_of("chord", JS)[:2] == ["not-convex", "beyond"]
