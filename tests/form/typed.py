"""What pages name: identifiers, make's targets, chapters, versions, the GPU."""

import functools
import re
import subprocess

from ladder import pages, prose, toolchain
from form.writing import sentences

# Words in backticks that stand in no source: of tools, of PTX, of other people's files.
OTHERS = set("""
    SIMT_THREADS cuobjdump sass atom nc dram__bytes mine
    coalesce control_divergence_reduce reduce_coarsening segment_reduce shared_reduce simple_reduce
    """.split())
WORD = re.compile(r"[A-Za-z_]\w+")
COUNTER = re.compile(r"[a-z]+(?: [a-z]+)+")  # A row of ./run's table, `barriers per block`.
COMMAND = re.compile(r"^(?:`+| {4})?make((?: [a-z]\w*(?![\w=./-]))+)", re.M)
CHAPTER = re.compile(r"(?:.*[Cc]hapter\s+)?(\d\d)")
VERSION = re.compile(r"(?:g\+\+|Python|CUDA)(?: Toolkit)? \d[\d.]* or \w+")
SMS, THREADS = r"([\d,]+) SMs", r"(?:holds?|places for|room for) ([\d,]+) threads"
MOST_MARKUP = 0.1  # Of a page's lines.


def identifiers(page):
    """What stands in backticks stands in the page's code, in a contract, or is CUDA's."""
    named = [d.args for d in page.directives] + [target for _, target in prose.LINK.findall(page.visible())]
    files = {(page.path.parent / word).resolve() for words in named for word in re.split(r"[\s:]+", words)}
    files |= {*page.path.parent.glob("*.cu"), *(page.root / "common").glob("*.h")}
    known = set(OTHERS)
    for file in files:
        if file.is_file() and file.suffix != ".md":
            known |= {*WORD.findall(file.read_text()), *WORD.findall(file.name)}
    unknown = {}
    for code in prose.CODE.finditer(page.prose()):
        text = code[0].strip("`")
        if "/" not in text and not COMMAND.match(text) and not COUNTER.fullmatch(text):
            unknown |= {word: code.start() for word in WORD.findall(text) if word not in known}
    for word in sorted(unknown.keys() - of_cuda(page.root, unknown)):
        yield f"line {page.line(unknown[word])}: '{word}' is neither in the page's code nor in CUDA's headers"


def of_cuda(root, words):
    """Those of the words that CUDA's headers hold."""
    if not words:
        return set()
    grep = ["grep", "-rwohE", "|".join(words), toolchain.headers(root)]
    found = subprocess.run(grep, capture_output=True, text=True)
    return set(found.stdout.split())


def targets(page):
    code = [(start, page.text[start:end]) for start, end in page.fences]
    code += [(found.start(), found[0]) for found in prose.CODE.finditer(page.prose())]
    code += [(found.start(), found[0]) for found in re.finditer(r"^ {4}make .*", page.prose(), re.M)]
    for start, text in code:
        for found in COMMAND.finditer(text):
            for target in sorted(set(found[1].split()) - goals(page.root)):
                yield f"line {page.line(start + found.start())}: make has no target '{target}'"


@functools.cache
def goals(root):
    """What make knows how to make."""
    return set(re.findall(r"^([a-z]\w*):", toolchain.make(root, "cpu", "-qp", ":").stdout, re.M))


def chapter_links(page):
    """[Chapter 03](...) leads into that chapter."""
    for link in prose.LINK.finditer(page.visible()):
        number = CHAPTER.fullmatch(link[1])
        if number and f"/chapters/{number[1]}_" not in str((page.path.parent / link[2]).resolve()):
            yield f"line {page.line(link.start())}: '{link[1]}' leads to {link[2]}"


def versions(page):
    """What is needed is what set-up asks for, in the same words."""
    for found in VERSION.finditer(" ".join(page.prose().split())):
        if found[0] not in (page.root / "common/setup/ensure.sh").read_text():
            yield f"'{found[0]}' is not what common/setup/ensure.sh says"


def gpu(page):
    """The SMs and the threads of an H200 are the executor's."""
    table = page.root / "common/simt/core/device.cpp"
    for line, linked in sentences(page):
        sentence = prose.LINK.sub(r"\1", linked)
        said = [("", number) for number in re.findall(SMS, sentence) if "H200" in sentence]
        said += [("threads_per_", number) for number in re.findall(THREADS, sentence)]
        for field, number in said:
            true = re.search(rf"\.{field}multiprocessors? = (\d+)", table.read_text())[1]
            if number.replace(",", "") != true:
                yield f"line {line}: '{number}' in '{sentence[:40]} ...': the H200 of {table.name} has {true}"


def markup(page):
    """A line with nothing but a directive is one that a reader of the source looks past."""
    text = page.text
    for d in page.directives:
        text = pages.blank(text, d.start, d.end, "\0")
    lines = text.splitlines()
    bare = sum("\0" in line and not line.replace("\0", "").strip() for line in lines)
    if bare > MOST_MARKUP * len(lines):
        yield f"{bare} of {len(lines)} lines hold nothing but directives, at most one in ten"
