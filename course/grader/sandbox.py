"""Where a submission's code runs: a process that sees Python, NumPy, the library, and nothing else.

Under bubblewrap it has no network, sees and starts no other process, and can write to a small
folder in memory only. The tree that it sees is made of what Python needs, so neither the course,
nor its database, nor anybody's home is in it.
"""

import atexit
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import hiding

UNSAFE_VARIABLE = "PEGASOS_UNSAFE_GRADING"
INSTALL = (
    "Grading runs students' code under bubblewrap, which {}: install it (on Debian: "
    "apt install bubblewrap), or accept that this code runs with your own rights "
    f"(--unsafe, or {UNSAFE_VARIABLE}=1), which marks every grade."
)
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/ld.so.cache",
)
HERE = Path(__file__).resolve().parent
INSIDE = "/grader"  # where the worker's files are in the sandbox
PLACE = "/tmp"  # what it may write to
# Root is given up for a user that owns nothing: root's processes are not counted by the limits.
FIRST_USER, USERS = 61_200, 4_000


class NoSandbox(RuntimeError):
    """Bubblewrap is missing or does not work here; says what to install."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use, and for how long.

    Attributes
    ----------
    call_seconds, cell_seconds, start_seconds : float
        For one call of a student's function, for one cell, and for the start of a worker.
    total_seconds : float
        For the whole submission.
    memory, file_bytes : int
        Bytes of memory of a process, and of all files together.
    processes : int
        Threads; of other processes there are none in the sandbox.
    restarts : int
        How often a worker that died or did not answer is started again.
    """

    call_seconds: float = 10.0
    cell_seconds: float = 20.0
    start_seconds: float = 60.0
    total_seconds: float = 90.0
    memory: int = 1_500_000_000
    file_bytes: int = 20_000_000
    processes: int = 32
    restarts: int = 8

    def of_process(self) -> dict[str, int]:
        """Return the resource limits, by what follows RLIMIT_."""
        return {
            "AS": self.memory,
            "CPU": int(self.total_seconds) + 1,
            "FSIZE": self.file_bytes,
            "NPROC": self.processes,
            "NOFILE": 64,
            "CORE": 0,
        }


@dataclass
class Sandbox:
    """How to start workers for one problem set.

    Attributes
    ----------
    hides : tuple of str
        Dotted names of what the library does not have for the student.
    unsafe : bool
        Whether to run without bubblewrap.
    """

    hides: tuple[str, ...] = ()
    unsafe: bool = False
    limits: Limits = field(default_factory=Limits)

    def library(self) -> Path:
        """Return the folder of the student's copy of the library, which is made once in a run."""
        return _copy_without(self.hides)

    def start(self) -> subprocess.Popen:
        """Start a worker; it says on its standard output, a pipe, when it is ready."""
        library = self.library()
        inside = str(HERE) if self.unsafe else INSIDE
        options = {
            "path": [str(library) if self.unsafe else f"{INSIDE}/library", *_python_path()],
            "limits": self.limits.of_process(),
            "user": 0 if self.unsafe or os.geteuid() else FIRST_USER + os.getpid() % USERS,
            "folder": "/" if self.unsafe else PLACE,
            "filtered": not self.unsafe,
        }
        command = [sys.executable, "-S", "-s", "-B", f"{inside}/worker.py", json.dumps(options)]
        if not self.unsafe:
            command = [*_bubblewrap(library, self.limits.file_bytes), "--", *command]
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=_environment(),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise NoSandbox(INSTALL.format(f"does not start here ({error})")) from None


def unsafe_is_asked() -> bool:
    """Tell whether the environment asks to grade without a sandbox."""
    return os.environ.get(UNSAFE_VARIABLE, "") not in ("", "0")


def check() -> None:
    """Make sure that bubblewrap works here.

    Raises
    ------
    NoSandbox
        If not.
    """
    if shutil.which("bwrap") is None:
        raise NoSandbox(INSTALL.format("is not installed here"))
    with tempfile.TemporaryDirectory() as library:
        code = f"import sys; sys.path.append({INSIDE!r}); import seccomp; seccomp.refuse_calls()"
        command = [*_bubblewrap(Path(library), 1_000_000), "--", sys.executable, "-S", "-c", code]
        done = subprocess.run(command, env=_environment(), capture_output=True, check=False)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()[:300]
        raise NoSandbox(INSTALL.format(f"does not work here ({why})"))


def _bubblewrap(library: Path, file_bytes: int) -> list[str]:
    """Return the command that runs another one in a sandbox."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if os.geteuid():
        command += ["--unshare-all"]
    else:
        # Root needs no user namespace, and gives itself up when the worker has started.
        command += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        command += ["--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    # First, so that a Python that stands inside of it is seen.
    command += ["--perms", "1777", "--size", str(file_bytes), "--tmpfs", PLACE]
    # Folders on the way are made by hand: bubblewrap's own would be closed to others than root.
    ways = {
        parent for p in (*SYSTEM, *_python_folders(), f"{INSIDE}/x") for parent in Path(p).parents
    }
    for way in sorted(ways - {Path("/")}):
        command += ["--perms", "0755", "--dir", str(way)]
    for path in SYSTEM:
        command += ["--ro-bind-try", path, path]
    for path in _python_folders():
        command += ["--ro-bind", path, path]
    for path in _hidden_folders():
        command += ["--tmpfs", path, "--remount-ro", path]
    for name in ("worker.py", "wire.py", "values.py", "seccomp.py"):
        command += ["--ro-bind", str(HERE / name), f"{INSIDE}/{name}"]
    command += ["--ro-bind", str(library), f"{INSIDE}/library"]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    return [*command, "--remount-ro", "/", "--chdir", "/"]


def _python_folders() -> list[str]:
    """Return what a worker needs of Python that is not the system's."""
    folders = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *_python_path()}
    folders |= {os.path.realpath(folder) for folder in folders}
    program = Path(sys.executable)
    while program.is_symlink():  # a venv's python leads to another by way of links
        program = program.parent / program.readlink()
        folders.add(os.path.normpath(program.parent))
    return sorted(folder for folder in folders if folder != "/" and os.path.isdir(folder))


def _hidden_folders() -> list[str]:
    """Return the folders inside of visible ones that hold the course or a copy of the library."""
    root, folders = HERE.parent.parent, [Path(p) for p in _python_folders()]
    places = [HERE.parent, root / hiding.PACKAGE]
    if str(root) not in _python_path():  # with the tests' right answers, and all of the past
        inner = [p for p in root.iterdir() if not p.is_symlink()]
        places += [p for p in inner if not any(f.is_relative_to(p) for f in folders)]
    places += [Path(folder) / hiding.PACKAGE for folder in _python_path()]
    found = importlib.util.find_spec(hiding.PACKAGE)
    places += [Path(found.origin).parent] if found and found.origin else []
    visible = [*map(Path, SYSTEM), *folders]
    return sorted(
        {str(p) for p in places if p.is_dir() and any(p.is_relative_to(v) for v in visible)}
    )


def _python_path() -> list[str]:
    """Return the folders of installed packages that this process imports from."""
    roots = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    numpy = str(Path(importlib.util.find_spec("numpy").origin).parents[1])
    named = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    return list(dict.fromkeys([p for p in named if p.startswith(tuple(roots))] + [numpy]))


def _environment() -> dict[str, str]:
    """Return a worker's environment: nothing of the grader's own."""
    names = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return names | {
        "PATH": "/usr/bin:/bin",
        "HOME": PLACE,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "PEGASOS_JIT": "0",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }


@functools.cache
def _copy_without(hides: tuple[str, ...]) -> Path:
    """Return a folder with the library without such names, made once in a run."""
    folder = Path(tempfile.mkdtemp(prefix="pegasos-grading-"))
    owner = os.getpid()
    # A judge, which is a fork of the grader, leaves the folder to it.
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    hiding.write_copy(folder / "library", list(hides))
    folder.chmod(0o755)
    return folder / "library"
