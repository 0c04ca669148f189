"""The pages of the repository and the directives in them.

A directive is an HTML comment beside a sentence or around a block. Readers
never see it, and a tool keeps what stands beside it true. Every comment in a
page is a directive, so a misspelt one is an error and not a sentence that
nobody checks. docs/style.md shows each directive once.
"""

import argparse
import dataclasses
import difflib
import os
import pathlib
import re

from harness import Problem, script  # Callers ask pages for these, too.

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTER = os.environ.get("CHAPTER", "")  # With it, only that chapter's page is looked at.
FOLDERS = ("chapters", "common", "tests", "plots", "docs")

WOVEN = ("code", "diff", "table", "figure", "break", "terms", "value")
CHECKED = ("ptx", "count", "times")

TOKEN = re.compile(
    r"""
    ^[ \t]*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?:.*?\n)??[ \t]*(?P=fence)[`~]*[ \t]*$
  | ^[ \t]*(?P<open_fence>`{3,}|~{3,})[^`\n]*$
  | <!--(?P<comment>.*?)-->
  | (?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=tick)(?!`)
  | (?P<stray><!|<--|-->)
    """,
    re.M | re.S | re.X,
)
LINE_START = re.compile(r"[ \t]*(?:(?:[-*+]|\d+\.)[ \t]+)?")


def tool(name, about, run):
    """The main() of what looks at this tree, or at one that it is told of."""
    def main():
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
        script(name, run, parser.parse_args().root.resolve())
    return main


@dataclasses.dataclass(frozen=True)
class Directive:
    word: str
    args: str
    where: str  # page:line, relative to the root
    start: int
    end: int

    def __str__(self):
        return " ".join([self.word, *self.args.split()])


@dataclasses.dataclass(frozen=True)
class Block:
    """A woven directive and the span of text that it owns."""

    directive: Directive
    start: int
    end: int
    indent: str


class Page:
    def __init__(self, path, root):
        self.path = path
        self.root = root
        self.name = str(path.relative_to(root))
        self.text = path.read_text()
        self.fences = []  # Spans of fenced code, where nothing is a directive.
        self.directives = []
        for token in TOKEN.finditer(self.text):
            self._take(token)
        self.blocks = self._pair()

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def where(self, position):
        return f"{self.name}:{self.line(position)}"

    def prose(self):
        """What people typed: directives, woven text and fences blanked out."""
        text = self.visible()
        for block in self.blocks:
            text = blank(text, block.start, block.end)
        return text

    def visible(self):
        """Prose and woven text: directives and fences blanked out."""
        text = self.text
        for start, end in self.fences + [(d.start, d.end) for d in self.directives]:
            text = blank(text, start, end)
        return text

    def _take(self, token):
        where = self.where(token.start())
        if token["open_fence"]:
            raise Problem(f"{where}: this {token['open_fence']} is never closed")
        if token["stray"]:
            raise Problem(f"{where}: '{token['stray']}' is half a comment: write "
                          "<!-- word ... -->, or put it in `backticks`")
        if token["fence"]:
            self.fences.append(token.span())
        if token["comment"] is not None:
            self._take_comment(token, where)

    def _take_comment(self, token, where):
        body = token["comment"].strip()
        word, _, args = re.sub(r"^(\w+)\s", r"\1 ", body).partition(" ")
        if word not in (*WOVEN, *CHECKED, "end"):
            raise Problem(f"{where}: '{word}' is no directive; there are "
                          f"{', '.join((*WOVEN, *CHECKED, 'end'))}")
        directive = Directive(word, args.strip(), where, *token.span())
        self._check_rendering(directive, body)
        self.directives.append(directive)

    def _check_rendering(self, directive, body):
        """A comment that opens a line turns the whole line into raw HTML."""
        if not self.opens_line(directive):
            if "--" in body:
                raise Problem(f"{directive.where}: a comment inside a sentence may not "
                              "contain '--': give it a line of its own")
        elif directive.word == "value":
            raise Problem(f"{directive.where}: a line may not begin with 'value', its "
                          "rest would not be rendered as Markdown: wrap it differently")
        elif directive.word != "end" and not self._closes_line(directive):
            raise Problem(f"{directive.where}: text behind a comment that begins a line "
                          "is not rendered as Markdown: put the comment at its end")

    def opens_line(self, directive):
        return LINE_START.fullmatch(self._before(directive)) is not None

    def _before(self, directive):
        """What stands before it in its line."""
        return self.text[: directive.start].rpartition("\n")[2]

    def _closes_line(self, directive):
        after = self.text[directive.end :].partition("\n")[0]
        return re.sub(r"<!--.*?-->", "", after).strip() == ""

    def _pair(self):
        """Match every woven directive with the <!-- end --> that follows."""
        blocks, opened = [], None
        for d in self.directives:
            if d.word == "end":
                if opened is None:
                    raise Problem(f"{d.where}: this 'end' closes nothing")
                blocks.append(self._block(opened, d))
                opened = None
            elif opened:
                break  # It is not closed where the next one begins.
            elif d.word in WOVEN:
                opened = d
        if opened:
            raise Problem(f"{opened.where}: '{opened}' is never closed: add <!-- end --> behind it")
        return blocks

    def _block(self, opened, end):
        between = self.text[opened.end : end.start]
        indent = self._before(opened)
        if opened.word == "value":
            if "\n" in between:
                raise Problem(f"{opened.where}: keep '{opened}' and its end on one line")
        elif indent.strip() or not self.opens_line(end) or "\n" not in between:
            raise Problem(f"{opened.where}: '{opened}' and its <!-- end --> each need a line of their own")
        return Block(opened, opened.end, end.start, indent)


def every(root):
    """Every page of the repository."""
    below = [path for folder in FOLDERS for path in (root / folder).rglob("*.md")]
    return sorted([*root.glob("*.md"), *below])


def directives(root, word, *names):
    """(page, what follows the word) of each directive that begins so, wherever it stands."""
    for path in every(root):
        for directive in Page(path, root).directives:
            args = " ".join(directive.args.split())
            if directive.word == word and args.partition(" ")[0] in names:
                yield path, args


def find(root):
    """Those that are looked at; none at all is an error."""
    paths = every(root)
    if CHAPTER:
        paths = [path for path in paths if path.match(f"chapters/{CHAPTER}_*/*")]
    if not paths:
        raise Problem(f"{root}: no page (*.md) found: is this the repository's root?")
    return paths


def readable(root, fail):
    """The same as Pages. What is wrong with one is told, and it is left out."""
    for path in find(root):
        try:
            page = Page(path, root)
        except Problem as problem:
            fail(str(problem))
        else:
            yield page


def anchor(title):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def beside(path, name):
    """A file that is named in the page at `path`."""
    found = (path.parent / name).resolve()
    if not found.is_file():
        raise Problem(f"no file {name} beside {path.parent.name}/{path.name}")
    return found


class Tally:
    """Prints what holds and what does not, and closes with the count."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def ok(self, message=None):
        self.passed += 1
        if message:
            print(f"ok    {message}")

    def fail(self, message):
        self.failed += 1
        print(f"FAIL  {message}")

    def skip(self, message, word="skip "):
        self.skipped += 1
        print(f"{word} {message}")

    def stale(self, sentence):
        """Recorded of an earlier version: no failure, unless for a release."""
        if os.environ.get("RELEASE"):
            self.fail(sentence)
        else:
            self.skip(sentence, "STALE")

    def close(self, what):
        """The exit status; having checked nothing is a failure."""
        if not self.passed + self.failed:
            self.fail(f"no {what} found, so nothing was checked")
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
        return 1 if self.failed else 0


def blank(text, start, end, mark=" "):
    """The same text, same length and lines, with spaces in a span, or with another mark."""
    return text[:start] + re.sub(r"[^\n]", mark, text[start:end]) + text[end:]


def changes(before, after, context):
    """A diff of lines, as pages show it: @@ alone stands between its parts."""
    lines = list(difflib.unified_diff(before, after, lineterm="", n=context))[3:]
    return ["@@" if line.startswith("@@ ") else line for line in lines]
