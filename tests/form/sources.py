"""The form of the sources."""

import difflib
import functools
import importlib.util
import pathlib
import re
import shutil
import subprocess

from harness import patches
from ladder import counts, source
from ladder.pages import Problem
from form.files import chapter_sources, chapters, contract_functions, formatted, operation
from form.writing import TYPED_NUMBER

FORMATTER = 14  # The major version of clang-format.
MOST_LINES, MOST_COLUMNS = 80, 80
AIM_OF_CHANGE, MOST_CHANGE = 25, 40

# The executor's folders: a file includes only those of its own and of earlier ones.
LAYERS = ("core", "memory", "observe", "isa", "decode", "machine", "runtime", "library", "nccl", "cublas", "curand")
SETTINGS = "core/settings.cpp"

LABEL = re.compile(r"^// ([A-Z]\w*): +(.*(?:\n//  +.*)*)", re.M)
FOREIGN_NAMES = re.compile(r"\b(?:tid|idx|g_idata|sdata)\b")
MARK = re.compile(r"// Built in chapter (\d\d)\.\n")


def size(root, path):
    lines = path.read_text().splitlines()
    if len(lines) > MOST_LINES:
        yield f"{len(lines)} lines, at most {MOST_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            yield f"line {number} has {len(line)} columns, at most {MOST_COLUMNS}"


def header(root, path):
    comment = re.match(r"(?://.*\n)*", path.read_text())[0]
    number = path.parent.name[:2]
    if not comment.startswith(f"// Chapter {number}"):
        yield f"the header comment begins '// Chapter {number}'"
    labels = LABEL.findall(comment)
    if [name for name, _ in labels] != ["New", "Why", "Price"]:
        found = ", ".join(name for name, _ in labels) or "none"
        yield f"the header's labels are New, Why, Price; found {found}"
    for name, text in labels:
        if name == "New" and len(re.findall(r"\.(?=\s|$)", text)) != 1:
            yield "New is one sentence"
    if number := TYPED_NUMBER.search(comment):
        yield f"'{number[0]}' is a measurement: a header gives mechanisms"


def vocabulary(root, path):
    for number, line in enumerate(source.without_comments(path.read_text()).splitlines(), 1):
        for name in FOREIGN_NAMES.findall(line):
            yield f"line {number}: '{name}' is not in the vocabulary of docs/style.md"


def symbols(root, path):
    """By source: what stands outside the anonymous namespace, and kernels."""
    functions = contract_functions(root, path)
    text = path.read_text()
    units = [u for u in source.units(text) if u.name]
    for unit in units:
        if not unit.is_anonymous and unit.name not in functions:
            yield f"line {unit.first + 1}: '{unit.name}' belongs in the anonymous namespace"
    for name in sorted(functions):
        if sum(u.defines and not u.is_anonymous for u in units if u.name == name) != 1:
            yield f"defines {name} not exactly once"
    kernels = {f"{name}_kernel" for name in functions | {operation(path)}}
    for unit in units:
        lines = text.splitlines()[unit.first : unit.last + 1]
        if (unit.is_function and "__global__" in "\n".join(lines) and unit.name not in kernels):
            wanted = " or ".join(sorted(kernels))
            yield f"line {unit.first + 1}: kernel '{unit.name}' is named {wanted}"


def linked_symbols(root, path):
    """By nm: what the object that is linked offers to others.

    nvcc gives the names of an anonymous namespace a unique part instead of
    internal linkage; weak symbols are the inline functions of headers."""
    try:
        made = counts.built(root, path, ".o")
    except Problem as problem:
        yield str(problem)
        return
    listing = output("nm", "--defined-only", "--extern-only", "--format=posix", made)
    strong = [line.split()[0] for line in listing.splitlines() if line.split()[1] not in "VWuvw"]
    mangled = [symbol for symbol in strong if "_GLOBAL__N_" not in symbol]
    names = output("c++filt", *mangled).splitlines() if mangled else []
    exported = {name.partition("(")[0] for name in names}
    functions = contract_functions(root, path)
    if exported != functions:
        found = ", ".join(sorted(exported)) or "nothing"
        yield f"exports {found}; its contract is {', '.join(sorted(functions))}"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def formatting(root, path):
    if line := misformatted(root).get(path):
        yield f"line {line} is not as clang-format {FORMATTER} has it: run clang-format -i"


@functools.cache
def misformatted(root):
    """{path: its first line that is amiss}, of all files by one clang-format."""
    command = [clang_format(), "--dry-run", "--Werror", *formatted(root)]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    found = re.findall(r"^(.+?):(\d+):\d+: error", run.stderr, re.M)
    if run.returncode and not found:
        raise SystemExit(f"layout: clang-format failed:\n{run.stderr}")
    return {root / path: line for path, line in reversed(found)}


@functools.cache
def clang_format():
    """The one version that judges: versions differ about the same style. What Python's package
    puts into bin/ is a script that starts this file, in ten times its time."""
    package = importlib.util.find_spec("clang_format")
    inside = [pathlib.Path(package.origin).parent / "data/bin/clang-format"] if package else []
    for name in (*inside, f"clang-format-{FORMATTER}", "clang-format"):
        found = shutil.which(name)
        if found and f"version {FORMATTER}." in output(found, "--version"):
            return found
    return None


def marking(root, path):
    """common/ itself holds contracts and promoted code, which says so."""
    operations = {operation(p) for p in chapter_sources(root)}
    if path.suffix == ".h" and path.stem in (*operations, "check"):
        return  # A contract, or the one macro that every chapter uses.
    mark = MARK.match(path.read_text())
    if not mark:
        yield "the first line says 'Built in chapter NN.', or it belongs in common/harness/"
    elif not any(name.startswith(mark[1]) for name in chapters(root)):
        yield f"says it was built in chapter {mark[1]}, which does not exist"


def purpose(root, path):
    if not re.match(r"// \S", path.read_text()):
        yield "the first line says what the file is for"


def layer(root, path):
    """Where a file of the executor lies, and what it may know of."""
    inside = path.relative_to(root / "common/simt")
    folder, text = inside.parts[0], path.read_text()
    if folder not in LAYERS:
        yield f"lies in {folder}; the folders are {', '.join(LAYERS)}"
        return
    for other in re.findall(r'^#include "common/simt/(\w+)/', text, re.M):
        if other not in LAYERS[: LAYERS.index(folder) + 1]:
            yield f"includes {other}/, which is above {folder}/"
    if "getenv" in text and str(inside) != SETTINGS:
        yield f"reads the environment, which {SETTINGS} alone does"


def wrong_kernel(root, path):
    if not re.fullmatch(r"\w+\.\w+\.(?:cu|patch)", path.name):
        yield "name it <op>.<bug>.cu, or .patch"
    elif not contract_functions(root, path):
        yield f"there is no contract common/{operation(path)}.h"
    elif path.suffix == ".patch":
        patches.applied(root, path)


def change(root, pair):
    """Where a header beside it does the work there is no diff to keep short."""
    if f'#include "{pair[1].parent.relative_to(root)}/' in pair[1].read_text():
        return
    before, after = (source.code_lines(p.read_text()) for p in pair)
    count = f"{changed_lines(before, after)} changed code lines"
    if changed_lines(before, after) > MOST_CHANGE:
        yield f"{count} against {pair[0].parent.name}, at most {MOST_CHANGE}"
    elif changed_lines(before, after) > AIM_OF_CHANGE:
        print(f"note  {pair[1].relative_to(root)}: {count}, aim for {AIM_OF_CHANGE}")


def changed_lines(before, after):
    """Lines of code added or removed; a line replaced counts once."""
    before, after = map(_code_only, (before, after))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changes = [c for c in matcher.get_opcodes() if c[0] != "equal"]
    return sum(max(b - a, d - c) for _, a, b, c, d in changes)


def _code_only(lines):
    bare = source.without_comments("\n".join(lines)).split("\n")
    return [line for line, code in zip(lines, bare) if code.strip()]
