"""A submission as the tests see it: names that stand for functions which run in the sandbox."""

import collections
import contextlib
import math
import os
import signal
import time

from . import values, wire
from .sandbox import NoSandbox, Sandbox


class NoAnswer(BaseException):
    """A worker that died, is stuck or lies, with what is to be told.

    No `except Exception` of a test takes it for an answer.
    """


class NotAsked(NoAnswer):
    """A function that was silent too often; the worker is not to blame, and goes on."""


class _Line(wire.Peer):
    """The grader's end of the line to one worker.

    `silent` counts, by name, how often a function did not answer: after three times it
    is not asked again, so that it leaves time and restarts to the others.
    """

    def __init__(self, process, call_seconds, before_call, silent):
        super().__init__(process.stdout.fileno(), process.stdin.fileno())
        os.set_blocking(self.sending, False)
        self.process, self.call_seconds, self.before_call = process, call_seconds, before_call
        self.silent = silent
        self.names = {}

    def call(self, number, arguments, options):
        outermost = self.deadline == math.inf
        name = self.names.get(number, "a function")
        if outermost:
            if self.silent[name] > 2:
                raise NotAsked(f"{name} did not answer in three tests, and is not asked again.")
            self.before_call()
            if self.receiving < 0:
                raise NoAnswer(f"{name}: the process that ran it was stopped.")
            self.deadline = time.monotonic() + self.call_seconds
        try:
            return super().call(number, arguments, options)
        except wire.TooLate:
            self.silent[name] += outermost
            raise NoAnswer(
                f"{name} did not answer within {self.call_seconds:g} s: "
                "is there a loop that does not end?"
            ) from None
        except values.Broken as why:
            self.silent[name] += outermost
            raise NoAnswer(f"{name}: {_what_broke(why)}") from None
        finally:
            if outermost:
                self.deadline = math.inf

    def borrow(self, number, name):
        self.names.setdefault(number, name[:80])
        return super().borrow(number, name)


def _what_broke(why):
    if str(why) == "it ended":
        return (
            "the process that ran it ended without an answer. "
            "Did it use too much memory, or leave Python?"
        )
    return f"the process that ran it was stopped, because {why}."


class Submission:
    """One submission's worker, started again when it is gone, at most a few times.

    Parameters
    ----------
    sandbox : Sandbox
    asked : sequence of str
        The names that the student's cells are to define.
    """

    def __init__(self, sandbox: Sandbox, asked):
        self.sandbox, self.asked = sandbox, asked
        self.limits = sandbox.limits
        self.line = None
        self.before_call = lambda: None  # what a judge does before each call from a test
        self.starts = 0
        self.notes = []  # what the log should tell
        self.failed_cells = {}
        self._silent = collections.Counter()
        self._history = []  # the cells and replaced names so far, to be run again after a restart

    def run_cell(self, name, source):
        """Run a cell in the worker; return what it prints, and its error, None if it has none."""
        self._alive()
        self._history.append(("cell", name, source))
        return self._run_cell(name, source)

    def replace(self, name, function):
        """Let the student's code find another function under a name."""
        self._alive()
        self._history.append(("replace", name, function))
        self._replace(name, function)

    def values(self):
        """Return what the asked names stand for; functions are proxies."""
        self._alive()
        try:
            reply, unpacker = self._request({"is": "get", "names": list(self.asked)})
            found = {name: unpacker.unpack(value) for name, value in reply["values"]}
            for name, kind in reply["strange"]:
                found[name] = _strange(values.plain(name)[:80], values.plain(kind)[:80])
        except (values.Broken, LookupError, TypeError, ValueError, AttributeError) as why:
            self.stop(f"names could not be read: {why}")
            raise NoAnswer(f"your names could not be read: {_what_broke(why)}") from None
        for name in self.asked:  # by which a function is told of, whatever it calls itself
            if number := getattr(found.get(name), "_borrowed_from", None):
                self.line.names[number[1]] = name
        return {name: found[name] for name in self.asked if name in found}

    def stop(self, note=""):
        """End the worker and all that it started; the next test gets another one."""
        if note:
            self.notes.append(note)
        if self.line is not None:
            process = self.line.process
            self.line.receiving = self.line.sending = -1  # proxies that are left reach nothing
            self.line = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # in a sandbox, all that is in it
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()

    def _alive(self):
        while self.line is None:
            if self.starts > self.limits.restarts:
                raise NoAnswer(
                    f"the process that runs your code ended or hung {self.starts} times, and is "
                    "not started again. See what the tests before this one say."
                )
            self.starts += 1
            self._start()
            for kind, name, what in list(self._history):
                (self._run_cell if kind == "cell" else self._replace)(name, what)
                if self.line is None:  # that step is out now: once more without it
                    break

    def _start(self):
        process = self.sandbox.start()
        self.line = _Line(
            process, self.limits.call_seconds, lambda: self.before_call(), self._silent
        )
        try:
            self._request(None)
        except values.Broken:
            process.kill()
            why = process.stderr.read().decode(errors="replace").strip()[:500]
            self.stop()
            raise NoSandbox(f"The sandbox does not start: {why}") from None

    def _run_cell(self, name, source):
        try:
            reply, _ = self._request({"is": "cell", "name": name, "source": source})
            error = None
            if reply["error"] is not None:
                kind, message = reply["error"]
                error = [values.plain(str(kind))[:80], values.plain(str(message))[:2000]]
            output = values.plain(str(reply["output"]))[:10_000]
        except values.Unsendable as why:  # nothing was sent: the worker is as it was
            output, error = "", ["ValueError", f"the cell holds {why}"]
        except (values.Broken, LookupError, TypeError, ValueError) as why:
            late = isinstance(why, wire.TooLate)
            told = f"the cell took longer than {self.limits.cell_seconds:g} s"
            if not late:
                told = f"the cell ended the process that it ran in ({why})"
            self._drop("cell", name, told)
            output, error = "", ["RuntimeError", told]
        if error:
            self.failed_cells[name] = ": ".join(filter(None, error))
        return output, error

    def _replace(self, name, function):
        packer = wire.Packer(self.line)
        try:
            value = packer.pack(function)
            self._request({"is": "set", "name": name, "value": value}, packer)
        except (values.Broken, values.Unsendable) as why:
            self._drop("replace", name, f"{name} could not be replaced: {why}")

    def _drop(self, kind, name, why):
        """Leave out a step that ends the worker, so that the others can be done again."""
        self._history = [step for step in self._history if step[:2] != (kind, name)]
        self.stop(f"{name}: {why}")

    def _request(self, message, packer=None):
        """Ask the worker for anything but a call; no message at all waits for its first word."""
        seconds = self.limits.cell_seconds if message else self.limits.start_seconds
        self.line.deadline = time.monotonic() + seconds
        try:
            return self.line.request(message, packer) if message else self.line.receive()
        finally:
            if self.line is not None:
                self.line.deadline = math.inf


def _strange(name, kind):
    def refused(*arguments, **options):
        raise TypeError(f"{name} should be a function or plain values, and is a {kind}.")

    refused.__name__ = name
    return refused
