"""Reads the PTX that nvcc makes: its functions, their loops, their lines."""

import collections
import dataclasses
import pathlib
import re
import subprocess

from ladder.pages import Problem

FUNCTION = re.compile(
    r"^[ \t]*(?:\.\w+[ \t]+)*\.(?:entry|func)\b\s*(?:\([^)]*\)\s*)?(?P<name>[\w$]+)", re.M
)
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
STATEMENT = re.compile(
    r"\s*(?:(?P<loc>\.loc[^\n]*)|(?P<label>[\w$%]+):(?!:)|[{}]|(?P<text>[^;]+);)"
)
LOCATION = re.compile(r"\.loc\s+(\d+\s+\d+\s+\d+)(?:.*inlined_at\s+(\d+\s+\d+\s+\d+))?")
INSTRUCTION = re.compile(
    r"(?P<guard>@!?%\w+\s+)?(?P<opcode>[a-z][\w.:]*)\s*(?P<operands>.*)", re.S
)


@dataclasses.dataclass(frozen=True)
class Instruction:
    opcode: str
    guarded: bool
    operands: str
    lines: frozenset  # (file number, line) it stems from, callers included.


class Kernel:
    """One function of a PTX module: its instructions and its loops."""

    def __init__(self, body):
        self.instructions = []
        self.labels = {}
        self.branch_tables = {}
        self._parse(body)
        self.successors = [self._next(i) for i in range(len(self.instructions))]
        self.predecessors = [[] for _ in self.instructions]
        for i, successors in enumerate(self.successors):
            for s in successors:
                self.predecessors[s].append(i)

    def _parse(self, body):
        at_location, lines, label = {}, frozenset(), None
        for statement in STATEMENT.finditer(body):
            if statement["loc"]:
                own, caller = LOCATION.match(statement["loc"]).groups()
                lines = frozenset([_file_and_line(own)])
                if caller:
                    lines |= at_location.get(_key(caller), {_file_and_line(caller)})
                at_location[_key(own)] = lines
            elif statement["label"]:
                label = statement["label"]
                self.labels[label] = len(self.instructions)
            elif (text := (statement["text"] or "").strip()).startswith(".branchtargets"):
                self.branch_tables[label] = re.findall(r"[\w$]+", text)[1:]
            elif text and not text.startswith("."):
                self._add(text, lines)

    def _add(self, text, lines):
        found = INSTRUCTION.fullmatch(text)
        if not found:
            raise Problem(f"cannot read this PTX: {text}")
        self.instructions.append(
            Instruction(found["opcode"], bool(found["guard"]), found["operands"], lines)
        )

    def _next(self, i):
        """The indices of the instructions that may run after instruction i."""
        x = self.instructions[i]
        kind = x.opcode.split(".")[0]
        targets = []
        if kind == "bra":
            targets = [x.operands.strip()]
        elif kind == "brx":
            targets = self.branch_tables[x.operands.split(",")[-1].strip()]
        after = {self.labels[t] for t in targets}
        if x.guarded or kind not in ("bra", "brx", "ret", "exit", "trap"):
            after.add(i + 1)
        return sorted(s for s in after if s < len(self.instructions))

    def on_cycles(self):
        """The instructions that can run again after they ran."""
        everything = range(len(self.instructions))
        return {i for i in everything if i in self._reachable(self.successors[i])}

    def in_loops_of(self, line):
        """The instructions of every loop that a branch of this line leaves."""
        inside = set()
        for loop in self._loops():
            exits = [i for i in loop if not loop.issuperset(self.successors[i])]
            if any(line in self.instructions[i].lines for i in exits):
                inside |= loop
        return inside

    def of_line(self, line):
        return {i for i, x in enumerate(self.instructions) if line in x.lines}

    def _loops(self):
        """The natural loops: for each edge back to a head that dominates it,
        what lies between the two. Loops that share a head are one loop."""
        loops = collections.defaultdict(set)
        for latch, successors in enumerate(self.successors):
            for head in successors:
                if len(self.predecessors[head]) > 1 and self._dominates(head, latch):
                    loops[head] |= self._between(head, latch)
        return loops.values()

    def _dominates(self, head, i):
        return i == head or i not in self._reachable([0], without=head)

    def _between(self, head, latch):
        loop, todo = {head}, [latch]
        while todo:
            i = todo.pop()
            if i not in loop:
                loop.add(i)
                todo += self.predecessors[i]
        return loop

    def _reachable(self, starts, without=None):
        reached, todo = set(), list(starts)
        while todo:
            i = todo.pop()
            if i not in reached and i != without:
                reached.add(i)
                todo += self.successors[i]
        return reached


class Module:
    """The PTX of one source file."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        self.files = {pathlib.Path(path).resolve(): n for n, path in _files(text)}
        mangled = dict(_functions(text))
        demangled = _demangle(list(mangled))
        self.bodies = {plain: mangled[name] for name, plain in demangled.items()}

    def kernel(self, wanted):
        """The one function called `wanted`, template arguments and all."""
        found = {n: b for n, b in self.bodies.items() if _same_name(n, wanted)}
        if len(found) != 1:
            raise Problem(
                f"{len(found)} functions in the PTX answer to '{wanted}', need exactly 1; "
                f"there are: {', '.join(sorted(self.bodies)) or 'none'}"
            )
        return Kernel(*found.values())


def _key(location):
    return tuple(location.split())


def _file_and_line(location):
    return tuple(int(word) for word in location.split()[:2])


def _files(text):
    return [(int(n), path) for n, path in FILE.findall(text)]


def _functions(text):
    """Mangled name and body of every function that has one."""
    for function in FUNCTION.finditer(text):
        opening = re.compile(r"[{;]").search(text, function.end())
        if opening and opening[0] == "{":
            yield function["name"], text[opening.end() : _closing(text, opening.start())]


def _closing(text, at):
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    raise Problem("the PTX ends inside a function")


def _demangle(names):
    """Mangled name -> demangled name."""
    run = subprocess.run(
        ["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True
    )
    return dict(zip(names, run.stdout.splitlines()))


def _same_name(demangled, wanted):
    """Does 'void (anonymous namespace)::f<4>(int)' answer to 'f<4>' or 'f'?

    A template answers to its bare name too, as long as it is the only one."""
    plain = re.sub(
        r"\(anonymous namespace\)::|\s|\((?:int|bool|unsigned int|long)\)", "", demangled
    )
    pattern = re.escape(re.sub(r"\s", "", wanted)) + ("" if "<" in wanted else "(?:<.*>)?")
    return re.search(rf"(?:^|void|::|\W){pattern}(?:\(|$)", plain) is not None
