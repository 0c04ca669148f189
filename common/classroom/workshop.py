"""Builds kernels for the student's commands and says what the executor counts of them.

A text is planted under a name that tells its contents, so what was built once stays.
"""

import collections
import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import threading

from classroom.assignment import ROOT, Case, Problem

FOLDER = "build/classroom"
HUGE = "*2^31*"  # What a check is called that takes many GB.
SECONDS = 120  # A suite takes five; a kernel that hangs takes for ever.
FAILED = re.compile(r"^FAILED: (.*)", re.M)
FINDING = re.compile(r"^simt: (?!note:)([^\n]*)", re.M)


def make(*arguments, backend="cpu", **more):
    """make on its own, even below another make."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return subprocess.run(["make", "--no-print-directory", f"BACKEND={backend}", *arguments],
                          cwd=ROOT, env=env, text=True, errors="replace", **more)


@contextlib.contextmanager
def alone():
    """Two makes would write the same files: one waits."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/make.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def plant(op, text):
    """Write a kernel where the Makefile can build it: its path from the root."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = ROOT / FOLDER / f"{op}.{digest}.cu"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        path.write_text(text, encoding="utf-8")
    return path.relative_to(ROOT)


def build(paths):
    """Path -> its program, or what the compiler said; all by one make."""
    targets = {path: f"build/cpu/{path.with_suffix('.run')}" for path in dict.fromkeys(paths)}

    def made(*wanted):
        return make("--silent", *wanted, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    with alone():
        if targets and made("-k", f"-j{os.cpu_count()}", *targets.values()).returncode:
            each = {path: made(target) for path, target in targets.items()}
            return {path: one.stdout if one.returncode else ROOT / targets[path] for path, one in each.items()}
    return {path: ROOT / target for path, target in targets.items()}


def failure(program):
    """What a program's checks say first: (check, finding of the executor), either '' if there is none."""
    command = [program, "--dt-exit", f"--dt-test-case-exclude={HUGE}"]
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it did not end within {SECONDS} s", ""
    if done.returncode == 0:
        return "", ""
    check, finding = FAILED.search(done.stdout), FINDING.search(done.stdout)
    return check[1] if check else f"it ended with status {done.returncode}", finding[1] if finding else ""


def recorded(program, name="", *options):
    """Case -> the lines that tell of it, in what a program records with these options. make
    and the pages' checks keep it under the same names."""
    path = program.with_suffix(f"{name}.counts")
    if not is_newer(path, program):
        part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
        checked = ["--checked"] * has_passed(program)
        done = subprocess.run([program, *options, f"--record={part}", *checked], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
        if done.returncode:
            raise Problem(f"{program.relative_to(ROOT)} cannot be counted:\n{done.stdout}")
        part.replace(path)
    cases = collections.defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("\t")
        if words[0] == "case":
            lines = cases[Case(*map(int, words[1:]))]
        elif words[0] != "name":
            lines.append(words)
    return cases


def has_passed(program):
    """Whether it has told of some case before, which it does once all its checks have passed."""
    told = program.with_suffix(".counts"), *program.parent.glob(f"{program.stem}.[0-9]*.counts")
    return any(is_newer(path, program) and path.stat().st_size for path in told)


def is_newer(path, program):
    return path.is_file() and path.stat().st_mtime >= program.stat().st_mtime


def read(lines, kernel=""):
    """Counter -> its value in a whole call, or in the one launch of a kernel: the rows of ./run's
    table, ncu's sums, and launch__grid_size."""
    found, launched = collections.defaultdict(float), []
    for words in lines:
        match words:
            case ["launch", name, blocks, _]:
                launched.append(name)
                counts = kernel in ("", name)
                found["launch__grid_size"] += counts * int(blocks)
            case ["metric", name, value] if counts and name.endswith(".sum"):
                found[name] += float(value)
            case ["part", name, _, value, *_] if kernel and counts:
                found[name] = float(value)
            case ["row", name, _, value, *_] if not kernel:
                found[name] = float(value)
    if kernel and launched.count(kernel) != 1:
        raise Problem(f"{kernel} is launched {launched.count(kernel)} times, need exactly 1; "
                      f"launched: {', '.join(launched) or 'nothing'}")
    return dict(found)


def counter(program, wanted, case, usual=None):
    """The counter that a Bar or a Question names. Each run checks everything first, so what has
    been counted already, `usual`, is looked at before."""
    lines = (usual or {}).get(case) or recorded(program, f".{case.n}.{case.offset}", f"--n={case.n}",
                                                f"--offset={case.offset}")[case]
    found = read(lines, wanted.kernel)
    if wanted.counter not in found:
        raise Problem(f"nothing is counted as '{wanted.counter}'; there are {', '.join(found)}")
    return found[wanted.counter]


def missed(bars, program):
    """A sentence for each bar that a program does not reach."""
    usual = recorded(program)
    values = [(bar, counter(program, bar, bar.case, usual)) for bar in bars]
    return [bar.told(value) for bar, value in values if not bar.holds(value)]
