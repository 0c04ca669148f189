#!/usr/bin/env python3
"""See that each kernel in tests/wrong is rejected, and by what it should be.

tests/wrong/expected.txt says what that is. A kernel that is missing there, or
there and not in the folder, is a failure too; so is a patch that no longer fits
the file it follows.
"""

import dataclasses
import re

from breaks import BACKEND, LEFT_OUT, mutants, pages
from harness import patches

FOLDER = pages.ROOT / "tests" / "wrong"
FINDING = re.compile(r"^simt: (.*)", re.M)
EXECUTOR = "executor: "  # Before a check that no GPU can make.
NO_CHECK = "no check"  # After EXECUTOR: the finding alone rejects it.
RIGHT = "nothing"  # What rejects a kernel that is odd, but right.
GIVES_BACK = "gives back what it takes"  # On a GPU: by its free memory, which others take and free, too.
NOT_HUGE = "--dt-test-case-exclude=*2^31*"  # Such a kernel may take minutes there.


@dataclasses.dataclass(frozen=True)
class Expected:
    check: str  # That fails, alone or the first of all, RIGHT, or after EXECUTOR.
    finding: str  # What the executor says then, '-' or 'passes'.

    @property
    def counts(self):
        return BACKEND == "cpu" or not self.check.startswith(EXECUTOR)

    @property
    def ways(self):
        """Options to try one after the other. The named check alone is quick; some bugs need
        what ran before it, or come to light later."""
        if self.check == RIGHT:
            return [(NOT_HUGE,)]
        if BACKEND == "cpu" and self.finding == "passes":
            return [()]
        name = self.check.removeprefix(EXECUTOR)
        alone = [(mutants.only(name),)] if name != NO_CHECK else []
        return [*alone, (mutants.TO_THE_FIRST,), ()]


def rows(text, form, key):
    """The fields of each line, as many as in `form`, none empty; none is twice the `key`-th."""
    keys = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != len(form.split("|")) or not all(fields):
            raise pages.Problem(f"expected.txt:{number}: write: {form}")
        if fields[key] in keys:
            raise pages.Problem(f"expected.txt:{number}: {fields[key]} is there twice")
        keys.add(fields[key])
        yield fields


def read_table(text):
    """File name -> Expected."""
    return {name: Expected(*rest) for name, *rest in rows(text, "file | check | finding", 0)}


def judge(expected, run):
    """Why the kernel was not rejected as it should be, or None."""
    if not run.built:
        return "it does not compile and link"
    if run.status is None:
        return "it hung"
    if BACKEND == "cpu" and expected.finding == "passes":
        return None if run.passed else "it was rejected without a GPU: say in the table by what"
    if expected.check == RIGHT:
        return None if run.passed else "it was rejected, and keeps its contract"
    if run.status == 0:
        return None if LEFT_OUT in run.output else "nothing rejected it"
    rejected = next(iter(run.failed_cases()), NO_CHECK)
    if rejected != expected.check.removeprefix(EXECUTOR):
        return f"'{rejected}' rejected it, not '{expected.check}'"
    if BACKEND == "cpu":
        return misses(expected.finding, FINDING.findall(run.output))
    return None


def misses(expected, findings):
    found = findings[0] if findings else "-"
    if found == expected if expected == "-" else found.startswith(expected):
        return None
    return f"the executor said '{found}', not '{expected}'"


def is_concerned(name):
    """Of one chapter that is tested, all kernels of its contracts are."""
    chapter = pages.ROOT.glob(f"chapters/{pages.CHAPTER}_*/{name.split('.')[0]}.cu")
    return not pages.CHAPTER or any(chapter)


def main():
    tally = pages.Tally()
    table = read_table((FOLDER / "expected.txt").read_text())
    kernels = patches.sources(pages.ROOT, tally.fail)
    for name in sorted(table.keys() - kernels.keys()):
        tally.fail(f"{name} is in expected.txt and not in tests/wrong")
    for name in sorted(kernels.keys() - table.keys()):
        tally.fail(f"{name} has no line in expected.txt")

    known = [name for name in kernels if name in table and table[name].counts and is_concerned(name)]
    workshop = mutants.Workshop(pages.ROOT, BACKEND, [], map(kernels.get, known))

    def trouble_of(name, run):
        trouble = judge(table[name], run)
        return trouble and f"{trouble}\n{run.output[-2000:]}"

    ways = {name: [[(kernels[name], *options)] for options in table[name].ways] for name in known}
    alone = [name for name in known if BACKEND == "gpu" and GIVES_BACK in table[name].check]
    troubles = {}
    for batch in ([name for name in known if name not in alone], *([name] for name in alone)):
        troubles |= workshop.objections({name: ways[name] for name in batch}, trouble_of)
    for name in known:
        expected = table[name]
        if troubles[name]:
            tally.fail(f"{name}: {troubles[name]}")
        elif BACKEND == "cpu" and expected.finding == "passes":
            tally.ok(f"{name}: passes here; on a GPU '{expected.check}' is red")
        else:
            tally.ok(f"{name}: {expected.check}")
    return tally.close("wrong kernel")


if __name__ == "__main__":
    pages.script("wrong", main)
