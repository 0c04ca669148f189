"""Wrong kernels: files of their own in tests/wrong, or patches that follow a right one.

    // Wrong on purpose: what is wrong.
    FILE: 'old' -> 'new'; 'old' -> 'new'

That is tests/wrong/<op>.<bug>.patch; FILE is a chapter's, an open task's or one in tests/wrong.
Each `old` occurs exactly once in its code, and the comment takes the place of its own. Quoted
texts know \\', \\\\, \\n and \\> (for a comment's end), and adjacent ones are joined, as in C++:
so does *Break it* on the chapters' pages.
"""

import re

from harness import Problem, built

PLACE = "tests/wrong"
WRITTEN = "build/wrong"  # What the patches make of their files.
QUOTED = r"'(?:[^'\\\n]|\\.)*'"
TEXT = rf"{QUOTED}(?:\s+{QUOTED})*"
EDIT = re.compile(rf"\s*({TEXT})\s*->\s*({TEXT})\s*(?:;|\Z)")
ESCAPES = {"n": "\n", "'": "'", "\\": "\\", ">": ">"}
COMMENT = re.compile(r"(?://.*\n)+")
PATCH = re.compile(rf"(?P<comment>{COMMENT.pattern})(?P<file>\S+):(?P<edits>(?:{EDIT.pattern})+)")


def sources(root, fail=lambda message: None):
    """<op>.<bug>.cu -> where that wrong kernel can be compiled."""
    found = {path.name: path for path in (root / PLACE).glob("*.cu")}
    for patch in (root / PLACE).glob("*.patch"):
        try:
            found[f"{patch.stem}.cu"] = written(root, patch)
        except Problem as problem:
            fail(str(problem))
    return dict(sorted(found.items()))


def written(root, patch):
    """The file that a patch makes, as it is now."""
    return built.write(root / WRITTEN / f"{patch.stem}.cu", applied(root, patch))


def applied(root, patch):
    """The text of the wrong kernel."""
    text, found = followed(root, patch)
    for old, new in EDIT.findall(found["edits"]):
        try:
            text = edited(text, unquoted(old), unquoted(new), found["file"])
        except Problem as problem:
            raise Problem(f"{patch.relative_to(root)}: {problem}") from None
    return text


def followed(root, patch):
    """The right file with the patch's comment for its own, and the parts of the patch."""
    name, found = patch.relative_to(root), PATCH.fullmatch(patch.read_text())
    if not found:
        raise Problem(f"{name}: write a comment, and FILE: 'old' -> 'new'; ...")
    right = root / found["file"]
    if not right.is_file():
        raise Problem(f"{name}: there is no {found['file']} to follow")
    return COMMENT.sub(lambda _: found["comment"], right.read_text(), count=1), found


def edited(text, old, new, name):
    """The text with `new` in place of `old`, or why it cannot be."""
    matches = text.count(old) if old else 0
    if matches != 1:
        raise Problem(f"'{old}' occurs {matches} times in {name}, need exactly 1")
    if old == new:
        raise Problem("'old' and 'new' are equal, so nothing is broken")
    return text.replace(old, new)


def unquoted(literals):
    texts = re.findall(QUOTED, literals)
    return "".join(re.sub(r"\\(.)", _unescaped, text[1:-1]) for text in texts)


def _unescaped(match):
    if match[1] not in ESCAPES:
        known = " ".join(rf"\{c}" for c in ESCAPES)
        raise Problem(f"'{match[0]}' is no escape; there are {known}")
    return ESCAPES[match[1]]
