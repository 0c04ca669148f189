"""What the executor lacks, as its code says it: whole calls of the runtime, and uses of others."""

import collections
import re

from ladder import toolchain

CALLS = "build/cpu/common/simt/refusals.cpp"  # refusals.sh writes a function there for each that is missing.
REASONS = "common/simt/runtime/refusals.cpp"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
REASON = re.compile(r'^ +\{"(\w+)", "([^"]+)"\}', re.M)
NOTHING_SAID = "…"


def uses(root):
    """What a call that is there refuses -> the files that throw it, in the order of the files."""
    found = collections.defaultdict(list)
    for path in sorted((root / "common/simt").rglob("*.*")):
        for thrown in re.findall(r"throw Lacking\{(.*?)\};", path.read_text(), re.S):
            said = sentence(thrown)
            if said.strip(NOTHING_SAID) and path not in found[said]:
                found[said].append(path)
    return found


def sentence(thrown):
    """'text("attribute ", int(which), " of a link")' -> 'attribute … of a link'"""
    between_and_literals = LITERAL.split(thrown.removeprefix("text(").removesuffix(")"))
    return "".join(part if k % 2 else NOTHING_SAID if part.strip(", \n") else ""
                   for k, part in enumerate(between_and_literals))


def calls(root):
    """What whole calls of the runtime would need -> their names; the first reason that fits counts."""
    reasons = REASON.findall((root / REASONS).read_text())
    found = collections.defaultdict(list)
    for name in re.findall(r"int (cuda\w+)\(", toolchain.built(root, CALLS).read_text()):
        if not name.endswith(("_ptsz", "_ptds")):
            found[next((what for word, what in reasons if word in name), "other calls")].append(name)
    return found
