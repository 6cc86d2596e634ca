"""Hostile and broken submissions of problem set 6, and what each must get.

`CODE` holds what students' cells may do, `EDITS` what may happen to the notebook, `FILES` what may
be handed in instead of one. Wrong answers must not gain a point, right ones not lose any.
"""

import copy
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from .sets import course_answers, is_test

RIGHT = course_answers("ps06")
GRADIENT, PROJECTION = "ps06-p1-answer", "ps06-p2-projection-answer"
STEP, RUN = "ps06-p2-step-answer", "ps06-p3-answer"
JUDGE, ORDER = "ps06-p4-answer", "ps06-p5-order-answer"
WRONG = {
    GRADIENT: "return 7 * w",
    PROJECTION: "return 7 * w + 7",
    STEP: "return 7 * w + 7",
    RUN: "return X[0] + 7, X[0] + 7",
    JUDGE: "return 'neither'",
    ORDER: "order_of_average = ['A']",
}
ALL = (
    "p1-formula p1-margin p1-batch p2-radius p2-zero p2-first p2-size p2-order p2-ball "
    "p3-last p3-average p3-batches p4-objective p4-overfitted p4-accuracy p5-lines p5-order"
)
OF_1, OF_2B = "p1-formula p1-margin p1-batch", "p2-first p2-size p2-order p2-ball"


@dataclass(frozen=True)
class Hostile:
    """A submission: its answers, what was done to it, and which tests it must fail.

    Attributes
    ----------
    before : str
        Code in front of the first answer, in its cell.
    answers : dict of str
        What replaces the stubs.
    edit : callable
        What is done to the notebook then.
    fails : str
        The tests that give no points, without the set's name.
    says : str
        A pattern that the log must hold.
    seconds, cell_seconds : float
        The limits of a call and of a cell.
    """

    before: str = ""
    answers: dict[str, str] = field(default_factory=lambda: WRONG)
    edit: Callable = lambda notebook: None
    fails: str = ALL
    says: str = ""
    seconds: float = 8.0
    cell_seconds: float = 8.0


def cheat(before="", body="", **more):
    """Return a submission with wrong answers and a trick: code in front, or in each function."""
    answers = {name: f"{body}\n{answer}" for name, answer in WRONG.items()} if body else WRONG
    return Hostile(before, answers | {ORDER: WRONG[ORDER]}, **more)


def answer_is(expression, before="", **more):
    """Return a submission whose functions all return the same strange thing."""
    answers = dict.fromkeys((GRADIENT, PROJECTION, STEP, JUDGE), f"return {expression}")
    answers[RUN] = f"return ({expression}), ({expression})"
    return Hostile(before, {**answers, ORDER: f"order_of_average = {expression}"}, **more)


def right(before="", edit=lambda notebook: None, fails="", **more):
    """Return a submission of right answers, and what must not cost it a point."""
    return Hostile(before, RIGHT, edit, fails, **more)


HUNT = """
import os
def hunt(*endings):
    skipped = "proc sys usr lib lib64 bin sbin nix site-packages versions".split()
    for folder, inner, files in os.walk("/"):
        inner[:] = [name for name in inner if name not in skipped]
        for name in files:
            if name.endswith(endings):
                yield os.path.join(folder, name)
"""
RETURN = "return current, running_sum / len(draws)"
LIBRARY = "import pegasos_lib, importlib, sys\n"
USE_LIBRARY = {
    **WRONG,
    RUN: (
        "from pegasos_lib import HingeProblem, pegasos\n"
        "run = pegasos(HingeProblem(X, y, lam), n_iter=len(draws),\n"
        "              batch_size=draws.shape[1], draws=draws, project=project)\n"
        "return run.w, run.w_average"
    ),
}
USE_KERNELS = {
    **WRONG,
    RUN: (
        "from pegasos_lib import HingeProblem, _kernels, online\n"
        "steps = online.Steps(HingeProblem(X, y, lam), project=project)\n"
        "return _kernels.take_steps(steps)"
    ),
}
USE_PARTS = {
    **WRONG,
    GRADIENT: (
        "from pegasos_lib import HingeProblem\nreturn HingeProblem(X, y, lam).subgradient(w, batch)"
    ),
    PROJECTION: "from pegasos_lib import project_l2_ball\nreturn project_l2_ball(w, lam**-0.5)",
}
FRAMES = """
import json, os, struct
def frame(message, raw=b""):
    text = json.dumps(message).encode()
    return struct.pack("!II", len(text), len(raw)) + text + raw
def shout(data):
    for fd in range(64):
        try:
            os.write(fd, data)
        except OSError:
            pass
"""
ANSWER = (
    FRAMES + "def answer(value, arrays=(), raw=b'', **more):\n"
    "    told = {'is': 'answer', 'value': value, 'changed': [], 'arrays': list(arrays)}\n"
    "    shout(frame(told | more, raw))\n"
)
CALLS = """
import ctypes
libc = ctypes.CDLL(None)
def must_fail(name, *arguments):
    if getattr(libc, name)(*arguments) >= 0:
        raise SystemError("found that the kernel grants " + name)
"""
ANY = """
class Any(BASE):
    def __new__(cls, *_):
        return NEW
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = BASE.__hash__
    def __array_ufunc__(self, *_, **__): return True
    def __array__(self, *_, **__): raise SystemExit
    def __reduce__(self): return (exec, ("import os; os._exit(0)",))
    def __float__(self): raise SystemExit
"""


def any_of(base, new):
    return ANY.replace("BASE", base).replace("NEW", new)


CODE = {
    # In memory
    "patches the library's tests": cheat(
        "import pegasos_lib.exercises as e\n"
        "e.check = e.check_keeps = check = check_keeps = lambda *_, **__: None\n"
        "e.ask = ask = lambda *_, **__: None"
    ),
    "patches the hint": cheat(
        "import pegasos_lib.exercises as e\n"
        "e.Hint.__init__ = lambda *_: 1 / 0\ne.Hint = Warning\ne.AssertionError = Warning"
    ),
    "patches numpy": cheat(
        "np.allclose = np.array_equal = np.isclose = lambda *_, **__: True\n"
        "np.testing.assert_allclose = lambda *_, **__: None\n"
        "np.asarray = lambda *_, **__: 0"
    ),
    "patches builtins": cheat(
        "import builtins\nbuiltins.AssertionError = builtins.NameError = Warning\n"
        "builtins.isinstance = builtins.all = builtins.any = lambda *_: True"
    ),
    "defines the tests' names": cheat(
        "check = ask = check_keeps = fresh_rng = lambda *_, **__: np.zeros(2)\n"
        "_passed = {'1.1', '1.2', '1.3'}\n_course_subgradient = _course_step = ask\n"
        "Hint = AssertionError = Warning\nnp = None"
    ),
    "looks for the answer in the callers' frames": cheat(
        body="import sys\nframe = sys._getframe()\nwhile frame:\n"
        "    for name in ('expected', '_course_subgradient', '_course_step', '_course_run'):\n"
        "        for names in (frame.f_locals, frame.f_globals):\n"
        "            if name in names:\n"
        "                found = names[name]\n"
        "                return found(w, X, y) if callable(found) else found\n"
        "    frame = frame.f_back"
    ),
    "looks for the course's functions with gc": cheat(
        "import gc\n"
        "for thing in gc.get_objects():\n"
        "    if getattr(thing, '__name__', '').startswith('_course_'):\n"
        "        raise SystemError(f'found {thing}')"
    ),
    "adds an input transformer": cheat(
        "from IPython import get_ipython\n"
        "get_ipython().input_transformers_post.append(lambda lines: ['pass'])"
    ),
    "adds an AST transformer": cheat(
        "import ast\nclass Blank(ast.NodeTransformer):\n    visit = lambda self, node: ast.Pass()\n"
        "get_ipython().ast_transformers.append(Blank())"
    ),
    "replaces compile and exec": cheat(
        "import builtins\nbuiltins.compile = lambda *_, **__: 'pass'\n"
        "builtins.exec = lambda *_, **__: None"
    ),
    "adds an import hook": cheat(
        "import sys, types\nfake = types.ModuleType('pegasos_lib.exercises')\n"
        "fake.__getattr__ = lambda name: (lambda *_, **__: None)\n"
        "sys.modules['pegasos_lib.exercises'] = fake\n"
        "sys.meta_path.insert(0, type('F', (), {'find_spec': lambda *_: None})())"
    ),
    # On the disk
    "reads the source": cheat(
        HUNT + "for path in hunt('ps06.ipynb', 'ps06.py'):\n    raise SystemError('found ' + path)"
    ),
    "reads and writes the gradebook": cheat(
        HUNT + "import sqlite3\npaths = [*hunt('gradebook.db'), 'COURSE/gradebook.db']\n"
        "for path in paths:\n"
        "    with sqlite3.connect(path) as book:\n"
        "        book.execute('update grade set auto_score = 15, manual_score = 15')\n"
        "    raise SystemError('found ' + path)",
        says="unable to open database|readonly",
    ),
    "reads other processes": cheat(
        "import glob\nfor path in glob.glob('/proc/[0-9]*/*'):\n    try:\n"
        "        text = open(path, 'rb').read(10**6)\n    except (OSError, ValueError):\n"
        "        continue\n    if b'_course_' in text or b'BEGIN HIDDEN' in text:\n"
        "        raise SystemError('found ' + path)"
    ),
    "reads other processes' memory": cheat(
        "import os\nfor pid in (1, os.getppid()):\n    open(f'/proc/{pid}/mem', 'rb').read(1)\n",
        says="PermissionError|FileNotFoundError|OSError",
    ),
    "appends to shared modules": cheat(
        "import numpy, sys\nfor path in (numpy.__file__, sys.modules['wire'].__file__,\n"
        "             sys.modules['pegasos_lib.exercises'].__file__, sys.executable):\n"
        "    try:\n        open(path, 'a').write('raise SystemExit')\n    except OSError:\n"
        "        continue\n    raise SystemError('wrote to ' + path)"
    ),
    "imports the grader": cheat("import course.grader.judge", says="No module named 'course'"),
    "imports the right answers": cheat("import tests.course.answers.ps06", says="No module named"),
    "calls home": cheat(
        "import socket\nsocket.create_connection(('1.1.1.1', 53), 1)", says="unreachable"
    ),
    # The library's own answers
    "calls the library's pegasos": Hostile(answers=USE_LIBRARY, says="asks you to write it"),
    "calls the library's kernels": Hostile(answers=USE_KERNELS, says="asks you to write it"),
    "calls the library's parts": Hostile(answers=USE_PARTS, says="asks you to write it"),
    "reloads the library": Hostile(
        LIBRARY + "import pegasos_lib.online\nimportlib.reload(pegasos_lib.online)\n"
        "importlib.reload(pegasos_lib)",
        USE_LIBRARY,
    ),
    "loads the library's file": Hostile(
        LIBRARY + HUNT + "for path in hunt('online.py'):\n"
        "    spec = importlib.util.spec_from_file_location('mine', path)\n"
        "    text = open(path).read()\n"
        "    if 'take_steps' in text or 'def pegasos(' in text:\n"
        "        raise SystemError('found ' + path)",
        USE_LIBRARY,
    ),
    # The process
    "leaves Python": cheat(body="import os; os._exit(0)", says="ended without an answer"),
    "leaves politely": cheat(body="raise SystemExit(0)", says="SystemExit"),
    "leaves in its cell": cheat("import os; os._exit(0)", says="ended the process"),
    "kills its parents": cheat(
        "import os, signal\nfor pid in (os.getppid(), 1, -1):\n"
        "    try:\n        os.kill(pid, signal.SIGKILL)\n    except OSError as error:\n"
        "        print(error)"
    ),
    "crashes": cheat(body="import ctypes; ctypes.string_at(0)", says="ended without an answer"),
    "recurses without end": cheat(
        "import sys; sys.setrecursionlimit(10**8)\ndef down(): return down()",
        "down()",
        seconds=1.0,
        says="did not answer|ended without an answer|RecursionError|MemoryError",
    ),
    "reads with ptrace": cheat(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(16, os.getppid(), 0, 0) == 0 or libc.ptrace(16, 1, 0, 0) == 0:\n"
        "    raise SystemError('attached')"
    ),
    "forks without end": cheat("import os\nwhile True: os.fork()", says="BlockingIOError"),
    "takes memory that no limit counts": cheat(
        CALLS + "must_fail('shmget', 0, ctypes.c_size_t(10**8), 0o1600)\n"
        "must_fail('semget', 0, 30000, 0o1600)\nmust_fail('msgget', 0, 0o1600)\n"
        "must_fail('memfd_create', b'x', 0)\nmust_fail('mq_open', b'/x', 0o102, 0o600, None)"
    ),
    "makes namespaces of its own": cheat(
        CALLS + "must_fail('unshare', 0x10020000)\nmust_fail('unshare', 0x40000000)\n"
        "must_fail('mount', b'none', b'/tmp', b'tmpfs', 0, None)"
    ),
    "leaves keys to the next student": cheat(
        CALLS + "key = 217 if __import__('platform').machine() == 'aarch64' else 248\n"
        "must_fail('syscall', key, b'user', b'mine', b'x', 1, -4)"
    ),
    "starts what outlives it": cheat(
        "import subprocess\nsubprocess.Popen(['sleep', '99'], start_new_session=True)",
        says="BlockingIOError",
    ),
    "starts threads without end": cheat(
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        says="can't start new thread",
    ),
    "writes anywhere": cheat(
        "import os\nfor folder, inner, _ in os.walk('/'):\n"
        "    inner[:] = {*inner} - {'proc', 'tmp', 'usr', 'nix', 'site-packages'}"
        "\n    try: open(folder + '/mine', 'w').close()\n    except OSError: continue\n"
        "    raise SystemError('found that it can write to ' + folder)"
    ),
    "loops without end": cheat(
        body="while True: pass", seconds=0.5, says=r"did not answer within 0.5 s: is there a loop"
    ),
    "loops in its cell": cheat(
        "while True: pass", cell_seconds=0.5, says="the cell took longer than"
    ),
    "sleeps": cheat(
        "import time", "time.sleep(10**6)", seconds=0.5, says="did not answer within 0.5 s"
    ),
    "takes all memory": cheat(body="return [0] * 10**10", says="MemoryError"),
    "takes memory bit by bit": cheat(
        "hoard = []", "while True: hoard.append(bytearray(10**8))", says="MemoryError"
    ),
    "fills the disk": cheat(
        "for n in range(100): open(f'/tmp/{n}', 'wb').write(b'x' * 10**7)", says="No space left"
    ),
    "ignores signals and waits": cheat(
        "import signal, time\nfor s in range(1, 32):\n    try:\n"
        "        signal.signal(s, signal.SIG_IGN)\n    except OSError:\n        pass",
        "time.sleep(10**6)",
        seconds=0.5,
        says="did not answer",
    ),
    "raises from a signal": cheat(
        "import signal\ndef late(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, late)\nsignal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)"
    ),
    "works at exit": cheat(
        "import atexit, sys\natexit.register(lambda: open('/tmp/grades', 'w').write('20'))\n"
        "sys.setprofile(lambda *_: None)"
    ),
    # The line
    "answers by hand": cheat(
        FRAMES + "shout(frame({'is': 'answer', 'value': None, 'changed': [], 'arrays': []}))",
        "shout(frame({'is': 'answer', 'value': [1, 0], 'changed': [], 'arrays': []}))",
    ),
    "answers with noise": cheat(FRAMES, "shout(b'x' * 10**5)", says="more than can be"),
    "answers without end": cheat(FRAMES, "while True: shout(b'\\0' * 8)", says="no message"),
    "announces what does not come": cheat(
        FRAMES,
        "import struct\nshout(struct.pack('!II', 10**6, 0))\nwhile True: pass",
        seconds=0.5,
        says="did not answer",
    ),
    "sends arrays that are not there": cheat(
        FRAMES,
        "shout(frame({'is': 'answer', 'value': {'array': 0}, 'changed': [],"
        " 'arrays': [['<f8', [10**9, 10**9], True]]}))",
        says="impossible shape|not there|no message|no value",
    ),
    "changes arrays that it was not given": cheat(
        FRAMES,
        "shout(frame({'is': 'answer', 'value': 1, 'changed': [[9, {'array': 0}], [0, 5]],"
        " 'arrays': []}))",
        says="no value",
    ),
    "calls functions that it was not given": cheat(
        FRAMES,
        "shout(frame({'is': 'call', 'function': 0, 'arguments': [], 'options': [], 'arrays': []})"
        " + frame({'is': 'answer', 'value': {'yours': 0}, 'changed': [], 'arrays': []}))",
    ),
    "tells an error of one part": cheat(
        FRAMES + "shout(frame({'is': 'ran', 'output': '', 'error': ['x'], 'arrays': []}))",
        says="ended the process that it ran in",
    ),
    "answers in advance": cheat(
        ANSWER + "names = 'hinge_subgradient', 'project_to_ball', 'pegasos_step'\n"
        "found = [[name, {'callable': 0, 'name': name}] for name in names]\n"
        "for _ in range(99):\n"
        "    answer([0, 0], values=found, strange=[], output='', error=None)"
    ),
    "sends arrays of objects, of times and of records": cheat(
        ANSWER + "import itertools\nkinds = itertools.cycle(['|O', '<M8[s]', [['a', '<f8']]])",
        "answer({'array': 0}, [[next(kinds), [2], True]], bytes(16))",
        says="what is no message",
    ),
    "sends rows of nothing in rows of nothing": cheat(
        ANSWER, "answer({'array': 0}, [['<f8', [10**6, 10**6, 0], True]])"
    ),
    "sends functions in place of numbers": cheat(
        ANSWER, "answer({'items': [[{'callable': 7, 'name': 'x'}] * 2, [2]]})", says="not numbers"
    ),
    "sends a key that has no hash": cheat(
        ANSWER, "answer({'dict': [[[1], 2]]})", says="no plain value"
    ),
    "changes what it was given, again and again": cheat(
        ANSWER,
        "answer(1, [['<f8', [2], True]], bytes(16), changed=[[0, {'array': 0}]] * 9999)",
    ),
    "raises what ends programs": cheat(
        ANSWER,
        "answer(1, error=['SystemExit', 'x'])",
        says="RuntimeError: SystemExit: x",
    ),
    "raises the course's own hint": cheat(ANSWER, "answer(1, error=['Hint', 'x'])"),
    "calls back without end": cheat(
        FRAMES,
        "call = {'is': 'call', 'function': 0, 'arguments': [], 'options': [], 'arrays': []}\n"
        "while True: shout(frame(call))",
        seconds=0.5,
        says="did not answer",
    ),
    "answers byte by byte": cheat(
        FRAMES + "import time",
        "for byte in frame({'is': 'answer', 'value': 1, 'changed': [], 'arrays': []}):\n"
        "    shout(bytes([byte]))\n    time.sleep(0.1)",
        seconds=0.5,
        says="did not answer",
    ),
    "sends pickles": cheat(
        FRAMES + "import pickle",
        "shout(frame({'is': 'answer', 'value': {'pickle': 'cos'}, 'changed': [], 'arrays': []}))",
        says="no value|unknown kind",
    ),
    "closes the line": cheat(body="import os; os.closerange(0, 64)", says="ended without"),
    "patches the line": cheat(
        "import sys\nwire = sys.modules['wire']\n"
        "wire.Packer.pack = lambda *_: {'dict': [[[], []]]}\nwire.HEAD = None",
        says="no value|ended|names could not be read",
    ),
    "sends from a thread": cheat(
        FRAMES + "import threading\nnoise = frame({'is': 'answer', 'value': [1, 0],"
        " 'changed': [], 'arrays': []})\ndef run():\n    while True: shout(noise)\n"
        "threading.Thread(target=run, daemon=True).start()"
    ),
    # Answers
    "is equal to everything": answer_is("Any()", any_of("object", "object.__new__(cls)")),
    "is an array equal to everything": answer_is(
        "Any()", any_of("np.ndarray", "np.zeros(2).view(cls)")
    ),
    "is a number equal to everything": answer_is("Any()", any_of("float", "float.__new__(cls)")),
    "is a word equal to everything": answer_is(
        "Any()", any_of("str", "str.__new__(cls, '\\ud800')")
    ),
    "is an array of strange things": answer_is(
        "np.array([Any(), Any()], dtype=object)", any_of("object", "object.__new__(cls)")
    ),
    "is a function": answer_is("check", says="function"),
    "is a huge array": answer_is(
        "np.broadcast_to(0.0, (10**5, 10**5))", says="arrays of more than"
    ),
    "is empty and has rows without end": answer_is(
        "np.zeros((2**31 - 1, 0))", says="impossible shape"
    ),
    "is a huge number": answer_is("10**10**6", says="integer of more than"),
    "is a deep list": answer_is(
        "deep", "deep = []\nfor _ in range(10**5): deep = [deep]", says="nested more than"
    ),
    "holds itself": answer_is("round_", "round_ = []\nround_.append(round_)", says="nested more"),
    "is infinite": answer_is("[float('inf'), 1e308 * 10, np.nan]"),
    "has colliding keys": answer_is(
        "dict.fromkeys(n * (2**61 - 1) for n in range(5000))", says="2000 keys"
    ),
    "is a list without end": answer_is(
        "Endless()",
        "class Endless(list):\n    def __iter__(self):\n        while True: yield 0",
        seconds=0.5,
        says="did not answer|MemoryError",
    ),
    "is another thing each time": answer_is(
        "next(things)",
        "import itertools\nthings = itertools.cycle([0.0, [1], 'x', Ellipsis, b'x', {}, np, type])",
    ),
    "is an array that grows": answer_is(
        "Growing()",
        "class Growing:\n    size = 0\n    def __array__(self, *_, **__):\n"
        "        Growing.size += 1\n        return np.zeros(Growing.size)",
    ),
    "writes commands for terminals": cheat(
        body="raise ValueError('\\x1b]0;x\\x07\\x1b[2J\\u202e')", says=r"ValueError: \]0;x\[2J"
    ),
    "is a generator": answer_is("(w for _ in '12')", "w = 0", says="generator"),
    "ends loops in silence": cheat(body="raise StopIteration", says="RuntimeError: StopIteration"),
    "raises what cannot be shown": cheat(
        "class Bad(AssertionError):\n    def __str__(self): import os; os._exit(0)\n"
        "    __repr__ = __str__",
        "raise Bad",
        says="ended without an answer",
    ),
    "raises half a character": cheat(body="raise ValueError('\\ud800' * 10**6)", says="ValueError"),
    "overwrites what it is given": Hostile(
        answers=WRONG
        | {
            GRADIENT: "w[:] = X[:] = X_toy[:] = 0\nreturn w",
            RUN: "X[:] = draws[:] = 0\nreturn X[0], X[0]",
        },
        fails=ALL,
    ),
    # Right answers
    "prints and warns": right(
        "import sys, warnings\nwarnings.simplefilter('always')\n"
        "class Loud(float): pass\n"
        "def loud():\n    warnings.warn('loud')\n    print('x' * 10**6)\n"
        "    print('x' * 10**6, file=sys.stderr)\n"
        "for _ in range(20): loud()"
    ),
    "writes to the terminal": right("import os\nfor _ in range(99): os.write(2, b'x' * 10**5)"),
    "uses magics": right(
        "%matplotlib inline\n!pip install numpy\n%load_ext autoreload\nnp.zeros?\n"
    ),
    "imports what is hidden and does not use it": right(
        "from pegasos_lib import HingeProblem, pegasos\nfrom pegasos_lib.online import sgd\n"
    ),
    "uses magics in its code": right(
        "files = !ls\nspent = %time 1\nimport asyncio\nawait asyncio.sleep(0)\n"
        "get_ipython().run_line_magic('matplotlib', 'inline')\n"
    ),
    "answers with columns of Pandas": Hostile(
        answers=RIGHT
        | {
            PROJECTION: "import pandas\n"
            + RIGHT[PROJECTION].replace("return ", "return pandas.Series(").rstrip()
            + ")"
        },
        fails="",
        seconds=30.0,
    ),
    "imports from the future, also for later cells": right(
        edit=lambda notebook: (
            insert(notebook, "p1-answer", "from __future__ import annotations", id="mine"),
            rename(notebook, "def hinge_subgradient(w,", "def hinge_subgradient(w: Vector,"),
        )
    ),
    "takes its time, and writes a module": right(
        "CONSTANT, TIME, ONE\n",
        edit=lambda notebook: (
            insert(notebook, "p1-answer", "%time TIME = 1", id="mine"),
            insert(notebook, "p1-answer", "%%writefile helper.py\nONE = 1"),
            insert(notebook, "p1-answer", "%%time\nfrom helper import ONE\nCONSTANT = 1"),
        ),
    ),
    "has types of its own": Hostile(
        "import dataclasses, pickle, typing\n@dataclasses.dataclass\nclass Step:\n"
        "    w: 'np.ndarray'\nassert pickle.loads(pickle.dumps(Step(1))).w == 1\n"
        "assert typing.get_type_hints(Step)",
        answers=RIGHT
        | {
            ORDER: RIGHT[ORDER]
            + "\nimport enum\nLine = enum.Enum('Line', {a: a for a in order_of_average}, type=str)"
            "\norder_of_average = [Line[a] for a in order_of_average]"
        },
        fails="",
    ),
    "works in threads": right(
        "import time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(12) as pool: assert [*pool.map(time.sleep, [0.01] * 24)]"
    ),
    "asks the reader, and starts a program": right(
        edit=lambda notebook: (
            insert(notebook, "p1-formula", "number = input('which?')", id="mine"),
            insert(notebook, "p2-radius", "import subprocess\nsubprocess.run(['ls'])", id="own"),
            insert(notebook, "p3-last", "_ + Out[1]\nexit()", id="other"),
        )
    ),
    "divides by 0": right("np.seterr(all='warn')\nnp.ones(2) / np.zeros(2)"),
    "answers with lists": Hostile(
        answers=RIGHT
        | {
            RUN: RIGHT[RUN].replace(
                RETURN, "average = running_sum / len(draws)\nreturn [*current], average.tolist()"
            )
        },
        fails="",
    ),
    "answers with objects": Hostile(
        answers=RIGHT
        | {
            RUN: RIGHT[RUN].replace(
                RETURN, "average = running_sum / len(draws)\nreturn current, average.astype(object)"
            )
        },
        fails="",
    ),
    # Partly right
    "loops at t = 4": Hostile(
        answers=RIGHT | {STEP: "while t == 4: pass\n" + RIGHT[STEP]},
        fails="p2-size p2-order",
        says=r"Problem 2, test 2.4: pegasos_step did not answer within 1.5 s",
        seconds=1.5,
    ),
    "dies at w = 0": Hostile(
        answers=RIGHT
        | {PROJECTION: "if not w.any(): __import__('os')._exit(3)\n" + RIGHT[PROJECTION]},
        fails="p2-zero",
        says="Problem 2, test 2.2: project_to_ball: the process that ran it ended",
    ),
    "loops in three problems": Hostile(
        answers=RIGHT | dict.fromkeys((GRADIENT, PROJECTION, STEP), "while True: pass"),
        fails=f"{OF_1} p2-radius p2-zero {OF_2B}",
        says="test 2.6: pegasos_step did not answer in three tests, and is not asked again",
        seconds=0.7,
    ),
    "loops, and all its functions are called alike": Hostile(
        answers=RIGHT | {STEP: "while True: pass"},
        edit=lambda notebook: call_alike(notebook),
        fails=OF_2B,
        says="test 2.6: pegasos_step did not answer in three tests",
        seconds=0.7,
    ),
    "has an imaginary part": Hostile(
        answers=RIGHT | {GRADIENT: RIGHT[GRADIENT].replace("return ", "return 5j + ")},
        fails=OF_1,
        says="not numbers",
    ),
    "answers in words": Hostile(
        answers=RIGHT | {PROJECTION: "w = list(map(str, w))\nreturn w"},
        fails="p2-radius p2-zero",
        says="not numbers",
    ),
    "has a syntax error": Hostile(
        answers=RIGHT | {GRADIENT: "return lam * w +"},
        fails=OF_1,
        says="hinge_subgradient is not defined: the cell ps06-p1-answer fails with SyntaxError",
    ),
    "has another name": right(
        edit=lambda notebook: rename(notebook, "def pegasos_step(", "def pegasos_steps("),
        fails=OF_2B,
        says="pegasos_step is not defined",
    ),
}


def cells(notebook, *names):
    """Return the cells of such ids, by what follows the set's name; all test cells without any."""
    if not names:
        return [c for c in notebook.cells if is_test(c)]
    return [c for c in notebook.cells if c.id.removeprefix("ps06-") in names]


def rename(notebook, old, new):
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)


def insert(notebook, at, source, **more):
    """Put a cell in front of another."""
    place = next(i for i, c in enumerate(notebook.cells) if c.id == f"ps06-{at}")
    notebook.cells.insert(place, new_code_cell(source, **more))


def remove(*names):
    def edit(notebook):
        gone = cells(notebook, *names)
        notebook.cells = [c for c in notebook.cells if c not in gone]

    return edit


def turn(name, maker):
    def edit(notebook):
        place = next(i for i, c in enumerate(notebook.cells) if c.id == f"ps06-{name}")
        old = notebook.cells[place]
        notebook.cells[place] = maker(old.source, metadata=old.metadata, id=old.id)

    return edit


def duplicate(name, new_id=None):
    def edit(notebook):
        place = next(i for i, c in enumerate(notebook.cells) if c.id == f"ps06-{name}")
        twin = copy.deepcopy(notebook.cells[place])
        twin.id = new_id or twin.id
        notebook.cells.insert(place + 1, twin)

    return edit


def strip(ids):
    def edit(notebook):
        for cell in notebook.cells:
            cell.metadata = nbformat.NotebookNode()
            if ids:
                del cell["id"]
        if ids:
            notebook.nbformat_minor = 4

    return edit


def change(setting, value, *names):
    def edit(notebook):
        for cell in cells(notebook, *names):
            cell.metadata.nbgrader[setting] = value

    return edit


def empty_tests(notebook):
    for cell in cells(notebook):
        cell.source = "pass"


def move_answer(notebook):
    """Leave the stub, and put the answer into a cell of one's own behind it."""
    (answer,) = cells(notebook, "p1-answer")
    insert(notebook, "p1-formula", answer.source)
    answer.source = "def hinge_subgradient(w, X, y, lam, batch):\n    raise NotImplementedError()"


def replace_answer(notebook):
    (answer,) = cells(notebook, "p1-answer")
    insert(notebook, "p1-formula", answer.source)
    remove("p1-answer")(notebook)


def call_alike(notebook):
    """Give all functions one name, as a decorator without functools.wraps does."""
    for cell in notebook.cells:
        if found := re.match(r"\s*def (\w+)", cell.source):
            cell.source += f"\n{found[1]}.__name__ = 'wrapper'\n"


def insert_long_cells(notebook):
    for _ in range(4):
        insert(notebook, "p1-formula", f"data = '{'a' * 4_100_000}'")


def insert_rubbish(notebook):
    insert(notebook, "p1-formula", "this is no Python")
    insert(notebook, "p2-radius", "1 / 0")
    insert(notebook, "setup", "from __future__ import annotations\nimport math")
    insert(notebook, "p3-last", "w_last, _passed, X_toy = None, set(), 0", id="mine")


def other_way_round(notebook):
    notebook.cells.reverse()


def big_outputs(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            text = "x" * 10**5
            cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text=text)]


def pretend_points(notebook):
    for cell in cells(notebook):
        cell.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "99"})]


def lengthen(notebook):
    """Put empty lines without end behind each answer; what looks through them must not be slow."""
    for cell in cells(notebook, "p1-answer", "p2-step-answer"):
        cell.source += "\n" * 400_000 + "x = 1"


def insert_odd_cells(notebook):
    """Put in a picture that is kept as lines, and cells that hold what no cell does."""
    picture = {"image/svg+xml": ["<svg>\n", "</svg>"]}
    drawn = {"drawn": picture, "lost": None}
    notebook.cells.insert(2, new_markdown_cell("![it](attachment:drawn)"))
    notebook.cells[2]["attachments"] = drawn
    for strange in ({"source": None}, {"source": {"a": 1}, "metadata": [1], "cell_type": ["code"]}):
        cell = {"cell_type": "code", "metadata": {}, "outputs": 3, "id": 7} | strange
        notebook.cells.insert(2, nbformat.from_dict(cell))


def print_much(notebook):
    for _ in range(200):
        insert(notebook, "p1-formula", "print('\U0001f600' * 10**5)")


EDITS = {
    "a test cell was copied": right(edit=duplicate("p1-formula", "copy")),
    "an id stands twice": right(edit=duplicate("p2-first")),
    "an answer was copied": right(edit=duplicate("p2-step-answer", "copy")),
    "a test cell is missing": right(edit=remove("p2-size"), says="ps06-p2-size was missing"),
    "all test cells are missing": right(edit=lambda n: remove(*ALL.split())(n)),
    "the set-up is missing": right(edit=remove("setup"), says="ps06-setup was missing"),
    "an answer is missing": right(
        edit=remove("p1-answer"), fails=OF_1, says="ps06-p1-answer was missing"
    ),
    "an answer was moved": right(edit=move_answer),
    "an answer was replaced": right(edit=replace_answer, says="known by what it holds"),
    "the cells are in another order": right(edit=other_way_round, says="in their order"),
    "a test became text": right(edit=turn("p1-margin", new_markdown_cell), says="become markdown"),
    "a test became raw": right(edit=turn("p1-margin", new_raw_cell), says="become raw"),
    "an answer became text": right(edit=turn("p3-answer", new_markdown_cell)),
    "metadata were lost": right(edit=strip(ids=False)),
    "metadata and ids were lost": right(edit=strip(ids=True), says="known by what it holds"),
    "grade ids were changed": right(edit=change("grade_id", "mine", *ALL.split(), "p1-answer")),
    "flags were flipped": right(edit=change("solution", True, *ALL.split())),
    "tests are no tests": Hostile(edit=change("grade", False, *ALL.split())),
    "points were changed": right(edit=change("points", 1000, *ALL.split())),
    "points are no number": right(edit=change("points", {"a": []}, *ALL.split())),
    "the schema is of tomorrow": right(edit=change("schema_version", 99, *ALL.split())),
    "tests were emptied": Hostile(edit=empty_tests),
    "outputs pretend points": Hostile(edit=pretend_points),
    "outputs are big": right(edit=big_outputs),
    "long cells were inserted": right(
        edit=insert_long_cells, says="the cell holds a value whose text is longer"
    ),
    "rubbish was inserted": right(edit=insert_rubbish),
    "answers end in empty lines": right(edit=lengthen),
    "odd cells were inserted": right(edit=insert_odd_cells),
    "many cells print much": right(edit=print_much),
}


def as_format_3(notebook):
    """Return the JSON of a notebook as IPython 3 wrote it."""
    sheet = [
        {
            "cell_type": "code",
            "input": c.source,
            "language": "python",
            "metadata": {},
            "outputs": [],
        }
        if c.cell_type == "code"
        else {"cell_type": "markdown", "source": c.source, "metadata": {}}
        for c in notebook.cells
    ]
    content = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": sheet}]}
    return json.dumps(content)


# Name -> (whether its right answers count, what the log says, how the folder is filled).
FILES = {
    "format 3": (True, "", lambda f, nb: (f / "ps06.ipynb").write_text(as_format_3(nb))),
    "a byte order mark": (
        True,
        "",
        lambda f, nb: (f / "ps06.ipynb").write_text(nbformat.writes(nb), encoding="utf-8-sig"),
    ),
    "an empty file": (False, "it is empty", lambda f, nb: (f / "ps06.ipynb").write_text("")),
    "no JSON": (False, "not JSON", lambda f, nb: (f / "ps06.ipynb").write_text("def f(): {")),
    "no text": (False, "not JSON", lambda f, nb: (f / "ps06.ipynb").write_bytes(os.urandom(9999))),
    "no notebook": (False, "no notebook", lambda f, nb: (f / "ps06.ipynb").write_text("[1, {}]")),
    "no cells": (False, "no cells", lambda f, nb: (f / "ps06.ipynb").write_text('{"cells": []}')),
    "deep JSON": (False, "not JSON", lambda f, nb: (f / "ps06.ipynb").write_text("[" * 10**6)),
    "a link to the source": (
        False,
        "a link",
        lambda f, nb: (f / "ps06.ipynb").symlink_to(f.parents[2] / "source/ps06/ps06.ipynb"),
    ),
    "a folder": (False, "no file", lambda f, nb: (f / "ps06.ipynb").mkdir()),
    "a pipe": (False, "no file", lambda f, nb: os.mkfifo(f / "ps06.ipynb")),
    "another name": (
        False,
        r"there is Copy of ps06.ipynb",
        lambda f, nb: nbformat.write(nb, f / "Copy of ps06.ipynb"),
    ),
    "nothing": (False, "no notebook named ps06.ipynb was handed in", lambda f, nb: None),
}
