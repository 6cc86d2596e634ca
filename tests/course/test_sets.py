"""Every problem set: its source is clean, right answers pass, and wrong ones lose points."""

import ast
import re
import textwrap
from collections import Counter

import matplotlib.pyplot as plt
import nbformat
import pytest

from .sets import (
    SETS,
    answers_module,
    answers_with,
    course_answers,
    failures_of,
    graded_here,
    is_answer,
    is_manual,
    is_test,
    look_here,
    nbgrader_of,
    problem_of,
    put,
    read,
    region,
    right_answers,
    seen,
    source_of,
)

RIGHT = [(name, answers) for name in SETS for answers in right_answers(name)]
MISTAKES = [(name, mistake) for name in SETS for mistake in answers_module(name).MISTAKES]
SHOWN = r"^# Test (\d)\.\d+ \((\d+) points?\): "


@pytest.mark.parametrize("name", SETS)
def test_source_is_a_clean_nbgrader_notebook(name):
    notebook = read(source_of(name))
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells), "an id stands twice"
    for cell in notebook.cells:
        assert cell.id.startswith(f"{name}-"), cell.id
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        if told := nbgrader_of(cell):
            assert told.schema_version == 3
            assert told.grade_id == cell.id
            assert told.locked != told.solution, cell.id
        if is_manual(cell):
            rubric = "\n".join(region(cell, "MARK SCHEME"))
            points = [int(p) for p in re.findall(r"(\d+) points?\b", rubric)]
            assert sum(points) == told.points, f"{cell.id}: the rubric's points are {points}"
        if is_answer(cell):
            assert region(cell, "SOLUTION"), cell.id


@pytest.mark.parametrize("name", SETS)
def test_points_and_difficulty_are_stated(name):
    notebook, points = read(source_of(name)), Counter()
    for cell in notebook.cells:
        if is_test(cell) or is_manual(cell):
            points[problem_of(cell.id)] += cell.metadata.nbgrader.points
        if is_test(cell):
            problem, most = re.search(SHOWN, cell.source, flags=re.M).groups()
            assert (problem, int(most)) == (problem_of(cell.id), cell.metadata.nbgrader.points)
    stated = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert f" {sum(points.values())} points" in notebook.cells[0].source
    for problem, most in points.items():
        assert re.search(rf"^## Problem {problem}: .+ \([●○]{{3}}, {most} points\)$", stated, re.M)


@pytest.mark.parametrize("name", SETS)
def test_each_problem_has_three_right_answers_and_eight_wrong_ones(name):
    answers, wrong = right_answers(name), Counter(m[0] for m in answers_module(name).MISTAKES)
    cells = [cell.id for cell in read(source_of(name)).cells if is_answer(cell)]
    for cell in cells:
        assert len({own[cell] for own in answers.values()}) >= 3, cell
        assert wrong[problem_of(cell)] >= 8, cell
    assert set(wrong) == {problem_of(cell) for cell in cells}
    assert {m for a in answers.values() for m in a} == set(cells), "an answer to no cell"
    assert set(answers_module(name).SUBMITTED) <= set(answers_module(name).MISTAKES)


@pytest.mark.parametrize("name", SETS)
def test_students_are_told_the_name_of_what_they_set(name):
    cells = [cell for cell in read(source_of(name)).cells if not is_test(cell)]
    shown = "\n".join(line for cell in cells for line in seen(cell))
    for cell in filter(is_answer, cells):
        if "def " not in cell.source:
            for told in re.findall(r"^(\w+) = ", "\n".join(region(cell, "SOLUTION")), re.M):
                assert told in shown, f"only the tests name {told}"


@pytest.mark.parametrize(("name", "answers"), RIGHT)
def test_right_answers_pass_every_test(name, answers):
    assert graded_here(name, right_answers(name)[answers]) == {}


@pytest.mark.parametrize(("name", "answers"), RIGHT)
def test_the_part_that_is_not_graded_runs_on_every_right_answer(name, answers):
    plt.switch_backend("Agg")  # no window
    look_here(name, right_answers(name)[answers])
    plt.close("all")


@pytest.mark.parametrize("name", SETS)
def test_right_answers_pass_under_another_seed(name, monkeypatch):
    monkeypatch.setenv("PEGASOS_COURSE_SEED", "20261128")
    for answers in right_answers(name).values():
        assert graded_here(name, answers) == {}


def cost_of(name, failed):
    return " ".join(test.removeprefix(f"{name}-") for test in failed)


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_fails_its_tests_and_no_other_and_is_told_in_words(name, mistake):
    failed = failures_of(name, mistake)
    assert cost_of(name, failed) == answers_module(name).MISTAKES[mistake].fails, failed
    assert {problem_of(test) for test in failed} == {mistake[0]}
    told = [message for message in failed.values() if message.startswith("Hint: ")]
    assert told, failed
    assert all(len(message.split()) > 8 for message in told), told
    hidden = [message for message in failed.values() if message.startswith("NameError: name '_")]
    assert not hidden, "a test wants what another one, which failed before it came so far, defines"


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["3", "20261128"])
@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_costs_the_same_under_another_seed(name, mistake, seed, monkeypatch):
    monkeypatch.setenv("PEGASOS_COURSE_SEED", seed)
    failed = graded_here(name, answers_with(name, mistake))
    assert cost_of(name, failed) == answers_module(name).MISTAKES[mistake].fails, failed


def ordered(name, order):
    """Return what a set's tests say of an order, made of the right one by a function."""
    own = course_answers(name)
    (cell,) = (cell for cell in own if cell.endswith("-order-answer"))
    line = own[cell].splitlines()[-1]
    variable, right = line.split(" = ")
    return graded_here(name, {cell: f"{variable} = {order(ast.literal_eval(right))!r}"})


@pytest.mark.parametrize("name", SETS)
def test_an_order_may_be_a_tuple_and_has_letters_of_lines_only(name):
    assert ordered(name, tuple) == {}
    for order in (
        lambda right: [*right[:-1], "Z"],
        lambda right: ["Z", *right[1:]],
        lambda right: [line.lower() for line in right],
        lambda right: ["" for _ in right],
        lambda right: list(range(len(right))),
        lambda right: [right],
        "".join,
    ):
        failed = ordered(name, order)
        assert any(cell.endswith("-lines") for cell in failed), failed
        assert any(told.startswith("Hint: ") for told in failed.values()), failed


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("order", [None, 3, 2.5, "ABC", [1, 2], [["A"]], [None], {"A": "B"}])
def test_what_is_no_list_of_letters_is_called_so_and_not_an_error(name, order):
    failed = ordered(name, lambda right: order)
    assert [cell.rpartition("-")[2] for cell in failed] == ["lines", "order"]
    assert all(message.startswith("Hint: ") for message in failed.values()), failed
    assert re.search(r"list of (\w+ )?letters", next(iter(failed.values()))), failed


@pytest.mark.parametrize("name", SETS)
def test_a_blank_answer_fails_every_test(name):
    blank = {
        cell.id: "raise NotImplementedError()"
        for cell in read(source_of(name)).cells
        if is_answer(cell)
    }
    failed = graded_here(name, blank)
    tests = {cell.id for cell in read(source_of(name)).cells if is_test(cell)}
    assert tests <= set(failed), f"passed by nobody's work: {sorted(tests - set(failed))}"


# A right answer that changes an entry of an array, if the argument is one, and works on a copy.
SPOILING = """\
def _course_inner({arguments}):
{answer}
if isinstance({argument}, np.ndarray):
    global _course_spoiled
    _course_spoiled = True
    _course_kept = {argument}.copy()
    {argument}.flat[:1] = {argument}.flat[:1] == 0
    {argument} = _course_kept
return _course_inner({arguments})"""


@pytest.mark.parametrize("name", SETS)
def test_a_function_that_changes_an_array_loses_a_point(name):
    own = course_answers(name)
    for cell in read(source_of(name)).cells:
        if not is_answer(cell) or not cell.source.startswith("def "):
            continue
        (function,) = ast.parse(put(cell.source, "### BEGIN SOLUTION", "pass")).body
        arguments = [one.arg for one in function.args.args]
        answer = textwrap.indent(own[cell.id], "    ")
        for argument in arguments:
            spoiled = SPOILING.format(
                arguments=", ".join(arguments), argument=argument, answer=answer
            )
            failed = graded_here(name, own | {cell.id: spoiled}, names := {})
            told = any("changed one of the arrays" in message for message in failed.values())
            assert told or "_course_spoiled" not in names, f"{function.name} may change {argument}"
            assert told or not failed, failed
