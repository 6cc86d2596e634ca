"""The process that runs one submission's code, inside the sandbox: `python worker.py OPTIONS`.

It stands alone beside wire.py, values.py and seccomp.py, and knows nothing of the tests. OPTIONS is
JSON.
"""

import __future__

import ast
import builtins
import contextlib
import io
import json
import linecache
import os
import re
import resource
import sys
import types
import warnings

import seccomp

MOST_OUTPUT = 10_000
FUTURE = 0
for feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, feature).compiler_flag
TIMED = re.compile(r"^(\s*)%time +(?=\S)")
MAGIC = re.compile(r"^(\s*)([%!?].*|[\w.]+\?{1,2}\s*)$")
ASSIGNED = re.compile(r"^(\s*\w+\s*=\s*)[%!].*$")


def confine(limits, user, filtered):
    """Set the limits of this process, give up being root, and what may be asked of the kernel."""
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if filtered:
        seccomp.refuse_calls()


def private_pipes():
    """Return copies of the two standard pipes, which then lead nowhere."""
    pipes = os.dup(0), os.dup(1)
    lead_nowhere(0, 1)
    return pipes


def lead_nowhere(*numbers):
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in numbers:
        os.dup2(nothing, number)
    os.close(nothing)


class Bounded(io.StringIO):
    """What a cell prints, up to a size."""

    def write(self, text):
        room = MOST_OUTPUT - self.tell()
        super().write(text[: max(room, 0)])
        return len(text)


def without_magic(source):
    """Return a cell's code with IPython's own lines (%matplotlib, !pip, name?) left out."""
    if source.lstrip().startswith("%%"):
        first, _, rest = source.lstrip().partition("\n")
        magic, *words = first.split()
        if magic == "%%writefile" and len(words) == 1:
            return f"__import__('pathlib').Path({words[0]!r}).write_text({rest!r})"
        return rest if magic in ("%%time", "%%timeit", "%%capture") else ""
    try:
        ast.parse(source)
    except SyntaxError:
        lines = source.split("\n")
        lines = (MAGIC.sub(r"\1pass", TIMED.sub(r"\1", line)) for line in lines)
        return "\n".join(ASSIGNED.sub(r"\1None", line) for line in lines)
    return source


class NoShell:
    """What get_ipython() gives: all that is asked of it does nothing."""

    def __getattr__(self, name):
        return self

    def __call__(self, *_, **__):
        return self


def run_cell(source, name, names, flags):
    """Run a cell's code, which may await at its top level; return the flags of the cells after it,
    for which what it imports from __future__ holds too.
    """
    code = compile(source, name, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if result is not None:
        import asyncio

        asyncio.run(result)
    return flags | (code.co_flags & FUTURE)


def make_worker(pipes):
    """Return the worker's end of the line."""
    import values
    import wire

    class Worker(wire.Peer):
        def __init__(self):
            super().__init__(*pipes)
            # As in a kernel: pickle, and types that name their module, look for it there.
            sys.modules["__main__"] = main = types.ModuleType("__main__")
            self.names, self.flags = main.__dict__, 0
            self.names |= {"__builtins__": builtins, "display": print, "get_ipython": NoShell}

        def loop(self):
            while True:
                message, unpacker = self.receive()
                if message["is"] == "call":
                    self.serve(message, unpacker)
                else:
                    self.send(*getattr(self, f"do_{message['is']}")(message, unpacker))

        def run(self, function, arguments, options):
            with contextlib.redirect_stdout(Bounded()), contextlib.redirect_stderr(Bounded()):
                return function(*arguments, **options)

        def do_cell(self, message, unpacker):
            """Run a cell."""
            name, printed, error = f"<{message['name']}>", Bounded(), None
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    source = without_magic(message["source"])
                    linecache.cache[name] = len(source), None, source.splitlines(True), name
                    self.flags = run_cell(source, name, self.names, self.flags)
                except BaseException as raised:
                    error = values.in_words(raised)
            reply = {"is": "ran", "output": values.plain(printed.getvalue()), "error": error}
            return reply, wire.Packer(self)

        def do_get(self, message, unpacker):
            """Tell what some names stand for."""
            packer, values, strange = wire.Packer(self), [], []
            for name in message["names"]:
                if name in self.names:
                    try:
                        values.append([name, packer.pack(self.names[name])])
                    except BaseException:
                        strange.append([name, type(self.names[name]).__name__])
            return {"is": "values", "values": values, "strange": strange}, packer

        def do_set(self, message, unpacker):
            """Let a name stand for another function."""
            self.names[message["name"]] = unpacker.unpack(message["value"])
            return {"is": "done"}, wire.Packer(self)

    return Worker()


def main():
    options = json.loads(sys.argv[1])
    pipes = private_pipes()
    sys.path.extend([*options["path"], ""])  # with what a cell has written there
    sys.argv[:] = [""]
    os.chdir(options["folder"])
    warnings.simplefilter("ignore")
    import wire

    worker = make_worker(pipes)
    confine(options["limits"], options["user"], options["filtered"])
    lead_nowhere(2)
    worker.send({"is": "ready"}, wire.Packer(worker))
    worker.loop()


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        # Only the grader hears it, and only of a start that failed.
        os.write(2, f"{type(error).__name__}: {error}"[:500].encode())
        os._exit(1)
