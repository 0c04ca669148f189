#!/usr/bin/env python3
"""See that every form of PTX that the executor accepts has an answer of a GPU.

    tests/forms.py                 compares with what is recorded
    tests/forms.py --record FILE   writes what this machine answers, on a GPU

The forms come from the decoder's own list (docs/forms.cpp). Of each line of it,
a kernel is made that executes its forms, each on 32 lanes of edge and random
operands, and prints a hash of what they left in registers and in memory. An H200
answered (of sparse products, an H100): tests/simt/forms.h200.txt, a form and its hash a line. The rows of
tests/simt/arithmetic/*.cu have more operands, and count as answers, too.

Of a line with very many forms, as loads with all their hints have, those are
executed that differ from its first in at most two places.
"""

import argparse
import itertools
import pathlib
import random
import re
import subprocess

from harness import built
from ladder import forms, pages, toolchain
from ladder.pages import ROOT

RECORDED = ROOT / "tests" / "simt" / "forms.h200.txt"
MANY = 700  # Forms of a line.
LANES = 32
SECONDS = 300

# What no program of one instruction can show, and what shows it. Approximate
# functions have no bits to compare, but bounds.
ELSEWHERE = [
    (r"\.approx|div\.full", "approximate.cu"),
    (r"(bra|brx|ret|exit)\b", "divergence.cu"),
    (r"call\b", "calls.cu"),
    (r"(trap|brkpt)\b", "failures/fail.cu"),
    (r"st(\.weak)?\.param\b", "calls.cu"),
    (r"ld(\.weak)?\.param::func", "driver.cu"),  # A kernel, as here, has none.
    # A policy must be one that createpolicy made; of what it is made, nobody tells.
    (r"(ld|st|atom|red|cp\.async\.c[ag])\.\S*cache_hint|createpolicy|discard", "cache_hints.cu"),
    (r"barrier\.cluster", "cluster.cu"),
    (r"cvt\..*(e4m3|e5m2)x2", "fp8.cu"),
    (r"(st|red)\.async", "cluster.cu"),
    (r"(?<!\w)(atom|red)\.\S*\.v\d", "atomics.cu"),
    (r"(ldu?|st|atom)\.\S*\bb128", "atomics.cu"),
    (r"alloca\.|stacksave|stackrestore", "calls.cu"),
    (r"pmevent|fence\.proxy\.alias|cvt\.rna\.satfinite", "inline_ptx.cu"),
    (r"(tex|tld4|suld|sust|txq|suq)\b", "texture.cu"),
    (r"mma\.sync\.aligned\.m8n8k4\.\w+\.\w+\.f16\.", "matrix.cu"),
    (r"cp\.async\.mbarrier|mbarrier", "mbarrier.cu"),
    (r"atom\.add\.(relaxed|acquire)", "mbarrier.cu"),
    (r"tensormap\.", "hopper/map_change.cu"),
    (r"\S*(multicast::|tensor)", "tensor_map.cu"),
    (r".*::cluster|mapa|getctarank", "cluster.cu"),
    (r"fence\.proxy", "bulk.cu"),
    (r"cp\.(reduce\.)?async\.bulk", "bulk.cu"),
    (r"cp\.async", "async.cu"),
    (r"wgmma|setmaxnreg", "hopper/wgmma.cu"),
    # What it reads nobody may write meanwhile, as the programs here do.
    (r"ld[.\w:]*\.nc\b", "memory.cu"),
]

# Shared memory adds no pairs of 16-bit numbers: ptxas makes a loop that adds the two parts of
# %r one by one. Where %r was cut out of %l, as here, ptxas 13.0 takes bits 32 to 47 of %l for
# its upper part, from -O1 on. So that is what the executor is asked to add.
MISREAD = re.compile(r"(atom|red)\b.*\.shared.*\.noftz\.b?f16x2\b")

WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
TYPE = re.compile(r"\.(?:b|u|s|f|bf)(8|16|32|64|128)(x2)?(?![\w:])")
REGISTER = {1: "%c", 2: "%h", 4: "%r", 8: "%l", 16: "%q"}


def elsewhere(form):
    return next((file for pattern, file in ELSEWHERE if re.match(rf"[\w.:]*?(?:{pattern})", form)), None)


def chosen(line_forms):
    """All forms of a line, or those near its first."""
    if len(line_forms) <= MANY:
        return line_forms
    parts = [form.split(" ")[0].split(".") for form in line_forms]
    first = set(parts[0])
    return [form for form, part in zip(line_forms, parts)
            if len(set(part) - first) <= 2 and len(part) <= len(parts[0]) + 2]


# ---- Programs ---------------------------------------------------------------


class Statement:
    """A form with operands: registers of the harness below, by width and place."""

    def __init__(self, form):
        self.op, _, operands = form.partition(" ")
        self.types = [WIDTHS[w] * (2 if x2 else 1) for w, x2 in TYPE.findall(self.op)] or [4]
        self.results = []  # Registers and predicates that it writes.
        words = operands.split(", ") if operands else []
        self.text = f"{self.op} {', '.join(self.operand(k, w, len(words)) for k, w in enumerate(words))};"
        self.add_carry()
        if ".sp" in self.op:  # Which half of A is stored: what all types may say of theirs.
            self.text = f"mov.b32 %r{len(words) - 2 + 4}, 0xe44e4ee4; {self.text}"

    def add_carry(self):
        """The flag is set before it is used, and seen after."""
        family = "sub" if self.op.startswith("sub") else "add"
        if re.match("addc|subc|madc", self.op):
            self.text = f"{family}.cc.u32 %r3, %r8, %r9; {self.text}"
        if ".cc" in self.op:
            self.text += f" {family}c.u32 %r2, %r8, %r9;"
            self.results.append("%r2")

    def operand(self, k, word, count):
        negated = "!" * word.startswith("!")
        minus, selection = "-" * word.startswith("-"), ""
        if ":" in word:
            word, selection = self.selected(k, word.lstrip("-"))
        name, _, width = word.lstrip("!").partition(".")
        bytes_ = self.types[0 if width == "any" and k == 0 and name == "d" else -1]
        if width and width != "any":
            bytes_ = WIDTHS[width[1:]]
        if width != "b8" and not (name == "v" and self.op.startswith("mov")):
            bytes_ = max(bytes_, 2)
        register = REGISTER[bytes_]
        if name == "[a]":
            return f"[{self.place()}]"
        if name in ("d", "dp"):
            self.results.append(register + "0")
        if name in ("p", "dp"):
            self.results.append("%p0")
        if name == "pq":
            self.results += ["%p0", "%p1"]
        if name == "v":
            return self.vector(k, bytes_)
        if name[1:].isdigit():
            return self.fragment(name[0], int(name[1:]), register)
        fixed = {"d": register + "0", "p": "%p0", "dp": register + "0|%p0", "pq": "%p0|%p1",
                 "q": f"{negated}%p{2 + k}", "i": {"applypriority": "128", "mma": "0"}.get(self.op.split(".")[0], "0x5a")}
        return minus + (fixed.get(name) or self.collective(k, count) or f"{register}{k + 4}") + selection

    def selected(self, k, word):
        """a:part, and which part of the register: always the same one for a form."""
        name, _, parts = word.partition(":")
        chance = random.Random(f"{self.op} {k}")
        written = {"halves": ["", ".h0", ".h1", ".h10"], "bytes": ["", ".b0", ".b31", ".b210", ".b3210"]}
        if parts == "part":
            some = [f".b{n}" for n in range(4)] + [".h0", ".h1"]
            if name == "d":
                return name, chance.choice(some).replace("h1", "h0")  # ptxas has that half wrong.
            return name, chance.choice(["", *some])
        if name == "d":
            return name, chance.choice(written[parts])
        letter, count = ("b", 4) if parts == "bytes" else ("h", 2)
        numbers = "".join(str(chance.randrange(2 * count)) for _ in range(count))
        return name, chance.choice(["", f".{letter}{numbers}", f".{letter}{numbers}"])

    def collective(self, k, count):
        """Members, lanes and barriers: all lanes take part."""
        base = self.op.split(".")[0]
        if base == "wmma":
            return "128" if ".b1" in self.op else "32"  # How far rows are apart.
        if self.op.startswith("bar.warp") or base in ("vote", "match", "redux", "elect", "shfl") and k == count - 1:
            return "-1"
        if base in ("bar", "barrier"):
            return "1" if k == ("red" in self.op) else "32"
        if base == "cvta" or base == "isspacep":
            return "%slot"
        return {"shfl": "31" if k == 3 else "5" if k == 2 else None, "nanosleep": "1"}.get(base)

    def fragment(self, name, count, register):
        """A lane's part of a matrix: no two alike, as far as there are registers."""
        first, step = {"d": (RESULTS, 1), "a": (4, 1), "b": (7, 3), "c": (10, 5)}[name]
        parts = [f"{register}{first + n if name == 'd' else 4 + (first - 4 + n * step) % 8}" for n in range(count)]
        if name == "d":
            self.results += parts
        return "{" + ", ".join(parts) + "}"

    def vector(self, k, bytes_):
        if self.op.startswith("mov"):
            part = REGISTER[bytes_ // 2]
        else:
            part = REGISTER[bytes_]
        first = 4 if k else 0  # Read, or written.
        parts = [f"{part}{first + n}" for n in range(4 if ".v4" in self.op else 2)]
        if k == 0:
            self.results += parts
        return "{" + ", ".join(parts) + "}"

    def place(self):
        if self.op.startswith("wmma"):  # One for all lanes.
            return "%box_shared" if ".shared" in self.op else "%box"
        if self.op.startswith(("ldmatrix", "stmatrix")) and ".shared" not in self.op:
            return "%slot_generic"
        for space, place in ((".shared", "%slot_shared"), (".local", "%slot_local"), (".const", "%slot_const"),
                             (".param", "KERNEL_param_2")):
            if space in self.op:
                return place
        return "%slot"


def fold(register):
    """PTX that adds a result to %sum."""
    wide = {"%p": f"selp.u64 %x, 1, 0, {register};", "%h": f"cvt.u64.u16 %x, {register};",
            "%c": f"cvt.u64.u8 %x, {register};", "%r": f"cvt.u64.u32 %x, {register};", "%l": f"mov.u64 %x, {register};",
            "%q": f"mov.b128 {{%x, %y}}, {register}; xor.b64 %x, %x, %y;"}[register[:2]]
    return f"{wide} mul.lo.u64 %sum, %sum, 0x9e3779b97f4a7c15; xor.b64 %sum, %sum, %x;" if wide else ""


# 0 to 3 are written, 4 to 11 are read; a matrix is written to others.
RESULTS = 20
PROLOGUE = """
.reg .pred %p<12>; .reg .b8 %c<12>; .reg .b16 %h<12>; .reg .b32 %r<28>; .reg .b64 %l<28>; .reg .b128 %q<12>;
.reg .b64 %x, %y, %sum, %slot, %slot_shared, %slot_local, %slot_const, %slot_generic, %box, %box_shared, %out, %in;
.shared .align 128 .b8 box[4096]; .local .align 128 .b8 depot[128];
mov.u64 %in, $0; mov.u64 %out, $1; mov.u64 %slot, $2;
cvt.u64.u32 %x, %tid.x; mul.lo.u64 %y, %x, 128;
add.u64 %slot, %slot, %y; mov.u64 %slot_shared, box; add.u64 %slot_shared, %slot_shared, %y;
mov.u64 %box, $2; mov.u64 %box_shared, box; cvta.shared.u64 %slot_generic, %slot_shared;
mov.u64 %slot_local, depot; mov.u64 %slot_const, some_constants; add.u64 %slot_const, %slot_const, %y;
mul.lo.u64 %y, %x, 8; add.u64 %out, %out, %y; add.u64 %in, %in, %y;
""" + "\n".join(
    f"ld.u64 %l{k}, [%in+{256 * k}]; cvt.u32.u64 %r{k}, %l{k}; cvt.u16.u64 %h{k}, %l{k}; cvt.u8.u64 %c{k}, %l{k}; "
    f"mov.b128 %q{k}, {{%l{k}, %l{k}}}; and.b64 %x, %l{k}, 4; setp.ne.u64 %p{k}, %x, 0;" for k in range(12))


def slot_code(statement):
    """PTX that fills what the statement may change, and that folds it in after."""
    place = statement.place() if "[" in statement.text else None
    if statement.op.startswith(("wmma", "ldmatrix", "stmatrix")) and place:
        return matrix_code(place)
    if place in (None, "%slot_const", "KERNEL_param_2"):
        return "", ""
    space = {"%slot": "", "%slot_shared": ".shared", "%slot_local": ".local"}[place]
    fill = f"st{space}.v2.u64 [{place}], {{%l10, %l11}}; st{space}.v2.u64 [{place}+16], {{%l11, %l10}};"
    after = "".join(f"ld{space}.v2.u64 {{%l2, %l3}}, [{place}+{at}]; {fold('%l2')} {fold('%l3')} " for at in (0, 16))
    return fill, after


def matrix_code(place):
    """The same of a place that lanes have together: each fills its part."""
    space, mine = {"%box": ("", "%slot"), "%box_shared": (".shared", "%slot_shared"), "%slot_generic": ("", place),
                   "%slot_shared": (".shared", place)}[place]
    fill = "".join(f"st{space}.v2.u64 [{mine}+{at}], {{%l{4 + at // 16}, %l{11 - at // 16}}};" for at in range(0, 128, 16))
    after = "".join(f"ld{space}.v2.u64 {{%l2, %l3}}, [{mine}+{at}]; {fold('%l2')} {fold('%l3')} "
                    for at in range(0, 128, 16))
    return f"{fill} bar.warp.sync -1;", f"bar.warp.sync -1; {after} bar.warp.sync -1;"


def as_misread(text):
    """The instruction, with the operand that ptxas gives it."""
    register = re.search(r"%r\d+(?=;)", text)[0]
    long = register.replace("r", "l")
    return (f"shr.u64 %x, {long}, 32; cvt.u32.u64 %r3, %x; prmt.b32 %r3, {register}, %r3, 0x5410; "
            + text.replace(f"{register};", "%r3;"))


def kernel(name, line_forms, backend):
    """One kernel: all forms of a line, one after the other, in PTX."""
    body = PROLOGUE.split("\n")
    for k, form in enumerate(line_forms):
        s = Statement(form)
        fill, after = slot_code(s)
        compared = [] if s.op.startswith("cvta.") else s.results  # An address differs between machines.
        instruction = as_misread(s.text) if backend == "cpu" and MISREAD.match(s.op) else s.text
        body += ["mov.u64 %sum, 1;", fill, instruction, *map(fold, compared), after,
                 f"st.u64 [%out+{256 * k}], %sum;"]
    text = "\n".join(f'"{line}\\n"' for line in body if line).replace("KERNEL", name)
    text = text.replace("%", "%%").replace("$", "%")
    return (f'extern "C" __global__ void {name}(const uint64_t* in, uint64_t* out, Parameter parameter, '
            f'unsigned char* scratch) {{\n  if (in == nullptr) out[0] = some_constants[0] + parameter.words[0];\n'
            f'  asm volatile("{{"\n{text}"}}" :: "l"(in), "l"(out), "l"(scratch) : "memory");\n}}\n')


def source(lines, backend):
    """The program: a kernel for each line, and what prints their results."""
    kernels, calls = [], []
    for n, (line, line_forms) in enumerate(lines):
        kernels.append(kernel(f"line{n}", line_forms, backend))
        names = ", ".join(f'"{form}"' for form in line_forms)
        calls.append(f"  run(line{n}, {{{names}}});\n")
    values = ", ".join(f"0x{value:x}ull" for value in operands())
    return ("// Made by tests/forms.py.\n#include \"tests/forms.h\"\n\n"
            f"const std::vector<uint64_t> values = {{{values}}};\n\n"
            f"{''.join(kernels)}\nint main() {{\n{''.join(calls)}}}\n")


def operands():
    """Edge and random values of every format: 12 operands of 32 lanes."""
    chance = random.Random(2026)
    edges = [0, 1, 2, 31, 32, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    for single in (0x3F800000, 0xBF800000, 0x40490FDB, 0x00000001, 0x7F7FFFFF, 0x7F800000, 0xC2C80000):
        edges += [single << 32 | single, 0x3FF8000000000000 | single]
    edges += [0x3C003C00_3C003C00, 0xBC004900_7BFF0001, 0x3F803F80_3F803F80, 0x4049C2C8_7F7F0001, 0x4024000000000000]
    return [chance.choice(edges) if chance.random() < 0.6 else chance.getrandbits(64) for _ in range(12 * LANES)]


# ---- Running ----------------------------------------------------------------


def answers(backend, accepted):
    """form -> hash, of this machine."""
    lines = [line for group in accepted.groups.values() for line in group]
    wanted = [(line, [f for f in chosen(accepted.all[line]) if not elsewhere(f)]) for line in lines]
    built.write(ROOT / "build/forms/forms.cu", source([pair for pair in wanted if pair[1]], backend))
    target = f"build/{backend}/build/forms/forms.program"
    toolchain.made(ROOT, backend, target)
    done = subprocess.run([ROOT / target], capture_output=True, text=True, timeout=SECONDS,
                          env={"SIMT_CHECKS": "off", "SIMT_COUNTERS": "off"})
    if done.returncode:
        raise pages.Problem(f"{target} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return dict(row.split("\t") for row in done.stdout.splitlines())


def arithmetic():
    """The instructions that tests/simt/arithmetic/*.cu has rows for."""
    files = (ROOT / "tests" / "simt" / "arithmetic").glob("*.h200.txt")
    return {row.split()[0] for file in files for row in file.read_text().splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    accepted = forms.accepted(ROOT)
    if options.record:
        found = answers("gpu", accepted)
        options.record.write_text("".join(f"{form}\t{found[form]}\n" for form in sorted(found)))
        print(f"{len(found)} forms recorded")
        return 0
    tally, rows, missing = pages.Tally(), arithmetic(), 0
    recorded = dict(row.split("\t") for row in RECORDED.read_text().splitlines())
    found = answers("cpu", accepted)
    for form, answer in found.items():
        if form in recorded:
            same = recorded.pop(form) == answer
            tally.ok() if same else tally.fail(f"{form}: not what the H200 answered")
        elif form.split(" ")[0] in rows:
            tally.ok()
        else:
            missing += 1
            tally.fail(f"{form}: no GPU's answer is recorded")
    for form in recorded:
        tally.fail(f"{form}: recorded on the H200, not accepted here")
    if missing:
        print(f"{missing} of {len(found)} forms have no recorded answer; on a GPU, tests/simt/record.sh records them")
    for form in itertools.chain.from_iterable(accepted.all.values()):
        file = elsewhere(form)
        if file and not (ROOT / "tests" / "simt" / file).is_file():
            tally.fail(f"{form}: there is no tests/simt/{file}")
    return tally.close("form")


if __name__ == "__main__":
    pages.script("forms", main)
