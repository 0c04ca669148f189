"""What a page asks a figure to show, in the words of its directive.

    <!-- figure KIND [as NAME] [note="..."] VIEW; VIEW ... -->

A VIEW is a file beside the page, and what it is to be traced for:

    FILE 'CODE' ['CODE' ...] [n=2^20] [offset=0] [blocks=0] [array=x] ["TITLE" or NUMBER ...]

CODE is a part of one line of the file, and of no other. The first launch that gets there is
traced, in the first block, or in `blocks=0,7` or `0..3`, of a call on n elements in arrays that
start `offset` elements too far. Of `lanes` and `banks` each load of the first warp has a title; a
NUMBER is that of loads that are not shown. Other views have one title at most.
A figure is called NAME, or by its kind, its page's folder and its file's variant.
"""

import dataclasses
import pathlib
import re

from ladder import pages
from ladder.measured.records import parse_size
from ladder.pages import Problem

WORD = re.compile(r"""
    '(?P<code>[^']*)' | "(?P<title>[^"]*)" | (?P<next>;)
  | (?P<option>[a-z]+)=(?: "(?P<text>[^"]*)" | (?P<value>[^\s;]+) )
  | (?P<skipped>\d+)(?=[\s;]|$) | (?P<word>[^\s;'"]+)
""", re.X)


@dataclasses.dataclass(frozen=True)
class View:
    """A line of a file that is worth a look, in one call."""
    source: str = ""  # Below the root.
    code: tuple = ()  # Parts of the lines that are traced.
    titles: tuple = ()  # What is called '' is not shown.
    blocks: tuple = (0,)
    n: int = 1 << 20
    offset: int = 0
    array: str = "x"  # That the line loads from.

    @property
    def title(self):
        if len(self.titles) != 1:
            raise Problem(f"{self.source}, '{self.code[0]}' has {len(self.titles)} titles, need one")
        return self.titles[0]


@dataclasses.dataclass(frozen=True)
class Asked:
    kind: str
    name: str
    views: list
    note: str  # A sentence for the caption.
    text: str  # The directive.


def parse(args, page, root):
    """'threads as NAME FILE.cu ...' -> Asked"""
    text = " ".join(args.split())
    kind, *words = _words(text)
    if not kind["word"]:
        raise Problem(f"'{text}' does not begin with the kind of a figure")
    name = note = ""
    if words[:1] and words[0]["word"] == "as":
        name, words = words[1]["word"] if words[1:] else "", words[2:]
        if not re.fullmatch(r"\w+", name or ""):
            raise Problem(f"say what '{text}' is to be called: figure KIND as NAME ...")
    if words[:1] and words[0]["option"] == "note":
        note, words = words[0]["text"] or "", words[1:]
    views = [_view(of_view, page, root, text) for of_view in _split(words)]
    return Asked(kind["word"], name or _name(kind["word"], views, page), views, note, text)


def _words(text):
    found, at = [], 0
    while at < len(text):
        word = WORD.match(text, at)
        if not word:
            raise Problem(f"cannot read '{text[at:]}' of a figure: FILE 'CODE' n=N \"TITLE\"; ...")
        found.append(word)
        at = len(text) - len(text[word.end():].lstrip())
    return found


def _split(words):
    """A list for each view."""
    found = [[]]
    for word in words:
        if word["next"]:
            found.append([])
        else:
            found[-1].append(word)
    return found if words else []


def _view(words, page, root, text):
    if not words or not words[0]["word"]:
        raise Problem(f"a view of '{text}' does not begin with its file")
    source = str(pages.beside(page, words[0]["word"]).relative_to(root))
    code, titles, options = [], [], {}
    for word in words[1:]:
        if word["option"]:
            options |= _option(word["option"], word["value"], text)
        elif word["skipped"]:
            titles += [""] * int(word["skipped"])
        elif word["word"]:
            raise Problem(f"'{word[0]}' of '{text}' is no option; code stands in '', a title in \"\"")
        else:
            (titles if word["title"] is not None else code).append(word["title"] or word["code"])
    return View(source, tuple(code), tuple(titles), **options)


def _option(name, value, text):
    """One that a View has."""
    if name in ("n", "offset") and value:
        return {name: parse_size(value)}
    if name == "array" and value:
        return {name: value}
    if name == "blocks" and re.fullmatch(r"\d+(?:\.\.\d+|(?:,\d+)*)", value or ""):
        first, dots, last = value.partition("..")
        return {name: tuple(range(int(first), int(last) + 1) if dots else map(int, value.split(",")))}
    raise Problem(f"'{name}={value}' of '{text}': write n=2^20, offset=1, blocks=0..3 or array=x")


def _name(kind, views, page):
    variant = pathlib.Path(pathlib.Path(views[0].source).stem).suffix if views else ""
    return f"{kind}_{page.parent.name}{variant}"


def everywhere(root, kinds):
    """All that the pages ask for of these kinds."""
    found = {}
    for path, args in pages.directives(root, "figure", *kinds):
        one = parse(args, path, root)
        if found.setdefault(one.name, one).text != one.text:
            raise Problem(f"two figures are called {one.name}; one of them is that of {path.parent.name}: "
                          "call it something else, figure KIND as NAME ...")
    return list(found.values())
