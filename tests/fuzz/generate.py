"""Makes a CUDA kernel of random statements from a seed.

A kernel's results do not depend on the order in which threads run, and it does
nothing that CUDA leaves undefined: numbers are unsigned or within bounds, indices
are masked, loops end, shared memory is read behind a barrier, a collective names the
lanes that come. So whatever runs it must give the same bits.

Of each thousand seeds the first hundred make kernels whose memory accesses no compiler
may change: their counters can be compared, too.
"""

import dataclasses
import re

import palette

U32 = [f"r{k}" for k in range(6)]
U64 = [f"w{k}" for k in range(3)]
U16 = [f"h{k}" for k in range(3)]
RESULTS = len(U32) + 2 * len(U64) + len(U16)  # Words a thread.
OWN = 16  # Words; harness.h says the same.
INPUT = 1024
MASK64 = 2**64 - 1


class Random:
    """SplitMix64: the same numbers under every version of Python."""

    def __init__(self, seed):
        self.state = scrambled(seed)  # Far from where any other seed begins.

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        return scrambled(self.state)

    def below(self, n):
        return self.bits() % n

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def weighted(self, choices):
        """One of [(weight, choice)]."""
        at = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            at -= weight
            if at < 0:
                return choice


def scrambled(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK64
    return x ^ x >> 31


# ---- A program as a tree -----------------------------------------------------


class Part:
    """A piece of a program for which something simpler can stand."""

    def __init__(self, number, full, simple):
        self.number, self.full, self.simple = number, full, simple


def render(pieces, simplified=frozenset()):
    """The text of strings and parts, those whose numbers are given made simple."""
    if isinstance(pieces, str):
        return pieces
    if isinstance(pieces, Part):
        return render(pieces.simple if pieces.number in simplified else pieces.full, simplified)
    return "".join(render(piece, simplified) for piece in pieces)


def numbers(pieces, simplified=frozenset()):
    """Of the parts that could be made simple still, outer ones first."""
    if isinstance(pieces, str):
        return
    if isinstance(pieces, Part):
        if pieces.number in simplified:
            yield from numbers(pieces.simple, simplified)
        else:
            yield pieces.number
            yield from numbers(pieces.full, simplified)
        return
    for piece in pieces:
        yield from numbers(piece, simplified)


@dataclasses.dataclass(frozen=True)
class Program:
    seed: int
    blocks: int
    threads: int
    pieces: list
    counted: bool

    def text(self, name, simplified=frozenset()):
        return indented(render(self.pieces, simplified).replace("KERNEL", name))


def indented(text):
    lines, depth = [], 0
    for line in text.splitlines():
        depth -= line.startswith("}")
        lines.append("  " * depth + line if line else "")
        depth += line.endswith("{")
    return "\n".join(lines) + "\n"


# ---- Where a statement stands ------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Place:
    """mask: the variable that names the lanes of the warp that are here, all of which
    come to each collective; None where that is not known. uniform: every thread of
    the block is here. loop: break and continue may be used. kernel: not a function.
    returns: threads may leave for good. depth: how many statements enclose it, times:
    how often loops may repeat it."""
    mask: str | None = "m0"
    uniform: bool = True
    loop: bool = False
    kernel: bool = True
    returns: bool = False
    depth: int = 0
    times: int = 1

    def inside(self, **changes):
        return dataclasses.replace(self, depth=self.depth + 1, **changes)

    def diverged(self, **changes):
        return self.inside(mask=None, uniform=False, **changes)


class Generator:
    def __init__(self, seed):
        self.random = Random(seed)
        self.counted = is_counted(seed)
        self.threads = self.random.pick((33, 64, 95, 96, 128, 160, 191, 256))
        self.blocks = 1 + self.random.below(3)
        self.warps = (self.threads + 31) // 32
        self.interleaved = self.random.chance(50)  # How own memory lies.
        self.made = 0  # Names and numbers so far.
        self.budget = 0  # Statements that may still come.
        self.functions = []  # (name, wants a mask, definition)

    # ---- Small things

    def new(self):
        self.made += 1
        return self.made

    def part(self, full, simple=""):
        return Part(self.new(), full, simple)

    def statement(self, *pieces, simple=""):
        return self.part(list(pieces), simple)

    def access(self, place):
        """What is read or written there, in a way that can be counted."""
        return f"always({place})" if self.counted else place

    def constant(self):
        r = self.random
        return r.weighted([
            (4, lambda: r.below(40)), (2, lambda: 1 << r.below(32)),
            (1, lambda: (1 << 1 + r.below(31)) - 1), (1, lambda: 2**32 - 1 - r.below(40)),
            (3, lambda: r.bits() >> 32)])()

    # ---- C++ expressions

    def u32(self, depth=2):
        r = self.random
        if depth == 0 or r.chance(25):
            return r.weighted([
                (10, lambda: r.pick(U32)), (2, lambda: "lane"), (2, lambda: f"{self.constant()}u"),
                (2, lambda: f"u32({r.pick(U64)} >> {r.below(33)})"), (2, lambda: f"u32({r.pick(U16)})")])()
        a, b = self.u32(depth - 1), self.u32(depth - 1)
        return r.weighted([
            (8, lambda: f"({a} {r.pick('+-*&|^')} {b})"),
            (2, lambda: f"({a} {r.pick(('<<', '>>'))} ({b} & 31))"),
            (1, lambda: f"u32(s32({a}) >> ({b} & 31))"),
            (1, lambda: f"({a} {r.pick('/%')} ({b} | 1))"),
            (1, lambda: f"u32(s32({a}) {r.pick('/%')} s32(({b} & 0xffff) | 1))"),
            (1, lambda: f"({r.pick('~-')}({a}))"),
            (1, lambda: f"u32({r.pick(('s8', 'u8', 's16', 'u16'))}({a}))"),
            (1, lambda: f"({self.condition(depth - 1)} ? {a} : {b})"),
            (1, lambda: f"u32({self.condition(depth - 1)})"),
            (1, lambda: f"min({a}, {b})"),
            (1, lambda: f"u32(max(s32({a}), s32({b})))"),
            (1, lambda: f"__popc({a})"),
            (1, lambda: f"__umulhi({a}, {b})"),
            (1, lambda: f"__funnelshift_l({a}, {b}, {self.u32(0)})"),
            (2, lambda: self.single(a, b)),
        ])()

    def single(self, a, b):
        r = self.random
        a, b = (f"__uint_as_float({x})" if r.chance(30) else f"__uint_as_float(near_f32({x}))" for x in (a, b))
        rounding = r.pick(("rn", "rz", "ru", "rd"))
        result = r.pick((f"__fadd_{rounding}({a}, {b})", f"__fmul_{rounding}({a}, {b})",
                         f"__fdiv_{rounding}({a}, {b})", f"__fmaf_{rounding}({a}, {b}, {a})",
                         f"__fsqrt_{rounding}({a})", f"{a} / {b}", f"fminf({a}, {b})"))
        return f"one_nan_f32(__float_as_uint({result}))"

    def u64(self, depth=2):
        r = self.random
        if depth == 0 or r.chance(25):
            return r.weighted([
                (8, lambda: r.pick(U64)), (2, lambda: f"u64({self.u32(0)})"),
                (1, lambda: f"{r.bits() >> r.below(64)}ull")])()
        a, b = self.u64(depth - 1), self.u64(depth - 1)
        return r.weighted([
            (8, lambda: f"({a} {r.pick('+-*&|^')} {b})"),
            (2, lambda: f"({a} {r.pick(('<<', '>>'))} ({self.u32(0)} & 63))"),
            (1, lambda: f"u64(s64({a}) >> ({self.u32(0)} & 63))"),
            (1, lambda: f"({a} {r.pick('/%')} ({b} | 1))"),
            (1, lambda: f"u64(s64({a}) {r.pick('/%')} s64(({b} & 0xffffff) | 1))"),
            (1, lambda: f"u64(s64(s32({self.u32(1)})))"),
            (1, lambda: f"({self.condition(depth - 1)} ? {a} : {b})"),
            (1, lambda: f"__umul64hi({a}, {b})"),
        ])()

    def u16(self):
        r = self.random
        return r.weighted([(6, lambda: r.pick(U16)), (3, lambda: f"u16({self.u32(1)})"),
                           (1, lambda: f"u16({self.constant()}u)")])()

    def value(self, word, depth=1):
        return {"u32": self.u32, "u64": self.u64, "u16": lambda _: self.u16()}[word](depth)

    def variable(self, word):
        return self.random.pick({"u32": U32, "u64": U64, "u16": U16}[word])

    def condition(self, depth=1):
        r = self.random
        a, b = self.u32(depth), self.u32(max(0, depth - 1))
        compare = r.pick(("<", "<=", "==", "!=", ">", ">="))
        return r.weighted([
            (4, lambda: f"({a} {compare} {b})"),
            (3, lambda: f"(s32({a}) {r.pick('<>')} s32({b}))"),
            (3, lambda: f"({a} >> {r.below(32)} & 1)"),
            (2, lambda: f"(({a} & 7) {compare} {r.below(8)})"),
            (2, lambda: f"(lane {compare} {r.below(32)})"),
            (2, lambda: f"({r.bits() >> 32}u >> lane & 1)"),
            (1, lambda: f"({r.pick(U64)} {compare} {r.pick(U64)})"),
            (1, lambda: f"(__uint_as_float({a}) {compare} __uint_as_float({b}))"),
            (1, lambda: f"(({a} & 3) {compare} 1 {r.pick(('&&', '||'))} {b} {compare} {r.pick(U32)})"),
        ])()

    def simple_condition(self):
        return self.part(self.condition(), "true")

    def uniform_value(self):
        r = self.random
        return r.pick(("u0", "u1", "blockIdx.x", f"{r.below(9)}u", "(u0 + u1)", "(u0 ^ blockIdx.x)"))

    def count(self, most):
        """How often a loop runs: for every thread another number, or not."""
        r = self.random
        expression = r.pick((f"{1 + r.below(most)}u", f"(lane & {most - 1})", f"{self.u32(1)} % {most + 1}"))
        return self.part(expression, "1u")

    # ---- Statements everywhere

    def assign(self, place):
        word = self.random.weighted([(6, "u32"), (3, "u64"), (1, "u16")])
        return self.statement(f"{self.variable(word)} = {self.value(word, 3)};\n")

    def ptx(self, place):
        return self.statement(*(self.instruction() for _ in range(1 + self.random.below(4))))

    def instruction(self):
        r = self.random
        family = r.weighted([(4, "integers"), (3, "bits"), (3, "selections"), (3, "singles"),
                             (2, "doubles"), (3, "halves"), (4, "conversions")])
        form = r.pick(r.pick(palette.FAMILIES[family]))
        word, letter = word_of(form.result)
        text = form.text.replace("#", str(r.below(256)))
        several = text.startswith("{.reg")
        inputs, literals = [], {}
        immediate = r.below(2 * len(form.operands)) if family in ("integers", "bits", "singles", "doubles") else -1
        for k, kind in enumerate(form.operands):
            literal = self.literal(kind) if k == immediate and not several else None
            if literal is None:
                inputs.append(self.operand(kind))
                literals[k + 1] = f"%{len(inputs)}"
            else:
                literals[k + 1] = literal
        text = re.sub(r"%([1-9])", lambda found: literals[int(found[1])], text)
        target = self.variable(word)
        output = f'"={"&" if several else ""}{letter}"(x)'
        before = ""
        if not several and r.chance(10):
            inputs.append(f'"r"({self.u32(1)} & 1)')
            text = f"{{.reg .pred g; setp.ne.u32 g, %{len(inputs)}, 0; @{r.pick(('', '!'))}g {text}}}"
            output, before = f'"+{letter}"(x)', f" = {target}"
        result = f"one_nan_{form.result}(x)" if form.result in palette.FLOATS else "x"
        # Not always in place of what was there: a wrong bit shall come to light.
        return self.statement(
            f"{{\n{word} x{before};\nasm(\"{text}\" : {output} : {', '.join(inputs)});\n"
            f"{target} {r.pick(('=', '^=', '+='))} {result};\n}}\n")

    def operand(self, kind):
        r = self.random
        type_ = palette.KINDS.get(kind, kind)
        word, letter = word_of(type_)
        value = self.value(word, r.below(2))
        if kind == "n":
            value = r.pick((value, f"({value} & 31)", f"({value} & 63)", f"({value} % 34)"))
        elif kind == "lane":
            value = f"({value} & 31)"
        elif kind == "few":
            value = f"({value} % 67 - 33)"
        elif kind.endswith("!0"):
            value = f"{word}(divisor({type_}({value})))"
        elif type_ in palette.FLOATS and r.chance(60):
            value = f"near_{type_}({value})"
        return f'"{letter}"({value})'

    def literal(self, kind):
        """A number in the instruction itself, or None where none may be."""
        r = self.random
        if kind in ("n", "lane"):
            return str(r.below(32 if kind == "lane" else 70))
        if kind == "f32":
            return f"0f{r.pick((0x3F800000, 0xBF000000, 0x00000001, 0x7F7FFFFF, 0x40490FDB, 0x7F800000)):08X}"
        if kind == "f64":
            return f"0d{r.pick((0x3FF0000000000000, 0xC008000000000000, 1, 0x7FEFFFFFFFFFFFFF)):016X}"
        found = re.fullmatch(r"([sub])(16|32|64)(!0)?", kind)
        if not found:
            return None
        bits = int(found[2])
        value = r.pick((1, 2, 3, 7, 10, 255, 2**(bits - 1) - 1))
        if found[1] == "s" and r.chance(40):
            return str(-value - bool(found[3]))
        return str(value)

    def if_(self, place):
        body = place.diverged()
        if place.mask and self.random.chance(65):
            return self.tracked_if(place)
        otherwise = ["} else {\n", self.block(body)] if self.random.chance(50) else []
        return self.statement("if (", self.simple_condition(), ") {\n", self.block(body), *otherwise, "}\n")

    def tracked_if(self, place):
        c, yes, no = f"c{self.new()}", f"m{self.new()}", f"m{self.new()}"
        body = place.inside(uniform=False, loop=False, returns=False)
        otherwise = ["} else {\n", f"const u32 {no} = {place.mask} & ~{yes};\n",
                     self.block(dataclasses.replace(body, mask=no))] if self.random.chance(50) else []
        return self.statement(
            "{\n", f"const bool {c} = ", self.simple_condition(), ";\n",
            f"const u32 {yes} = __ballot_sync({place.mask}, {c});\n", f"if ({c}) {{\n",
            self.block(dataclasses.replace(body, mask=yes)), *otherwise, "}\n}\n")

    def loop(self, place):
        r = self.random
        if place.mask and r.chance(40):
            return self.tracked_loop(place)
        i, most = f"i{self.new()}", r.pick((2, 4))
        body = place.diverged(loop=not self.counted, times=place.times * most)
        head, tail = r.pick((
            ([f"for (u32 {i} = 0, n = ", self.count(most), f"; {i} < n; ++{i}) {{\n"], ["}\n"]),
            ([f"u32 {i} = ", self.count(most), f";\nwhile ({i}--) {{\n"], ["}\n"]),
            ([f"u32 {i} = ", self.count(most), ";\ndo {\n"], [f"}} while ({i} && {i}-- && {self.condition(0)});\n"]),
            ([f"#pragma unroll\nfor (u32 {i} = 0; {i} < {most}; ++{i}) {{\n"], ["}\n"]),
        ))
        return self.statement("{\n", *head, self.block(body), *tail, "}\n")

    def tracked_loop(self, place):
        """Lanes leave it one by one, and those that stay know of one another."""
        r = self.random
        i, stay, mask = f"i{self.new()}", f"m{self.new()}", f"m{self.new()}"
        body = place.inside(uniform=False, mask=mask, loop=False, returns=False, times=place.times * 4)
        inner = [self.block(body)]
        here = mask
        if r.chance(40):
            c, gone, here = f"c{self.new()}", f"m{self.new()}", f"m{self.new()}"
            inner += [f"const bool {c} = ", self.part(self.condition(), "false"), ";\n",
                      f"const u32 {gone} = __ballot_sync({mask}, {c}), {here} = {mask} & ~{gone};\n",
                      f"if ({c}) break;\n{stay} &= ~{gone};\n"]
            inner.append(self.block(dataclasses.replace(body, mask=here)))
        if r.chance(30):
            c, rest = f"c{self.new()}", f"m{self.new()}"
            inner += [f"const bool {c} = ", self.part(self.condition(), "false"), ";\n",
                      f"const u32 {rest} = {here} & ~__ballot_sync({here}, {c});\nif ({c}) continue;\n"]
            inner.append(self.block(dataclasses.replace(body, mask=rest)))
        return self.statement(
            "{\n", f"u32 {stay} = {place.mask}, {i} = ", self.count(4), ";\nwhile (true) {\n",
            f"const u32 {mask} = __ballot_sync({stay}, {i} != 0);\nif ({i}-- == 0) break;\n{stay} = {mask};\n",
            *inner, "}\n}\n")

    def switch(self, place):
        r = self.random
        ways = 2 + r.below(4)
        pieces = [f"switch ({self.u32(1)} % {ways + 1}) {{\n"]
        for k in range(ways):
            # A break in there would be the switch's.
            pieces += [f"case {k}: {{\n", self.block(place.diverged()), "}\n",
                       "break;\n" if r.chance(75) else ""]
        pieces += ["default: {\n", self.block(place.diverged()), "}\n"] if r.chance(50) else ["default:;\n"]
        return self.statement(*pieces, "}\n")

    def jumps(self, place):
        """Blocks that jump to one another at will, until the fuel is used up."""
        r = self.random
        name, blocks = f"L{self.new()}", 2 + r.below(4)
        fuel = f"fuel{self.new()}"
        body = place.diverged(times=place.times * 3)
        pieces = ["{\n", f"u32 {fuel} = ", self.part(f"{3 + r.below(6)}", "1"), ";\n"]
        for k in range(blocks):
            to = [f"{name}_{r.below(blocks)}" for _ in range(2)]
            if k + 1 == blocks or r.chance(20):
                to[0] = f"{name}_end"
            pieces += [f"{name}_{k}:\nif ({fuel}-- == 0) goto {name}_end;\n{{\n", self.block(body), "}\n",
                       f"if ({self.condition()}) goto {to[0]};\n", f"goto {to[1]};\n" if r.chance(60) else ""]
        return self.statement(*pieces, f"{name}_end:;\n}}\n")

    def leave(self, place):
        """Out of a loop, or for good."""
        ways = ["break;", "continue;"] if place.loop else []
        if place.returns:
            ways.append(f"{self.access('out[g]')} = {self.u32(1)};\nreturn;" if place.kernel
                        else f"return parcel({self.u32(1)}, {self.u16()}, {self.u64(1)});")
        return self.statement("if (", self.part(self.condition(), "false"), ") {\n",
                              self.random.pick(ways), "\n}\n")

    def local(self, place):
        r = self.random
        index = lambda: f"{self.u32(1)} & 7"  # noqa: E731
        return self.statement(r.pick((
            f"local[{index()}] = {self.u32(1)};\n",
            f"{r.pick(U32)} = local[{index()}];\n",
            f"local[{index()}] += local[{index()}] ^ {self.u32(1)};\n",
            f"bytes[{index()}] = {self.u32(1)};\n{r.pick(U32)} += bytes[{index()}];\n",
            f"{r.pick(U32)} ^= kTable[{self.u32(1)} & 31];\n",
        )))

    def call(self, place):
        r = self.random
        plain = [name for name, wants_mask, _ in self.functions if not wants_mask]
        masked = [name for name, wants_mask, _ in self.functions if wants_mask] if place.mask else []
        if not plain and not masked:
            return self.assign(place)
        p, parcel = f"p{self.new()}", f"parcel({self.u32(1)}, {self.u16()}, {self.u64(1)})"
        if masked and r.chance(50):
            call = f"{r.pick(masked)}({parcel}, {place.mask})"
        elif len(plain) > 1 and r.chance(40):
            call = (f"({self.simple_choice(plain)})({parcel}, {self.u32(1)} % 3)")
        elif plain:
            call = f"{r.pick(plain)}({parcel}, {self.u32(1)} % 4)"
        else:
            return self.assign(place)
        return self.statement(f"{{\nconst Parcel {p} = {call};\n{r.pick(U32)} = {p}.a;\n"
                              f"{r.pick(U16)} = {p}.b;\n{r.pick(U64)} ^= {p}.c;\n}}\n")

    def simple_choice(self, functions):
        """A function chosen when the program runs."""
        return f"{self.condition()} ? {functions[0]} : {functions[1]}"

    # ---- Statements of a kernel

    def load(self, place):
        r = self.random
        at = f"{self.u32(1)} & {INPUT - 1}"
        if r.chance(40):
            return self.statement(f"{r.pick(U32)} = {self.access(f'in[{at}]')};\n")
        mode = ".volatile.global" if self.counted else r.pick((".global", ".global.nc", ".global.ca", ".global.cg", ""))
        type_ = r.pick(("u8", "s8", "u16", "s16", "u32", "s32", "u64", "b16", "f32", "f64",
                        "v2.u32", "v4.u32", "v2.u64", "v2.u16", "v4.u8", "v4.u16", "v2.u8"))
        return self.statement(self.typed_load(mode, type_, "in", 4 * INPUT))

    def typed_load(self, mode, type_, base, bytes_):
        """Any type from any fitting address within so many bytes."""
        r = self.random
        count, type_of_one, size = vector(type_)
        word, letter = word_of(type_of_one)
        address = f"reinterpret_cast<const char*>({base}) + ({self.u32(1)} & {bytes_ - size * count})"
        if count == 1:
            return (f"{{\n{word} x;\nasm volatile(\"ld{mode}.{type_} %0, [%1];\" : \"={letter}\"(x) : "
                    f"\"l\"({address}) : \"memory\");\n{self.variable(word)} ^= x;\n}}\n")
        outputs = ", ".join(f'"={letter}"(x{k})' for k in range(count))
        names = ", ".join(f"x{k}" for k in range(count))
        into = ", ".join(f"%{k}" for k in range(count))
        total = " + ".join(f"x{k} * {2 * r.below(50) + 1}u" for k in range(count))
        return (f"{{\n{word} {names};\nasm volatile(\"ld{mode}.{type_} {{{into}}}, [%{count}];\" : {outputs} : "
                f"\"l\"({address}) : \"memory\");\n{self.variable(word)} ^= {word}({total});\n}}\n")

    def typed_store(self, mode, type_, base, bytes_):
        count, type_of_one, size = vector(type_)
        word, letter = word_of(type_of_one)
        address = f"reinterpret_cast<char*>({base}) + ({self.u32(1)} & {bytes_ - size * count})"
        values = ", ".join(f'"{letter}"({self.value(word, 1)})' for _ in range(count))
        text = "%1" if count == 1 else "{" + ", ".join(f"%{k + 1}" for k in range(count)) + "}"
        return (f"asm volatile(\"st{mode}.{type_} [%0], {text};\" : : \"l\"({address}), {values} : "
                f"\"memory\");\n")

    def own(self, index):
        return (f"own[({index} & {OWN - 1}) * {self.threads * self.blocks} + g]" if self.interleaved
                else f"own[g * {OWN} + ({index} & {OWN - 1})]")

    def memory(self, place):
        """A thread's own words, of which nobody else knows."""
        r = self.random
        a, b = (self.access(self.own(self.u32(1))) for _ in range(2))
        if self.interleaved or r.chance(30):
            return self.statement(r.pick((f"{a} = {self.u32()};\n", f"{r.pick(U32)} ^= {a};\n",
                                          f"{a} = {b} + {self.u32(1)};\n")))
        mode = ".volatile.global" if self.counted else r.pick((".global", ""))
        types = ("u8", "u16", "u32", "u64", "b16", "f32", "f64", "v2.u32", "v4.u32", "v2.u64",
                 "v2.u16", "v4.u8", "v4.u16")
        mine = f"(own + g * {OWN})"
        return self.statement(
            self.typed_store(mode, r.pick(types), mine, 4 * OWN) if r.chance(60) else
            self.typed_load(mode, r.pick(types), mine, 4 * OWN))

    def generic(self, place):
        """A pointer that may lead to different kinds of memory."""
        r = self.random
        p = f"p{self.new()}"
        # In assembly: nvcc 13.0 drops the store as one to an array that nobody reads.
        return self.statement(
            f"{{\nu32* const {p} = {self.condition()} ? &{self.own(self.u32(1))} : &local[{self.u32(1)} & 7];\nu32 x;\n"
            f"asm volatile(\"ld.u32 %0, [%1];\" : \"=r\"(x) : \"l\"({p}) : \"memory\");\n{r.pick(U32)} ^= x;\n"
            f"asm volatile(\"st.u32 [%0], %1;\" : : \"l\"({p}), \"r\"({self.u32(1)}) : \"memory\");\n}}\n")

    CELLS = (("Add", "u32", 0), ("Add", "u32", 1), ("Min", "u32", 4), ("Max", "u32", 6), ("Min", "s32", 8),
             ("Max", "s32", 10), ("And", "u32", 12), ("Or", "u32", 14), ("Xor", "u32", 16), ("Sub", "u32", 2),
             ("Add", "u64", 32), ("Min", "u64", 36), ("Max", "u64", 38), ("And", "u64", 40), ("Or", "u64", 42),
             ("Xor", "u64", 44), ("Min", "s64", 46), ("Max", "s64", 48))

    def cell(self, place):
        """Adds to what all threads share, in a way in which no order matters."""
        r = self.random
        cells = "shared_cells" if not place.returns and r.chance(40) else "cells"
        if r.chance(15):
            return self.statement(
                f"{{\nu32 seen = 0, old;\ndo {{\nold = seen;\nseen = atomicCAS(&{cells}[20], old, old + {self.u32(0)});\n"
                "} while (seen != old);\n}\n")
        if r.chance(10):
            return self.statement(f"atomic{r.pick(('Inc', 'Dec'))}(&{cells}[22], 1000);\n".replace(
                "Dec(&" + cells + "[22]", "Dec(&" + cells + "[24]"))
        op, type_, at = r.pick(self.CELLS)
        spread = f" + ({self.u32(0)} & {1 if type_[1:] == '32' else 0})" if op not in ("Add", "Sub") else ""
        value = self.u64(1) if type_[1:] == "64" else self.u32(1)
        return self.statement(f"atomic{op}(reinterpret_cast<{type_}*>({cells} + {at}{spread}), {type_}({value}));\n")

    def own_atomic(self, place):
        """Where nobody interferes, what an atomic answers is known."""
        r = self.random
        at = self.own(self.u32(1))
        if self.interleaved or r.chance(50):
            op = r.pick(("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "And", "Or", "Xor"))
            return self.statement(f"{r.pick(U32)} = atomic{op}(&{at}, {self.u32(1)});\n")
        if r.chance(30):
            return self.statement(f"{r.pick(U32)} = atomicCAS(&{at}, {self.u32(1)}, {self.u32(1)});\n")
        if r.chance(40):
            op = r.pick(("Add", "Exch", "Min", "Max", "And", "Or", "Xor"))
            return self.statement(f"{r.pick(U64)} = atomic{op}(reinterpret_cast<u64*>(own + g * {OWN}) + "
                                  f"({self.u32(1)} & 7), {self.u64(1)});\n")
        type_, text = r.pick((("f32", "add.f32"), ("f64", "add.f64"), ("f16x2", "add.noftz.f16x2"),
                              ("bf16x2", "add.noftz.bf16x2"), ("f16", "add.noftz.f16"), ("bf16", "add.noftz.bf16")))
        word, letter = word_of(type_)
        p = f"p{self.new()}"
        # A NaN's bits are nobody's business, in memory either.
        return self.statement(
            f"{{\n{word}* const {p} = reinterpret_cast<{word}*>(own + g * {OWN}) + ({self.u32(1)} & 7);\n{word} x;\n"
            f"asm volatile(\"atom.global.{text} %0, [%1], %2;\" : \"={letter}\"(x) : \"l\"({p}), "
            f"{self.operand(type_)} : \"memory\");\n{self.variable(word)} ^= one_nan_{type_}(x);\n"
            f"asm volatile(\"ld.global.b{8 * size_of(type_)} %0, [%1];\" : \"={letter}\"(x) : \"l\"({p}) : \"memory\");\n"
            f"asm volatile(\"st.global.b{8 * size_of(type_)} [%0], %1;\" : : \"l\"({p}), \"{letter}\"(one_nan_{type_}(x)) : "
            "\"memory\");\n}\n")

    # ---- Together with other lanes

    def collective(self, place):
        r, m = self.random, place.mask
        x, target = self.u32(1), r.pick(U32)
        shuffle = r.pick((
            f"__shfl_{r.pick(('up', 'down', 'xor'))}_sync(~0u, {x}, {self.u32(0)} & 31, {1 << r.below(6)})",
            f"__shfl_sync(~0u, {x}, {self.u32(0)}, {1 << r.below(6)})"))
        text = r.weighted([
            (3, lambda: f"{target} = {m} == ~0u ? {shuffle} : __shfl_sync({m}, {x}, pick({m}, {self.u32(0)}));\n"),
            (2, lambda: f"{target} = __shfl_sync({m}, {x}, pick({m}, {self.u32(0)}));\n"),
            (1, lambda: f"{r.pick(U64)} = __shfl_sync({m}, {self.u64(1)}, pick({m}, {self.u32(0)}));\n"),
            (2, lambda: self.odd_shuffle(m, x, target)),
            (2, lambda: f"{target} ^= __ballot_sync({m}, {self.condition()});\n"),
            (2, lambda: f"{target} += __{r.pick(('any', 'all', 'uni'))}_sync({m}, {self.condition()});\n"),
            (1, lambda: f"{target} = __match_any_sync({m}, {x} & {r.pick((1, 3, 7))});\n"),
            (1, lambda: f"{target} = __match_any_sync({m}, {self.u64(1)} & 3);\n"),
            (1, lambda: f"{{\nint all;\n{target} = __match_all_sync({m}, {x} & 1, &all);\n{r.pick(U32)} += all;\n}}\n"),
            (3, lambda: f"{target} = __reduce_{r.pick(('add', 'min', 'max', 'and', 'or', 'xor'))}_sync({m}, {x});\n"),
            (1, lambda: f"{target} = __reduce_{r.pick(('add', 'min', 'max'))}_sync({m}, s32({x}));\n"),
            (3, lambda: self.group(m, x, target)),
        ])()
        return self.statement(text)

    def odd_shuffle(self, m, x, target):
        """Segments and clamps that no width stands for; answers tell who was in range."""
        r = self.random
        c = r.pick((0x1F, 0, 0x1C1F, r.bits() & 0x1F1F))
        how = r.pick(("up", "down", "bfly", "idx"))
        return (f"if ({m} == ~0u) {{\nu32 x, in;\nasm volatile(\"{{.reg .pred p; shfl.sync.{how}.b32 %0|p, %2, %3, {c}, -1; "
                f"selp.u32 %1, 1, 0, p;}}\" : \"=r\"(x), \"=r\"(in) : \"r\"({x}), \"r\"({self.u32(0)} & 31));\n"
                f"{target} = x + in;\n}}\n")

    def group(self, m, x, target):
        """Lanes that agree in something, each such group on its own."""
        r, g = self.random, f"m{self.new()}"
        use = r.pick((f"__reduce_{r.pick(('add', 'min', 'max', 'and', 'or', 'xor'))}_sync({g}, {x})",
                      f"__shfl_sync({g}, {x}, pick({g}, {self.u32(0)}))", f"__ballot_sync({g}, {self.condition()})"))
        return (f"{{\nconst u32 {g} = __match_any_sync({m}, {self.u32(1)} & {r.pick((1, 3))});\n"
                f"{target} ^= {use};\n}}\n")

    def odd_mask(self, place):
        """A mask that is written down, for the lanes that it names."""
        m = f"m{self.new()}"
        odd = self.random.bits() >> 32 | 1
        body = place.inside(mask=m, uniform=False, loop=False, returns=False)
        return self.statement(f"if ({odd}u >> lane & 1) {{\nconst u32 {m} = {place.mask} & {odd}u;\n",
                              self.block(body), "}\n")

    def warp_exchange(self, place):
        """Shared memory that a warp reads behind __syncwarp."""
        m, r = place.mask, self.random
        from_ = f"(t & ~31u | pick({m}, {self.u32(0)}))"
        return self.statement(
            f"{self.access('warp_words[t]')} = {self.u32(1)};\n__syncwarp({m});\n"
            f"{r.pick(U32)} ^= {self.access(f'warp_words[{from_}]')};\n__syncwarp({m});\n")

    # ---- Together with other warps

    def barrier(self):
        r = self.random
        whole = 32 * self.warps
        return r.weighted([
            (5, "__syncthreads();\n"),
            (1, f'asm volatile("bar.sync {r.below(3)};" : : : "memory");\n'),
            (1, f'asm volatile("barrier.sync {1 + r.below(14)}, {whole};" : : : "memory");\n'),
            (1, f"u1 += __syncthreads_count({self.condition()});\n"),
            (1, f"u0 ^= __syncthreads_{r.pick(('and', 'or'))}({self.condition()});\n")])

    def exchange(self, place):
        r = self.random
        n = self.threads
        array, word = r.pick((("words", "u32"), ("words", "u32"), ("longs", "u64"), ("shorts", "u16"), ("chars", "u8")))
        step = next(s for s in (r.pick((1, 3, 5, 7, 11, 17)), 1) if coprime(s, n))
        to = f"{array}[(t * {step} + {r.below(n)}) % {n}]"
        variable = r.pick(U64 if word == "u64" else U32)
        value = self.u64(1) if word == "u64" else self.u32(1)
        reads = "".join(f"{variable} {r.pick('^+')}= {self.access(f'{array}[{self.u32(1)} % {n}]')};\n"
                        for _ in range(1 + r.below(2)))
        if r.chance(20) and not self.interleaved:
            k = r.below(OWN)
            to = f"own[g * {OWN} + {k}]"
            reads = f"{variable} ^= {self.access(f'own[(blockIdx.x * {n} + {self.u32(1)} % {n}) * {OWN} + {k}]')};\n"
        elif r.chance(15) and not self.counted:
            reads = (f"{{\nconst u32* const p = {self.condition()} ? &words[{self.u32(1)} % {n}] : "
                     f"&in[{self.u32(1)} & {INPUT - 1}];\n{r.pick(U32)} += *p;\n}}\n")
            to, value = f"words[(t * {step}) % {n}]", self.u32(1)
        return self.statement(f"{self.access(to)} = {value};\n", self.barrier(), reads, "__syncthreads();\n")

    def packed_exchange(self, place):
        """Vectors of 8 and 16 bytes in shared memory."""
        r, n = self.random, self.threads
        count = r.pick((2, 4))
        volatile = ".volatile" if self.counted else ""
        mode = f"{volatile}.shared.v{count}.u32"
        values = ", ".join(f'"r"({self.u32(0)})' for _ in range(count))
        listed = ", ".join(f"%{k + 1}" for k in range(count))
        outputs = ", ".join(f'"=r"(x{k})' for k in range(count))
        read = ", ".join(f"%{k}" for k in range(count))
        names = ", ".join(f"x{k}" for k in range(count))
        total = " + ".join(f"x{k} * {2 * r.below(50) + 1}u" for k in range(count))
        base = "u32(__cvta_generic_to_shared(packs))"
        return self.statement(
            f"asm volatile(\"st{mode} [%0], {{{listed}}};\" : : \"r\"({base} + t * {4 * count}), {values} : \"memory\");\n",
            self.barrier(),
            f"{{\nu32 {names};\nasm volatile(\"ld{mode} {{{read}}}, [%{count}];\" : {outputs} : "
            f"\"r\"({base} + ({self.u32(1)} % {n}) * {4 * count}) : \"memory\");\n{r.pick(U32)} ^= {total};\n}}\n",
            "__syncthreads();\n")

    def groups_of_warps(self, place):
        """Two groups of warps with a barrier each, or one that only tells the other."""
        r, n = self.random, self.threads
        first = 32 * (1 + r.below(self.warps - 1))
        rest = 32 * self.warps - first
        a, b = f"words[{self.u32(1)} % {first}]", f"words[{first} + {self.u32(1)} % {n - first}]"

        def bar(number, count, how="sync"):
            return f'asm volatile("bar.{how} {number}, {count};" : : : "memory");\n'

        write = f"{self.access('words[t]')} = {self.u32(1)};\n"
        if r.chance(40):
            return self.statement(
                write, f"if (t < {first}) {{\n", bar(3, first + rest, "arrive"), "} else {\n", bar(3, first + rest),
                f"{r.pick(U32)} ^= {self.access(a)};\n}}\n__syncthreads();\n")
        return self.statement(
            write, f"if (t < {first}) {{\n", bar(3, first), f"{r.pick(U32)} += {self.access(a)};\n", bar(3, first),
            "} else {\n", bar(4, rest), f"{r.pick(U32)} += {self.access(b)};\n", bar(4, rest), "}\n__syncthreads();\n")

    def uniform_if(self, place):
        otherwise = ["} else {\n", self.block(place.inside())] if self.random.chance(40) else []
        condition = self.part(f"({self.uniform_value()} & {1 + self.random.below(3)})", "true")
        return self.statement("if (", condition, ") {\n", self.block(place.inside()), *otherwise, "}\n")

    def uniform_loop(self, place):
        i = f"i{self.new()}"
        count = self.part(self.random.pick((f"{2 + self.random.below(2)}u", f"{self.uniform_value()} % 4")), "1u")
        return self.statement(f"for (u32 {i} = 0, n = ", count, f"; {i} < n; ++{i}) {{\n",
                              self.block(place.inside(times=place.times * 3)), "}\n")

    def uniform_assign(self, place):
        return self.statement(self.random.pick((
            f"u0 = u1 * {self.constant()}u + {self.uniform_value()};\n",
            f"u1 = {self.access(f'in[{self.uniform_value()} & {INPUT - 1}]')};\n",
            f"u0 += {self.uniform_value()};\n")))

    # ---- Blocks of statements

    def choices(self, place):
        """[(weight, what can stand there)]"""
        plain, kernel = not self.counted, place.kernel
        deeper = place.depth < 4 and self.budget > 0
        loops = deeper and place.times <= 16
        alone = place.mask is None
        return [(weight, make) for weight, make, allowed in (
            (9, self.assign, True), (14, self.ptx, True), (2, self.local, True),
            (5, self.if_, deeper), (4, self.loop, loops), (2, self.switch, deeper and plain),
            (2, self.jumps, loops and plain and (alone or place.uniform)), (4, self.call, kernel),
            (3, self.leave, alone and (place.loop or place.returns) and plain),
            (4, self.load, kernel), (5, self.memory, kernel), (1, self.generic, kernel and plain),
            (3, self.cell, kernel), (2, self.own_atomic, kernel),
            (8, self.collective, not alone), (2, self.odd_mask, not alone and deeper),
            (3, self.warp_exchange, not alone and kernel),
            (6, self.exchange, place.uniform), (2, self.packed_exchange, place.uniform),
            (2, self.groups_of_warps, place.uniform and self.warps > 1), (1, self.uniform_assign, place.uniform),
            (2, self.uniform_if, place.uniform and deeper), (2, self.uniform_loop, place.uniform and loops),
        ) if allowed]

    def block(self, place):
        pieces = []
        for _ in range(1 + self.random.below(3)):
            self.budget -= 1
            pieces.append(self.random.weighted(self.choices(place))(place))
        return pieces

    def function(self):
        r = self.random
        name = f"KERNEL_f{len(self.functions)}"
        masked, again = r.chance(30), r.chance(40)
        place = Place(mask="m" if masked else None, uniform=False, kernel=False, returns=not masked, depth=2)
        body = [self.block(place), self.block(place)]
        if again and not masked:
            step = f"{r.pick(U32)} += {name}(parcel({self.u32(1)}, {self.u16()}, {self.u64(1)}), m - 1).a;\n"
            body.insert(1, self.statement("if (m != 0) {\n", step, step if r.chance(40) else "", "}\n"))
        head = (f"__device__ __noinline__ Parcel {name}(Parcel p, u32 m) {{\n"
                "const u32 lane = threadIdx.x & 31;\n"
                "u32 r0 = p.a, r1 = m * 77, r2 = p.a ^ lane, r3 = u32(p.c >> 32), r4 = 5, r5 = ~p.b;\n"
                "u64 w0 = p.c, w1 = p.a * 0x100000001ull, w2 = 3;\n"
                "u16 h0 = p.b, h1 = u16(p.a), h2 = 0x3c00;\n"
                "u32 local[8] = {r0, r1, r2, r3, r4, r5, 6, 7};\nu8 bytes[8] = {0, 1, 2, 3, 4, 5, 6, 7};\n")
        tail = (f"return parcel(r0 ^ r1 + r2 * r3 ^ r4 - r5 + local[1] + bytes[2], h0 ^ h1 ^ h2, w0 + w1 * 3 ^ w2);\n"
                "}\n\n")
        self.functions.append((name, masked and not again or masked, [head, body, tail]))

    def kernel(self):
        r, n = self.random, self.threads
        for _ in range(r.below(4)):
            self.budget = 6
            self.function()
        self.budget = 10 + r.below(14)
        body = []
        while self.budget > 0:
            body += self.block(Place())
        body.append(f"__syncthreads();\nr0 += {self.access('shared_cells[t & 63]')};\n")
        if r.chance(50) and not self.counted:
            self.budget = 5
            while self.budget > 0:
                body += self.block(Place(mask=None, uniform=False, returns=True))
        return self.prologue() + body + self.epilogue()

    def prologue(self):
        r, n = self.random, self.threads
        start = [f"__global__ void __launch_bounds__({n}) KERNEL(const u32* __restrict__ in, u32* out, u32* own, u32* cells, "
                 "u32 zero) {\n"]
        start += [f"__shared__ {word} {name}[{size}];\n" for word, name, size in (
            ("u32", "words", n), ("u64", "longs", n), ("u16", "shorts", n), ("u8", "chars", n),
            ("uint4", "packs", n), ("u32", "warp_words", n))]
        start += ["__shared__ alignas(8) u32 shared_cells[64];\n",
                  f"const u32 t = threadIdx.x, g = blockIdx.x * {n} + t, lane = t & 31;\n",
                  f"const u32 m0 = lanes_of_warp({n});\n",
                  f"u32 u0 = blockIdx.x + zero + {r.below(9)}, u1 = {self.access(f'in[{r.below(INPUT)}]')};\n"]
        for names, word in ((U32, "u32"), (U64, "u64"), (U16, "u16")):
            for name in names:
                at = f"in[(g * {1 + r.below(40)} + {r.below(INPUT)}) & {INPUT - 1}]"
                more = f" * {r.bits() | 1}ull" if word == "u64" else ""
                start.append(self.part(f"{word} {name} = {self.access(at)}{more};\n", f"{word} {name} = {r.below(99)};\n"))
        start += ["u32 local[8] = {r0, r1, r2, r3, 4, 5, 6, 7};\nu8 bytes[8] = {0, 1, 2, 3, 4, 5, 6, 7};\n",
                  f"for (u32 i = t; i < 64; i += {n}) {self.access('shared_cells[i]')} = i * 0x9e3779b9;\n__syncthreads();\n"]
        return start

    def epilogue(self):
        total = self.threads * self.blocks
        words = [*U32, *(f"u32({w}{shift})" for w in U64 for shift in ("", " >> 32")), *U16]
        return [*(self.part(f"{self.access(f'out[{k * total} + g]')} = {word};\n")
                  for k, word in enumerate(words)), "}\n"]


def is_counted(seed):
    return seed % 1000 < 100


def vector(type_):
    """v4.u8 -> (4, "u8", 1): how many, of what, of how many bytes."""
    found = re.fullmatch(r"(?:v(\d)\.)?(\w+)", type_)
    return int(found[1] or 1), found[2], size_of(found[2])


def size_of(type_):
    found = re.fullmatch(r"[a-z]+(\d+)(?:x(\d))?", type_)
    return int(found[1]) * int(found[2] or 1) // 8


def word_of(type_):
    return palette.WORDS["u32" if type_ == "pred" else type_]


def coprime(a, b):
    while b:
        a, b = b, a % b
    return a == 1


def program(seed):
    generator = Generator(seed)
    kernel = generator.kernel()
    functions = [definition for _, _, definition in generator.functions]
    return Program(seed, generator.blocks, generator.threads, functions + kernel, generator.counted)


def batch(programs):
    """A .cu file of (name, program, parts made simple), and a main that runs them."""
    table = "".join(
        f"    {{{one.seed}, reinterpret_cast<const void*>({name}), {one.blocks}, {one.threads}, {RESULTS}}},\n"
        for name, one, _ in programs)
    constants = ", ".join(f"{Random(k).bits() >> 32}u" for k in range(32))
    return ('#include "tests/fuzz/harness.h"\n\n'
            f"__constant__ u32 kTable[32] = {{{constants}}};\n\n"
            + "\n".join(one.text(name, simplified) for name, one, simplified in programs)
            + f"\nconst Program kPrograms[] = {{\n{table}}};\n\n"
            "int main(int argc, char** argv) { return run_programs(argc, argv, kPrograms); }\n")
