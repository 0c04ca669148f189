#!/usr/bin/env python3
"""Replay the "Break it" items: plant each bug and see the named check fail.

    <!-- break FILE: 'old' -> 'new'; red: TEST CASE OR FINDING -->

`old` occurs exactly once in FILE. The mutant must compile and link with its
contract's suite, and its run must fail: by the doctest case whose name begins
with the text after `red:`, or with that text among the executor's findings.
The unmodified file must pass that check; where a finding is named, all of them.
Quoted texts know \\', \\\\, \\n and \\> (for a
comment's end), and adjacent ones are joined, as in C++.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))

import pages  # noqa: E402
import together  # noqa: E402
from pages import Problem  # noqa: E402

BACKEND = os.environ.get("BACKEND", "cpu")
# For doctest: on a GPU ./run would go on to measure, and it tells of the first failure.
CHECKS_ONLY = ("--dt-exit", "--dt-reporters=console")
SECONDS = 60  # A chapter's run takes five; a mutant that hangs takes for ever.
CORES = len(os.sched_getaffinity(0))

QUOTED = r"'(?:[^'\\\n]|\\.)*'"
ITEM = re.compile(
    rf"(?P<file>\S+):\s+(?P<old>{QUOTED}(?:\s+{QUOTED})*)\s*->\s*"
    rf"(?P<new>{QUOTED}(?:\s+{QUOTED})*)\s*;\s*red:\s*(?P<red>\S.*)",
    re.S,
)
ESCAPES = {"n": "\n", "'": "'", "\\": "\\", ">": ">"}
RULER = re.compile(r"^={20,}$", re.M)  # Between the reports of doctest.
CASE = re.compile(r"^TEST CASE: +(.*?) *$", re.M)


@dataclasses.dataclass(frozen=True)
class Break:
    where: str
    source: pathlib.Path
    old: str
    new: str
    red: str

    def __str__(self):
        return f"{self.where}: {self.source.name}: '{self.old}' -> '{self.new}'"


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
        """doctest names a case that has something to say, failed or not."""
        reports = [r for r in RULER.split(self.output) if "ERROR: " in r]
        return [name for report in reports for name in CASE.findall(report)]

    def says(self, text):
        return text in CASE.sub("", self.output)


def parse(directive, page):
    item = ITEM.fullmatch(directive.args)
    if not item:
        raise Problem("write: break FILE: 'old' -> 'new'; red: TEST CASE OR FINDING")
    source = pages.relative_file(page, item["file"])
    if source.suffix != ".cu":
        raise Problem(f"{source.name} is no .cu that fulfils a contract")
    old, new = _unquote(item["old"]), _unquote(item["new"])
    matches = source.read_text().count(old) if old else 0
    if matches != 1:
        raise Problem(f"'{old}' occurs {matches} times in {source.name}, need exactly 1")
    if old == new:
        raise Problem("'old' and 'new' are equal, so nothing is broken")
    return Break(directive.where, source, old, new, " ".join(item["red"].split()))


def judge(item, mutant, original):
    """Why this item does not hold, or None."""
    if not original.passed:
        return f"the unmodified {item.source.name} does not pass:\n{_tail(original)}"
    if original.says(item.red):
        return f"the unmodified file says '{item.red}' too: name the check exactly"
    if not mutant.built:
        return f"the mutant does not compile and link:\n{_tail(mutant)}"
    if mutant.status is None:
        return f"the mutant hung for {SECONDS} s:\n{_tail(mutant)}"
    if mutant.status == 0:
        return "the mutant passes: no check noticed the bug"
    cases = mutant.failed_cases()
    if any(case.startswith(item.red) for case in cases) or mutant.says(item.red):
        return None
    failed = ", ".join(f"'{name}'" for name in cases) or "no test case"
    return f"the mutant fails, but not by '{item.red}'; failed: {failed}\n{_tail(mutant)}"


class Workshop:
    """Builds sources through the Makefile and runs them."""

    def __init__(self, root):
        self.root = root
        self.mutants = root / "build" / "breaks"

    def plant(self, source, text):
        """Write a changed copy of a source where the Makefile can build it."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        folder = self.mutants / source.parent.relative_to(self.root)
        copy = folder / f"{together.op(source)}.{digest}.cu"
        folder.mkdir(parents=True, exist_ok=True)
        if not copy.is_file() or copy.read_text() != text:
            copy.write_text(text)
        return copy

    def build(self, sources):
        """Source -> the program that runs it, or what the compiler said."""
        groups = together.gather(sorted(set(sources)), together.op)
        return together.build(self.root, BACKEND, groups, ".run")

    def run(self, program, source, options=()):
        if isinstance(program, str):
            return Run(False, None, program)
        try:
            run = subprocess.run(
                [program, *CHECKS_ONLY, *options],
                cwd=self.root,
                env=together.environment(self.root, source) | {"SIMT_COUNTERS": "off"},
                timeout=SECONDS,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired as late:
            return Run(True, None, (late.stdout or b"").decode(errors="replace"))
        return Run(True, run.returncode, together.plain(run.stdout))

    def run_all(self, built, jobs):
        """Jobs are a source, and options: job -> Run."""
        jobs = sorted(set(jobs))
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            runs = pool.map(lambda job: self.run(built[job[0]], job[0], job[1:]), jobs)
            return dict(zip(jobs, runs))


def collect(root, tally):
    """Every break item of every page that can be read."""
    for path in pages.find(root):
        try:
            page = pages.Page(path, root)
        except Problem as problem:
            tally.fail(str(problem))
            continue
        for directive in page.directives:
            if directive.word == "break":
                try:
                    yield parse(directive, page)
                except Problem as problem:
                    tally.fail(f"{directive.where}: {problem}")


def only(name):
    """doctest's option for the checks whose name begins so."""
    return f"--dt-test-case={name.replace(',', '?')}*"


def run(root):
    tally, workshop = pages.Tally(), Workshop(root)
    items = list(collect(root, tally))
    mutants = {
        item: workshop.plant(item.source, item.source.read_text().replace(item.old, item.new))
        for item in items
    }
    built = workshop.build([*mutants.values(), *(item.source for item in items)])

    def judge_all(some, options):
        """Item -> why it does not hold, or None."""
        runs = workshop.run_all(
            built, [(s, *options(i)) for i in some for s in (mutants[i], i.source)]
        )
        return {
            i: judge(i, runs[mutants[i], *options(i)], runs[i.source, *options(i)]) for i in some
        }

    # Most name a check, and need no other.
    troubles = judge_all(items, lambda item: [only(item.red)])
    troubles |= judge_all([item for item in items if troubles[item]], lambda _: [])
    for item in items:
        if troubles[item]:
            tally.fail(f"{item}: {troubles[item]}")
        else:
            tally.ok(f"{item}; red: {item.red}")
    return tally.close("break item")


def _unquote(literals):
    texts = re.findall(QUOTED, literals)
    return "".join(re.sub(r"\\(.)", _unescape, text[1:-1]) for text in texts)


def _unescape(match):
    if match[1] not in ESCAPES:
        known = " ".join(rf"\{c}" for c in ESCAPES)
        raise Problem(f"'{match[0]}' is no escape; there are {known}")
    return ESCAPES[match[1]]


def _tail(run, lines=12):
    return "\n".join("        " + s for s in run.output.rstrip().splitlines()[-lines:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pages.ROOT)
    try:
        return run(parser.parse_args().root.resolve())
    except Problem as problem:
        sys.exit(f"breaks: {problem}")


if __name__ == "__main__":
    sys.exit(main())
