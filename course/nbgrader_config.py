"""The course's nbgrader settings, used from any folder with `--config=.../nbgrader_config.py`."""

import os
import sys
import textwrap
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, GetGrades, NbGraderPreprocessor

HERE = Path(__file__).resolve().parent


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
# A kernel that compiles the library's loops is slower, for runs as short as these, than NumPy.
os.environ.setdefault("PEGASOS_JIT", "0")

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.course_id = "pegasos"
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.db_url = f"sqlite:///{HERE / 'gradebook.db'}"
c.NbGrader.logfile = str(HERE / "nbgrader.log")

# Downloaded files are named STUDENT_ps06.ipynb, whatever folder they were extracted to.
c.FileNameCollectorPlugin.named_regexp = r"(.*/)?(?P<student_id>[^/_]+)_(?P<file_id>[^/]+)"

# Stock feedback shows the hidden tests, in the source and in tracebacks.
c.GenerateFeedback.preprocessors = [
    GetGrades,
    ShortenTestOutput,
    ClearHiddenTests,
    CSSHTMLHeaderPreprocessor,
]
