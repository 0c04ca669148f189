"""Cuts C++ and CUDA sources into their named pieces, without a compiler.

Enough of the language for files in this repository's style: functions, templates, types, variables
and macros at namespace scope. clang-format gives each of them lines of its own.
"""

import dataclasses
import re

from ladder.pages import Problem

NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/"
                      r'|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                      r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.S)
SCOPE = re.compile(r"(?:inline\s+)?namespace\b([\w:\s]*)\{|extern\s*\{")
MACRO = re.compile(r"#\s*define\s+(\w+)")
TYPE = re.compile(r"(?:typedef\s+)?(?:struct|class|union|enum(?:\s+class)?|concept|using)\s+(\w+)")
FUNCTION = re.compile(r"((?:\w+::)*~?\w+|operator\s*[^\s\w]+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[.*)?$", re.S)
# What stands around a declaration: attributes, some of which are called, and a template's header.
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:__launch_bounds__|__attribute__|alignas|decltype|noexcept|requires)"
                       r"\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
TEMPLATE = re.compile(r"\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")


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
    lines, bare, found = text.splitlines(), without_comments(text).splitlines(), []
    scopes, at = [], 0  # Of each open namespace, whether it is anonymous.
    while at < len(bare):
        if scope := SCOPE.match(bare[at]):
            scopes.append(scope[1] is not None and not scope[1].strip())
        elif bare[at].strip() == "}":
            scopes[-1:] = []
        elif bare[at].strip():
            last = _end(bare, at)
            found.append(_unit("\n".join(bare[at:last + 1]).strip(), _comment(lines, bare, at), last, any(scopes)))
            at = last
        at += 1
    return found


def _end(bare, first):
    """The last line of what begins there."""
    depth = 0
    for at in range(first, len(bare)):
        line = bare[at].rstrip()
        depth += sum((c in "({[") - (c in ")}]") for c in line)
        if not line.endswith("\\") if bare[first].startswith("#") else depth == 0 and line.endswith(("}", ";")):
            return at
    raise Problem(f"line {first + 1}: what begins here never ends")


def _comment(lines, bare, first):
    """The first line of the comment right above."""
    while first and lines[first - 1].strip() and not bare[first - 1].strip():
        first -= 1
    return first


def _unit(text, first, last, is_anonymous):
    name, is_function = _name(text)
    return Unit(name, first, last, text.endswith("}") or not is_function, is_function, is_anonymous)


def _name(text):
    """The name a declaration introduces, and whether it is a function."""
    if macro := MACRO.match(text):
        return macro[1], False
    if text.startswith(("#", "static_assert")):
        return "", False
    plain = TEMPLATE.sub("", ATTRIBUTE.sub(" ", text), count=1).strip()
    if "(" not in plain.split("{")[0] and (type_ := TYPE.match(plain)):
        return type_[1], False
    head = re.split(r"[={;]", plain)[0].strip()
    function, variable = FUNCTION.search(head), VARIABLE.search(head)
    if "(" in head:
        return function[1] if function else "", True
    return variable[1] if variable else "", False
