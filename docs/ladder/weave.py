"""Keep every page true: rewrite its woven blocks from code and data.

    python -m ladder.weave           rewrite what is stale
    python -m ladder.weave --check   change nothing; exit 1 if a rewrite would
                                     --without-bugs: leave out what planted bugs say,
                                     all of which must be compiled for that

docs/style.md shows each directive. Code is cut out of the files by name;
tables, figures and single values come from tables.py, what a planted bug says from
its run (mutants.py).
"""

import argparse
import difflib
import functools
import os
import pathlib

from ladder import mutants, pages, prose, source, tables, toolchain
from ladder.pages import Problem

LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".h": "cpp", ".cpp": "cpp", ".py": "python"}
SHOWN_DIFF_LINES = 12


def code(page, args):
    """code FILE [NAME...]: definitions by name, or all behind the header."""
    if not args:
        raise Problem("say which file: code FILE [NAME...]")
    path = pages.beside(page.path, args[0])
    return _fenced(LANGUAGES.get(path.suffix, ""), _cut(path, args[1:]))


def diff(page, args):
    """diff OLD FILE [NAME...]: OLD is a folder that holds FILE, or a file."""
    if len(args) < 2:
        raise Problem("say what to compare: diff OLD FILE [NAME...]")
    old, file, *names = args
    if (page.path.parent / old).is_dir():
        old = f"{old}/{file}"
    before = _cut(pages.beside(page.path, old), names)
    after = _cut(pages.beside(page.path, file), names)
    context = 3 if not names else len(before) + len(after)
    lines = pages.changes(before, after, context)
    if not lines:
        raise Problem("the two are equal, so there is nothing to show")
    return _fenced("diff", lines)


def terms(page, args):
    """terms: every bold term of the chapters, with the words that define it there."""
    if args:
        raise Problem("'terms' takes no arguments")
    lines = []
    for term in sorted(prose.terms(page.root), key=lambda term: term.name.lower()):
        definition = prose.moved(term.definition, term.chapter, page.path)
        link = os.path.relpath(term.chapter, page.path.parent)
        chapter = f"[chapter {term.chapter.parent.name[:2]}]({link})"
        lines += ["", f"### {term.name}", "", f"{definition} ({chapter})"]
    if not lines:
        raise Problem("no chapter defines a **term**")
    return lines[1:]


def _cut(path, names):
    if not names:
        return source.code_lines(path.read_text())
    pieces = [source.cut(path, name) for name in names]
    return [line for piece in pieces for line in ["", *piece]][1:]


def _fenced(language, lines):
    return [f"```{language}", *lines, "```"]


CUT_OUT = {"code": code, "diff": diff, "terms": terms}


def body(page, directive):
    """The lines that belong between a directive and its end."""
    args = directive.args.split()
    if directive.word == "break":
        return mutants.shown(workshop(page.root), mutants.parse(directive, page))
    if directive.word in CUT_OUT:
        return CUT_OUT[directive.word](page, args)
    if not args:
        raise Problem(f"say which: {directive.word} NAME [ARGS]")
    try:
        lines = tables.render(directive.word, args[0], args[1:], page.path)
    except ValueError as error:
        raise Problem(str(error)) from error
    if not lines or directive.word == "value" and len(lines) != 1:
        raise Problem(f"tables.py returned {len(lines)} lines")
    return lines


@functools.cache
def workshop(root):
    """Has built the bugs of all pages."""
    return mutants.Workshop(root, "cpu", list(mutants.collect(root)))


def woven(page, block):
    """The text that one block should hold."""
    lines = body(page, block.directive)
    if block.directive.word == "value":
        return lines[0]
    indented = [block.indent + line if line else "" for line in lines]
    return "\n".join(["", *indented, block.indent])


def weave(page):
    """The page's text as it should be, and what is wrong, block by block.

    A block that cannot be woven keeps its text: nothing is lost.
    """
    text, at, troubles = [], 0, []
    for block in page.blocks:
        now = new = page.text[block.start : block.end]
        title = f"{block.directive.where}: '{block.directive}'"
        try:
            new = woven(page, block)
        except Problem as problem:
            troubles.append((False, f"{title}: {problem}"))
        if new != now:
            troubles.append((True, f"{title} is stale: run `make weave`\n{_shown(now, new)}"))
        text += [page.text[at : block.start], new]
        at = block.end
    return "".join(text) + page.text[at:], troubles


def leave_bugs_out(page, tally):
    bugs = [block for block in page.blocks if block.directive.word == "break"]
    if bugs:
        tally.skip(f"{page.name}: what {len(bugs)} planted bugs say: make test-all compares it")
    page.blocks = [block for block in page.blocks if block not in bugs]


def leave_other_toolkits_out(page, tally):
    """What the executor lacks is looked for in the toolkit's headers: in a newer one there is more."""
    lacking = [block for block in page.blocks if str(block.directive) == "table refused"]
    if lacking and not toolchain.is_pinned(page.root):
        tally.skip(f"{page.name}: which of the runtime's calls are missing: that is told of the toolkit in "
                   "common/setup/cuda.txt")
        page.blocks = [block for block in page.blocks if block not in lacking]


def _shown(now, new):
    lines = list(difflib.unified_diff(now.splitlines(), new.splitlines(), lineterm="", n=1))[2:]
    more = len(lines) - SHOWN_DIFF_LINES
    lines[SHOWN_DIFF_LINES:] = [f"... and {more} more lines"] if more > 0 else []
    return "\n".join("        " + line for line in lines)


def run(root, check, with_bugs=True):
    """Weave every page below the root; the exit status."""
    tally = pages.Tally()
    tables.STALE.clear()
    for page in pages.readable(root, tally.fail):
        if not with_bugs:
            leave_bugs_out(page, tally)
        leave_other_toolkits_out(page, tally)
        text, troubles = weave(page)
        shown = [message for stale, message in troubles if check or not stale]
        for message in shown:
            tally.fail(message)
        for _ in page.blocks[len(shown) :]:
            tally.ok()
        if text != page.text and not check:
            page.path.write_text(text)
            print(f"wove  {page.name}")
    for sentence in sorted(tables.STALE):
        tally.stale(sentence)
    return tally.close("woven block")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--without-bugs", action="store_true", help="leave out what planted bugs say")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pages.ROOT)
    options = parser.parse_args()
    pages.script("weave", run, options.root.resolve(), options.check, not options.without_bugs)


if __name__ == "__main__":
    main()
