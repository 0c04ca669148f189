#!/usr/bin/env python3
"""Check what the pages claim about instructions, about counters and about times.

    <!-- ptx FILE KERNEL: COUNT x INSTRUCTION [SCOPE], ... -->

INSTRUCTION is an opcode in full; * stands for anything. SCOPE narrows
the count to the instructions

    in loop           that run again and again: on a cycle of the control flow
    in loop 'TEXT'    in the loop whose line of FILE contains TEXT
    at 'TEXT'         that stem from the line of FILE that contains TEXT,
                      inlined functions included

A kernel template is named with its arguments: pack_kernel<4>. The instructions
are those of the PTX that nvcc makes.

    <!-- count FILE n=N [offset=K] [kernel=NAME] [grid=G] [block=B]: VALUE ROW, ... -->

ROW is a row of the table that ./run prints without a GPU, for a call on N
elements in arrays that start K elements too far; with grid or block, the call
launches one kernel, so. kernel=NAME picks one kernel of several. A whole VALUE is meant exactly, 31.97 to its digits.
A number in the sentence before a claim of either kind is one of the claim's.

    <!-- times FILE [SERIES] < FACTOR x FILE [SERIES] at N, ... -->

compares recorded medians, at N or at all sizes of N..N. SERIES is `copy` or `read`, of as
many bytes in the same run, or what the op's name is followed by, as `backward`.
"""

import collections
import dataclasses
import fnmatch
import functools
import re

from ladder import counts, forms, pages, prose, ptx
from ladder.measured import records
from ladder.pages import Problem

TEXT = r"'(?:[^'\\]|\\.)*'"
CLAIM = re.compile(r"(?P<file>\S+)\s+(?P<kernel>\w+(?:<.+?>)?)\s*:\s+(?P<parts>.+)", re.S)
PART = re.compile(
    r"\s*(?P<count>\d+)\s+x\s+(?P<opcode>[\w.*:]+)"
    rf"(?:\s+(?:(?P<loop>in\s+loop)(?:\s+(?P<loop_text>{TEXT}))?|at\s+(?P<at_text>{TEXT})))?"
    r"\s*(?:,|$)"
)
SEPARATOR = re.compile(r"\.|::")  # Of an opcode's words.

COUNT = re.compile(r"(?P<file>\S+)\s+(?P<words>n=[^:]*?)\s*:\s+(?P<parts>.+)", re.S)
EXPECTED = re.compile(r"(?P<value>\d[\d,]*(?:\.\d+)?)(?:\s+%)?\s+(?P<row>\S.*)")

TIMES = re.compile(
    r"(?P<less>\S.*) < (?P<factor>[\d.]+) x (?P<more>\S.*) at (?P<least>[\d^,]+)(?:\.\.(?P<most>[\d^,]+))?"
)

# What compares times, and what makes a supposition of it.
COMPARED = re.compile(r"\b(?:faster|slower|as (?:fast|slow) as|(?:keeps?|kept) up with|(?:falls?|fell) behind|gain(?:s|ed)? nothing)\b")
SUPPOSED = re.compile(r"\b(?:[Ii]f|would|could|will|may|why|at best)\b|\?\W*$")

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
COUNTED = "load store sector request barrier instruction conversion reduction wavefront time".split()
# How many of what claims count, or a number that nothing follows; no part of a calculation.
NUMBER = re.compile(
    rf"(?<![×+*/=-] )(?<![\w.,^])(?<!hapter )(\d(?:[\d,]*\d)?(?:\.\d+)?(?!\d)|{'|'.join(WORDS[2:])})"
    rf"(?:(?: [a-z-]+)? (?:{'|'.join(COUNTED)})s?\b|,? and\b|(?<=\d)[.,;:](?=\s|$))"
)
STATED = re.compile(r"(?:[:,]\s+|(?:grid|block|n)=)(\d[\d,]*(?:\.\d+)?)(?![\d,^])")


@dataclasses.dataclass(frozen=True)
class Part:
    """One count in a claim: so many instructions of this kind, here."""

    count: int
    opcode: str
    loop: bool
    text: str

    def __str__(self):
        where = " in loop" if self.loop else " at" if self.text else ""
        return f"{self.count} x {self.opcode}{where}" + (f" '{self.text}'" if self.text else "")


def parse(directive):
    """File, kernel and parts of a ptx directive."""
    claim = CLAIM.fullmatch(directive.args)
    if not claim:
        raise Problem("write: ptx FILE KERNEL: COUNT x INSTRUCTION [SCOPE], ...")
    parts, at, text = [], 0, claim["parts"].strip()
    while at < len(text):
        part = PART.match(text, at)
        if not part:
            raise Problem(f"cannot read '{text[at:].strip()}': write COUNT x INSTRUCTION, then "
                          "nothing, in loop, in loop 'TEXT' or at 'TEXT'")
        quoted = part["loop_text"] or part["at_text"] or "''"
        parts.append(Part(int(part["count"]), _known(part["opcode"]), bool(part["loop"]),
                          re.sub(r"\\(.)", r"\1", quoted[1:-1])))
        at = part.end()
    return claim["file"], claim["kernel"], parts


def judge(part, kernel, path, files):
    """The opcodes in the part's scope, counted."""
    inside = set(range(len(kernel.opcodes)))
    if part.text:
        line = (files.get(path), _line_of(path, part.text))
        inside = kernel.in_loops_of(line) if part.loop else kernel.of_line(line)
        if not inside:
            raise Problem(f"no {'loop' if part.loop else 'instruction'} of the PTX stems from "
                          f"line {line[1]}, '{part.text}'")
    elif part.loop:
        inside = kernel.repeated
        if not inside:
            raise Problem("the kernel's PTX has no loop")
    return collections.Counter(kernel.opcodes[i] for i in inside)


def check_directive(directive, page, tally):
    file, kernel_name, parts = parse(directive)
    path = pages.beside(page.path, file)
    module = ptx.module(page.root, path)
    kernel = module.kernel(kernel_name)
    for part in parts:
        title = f"{directive.where}: {file} {kernel_name}: {part}"
        opcodes = judge(part, kernel, path, module.files)
        found = sum(n for o, n in opcodes.items() if fnmatch.fnmatchcase(o, part.opcode))
        if found == part.count:
            tally.ok(title)
        else:
            tally.fail(f"{title}: found {found}; {_kin(part, opcodes)}")


def check_count(directive, page, tally):
    claim = COUNT.fullmatch(directive.args)
    if not claim:
        raise Problem("write: count FILE n=N [offset=K] [grid=G] [block=B]: VALUE ROW, ...")
    words = claim["words"].split()
    launch = [word for word in words if word.startswith(("grid=", "block="))]
    case = counts.parse_case([word for word in words if word not in launch])
    path = pages.beside(page.path, claim["file"])
    counted = counts.of_source(page.root, path, case)
    title = f"{directive.where}: {claim['file']} {claim['words']}"
    for word in launch:
        check_launch(word, counted.launches, title, tally)
    for part in re.split(r",\s+", " ".join(claim["parts"].split())):
        expected = EXPECTED.fullmatch(part)
        if not expected:
            raise Problem(f"cannot read '{part}': write VALUE ROW, as in '4 sectors per load request'")
        row = counted.row(expected["row"])
        if equals(row.value, expected["value"].replace(",", "")):
            tally.ok(f"{title}: {part}")
        else:
            tally.fail(f"{title}: {part}: counted {row.text}")


def check_launch(word, launches, title, tally):
    """grid=4096 or block=256, for the one launch that there is."""
    name, _, value = word.partition("=")
    found = [blocks if name == "grid" else threads for _, blocks, threads in launches]
    if value.replace(",", "") == ",".join(map(str, found)):
        tally.ok(f"{title}: {word}")
    else:
        tally.fail(f"{title}: {word}: launched with {name} {', '.join(map(str, found)) or 'none'}")


def check_times(directive, page, tally):
    for part in re.split(r",\s+", " ".join(directive.args.split())):
        claim = TIMES.fullmatch(part)
        if not claim:
            raise Problem(f"cannot read '{part}': write FILE [SERIES] < FACTOR x FILE [SERIES] at N")
        records.stale.clear()
        records.missing.clear()
        less, more = (recorded(page, *claim[side].split()) for side in ("less", "more"))
        if old := records.stale + records.missing:
            tally.stale(f"{directive.where}: {part}: not checked: {old[0]}")
            continue
        first, last = (records.parse_size(claim[end] or claim["least"]) for end in ("least", "most"))
        ratios = {n: less[n] / more[n] for n in less.keys() & more.keys() if first <= n <= last}
        if not {first, last} <= ratios.keys():
            raise Problem(f"'{part}' was not measured at both {first:,} and {last:,}")
        slowest = max(ratios, key=ratios.get)
        if ratios[slowest] < float(claim["factor"]):
            tally.ok(f"{directive.where}: {part}")
        else:
            tally.fail(f"{directive.where}: {part}: {ratios[slowest]:.3f} x at n = {slowest:,}")


def recorded(page, file, *series):
    """Size -> the median of a series, in µs; of what nobody has measured, nothing."""
    source = pages.beside(page.path, file)
    if not (found := records.measured(page.root, [source])):
        return {}
    record, = found
    name = " ".join(series)
    name = name if name in (records.COPY, records.READ) else record.series(name)
    return {n: record.row(name, n).us for n in record.sizes(name)}


def check_beside(page, tally):
    """What is said right before a claim are the numbers of the claim."""
    text = prose.text(page)
    for block in page.blocks:
        text = pages.blank(text, block.start, block.end)
    claims = {}  # sentence -> the directives behind it
    for directive in page.directives:
        if directive.word in ("ptx", "count"):
            before = [sentences for _, sentences in prose.paragraphs(text[: directive.start])]
            claims.setdefault(before[-1][-1] if before else "", []).append(directive)
    for sentence, directives in claims.items():
        stated = {_number(n) for d in directives for n in STATED.findall(d.args)}
        for said in NUMBER.finditer(prose.LINK.sub(r"\1", prose.CODE.sub("`", sentence))):
            if _number(said[1]) not in stated:
                tally.fail(f"{directives[0].where}: '{said[0]}' is said beside, and not claimed")


def check_compared(page, tally):
    """Who says that something is faster says against what: in the same paragraph, or in the
    sentence itself by a woven value."""
    text = prose.text(page)
    for block in page.blocks:
        text = pages.blank(text, block.start, block.end, "\0")
    paragraphs = list(prose.paragraphs(text))
    ends = [start for start, _ in paragraphs[1:]] + [len(text)]
    for (start, sentences), end in zip(paragraphs, ends):
        if any(d.word == "times" and start <= d.start < end for d in page.directives):
            continue
        for sentence in sentences:
            said = COMPARED.search(prose.CODE.sub("`", sentence))
            if said and "\0" not in sentence and not SUPPOSED.search(sentence):
                tally.fail(f"{page.where(start)}: '{said[0]}' compares times: put a `times` beside it, or a value in it")


def equals(value, claimed):
    """Whole numbers exactly; others to the digits that are claimed."""
    digits = len(claimed.partition(".")[2])
    return f"{value:.{digits}f}" == claimed if digits else value == int(claimed)


def run(root):
    tally = pages.Tally()
    for page in pages.readable(root, tally.fail):
        check_beside(page, tally)
        check_compared(page, tally)
        for directive in page.directives:
            try:
                if directive.word == "count":
                    check_count(directive, page, tally)
                if directive.word == "ptx":
                    check_directive(directive, page, tally)
                if directive.word == "times":
                    check_times(directive, page, tally)
            except Problem as problem:
                tally.fail(f"{directive.where}: '{directive}': {problem}")
    return tally.close("ptx, count or times claim")


def _number(text):
    return WORDS.index(text) if text in WORDS else float(text.replace(",", ""))


@functools.cache
def opcode_words():
    """What opcodes are made of, by the decoder's list: "0 x ld.globl" must not pass for want of a letter."""
    accepted = forms.accepted(pages.ROOT).all.values()
    return {word for line in accepted for form in line for word in SEPARATOR.split(form.partition(" ")[0])}


def _known(opcode):
    for word in SEPARATOR.split(opcode):
        if not fnmatch.filter(opcode_words(), word):
            raise Problem(f"no PTX instruction has a part '{word}', as '{opcode}' has")
    return opcode


def _kin(part, opcodes):
    """What was found instead: the opcodes of the same kind."""
    kind = part.opcode.split(".")[0]
    kin = [f"{n} x {o}" for o, n in sorted(opcodes.items()) if fnmatch.fnmatchcase(o.split(".")[0], kind)]
    return "there: " + (", ".join(kin) if kin else f"no {kind} at all")


def _line_of(path, text):
    lines = [i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    if len(lines) != 1:
        raise Problem(f"{len(lines)} lines of {path.name} contain '{text}', need exactly 1")
    return lines[0]


main = pages.tool("claims", __doc__, run)

if __name__ == "__main__":
    main()
