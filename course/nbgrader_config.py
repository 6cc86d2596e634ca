"""The course's nbgrader settings, used from any folder with `--config=.../nbgrader_config.py`."""

import os
import sys
import textwrap
from pathlib import Path

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import utils
from nbgrader.preprocessors import (
    AssignLatePenalties,
    ClearHiddenTests,
    ClearOutput,
    GetGrades,
    LimitOutput,
    NbGraderPreprocessor,
)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from course.grader.autograde import IsolatedAutograde  # noqa: E402
from course.grader.preprocessors import (  # noqa: E402
    IsolatedGrade,
    RestoreMetadata,
    SafeDeduplicateIds,
    SafeOverwriteCells,
    SaveGrades,
)


class ShortenTestOutput(NbGraderPreprocessor):
    """Keep of a test cell's output the error's name and message.

    A traceback quotes the lines around the one that failed, hidden tests among them, and what
    a student's function prints may hold their inputs.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        if cell.cell_type == "code" and utils.is_grade(cell):
            cell.outputs = [out for out in cell.outputs if out.output_type == "error"]
            for out in cell.outputs:
                lines = f"{out.ename}: {out.evalue}".splitlines()
                out.traceback = [textwrap.fill(line, 100, subsequent_indent="  ") for line in lines]
        return cell, resources


# nbgrader makes its database with the command `alembic`, which stands beside it: so an
# environment that was not activated works too.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
# Compiling the library's loops takes longer than runs as short as the tests' take in NumPy.
os.environ.setdefault("PEGASOS_JIT", "0")

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.course_id = "pegasos"
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.db_url = f"sqlite:///{HERE / 'gradebook.db'}"
c.NbGrader.logfile = str(HERE / "nbgrader.log")

# Downloaded files are named STUDENT_ps06.ipynb, whatever folder they were extracted to.
c.FileNameCollectorPlugin.named_regexp = r"(.*/)?(?P<student_id>[^/_]+)_(?P<file_id>[^/]+)"

# Grading: nothing that is handed in runs outside of the sandbox, stops the batch, or is left out.
# nbgrader has no setting for the class that grades.
nbgrader.apps.autogradeapp.Autograde = nbgrader.apps.api.Autograde = IsolatedAutograde
c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    RestoreMetadata,
    SafeDeduplicateIds,
    SafeOverwriteCells,
]
c.Autograde.autograde_preprocessors = [
    IsolatedGrade,
    LimitOutput,
    SaveGrades,
    AssignLatePenalties,
]

# Stock feedback shows the hidden tests, in the source and in tracebacks.
c.GenerateFeedback.preprocessors = [
    GetGrades,
    ShortenTestOutput,
    ClearHiddenTests,
    CSSHTMLHeaderPreprocessor,
]
