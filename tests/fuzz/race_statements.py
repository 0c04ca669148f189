"""What the kernels of races.py are made of: statements, each with what it orders."""

import dataclasses

import numpy as np

from happens_before import GLOBAL, NOT_HERE, SHARED

LEVELS = {".cta": 0, ".cluster": 1, ".gpu": 2, ".sys": 3}
NOTES = 32  # Lines of which threads note when they came.
INSIDE = 100  # So much further down stands what a lock guards.


def place_of(line):
    """Of a flag, for the oracle: where nothing else lies."""
    return 2048 + line * 8


def address_of(space, line):
    base, first = ("%flags", 0) if space == "shared" else ("%disputed", 2048)
    return f"add.u64 %at, {base}, {first + line * 8};\n"


def note(line):
    """Which threads came when is known only after a run: each notes its %word for the oracle."""
    return f"mad.lo.u64 %value, %note, {line}, %notes;\nst.global.u32 [%value], %word;\n"


def function(name, line, body):
    """Of %at and %word, with its answer in %word."""
    return (f".func (.param .u32 answer) {name}(.param .u64 at, .param .u32 word)\n{{\n"
            f".reg .b32 %word, %mask, %unused;\n.reg .b64 %at;\n.reg .pred %is;\n.loc 1 {line} 0\n"
            f"ld.param.u64 %at, [at];\nld.param.u32 %word, [word];\n{body}st.param.u32 [answer], %word;\nret;\n}}\n")


def fence_text(scope):
    return f"fence.acq_rel{scope};\n" if scope else ""


def call(name):
    return (f"{{\n.param .u64 at;\n.param .u32 word, answer;\nst.param.u64 [at], %at;\nst.param.u32 [word], %word;\n"
            f"call.uni (answer), {name}, (at, word);\nld.param.u32 %word, [answer];\n}}\n")


class Statement:
    """Has a table: for each turn a row of what each thread's instruction wants to know, or NOT_HERE."""
    begin = None  # What thread 0 does at first.
    functions = ()  # (name, body)


@dataclasses.dataclass
class Access(Statement):
    verb: str  # ld, st, atom or red
    space: str  # global, shared or shared::cluster
    size: int
    strength: str  # "", ".volatile", ".relaxed.gpu"
    table: list = None  # At which byte.
    neighbour: int = 0  # Whose shared memory.
    waits: bool = False
    source: np.ndarray = None  # Of a copy.

    stores = property(lambda self: self.verb != "ld")
    is_plain_store = property(lambda self: self.verb == "st" and not self.strength)
    kind = property(lambda self: "ld" if self.verb == "ld" else "strong" if self.strength else
                    "part" if self.size < 4 else "st")
    memory = property(lambda self: self.space.removesuffix("::cluster"))
    reach = property(lambda self: LEVELS.get("." + self.strength.rpartition(".")[2], 3))

    def may_meet(self, other):
        both_volatile = self.strength == other.strength == ".volatile"
        return self.memory == "global" or not both_volatile or self.waits or other.waits

    def base(self, shape):
        if self.memory == "global":
            return shape.block * 0
        return (shape.block + self.neighbour) % shape.blocks * SHARED

    def text(self, line):
        type_ = {16: ".v2.u64"}.get(self.size, f".u{self.size * 8}")
        register = {16: "{%value, %more}", 8: "%value", 4: "%word"}.get(self.size, "%half")
        base = f"add.u64 %at, {'%disputed' if self.space == 'global' else '%shared'}, %offset;\n"
        if self.space == "shared::cluster":
            base += (f"add.u32 %turned, %block, {self.neighbour};\nrem.u32 %turned, %turned, %blocks;\n"
                     "mapa.shared::cluster.u64 %at, %at, %turned;\n")
        new = (f"mad.lo.u32 %word, %id, 257, {line * 1021};\ncvt.u64.u32 %value, %word;\n"
               "not.b64 %more, %value;\ncvt.u16.u32 %half, %word;\n")
        add = ".add" if self.verb in ("atom", "red") else ""
        does = f"{self.verb}{self.strength}.{self.space}{add}{type_}"
        use = {16: "add.u64 %value, %value, %more;\n", 8: "", 4: "cvt.u64.u32 %value, %word;\n"}.get(
            self.size, "cvt.u64.u16 %value, %half;\n") + "add.u64 %sum, %sum, %value;\n"
        return base + {"st": f"{new}{does} [%at], {register};\n", "red": f"{new}{does} [%at], {register};\n",
                       "ld": f"{does} {register}, [%at];\n{use}",
                       "atom": f"{new}{does} {register}, [%at], {register};\n{use}"}[self.verb]

    def happens(self, order, line, turn):
        order.access(line, self, self.table[turn])


@dataclasses.dataclass
class Meeting(Statement):
    """Those with the same number come together."""
    instruction: str
    groups: np.ndarray
    table: list

    def text(self, line):
        return self.instruction

    def happens(self, order, line, turn):
        for group in set(self.groups) - {NOT_HERE}:
            order.meet(self.groups == group)


@dataclasses.dataclass
class HandOver(Statement):
    """In each block some arrive, and others wait for them."""
    arrive: str
    wait: str
    gives: np.ndarray
    takes: np.ndarray
    meets: bool  # Who waits arrives, too.

    table = property(lambda self: [np.where(self.gives | self.takes, self.gives + 2 * self.takes, NOT_HERE)])

    def text(self, line):
        return (f"and.b64 %value, %offset, 1;\nsetp.eq.u64 %is, %value, 0;\n@%is bra G{line};\n{self.arrive}"
                f"G{line}:\nsetp.lt.u64 %is, %offset, 2;\n@%is bra S{line};\n{self.wait}")

    def happens(self, order, line, turn):
        for block in range(order.shape.blocks):
            here = order.shape.block == block
            if self.meets:
                order.hand_over((self.gives | self.takes) & here, self.takes & here)
            else:
                order.hand_over(self.gives & here, self.takes & here)


@dataclasses.dataclass
class Mbarrier(HandOver):
    """The same by a barrier in shared memory."""
    count: int = 0

    def begin(self, line):
        return f"mbarrier.init.shared.b64 [%flags+{line * 8}], {self.count};\n"


@dataclasses.dataclass
class Copy(Statement):
    """cp.async: the table says to which byte, and above that from which of GLOBAL's second half."""
    size: int
    table: list

    def text(self, line):
        return (f"and.b64 %at, %offset, {SHARED - 1};\nadd.u64 %at, %shared, %at;\n"
                f"div.u64 %value, %offset, {SHARED};\nadd.u64 %value, %disputed, %value;\n"
                f"cp.async.ca.shared.global [%at], [%value+{GLOBAL // 2}], {self.size};\n")

    def happens(self, order, line, turn):
        actors, places = order.begin_copies(), self.table[turn]
        there = lambda at: np.where(places == NOT_HERE, NOT_HERE, at)
        order.access(line, Access("ld", "global", self.size, ""), there(places // SHARED + GLOBAL // 2), actors)
        to = Access("cp", "shared", self.size, "", source=places // SHARED)
        order.access(line, to, there(places % SHARED), actors)
        order.copies[-1].append(actors)


@dataclasses.dataclass
class Commit(Statement):
    """Ends a group of copies, and waits for all but so many; None: it does not wait."""
    table: list
    waits: int | None

    def text(self, line):
        return "cp.async.commit_group;\n" + (f"cp.async.wait_group {self.waits};\n" if self.waits is not None else "")

    def happens(self, order, line, turn):
        order.copies.append([])
        if self.waits is not None:
            order.wait_for_copies(self.waits + 1)


@dataclasses.dataclass
class Flag(HandOver):
    """The same by a flag that all of them set."""
    store: Access = None
    load: Access = None
    fences: tuple = ("", "")
    semantics: tuple = ("relaxed", "relaxed")
    functions: tuple = ()

    def happens(self, order, line, turn):
        before, behind = (LEVELS.get(fence, NOT_HERE) for fence in self.fences)
        order.fence(self.gives, before)
        for access, who in (self.store, self.gives), (self.load, self.takes):
            order.access(line, access, np.where(who, place_of(line), NOT_HERE))
        blocks = order.shape.block if self.store.space == "shared" else order.shape.block * 0
        reach, (out, into) = min(self.store.reach, self.load.reach), self.semantics
        for one in set(blocks):
            order.flag(self.gives & (blocks == one), self.takes & (blocks == one), reach,
                       out in ("release", "acq_rel"), into == "acquire")
        order.fence(self.takes, behind)


@dataclasses.dataclass
class Fence(Statement):
    scope: str
    who: np.ndarray

    table = property(lambda self: [np.where(self.who, 0, NOT_HERE)])

    def text(self, line):
        return f"fence.acq_rel{self.scope};\n"

    def happens(self, order, line, turn):
        order.fence(self.who, LEVELS[self.scope])


@dataclasses.dataclass
class Vote(Statement):
    """Lanes tell each other a value, which orders nothing."""
    instruction: str
    table: list

    def text(self, line):
        return self.instruction

    def happens(self, order, line, turn):
        pass


@dataclasses.dataclass
class Lock(Statement):
    """Threads go one by one, as each finds a word even and makes it odd. The table says where each goes then."""
    taking: str
    releasing: str
    take: Access
    release: Access
    semantics: tuple
    fences: tuple  # Behind taking it, ahead of releasing it.
    inside: list  # [Access]
    table: list
    looks: bool  # First, by a volatile load.
    functions: tuple = ()

    def text(self, line):
        at = address_of(self.take.space, line)
        return (f"{at}{self.taking}{note(line)}mov.u32 %ticket, %word;\n.loc 1 {line + INSIDE} 0\n"
                + "".join(one.text(line) for one in self.inside)
                + f".loc 1 {line} 0\n{at}mov.u32 %word, %ticket;\n{self.releasing}")

    def happens(self, order, line, turn):
        who = self.table[0] != NOT_HERE
        lock_of = order.shape.block * (self.take.space == "shared")
        for one in set(lock_of[who]):
            self.one_by_one(order, line, who & (lock_of == one))

    def volatile(self, order, verb):
        """In shared memory these may not meet; of those in turn not all are told."""
        return Access(verb, self.take.space, 4, ".volatile", waits=bool(order.trusting))

    def one_by_one(self, order, line, who):
        before, reach = who & False, min(self.take.reach, self.release.reach)
        acquires, releases = self.semantics[0] == "acquire", self.semantics[1] == "release"
        behind, ahead = (LEVELS.get(fence, NOT_HERE) for fence in self.fences)
        if order.trusting:  # Who tries in vain may release, too.
            order.flag(who, who, reach, releases, acquires)
        for me in order.in_turn(line, who):
            at = np.where(me, place_of(line), NOT_HERE)
            if self.looks:
                order.access(line, self.volatile(order, "ld"), at)
            order.access(line, self.take, at)
            order.flag(before, me, reach, releases, acquires)
            order.fence(me, behind)
            for one in self.inside:
                order.access(line + INSIDE, one, np.where(me, self.table[0], NOT_HERE))
            order.fence(me, ahead)
            order.access(line, self.volatile(order, "st") if self.release.strength == ".volatile" else self.release, at)
            before = me if self.release.verb == "st" else before | me


@dataclasses.dataclass
class Count(Statement):
    """Threads add to a number. Who comes last tells its block, and goes where the table says."""
    add: Access
    semantics: str
    fences: tuple
    inside: list
    table: list

    def text(self, line):
        before, behind = map(fence_text, self.fences)
        last = (self.table[0] != NOT_HERE).sum() - 1
        return (f"{address_of('global', line)}{before}atom{self.add.strength}.global.add.u32 %word, [%at], 1;\n"
                f"{note(line)}{behind}setp.ne.u32 %is, %word, {last};\n@%is bra S{line};\n"
                f"st.shared.u32 [%flags+{line * 8}], 1;\n.loc 1 {line + INSIDE} 0\n"
                + "".join(one.text(line) for one in self.inside))

    def last(self, order, line):
        *_, last = order.in_turn(line, self.table[0] != NOT_HERE)
        return last

    def happens(self, order, line, turn):
        who = self.table[0] != NOT_HERE
        before, behind = (LEVELS.get(fence, NOT_HERE) for fence in self.fences)
        order.fence(who, before)
        order.access(line, self.add, np.where(who, place_of(line), NOT_HERE))
        earlier = who & False
        for me in order.in_turn(line, who):
            order.flag(earlier, me, self.add.reach, self.semantics in ("release", "acq_rel"),
                       self.semantics in ("acquire", "acq_rel"))
            earlier = earlier | me
        order.fence(who, behind)
        for one in self.inside:
            order.access(line + INSIDE, one, np.where(self.last(order, line), self.table[0], NOT_HERE))


@dataclasses.dataclass
class IfLast(Statement):
    """An access by the block of which a thread has come last to a Count before."""
    count: Count
    count_line: int
    access: Access
    table = property(lambda self: self.access.table)

    def text(self, line):
        return (f"ld.shared.u32 %word, [%flags+{self.count_line * 8}];\nsetp.eq.u32 %is, %word, 0;\n@%is bra S{line};\n"
                + self.access.text(line))

    def happens(self, order, line, turn):
        block = order.shape.block[self.count.last(order, self.count_line)]
        order.access(line, self.access, np.where(np.isin(order.shape.block, block), self.table[turn], NOT_HERE))
