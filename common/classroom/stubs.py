"""The two sides of a contract's functions, made of its header.

    python -m classroom.stubs judge|hand_in HEADER    prints C++
"""

import re
import sys

from classroom.assignment import ROOT, Problem

COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", re.S | re.M)
BODIES = re.compile(r"\{[^{}]*\}")
DECLARATION = re.compile(r"(?P<whole>[\w:<>*&\s]+?\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\))\s*$")
PARAMETER = re.compile(r"(\w+)\s*$")


def functions(text):
    """(declaration, name, names of the parameters) of what a header declares and does not define."""
    text = re.sub(COMMENTS, "", text)
    while BODIES.search(text):
        text = BODIES.sub(" defined;", text)  # What has a body is not asked of a hand-in.
    for part in text.split(";"):
        found = DECLARATION.fullmatch(part.strip())
        if found:
            parameters = [PARAMETER.search(p)[1] for p in found["parameters"].split(",") if p.strip()]
            yield found["whole"], found["name"], parameters


def judge(header, declared):
    lines = ['#include "common/classroom/remote/judge.h"', f'#include "{header}"', ""]
    for number, (declaration, name, parameters) in enumerate(declared):
        arguments = ", ".join([str(number), name, *parameters])
        lines += [f"{declaration} {{", f"  return remote::ask({arguments});", "}"]
    return lines


def hand_in(header, declared):
    served = ", ".join(f"remote::Serve<{name}>::call" for _, name, _ in declared)
    return ['#include "common/classroom/remote/hand_in.h"', f'#include "{header}"', "",
            f"const remote::Served remote::kServed[] = {{{served}}};"]


def main(side, header):
    declared = list(functions((ROOT / header).read_text()))
    if not declared:
        raise Problem(f"{header} declares no function")
    print("\n".join({"judge": judge, "hand_in": hand_in}[side](header, declared)))


if __name__ == "__main__":
    main(*sys.argv[1:])
