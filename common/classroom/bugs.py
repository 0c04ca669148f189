"""Wrong kernels to be handed out: which line is it, and what finds it?"""

import re

from harness import patches

from classroom.assignment import ROOT, WRONG, Problem, filled_in, only

FOLDER, FILE = "bugs", "answers.toml"
ORDINALS = ("first", "second", "third", "fourth", "fifth")
HEADER = re.compile(r"(?://.*\n)+\n*")  # It tells what the bug is.
INSTEAD = "// There is a bug in this file. Which line is it on, and what finds it?\n\n"


def named(assignment):
    """first -> Bug"""
    if len(assignment.bugs) > len(ORDINALS):
        raise Problem(f"{assignment.name} has {len(assignment.bugs)} bugs; at most {len(ORDINALS)} are handed out")
    return dict(zip(ORDINALS, assignment.bugs))


def source(bug):
    path, patch = WRONG / bug.file, (WRONG / bug.file).with_suffix(".patch")
    if patch.is_file():  # A student's copy holds what it made instead.
        return patches.applied(ROOT, patch)
    if not path.is_file():
        raise Problem(f"{path.relative_to(ROOT)} is not in this copy, so there is no bug to find")
    return path.read_text(encoding="utf-8")


def handed_out(bug):
    return INSTEAD + HEADER.sub("", source(bug), count=1)


def lines(bug):
    """Where the bug is in the file that is handed out."""
    shift = INSTEAD.count("\n") - HEADER.match(source(bug))[0].count("\n")
    return [line + shift for line in bug.lines]


def sheet(assignment, folder, again):
    """What a student fills in; `again` is the command that checks it."""
    text = (f"# Each kernel beside this file has one bug. Write down the number of its line, and\n"
            f"# which of the choices finds it first. Then check both with {again}.\n")
    for name, bug in named(assignment).items():
        text += (f"\n[{name}]\n# make run SRC={folder}/{assignment.op}.{name}.cu && ./run\nline = 0\n"
                 "# One of these, without the #:\n")
        text += "".join(f'#   "{choice}"\n' for choice in bug.choices) + 'finding = ""\n'
    return text


def verdicts(assignment, path):
    """A sentence for each kernel, and how many are solved."""
    filled = filled_in(path)
    only(named(assignment), filled, path)
    sentences, solved = [], 0
    for name, bug in named(assignment).items():
        given = filled.get(name, {})
        only(("line", "finding"), given, path)
        line, finding = given.get("line", 0), given.get("finding", "")
        if not isinstance(line, int):
            raise Problem(f"{path}: line = {line!r} is no number: write it without quotes")
        if finding and finding not in bug.choices:
            raise Problem(f"{path}: '{finding}' is none of the choices: {', '.join(bug.choices)}")
        if not line or not finding:
            sentences.append(f"{name}: still open.")
        elif finding != bug.finding:
            sentences.append(f"{name}: something else finds it first. Run it, and read what is said first.")
        elif line not in lines(bug):
            sentences.append(f"{name}: '{finding}' is right; the bug is not on line {line}.")
        else:
            solved += 1
            sentences.append(f"{name}: right. {bug.why}")
    return sentences, solved
