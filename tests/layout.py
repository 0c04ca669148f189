#!/usr/bin/env python3
"""Check the form of the repository: folders, chapter files, pages.

Each check names the things it looks at; looking at nothing is a failure.
docs/style.md describes the form.
"""

import argparse
import difflib
import functools
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))

import pages  # noqa: E402
import source  # noqa: E402
import toolchain  # noqa: E402
from pages import Problem  # noqa: E402

TOP = {*pages.FOLDERS, "Makefile", "README.md", "LICENSE"}
HEADINGS = ["The change", "Why it works", "What it costs", "What happened", "Break it", "Read along"]
FORMATTER = 14  # The major version of clang-format.
MOST_SOURCE_LINES, MOST_COLUMNS, MOST_PAGE_LINES = 80, 80, 150
AIM_OF_CHANGE, MOST_CHANGE = 25, 40

LABEL = re.compile(r"^// ([A-Z]\w*): +(.*(?:\n//  +.*)*)", re.M)
FOREIGN_NAMES = re.compile(r"\b(?:tid|idx|g_idata|sdata)\b")
MARK = re.compile(r"\bBuilt in chapter (\d\d)\.|\bNothing here is worth studying\b")

UNIT = r"(?:[kKMGT]i?B/s|[KMGT]i?B per second|us|µs|μs|ms|ns|(?:micro|milli|nano)seconds?|[MG]Hz|FLOPS?)"
TYPED_NUMBER = re.compile(
    rf"(?<![\w.])\d[\d,.]*\s*(?:{UNIT}(?![\w/])"
    r"|(?:%|percent)\s+(?:of\s+(?:an?\s+|the\s+)?(?:plain\s+)?(?:copy|roof|datasheet|peak)|faster|slower)"
    r"|(?:x|×|times)\s+(?:an?\s+|the\s+)?(?:plain\s+)?(?:copy|faster|slower|as\s+fast))"
)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|href)=[\"']([^\"']+)|^\s*\[[^\]]+\]:\s*(\S+)", re.M)

MACHINE = re.compile(
    r"(?<![\w./$}])/(?:home|root|Users|tmp|wor[k]|far[m])/"  # Brackets: this line must not match itself.
    r"|\b(?:pypi[.]|files[.]pythonhosted[.]|deb[.]debian[.]|archive[.]ubuntu[.]|conda[.]anaconda[.]"
    r"|developer[.]download[.])\w|://[^/\s]*(?:artifactory|nexus|mirror|[.]internal\b|[.]local\b)"
    r"|://\d+[.]\d+[.]\d+[.]\d+"
)


# What there is to look at.


@functools.cache
def tracked(root):
    """Every file that belongs to the repository, new ones included."""
    if (root / ".git").exists():
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
        return sorted(root / n for n in set(names) if n and (root / n).is_file())
    ignored = ("build", "run")
    return sorted(p for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] not in ignored)


def matching(pattern):
    return lambda root: [p for p in tracked(root) if re.fullmatch(pattern, str(p.relative_to(root)))]


whole = lambda root: [root]
everything = matching(r".*")
chapter_sources = matching(r"chapters/[^/]*/[^/]*\.cu")
wrong_kernels = matching(r"tests/wrong/[^/]*\.cu")
chapter_pages = matching(r"chapters/[^/]*/README\.md")
shared_code = matching(r"common/[^/]*\.(?:h|cuh|cpp|cu)")
formatted = matching(r"(?:chapters|common|tests|plots)/.*\.(?:h|cuh|cpp|cu)")


def chapters(root):
    return sorted({p.relative_to(root).parts[1] for p in tracked(root) if p.match("chapters/*/*")})


def chapter_folders(root):
    return [root / "chapters" / name for name in chapters(root)]


def later_chapters(root):
    """Chapter files whose contract an earlier chapter fulfils too: pairs."""
    latest, pairs = {}, []
    for path in chapter_sources(root):
        if path.name.count(".") == 1:
            if path.name in latest:
                pairs.append((latest[path.name], path))
            latest[path.name] = path
    return pairs


def operation(path):
    """relu.four.cu fulfils the contract relu."""
    return path.name.split(".")[0]


def contract_functions(root, path):
    header = root / "common" / f"{operation(path)}.h"
    if not header.is_file():
        return set()
    return {u.name for u in source.units(header.read_text()) if u.is_function}


# Folders.


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


def contract(root, path):
    op = operation(path)
    for needed in (f"common/{op}.h", f"tests/{op}_test.cpp", f"plots/{op}_bench.cpp"):
        if not (root / needed).is_file():
            yield f"fulfils the contract '{op}', which has no {needed}"


# Sources.


def size(root, path):
    lines = path.read_text().splitlines()
    if len(lines) > MOST_SOURCE_LINES:
        yield f"{len(lines)} lines, at most {MOST_SOURCE_LINES}"
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
        yield f"the header's labels are New, Why, Price; found {', '.join(n for n, _ in labels) or 'none'}"
    for name, text in labels:
        if name == "New" and len(re.findall(r"\.(?=\s|$)", text)) != 1:
            yield "New is one sentence"


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
        if unit.is_function and "__global__" in "\n".join(lines) and unit.name not in kernels:
            yield f"line {unit.first + 1}: kernel '{unit.name}' is named {' or '.join(sorted(kernels))}"


def linked_symbols(root, path):
    """By nm: what the object that is linked offers to others.

    nvcc gives the names of an anonymous namespace a unique part instead of
    internal linkage; weak symbols are the inline functions of headers."""
    made = f"build/cpu/{path.relative_to(root).with_suffix('.o')}"
    build = toolchain.make(root, "cpu", made)
    if build.returncode:
        yield f"{made} cannot be made:\n{build.stdout.strip()}"
        return
    listing = output("nm", "--defined-only", "--extern-only", "--format=posix", root / made)
    strong = [line.split()[0] for line in listing.splitlines() if line.split()[1] not in "VWuvw"]
    names = output("c++filt", *[s for s in strong if "_GLOBAL__N_" not in s]).split("\n") if strong else []
    exported = {name.partition("(")[0] for name in names if name}
    functions = contract_functions(root, path)
    if exported != functions:
        yield f"exports {', '.join(sorted(exported)) or 'nothing'}; its contract is {', '.join(sorted(functions))}"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def formatting(root, path):
    command = [clang_format(), "--dry-run", "--Werror", path]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if run.returncode:
        first = re.search(r":(\d+):\d+: error", run.stderr)
        yield f"line {first[1] if first else '?'} is not as clang-format {FORMATTER} has it: run clang-format -i"


@functools.cache
def clang_format():
    """The one version that judges: versions differ about the same style."""
    beside = pathlib.Path(sys.executable).parent / "clang-format"
    for name in (beside, f"clang-format-{FORMATTER}", "clang-format"):
        found = shutil.which(name)
        if found and f"version {FORMATTER}." in output(found, "--version"):
            return found
    return None


def marking(root, path):
    """common/ holds contracts, promoted code and harness, and says which."""
    operations = {operation(p) for p in chapter_sources(root)}
    if path.suffix == ".h" and path.stem in (*operations, "check"):
        return  # A contract, or the one macro that every chapter uses.
    mark = MARK.search(path.read_text().split("\n", 1)[0])
    if not mark:
        yield "the first line says 'Built in chapter NN.' or 'Nothing here is worth studying.'"
    elif mark[1] and not any(name.startswith(mark[1]) for name in chapters(root)):
        yield f"says it was built in chapter {mark[1]}, which does not exist"


def wrong_kernel(root, path):
    if not re.fullmatch(r"\w+\.\w+\.cu", path.name):
        yield "name it <op>.<bug>.cu"
    elif not contract_functions(root, path):
        yield f"there is no contract common/{operation(path)}.h"


def change(root, pair):
    before, after = (source.code_lines(p.read_text()) for p in pair)
    count = changed_lines(before, after)
    if count > MOST_CHANGE:
        yield f"{count} changed code lines against {pair[0].parent.name}, at most {MOST_CHANGE}"
    elif count > AIM_OF_CHANGE:
        print(f"note  {pair[1].relative_to(root)}: {count} changed code lines, aim for {AIM_OF_CHANGE}")


def changed_lines(before, after):
    """Lines of code added or removed; a line replaced counts once."""
    before, after = ([s for s in source.without_comments("\n".join(f)).split("\n") if s.strip()] for f in (before, after))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return sum(max(b - a, d - c) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal")


# Pages.


def headings(root, path):
    page = pages.Page(path, root)
    number = path.parent.name[:2]
    titles = re.findall(r"^(#{1,2}) +(.*?) *$", page.prose(), re.M)
    if not titles or not re.fullmatch(rf"{number} · \S.*", titles[0][1]) or titles[0][0] != "#":
        yield f"the first heading is '# {number} · Title'"
    if [t for level, t in titles[1:]] != HEADINGS or any(level == "#" for level, _ in titles[1:]):
        yield f"the headings are {', '.join(HEADINGS)}; found {', '.join(t for _, t in titles[1:]) or 'none'}"


def page_size(root, path):
    lines = len(path.read_text().splitlines())
    if lines > MOST_PAGE_LINES:
        yield f"{lines} lines, at most {MOST_PAGE_LINES}"


def command(root, path):
    opening = pages.Page(path, root).text.split("\n## ")[0]
    wanted = f"make chapter{path.parent.name[:2]} && ./run"
    if wanted not in opening:
        yield f"does not open with its command, {wanted}"


def change_is_woven(root, path):
    words = [d.word for d in section(pages.Page(path, root), "The change")]
    follows = any(after.parent == path.parent for _, after in later_chapters(root))
    wanted = ("diff",) if follows else ("diff", "code")
    if not set(wanted) & set(words):
        yield f"'The change' holds no woven {' or '.join(wanted)}"


def results_are_woven(root, path):
    words = {d.word for d in section(pages.Page(path, root), "What happened")}
    for wanted in ("table", "figure"):
        if wanted not in words:
            yield f"'What happened' holds no woven {wanted}"


def break_items(root, path):
    page = pages.Page(path, root)
    start, end = span(page, "Break it")
    items = [start + m.start() for m in re.finditer(r"^(?:[-*+]|\d+\.) ", page.prose()[start:end], re.M)]
    if not items:
        yield "'Break it' has no list items"
    breaks = [d.start for d in page.directives if d.word == "break"]
    for item, following in zip(items, [*items[1:], end]):
        if not any(item <= b < following for b in breaks):
            yield f"line {page.line(item)}: this item has no break directive"


def links(root, path):
    page = pages.Page(path, root)
    for match in LINK.finditer(page.visible()):
        target = next(t for t in match.groups() if t)
        file, _, anchor = target.partition("#")
        if re.match(r"\w+:", target):
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or not there.is_relative_to(root):
            yield f"line {page.line(match.start())}: there is no {target}"
        elif anchor and anchor not in anchors(there, root):
            yield f"line {page.line(match.start())}: {there.name} has no heading for #{anchor}"


def anchors(path, root):
    """The anchors that GitHub gives a page's headings."""
    if path.suffix != ".md":
        return set()
    titles = re.findall(r"^#{1,6} +(.*?) *$", pages.Page(path, root).visible(), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def typed_numbers(root, path):
    page = pages.Page(path, root)
    for match in TYPED_NUMBER.finditer(page.prose()):
        number = " ".join(match[0].split())
        yield f"line {page.line(match.start())}: '{number}' is a measurement typed by hand: weave it with 'value' or 'table'"


def terms(root, _):
    """A term is bold once, where it is defined."""
    seen = {}
    for path in chapter_pages(root):
        page = pages.Page(path, root)
        for match in re.finditer(r"\*\*([^*]+)\*\*", page.prose()):
            term = " ".join(match[1].lower().split())
            if term in seen:
                yield f"{page.where(match.start())}: '{term}' is bold already in {seen[term]}"
            seen.setdefault(term, page.where(match.start()))
    if not seen:
        yield "no chapter defines a **term**"


def section(page, title):
    """The directives below a heading."""
    start, end = span(page, title)
    return [d for d in page.directives if start <= d.start < end]


def span(page, title):
    found = re.search(rf"^## +{re.escape(title)} *$(.*?)(?=^##? |\Z)", page.prose(), re.M | re.S)
    return found.span(1) if found else (0, 0)


# Everything.


def machine(root, path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := MACHINE.search(line):
            yield f"line {number}: '{found[0]}' names one machine or registry"


def fast_math(root, path):
    if path.suffix not in (".md", ".py") and "-use_fast_math" in path.read_text(errors="replace"):
        yield "--use_fast_math changes what the kernels compute"


CHECKS = [
    (top_level, whole),
    (numbering, whole),
    (chapter_folder, chapter_folders),
    (contract, chapter_sources),
    (size, chapter_sources),
    (header, chapter_sources),
    (vocabulary, chapter_sources),
    (symbols, chapter_sources),
    (linked_symbols, chapter_sources),
    (formatting, formatted),
    (marking, shared_code),
    (wrong_kernel, wrong_kernels),
    (change, later_chapters),
    (headings, chapter_pages),
    (page_size, chapter_pages),
    (command, chapter_pages),
    (change_is_woven, chapter_pages),
    (results_are_woven, chapter_pages),
    (break_items, chapter_pages),
    (links, pages.find),
    (typed_numbers, pages.find),
    (terms, whole),
    (machine, everything),
    (fast_math, everything),
]


def run(root):
    tally = pages.Tally()
    for check, items in CHECKS:
        if check is formatting and not clang_format():
            print(f"note  no clang-format {FORMATTER} here, so formatting was not checked")
            continue
        title = check.__name__.replace("_", " ")
        things = items(root)
        if not things:
            tally.fail(f"{title}: found nothing to look at")
        for thing in things:
            report(root, title, check, thing, tally)
    return tally.close("check")


def report(root, title, check, thing, tally):
    path = thing[-1] if isinstance(thing, tuple) else thing
    name = "" if path == root else f"{path.relative_to(root)}: "
    try:
        problems = list(check(root, thing))
    except Problem as problem:
        problems = [str(problem)]
    for problem in problems:
        tally.fail(f"{name}{title}: {problem}")
    if not problems:
        tally.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pages.ROOT)
    try:
        return run(parser.parse_args().root.resolve())
    except Problem as problem:
        sys.exit(f"layout: {problem}")


if __name__ == "__main__":
    sys.exit(main())
