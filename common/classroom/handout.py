"""Writes a repository for students, without a solution in it: `make handout DIR=...`.

    python -m classroom.handout DIR CHAPTERS    CHAPTERS: "03 07", or "" for all that go together

An exercise may begin with what an earlier one asks for, or include it; those two do not go together.
DIR must not exist, or be empty. HINTS=no leaves the hints out. Wrong kernels that show a solution
stay out, too, unless BUGS=yes: then it is for students whose exercises are in. The students' files are
there already, in mine/; a chapter's own name, as in make chapter07, builds them, too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import built, script

from classroom import assignment, blanks, bugs
from classroom.assignment import ROOT, Problem

# What every program is built with, and what a page links to. The rest is found by
# following the exercises' includes and the pages' figures.
WHOLE = ("common/harness", "common/setup", "common/simt", "common/classroom")
FILES = ("Makefile", "LICENSE", ".clang-format", "docs/terms.md", "docs/counters.md", "docs/executor.md",
         "docs/findings.md", "docs/cuda.md", "docs/ptx.md", "docs/read-along.md")
WRONG = bugs.WRONG.relative_to(ROOT)
IGNORED = "/build/\n/run\n/.toolchain/\n__pycache__/\n"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
FENCE = re.compile(r"^( *)```.*?^\1```\n", re.S | re.M)
MARK = re.compile(r"^( *)[+-]", re.M)  # Of a diff's line.
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
TELLING = 10  # A line of fewer letters and digits tells nobody a solution.
LEFT_OUT = "*(Left out here: it shows the solution.)*\n"
HINTS = re.compile(r"^hints\s*=\s*\[.*?\]\s*\n(?=\s*(?:\w+\s*=|\[|\Z))", re.S | re.M)
TABLE = re.compile(r"^\[\[bug\]\]\n.*?(?=^\[|\Z)", re.S | re.M)


def bare(line):
    return line.strip().rstrip("{} ")


def cut_lines(one):
    """The lines of a solution that its exercise lacks."""
    whole = one.solution.read_text(encoding="utf-8")
    exercise = one.exercise.read_text(encoding="utf-8")
    parts = [whole] if one.is_open else blanks.answers(exercise, whole)
    found = {bare(line) for part in parts for line in part.splitlines()}
    return {line for line in found if sum(c.isalnum() for c in line) >= TELLING and line[:1] not in "/#"}


def given(one):
    """The text that comes with an exercise: its own, and that of what it includes."""
    return "\n".join((ROOT / path).read_text(encoding="utf-8") for path in included([one.exercise]))


def gives_away(later, earlier):
    """Whether what comes with an exercise shows at least half of what another one asks for."""
    cut, text = cut_lines(earlier), given(later)
    return later is not earlier and 2 * sum(bool(shown(text, {line})) for line in cut) > len(cut)


def that_go_together(everything):
    """As many as possible from the first on; then, for those left out, why."""
    kept, left_out = [], []
    for one in everything:
        clash = next((other for other in kept if gives_away(one, other) or gives_away(other, one)), None)
        if clash:
            left_out.append(why_left_out(one, [other.name for other in everything if gives_away(one, other)], clash.name))
        else:
            kept.append(one)
    return kept, left_out


def why_left_out(one, shows, clash):
    if not shows:
        return f"{one.name} is left out: the exercise of {clash} shows what it asks for. Make a handout without {clash}."
    asks, in_ = ("asks", "that one is in") if len(shows) == 1 else ("ask", "those are in")
    return (f"{one.name} is left out: its exercise shows what {' and '.join(shows)} {asks} for. "
            f"Hand it out when {in_}.")


def solution_lines(chosen):
    """What no file may hold: lines of the solutions that come with no exercise, nor with what measures them."""
    measuring = [path.read_text(encoding="utf-8") for path in (ROOT / "common/harness").glob("*.cu")]
    anyway = "\n".join([*map(given, chosen), *measuring])
    return {line for one in chosen for line in cut_lines(one) if not shown(anyway, {line})}


def shown(text, lines):
    """The first of the lines that a text holds, or ''."""
    flat = "\n".join(" ".join(line.split()) for line in text.splitlines())
    return next((line for line in sorted(lines) if " ".join(line.split()) in flat), "")


def included(paths):
    """These files and what they include of the project."""
    found, todo = set(), list(paths)
    while todo:
        path = todo.pop()
        if path in found or not (ROOT / path).is_file():
            continue
        found.add(path)
        todo += [pathlib.Path(name) for name in INCLUDE.findall((ROOT / path).read_text(errors="replace"))]
    return found


def tracked(folder):
    there = built.tracked(ROOT, folder) if (ROOT / ".git").exists() else (ROOT / folder).rglob("*")
    return [path.relative_to(ROOT) for path in there if path.is_file()]


def contents(chosen, with_hints, with_bugs=False):
    """Path -> text or bytes of every file of the handout."""
    lines = solution_lines(chosen)
    sources = {one.exercise.relative_to(ROOT) for one in chosen}
    for one in chosen:
        sources |= {path.relative_to(ROOT) for pattern in (f"tests/{one.op}_test.cpp", f"plots/{one.op}_*.cpp",
                    f"{one.folder.relative_to(ROOT)}/{one.op}_*.cpp") for path in ROOT.glob(pattern)}
    paths = included(sources) | {pathlib.Path(name) for name in FILES}
    for folder in WHOLE:
        paths |= {path for path in tracked(folder) if not path.is_relative_to(assignment.TASKS)}
    files = {path: (ROOT / path).read_bytes() for path in paths if (ROOT / path).is_file()}
    files[pathlib.Path(".gitignore")] = IGNORED.encode()
    for one in chosen:
        files |= of_assignment(one, set() if with_bugs else lines, with_hints)
    files[pathlib.Path("README.md")] = readme(chosen).encode()
    for path in [path for path in files if path.suffix == ".md"]:
        text = page(files[path].decode(), lines)
        files |= figures_of(path, text)
        files[path] = text.encode()
    for path in [path for path in files if path.suffix == ".md"]:
        files[path] = without_dead_links(path, files[path].decode(), files).encode()
    for path, data in files.items():
        meant = with_bugs and path.is_relative_to(WRONG)
        if not meant and (line := shown(data.decode(errors="replace"), lines)):
            raise Problem(f"{path} would show a line of a solution: {line}")
    return files


def of_assignment(one, lines, with_hints):
    folder = one.folder.relative_to(ROOT)
    text = (one.folder / assignment.NAME).read_text(encoding="utf-8")
    if not with_hints:
        text = HINTS.sub("hints = []\n", text)
    kept = [bug for bug in one.bugs if not shown(bugs.source(bug), lines)]
    for bug, table in zip(one.bugs, TABLE.findall(text)):
        text = text.replace(table, "" if bug not in kept else table)
    left = assignment.tomllib.loads(text)
    if left["hints"] and not with_hints or [bug["file"] for bug in left.get("bug", [])] != [bug.file for bug in kept]:
        raise Problem(f"{one.folder / assignment.NAME}: its hints or bugs cannot be left out: begin a line with "
                      "'hints = [', each bug with '[[bug]]' alone on a line, and end both with a line of their own")
    files = {WRONG / bug.file: bugs.source(bug).encode() for bug in kept}
    files[folder / assignment.NAME] = text.encode()
    files[folder / "README.md"] = (one.folder / "README.md").read_bytes()
    files[pathlib.Path("mine", one.name, f"{one.op}.cu")] = one.exercise.read_bytes()
    return files


def page(text, lines):
    """Without the directives, and without code that shows a solution."""
    text = COMMENT.sub("", text)
    return FENCE.sub(lambda fence: LEFT_OUT if shown(MARK.sub(r"\1", fence[0]), lines) else fence[0], text)


def figures_of(path, text):
    found = {}
    for image, _, target, _ in LINK.findall(text):
        file = (ROOT / path).parent / target
        if image and file.is_file():
            found[file.resolve().relative_to(ROOT)] = file.read_bytes()
    return found


def without_dead_links(path, text, files):
    def mended(link):
        target = os.path.normpath(path.parent / link[3])
        there = "://" in link[3] or any(file == pathlib.Path(target) or file.is_relative_to(target) for file in files)
        return link[0] if there else link[2]

    return LINK.sub(mended, text)


def readme(chosen):
    rows = "\n".join(f"- [{one.name}]({one.folder.relative_to(ROOT)}/README.md): your file is "
                     f"`mine/{one.name}/{one.op}.cu`" for one in chosen)
    first = next((one for one in chosen if one.name.startswith("chapter")), chosen[0])
    number = first.name.removeprefix("chapter")
    goal = f"exercise{number}" if number.isdigit() else f"exercise TASK={number}"
    return f"""# Exercises

Write each kernel in your file, build it and run it. No GPU is needed.

    make {goal} && ./run

{rows}

`make {goal.replace('exercise', 'hint')}` gives a hint, one step per call. `make progress` shows what passes. What you
hand in is the folder `mine`.
"""


def write(folder, chosen, files):
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        if os.access(ROOT / path, os.X_OK):
            (folder / path).chmod(0o755)
    for one in chosen:  # make chapter07 builds the student's file.
        link = folder / one.solution.relative_to(ROOT)
        link.symlink_to(os.path.relpath(folder / "mine" / one.name / f"{one.op}.cu", link.parent))


def begin_history(folder):
    """One commit, in which the solutions never were."""
    if not shutil.which("git"):
        return "git is not here, so the folder is no repository yet."
    for command in (["init", "--quiet"], ["add", "--all"],
                    ["-c", "user.name=Kernel Ladder", "-c", "user.email=", "commit", "--quiet", "-m", "Exercises"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return "It is a git repository with one commit."


def main(folder, names):
    folder = pathlib.Path(folder)
    chosen, left_out = that_go_together([assignment.find(name) for name in names.split()] if names.split() else [
        one for one in assignment.every() if not one.is_open])
    if names.split() and left_out:
        raise Problem("\n".join(left_out))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"DIR={folder} is there already, and not empty: name a new folder")
    with_bugs = assignment.is_yes("BUGS")
    files = contents(chosen, assignment.is_yes("HINTS", "yes"), with_bugs)
    write(folder, chosen, files)
    print(*left_out, sep="\n", end="\n" if left_out else "")
    shows = "wrong kernels that show the solutions" if with_bugs else "no solution"
    print(f"{folder} holds {', '.join(one.name for one in chosen)} and {shows}. {begin_history(folder)}")


if __name__ == "__main__":
    script("handout", main, *sys.argv[1:])
