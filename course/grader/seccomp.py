"""A filter of the kernel on what a submission's process may ask of it (Linux's seccomp).

The limits of a process count neither the memory of System V, of memfd and of file systems that
one mounts in a user namespace of one's own, nor that of other processes; keys outlive the sandbox.
The module stands alone: a worker's process imports it by itself.
"""

import ctypes
import errno
import platform
import struct

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# A call's numbers on x86_64 and aarch64, None where there is none, and what its caller is told.
REFUSED = {
    "fork": (57, None, errno.EAGAIN),
    "vfork": (58, None, errno.EAGAIN),
    "clone3": (435, 435, errno.ENOSYS),  # whose flags no filter can read: C falls back to clone
    "unshare": (272, 97, errno.EPERM),
    "setns": (308, 268, errno.EPERM),
    "mount": (165, 40, errno.EPERM),
    "shmget": (29, 194, errno.EPERM),
    "semget": (64, 190, errno.EPERM),
    "msgget": (68, 186, errno.EPERM),
    "mq_open": (240, 180, errno.EPERM),
    "memfd_create": (319, 279, errno.EPERM),
    "add_key": (248, 217, errno.EPERM),
    "request_key": (249, 218, errno.EPERM),
    "keyctl": (250, 219, errno.EPERM),
    "ptrace": (101, 117, errno.EPERM),
    "bpf": (321, 280, errno.EPERM),
    "perf_event_open": (298, 241, errno.EPERM),
    "userfaultfd": (323, 282, errno.EPERM),
    "io_uring_setup": (425, 425, errno.EPERM),
}
CLONE = 56, 220
CLONE_THREAD = 0x00010000
X32 = 0x40000000  # from here on are the numbers of another ABI of x86_64
# Of Linux's headers: the parts of a filter, and the options of prctl.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # where they stand in what the filter sees
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def program(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter: of each step its code, how far to jump if it holds or not, its operand.

    Raises
    ------
    OSError
        If there is no filter for such a machine.
    """
    if machine not in ARCHITECTURES:
        raise OSError(f"there is no filter of system calls for {machine}")
    column, architecture = ARCHITECTURES[machine]

    def refuse(code):
        return (RETURN, 0, 0, ERROR | code)

    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), refuse(errno.ENOSYS)]
    steps += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, X32), refuse(errno.ENOSYS)]
    for *numbers, code in REFUSED.values():
        if numbers[column] is not None:
            steps += [(EQUAL, 0, 1, numbers[column]), refuse(code)]
    # Threads may be made, processes not.
    steps += [(EQUAL, 0, 3, CLONE[column]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    steps += [(ANY_BIT, 1, 0, CLONE_THREAD), refuse(errno.EAGAIN)]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def refuse_calls() -> None:
    """Put the filter on this process, for good.

    Raises
    ------
    OSError
        If the kernel does not take it.
    """
    steps = program(platform.machine())
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(head), 0, 0),
    ):
        if prctl(arguments[0], *map(ctypes.c_ulong, arguments[1:])):
            raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")
