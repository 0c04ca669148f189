"""The PTX that the executor accepts, as docs/forms.cpp prints it."""

import collections
import dataclasses
import functools

from ladder import toolchain

PROGRAM = "build/cpu/docs/forms.program"


@dataclasses.dataclass
class Forms:
    groups: dict  # title -> its lines, as they are written in the list
    all: dict  # line -> every form that it stands for
    words: dict  # "rnd" -> "(.rn|.rz|.rm|.rp)"
    specials: list
    directives: list


@functools.cache
def accepted(root):
    said = toolchain.said_by([toolchain.built(root, PROGRAM), "--all"])
    found = Forms({}, {}, {}, [], [])
    by_kind = collections.defaultdict(list)
    for row in said.splitlines():
        kind, _, text = row.partition(" ")
        if kind == "group":
            lines = found.groups[text] = []
        elif kind == "line":
            lines.append(text)
            forms = found.all[text] = []
        elif kind == "form":
            forms.append(text.strip())
        else:
            by_kind[kind].append(text)
    found.words = dict(row.split(" ", 1) for row in by_kind["word"])
    found.specials, found.directives = by_kind["special"], by_kind["directive"]
    return found
