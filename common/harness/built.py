"""Asks make for programs, and keeps what they count."""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import threading

from harness import Problem

INHERITED = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
SECONDS = 120  # To count takes five; a kernel that hangs takes for ever.


def told(command, **more):
    """The run of a program: all that it says, errors too, is in its stdout."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


def make_aloud(root, backend, *arguments, **more):
    """make, on its own even below another make."""
    return subprocess.run(
        ["make", "--no-print-directory", f"BACKEND={backend}", *arguments], cwd=root, text=True, errors="replace",
        env={name: value for name, value in os.environ.items() if name not in INHERITED}, **more)


def make(root, backend, *arguments):
    """The same, quietly: what it has to say is in its stdout."""
    return make_aloud(root, backend, "--silent", *arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def make_each(root, backend, targets):
    """Target -> None, or what make said of it if it cannot be made. All at once is quicker."""
    targets = list(targets)
    if not targets or make(root, backend, "-k", f"-j{os.cpu_count()}", *targets).returncode == 0:
        return dict.fromkeys(targets)
    runs = {target: make(root, backend, target) for target in targets}
    return {target: run.stdout if run.returncode else None for target, run in runs.items()}


def tracked(root, *arguments):
    """The files that git knows of below the root, without those that are deleted."""
    listed = subprocess.run(["git", "ls-files", "-z", *arguments], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        raise Problem(f"git does not tell the files of {root}: {listed.stderr.strip()}")
    return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def write(path, text):
    """What was built of a file that says this already stays up to date."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


def plant(folder, stem, text):
    """A .cu file where make can build it; its name tells contents apart."""
    return write(folder / f"{stem}.{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu", text)


@contextlib.contextmanager
def alone(root):
    """Tests run side by side, and two makes would write the same files: one waits."""
    lock = root / "build" / "make.lock"
    lock.parent.mkdir(exist_ok=True)
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def count(root, program, name="", *options):
    """The file of what a program counts with these options. make keeps it under the same names."""
    path = program.with_suffix(f"{name}.counts")
    if not _is_newer(path, program):
        part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
        checked = ["--checked"] * has_passed(program)
        try:
            done = told([program, *options, f"--record={part}", *checked], cwd=root, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Problem(f"{program.relative_to(root)} was not done with counting after {SECONDS} s. "
                          "Is the machine busy? Then try again.") from None
        if done.returncode:
            raise Problem(f"{program.relative_to(root)} cannot be counted:\n{done.stdout}")
        part.replace(path)
    return path


def has_passed(program):
    """Whether all its checks have, since it was built: only then does it write down what it counts."""
    counts = program.with_suffix(".counts"), *program.parent.glob(f"{program.stem}.[0-9]*.counts")
    return any(_is_newer(path, program) and path.stat().st_size for path in counts)


def _is_newer(path, program):
    return path.is_file() and path.stat().st_mtime >= program.stat().st_mtime
