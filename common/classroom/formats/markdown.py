"""A step summary for GitHub: Markdown, which GitHub refuses from 1 MiB on."""

import re

from classroom.formats import text

MOST_BYTES = (1 << 20) - 1
SPECIAL = re.compile(r"[^\w\s,()'%+=-]|_", re.ASCII)
HEADER = "| student | assignment | points | of | what to read first |\n|---|---|---:|---:|---|\n"


def escaped(words):
    """As text in a cell of a table: no link, no image, no HTML, no further cell."""
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};" if found[0].isascii() else found[0], " ".join(words.split()))


def row(result):
    first = next(text.reasons(result), "")
    cells = [result.student, result.assignment, str(text.points(result.points)), str(text.points(result.of)), first]
    return f"| {' | '.join(map(escaped, cells))} |\n"


def of_results(results, most_bytes=MOST_BYTES):
    found = f"# Grades\n\n{HEADER}"
    size, rows = len(found), [row(result) for result in results]
    room = most_bytes - len(cut_sentence(len(rows), len(rows)))
    for shown, one in enumerate(rows):
        size += len(one.encode())
        if size > room:
            return found + cut_sentence(shown, len(rows))
        found += one
    return found


def cut_sentence(shown, all_of_them):
    return f"\nGitHub shows at most 1 MiB, so these are the first {shown} of {all_of_them}; summary.csv has them all.\n"
