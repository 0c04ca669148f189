"""What docs/ladder and common/classroom both need: a student's copy has no docs/ladder."""

import sys


class Problem(ValueError):
    """Something a person has to mend; the message says what and where."""


def script(name, main, *arguments):
    """Ends as a script does: a Problem is said in a line."""
    try:
        sys.exit(main(*arguments))
    except Problem as problem:
        sys.exit(f"{name}: {problem}")


# For the environment of a program: what it frees it will want again, and the system would clear new pages each time.
KEEPS_FREED_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
