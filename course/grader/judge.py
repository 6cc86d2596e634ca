"""One submission's tests, run in a fork of the grader: nothing that they meet outlives it."""

import contextlib
import io
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field

from pegasos_lib.exercises import SEED_VARIABLE

from .proxies import NoAnswer, NotAsked, Submission
from .sandbox import NoSandbox, Sandbox
from .values import readable

MOST_MEMORY = 4_000_000_000
MOST_PRINTED = 200_000  # characters of all cells of a notebook
NO_ANSWER = "NoAnswer"


@dataclass(frozen=True)
class Cell:
    """A code cell of a notebook in its order.

    `kind` is "setup" (run on both sides), "student" (in the sandbox alone) or "test" (here);
    `asks` holds the names that a student's cell should define.
    """

    name: str
    kind: str
    source: str
    asks: tuple[str, ...] = ()


@dataclass
class Verdict:
    """What became of a cell: what it printed, and its error's name, message and traceback."""

    name: str
    output: str = ""
    error: list[str] | None = None
    traceback: list[str] = field(default_factory=list)


class Judgement:
    """The tests of one submission, which run while the grader does other things."""

    def __init__(self, cells: list[Cell], sandbox: Sandbox, seed: int = 0):
        self.cells, self.sandbox = cells, sandbox
        sandbox.library()  # made before the fork, and so once for all judges
        self._receiving, sending = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._receiving)
            _judge_and_leave(cells, sandbox, seed, sending)
        os.close(sending)

    def finish(self) -> tuple[list[Verdict], list[str]]:
        """Wait for the verdict on each cell, and for what the log should tell.

        A test that could not be run has an error that says why.

        Raises
        ------
        NoSandbox
            If no worker starts.
        """
        try:
            deadline = time.monotonic() + self.sandbox.limits.total_seconds
            told, why = _listen(self._receiving, deadline)
        finally:
            self.stop()
        for message in told:
            if "no sandbox" in message:
                raise NoSandbox(message["no sandbox"])
        notes = [message["note"] for message in told if "note" in message] + [why] * bool(why)
        verdicts = {m["verdict"]["name"]: Verdict(**m["verdict"]) for m in told if "verdict" in m}
        for cell in self.cells:
            if cell.name not in verdicts and cell.kind == "test":
                verdicts[cell.name] = _unanswered(cell, why or "the tests ended before this one.")
        return [verdicts[cell.name] for cell in self.cells if cell.name in verdicts], notes

    def stop(self) -> None:
        """End the judge, and with it the worker."""
        if self._child:
            os.close(self._receiving)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0


def judge(cells: list[Cell], sandbox: Sandbox) -> tuple[list[Verdict], list[str]]:
    """Return the verdict on each cell, and what the log should tell, as `Judgement.finish`."""
    return Judgement(cells, sandbox).finish()


def _listen(receiving: int, deadline: float) -> tuple[list[dict], str]:
    """Return the judge's messages, and why they end too early, "" if they do not."""
    data = bytearray()  # to which adding takes no copy of all that came before
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([receiving], [], [], left)[0]:
            why = "grading this notebook took longer than it may; the tests so far count."
            break
        piece = os.read(receiving, 1 << 16)
        if not piece:
            why = "the tests came to a sudden end; those so far count."
            break
        data += piece
        if data.endswith(b'"end"\n'):
            why = ""
            break
    lines = bytes(data).split(b"\n")[:-1]  # what follows the last end of line is half a message
    return [message for line in lines if isinstance(message := json.loads(line), dict)], why


def _judge_and_leave(cells: list[Cell], sandbox: Sandbox, seed: int, sending: int) -> None:
    """Run all cells, tell of each, and end this process."""
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(hard, MOST_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        # To compile the library's loops takes longer than runs as short as the tests'.
        os.environ["PEGASOS_JIT"] = "0"
        os.environ.setdefault(SEED_VARIABLE, str(seed))
        with open(sending, "w", encoding="ascii", buffering=1) as out:

            def tell(message):
                out.write(json.dumps(message) + "\n")

            asked = dict.fromkeys(name for cell in cells for name in cell.asks)
            submission = Submission(sandbox, asked)
            try:
                run_cells(cells, submission, lambda v: tell({"verdict": asdict(v)}))
            except NoSandbox as error:
                tell({"no sandbox": str(error)})
            finally:
                submission.stop()
            for note in submission.notes:
                tell({"note": note})
            tell("end")
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(0)


def run_cells(cells, submission, tell):
    """Run the cells in their order, up to the last test: what follows it decides nothing."""
    names = {"__name__": "__main__"}
    shown = {}  # the student's values as the tests see them
    submission.before_call = lambda: _pass_on(submission, names, shown)
    room = MOST_PRINTED
    last = max((i for i, cell in enumerate(cells) if cell.kind == "test"), default=-1)
    for cell in cells[: last + 1]:
        verdict = Verdict(cell.name)
        try:
            if cell.kind != "test":
                output, verdict.error = submission.run_cell(cell.name, cell.source)
                verdict.output = output[:room]
                room -= len(verdict.output)
            if cell.kind == "setup":
                verdict.error = None
            if cell.kind != "student":
                _bind(submission, names, shown)
                _run_here(cell, names)
                _pass_on(submission, names, shown)
        except NoAnswer as why:
            if not isinstance(why, NotAsked):
                submission.stop(f"{cell.name}: {why}")
            verdict = _unanswered(cell, str(why))
        except NoSandbox:
            raise
        except BaseException as error:
            _explain(verdict, error, submission, cell)
        tell(verdict)


def _bind(submission, names, shown):
    """Let the asked names stand for the student's values, unless a test has replaced them."""
    values = submission.values()
    for name in submission.asked:
        if name in names and names[name] is not shown.get(name):
            continue
        names.pop(name, None)
        shown.pop(name, None)
        if name in values:
            names[name] = shown[name] = values[name]


def _run_here(cell, names):
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        exec(compile(cell.source, f"<{cell.name}>", "exec"), names)


def _pass_on(submission, names, shown):
    """Give the student's later code the functions that a test has put in place of theirs."""
    for name in submission.asked:
        if name in names and names[name] is not shown.get(name) and callable(names[name]):
            shown[name] = names[name]
            submission.replace(name, names[name])


def _explain(verdict, error, submission, cell):
    """Put a test's failure into words; a name that is missing says why."""
    kind, message = type(error).__name__, readable(str(error))
    if isinstance(error, NameError) and error.name in submission.asked:
        message = f"{error.name} is not defined"
        if submission.failed_cells:
            name, why = list(submission.failed_cells.items())[-1]
            message += f": the cell {name} fails with {why}"
    elif isinstance(error, NameError) and (error.name or "").startswith("_"):
        # A test's own helper: the cell that makes it could not begin.
        message = "this test needs one before it, which could not be run: see what that one says"
    verdict.error = [kind, message]
    frames = traceback.extract_tb(error.__traceback__)
    lines = cell.source.splitlines()
    for frame in frames:
        if frame.filename == f"<{cell.name}>":
            text = lines[frame.lineno - 1].strip() if frame.lineno <= len(lines) else ""
            verdict.traceback.append(f"{cell.name}, line {frame.lineno}: {text}")
    verdict.traceback.append(f"{kind}: {message}")


def _unanswered(cell: Cell, why: str) -> Verdict:
    """Return the verdict on a test that got no answer, which names its problem and test."""
    test = re.search(r"^# Test ([\d.]+)", cell.source, re.MULTILINE)
    problem = re.search(r"-p(\d+)", cell.name)
    place = f"Problem {problem[1]}, " if problem else ""
    place += f"test {test[1]}" if test else cell.name
    message = f"{place}: {why}"
    return Verdict(cell.name, "", [NO_ANSWER, message], [message])
