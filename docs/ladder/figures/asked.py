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

HEAD = re.compile(r'(?P<kind>\w+)(?: as (?P<name>\w+))?(?: note="(?P<note>[^"]*)")?(?: |$)')
VIEW = re.compile(r"""(?P<file>[^\s;'"]+)(?P<words>(?: ?(?:'[^']*'|"[^"]*"|[^\s;'"]+))*) ?(?:; ?|$)""")
WORD = re.compile(r"""'(?P<code>[^']*)'|"(?P<title>[^"]*)"|(?P<option>\w+)=(?P<value>\S+)|(?P<skipped>\d+)(?!\S)|\S+""")


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
    head = HEAD.match(text)
    if not head:
        raise Problem(f"'{text}' does not begin with the kind of a figure")
    at, views = head.end(), []
    while at < len(text):
        view = VIEW.match(text, at)
        if not view:
            raise Problem(f"cannot read '{text[at:]}' of a figure: a view is FILE 'CODE' n=N \"TITLE\"; ...")
        views.append(_view(view, page, root, text))
        at = view.end()
    return Asked(head["kind"], head["name"] or _name(head["kind"], views, page), views, head["note"] or "", text)


def _view(view, page, root, text):
    source = str(pages.beside(page, view["file"]).relative_to(root))
    code, titles, options = [], [], {}
    for word in WORD.finditer(view["words"]):
        if word["code"] is not None:
            code.append(word["code"])
        elif word["title"] is not None:
            titles.append(word["title"])
        elif word["skipped"]:
            titles += [""] * int(word["skipped"])
        else:
            options |= _option(word["option"], word["value"] or "", f"'{word[0]}' of '{text}'")
    return View(source, tuple(code), tuple(titles), **options)


def _option(name, value, said):
    """One that a View has."""
    if name in ("n", "offset"):
        return {name: parse_size(value)}
    if name == "array":
        return {name: value}
    if name == "blocks" and re.fullmatch(r"\d+(?:\.\.\d+|(?:,\d+)*)", value):
        first, dots, last = value.partition("..")
        return {name: tuple(range(int(first), int(last) + 1) if dots else map(int, value.split(",")))}
    raise Problem(f"{said} is no option: write n=2^20, offset=1, blocks=0..3 or array=x; code stands in '', a title in \"\"")


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
