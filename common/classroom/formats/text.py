"""Text that a student may have chosen, made harmless: names, messages, whatever a compiler said.

`clean` is applied once to every result, so a format only escapes what is special to it.
"""

import dataclasses
import math
import os
import re
import tempfile
import unicodedata

from harness import Problem

NAME, MESSAGE = 200, 4000  # The most characters that are kept.
# What XML, terminals or readers do not survive: controls, half a pair of UTF-16 (so bytes that
# were not UTF-8 arrive here), non-characters, and marks that turn the direction of writing.
UNFIT = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")


def clean(text, most=MESSAGE):
    """Cut, and free of characters that no format can hold."""
    cut = len(text) > most
    text = UNFIT.sub("\ufffd", text[:most].replace("\r\n", "\n"))
    return f"{text} ... (cut here)" if cut else text


def line(text, most=NAME):
    """The same on one line."""
    return " ".join(clean(text, most).split())


def cleaned(result):
    """A result whose every text is clean, and whose counters JSON can hold."""
    checks = tuple(
        dataclasses.replace(check, name=line(check.name) or "check", why=clean(check.why)) for check in result.checks)
    short = {field: line(getattr(result, field)) for field in (
        "student", "id", "assignment", "file", "sha256", "status", "commit", "compiler", "executor", "contained")}
    counters = {line(name): value for name, value in result.counters.items() if math.isfinite(value)}
    time = {name: clean(value) if isinstance(value, str) else value for name, value in result.time.items()}
    return dataclasses.replace(
        result, **short, message=clean(result.message), checks=checks, counters=counters, time=time)


def reasons(result):
    """A sentence for each lost point, with its line; before them, what to read first."""
    if result.message:
        yield result.message
    for check in result.checks:
        if check.why and check.points < check.of:
            yield why(check)


def why(check):
    return f"Line {check.line}: {check.why}" if check.line else check.why


def time(result):
    """What is told of a time on a GPU; '' if it was not asked for."""
    if not result.time:
        return ""
    if "ratio" not in result.time:
        return f"time: none. {result.time['why']}"
    return "time: {ratio:.2f} x the solution ({us:,} us, {solution_us:,} us; n = {n:,}; {gpu})".format(**result.time)


def points(number):
    """At most two decimals, and none where there is nothing after the point."""
    rounded = round(number, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def width(text):
    """In columns of a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def beginning(text, columns):
    """As much of it as fits, but one character at least."""
    used = 0
    for end, character in enumerate(text):
        used += width(character)
        if end and used > columns:
            return text[:end]
    return text


def fitted(text, columns):
    """Cut or filled up to just so many columns."""
    if width(text) > columns:
        text = beginning(text, columns - 1) + "…"
    return text + " " * (columns - width(text))


def wrapped(text, columns):
    """Its lines, none wider; the standard library's would count characters."""
    for paragraph in text.splitlines():
        row = ""
        for word in paragraph.split():
            if row and width(f"{row} {word}") > columns:
                yield row
                row = ""
            row = f"{row} {word}".lstrip()
            while width(row) > columns:
                start = beginning(row, columns)
                yield start
                row = row[len(start):]
        if row:
            yield row


def write(path, content):
    """Whole or not at all, whenever we are stopped."""
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    try:
        replace(path, data)
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error


def replace(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
