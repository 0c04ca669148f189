"""The form of the folders, and what no file may hold."""

import re

from ladder import pages
from form.files import chapter_sources, chapters, operation, tracked

MOST_LINES_OF_AN_ENGINE = 300  # Each of its headers.
TOP = {*pages.FOLDERS, "Makefile", "README.md", "LICENSE"}

# Brackets keep these patterns from matching themselves.
MACHINE = re.compile(
    r"(?<![\w./$}])/(?:home|root|Users|tmp|wor[k]|far[m])/"
    r"|\b(?:pypi|files[.]pythonhosted|deb[.]debian|archive[.]ubuntu)[.]\w"
    r"|\b(?:conda[.]anaconda|developer[.]download)[.]\w"
    r"|://[^/\s]*(?:artifactory|nexus|mirror|[.]internal\b|[.]local\b)"
    r"|://\d+[.]\d+[.]\d+[.]\d+"
)


def top_level(root, _):
    found = {p.relative_to(root).parts[0] for p in tracked(root)}
    for name in sorted(found - TOP):
        if not name.startswith("."):
            yield f"{name} does not belong at the top, which is {', '.join(sorted(TOP))}"
    for name in sorted(TOP - found):
        yield f"{name} is missing at the top"


def numbering(root, _):
    names = chapters(root)
    for expected, name in enumerate(names, 1):
        if not re.fullmatch(r"\d\d_[a-z0-9]+(?:_[a-z0-9]+)*", name):
            yield f"chapters/{name}: name it NN_name, in lower case"
        elif int(name[:2]) != expected:
            yield f"chapters/{name}: numbers are consecutive, so this is {expected:02}"
            return


def chapter_folder(root, folder):
    if not (folder / "README.md").is_file():
        yield "has no README.md"
    if not any(p.parent == folder for p in chapter_sources(root)):
        yield "has no <op>.cu"
    for header in sorted(folder.glob("*.h")):
        lines = len(header.read_text().splitlines())
        if lines > MOST_LINES_OF_AN_ENGINE:
            yield f"{header.name} has {lines} lines, at most {MOST_LINES_OF_AN_ENGINE}"
    for name in ("*.exercise.cu", "assignment.toml"):
        if not list(folder.glob(name)):
            yield f"has no {name.replace('*', '<op>')}"


def contract(root, path):
    op = operation(path)
    for needed in (f"common/{op}.h", f"tests/{op}_test.cpp", f"plots/{op}_bench.cpp"):
        if not (root / needed).is_file():
            yield f"fulfils the contract '{op}', which has no {needed}"


def machine(root, path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := MACHINE.search(line):
            yield f"line {number}: '{found[0]}' names one machine or registry"


def fast_math(root, path):
    if path.suffix not in (".md", ".py") and "-use_fast_math" in path.read_text(errors="replace"):
        yield "--use_fast_math changes what the kernels compute"
