"""Makes a kernel from a seed, with what its statements order: the kernels of races.py.

Where each lane goes stands in a table that the kernel loads: an index may be any function. The
kernels are PTX, which no compiler changes. Threads wait only for what stands above them, so none
waits for ever.
"""

import dataclasses

import numpy as np

from generate import Random
from happens_before import GLOBAL, NOT_HERE, SHARED, Order, Shape

LAST = 1000  # The line of what all kernels end with.
LEVELS = {".cta": 0, ".cluster": 1, ".gpu": 2, ".sys": 3}


# ---- Statements --------------------------------------------------------------


class Statement:
    """Has a table: for each turn a row of what each thread's instruction wants to know, or NOT_HERE."""
    begin = None  # What thread 0 does at first.


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
        order.access(line, Access("cp", "shared", self.size, "", source=places // SHARED), there(places % SHARED), actors)
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

    def happens(self, order, line, turn):
        before, behind = (LEVELS.get(fence, NOT_HERE) for fence in self.fences)
        if before >= 0:
            order.fence(self.gives, before)
        for access, who in (self.store, self.gives), (self.load, self.takes):
            order.access(line, access, np.where(who, 2048 + line * 8, NOT_HERE))
        blocks = order.shape.block if self.store.space == "shared" else order.shape.block * 0
        reach, (out, into) = min(self.store.reach, self.load.reach), self.semantics
        for one in set(blocks):
            order.flag(self.gives & (blocks == one), self.takes & (blocks == one), reach,
                       out in ("release", "acq_rel"), into == "acquire")
        if behind >= 0:
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


# ---- A kernel ----------------------------------------------------------------


@dataclasses.dataclass
class Kernel:
    seed: int
    shape: Shape
    statements: list  # (first line, turns, [statement])

    def name(self):
        return f"k{self.seed}"

    def table(self):
        return np.array([row for _, _, body in self.statements for one in body for row in one.table], np.int32)

    def text(self):
        out, row, width = [], 0, 4 * self.shape.all
        for first, turns, body in self.statements:
            if turns > 1:
                out.append(f"mov.u32 %turn, 0;\nmov.u64 %row, %table;\nL{first}:\n")
            for line, one in enumerate(body, first):
                start = "%row" if len(one.table) > 1 else "%table"
                out.append(f".loc 1 {line} 0\nld.global.s32 %mask, [{start}+{row * width}];\n"
                           f"cvt.s64.s32 %offset, %mask;\nsetp.eq.s64 %skip, %offset, {NOT_HERE};\n"
                           f"@%skip bra S{line};\n{one.text(line)}S{line}:\n")
                row += len(one.table)
            if turns > 1:
                out.append(f"add.u64 %row, %row, {width};\nadd.u32 %turn, %turn, 1;\n"
                           f"setp.lt.u32 %is, %turn, {turns};\n@%is bra L{first};\n")
        cluster = f".explicitcluster .reqnctapercluster {self.shape.blocks}" if self.shape.is_cluster else ""
        meets = CLUSTER_BARRIER if self.shape.is_cluster else ""
        begin = "".join(one.begin(line) for first, _, body in self.statements for line, one in enumerate(body, first)
                        if one.begin)
        if begin:
            begin = f"setp.ne.u32 %is, %id, 0;\n@%is bra START;\n{begin}START:\nbar.sync 0;\n"
        head = HEAD.replace("KERNEL", self.name()).replace("CLUSTER", cluster).replace("BEGIN", begin)
        return f"{head}{meets}{''.join(out)}.loc 1 {LAST} 0\n{meets}{TAIL}"

    def order(self, trusting=False):
        order = Order(self.shape, trusting)
        for first, turns, body in self.statements:
            for turn in range(turns):
                for line, one in enumerate(body, first):
                    one.happens(order, line, turn)
        order.end()
        return order


MODULE = '.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "kernels"\n'
HEAD = f"""
.visible .entry KERNEL(.param .u64 disputed, .param .u64 table, .param .u64 results) CLUSTER
{{
.shared .align 16 .b8 words[{SHARED}], flags[256];
.reg .b16 %half;
.reg .b32 %id, %block, %blocks, %word, %mask, %turn, %turned, %unused;
.reg .b64 %disputed, %table, %results, %shared, %flags, %row, %at, %offset, %value, %more, %sum, %token;
.reg .pred %skip, %is;
.loc 1 {LAST} 0
ld.param.u64 %disputed, [disputed]; ld.param.u64 %table, [table]; ld.param.u64 %results, [results];
mov.u32 %block, %ctaid.x; mov.u32 %blocks, %nctaid.x; mov.u32 %word, %ntid.x; mov.u32 %id, %tid.x;
mov.u64 %flags, flags; mov.u64 %shared, words; mov.u64 %sum, 0;
mul.wide.u32 %at, %id, 4; add.u64 %at, %at, %flags; setp.ge.u32 %is, %id, 32;
@!%is st.shared.u32 [%at], 0;
@!%is st.shared.u32 [%at+128], 0;
bar.sync 0;
BEGINmad.lo.u32 %id, %block, %word, %id;
mad.wide.u32 %table, %id, 4, %table; mad.wide.u32 %results, %id, 8, %results;
"""
CLUSTER_BARRIER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
# All copies are waited for, and all of shared memory is read.
TAIL = ("cp.async.wait_all;\nbar.sync 0;\nand.b32 %word, %id, 31;\nmad.wide.u32 %at, %word, 4, %shared;\n"
        + "".join(f"ld.shared.u32 %word, [%at+{at}];\ncvt.u64.u32 %value, %word;\nadd.u64 %sum, %sum, %value;\n"
                  for at in range(0, SHARED, 128)) + "st.global.u64 [%results], %sum;\nret;\n}\n")


# ---- At random ---------------------------------------------------------------


def some(r, shape):
    """Which threads take part."""
    return r.weighted((
        (8, shape.lane >= 0),
        (2, shape.warp == r.below(shape.warps)),
        (2, shape.block == r.below(shape.blocks)),
        (2, shape.lane % 2 == r.below(2)),
        (2, shape.lane < 1 + r.below(31)),
        (1, shape.thread == r.below(shape.threads)),
        (1, shape.lane == r.below(8)),
        (1, shape.id == r.below(shape.all)),
    ))


def index(r, shape):
    """Which element each thread accesses."""
    n = shape.threads
    own = shape.thread if r.chance(50) else shape.id
    return r.weighted((
        (8, own),
        (3, (own + 1 + r.below(3)) % n),
        (2, n - 1 - own % n),
        (2, own ^ 1 << r.below(6)),
        (1, own % (1 + r.below(8))),
        (1, own * 0 + r.below(n)),
        (1, shape.warp + shape.block * r.below(2)),
        (1, shape.lane),
        (1, own * (2 + r.below(3)) + r.below(4)),
        (1, own // 2),
    ))


def a_scope(r):
    return r.weighted(((3, ".gpu"), (2, ".cta"), (1, ".cluster"), (1, ".sys")))


def access(r, shape, line, turns, style):
    space = r.weighted(((3, "shared"), (3, "global"), (3 if shape.is_cluster else 0, "shared::cluster")))
    verb, size = r.weighted(((3, "ld"), (2, "st"))), r.weighted(((8, 4), (2, 8), (1, 16), (1, 2), (1, 1)))
    strength = ""
    if style == "strong" and r.chance(50):
        size = 4 + 4 * r.chance(20)
        verb = r.weighted(((2, "ld"), (2, "st"), (2, "atom"), (2, "red")))
        strength = ".volatile" if verb in ("ld", "st") and r.chance(50) else f".relaxed{a_scope(r)}"
    who, at, step = some(r, shape), index(r, shape), r.below(3)
    room, first = GLOBAL if space == "global" else SHARED, r.below(4) * 64 // size
    table = [np.where(who, (at + first + step * turn) * size % room, NOT_HERE) for turn in range(turns)]
    return Access(verb, space, size, strength, table, r.below(shape.blocks) if space == "shared::cluster" else 0)


def sync_warps(r, shape, *_):
    lanes = r.weighted(((4, shape.lane * 0), (2, shape.lane // 16), (1, shape.lane % 2),
                        (1, np.where(shape.lane < 1 + r.below(20), 0, 1))))
    who = some(r, shape) if r.chance(30) else shape.lane >= 0
    groups = np.where(who, shape.block * 1000 + shape.warp * 100 + lanes, NOT_HERE)
    same = (groups[:, None] == groups) & who
    masks = (same.astype(np.int64) << shape.lane).sum(axis=1).astype(np.uint32).view(np.int32)
    # The mask of all lanes would look like NOT_HERE.
    return Meeting("not.b32 %mask, %mask;\nbar.warp.sync %mask;\n", groups, [np.where(who, ~masks, NOT_HERE)])


def barrier(r, shape, *_):
    if shape.is_cluster and r.chance(60):
        return Meeting(CLUSTER_BARRIER, shape.id * 0, [shape.id * 0])
    who = shape.block == r.below(shape.blocks) if r.chance(10) else shape.lane >= 0
    return Meeting("bar.sync 0;\n", np.where(who, shape.block, NOT_HERE), [np.where(who, 0, NOT_HERE)])


def barrier_of_some(r, shape, number, *_):
    first, count = r.below(shape.warps), 1 + r.below(shape.warps)
    who = (shape.warp - first) % shape.warps < count
    return Meeting(f"bar.sync {number}, {32 * count};\n", np.where(who, shape.block, NOT_HERE),
                   [np.where(who, 0, NOT_HERE)])


def pair(r, shape, number, *_):
    role = [r.below(3) for _ in range(shape.warps)]
    gives, takes = (np.array([role[w] == which for w in shape.warp]) for which in (0, 1))
    if not gives.any() or not takes.any():
        return barrier(r, shape)
    barrier_of = f"{number}, {32 * sum(one < 2 for one in role)};\n"
    return HandOver(f"bar.arrive {barrier_of}", f"bar.sync {barrier_of}", gives, takes, True)


def mbarrier(r, shape, line, *_):
    gives, takes = (np.tile(some(r, shape)[:shape.threads], shape.blocks) for _ in range(2))
    if not gives.any():
        return barrier(r, shape)
    place = f"[%flags+{line * 8}]"
    return Mbarrier(f"mbarrier.arrive.shared.b64 %token, {place};\n",
                    f"W{line}:\nmbarrier.try_wait.parity.shared.b64 %is, {place}, 0;\n@!%is bra W{line};\n",
                    gives, takes, False, int(gives[:shape.threads].sum()))


def copy(r, shape, line, turns, style):
    size = r.pick((4, 8, 16))
    who, at, step = some(r, shape), index(r, shape), r.below(2)
    source = index(r, shape) * size % (GLOBAL // 2) * SHARED
    return Copy(size, [np.where(who, (at + step * turn) * size % SHARED + source, NOT_HERE) for turn in range(turns)])


def flag(r, shape, line, *_):
    is_shared = r.chance(30)
    gives, takes = (some(r, shape) for _ in range(2))
    if is_shared:
        gives, takes = (np.tile(one[:shape.threads], shape.blocks) for one in (gives, takes))
    count = int(gives[:shape.threads].sum() if is_shared else gives.sum())
    if not count:
        return barrier(r, shape)
    verb = r.pick(("st", "red", "atom")) if count == 1 else r.pick(("red", "atom"))
    out = r.weighted(((3, "relaxed"), (2, "release"), (1 if verb == "atom" else 0, "acq_rel"),
                      (2 if verb == "st" else 0, "volatile")))
    into = r.weighted(((2, "relaxed"), (2, "acquire"), (2, "volatile")))
    store, load = (Access(which, "shared" if is_shared else "global", 4,
                          f".{how}" + ("" if how == "volatile" else a_scope(r)), waits=which == "ld")
                   for which, how in ((verb, out), ("ld", into)))
    before, behind = (a_scope(r) if r.chance(60) else "" for _ in range(2))
    place = f"[%flags+{line * 8}]" if is_shared else f"[%disputed+{2048 + line * 8}]"
    add = "" if verb == "st" else ".add"
    arrive = ((f"fence.acq_rel{before};\n" if before else "") + f"{verb}{store.strength}.{store.space}{add}.u32 "
              + ("%unused, " if verb == "atom" else "") + f"{place}, 1;\n")
    wait = (f"W{line}:\nld{load.strength}.{load.space}.u32 %word, {place};\nsetp.lt.u32 %is, %word, {count};\n"
            f"@%is bra W{line};\n" + (f"fence.acq_rel{behind};\n" if behind else ""))
    return Flag(arrive, wait, gives, takes, False, store, load, (before, behind), (out, into))


def fence(r, shape, *_):
    return Fence(a_scope(r), some(r, shape))


def commit(r, shape, *_):
    return Commit([shape.id * 0], r.pick((None, 0, 0, 1)))


# (weight, how it is made, whether only once and with a number of its own), by style
ALWAYS = ((8, access, False), (4, barrier, False), (3, sync_warps, False), (1, barrier_of_some, True),
          (1, pair, True), (1, mbarrier, True))
STYLES = {"plain": (), "strong": (), "flags": ((5, flag, True), (1, fence, False)),
          "copies": ((3, copy, False), (3, commit, False))}


def kernel(seed):
    r = Random(seed)
    blocks = 1 + r.below(3)
    shape = Shape(blocks, r.weighted(((4, 32), (4, 64), (2, 96), (1, 40), (1, 70))), blocks > 1 and r.chance(30))
    style = r.weighted(((3, "plain"), (2, "strong"), (3, "flags"), (2, "copies")))
    statements, line = [], 1
    for _ in range(3 + r.below(5)):
        turns = r.weighted(((5, 1), (1, 2), (1, 3)))
        lines = range(line, line + (1 + r.below(3) if turns > 1 else 1))
        body = []
        for number in lines:
            is_free = turns == 1 and number < 16  # There are so many barriers.
            make = r.weighted([(weight if is_free or not once else 0, make)
                               for weight, make, once in ALWAYS + STYLES[style]])
            body.append(make(r, shape, number, turns, style))
        statements.append((line, turns, body))
        line += len(body)
    return Kernel(seed, shape, statements)
