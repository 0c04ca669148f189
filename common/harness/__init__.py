"""What docs/ladder and common/classroom both need: a student's copy has no docs/ladder."""

import inspect
import re
import sys


class Problem(ValueError):
    """Something a person has to mend; the message says what and where."""


def script(name, main, *arguments):
    """Ends as a script does: a Problem is said in a line, and how to call it where the arguments do not fit."""
    try:
        inspect.signature(main).bind(*arguments)
    except TypeError:
        sys.exit(main.__globals__["__doc__"])
    try:
        sys.exit(main(*arguments))
    except Problem as problem:
        sys.exit(f"{name}: {problem}")


def calculated(text, **names):
    """The number that a text such as 'n // 4 + 3' stands for, with the names' values."""
    if not re.fullmatch(rf"(?:[\d.+/%() -]|\*(?!\*)|\b(?:{'|'.join(names) or '$'})\b)+", str(text)):
        raise Problem(f"'{text}' is no calculation with numbers and {', '.join(names) or 'nothing else'}")
    try:
        return eval(str(text), {}, names)  # Digits, operators and names, as checked above.
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise Problem(f"'{text}' has no result: {error}") from error


# For the environment of a program: what it frees it will want again, and the system would clear new pages each time.
KEEPS_FREED_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
