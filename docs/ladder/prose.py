"""Sentences of the pages, and the terms that they define.

A sentence keeps its Markdown. Headings, tables, code in fences and what is woven are
none, but for a `value` within a sentence.
"""

import dataclasses
import os
import pathlib
import re

from ladder import pages

CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", re.S)
TAG = re.compile(r"</?[a-z]\w*[^>]*>")
SUMMARY = re.compile(r"<summary>.*?</summary>", re.S)
BOLD = re.compile(r"\*\*([^*]+)\*\*")
NO_PROSE = re.compile(r"\s*(?:\||#|$)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
END = re.compile(r"[.?!]+[*_)\"”’]*\s+(?=(\S))")
ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|[Ff]igs?|no|approx|et al)\.$")

# A sentence that begins so needs the one before it.
POINTS_BACK = re.compile(r"(?:This|That|These|Those|Such|It|Its|They|Their)\b")


@dataclasses.dataclass(frozen=True)
class Term:
    """A bold term, and what its chapter says of it: the sentence that it is bold in,
    and the ones before for as long as it points back."""

    name: str
    where: str
    chapter: pathlib.Path
    definition: str

    @property
    def anchor(self):
        return pages.anchor(self.name)


def text(page):
    """What a reader reads as sentences, each where it stands in the page's text."""
    visible = page.visible()
    for directive in page.directives:  # Within a paragraph, it does not end it.
        if not page.opens_line(directive):
            gap = " " * (directive.end - directive.start)
            visible = visible[: directive.start] + gap + visible[directive.end :]
    for block in page.blocks:
        if block.directive.word != "value":
            visible = pages.blank(visible, block.start, block.end)
    for match in [*IMAGE.finditer(visible), *SUMMARY.finditer(visible)]:
        visible = pages.blank(visible, *match.span())
    return visible


def paragraphs(markdown):
    """(position, its sentences) of each paragraph or list item."""
    start, at, lines = 0, 0, []
    for line in [*markdown.splitlines(keepends=True), "\n"]:
        ends = NO_PROSE.match(line) or ITEM.match(line) or TAG.match(line.strip())
        if ends and lines:
            yield start, sentences("".join(lines))
            lines = []
        bare = ITEM.sub("", line, count=1) if ITEM.match(line) else TAG.sub("", line)
        if not NO_PROSE.match(bare):
            start = at + len(line) - len(line.lstrip()) if not lines else start
            lines.append(bare)
        at += len(line)


def sentences(paragraph):
    """The paragraph, cut behind what ends a sentence; code and links hold no end."""
    paragraph = " ".join(paragraph.split())
    bare = paragraph
    for whole in (CODE, LINK):
        bare = whole.sub(lambda m: "x" * len(m[0]), bare)
    start, found = 0, []
    for end in END.finditer(bare):
        word = bare[start:end.start() + 1]
        dots_go_on = bare[end.start():].startswith("..") and not end[1].isupper()
        if not ABBREVIATION.search(word) and not dots_go_on:
            found.append(paragraph[start:end.end()].strip())
            start = end.end()
    return [*found, paragraph[start:]]


def words(sentence):
    """How many there are to read: code is one, a link is its text."""
    plain = LINK.sub(r"\1", CODE.sub("code", sentence))
    return sum(any(c.isalnum() for c in word) for word in plain.split())


def terms(root):
    """Every bold term of every chapter, in the order of the pages."""
    for path in sorted(root.glob("chapters/*/README.md")):
        page = pages.Page(path, root)
        for start, found in paragraphs(text(page)):
            for k, sentence in enumerate(found):
                for bold in BOLD.findall(sentence):
                    if not bold.endswith("?"):  # That is the page's question.
                        defined = _definition(found, k)
                        yield Term(_name(bold), page.where(start), path, BOLD.sub(r"\1", defined))


def moved(markdown, old, new):
    """The same text with its links as they are in another folder."""

    def link(match):
        if re.match(r"\w+:", match[2]):
            return match[0]
        file, hash_, anchor = match[2].partition("#")
        target = os.path.relpath(old.parent / file if file else old, new.parent)
        return f"[{match[1]}]({target}{hash_}{anchor})"

    return LINK.sub(link, markdown)


def _definition(found, k):
    first = k
    while first and POINTS_BACK.match(found[first]):
        first -= 1
    return " ".join(found[first : k + 1])


def _name(bold):
    """As in the middle of a sentence: 'Shared memory' begins one, 'SM' and 'BatchNorm' do not."""
    name = " ".join(bold.split())
    return name if any(map(str.isupper, name.split()[0][1:])) else name[0].lower() + name[1:]
