"""Isolated grading: what no submission can do, and what must not cost right answers a point."""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import json
import logging
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbgrader import preprocessors, utils

from course.grader import sandbox, wire
from course.grader.judge import judge
from course.grader.preprocessors import code_cells, write_outputs
from course.grader.restore import put_back, restore, wanted_cells
from course.grader.sandbox import Limits, Sandbox
from course.grader.submission import Unreadable, read

from .hostile import ALL, CODE, EDITS, FILES, GRADIENT, RIGHT, Hostile
from .sets import COURSE, fill, is_test, source_of
from .sets import read as read_source

SUBMISSIONS = CODE | EDITS
NAMES = [*SUBMISSIONS, *FILES]
ROOT = COURSE.parent


@pytest.fixture(scope="session", autouse=True)
def _sandboxed():
    """Say once what is missing, instead of in every test."""
    try:
        sandbox.check()
    except sandbox.NoSandbox as why:
        pytest.fail(str(why))


@functools.cache
def release():
    """Return problem set 6 as students get it."""
    resources = {"nbgrader": {"notebook": "ps06"}}
    notebook = read_source(source_of("ps06"))
    for step in ("LockCells", "ClearSolutions", "ClearHiddenTests", "ComputeChecksums"):
        notebook, _ = getattr(preprocessors, step)()(notebook, resources)
    return notebook


@functools.cache
def released_text():
    """Return what the gradebook holds of each cell: the tests as in the source, the stubs."""
    source = {cell.id: cell.source for cell in read_source(source_of("ps06")).cells}
    return {c.id: source[c.id] if utils.is_locked(c) else c.source for c in release().cells}


def handed_in(hostile):
    """Return the notebook of a submission."""
    notebook = fill(copy.deepcopy(release()), hostile.answers)
    for cell in notebook.cells:
        if cell.id == GRADIENT:
            cell.source = hostile.before + "\n" + cell.source
    hostile.edit(notebook)
    return notebook


def write(name, folder):
    """Fill a folder as a student did."""
    if name in FILES:
        FILES[name][2](folder, handed_in(Hostile(answers=RIGHT)))
    else:
        text = json.dumps(handed_in(SUBMISSIONS[name]), ensure_ascii=True)
        (folder / "ps06.ipynb").write_text(text, encoding="utf-8")


def grade(name, folder, **limits):
    """Grade a folder as the preprocessors do; return the failed tests and the log."""
    limits = {"total_seconds": 60.0, "restarts": 1} | limits
    try:
        notebook = read(folder / "ps06.ipynb")
    except Unreadable as reason:
        return ALL.split(), [str(reason)]
    wanted = wanted_cells(read_source(source_of("ps06")))
    notes = restore(notebook, wanted) + put_back(notebook, wanted, released_text())
    hides = {h for c in notebook.cells for h in c.metadata.get("pegasos", {}).get("hides", [])}
    box = Sandbox(tuple(sorted(hides)), limits=Limits(**limits))
    verdicts, more = judge(code_cells(notebook), box)
    write_outputs(notebook, verdicts)
    nbformat.validate(notebook)
    failed = [
        cell.id.removeprefix("ps06-")
        for cell in filter(is_test, notebook.cells)
        if utils.determine_grade(cell)[0] < cell.metadata.nbgrader.points
    ]
    assert len(list(filter(is_test, notebook.cells))) == len(ALL.split())
    return failed, [*notes, *more, *(": ".join(v.error) for v in verdicts if v.error)]


def grade_by_name(name, folder):
    folder.mkdir(parents=True)
    write(name, folder)
    limits = {}
    if name in SUBMISSIONS:
        limits["call_seconds"] = SUBMISSIONS[name].seconds
        limits["cell_seconds"] = SUBMISSIONS[name].cell_seconds
        limits["restarts"] = 3 if SUBMISSIONS[name].answers is not RIGHT else 1
    try:
        return grade(name, folder, **limits)
    except BaseException as error:
        return ["the grader failed"], [repr(error)]


def digests():
    """Return a digest of each file that no submission may change."""
    folders = [COURSE, ROOT / "tests" / "course", ROOT / "pegasos_lib"]
    files = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return {
        p: hashlib.sha256(p.read_bytes()).hexdigest() for p in files if "__pycache__" not in str(p)
    }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return what each submission got, graded two at a time, by name."""
    release(), released_text()
    root = tmp_path_factory.mktemp("submitted")
    (root / "source" / "ps06").mkdir(parents=True)
    shutil.copy(source_of("ps06"), root / "source" / "ps06")
    before = digests()
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        folders = [root / f"s{i}" / "ps06" for i in range(len(NAMES))]
        results = dict(zip(NAMES, pool.map(grade_by_name, NAMES, folders), strict=True))
    assert digests() == before
    return results


def test_there_are_enough_hostile_submissions():
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_right_code_keeps_its_points_and_no_cheat_gains_any(graded, name):
    failed, log = graded[name]
    if name in FILES:
        fails = "" if FILES[name][0] else ALL
        says = FILES[name][1]
    else:
        fails, says = SUBMISSIONS[name].fails, SUBMISSIONS[name].says
    told = "\n".join(log)
    assert " ".join(failed) == fails, told[:3000]
    assert re.search(says, told), told[:3000]
    assert "found " not in told
    assert "_course_" not in told
    if fails:
        assert told
