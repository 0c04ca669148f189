"""The two sides of a contract's functions, made of its header.

    python -m classroom.stubs judge|hand_in HEADER    prints C++
"""

import sys

from harness import contracts

from classroom.assignment import ROOT, Problem


def judge(header, declared):
    lines = ['#include "common/classroom/remote/judge.h"', f'#include "{header}"', ""]
    for number, (result, name, parameters) in enumerate(declared):
        arguments = ", ".join([str(number), name, *contracts.arguments(parameters)])
        lines += [f"{result} {name}({parameters}) {{", f"  return remote::ask({arguments});", "}"]
    return lines


def hand_in(header, declared):
    served = ", ".join(f"remote::Serve<{name}>::call" for _, name, _ in declared)
    return ['#include "common/classroom/remote/hand_in.h"', f'#include "{header}"', "",
            f"const remote::Served remote::kServed[] = {{{served}}};"]


def main(side, header):
    declared = contracts.functions((ROOT / header).read_text())
    if not declared:
        raise Problem(f"{header} declares no function")
    print("\n".join({"judge": judge, "hand_in": hand_in}[side](header, declared)))


if __name__ == "__main__":
    main(*sys.argv[1:])
