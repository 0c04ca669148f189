"""Which accesses of a kernel nothing orders, by plain happens-before over all of its threads.

The oracle of races.py. It is told, statement by statement, who does what, and keeps for each
thread how much it knows of each other one.
"""

import collections
import itertools

import numpy as np

NOT_HERE = -1
SHARED, GLOBAL = 256, 512  # Bytes that threads fight for; behind them lie flags.


class Shape:
    """Of a launch: who is where."""

    def __init__(self, blocks, threads, is_cluster):
        self.blocks, self.threads, self.all, self.is_cluster = blocks, threads, blocks * threads, is_cluster
        self.id = np.arange(self.all)
        self.block, self.thread = np.divmod(self.id, threads)
        self.warp, self.lane = np.divmod(self.thread, 32)
        self.warps = (threads + 31) // 32
        # How far a scope must reach for two threads to be in it.
        self.far = np.where(self.block[:, None] == self.block, 0, 1 if is_cluster else 2)


class Order:
    """What each thread knows of each: all that it did before a time. Behind the threads come
    the copies that they have begun, each as one more who does something."""

    def __init__(self, shape, notes=None, trusting=None):
        self.shape, self.now, self.notes = shape, 1, notes
        # The strict order; this one tells only what must be found. Flags count whatever their own scope: it is
        # told of them, and enough.
        self.trusting = trusting
        # Of whose blocks' flags each thread has learned, and behind how many accesses each block has set its last one.
        self.teachers, self.last_flag = np.zeros((shape.all, shape.blocks), bool), np.zeros(shape.blocks, int)
        none = np.zeros((shape.all, shape.all), int)
        self.know = none
        # What a flag has told, for which a fence is wanting; and what the last fence has covered.
        self.pending = [none] * 3
        self.fenced = [none.copy() for _ in range(3)]
        self.past = []
        self.copies = [[]]  # By group, those that nobody has waited for.
        self.traffic = collections.Counter()  # How many accesses of a kind to a word, or runs to a line.
        self.races = collections.defaultdict(set)  # (line, line) -> bytes
        self.alike = set()  # (line, line) of what may store the same.
        self.told = collections.defaultdict(set)  # The same of those that must be told.
        self.clashes = collections.defaultdict(set)  # Byte -> (line, line), of stores that nobody has read yet.

    def meet(self, members):
        self.hand_over(members, members)
        for level in range(3):
            self.learn(members, self.pending[level][members].max(axis=0))

    def hand_over(self, givers, takers):
        self.learn(takers, self.tick(givers)[givers].max(axis=0))
        self.teachers[takers] |= self.teachers[givers].any(axis=0)
        for fenced in self.fenced if self.trusting and givers.any() else ():  # A fence and a barrier, then a flag.
            fenced[takers] = np.maximum(fenced[takers], fenced[givers].max(axis=0))

    def learn(self, takers, news):
        self.know = self.know.copy()
        self.know[takers] = np.maximum(self.know[takers], news)

    def tick(self, who):
        """What threads know, with all that they have done themselves."""
        self.now += 1
        self.know = self.know.copy()
        self.know[self.shape.id[who], self.shape.id[who]] = self.now
        return self.know

    def in_turn(self, line, who):
        """Each alone, as they have come in the run."""
        return [self.shape.id == thread for thread in sorted(self.shape.id[who], key=lambda one: self.notes[line][one])]

    def fence(self, who, level):
        """NOT_HERE: there is none."""
        if level < 0:
            return
        for k in range(min(level, 2) + 1):
            self.learn(who, self.pending[k][who])
        know = self.tick(who)
        for k in range(min(level, 2) + 1):
            self.fenced[k] = np.where(who[:, None], know, self.fenced[k])

    def flag(self, givers, takers, reach, releases, acquires):
        """Takers wait for all givers, by accesses that reach so far."""
        shape, before = self.shape, self.tick(givers)
        for ours, theirs in itertools.product(range(shape.blocks), repeat=2):
            give, take = givers & (shape.block == theirs), takers & (shape.block == ours)
            if not give.any() or not take.any():
                continue
            far = shape.far[give][0, take][0]
            if reach < far and not self.trusting:
                continue
            self.teachers[take] |= self.teachers[give].any(axis=0)
            self.teachers[take, theirs] = True
            self.teachers[self.teachers.sum(axis=1) > 1] = True
            news = (before if releases else self.fenced[far])[give].max(axis=0)
            if acquires:
                self.learn(take, news)
            else:
                self.pending[far] = self.pending[far].copy()
                self.pending[far][take] = np.maximum(self.pending[far][take], news)

    def access(self, line, access, places, actors=None):
        self.now += 1
        who = np.flatnonzero(places != NOT_HERE)
        begin = places[who] + access.base(self.shape)[who]
        know = self.know[who]
        if access.stores and actors is None:
            for pending in self.pending:  # A store that depends on a flag cannot come before it.
                know = np.maximum(know, pending[who])
        actors_here = who if actors is None else actors[who]
        mine = (line, access, actors_here, begin, self.now, know, self.teachers[who], len(self.past))
        self.settle(access, begin)
        for other in [*self.past, mine]:
            self.compare(mine, other)
        self.past.append(mine)
        if access.strength and access.stores:
            self.last_flag[self.shape.block[who]] = len(self.past)
        runs = np.cumsum(np.diff(begin, prepend=0) != access.size) * self.shape.warps + self.shape.warp[who]
        for unit, many in (4, begin // 4), (128, np.unique(np.stack([runs, begin // 128]), axis=1)[1]):
            for place in many:
                self.traffic[access.kind, access.memory, unit, place] += 1
        if actors is None:
            self.tick(who)

    def begin_copies(self):
        """Numbers for one of each thread."""
        first = self.know.shape[1]
        more = lambda known: np.hstack([known, np.zeros((self.shape.all, self.shape.all), int)])
        self.know = more(self.know)
        self.pending, self.fenced = list(map(more, self.pending)), list(map(more, self.fenced))
        return first + self.shape.id

    def wait_for_copies(self, groups):
        """All but the last ones are done."""
        know = self.tick(self.shape.lane < 0)
        for actors in sum(self.copies[:len(self.copies) - groups], []):
            know[self.shape.id, actors] = self.now
        del self.copies[:len(self.copies) - groups]
        self.copies = self.copies or [[]]

    def forgets(self, kinds, memory, word):
        """More happens there than the executor remembers, as its documents say."""
        return any(self.traffic[kind, memory, 4, word] > 2 + (kind == "part")
                   or self.traffic[kind, memory, 128, word // 32] > 2 for kind in kinds - {"st"})

    def settle(self, access, begin):
        """Of stores to shared memory it is told if somebody reads what they have left."""
        for byte in set((begin[:, None] + np.arange(access.size)).flat) if self.clashes else ():
            for pair in self.clashes.pop((access.memory, byte), ()):
                if access.verb not in ("st", "cp"):
                    self.told[pair].add((access.memory, byte))

    def end(self):
        for byte, pairs in self.clashes.items():
            for pair in pairs:
                self.told[pair].add(byte)

    def bytes_of(self, access, some, low, high):
        spans = set(zip(low[some], high[some]))
        return {(access.memory, byte) for first, last in spans for byte in range(first, last)}

    def compare(self, mine, other):
        line, access, who, begin, now, know, teachers, number = mine
        their_line, theirs, they, their_begin, time, _, their_teachers, their_number = other
        if access.memory != theirs.memory or not (access.stores or theirs.stores):
            return
        low = np.maximum(begin[:, None], their_begin)
        high = np.minimum(begin[:, None] + access.size, their_begin + theirs.size)
        races = (low < high) & (know[:, they] < time) & (who[:, None] != they)
        if races.any() and access.strength and theirs.strength:
            far = self.shape.far[who][:, they]
            races &= (far > min(access.reach, theirs.reach)) | (not access.may_meet(theirs))
        if access.verb == theirs.verb == "cp" and access.size == theirs.size:  # Of the same bytes is no harm.
            if races.any():
                self.alike.add(tuple(sorted((line, their_line))))
            one, two = access.source[who % self.shape.all], theirs.source[they % self.shape.all]
            races &= (one[:, None] != two) | (begin[:, None] != their_begin)
        if not races.any():
            return
        pair = tuple(sorted((line, their_line)))
        found = self.bytes_of(access, races, low, high)
        self.races[pair] |= found
        if not self.trusting:
            return
        one, two = (self.shape.block[threads % self.shape.all] for threads in (who, they))
        # Who reads one flag of a block's has learned from all that the block has set, and from two blocks' all.
        last_flag = self.trusting.last_flag
        races &= ~(teachers[:, two] & (last_flag[two] > their_number))
        races &= ~(their_teachers[:, one].T & (last_flag[one] > number)[:, None])
        found = self.bytes_of(access, races, low, high)
        if access.memory == "shared" and access.is_plain_store and theirs.is_plain_store and not self.shape.is_cluster:
            for byte in found:
                self.clashes[byte].add(pair)
        else:
            self.told[pair] |= found
