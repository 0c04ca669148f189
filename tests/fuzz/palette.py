"""The PTX instructions that random programs are made of.

A line gives the types of the result and of the operands, then the instruction.
{a,b} stands for either, [a b] T for each of them in turn. An instruction with
%0 in it is written out; # is any byte. What is not bit-equal everywhere is not
here: approximate functions, and sums and products without a rounding, which
ptxas may fuse.
"""

import dataclasses
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

INTEGERS = """
[s16 u16 s32 u32 s64 u64] T T T: {add,sub,mul.lo,mul.hi,min,max}.T
[s16 u16 s32 u32 s64 u64] T T T T: {mad.lo,mad.hi,sad}.T
[s16 u16 s32 u32 s64 u64] T T T!0: {div,rem}.T
[s16 s32 s64] T T: {abs,neg}.T
s32 s32 s32: {add.sat,sub.sat,min.relu,max.relu}.s32
s32 s32 s32 s32: {mad,mad24}.hi.sat.s32
s32 s16 s16: mul.wide.s16
u32 u16 u16: mul.wide.u16
s64 s32 s32: mul.wide.s32
u64 u32 u32: mul.wide.u32
s32 s16 s16 s32: mad.wide.s16
u32 u16 u16 u32: mad.wide.u16
s64 s32 s32 s64: mad.wide.s32
u64 u32 u32 u64: mad.wide.u32
[s32 u32] T T T: mul24.{lo,hi}.T
[s32 u32] T T T T: mad24.{lo,hi}.T
b32 pack pack: {add.u16x2,add.s16x2,min.u16x2,max.u16x2,min.s16x2,max.s16x2,min.relu.s16x2,max.relu.s16x2}
b32 b32 b32 b32: dp4a.{s32,u32}.{s32,u32}
b32 b32 b32 b32: dp2a.{lo,hi}.{s32,u32}.{s32,u32}
b32 pack pack pack: {vabsdiff2,vabsdiff4}.u32.u32.u32{,.add}
b64 b64 b64: {.reg .u32 a, b, c, d; mov.b64 {a, b}, %1; mov.b64 {c, d}, %2; add.cc.u32 a, a, c; addc.u32 b, b, d; mov.b64 %0, {a, b};}
b64 b64 b64: {.reg .u32 a, b, c, d; mov.b64 {a, b}, %1; mov.b64 {c, d}, %2; sub.cc.u32 a, a, c; subc.u32 b, b, d; mov.b64 %0, {a, b};}
b32 b32 b32 b32: {.reg .u32 t; add.cc.u32 t, %1, %2; addc.cc.u32 t, %2, %3; addc.u32 %0, t, 0;}
b32 b32 b32 b32: {.reg .u32 t; sub.cc.u32 t, %1, %2; subc.cc.u32 t, %2, %3; subc.u32 %0, t, 0;}
b32 b32 b32 b32: {.reg .u32 t; mad.{lo,hi}.cc.u32 t, %1, %2, %3; madc.{lo,hi}.cc.u32 %0, %1, %2, t; addc.u32 %0, %0, 0;}
b32 b32 b32 b32: {.reg .u32 t; mad.hi.cc.s32 t, %1, %2, %3; madc.hi.s32 %0, %1, %2, t;}
b64 b64 b64 b64: {.reg .u64 t; add.cc.u64 t, %1, %2; addc.cc.u64 t, %3, t; addc.u64 %0, t, 0;}
b64 b64 b64 b64: {.reg .u64 t; sub.cc.u64 t, %1, %2; subc.cc.u64 t, %3, t; subc.u64 %0, t, 0;}
b64 b64 b64 b64: {.reg .u64 t; mad.lo.cc.u64 t, %1, %2, %3; madc.hi.u64 %0, %1, %2, t;}
"""

BITS = """
[b32 b64] u32 T: {popc,clz}.T
[b32 b64] T T: brev.T
[s32 u32 s64 u64] u32 T: bfind{,.shiftamt}.T
[s32 u32 s64 u64] T T n n: bfe.T
[b32 b64] T T T n n: bfi.T
b32 b32 b32 b32: prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}
b32 n n: bmsk.{clamp,wrap}.b32
[s32 u32] T T n: szext.{clamp,wrap}.T
b32 b32 lane few: fns.b32
[b16 b32 b64] T T: {not,cnot}.T
[b16 b32 b64] T T T: {and,or,xor}.T
[b16 b32 b64] T T n: shl.T
[s16 u16 s32 u32 s64 u64] T T n: shr.T
b32 b32 b32 n: shf.{l,r}.{clamp,wrap}.b32
b32 b32 b32 b32: lop3.b32 %0, %1, %2, %3, #;
b32 b32 b32 b32 b32: {.reg .pred p, q; setp.ne.u32 q, %4, 0; lop3.{and,or}.b32 %0|p, %1, %2, %3, #, {,!}q; @p xor.b32 %0, %0, #;}
b32 b16 b16: mov.b32 %0, {%1, %2};
b64 b16 b16 b16 b16: mov.b64 %0, {%1, %2, %3, %4};
b64 b32 b32: mov.b64 %0, {%1, %2};
b16 b32: mov.b32 {%0, _}, %1;
b16 b32: mov.b32 {_, %0}, %1;
b32 b64: mov.b64 {%0, _}, %1;
b32 b64: mov.b64 {_, %0}, %1;
b16 b64: {.reg .b16 a, b, c; mov.b64 {a, b, c, %0}, %1; add.u16 %0, %0, b;}
b32 s32 s32: cvt.pack.sat.{s16,u16}.s32
b32 s32 s32 b32: cvt.pack.sat.{s8,u8}.s32.b32
"""

SELECTIONS = """
[s16 u16 s32 u32 s64 u64] pred T T: setp.{eq,ne,lt,le,gt,ge}.T
[u16 u32 u64] pred T T: setp.{lo,ls,hi,hs}.T
[b16 b32 b64] pred T T: setp.{eq,ne}.T
[s32 u32 s64 u16] u32 T T u32: {.reg .pred p, q, c; setp.ne.u32 c, %3, 0; setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.T p|q, %1, %2, {,!}c; selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4;}
[f16 bf16] u32 T T u32: {.reg .pred p, c; setp.ne.u32 c, %3, 0; setp.{lt,geu,nan,equ}.{and,or,xor}.T p, %1, %2, {,!}c; selp.u32 %0, 1, 2, p;}
[f32 f64] u32 T T u32: {.reg .pred p, q, c; setp.ne.u32 c, %3, 0; setp.{lt,geu,nan,equ}.{and,or,xor}.T p|q, %1, %2, {,!}c; selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4;}
[f16x2 bf16x2] u32 T T: {.reg .pred p, q; setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.T p|q, %1, %2; selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4;}
[f32 f16] pred T T: setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.T
[f64 bf16] pred T T: setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.T
[s32 u32 s64 u64 s16 u16] u32 T T: set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.T
[f32 f64] u32 T T: set.{eq,ne,lt,ge,ltu,geu,num,nan}.{u32,s32,f32}.T
u32 f32 f32: set.{lt,ltu}.ftz.u32.f32
u32 s32 s32 u32: {.reg .pred c; setp.ne.u32 c, %3, 0; set.{lt,ge}.{and,or,xor}.u32.s32 %0, %1, %2, {,!}c;}
[f16 bf16] T T T: set.{eq,lt,geu,nan}.T.T
[f16x2 bf16x2] T T T: set.{eq,lt,geu,nan}.T.T
[b16 b32 b64] T T T u32: {.reg .pred p; setp.ne.u32 p, %3, 0; selp.T %0, %1, %2, {,!}p;}
[b16 b32 b64] T T T s32: slct.T.s32
[b16 b32 b64] T T T f32: slct{,.ftz}.T.f32
[f32 f64] pred T: testp.{finite,infinite,number,notanumber,normal,subnormal}.T
u32 u32 u32 u32: {.reg .pred p, q, s; setp.gt.u32 p, %1, %2; setp.lt.u32 q, %2, %3; {and,or,xor}.pred s, p, {,!}q; not.pred p, s; selp.u32 %0, %1, %3, p;}
"""

SINGLES = """
f32 f32 f32: {add,sub,mul}{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32
f32 f32 f32 f32: {fma,mad}{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32
f32 f32 f32: div{.rn,.rz,.rm,.rp}{,.ftz}.f32
f32 f32: {sqrt,rcp}{.rn,.rz,.rm,.rp}{,.ftz}.f32
f32 f32: {abs,neg}{,.ftz}.f32
[f32 f64] T T T: copysign.T
f32 f32 f32: {min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32
"""

DOUBLES = """
f64 f64 f64: {add,sub,mul}{.rn,.rz,.rm,.rp}.f64
f64 f64 f64 f64: {fma,mad}{.rn,.rz,.rm,.rp}.f64
f64 f64 f64: div{.rn,.rz,.rm,.rp}.f64
f64 f64: {sqrt,rcp}{.rn,.rz,.rm,.rp}.f64
f64 f64: {abs,neg}.f64
f64 f64 f64: {min,max}.f64
"""

HALVES = """
[f16 f16x2] T T T: {add,sub,mul}.rn{,.ftz}{,.sat}.T
[f16 f16x2] T T T T: fma.rn{,.ftz}{,.sat,.relu}.T
[bf16 bf16x2] T T T: {add,sub,mul}.rn.T
[bf16 bf16x2] T T T T: fma.rn{,.relu}.T
[f16 f16x2] T T: {abs,neg}{,.ftz}.T
[bf16 bf16x2] T T: {abs,neg}.T
[f16 f16x2] T T T: {min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.T
[bf16 bf16x2] T T T: {min,max}{,.NaN}{,.xorsign.abs}.T
"""

CONVERSIONS = """
[s8 u8] T s16: cvt{,.sat}.T.s16
[s8 u8] T u16: cvt{,.sat}.T.u16
[s8 u8 s16 u16 u32 u64] T s32: cvt{,.sat}.T.s32
[s8 u8 s16 u16 s32] T u32: cvt{,.sat}.T.u32
[s8 u8 s16 u16 s32 u32 u64] T s64: cvt{,.sat}.T.s64
[s8 u8 s16 u16 s32 u32 s64] T u64: cvt{,.sat}.T.u64
[u16 u32 u64] T s8: cvt{,.sat}.T.s8
[u32 u64] T s16: cvt{,.sat}.T.s16
[s16 s32 s64] T s8: cvt.T.s8
[s16 u16 s32 u32 s64 u64] T u8: cvt.T.u8
[s32 s64] T s16: cvt.T.s16
[s32 u32 s64 u64] T u16: cvt.T.u16
[s64 u64] T u32: cvt.T.u32
s64 s32: cvt.s64.s32
[s8 u8 s16 u16 s32 u32 s64 u64] T f16: cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.T.f16
[s8 u8 s16 u16 s32 u32 s64 u64] T f32: cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.T.f32
[s8 u8 s16 u16 s32 u32 s64 u64] T f64: cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.T.f64
[s16 u16 s32 u32 s64 u64] T bf16: cvt{.rni,.rzi,.rmi,.rpi}.T.bf16
[s8 u8 s16 u16 s32 u32 s64 u64] f16 T: cvt{.rn,.rz,.rm,.rp}{,.sat}.f16.T
[s8 u8 s16 u16 s32 u32 s64 u64] f32 T: cvt{.rn,.rz,.rm,.rp}{,.sat}.f32.T
[s8 u8 s16 u16 s32 u32 s64 u64] f64 T: cvt{.rn,.rz,.rm,.rp}{,.sat}.f64.T
[s16 u16 s32 u32 s64 u64] bf16 T: cvt{.rn,.rz,.rm,.rp}.bf16.T
f32 f32: cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32
f64 f64: cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.f64.f64
f16 f16: cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.f16.f16
f32 f16: cvt{,.ftz}{,.sat}.f32.f16
f64 f16: cvt{,.sat}.f64.f16
f64 f32: cvt{,.ftz}{,.sat}.f64.f32
f32 f64: cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32.f64
f16 f32: cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f16.f32
f16 f64: cvt{.rn,.rz,.rm,.rp}{,.sat}.f16.f64
f16 f32: cvt{.rn,.rz}{.relu,.satfinite,.relu.satfinite}.f16.f32
bf16 f32: cvt{.rn,.rz}{,.relu}{,.satfinite}.bf16.f32
bf16 f32: cvt{.rm,.rp}.bf16.f32
bf16 f64: cvt{.rn,.rz,.rm,.rp}.bf16.f64
f32 bf16: cvt.f32.bf16
f64 bf16: cvt.f64.bf16
f16 bf16: cvt{.rn,.rz,.rm,.rp}.f16.bf16
bf16 f16: cvt{.rn,.rz,.rm,.rp}.bf16.f16
[f16x2 bf16x2] T f32 f32: cvt{.rn,.rz}{,.relu}{,.satfinite}.T.f32
f32 f32: cvt{.rn,.rz}{,.relu}.tf32.f32
f32 f32: cvt.rna.tf32.f32
"""


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


FAMILIES = {name: parse(table) for name, table in (
    ("integers", INTEGERS), ("bits", BITS), ("selections", SELECTIONS), ("singles", SINGLES),
    ("doubles", DOUBLES), ("halves", HALVES), ("conversions", CONVERSIONS))}


def every():
    return [form for family in FAMILIES.values() for line in family for form in line]
