"""Cuts C++ and CUDA sources into their named pieces, without a compiler.

Enough of the language for files in this repository's style: functions,
templates, types, variables and macros at namespace scope.
"""

import bisect
import dataclasses
import re

from ladder.pages import Problem

NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/"
                      r'|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                      r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.S)
SCOPE = re.compile(r"(?:inline\s+)?namespace\b[\w:\s]*$|extern\s*$")
CALLED_ATTRIBUTE = re.compile(
    r"\b(?:__launch_bounds__|__attribute__|alignas|decltype|noexcept|requires)" r"\s*(?=\()"
)
TYPE = re.compile(r"(?:typedef\s+)?(?:struct|class|union|enum(?:\s+class)?|concept|using)\s+(\w+)")
MACRO = re.compile(r"#\s*define\s+(\w+)")
FUNCTION = re.compile(r"((?:\w+::)*~?\w+|operator\s*[^\s\w]+)\s*$")


@dataclasses.dataclass(frozen=True)
class Unit:
    """One declaration at namespace scope; lines count from 0, last included."""

    name: str
    first: int
    last: int
    defines: bool
    is_function: bool
    is_anonymous: bool


def without_comments(text):
    """The same text, same length, with comments and literals blanked."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def code_lines(text):
    """The lines of a file behind its header comment."""
    lines = text.splitlines()
    while lines and (lines[0].startswith("//") or not lines[0].strip()):
        lines.pop(0)
    return lines


def cut(path, name):
    """The lines of the one definition called `name`, its comment included."""
    text = path.read_text()
    named = [u for u in units(text) if u.name.split("::")[-1] == name or u.name == name]
    found = [u for u in named if u.defines] or named
    if len(found) != 1:
        raise Problem(f"{path.name} has {len(found)} definitions of '{name}', need exactly 1"
                      + (f" (lines {', '.join(str(u.first + 1) for u in found)})" if found else ""))
    return text.splitlines()[found[0].first : found[0].last + 1]


def units(text):
    return list(_Splitter(text).split())


class _Splitter:
    def __init__(self, text):
        self.lines = text.splitlines()
        self.bare = without_comments(text)
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.scopes = []  # One entry an open namespace: is it anonymous?

    def split(self):
        at = start = 0
        while at < len(self.bare):
            start = at if not self.bare[start:at].strip() else start
            c = self.bare[at]
            head = self.bare[start:at]
            if c == "#" and not head.strip():
                at = self._directive_end(at)
                yield self._unit(start, at)
                start = at
            elif c == "{" and SCOPE.search(head):
                self.scopes.append(re.search(r"namespace\s*$", head) is not None)
                at = start = at + 1
            elif c == "}":
                self.scopes[-1:] = []
                at = start = at + 1
            elif c in "({[":
                at = self._closing(at) + 1
                if c == "{" and self._is_body(head, at):
                    yield self._unit(start, at)
                    start = at
            elif c == ";":
                at += 1
                yield self._unit(start, at)
                start = at
            else:
                at += 1

    def _directive_end(self, at):
        while (end := self.bare.find("\n", at)) >= 0 and self.bare[end - 1] == "\\":
            at = end + 1
        return end if end >= 0 else len(self.bare)

    def _closing(self, at):
        depth = 0
        for i in range(at, len(self.bare)):
            depth += (self.bare[i] in "({[") - (self.bare[i] in ")}]")
            if depth == 0:
                return i
        line = bisect.bisect(self.line_starts, at)
        raise Problem(f"line {line}: this '{self.bare[at]}' is never closed")

    def _is_body(self, head, after):
        followed = self.bare[after:].lstrip()[:1]
        return "(" in head and "=" not in _plain(head) and followed != ";"

    def _unit(self, start, end):
        text = self.bare[start:end]
        start += len(text) - len(text.lstrip())
        first = bisect.bisect(self.line_starts, start) - 1
        last = bisect.bisect(self.line_starts, end - 1) - 1
        while first and self._is_comment(first - 1):
            first -= 1
        name, is_function = _name(text.strip())
        return Unit(name=name, first=first, last=last,
                    defines=text.rstrip()[-1:] == "}" or not is_function, is_function=is_function,
                    is_anonymous=any(self.scopes))

    def _is_comment(self, line):
        start = self.line_starts[line]
        end = start + len(self.lines[line])
        return self.lines[line].strip() != "" and not self.bare[start:end].strip()


def _name(text):
    """The name a declaration introduces, and whether it is a function."""
    if macro := MACRO.match(text):
        return macro[1], False
    if text.startswith(("#", "static_assert")):
        return "", False
    plain = _plain(text)
    if "(" not in plain.split("{")[0] and (type_ := TYPE.match(plain)):
        return type_[1], False
    head = re.split(r"[={;]", plain)[0]
    if "(" in head:
        function = FUNCTION.search(head[: head.index("(")])
        return (function[1] if function else ""), True
    variable = re.search(r"(\w+)\s*(?:\[.*)?$", head.strip(), re.S)
    return (variable[1] if variable else ""), False


def _plain(text):
    """A declaration without its template header and attributes."""
    text = re.sub(r"\[\[.*?\]\]", " ", text)
    while called := CALLED_ATTRIBUTE.search(text):
        end = _balanced(text, called.end(), "(", ")")
        text = text[: called.start()] + " " + text[end:]
    while template := re.match(r"\s*template\s*(?=<)", text):
        text = text[_balanced(text, template.end(), "<", ">") :]
    return text.strip()


def _balanced(text, at, opening, closing):
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    return len(text)
