"""The bugs that the pages propose to plant: what each changes, and what its run says.

    <!-- break FILE: 'old' -> 'new'; red: TEST CASE OR FINDING -->
    <!-- break HEADER in FILE: ... -->     where several files beside it include the header

A header is broken for the chapter's file that includes it. weave.py shows them, tests/breaks.py judges them; both build one program of all,
and what a program has said without a GPU is kept in build/breaks.
"""

import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import textwrap

from harness import built, patches
from ladder import pages, together, toolchain
from ladder.pages import Problem

# For doctest: on a GPU ./run would go on to measure. What is said is what a reader sees, so
# that one run serves the pages and those who judge.
CHECKS_ONLY = ("--dt-exit", "--dt-reporters=plain")
SECONDS = 60  # A chapter's run takes five; a mutant that hangs takes for ever.
TO_THE_FIRST = "--dt-abort-after=1"  # Check that fails, for doctest.
CORES = len(os.sched_getaffinity(0))
COLUMNS = 80

ITEM = re.compile(rf"(?P<file>\S+?)(?:\s+in\s+(?P<includer>\S+))?:\s+(?P<old>{patches.TEXT})\s*->\s*"
                  rf"(?P<new>{patches.TEXT})\s*;\s*red:\s*(?P<red>\S.*)", re.S)
# Where checks are named: the first that fails, all others that do, and what became of the rest.
FAILURES = re.compile(r"^FAILED: (.*)|^\d+ of \d+ checks failed, these too:\n((?:  .*\n)+)", re.M)
ALL_PASSED = "\nEvery check passed, "  # Behind it, what failed is no check.
LISTED = re.compile(r"^\d+ checks? (?:passed|skipped):\n(?:  .*\n)+", re.M)

# What the executor, or else the checks, say first: that line and what follows.
FINDING = re.compile(r"^simt: (?!note:).*\n.*", re.M)
FAILED = re.compile(r"^FAILED: .*\n.*(?:\n  (?!\().*)?", re.M)
PLANTED = re.compile(r"[^\s:]*/(\w+)\.[0-9a-f]{8}\.(cu|h)\b")
NOT_THE_SAME_IN_EVERY_RUN = re.compile(r"(?:,? (?:at|of)|:) global address 0x[0-9a-f]+| \(allocation \d+\)")


@dataclasses.dataclass(frozen=True)
class Break:
    where: str
    source: pathlib.Path
    old: str
    new: str
    red: str
    header: pathlib.Path | None = None  # Of the source: what is edited in its place.

    def __str__(self):
        return f"{self.where}: {self.edited.name}: '{self.old}' -> '{self.new}'"

    @property
    def edited(self):
        return self.header or self.source

    def text(self):
        """The edited file with the bug in it."""
        return self.edited.read_text().replace(self.old, self.new)

    def edit(self):
        """The lines that change, with a line around them, as a diff."""
        before, after = (text.splitlines() for text in (self.edited.read_text(), self.text()))
        return [line for line in pages.changes(before, after, 1) if line.strip()]


@dataclasses.dataclass(frozen=True)
class Run:
    """What became of a program: built or not, its exit status, its output."""

    built: bool
    status: int | None  # None: it did not end in time.
    output: str

    @property
    def passed(self):
        return self.built and self.status == 0

    def failed_cases(self):
        found = FAILURES.findall(self.output.partition(ALL_PASSED)[0])
        return [name.strip() for first, others in found for name in (first or others).splitlines()]

    def says(self, text):
        return text in LISTED.sub("", FAILURES.sub("", self.output))

    def turns_red(self, name):
        """The check of exactly that name, or a finding that says so."""
        return self.built and self.status and (name in self.failed_cases() or self.says(name))

    def first_lines(self, source):
        """What it says first about what is wrong, as it is on every machine."""
        found = FINDING.search(self.output) or FAILED.search(self.output)
        if not found:
            raise Problem(f"its run does not say what is wrong:\n{self.tail()}")
        unplanted = PLANTED.sub(lambda p: source.name if p[2] == "cu" else f"{p[1]}.h", found[0])
        said = NOT_THE_SAME_IN_EVERY_RUN.sub("", unplanted)
        return [line for long in said.rstrip().splitlines() for line in _wrapped(long)]

    def tail(self, lines=12):
        return "\n".join("        " + s for s in self.output.rstrip().splitlines()[-lines:])


def parse(directive, page):
    item = ITEM.fullmatch(directive.args)
    if not item:
        raise Problem("write: break FILE: 'old' -> 'new'; red: TEST CASE OR FINDING, or HEADER in FILE: ...")
    edited = pages.beside(page.path, item["file"])
    header = edited if edited.suffix == ".h" else None
    source = _includer(header, item["includer"], page.root) if header else edited
    if source.suffix != ".cu":
        raise Problem(f"{source.name} is no .cu that fulfils a contract")
    old, new = patches.unquoted(item["old"]), patches.unquoted(item["new"])
    patches.edited(edited.read_text(), old, new, edited.name)
    return Break(directive.where, source, old, new, " ".join(item["red"].split()), header)


def _include(root, header):
    return f'#include "{header.relative_to(root)}"'


def _chain(root, path, header):
    """The headers by which a file includes another beside it: that one, or one in between, too, or none."""
    text = path.read_text()
    if _include(root, header) in text:
        return [header]
    return next(([between, header] for between in sorted(header.parent.glob("*.h"))
                 if _include(root, between) in text and _include(root, header) in between.read_text()), [])


def _includer(header, named, root):
    """The file beside a header that fulfils a contract with it: the one that is named, or the only one."""
    chains = {path: len(_chain(root, path, header)) for path in sorted(header.parent.glob("*.cu"))
              if path.name.count(".") == 1 and path.name == (named or path.name)}
    shortest = min(filter(None, chains.values()), default=None)
    beside = [path for path, length in chains.items() if length == shortest]
    if len(beside) != 1:
        raise Problem(f"{header.name} is included by {len(beside)} files beside it, need exactly 1: "
                      f"write '{header.name} in FILE.cu'")
    return beside[0]


def collect(root, fail=lambda message: None):
    """Every break item of every page that can be read."""
    for page in pages.readable(root, fail):
        for directive in page.directives:
            if directive.word == "break":
                try:
                    yield parse(directive, page)
                except Problem as problem:
                    fail(f"{directive.where}: {problem}")


def only(name):
    """doctest's option for the check of that name."""
    return f"--dt-test-case={name.replace(',', '?')}"


class Workshop:
    """Builds through the Makefile the mutants of all items, the files that they change
    and others, and runs them."""

    def __init__(self, root, backend, items, others=()):
        self.root = root
        self.backend = backend
        self.folder = root / "build" / "breaks"
        self.folder.mkdir(parents=True, exist_ok=True)
        with toolchain.alone(root):
            self.mutants = {item: self._plant(item) for item in items}
            self.built = self._build([*self.mutants.values(), *others])
            # Those are on their way already: each has a suite of its own.
            self.built |= together.build_alone(root, backend, {item.source for item in items}, ".run")

    def runs(self, jobs):
        """Jobs are a source, and options: job -> Run."""
        jobs = sorted(set(jobs))
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            return dict(zip(jobs, pool.map(lambda job: self.run(job[0], job[1:]), jobs)))

    def objections(self, ways, judge):
        """Item -> what `judge` has against it, or None. An item has several ways, which are jobs
        to run; one after the other is tried until the judge has nothing against it."""
        found, rest = {}, ways
        while rest:
            runs = self.runs(job for tries in rest.values() for job in tries[0])
            found |= {item: judge(item, *(runs[job] for job in tries[0])) for item, tries in rest.items()}
            rest = {item: tries[1:] for item, tries in rest.items() if tries[1:] and found[item]}
        return found

    def _plant(self, item):
        """Write what is changed where the Makefile can build it, and return the source."""
        edited, copy = item.edited, self._write(item.edited, item.text())
        including = [item.source, *_chain(self.root, item.source, item.header)[:-1]] if item.header else []
        for file in reversed(including):
            text = file.read_text().replace(_include(self.root, edited), _include(self.root, copy))
            edited, copy = file, self._write(file, text)
        return copy

    def _write(self, file, text):
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        folder = self.folder / file.parent.relative_to(self.root)
        return built.write(folder / f"{together.op(file)}.{digest}{file.suffix}", text)

    def _build(self, sources):
        """Source -> the program that runs it, or what the compiler said."""
        wanted = set(sources)
        groups = together.gather(sorted(wanted | self._wrong_in_some_way()),
                                 lambda path: (together.op(path), together.has_engine(path), path.match("*.exercise.cu")))
        groups = [group for group in groups if wanted.intersection(group)]
        of_engines = [group for group in groups if together.has_engine(group[0])]
        small = [group for group in groups if group not in of_engines]
        build = functools.partial(together.build, self.root, self.backend, kind=".run")
        return build(small) | build(of_engines, folder="sooner")

    def _wrong_in_some_way(self):
        """All mutants and wrong kernels: compiled with those that are wanted, one program serves
        each suite that runs some of it. Exercises are few beside them, and run more often."""
        return {*map(self._plant, collect(self.root)), *patches.sources(self.root).values()}

    def run(self, source, options):
        """Only once, without a GPU: the executor does the same again; a GPU need not."""
        program = self.built[source]
        if isinstance(program, str):
            return Run(False, None, program)
        if self.backend != "cpu":
            return self._run(source, options)
        if built.has_passed(program):  # A chapter's own file, whose suite has found nothing.
            return Run(True, 0, "")
        went_in = [_digest(program), str(source.relative_to(self.root)), *CHECKS_ONLY, *options]
        kept = self.folder / f"{hashlib.sha256('|'.join(went_in).encode()).hexdigest()}.json"
        if kept.is_file():
            return Run(**json.loads(kept.read_text()))
        run = self._run(source, options)
        if run.status is not None:  # A busy machine is no reason to be late for ever.
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(dataclasses.asdict(run)))
            part.replace(kept)
        return run

    def _run(self, source, options):
        try:
            run = built.told([self.built[source], *CHECKS_ONLY, *options], cwd=self.root, timeout=SECONDS,
                             env=together.environment(self.root, source) | {"SIMT_COUNTERS": "off"})
        except subprocess.TimeoutExpired as late:
            return Run(True, None, (late.stdout or b"").decode(errors="replace"))
        return Run(True, run.returncode, together.plain(run.stdout))


def shown(workshop, item):
    """What a page shows of a bug: the lines of its edit, and of what is said then."""
    # It is a check, or a finding, most often before the first check that fails.
    ways = [only(item.red)], [TO_THE_FIRST], []
    runs = (workshop.run(workshop.mutants[item], options) for options in ways)
    red = next((run for run in runs if run.turns_red(item.red)), None)
    if red is None:
        raise Problem(f"'{item.red}' does not turn red: see what tests/breaks.py says")
    said = red.first_lines(item.source)
    name = [] if said[0] == f"FAILED: {item.red}" else [f"Red: *{item.red}*.", ""]
    return ["<details><summary>The edit, and what <code>./run</code> says</summary>", "",
            "```diff", *item.edit(), "```", "", *name, "```text", *said, "```", "", "</details>"]


@functools.cache
def _digest(program):
    return hashlib.sha256(program.read_bytes()).hexdigest()


def _wrapped(line):
    indent = re.match(" *", line)[0] + "  "
    return textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)
