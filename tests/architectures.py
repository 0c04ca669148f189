#!/usr/bin/env python3
"""See that every .cu compiles for every architecture that the toolkit knows.

Files that include the same headers are compiled together, each in a namespace of
its own: most of nvcc's time goes into reading the headers. Chapters and common/ are
compiled from their source for each architecture; the rest, which is much, once, to
the oldest PTX, which is then assembled for each. Only what runs on a GPU: the host's
part is the same in every other build.
"""

import hashlib
import os
import re
import sys

from breaks import BACKEND, pages, toolchain

PLACES = ("chapters/**/*.cu", "common/**/*.cu", "plots/**/*.cu", "tests/**/*.cu")
FROM_SOURCE = ("chapters", "common")
FOLDER = "build/all"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"]+[>"])', re.M)
ERROR = re.compile(r"^(?:\./)?(\S+\.cu)\(\d+\): error", re.M)


def groups(files):
    """(whether from source, headers) -> [(path, text)]"""
    found = {}
    for path in files:
        text = path.read_text()
        local = path.relative_to(pages.ROOT)
        headers = frozenset(INCLUDE.findall(text))
        if any(not (pages.ROOT / h[1:-1]).is_file() for h in headers if h.startswith('"')):
            headers |= {str(local.parent)}  # A header beside the file: alone with its folder.
        found.setdefault((local.parts[0] in FROM_SOURCE, headers), []).append((local, text))
    return found


def together(members):
    """The text of a file that compiles them all."""
    headers = dict.fromkeys(h for _, text in members for h in INCLUDE.findall(text))
    lines = [f"#include {beside(h, members[0][0])}" for h in headers]
    for number, (path, _) in enumerate(members):
        op = path.name.split(".")[0]
        lines += [f"namespace file_{number} {{", f'#include "{path}"', "}"]
        if (pages.ROOT / f"common/{op}.h").is_file():  # Else a call may mean the contract's.
            lines[-2:-2] = [f"#define {op} {op}_{number}"]
            lines += [f"#undef {op}"]
    return "\n".join(lines) + "\n"


def beside(header, path):
    """A header's name as seen from the root."""
    name = header[1:-1]
    if header.startswith("<") or (pages.ROOT / name).is_file():
        return header
    return f'"{path.parent / name}"'


def plant(from_source, members):
    """Write the file; returns what make is to build of it."""
    text = together(members)
    name = f"{'source' if from_source else 'ptx'}.{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = pages.ROOT / FOLDER / f"{name}.cu"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        path.write_text(text)
    return f"{FOLDER}/{name}.fatbin"


def failed_of(members, output):
    """Those that an error names; all of them where it names none."""
    named = set(ERROR.findall(output))
    return [path for path, _ in members if str(path) in named] or [path for path, _ in members]


def main():
    tally = pages.Tally()
    files = [path for place in PLACES for path in sorted(pages.ROOT.glob(place))]
    for place in PLACES:
        if not list(pages.ROOT.glob(place)):
            tally.fail(f"{place}: no such file")
    targets = {plant(from_source, members): members
               for (from_source, _), members in groups(files).items()}
    toolchain.make(pages.ROOT, BACKEND, "-k", f"-j{os.cpu_count()}", *targets)
    for target, members in targets.items():
        made = toolchain.make(pages.ROOT, BACKEND, target)
        failed = failed_of(members, made.stdout) if made.returncode else []
        for path, _ in members:
            if path in failed:
                tally.fail(f"{path} does not compile for every architecture")
            else:
                tally.ok(str(path))
        if failed:
            print(made.stdout)
    return tally.close("source file")


if __name__ == "__main__":
    sys.exit(main())
