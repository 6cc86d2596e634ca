"""The course's nbgrader settings, used from any folder with `--config=.../nbgrader_config.py`."""

import os
import sys
import textwrap
from pathlib import Path

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
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

from course.feedback import (  # noqa: E402
    TEMPLATES,
    FeedbackExporter,
    TellWhatWaits,
    markdown_without_html,
)
from course.grader.autograde import IsolatedAutograde  # noqa: E402
from course.grader.preprocessors import (  # noqa: E402
    IsolatedGrade,
    RestoreMetadata,
    SafeDeduplicateIds,
    SafeOverwriteCells,
    SaveGrades,
)


class ShortenTestOutput(NbGraderPreprocessor):
    """Keep of a test's output the error's name and message, and little of what students' code says.

    A traceback quotes the lines around the one that failed, hidden tests among them. What a
    student's function prints or raises, and what a later cell of theirs prints, may hold the
    hidden tests' inputs.
    """

    ours = "Hint", "NoAnswer", "NotGraded"

    def preprocess(self, nb, resources):
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        first = next((i for i, cell in enumerate(code) if utils.is_grade(cell)), len(code))
        for cell in code[first:]:
            cell.outputs = [out for out in cell.outputs if out.output_type == "error"]
            for out in cell.outputs:
                if out.ename not in self.ours or not utils.is_grade(cell):
                    out.evalue = textwrap.shorten(out.evalue, 160, placeholder=" ...")
                out.traceback = []
        return nb, resources


class ShortenLongCells(NbGraderPreprocessor):
    """Show long texts, much code and long lines in part: to set these can take hours."""

    longest_text, longest_line, most = 10_000, 1_000, 100_000

    def preprocess(self, nb, resources):
        left = {"code": self.most, "markdown": self.most}
        for cell in nb.cells:
            if utils.is_locked(cell) or cell.cell_type not in left:
                continue
            most = left[cell.cell_type]
            if cell.cell_type == "markdown":
                most = min(most, self.longest_text)
            if len(cell.source) > most:
                cell.source = cell.source[:most] + "\n(The rest of this cell is left out here.)"
                if cell.cell_type == "markdown":
                    cell.source = textwrap.indent(cell.source, "    ", lambda line: True)
            left[cell.cell_type] -= min(len(cell.source), most)
            if cell.cell_type == "code":
                lines = cell.source.split("\n")
                lines = [
                    self.shortened(line)
                    for *before, line in zip(["#", "#", *lines], ["#", *lines], lines, strict=False)
                    if "".join([*before, line]).strip()  # of many empty lines two
                ]
                cell.source = "\n".join(lines)
        return nb, resources

    def shortened(self, line):
        return line if len(line) <= self.longest_line else line[: self.longest_line] + " ..."


class ClearCourseHiddenTests(ClearHiddenTests):
    """Leave out the hidden tests; a student's own cell that holds such words stays as it is."""

    def preprocess_cell(self, cell, resources, cell_index):
        if not utils.is_locked(cell):
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)


# nbgrader makes its database with the command `alembic`, which stands beside it: so an
# environment that was not activated works too.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

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
# Hidden tests draw their data from it: take another one each year.
c.IsolatedGrade.seed = 0

# Stock feedback shows the hidden tests, in the source and in tracebacks.
c.GenerateFeedback.preprocessors = [
    GetGrades,
    ShortenTestOutput,
    ShortenLongCells,
    ClearCourseHiddenTests,
    TellWhatWaits,
]
c.GenerateFeedback.exporter_class = FeedbackExporter
# nbgrader's own templates would stand before it.
c.FeedbackExporter.extra_template_basedirs = [str(TEMPLATES)]

# Of Formgrader's pages; those of feedback set formulas too.
c.HTMLExporter.filters = {"markdown2html": markdown_without_html}
c.FeedbackExporter.filters = {}
