#!/usr/bin/env python3
"""Replay the "Break it" items: plant each bug and see the named check fail.

    <!-- break FILE: 'old' -> 'new'; red: TEST CASE OR FINDING -->

`old` occurs exactly once in FILE. The mutant must compile and link with its
contract's suite, and its run must fail: by the doctest case whose whole name
stands after `red:`, or with that text among the executor's findings.
The unmodified file must pass that check; where a finding is named, all of them.
Quoted texts know \\', \\\\, \\n and \\> (for a
comment's end), and adjacent ones are joined, as in C++.
"""

import os

from ladder import mutants, pages

BACKEND = os.environ.get("BACKEND", "cpu")
FINDING = "only the executor can find that"  # It is no check's name, which would be in the list of them.
LEFT_OUT = "Left out: "  # Says a check that wants more than this GPU has, or more GPUs.


def judge(item, mutant, original):
    """Why this item does not hold, or None."""
    if not original.passed:
        return f"the unmodified {item.source.name} does not pass:\n{original.tail()}"
    if original.says(item.red):
        return f"the unmodified file says '{item.red}' too: name the check exactly"
    if not mutant.built:
        return f"the mutant does not compile and link:\n{mutant.tail()}"
    if mutant.status is None:
        return f"the mutant hung for {mutants.SECONDS} s:\n{mutant.tail()}"
    if mutant.status == 0 and BACKEND == "gpu" and LEFT_OUT in mutant.output:
        return None
    if BACKEND == "gpu" and original.status == 0 and item.red not in original.output:
        return FINDING
    if mutant.status == 0:
        return "the mutant passes: no check noticed the bug"
    if mutant.turns_red(item.red):
        return None
    failed = ", ".join(f"'{name}'" for name in mutant.failed_cases()) or "no test case"
    return f"the mutant fails, but not by '{item.red}'; failed: {failed}\n{mutant.tail()}"


def run(root):
    tally = pages.Tally()
    items = list(mutants.collect(root, tally.fail))
    workshop = mutants.Workshop(root, BACKEND, items)

    def ways(item):
        """Most name a check, and need no other; a finding comes most often before the first that fails."""
        alone = mutants.only(item.red)
        return [[(workshop.mutants[item], *broken), (item.source, *right)] for broken, right in (
            ([alone], [alone]), ([mutants.TO_THE_FIRST], []), ([], []))]

    troubles = workshop.objections({item: ways(item) for item in items}, judge)
    for item in items:
        if troubles[item] == FINDING:
            tally.skip(f"{item}; red: {item.red}: {FINDING}")
        elif troubles[item]:
            tally.fail(f"{item}: {troubles[item]}")
        else:
            tally.ok(f"{item}; red: {item.red}")
    return tally.close("break item")


main = pages.tool("breaks", __doc__, run)

if __name__ == "__main__":
    main()
