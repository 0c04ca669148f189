"""What a hand-in's points are, and a sentence for each that was lost."""

import re

from classroom.result import CORRECTNESS, EFFICIENCY, GRADED, NOT_COMPILED, SAFETY, STOPPED, Check

NO_FINDING = "nothing that the executor objects to"
UNDONE = "A function that does nothing passes this check, too: it counts as far as the others pass."
COUNTED = "the calls that are counted give right results"  # The judge's own; the suite's say more.
UNCOUNTED = "Counters are looked at once every check passes and the executor objects to nothing."
MOST_LINES = 12
ERROR = re.compile(r"error|undefined reference|multiple definition", re.I)


def outcome(trial):
    """(status, what the student should read first)."""
    if not trial.compiled:
        return NOT_COMPILED, trial.trouble or f"It does not compile:\n{errors_in(trial.output)}"
    if trial.trouble:
        return STOPPED, f"{trial.trouble} {last_words(trial)}".strip()
    if not trial.checks:
        return STOPPED, f"It ended before the first check. {last_words(trial)}".strip()
    return GRADED, ""


def errors_in(output):
    lines = output.splitlines()
    telling = [line for line in lines if ERROR.search(line)] or lines
    return "\n".join(telling[:MOST_LINES])


def last_words(trial):
    lines = [*dict.fromkeys(line for line in trial.output.splitlines() if line.strip())]  # Each try may say the same.
    return "It said:\n" + "\n".join(lines[-MOST_LINES:]) if lines else ""


def checks(one, idle, trial):
    """A Check for all that gives points; `trial` is None where nothing ran."""
    seen = trial.checks if trial else {}
    passed = {name for name in idle if seen.get(name, {}).get("state") == "passed"}
    real = [name for name, for_nothing in idle.items() if not for_nothing]
    fraction = sum(name in passed for name in real) / len(real)
    undone = [name for name in idle if name not in real]
    for name, share in zip([*real, *undone], shares(one.correctness, len(idle))):
        points = share * (fraction if name in undone else 1) if name in passed else 0
        yield check(name, CORRECTNESS, points, share, why_failed(seen.get(name), points < share, trial),
                    line_of(seen.get(name, {}).get("found"), trial))
    yield safety(one, fraction, trial)
    right = fraction == 1 and not (trial and trial.findings) and len(passed) == len(idle)
    for bar in one.bars:
        yield efficiency(bar, trial if right else None)


def shares(points, count):
    """Points in `count` parts of two decimals each, which add up to them."""
    sums = [round(points * k / count, 2) for k in range(count + 1)]
    return [round(after - before, 2) for before, after in zip(sums, sums[1:])]


def check(name, kind, points, of, why, line=0):
    points, of = round(points, 2), round(of, 2)
    return Check(name, kind, points, of, why if points < of else "", line if points < of else 0)


def why_failed(seen, lost, trial):
    if seen is None:
        return "It did not come to this check." if trial else "Nothing was run."
    if seen["state"] == "begun":
        why = f"The executor says: {told(seen['found'])}" if "found" in seen else last_words(trial)
        return f"The program ended within this check. {why}".strip()
    if seen["state"] == "passed":
        return UNDONE if lost else ""
    return seen["why"]


def told(finding):
    return f"{finding['finding']} in {finding['kernel']}: {finding['message']}"


def line_of(finding, trial):
    """In the hand-in's source; 0 where that is not to blame."""
    return finding["line"] if finding and finding["file"].endswith(trial.file_name) else 0


def safety(one, fraction, trial):
    if trial is None:
        return check(NO_FINDING, SAFETY, 0, one.safety, "Nothing was run.")
    if trial.findings:
        first = trial.findings[0]
        return check(NO_FINDING, SAFETY, 0, one.safety, told(first), line_of(first, trial))
    return check(NO_FINDING, SAFETY, one.safety * fraction, one.safety, "It counts as far as the checks pass.")


def efficiency(bar, trial):
    name = f"{bar.counter}, n = {bar.case.n:,}" + (f", offset {bar.case.offset}" if bar.case.offset else "")
    if not trial:
        return check(name, EFFICIENCY, 0, bar.points, UNCOUNTED)
    launches = launches_of(bar, trial)
    if not launches or bar.kernel and len(launches) > 1:
        why = f"{bar.kernel or 'A kernel'} is launched {len(launches)} times in this call; one launch counts."
        return check(name, EFFICIENCY, 0, bar.points, why)
    counted = launches[0] if bar.kernel else next(c for c in trial.counts if is_of(bar, c) and "launch" not in c)
    value = counted["counters"][bar.counter]
    if bar.holds(value):
        return check(name, EFFICIENCY, bar.points, bar.points, "")
    return check(name, EFFICIENCY, 0, bar.points, bar.told(value), worst_line(bar, launches, trial))


def is_of(bar, counted):
    return (counted["n"], counted["offset"]) == (bar.case.n, bar.case.offset)


def launches_of(bar, trial):
    """Those that count; a template's arguments are no part of its name here."""
    return [counted for counted in trial.counts if is_of(bar, counted) and "launch" in counted and
            bar.kernel in ("", counted["launch"].partition("<")[0])]


def worst_line(bar, launches, trial):
    """The line of the hand-in that is farthest from the bar."""
    lines = [line for launch in launches for line in launch["lines"]
             if bar.counter in line["counters"] and line["file"].endswith(trial.file_name)]
    if not lines:
        return 0
    farthest = max if bar.at_most else min
    return farthest(lines, key=lambda line: line["counters"][bar.counter])["line"]


def counters(trial):
    """Of the first call that was counted, by the names that ./run's table has, too."""
    return next((c["counters"] for c in trial.counts if "launch" not in c), {})
