"""Sweeps a chapter: so many numbers per thread, and so many threads per block.

    python -m ladder.measured.sweep cpu|gpu       `make sweep` calls it so

The chapter is the one whose page says `figure sweep FILE.cu`. Each pair is a copy of that
file with other constants, kCoarse and kBlock, which goes through the contract's checks first. Without a GPU the executor counts what it does, for
plots/data/executor/coarsening.json; with one it is timed, beside reading the array
in the same process, for plots/data/<gpu>/<date>/sweep.json.
"""

import dataclasses
import json
import pathlib
import re
import statistics
import sys

from ladder import counts, pages, toolchain
from ladder.measured import bench, records
from ladder.measured.records import RecordError
from ladder.pages import ROOT, script

COUNTED = "plots/data/executor/coarsening.json"
TIMED = "sweep.json"
COPIES = "build/sweep"

FACTORS = (1, 2, 4, 8, 16, 32, 64)
BLOCKS = (64, 128, 256, 512, 1024)
CASE = counts.Case(1 << 20)
SIZES = (1 << 20, 1 << 24, 1 << 28)
KEPT = ("name", "n", "bytes", "p10_us", "p50_us", "p90_us", "throttled")


@dataclasses.dataclass(frozen=True, order=True)
class Pair:
    coarse: int  # Numbers that a thread adds up by itself.
    block: int

    def __str__(self):
        numbers = "number" if self.coarse == 1 else "numbers"
        return f"{self.coarse} {numbers} per thread, blocks of {self.block}"

    def program(self, source):
        return f"{COPIES}/{records.op_of(source)}.coarse{self.coarse}_block{self.block}"


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What was timed: a record for each pair, all of one GPU and day."""
    path: pathlib.Path
    context: dict
    records: dict  # Pair -> Record


PAIRS = [Pair(coarse, block) for block in BLOCKS for coarse in FACTORS]
CONSTANTS = {"coarse": re.compile(r"(constexpr int kCoarse = )(\d+);"),
             "block": re.compile(r"(constexpr int kBlock = )(\d+);")}


def swept(root):
    """The file that is swept, below the root; None where no page asks for it."""
    found = {pages.beside(path, args.split()[1]).relative_to(root)
             for path, args in pages.directives(root, "figure", "sweep") if len(args.split()) == 2}
    if len(found) > 1:
        raise RecordError(f"two files would be swept: {' and '.join(map(str, sorted(found)))}")
    return next(iter(found), None)


def source_of(root):
    source = swept(root)
    if not source:
        raise RecordError("no page says which file is swept: figure sweep FILE.cu")
    return source


def chapters_own(root):
    """The pair that the chapter's file has."""
    source = source_of(root)
    text = (root / source).read_text()
    found = {name: pattern.findall(text) for name, pattern in CONSTANTS.items()}
    if any(len(constants) != 1 for constants in found.values()):
        raise RecordError(f"{source} lacks kCoarse or kBlock, or has one twice")
    return Pair(**{name: int(value) for name, ((_, value),) in found.items()})


def copy_with(pair):
    text = (ROOT / source_of(ROOT)).read_text()
    for name, pattern in CONSTANTS.items():
        text = pattern.sub(rf"\g<1>{getattr(pair, name)};", text)
    return text


def build(backend, suffix):
    """Every pair's copy, and what make makes of it: Pair -> path."""
    chapters_own(ROOT)  # There are constants to replace.
    source = source_of(ROOT)
    (ROOT / COPIES).mkdir(parents=True, exist_ok=True)
    for pair in PAIRS:
        copy, text = ROOT / f"{pair.program(source)}.cu", copy_with(pair)
        if not copy.is_file() or copy.read_text() != text:
            copy.write_text(text)
    built = {pair: f"build/{backend}/{pair.program(source)}{suffix}" for pair in PAIRS}
    toolchain.made(ROOT, backend, *built.values())
    return built


def context():
    (commit, dirty), source = bench.checkout(), source_of(ROOT)
    return {"commit": commit, "dirty": dirty, "command": "make sweep",
            "source": str(source), "tie": records.tie_of(ROOT, source)}


def read(root, path, how):
    if not path or not path.is_file():
        raise RecordError(f"{source_of(root)} was never swept {how}: run `make sweep` there")
    report, source = records.opened(path), source_of(root)
    records.note_stale(report["context"]["tie"], records.tie_of(root, source),
                       f"{path.relative_to(root)} is of an earlier version of {source}: "
                       f"`make sweep` {how} measures it anew")
    return report


# ---- Without a GPU -----------------------------------------------------------


def count():
    told = context()
    built = build("cpu", ".counts")
    report = {"context": told, "n": CASE.n, "pairs": [
        dataclasses.asdict(pair) | {"counted": of_counts(counts.read(ROOT / path), pair)}
        for pair, path in built.items()]}
    records.write(ROOT / COUNTED, report)


def of_counts(cases, pair):
    """The columns of the table: {name: number}."""
    if CASE not in cases:
        raise RecordError(f"with {pair} the checks fail: see the log beside its program in build/")
    counted = cases[CASE]
    ((_, blocks, _),) = counted.launches
    barriers = blocks * counted.row("barriers per block").value
    rows = ("warp instructions", "load requests", "reduction requests")
    return {"blocks": blocks, "barriers": round(barriers)} | {
        row: round(counted.row(row).value) for row in rows}


def recorded_counts(root):
    """Pair -> {name: number}"""
    report = read(root, root / COUNTED, "without a GPU")
    return {Pair(one["coarse"], one["block"]): one["counted"] for one in report["pairs"]}


def counted(root):
    """The same; refused if the executor counts otherwise by now."""
    found, own = recorded_counts(root), chapters_own(root)
    now = of_counts({CASE: counts.of_source(root, root / source_of(root), CASE)}, own)
    if found.get(own) != now:
        raise RecordError(f"{COUNTED} says {found.get(own)} of {own}, but what is "
                          f"counted now is {now}: run `make sweep` without a GPU again")
    return found


# ---- With one ----------------------------------------------------------------


def time():
    told, pairs = context(), []
    built = build("gpu", ".run")
    for k, (pair, path) in enumerate(built.items(), 1):
        print(f"[{k}/{len(built)}] {pair} ...", flush=True)
        measured = measure(path)
        rows = [{key: row[key] for key in KEPT if key in row} for row in measured["benchmarks"]]
        pairs.append(dataclasses.asdict(pair) | {"benchmarks": rows})
    told = measured["context"] | told
    records.write(bench.place(told, TIMED), {"context": told, "pairs": pairs})


def measure(program):
    bench.SCRATCH.parent.mkdir(parents=True, exist_ok=True)
    sizes = "|".join(map(str, SIZES))
    command = [f"./{program}", f"--record={bench.SCRATCH}",
               f"--benchmark_filter=^({records.READ}|{records.op_of(source_of(ROOT))})/n:({sizes})/"]
    try:
        toolchain.said_by(command, ROOT)
        return json.loads(bench.SCRATCH.read_text())
    finally:
        bench.SCRATCH.unlink(missing_ok=True)


def timed(root, gpu=records.REFERENCE_GPU):
    """The newest Sweep of a GPU."""
    path = records.recorded(root, TIMED, gpu)
    report = read(root, path, f"on {gpu}")
    return Sweep(path, report["context"], {
        Pair(one["coarse"], one["block"]):
            records.Record(path, report["context"], records.rows_of(one["benchmarks"]))
        for one in report["pairs"]})


# ---- What pages and figures show of it ---------------------------------------


def counters_table(root):
    """Header, rows and caption: a row a factor, in blocks of the chapter's size."""
    found, block = counted(root), chapters_own(root).block
    shown = {pair: numbers for pair, numbers in sorted(found.items()) if pair.block == block}
    header = ["numbers per thread", *next(iter(shown.values()))]
    rows = [[str(pair.coarse), *(f"{number:,}" for number in numbers.values())]
            for pair, numbers in shown.items()]
    return header, rows, (f"*{CASE}, blocks of {block} threads; counted without a GPU, the "
                          "same on every machine; instructions are PTX's.*")


def fastest(sweep, n):
    return min(sweep.records, key=lambda pair: sweep.records[pair].headline(n).us)


def read_gbps(sweep, n):
    """The roof: reading alone, the median over the processes of all pairs."""
    return statistics.median(one.row(records.READ, n).gbps for one in sweep.records.values())


if __name__ == "__main__":
    if sys.argv[1:] not in (["cpu"], ["gpu"]):
        sys.exit(__doc__)
    script("sweep", count if sys.argv[1] == "cpu" else time)
