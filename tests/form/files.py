"""What there is to look at, and what contracts the files fulfil."""

import functools
import re

from harness import built, contracts, patches
from ladder import together


@functools.cache
def tracked(root):
    """Every file that belongs to the repository, new ones included."""
    if (root / ".git").exists():
        return sorted(built.tracked(root, "-c", "-o", "--exclude-standard"))
    ignored = ("build", "run", ".toolchain", "mine", "results")
    return sorted(p for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] not in ignored)


@functools.cache
def places(root):
    return {place for path in tracked(root) for place in (path, *path.parents)}


def is_tracked(root, path):
    """A file of the repository, or a folder in it that holds one."""
    return path.is_relative_to(root) and path in places(root)


def matching(pattern):
    @functools.cache
    def found(root):
        return [p for p in tracked(root) if re.fullmatch(pattern, str(p.relative_to(root)))]

    return found


def whole(root):
    return [root]


everything = matching(r".*")
chapter_sources = matching(r"chapters/[^/]*/[^/]*(?<!\.exercise)\.cu")
exercises = matching(r"chapters/[^/]*/[^/]*\.exercise\.cu")
wrong_kernels = matching(r"tests/wrong/[^/]*\.(?:cu|patch)")
contract_sources = matching(rf"(?:chapters|{together.TASKS})/[^/]*/[^/]*\.cu")
chapter_pages = matching(r"chapters/[^/]*/README\.md")
errata = matching(r"docs/errata\.md")
plain_pages = matching(rf"docs/[^/]*\.md|{together.TASKS}/[^/]*/README\.md")
glossary = matching(r"docs/terms\.md")
shared_code = matching(r"common/[^/]*\.(?:h|cuh|cpp|cu)")
machinery = matching(r"common/(?:harness|simt)/.*\.(?:h|cpp|cu)")
executor = matching(r"common/simt/.*\.(?:h|cpp)")
cpp_and_cuda = matching(r"(?:chapters|common|tests|plots)/.*\.(?:h|cuh|cpp|cu)")


@functools.cache
def formatted(root):
    """Also what patches make of files."""
    return sorted({*cpp_and_cuda(root), *patches.sources(root).values()})


@functools.cache
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
    """<op>.four.cu fulfils the contract <op>."""
    return path.name.split(".")[0]


@functools.cache
def operations(root):
    """Of the chapters and the open tasks."""
    return {operation(path) for path in contract_sources(root)}


def contract_functions(root, path):
    header = together.contract(root, operation(path))
    if not header:
        return set()
    return {name for _, name, _ in contracts.functions(header.read_text())}
