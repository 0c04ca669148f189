"""What pytest runs beside the tests in python/: each suite is one item.

A suite is a program or a script that counts its own checks. The last line sums them and
the tests in python/ and drifts/; what was said is in build/test.log. Suites are found by where files
lie and how they are named.
"""

import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import sys

import planted
import pytest
from harness import KEEPS_FREED_MEMORY
from ladder import together, toolchain

ROOT = pathlib.Path(__file__).resolve().parent.parent
BACKEND = os.environ.get("BACKEND", "cpu")
LOG = ROOT / "build" / "test.log"
SECONDS = 1200  # A suite that takes longer, even on a busy machine, hangs.
SHOWN_LINES = 60
FAILING = re.compile(r"^(FAIL|E  |ERROR)|ERROR: |error: |undefined reference")  # In what any suite or tool says.
DOCTESTS_WORDS = ("--dt-exit", "--dt-reporters=console")  # Checks alone, as judge_doctest reads them.
HUGE = "*2^31*"  # What a check is called that takes many GB.

CHAPTERS = "chapters/[0-9][0-9]_*/*.cu"
TASKS = "common/classroom/tasks/*/*.cu"
CHECKS = "tests/*_test.cpp"
EXECUTOR = "tests/simt/**/*.cu"
PARTS = "tests/simt/linked/*/*.cu"  # Of those programs: linked with them.
WITHIN = "tests/simt/*.cpp"
PROGRAMS = "tests/programs/*.cu"
DRIFTS = "tests/drifts/*.txt"
PLACES = (CHAPTERS, TASKS, CHECKS, EXECUTOR, WITHIN, PROGRAMS)

ENGINES = tuple(f"tests/{path.name.removeprefix('any_')}_test.cpp" for path in sorted(ROOT.glob("tests/any_*")))

# `make test` leaves these to `make test-all`: minutes, for what few changes concern. Every second
# commit's .ci/run has the whole classroom, and leaves out the executor's own suites: so it ends well
# within 15 minutes. The others' have a part of the rest, in turns. TURN says which.
GRADED = "tests/classroom/*.py"
OF_THE_EXECUTOR = ("tests/simt/**/*.c*", "tests/simt/*.c*", "tests/fuzz/*.py", "tests/forms.py")
LEFT = (
    GRADED, "tests/architectures.py", "tests/breaks.py", "tests/counters.py", *ENGINES, "tests/findings.py",
    "tests/wrong.py", "tests/drifts/*.txt", "tests/programs/*.cu",
    "tests/python/*.py", "tests/simt/cublas.cu", "tests/simt/curand.cu",
)
PLANTED = "tests/breaks.py"  # Needs the programs that the pages' outputs need.
ARCHITECTURES, WRONG_ENGINES = "tests/architectures.py", "tests/python/test_wrong_engines.py"
WRONG = sorted(path.stem for path in ROOT.glob("tests/wrong/engines/*.txt"))
ALONE = (  # Each a turn: a file, and which part of it, if not all.
    (PLANTED, ()), ("tests/wrong.py", ()), (ARCHITECTURES, ("chapters",)), (ARCHITECTURES, ("common", "plots")),
    (WRONG_ENGINES, WRONG[::2]), (WRONG_ENGINES, WRONG[1::2]),
)
SHARES = 4  # Of what is left besides.
TURNS = len(ALONE) + SHARES
SHORT = "SHORT" in os.environ
CLASSROOM = -1


def turn_of(number):
    return number // 2 % TURNS if number % 2 else CLASSROOM


TURN = turn_of(int(os.environ["TURN"])) if "TURN" in os.environ else None
FILE, PART = ALONE[TURN] if TURN is not None and 0 <= TURN < len(ALONE) else ("", ())
WITHOUT_BUGS = SHORT or TURN is not None and FILE != PLANTED

SCRIPTS = {f"tests/{name}.py": () for name in (
    "wrong", "counters", "layout", "claims", "breaks", "findings", "forms")} | {
    ARCHITECTURES: PART,
    "docs/ladder/weave.py": ("--check", *(("--without-bugs",) if WITHOUT_BUGS else ())),
    "docs/ladder/figures/plot.py": ("--check",),
    "tests/fuzz/fuzz.py": ("check", "--sample", "240"),  # Of the thousands in tests/fuzz/h200.txt.
    "tests/fuzz/races.py": ("check", "1-400"),
}
LONGEST = (  # Begin first.
    "tests/classroom/test_wrong_kernels.py", "tests/classroom/test_grade.py", "tests/classroom/test_exercises.py",
    "docs/ladder/weave.py",
    "tests/wrong.py", "tests/architectures.py", "tests/counters.py", "tests/claims.py",
    "tests/drifts/layout.txt", "tests/fuzz/fuzz.py", "tests/breaks.py", *reversed(ENGINES),
    "tests/python/test_show.py", "tests/classroom/test_student.py", "tests/forms.py", "tests/findings.py",
    "tests/python/test_plot.py", "tests/python/test_make.py", "tests/layout.py", "tests/python/test_traces.py",
    "tests/simt/failures/fail.cu",
    "tests/python/test_*_engine.py", "tests/python/test_*_refused.py",
)

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\.?$", re.M)
DOCTEST = re.compile(
    r"^\[doctest\] test cases:[^|]*\|\s*(\d+) passed \|\s*(\d+) failed \|(?:\s*(\d+) skipped)?", re.M
)
STALE = re.compile(r"^STALE .*", re.M)
TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

os.environ.pop("MAKEFLAGS", None)  # Of the make that called us.
os.environ |= KEEPS_FREED_MEMORY
ENVIRONMENT = dict(os.environ)  # Tests in python/ change it.


@dataclasses.dataclass
class Result:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    output: str = ""

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


@dataclasses.dataclass
class Suite:
    command: list  # What runs it, in ROOT.
    judge: object  # (exit status, standard output, all output) -> Result
    target: str = ""  # What make must have built before.
    joined: bool = False  # Is built, in one program, with others of its folder.
    counts: str = ""  # The file for what it counts once its checks have passed, which make would count, too.


# ---- Judges -----------------------------------------------------------------


def counted(status, passed, failed, skipped=0):
    """A suite that ends badly has failed, whatever it counted."""
    return Result(passed, failed or int(status != 0), skipped)


def judge_counts(status, _, output):
    """The last `N passed, N failed` that the suite prints."""
    found = COUNTS.findall(output)
    return counted(status, *(int(n or 0) for n in found[-1])) if found else Result()


def judge_doctest(status, _, output):
    found = DOCTEST.search(output)
    return counted(status, *(int(n or 0) for n in found.groups())) if found else Result()


def judge_program(expected):
    """Exit status 0 and, where <name>.expected is there, just its text."""

    def judge(status, stdout, _):
        right = status == 0 and (not expected.is_file() or stdout == expected.read_text())
        return Result(int(right), int(not right))

    return judge


# ---- Suites -----------------------------------------------------------------


def built(path, kind):
    return f"{toolchain.folder(BACKEND)}/{path.relative_to(ROOT).with_suffix(kind)}"


def program(path, kind, judge, *arguments, joined=False):
    target = built(path, kind)
    return Suite(["env", "SIMT_COUNTERS=off", f"./{target}", *arguments], judge, target, joined)


def counting(path):
    """All checks of a chapter's file, and what ./run counts then."""
    target, counts = built(path, ".run"), built(path, ".counts")
    words = ["--dt-reporters=console", "--dt-no-skip", f"--record={counts}.suite"]
    return Suite([f"./{target}", *words], judge_doctest, target, counts=counts)


def script(path):
    """A module of the package, or a file."""
    package = ROOT / "docs"
    if not path.is_relative_to(package):
        return [str(path.relative_to(ROOT))]
    return ["-m", ".".join(path.relative_to(package).with_suffix("").parts)]


@functools.cache
def found(place):
    paths = [path for path in ROOT.glob(place) if not path.match("*.exercise.cu")]
    left_out = [path for path in paths if toolchain.is_left_out(ROOT, BACKEND, path)]
    if left_out:
        print("Left out, because the library that they call is not here:", *(path.relative_to(ROOT) for path in left_out))
    return frozenset(paths) - frozenset(left_out)


def suite_of(path):
    """How a file is run, or None."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    if name in SCRIPTS:
        return Suite([sys.executable, *script(path), *SCRIPTS[name]], judge_counts)
    # Some checks are too long for every ./run and run here; the longest run where they are
    # named. On a GPU ./run would go on to measure; the checks are all we want. Without one
    # the open tasks' are run by tests/classroom/test_exercises.py, which counts, too.
    if path in found(CHAPTERS) and BACKEND == "cpu":
        return counting(path)
    if path in found(CHAPTERS) or BACKEND == "gpu" and path in found(TASKS) and ".exercise" not in path.name:
        return program(path, ".run", judge_doctest, *DOCTESTS_WORDS, "--dt-no-skip", f"--dt-test-case-exclude={HUGE}")
    # A contract's checks are linked with its chapters. What looks inside the executor
    # needs none where there is a GPU in its place.
    chapters_run_it = path.stem.removesuffix("_test") in map(together.op, found(CHAPTERS))
    if path in found(CHECKS) and not chapters_run_it or path in found(WITHIN) and BACKEND == "cpu":
        return program(path, ".checks", judge_doctest, *DOCTESTS_WORDS)
    # Those in arithmetic/ fill one table with their checks, and what fails runs itself for
    # each mistake, which takes the longer the more PTX is with it: each is built alone.
    if path in found(EXECUTOR) - found(PARTS):
        return program(path, ".program", judge_counts, joined=path.parent == ROOT / "tests/simt")
    if path in found(PROGRAMS):
        return program(path, ".program", judge_program(path.with_suffix(".expected")),
                       joined=not together.stands_alone(path))
    return None


class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="checks")


class Item(pytest.Item):
    def __init__(self, **more):
        super().__init__(**more)
        self.suite, self.ready = suite_of(self.path), False  # Not yet built.

    def runtest(self):
        result = run(self.suite, self.ready)
        result.output = f"$ {' '.join(self.suite.command)}\n{result.output}"
        self.user_properties.append(("suite", dataclasses.astuple(result)))
        assert not result.failed


# ---- Running ----------------------------------------------------------------


def build(items):
    """All at once; what cannot be built will say so when it is run."""
    joined = {item.path: item for item in items if item.suite.joined}
    targets = [item.suite.target for item in items if item.suite.target and not item.suite.joined]
    groups = together.gather(joined, lambda path: path in found(PROGRAMS))
    made = together.build(ROOT, BACKEND, groups, ".program", besides=targets)
    for item in items:
        program = made.get(item.path if item.suite.joined else item.suite.target)
        item.ready = isinstance(program, pathlib.Path)
        if item.ready and item.suite.joined:
            chosen = f"{together.CHOICE}={item.path.relative_to(ROOT)}"
            item.suite = dataclasses.replace(item.suite, command=["env", chosen, str(program)])


def run(suite, ready=False):
    if suite.target and not ready:
        built = toolchain.make(ROOT, BACKEND, suite.target)  # Was made before, unless it cannot be made.
        if built.returncode:
            return Result(failed=1, output=f"It does not compile or link.\n{built.stdout}")
    try:
        done = subprocess.run(
            suite.command, cwd=ROOT, env=ENVIRONMENT, timeout=SECONDS, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"") + (late.stderr or b"")
        return Result(failed=1, output=said.decode(errors="replace") + f"\nIt hung for {SECONDS} s.")
    output = TERMINAL_COLOURS.sub("", done.stdout + done.stderr)
    result = suite.judge(done.returncode, together.plain(done.stdout), output)
    result.output = output
    if suite.counts and done.returncode == 0:
        os.replace(f"{suite.counts}.suite", suite.counts)
    if result.failed == 0 and result.passed == 0:
        result.failed = 1
        result.output += f"\nIt ended with status {done.returncode} and told of no test."
    elif result.failed and done.returncode:
        result.output += f"\nIt ended with status {done.returncode}."
    return result


def excerpt(output):
    """The lines that tell of a failure, then those around the first."""
    lines = output.rstrip().splitlines()
    if len(lines) <= SHOWN_LINES:
        return lines
    half = SHOWN_LINES // 2
    failing = [k for k, line in enumerate(lines) if FAILING.search(line)]
    first = min([*failing, len(lines) - half])
    more = f"... from line {first + 1} of {len(lines)}; all are in {LOG.relative_to(ROOT)}:"
    return [*(lines[k] for k in failing[:half]), more, *lines[first:first + half]]


# ---- Telling ----------------------------------------------------------------


class Reporter:
    """A line for each suite and for what fails; the sum."""

    def __init__(self, log):
        self.log = log
        self.total = Result()
        self.tests = Result()  # Of those in python/ and drifts/.
        self.seconds = 0
        self.status = 0

    def tell(self, name, result, seconds, shown):
        print(f"{'FAIL' if result.failed else 'ok  '}  {name:44} {result!s:21}{seconds:6.1f} s", flush=True)
        self.log.write(f"==== {name}: {result}\n{result.output}\n")
        for line in shown:
            print(f"      {line}", flush=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report):
        return report.outcome, "", ""  # No dots between our lines.

    def pytest_runtest_logreport(self, report):
        suite = dict(report.user_properties).get("suite")
        if suite and report.when == "call":
            result = Result(*suite)
            self.tell(report.fspath, result, report.duration,
                      excerpt(result.output) if result.failed else STALE.findall(result.output))
            self.total.add(result)
            return
        self.seconds += report.duration
        if report.failed:
            self.fail(report)
        elif not isinstance(report, pytest.SubtestReport):
            self.tests.add(Result(passed=int(report.passed and report.when == "call"), skipped=int(report.skipped)))

    def pytest_collectreport(self, report):
        if report.failed:
            self.fail(report)

    def fail(self, report):
        failed = Result(failed=1, output=report.longreprtext)
        self.tests.add(failed)
        self.tell(report.nodeid, failed, getattr(report, "duration", 0), excerpt(failed.output))

    def pytest_sessionfinish(self, exitstatus):
        self.status = exitstatus

    def pytest_unconfigure(self):
        if str(self.tests) != str(Result()):
            self.tell("tests/python, tests/drifts", self.tests, self.seconds, [])
        self.total.add(self.tests)
        self.total.failed = self.total.failed or int(self.status != 0)
        print(self.total, file=self.log, flush=True)
        if SHORT:
            print(f"Left to make test-all, besides the bugs that pages plant: {', '.join(LEFT)}.")
        if TURN is not None:
            part = ("the classroom, without the executor's own suites" if TURN == CLASSROOM
                    else f"part {TURN} of {TURNS} of the rest")
            print(f"Of what make test leaves, this was {part}; make test-all runs it all.")
        print(f"The whole log is {LOG.relative_to(ROOT)}.\n{self.total}")


# ---- What pytest calls ------------------------------------------------------


class Everywhere:
    """What stands alone in a conftest.py is asked of the files beside it only."""

    @staticmethod
    def pytest_collect_file(file_path, parent):
        if file_path in found(DRIFTS):
            return planted.Drifts.from_parent(parent, path=file_path)
        return File.from_parent(parent, path=file_path) if suite_of(file_path) else None


def pytest_configure(config):
    os.environ["PYTHONPATH"] = ENVIRONMENT["PYTHONPATH"] = os.pathsep.join(map(str, config.getini("pythonpath")))
    config.pluginmanager.register(Everywhere())


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        LOG.parent.mkdir(exist_ok=True)
        session.config.pluginmanager.register(Reporter(open(LOG, "w", encoding="utf-8")))


def pytest_collection_modifyitems(items):
    """Chapters first: pages and exercises ask for what they count."""
    paths = dict.fromkeys(item.path for item in items)
    ranks = {path: next((rank for rank, name in enumerate(LONGEST) if path.match(name)), len(LONGEST)) for path in paths}
    items.sort(key=lambda item: (item.path not in found(CHAPTERS), ranks[item.path]))
    left = [path for path in dict.fromkeys(item.path for item in items) if is_one_of(LEFT, path)]
    items[:] = [item for item in items if has_its_turn(item.path, left) and is_of_part(item)]


def has_its_turn(path, left):
    """Of what is left to make test-all, where that comes in turns. Neighbours take about as long."""
    if TURN == CLASSROOM and is_one_of(OF_THE_EXECUTOR, path):
        return False
    if path not in left or TURN is None:
        return not (SHORT and path in left)
    if TURN == CLASSROOM:
        return is_one_of((GRADED,), path)
    if TURN < len(ALONE):
        return is_one_of((ALONE[TURN][0],), path)
    rest = [other for other in left if not is_one_of((GRADED, *(file for file, _ in ALONE)), other)]
    return path in rest and rest.index(path) % SHARES == TURN - len(ALONE)


def is_of_part(item):
    """Of the file whose turn it is, the tests that are named; a script is told, and looks for itself."""
    return item.path != ROOT / FILE or not PART or isinstance(item, Item) or any(word in item.name for word in PART)


def is_one_of(patterns, path):
    return any(path.relative_to(ROOT).match(pattern) for pattern in patterns)


def pytest_collection_finish(session):
    """Each worker comes here: the first one builds."""
    suites = [item for item in session.items if isinstance(item, Item)]
    if suites and not session.config.option.collectonly:
        with toolchain.alone(ROOT):
            build(suites)
