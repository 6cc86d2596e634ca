"""Time the isolated grading of a class: `python -m benchmarks.grading [--students 500]`.

Every student hands in problem set 6, with right answers and plausible wrong ones in turn. The
submissions are graded as by `nbgrader autograde`, in this process, and two at a time.
"""

from __future__ import annotations

import argparse
import copy
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from course.grader.autograde import IsolatedAutograde
from course.grader.report import outcomes
from tests.course.sets import COURSE, answers_module, answers_with, fill, right_answers

SET = "ps06"
GOALS = "goals: under 1 s a submission, 500 submissions in under 360 s on 2 cores"


def make_course(root: Path) -> dict:
    """Copy the course into a folder; return its configuration."""
    shutil.copytree(COURSE / "source" / SET, root / "source" / SET)
    shutil.copy(COURSE / "nbgrader_config.py", root)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.assignment_id = SET
    return config


def run(step: type, config: dict) -> None:
    """Run one of nbgrader's converters."""
    step(coursedir=CourseDirectory(config=config), config=config).start()


def hand_in(root: Path, students: int) -> None:
    """Write each student's notebook."""
    release = nbformat.read(root / "release" / SET / f"{SET}.ipynb", as_version=4)
    answers = [*right_answers(SET).values()]
    answers += [answers_with(SET, mistake) for mistake in answers_module(SET).MISTAKES]
    for i in range(students):
        folder = root / "submitted" / f"student{i:04d}" / SET
        folder.mkdir(parents=True)
        notebook = fill(copy.deepcopy(release), answers[i % len(answers)])
        nbformat.write(notebook, folder / f"{SET}.ipynb")


def cpu_seconds() -> float:
    """Return the time that this process and its children have used."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in used)


def main() -> None:
    """Grade a class, and print how long it took."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grading", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--students", type=int, default=500)
    students = parser.parse_args().students
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        config = make_course(root)
        run(GenerateAssignment, config)
        hand_in(root, students)
        begin, cpu = time.perf_counter(), cpu_seconds()
        run(IsolatedAutograde, config)
        seconds, cpu = time.perf_counter() - begin, cpu_seconds() - cpu
        rows = outcomes(root, SET)
        points = sum(row.points for row in rows) / students
    print(
        f"{students} submissions of {SET}: {seconds:.0f} s, {seconds / students:.2f} s each "
        f"({cpu / students:.2f} s of a core), {os.cpu_count()} cores; {points:.1f} points each"
    )
    print(GOALS)


if __name__ == "__main__":
    main()
