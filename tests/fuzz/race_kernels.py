"""Makes a kernel from a seed, with what its statements order: the kernels of races.py.

Where each lane goes stands in a table that the kernel loads: an index may be any function. The
kernels are PTX, which no compiler changes. Threads wait only for what stands above them, so none
waits for ever.
"""

import dataclasses

import numpy as np

from generate import Random
from happens_before import GLOBAL, NOT_HERE, SHARED, Order, Shape
from race_statements import (Access, Commit, Copy, Count, Fence, Flag, HandOver, IfLast, Lock, Mbarrier, Meeting, Vote,
                             address_of, call, fence_text, function)

LAST = 1000  # The line of what all kernels end with.


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
        functions = "".join(function(name, line, body) for first, _, statements in self.statements
                            for line, one in enumerate(statements, first) for name, body in one.functions)
        return f"{functions}{head}{meets}{''.join(out)}.loc 1 {LAST} 0\n{meets}{TAIL}".replace("NAME", self.name())

    def order(self, notes=None, trusting=None):
        """`notes`: by line, what threads have noted in a run."""
        order = Order(self.shape, notes, trusting)
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
.reg .b32 %id, %block, %blocks, %word, %mask, %turn, %turned, %unused, %ticket;
.reg .b64 %disputed, %table, %results, %shared, %flags, %row, %at, %offset, %value, %more, %sum, %token, %notes, %note;
.reg .pred %skip, %is;
.loc 1 {LAST} 0
ld.param.u64 %disputed, [disputed]; ld.param.u64 %table, [table]; ld.param.u64 %results, [results];
mov.u32 %block, %ctaid.x; mov.u32 %blocks, %nctaid.x; mov.u32 %word, %ntid.x; mov.u32 %id, %tid.x;
mov.u64 %flags, flags; mov.u64 %shared, words; mov.u64 %sum, 0;
mul.wide.u32 %at, %id, 4; add.u64 %at, %at, %flags; setp.ge.u32 %is, %id, 32;
@!%is st.shared.u32 [%at], 0;
@!%is st.shared.u32 [%at+128], 0;
bar.sync 0;
BEGINmul.lo.u32 %turned, %blocks, %word; mad.wide.u32 %notes, %turned, 8, %results;
mad.lo.u32 %id, %block, %word, %id; mul.wide.u32 %note, %turned, 4;
mad.wide.u32 %table, %id, 4, %table; mad.wide.u32 %results, %id, 8, %results; mad.wide.u32 %notes, %id, 4, %notes;
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


def strengthened(r, how):
    return f".{how}" + ("" if how == "volatile" else a_scope(r))


def access(r, shape, line, turns, style, who=None):
    space = r.weighted(((3, "shared"), (3, "global"), (3 if shape.is_cluster else 0, "shared::cluster")))
    verb, size = r.weighted(((3, "ld"), (2, "st"))), r.weighted(((8, 4), (2, 8), (1, 16), (1, 2), (1, 1)))
    strength = ""
    if style == "strong" and r.chance(50):
        size = 4 + 4 * r.chance(20)
        verb = r.weighted(((2, "ld"), (2, "st"), (2, "atom"), (2, "red")))
        strength = strengthened(r, "volatile" if verb in ("ld", "st") and r.chance(50) else "relaxed")
    who, at, step = some(r, shape) if who is None else who, index(r, shape), r.below(3)
    room, first = GLOBAL if space == "global" else SHARED, r.below(4) * 64 // size
    table = [np.where(who, (at + first + step * turn) * size % room, NOT_HERE) for turn in range(turns)]
    return Access(verb, space, size, strength, table, r.below(shape.blocks) if space == "shared::cluster" else 0)


def parts_of_warps(r, shape):
    """Groups of lanes; and the same as a table: NOT_HERE would be the mask of all lanes, so it is told inverted."""
    lanes = r.weighted(((4, shape.lane * 0), (2, shape.lane // 16), (1, shape.lane % 2),
                        (1, np.where(shape.lane < 1 + r.below(20), 0, 1))))
    who = some(r, shape) if r.chance(30) else shape.lane >= 0
    groups = np.where(who, shape.block * 1000 + shape.warp * 100 + lanes, NOT_HERE)
    same = (groups[:, None] == groups) & who
    masks = (same.astype(np.int64) << shape.lane).sum(axis=1).astype(np.uint32).view(np.int32)
    return groups, [np.where(who, ~masks, NOT_HERE)]


def sync_warps(r, shape, *_):
    return Meeting("not.b32 %mask, %mask;\nbar.warp.sync %mask;\n", *parts_of_warps(r, shape))


def vote(r, shape, *_):
    asks = r.pick(("shfl.sync.down.b32 %word, %id, 0, 31", "vote.sync.ballot.b32 %word, %is",
                   "redux.sync.add.u32 %word, %id", "match.any.sync.b32 %word, %id"))
    return Vote(f"not.b32 %mask, %mask;\n{asks}, %mask;\n", parts_of_warps(r, shape)[1])


def meeting_of_block(r, shape):
    asks = r.weighted(((6, "bar.sync 0;\n"), (1, "bar.red.popc.u32 %word, 0, %is;\n"),
                       (1, "bar.red.or.pred %is, 0, %is;\n")))
    return Meeting(asks, shape.block, [shape.id * 0])


def barrier(r, shape, *_):
    if shape.is_cluster and r.chance(60):
        return Meeting(CLUSTER_BARRIER, shape.id * 0, [shape.id * 0])
    if r.chance(90):
        return meeting_of_block(r, shape)
    who = shape.block == r.below(shape.blocks)
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


def stores(access):
    """%word to a flag, or one more."""
    does = f"{access.verb}{access.strength}.{access.space}"
    return {"st": f"{does}.u32 [%at], %word;\n", "red": f"{does}.add.u32 [%at], 1;\n",
            "atom": f"{does}.add.u32 %unused, [%at], 1;\n"}[access.verb]


def some_fences(r):
    return tuple(a_scope(r) if r.chance(60) else "" for _ in range(2))


def flag(r, shape, line, turns, style, hands=None):
    is_shared = hands is None and r.chance(30)
    gives, takes = hands or (some(r, shape) for _ in range(2))
    if is_shared:
        gives, takes = (np.tile(one[:shape.threads], shape.blocks) for one in (gives, takes))
    count = int(gives[:shape.threads].sum() if is_shared else gives.sum())
    if not count:
        return barrier(r, shape)
    verb = r.pick(("st", "red", "atom")) if count == 1 else r.pick(("red", "atom"))
    out = r.weighted(((3, "relaxed"), (2, "release"), (1 if verb == "atom" else 0, "acq_rel"),
                      (2 if verb == "st" else 0, "volatile")))
    into = r.weighted(((2, "relaxed"), (2, "acquire"), (2, "volatile")))
    store, load = (Access(which, "shared" if is_shared else "global", 4, strengthened(r, how), waits=which == "ld")
                   for which, how in ((verb, out), ("ld", into)))
    fences = some_fences(r)
    before, behind = map(fence_text, fences)
    arrive = before + stores(store)
    wait = (f"mov.u32 %mask, %word;\nW{line}:\nld{load.strength}.{load.space}.u32 %word, [%at];\n"
            f"setp.lt.u32 %is, %word, %mask;\n@%is bra W{line};\n{behind}")
    functions = ((f"NAME_arrive{line}", arrive), (f"NAME_wait{line}", wait)) if r.chance(30) else ()
    arrive, wait = (call(name) for name, _ in functions) if functions else (arrive, wait)
    begin = address_of(store.space, line)
    begin += "add.u32 %word, %turn, 1;\n" if turns > 1 else f"mov.u32 %word, {count};\n"
    return Flag(begin + arrive, begin + wait, gives, takes, False, store, load, fences, (out, into), functions)


def barrier_of_grid(r, shape, line, turns, style):
    first = shape.thread == 0
    return [barrier(r, shape), flag(r, shape, line + 1, turns, style, (first, first)), barrier(r, shape)]


def ring(r, shape, line, turns, style):
    """Two threads hand each other what their warps do, round by round."""
    one, other = (shape.id == r.below(shape.all) for _ in range(2))
    warp_of = lambda who: (shape.block == shape.block[who]) & (shape.warp == shape.warp[who])
    return [access(r, shape, line, turns, style, r.pick((one, warp_of(one)))),
            flag(r, shape, line + 1, turns, style, (one, r.pick((other, warp_of(other))))),
            access(r, shape, line + 2, turns, style, r.pick((other, warp_of(other)))),
            flag(r, shape, line + 3, turns, style, (other, r.pick((one, warp_of(one)))))]


def inside(r, shape, line, style, who):
    """A load, a store, or both, in one place of each thread's; and where."""
    one = access(r, shape, line, 1, style, who)
    both = r.chance(50) and not one.strength
    return [dataclasses.replace(one, verb=verb) for verb in ("ld", "st")] if both else [one], one.table


def lock(r, shape, line, turns, style):
    space = r.weighted(((3, "global"), (1, "shared")))
    one_of = lambda who: r.pick(shape.id[who].tolist())
    few = [one_of(some(r, shape) | (shape.id == 0)) for _ in range(1 + r.below(6))]
    accesses, table = inside(r, shape, line, style, np.isin(shape.id, few))
    verb = r.pick(("st", "red", "atom"))
    into = r.pick(("relaxed", "acquire"))
    out = r.pick(("relaxed", "release") + ("volatile",) * (verb == "st"))
    take, release = (Access(which, space, 4, strengthened(r, how), waits=True)
                     for which, how in (("atom", into), (verb, out)))
    fences = some_fences(r)
    behind, ahead = map(fence_text, fences)
    does = f"atom{take.strength}.{space}"
    looks = r.chance(50)
    taking = (f"ld.volatile.{space}.u32 %word, [%at];\nand.b32 %word, %word, -2;\nadd.u32 %mask, %word, 1;\n"
              f"{does}.cas.b32 %mask, [%at], %word, %mask;\nsetp.ne.u32 %is, %mask, %word;\n" if looks else
              f"{does}.or.b32 %word, [%at], 1;\nand.b32 %mask, %word, 1;\nsetp.ne.u32 %is, %mask, 0;\n")
    taking = f"W{line}:\n{taking}@%is bra W{line};\n{behind}"
    releasing = f"{ahead}add.u32 %word, %word, 2;\n{stores(release)}"
    functions = ((f"NAME_take{line}", taking), (f"NAME_release{line}", releasing)) if r.chance(40) else ()
    taking, releasing = (call(name) for name, _ in functions) if functions else (taking, releasing)
    return Lock(taking, releasing, take, release, (into, out), fences, accesses, table, looks, functions)


def count(r, shape, line, turns, style, who=None):
    accesses, table = inside(r, shape, line, style, some(r, shape) if who is None else who)
    how = r.pick(("relaxed", "release", "acquire", "acq_rel"))
    fences = some_fences(r)
    return Count(Access("atom", "global", 4, strengthened(r, how)), how, fences, accesses, table)


def last_block(r, shape, line, turns, style):
    first = count(r, shape, line + 1, turns, style, shape.thread == 0)
    return [barrier(r, shape), first, meeting_of_block(r, shape),
            IfLast(first, line + 1, access(r, shape, line + 3, 1, style))]


def fence(r, shape, *_):
    return Fence(a_scope(r), some(r, shape))


def commit(r, shape, *_):
    return Commit([shape.id * 0], r.pick((None, 0, 0, 1)))


# (weight, how it is made, whether only once and with a number of its own), by style
ALWAYS = ((8, access, False), (4, barrier, False), (3, sync_warps, False), (1, vote, False), (1, barrier_of_some, True),
          (1, pair, True), (1, mbarrier, True))
STYLES = {"plain": (), "strong": (), "flags": ((5, flag, True), (1, fence, False)),
          "locks": ((4, lock, True), (2, count, True), (2, last_block, True), (2, barrier_of_grid, True),
                    (1, flag, True), (1, fence, False)),
          "copies": ((3, copy, False), (3, commit, False))}


def kernel(seed):
    r = Random(seed)
    blocks = 1 + r.below(3)
    shape = Shape(blocks, r.weighted(((4, 32), (4, 64), (2, 96), (1, 40), (1, 70))), blocks > 1 and r.chance(30))
    style = r.weighted(((3, "plain"), (2, "strong"), (3, "flags"), (4, "locks"), (2, "copies")))
    statements, line = [], 1
    for _ in range(3 + r.below(5)):
        turns = r.weighted(((5, 1), (1, 2), (1, 3)))
        if turns > 1 and style in ("flags", "locks") and line < 16 and r.chance(60):
            statements.append((line, turns, ring(r, shape, line, turns, style)))
            line += 4
            continue
        body = []
        for number in range(line, line + (1 + r.below(3) if turns > 1 else 1)):
            is_free = turns == 1 and number < 16  # There are so many barriers.
            make = r.weighted([(weight if is_free or not once else 0, make)
                               for weight, make, once in ALWAYS + STYLES[style]])
            made = make(r, shape, number, turns, style)
            body += made if isinstance(made, list) else [made]
        statements.append((line, turns, body))
        line += len(body)
    return Kernel(seed, shape, statements)
