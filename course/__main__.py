"""The course's commands: `python -m course --help`, in the book's folder."""

import sys
import textwrap
from pathlib import Path

import click
from traitlets import TraitError

from course.tables import NotUnderstoodError, write_table

HERE = Path(__file__).resolve().parent
FILE = click.Path(dir_okay=False, path_type=Path)
WARN = {"fg": "yellow", "err": True}
HANGING = {"initial_indent": " " * 8, "subsequent_indent": " " * 13}


class Failure(click.ClickException):
    """A fault that the message explains; nothing is shown of where it arose."""

    def show(self, file=None):
        click.secho(f"Error: {self.message}", fg="red", err=True)


class Commands(click.Group):
    """Commands that end with a sentence where a file, a disk, a table or a setting is at fault."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except BrokenPipeError:  # of a pager that was left
            raise
        except (NotUnderstoodError, OSError) as error:
            raise Failure(str(error)) from None
        except TraitError as error:
            raise Failure(f"{context.obj / 'nbgrader_config.py'}: {error}.") from None
        except Exception as error:
            # The gradebook's own faults, without a need of SQLAlchemy where students check.
            if "sqlite3.OperationalError" not in str(error):
                raise
            what = str(error).split("(sqlite3.OperationalError)")[1].strip().split("\n")[0]
            raise Failure(f"The gradebook {context.obj / 'gradebook.db'}: {what}.") from None


def need_set(course, name):
    """Fail unless the course has a problem set of that name."""
    from course.release import sets_in

    if name not in sets_in(course):
        known = ", ".join(sets_in(course)) or f"none, in {course / 'source'}"
        raise Failure(f"There is no problem set {name!r}. There are: {known}.")


def need_gradebook(course):
    if not (course / "gradebook.db").is_file():
        raise Failure(f"Nothing is graded yet in {course}: first python -m course grade SET FOLDER")


def need_seed():
    """Fail unless hidden tests can draw their data from the seed that is set."""
    from pegasos_lib.exercises import fresh_rng

    try:
        fresh_rng(0)
    except ValueError as error:
        raise Failure(f"{error}.") from None


def printable(text):
    """Return a text that any terminal and log takes, whatever bytes name a file."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def bar(things, label):
    """Return a progress bar over things."""
    return click.progressbar(things, label=label, item_show_func=lambda one: str(one or ""))


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--course",
    type=click.Path(file_okay=False, path_type=Path),
    default=HERE,
    show_default="the one beside this program",
    help="The folder with source/ and nbgrader_config.py.",
)
@click.pass_context
def main(context, course):
    """Release, grade and export the problem sets of the course."""
    context.obj = course.resolve()
    if not context.obj.is_dir():
        raise Failure(f"There is no folder {course}.")


@main.command()
@click.pass_obj
def assignments(course):
    """Write the student version of every problem set into release/.

    The same sources give the same bytes, and these are what `nbgrader generate_assignment` makes.
    """
    from course.release import drop_others, release, sets_in

    names = sets_in(course)
    if not names:
        raise Failure(f"There is no problem set in {course / 'source'}.")
    with bar(names, "Releasing") as shown:
        for name in shown:
            release(course, name)
    drop_others(course)
    click.echo(f"{len(names)} problem sets in {course / 'release'}")


@main.command()
@click.argument("name", metavar="SET")
@click.argument("folder", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV with a column id (and first_name, last_name, email, lms_user_id): who should be "
    "there.  [default: roster.csv in the course's folder, where there is one]",
)
@click.option("--unsafe", is_flag=True, help="Grade without a sandbox; every export will say so.")
@click.pass_obj
def grade(course, name, folder, roster, unsafe):
    """Grade what students handed in for SET, found in FOLDER.

    FOLDER holds STUDENT_SET.ipynb, STUDENT/SET.ipynb, or zip files of these, or is one such file.
    Without FOLDER all that was handed in before is graded again, as after a change of a test or of
    points: what was graded by hand stays.
    """
    from course import collect, grading

    need_set(course, name)
    need_seed()
    roster = roster or next(filter(Path.is_file, [course / "roster.csv"]), None)
    known = collect.read_roster(roster) if roster else {}
    cells = collect.cells_of((course / "source" / name / f"{name}.ipynb").read_bytes())
    found, remarks = collect.gather(folder, name, known, cells) if folder else ({}, [])
    for remark in remarks:
        click.secho(printable(remark), **WARN)
    if folder and not found:
        raise Failure(f"There is nothing to grade in {folder}.")
    students = sorted(found or (path.parent.name for path in course.glob(f"submitted/*/{name}")))
    if not students:
        raise Failure(f"Nobody handed in {name}: give the folder with the notebooks.")
    with grading.connect(course, unsafe) as api:
        for remark in remarks:
            api.log.warning(printable(remark))
        grading.need_sandbox()
        grading.register(api, name)
        grading.write_roster(course, known)
        for submission in found.values():
            collect.hand_in(submission, course, name)
        with bar(students, f"Grading {name}") as shown:
            troubles = grading.autograde(
                api, name, students, lambda student: shown.update(1, student)
            )
    tell(course, name, students, troubles)


def tell(course, name, students, troubles):
    """Print each student's points, what could not be graded, and who handed in nothing."""
    from course.gradebook import NOTHING, rows_of

    rows = {row.student["id"]: row for row in rows_of(course, [name])}
    width = max(map(len, students))
    for student in students:
        row = rows[student]
        status = troubles.get(student) or ("" if row.status == "graded" else row.status)
        click.echo(f"{student:{width}}  {row.score:5g} of {row.most:g}  {status}")
    missing = [student for student, row in rows.items() if row.status == NOTHING]
    by_hand = sum(row.status == "to grade by hand" for row in rows.values())
    click.echo(f"{len(students) - len(troubles)} graded, {len(troubles)} not.")
    click.echo(f"Each problem of each student: {write_report(course, name)}")
    if by_hand:
        click.echo(f"{by_hand} have answers to grade by hand: python -m course proofs {name}")
    if missing:
        click.echo(f"Nothing was handed in by {', '.join(missing)}.")


def write_report(course, name):
    """Write what happened to each problem of each student as a table; return its path."""
    from course.gradebook import number
    from course.grader.report import outcomes

    path = course / "reports" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    lines = [["student", "problem", "cell", "points", "of", "what happened"]]
    for one in outcomes(course, name):
        got, most = number(one.points), number(one.max_points)
        lines.append([one.student, one.problem, one.cell, got, most, one.what])
    write_table(path, lines)
    return path


@main.command()
@click.argument("name", metavar="SET")
@click.option("--to", type=FILE, help="The sheet.  [default: proofs-SET.csv]")
@click.pass_obj
def proofs(course, name, to):
    """Write a sheet of the answers to SET that are graded by hand.

    Fill in its columns points and comment in a spreadsheet, then `marks` reads it. Points that were
    given before are in it; the rubric is in the source of SET.
    """
    from course import grading

    need_gradebook(course)
    need_set(course, name)
    lines = grading.proofs(course, name)
    if not lines:
        raise Failure(f"There is no answer to grade by hand in {name}.")
    path = to or Path(f"proofs-{name}.csv")
    grading.write_sheet(course, name, path, lines)
    left = sum(not line["points"] for line in lines)
    click.echo(f"{len(lines)} answers in {path}, {left} of them without points.")


@main.command()
@click.argument("name", metavar="SET")
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def marks(course, name, sheet):
    """Enter the points and comments of a filled-in SHEET, which `proofs` wrote."""
    from course import grading

    need_gradebook(course)
    need_set(course, name)
    try:
        entered, lines = grading.mark(course, name, sheet)
    except NotUnderstoodError as error:
        raise Failure(f"{error} Nothing was entered.") from None
    click.echo(f"{entered} of {lines} answers have points.")


@main.command()
@click.argument("name", metavar="SET")
@click.pass_obj
def feedback(course, name):
    """Write each student's page of feedback on SET into feedback/STUDENT/SET/SET.html."""
    from course import grading

    need_gradebook(course)
    need_set(course, name)
    students = sorted(path.parent.name for path in course.glob(f"autograded/*/{name}"))
    if not students:
        raise Failure(f"Nobody's {name} is graded yet: python -m course grade {name} FOLDER")
    with grading.connect(course) as api, bar(students, "Writing feedback") as shown:
        told = {s: grading.reason(api.generate_feedback(name, s, force=True)) for s in shown}
    failed = {student: why for student, why in told.items() if why}
    click.echo(f"{len(students) - len(failed)} pages in {course / 'feedback'}")
    handed_in = {path.parent.name for path in course.glob(f"submitted/*/{name}")}
    if without := sorted(handed_in.difference(students)):
        click.secho(f"No page for {', '.join(without)}: their notebooks are not graded.", **WARN)
    for student, why in failed.items():
        click.secho(f"No page for {student}: {why}", **WARN)
    if failed:
        sys.exit(1)


@main.command()
@click.argument("names", metavar="[SET]...", nargs=-1)
@click.option(
    "--format", "kind", type=click.Choice(["csv", "canvas", "moodle"]), default="csv",
    show_default=True,
)  # fmt: skip
@click.option("--to", type=FILE, help="[default: grades.csv, grades-canvas.csv, ...]")
@click.pass_obj
def export(course, names, kind, to):
    """Write the points of all students, in all sets or those named, for a spreadsheet or an LMS.

    A student of the roster who handed in nothing has 0 points.
    """
    from course import gradebook
    from course.grader.report import is_unsafe

    need_gradebook(course)
    for name in names:
        need_set(course, name)
    rows = gradebook.rows_of(course, names)
    if not rows:
        raise Failure(f"Nobody handed in {' or '.join(names) or 'anything'} yet.")
    unsafe = is_unsafe(course)
    path = to or Path("grades.csv" if kind == "csv" else f"grades-{kind}.csv")
    write_table(path, gradebook.FORMATS[kind](rows, unsafe), program=kind != "csv")
    click.echo(f"{len({row.student['id'] for row in rows})} students in {path}")
    by_hand = {row.student["id"] for row in rows if row.status == "to grade by hand"}
    if by_hand:
        click.secho(f"{len(by_hand)} students have answers to grade by hand.", **WARN)
    if unsafe:
        click.secho("Some were graded without a sandbox.", **WARN)


@main.command()
@click.argument("name", metavar="SET")
@click.option("--failures", default=3, show_default=True, help="How many to show of each test.")
@click.pass_obj
def items(course, name, failures):
    """Show how many students solved each problem of SET, and the commonest failures."""
    from course import items as one
    from course.grader.report import outcomes

    need_gradebook(course)
    need_set(course, name)
    titles = one.titles_of(course / "source" / name / f"{name}.ipynb")
    rows = one.items(outcomes(course, name), titles)
    if not rows:
        raise Failure(f"Nobody handed in {name} yet.")
    for problem in dict.fromkeys(row.problem for row in rows):
        cells = [row for row in rows if row.problem == problem]
        got, most = sum(row.points for row in cells), sum(row.most for row in cells)
        title = f"Problem {problem}" if problem else name
        click.secho(f"{title}: {got:.2f} of {most:g} points on average", bold=True)
        for row in cells:
            click.echo(f"  {row.right:4.0%}  {row.title}")
            for what, times in row.failures[:failures]:
                click.echo(textwrap.fill(f"{times} x  {what}", 100, **HANGING))


@main.command()
@click.argument("before", default="before")
@click.argument("after", default="after")
@click.pass_obj
def gain(course, before, after):
    """Show what each question of the concept inventory gained from BEFORE to AFTER the course.

    Counted are the students who answered both. The normalised gain is the share of the wrong
    answers that became right ones: (after - before) / (1 - before).
    """
    from course.gain import gains, shares
    from course.grader.report import outcomes
    from course.items import titles_of

    need_gradebook(course)
    for name in before, after:
        need_set(course, name)
    rows, both = gains(*(shares(outcomes(course, name)) for name in (before, after)))
    if not both:
        raise Failure(f"Nobody answered both {before} and {after}.")
    titles = titles_of(course / "source" / after / f"{after}.ipynb")
    click.echo("before  after  gain")
    for row in rows:
        normalised = "   -" if row.normalised is None else f"{row.normalised:4.2f}"
        title = titles.get(row.question, row.question)
        click.echo(f"{row.before:6.0%}  {row.after:5.0%}  {normalised}  {title}")
    click.echo(f"{len(both)} students answered both.")


@main.command()
@click.argument("notebook", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(notebook):
    """Run a NOTEBOOK's visible tests, as a student before handing it in.

    Nothing is written. The grader runs hidden cases as well.
    """
    from course.check import run

    with click.progressbar(length=1, label="Running") as shown:

        def progress(done, total):
            shown.length = total
            shown.update(done - shown.pos)

        try:
            results, broken = run(notebook, progress)
        except ValueError as error:
            raise Failure(str(error)) from None
    for first_line, trouble in broken:
        click.secho(f"A cell fails, the one that begins {first_line!r}: {trouble}", fg="yellow")
    for result in results:
        mark, colour = ("passed ", "green") if result.trouble is None else ("not yet", "red")
        click.secho(f"{mark}  Test {result.test}, {result.title}", fg=colour)
        if result.trouble:
            click.echo(textwrap.indent(result.trouble, " " * 9))
    right = [result for result in results if result.trouble is None]
    got, most = (sum(one.points for one in some) for some in (right, results))
    click.echo(f"{len(right)} of {len(results)} visible tests passed, {got} of {most} points.")
    if not results:
        raise Failure("There is no test in this notebook: is it a problem set?")
    if len(right) < len(results):
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="python -m course")
