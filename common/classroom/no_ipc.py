"""Runs a command that cannot make memory or queues of System V, nor message queues of POSIX.

    python no_ipc.py COMMAND...

No limit counts them while no process has them, and without namespaces they outlive whoever made them.
"""

import ctypes
import os
import platform
import signal
import struct
import sys

# What linux/audit.h calls the architecture; its calls shmget, shmat, semget, msgget and mq_open.
CALLS = {"x86_64": (0xC000003E, (29, 30, 64, 68, 240)), "aarch64": (0xC00000B7, (194, 196, 190, 186, 180))}
LOAD, IS, IS_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # Of the filter's instructions.
NUMBER, ARCHITECTURE = 0, 4  # Where a call's stand.
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # With EPERM.
X32 = 0x40000000  # From here on, numbers of another table.
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2  # prctl()'s.


def program():
    """Packed instructions: what, how many to leave out if so, and if not, and a number."""
    architecture, calls = CALLS[platform.machine()]
    after = len(calls) + 1  # From the first comparison of numbers to the refusal at the end.
    steps = [(LOAD, 0, 0, ARCHITECTURE), (IS, 1, 0, architecture), (RETURN, 0, 0, REFUSE),
             (LOAD, 0, 0, NUMBER), (IS_AT_LEAST, after, 0, X32)]
    steps += [(IS, after - 1 - k, 0, call) for k, call in enumerate(calls)]
    return [struct.pack("HBBI", *step) for step in (*steps, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE))]


def forbid():
    steps = program()
    text = ctypes.create_string_buffer(b"".join(steps))
    filter_ = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(text))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(SECCOMP, FILTER, filter_) and (prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(SECCOMP, FILTER, filter_)):
        sys.exit(f"calls cannot be forbidden here: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    forbid()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # By Python, for itself.
        signal.signal(ignored, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
