"""The PTX instructions that random programs are made of.

A line of palette.txt gives the types of the result and of the operands, then the instruction.
{a,b} stands for either, [a b] T for each of them in turn. An instruction with
%0 in it is written out; # is any byte. What is not bit-equal everywhere is not
here: approximate functions, and sums and products without a rounding, which
ptxas may fuse.
"""

import dataclasses
import pathlib
import re

# Type -> (C++ word that holds it, letter of its operand in inline assembly).
WORDS = {
    **dict.fromkeys(("s16", "u16", "b16", "f16", "bf16"), ("u16", "h")),
    **dict.fromkeys(("s8", "u8", "s32", "u32", "b32", "f32", "f16x2", "bf16x2"), ("u32", "r")),
    **dict.fromkeys(("s64", "u64", "b64", "f64"), ("u64", "l")),
}
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")

# Operands of special kinds: their type, and what they are for.
KINDS = {
    "n": "u32",  # How far to shift, how many bits.
    "pack": "u32",  # Numbers side by side.
    "lane": "u32",  # 0 to 31.
    "few": "s32",  # -33 to 33.
    **{f"{t}!0": t for t in ("s16", "u16", "s32", "u32", "s64", "u64")},  # A divisor.
}


@dataclasses.dataclass(frozen=True)
class Form:
    result: str  # A type, or pred.
    operands: tuple  # Types and kinds.
    text: str  # With %0, %1, ... in place of what is read and written.


def alternatives(text):
    """Each way to read {a,b}. Braces with a blank between them are assembly's."""
    found = re.search(r"\{([^{} ]*,[^{} ]*)\}", text)
    if not found:
        return [text]
    return [way for choice in found[1].split(",")
            for way in alternatives(text[:found.start()] + choice + text[found.end():])]


def written_out(instruction, result, operands):
    """As a template of inline assembly."""
    if "%0" in instruction:
        return instruction
    places = ", ".join(f"%{k}" for k in range(1, len(operands) + 1))
    if result == "pred":
        return f"{{.reg .pred p; {instruction} p, {places}; selp.u32 %0, 1, 0, p;}}"
    return f"{instruction} %0, {places};"


def parse(table):
    """[[Form]]: a list for each line, so that many modifiers are no more likely."""
    lines = []
    for line in table.strip().splitlines():
        each = re.match(r"\[(.+?)\] ", line)
        for one in each[1].split() if each else [""]:
            text = re.sub(r"\bT\b", one, line[each.end():]) if each else line
            types, _, pattern = text.partition(": ")
            result, *operands = types.split()
            lines.append([Form(result, tuple(operands), written_out(way, result, operands))
                          for way in alternatives(pattern)])
    return lines


_, *_PARTS = re.split(r"^== (.*)\n", pathlib.Path(__file__).with_suffix(".txt").read_text(), flags=re.M)
FAMILIES = {name: parse(table) for name, table in zip(_PARTS[::2], _PARTS[1::2])}


def every():
    return [form for family in FAMILIES.values() for line in family for form in line]
