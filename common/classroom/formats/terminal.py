"""What `make grade` prints: one hand-in in full, or a line for each, 80 columns wide."""

from classroom.formats import text
from classroom.result import GRADED

WIDTH = 80
STUDENT, ASSIGNMENT, POINTS = 20, 12, 14


def of_results(results):
    return in_full(results[0]) if len(results) == 1 else lines(results)


def lines(results):
    found = [line(result) for result in results]
    if results:
        earned, most = (sum(getattr(result, word) for result in results) for word in ("points", "of"))
        found.append(f"\n{len(results)} hand-ins, {share(earned, most)} of the points.")
    return "\n".join(found) + "\n"


def share(earned, most):
    return f"{100 * earned / most:.0f} %" if most else "none"


def line(result):
    first = text.line(next(text.reasons(result), ""))
    told = first if result.status == GRADED else f"{result.status}: {first}"
    if time := text.time(result).partition(" (")[0]:
        told = f"{time}; {told}" if told else time
    start = " ".join([text.fitted(result.student, STUDENT), text.fitted(result.assignment, ASSIGNMENT),
                      text.fitted(points(result), POINTS)])
    return f"{start} {text.fitted(told, WIDTH - STUDENT - ASSIGNMENT - POINTS - len('   '))}".rstrip()


def points(of_something):
    return f"{text.points(of_something.points):>5} of {text.points(of_something.of)}"


def in_full(result):
    title = text.fitted(f"{result.assignment}, {result.student}", WIDTH - POINTS - 2)
    found = [f"{title} {points(result)}"]
    if result.message:
        found += indented(result.message, "  ")
    for check in result.checks:
        found.append(f"  {text.fitted(check.name, WIDTH - POINTS - 4)} {points(check)}".rstrip())
        found += indented(text.why(check), "      ") if check.points < check.of else []
    found += indented(text.time(result), "  ")
    return "\n".join(found) + "\n"


def indented(words, indent):
    return [indent + row for row in text.wrapped(words, WIDTH - len(indent))]
