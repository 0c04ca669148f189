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
    groups, every, others = {}, {}, collections.defaultdict(list)
    for row in toolchain.said_by([toolchain.built(root, PROGRAM), "--all"]).splitlines():
        kind, _, text = row.partition(" ")
        if kind == "group":
            lines = groups[text] = []
        elif kind == "line":
            lines.append(text)
            forms = every[text] = []
        elif kind == "form":
            forms.append(text.strip())
        else:
            others[kind].append(text)
    words = dict(row.split(" ", 1) for row in others["word"])
    return Forms(groups, every, words, others["special"], others["directive"])
