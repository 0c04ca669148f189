#!/usr/bin/env python3
"""Runs random kernels, and compares what they give with what a GPU gave.

    fuzz.py check              all programs of tests/fuzz/h200.txt, by the executor
    fuzz.py check --sample 240     so many of them, spread over all
    fuzz.py record 1-20000     on a GPU: writes tests/fuzz/h200.txt
    fuzz.py count              on a GPU with ncu: adds its counters to that file
    fuzz.py show 17            the program of a seed
    fuzz.py compare 17-40      on which of them the two sides disagree
    fuzz.py shrink 17          the smallest part of it that two sides disagree on

The two sides are the executor and a GPU; where there is none, the executor with
optimised and with plain PTX. A program that fails in `check` is shrunk there.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

import generate
from harness import Problem, script
from ladder import ncu, toolchain
from ladder.measured import program_record, random_programs

RECORD = ROOT / random_programs.RECORD
ASIDE = ROOT / random_programs.ASIDE
SOURCES = ("generate.py", "palette.py", "palette.txt", "harness.h")
BATCH = 50  # Programs in a file: most of nvcc's time is theirs, not the headers'.
CORES = len(os.sched_getaffinity(0))
SECONDS = 120  # For a batch; one that takes longer hangs.
SHRUNK = 3  # Failing programs that check makes small.

_L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_SHARED = "smsp__sass_inst_executed_op_shared_{}.sum"
_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = [*(_L1.format("requests", op) for op in ("ld", "st", "red", "atom")),
           *(_L1.format("sectors", op) for op in ("ld", "st")),
           *(pattern.format(op) for pattern in (_SHARED, _WAVEFRONTS) for op in ("ld", "st")),
           "smsp__inst_executed_op_shared_atom.sum"]


# ---- Building and running ----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Side:
    """What runs a program: a backend, with optimised or plain PTX."""
    backend: str
    name: str

    @property
    def folder(self):
        return f"build/fuzz/{self.name}"

    def __str__(self):
        who = "the GPU" if self.backend == "gpu" else "the executor"
        return f"{who}, without optimisation" if self.name == "plain" else who


CPU, GPU = Side("cpu", "cpu"), Side("gpu", "gpu")
# The Makefile knows these two names. A record holds what PTX says, not what ptxas 13.0
# makes of it from -O1 on (aside.txt). Most seeds up to 8,140 are older than that choice.
CPU_PLAIN = Side("cpu", "plain")
GPU_LITERAL = Side("gpu", "literal")


@dataclasses.dataclass(frozen=True)
class Case:
    """A program, with what was made simple in it; its number is unique in a batch."""
    number: int
    program: generate.Program
    simplified: frozenset = frozenset()

    def name(self):
        return f"k{self.number}"


def write_batch(side, stem, cases):
    """The target that the Makefile makes of them."""
    text = generate.batch([(case.name(), dataclasses.replace(case.program, seed=case.number), case.simplified)
                           for case in cases])
    source = ROOT / side.folder / f"{stem}.cu"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    return f"build/{side.backend}/{side.folder}/{stem}.program"


def build(backend, targets):
    built = toolchain.make(ROOT, backend, "-k", f"-j{CORES}", *targets)
    if built.returncode:
        print(built.stdout[-4000:], flush=True)


def forget(target):
    """A built batch is large, and there are hundreds."""
    path = ROOT / target
    source = ROOT / pathlib.Path(*pathlib.Path(target).parts[2:]).with_suffix(".cu")
    for one in (path, path.with_suffix(".o"), path.with_suffix(".d"), source):
        one.unlink(missing_ok=True)


def execute(target, numbers, **environment):
    """Number -> a hash, or what went wrong."""
    answers, left = {}, list(numbers)
    if not (ROOT / target).is_file():
        return dict.fromkeys(left, "does not compile")
    while left:
        try:
            done = subprocess.run([ROOT / target, *map(str, left)], cwd=ROOT, text=True, capture_output=True,
                                  errors="replace", timeout=SECONDS, env=os.environ | environment)
        except subprocess.TimeoutExpired as late:
            out = (late.stdout or b"").decode()
            done = subprocess.CompletedProcess((), 1, out, "it hung")
        told = dict(re.findall(r"^(\d+) (\w+)$", done.stdout, re.M))
        answers |= {int(number): answer for number, answer in told.items()}
        answers |= findings(done.stderr)
        known = [number for number in left if number in answers]
        if len(known) < len(left) and not any(answers[n].startswith("cudaError") for n in known[-1:]):
            # It ended without a word about the next.
            guilty = next(number for number in left if number not in answers)
            answers[guilty] = f"ended with status {done.returncode}: {done.stderr[-300:].strip()}"
        left = [number for number in left if number not in answers]
    return answers


def findings(stderr):
    """Number -> what the executor found; notes are no error."""
    found = re.findall(r"^simt: ((?!note: ).*)\n  in k(\d+) (at .*)", stderr, re.M)
    return {int(number): f"{message}, {place}" for message, number, place in reversed(found)}


def run_sides(sides, cases, stem):
    """[number -> answer], by each side, for cases of one batch."""
    targets = [write_batch(side, stem, cases) for side in sides]
    for backend in sorted({side.backend for side in sides}):
        build(backend, [target for target, side in zip(targets, sides) if side.backend == backend])
    answers = [execute(target, [case.number for case in cases]) for target in targets]
    for target in targets:
        forget(target)
    return answers


def has_gpu():
    return subprocess.run([ROOT / "common/setup/backend.sh"], capture_output=True, text=True).stdout.startswith("gpu")


# ---- Many programs -----------------------------------------------------------


def write_seeds(side, seeds):
    return write_batch(side, f"seeds_{seeds[0]}_{len(seeds)}", [Case(s, generate.program(s)) for s in seeds])


def run_all(side, seeds, visit):
    """Builds and runs programs batch by batch, several at a time; visit(batch, target,
    answers) for each, after which the batch is forgotten unless it returns True."""
    batches = [seeds[k:k + BATCH] for k in range(0, len(seeds), BATCH)]
    wave = 6 * CORES  # The longest is waited for, so a wave has many.
    with concurrent.futures.ProcessPoolExecutor(CORES) as pool:
        for first in range(0, len(batches), wave):
            some = batches[first:first + wave]
            targets = list(pool.map(functools.partial(write_seeds, side), some))
            build(side.backend, targets)
            for batch, target, answers in zip(some, targets, pool.map(execute, targets, some)):
                if not visit(batch, target, answers):
                    forget(target)
            if len(batches) > wave:
                print(f"{min(len(seeds), (first + wave) * BATCH)} of {len(seeds)} programs ran", flush=True)


# ---- The record --------------------------------------------------------------


def version():
    """Changes with whatever decides what a seed's program is."""
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in SOURCES)).hexdigest()[:12]


INTRODUCTION = "# What a GPU gave for the programs of tests/fuzz: "


@dataclasses.dataclass
class Record:
    context: str
    generator: str
    hashes: dict  # Seed -> what it wrote, as a hash.
    counters: dict  # Seed -> [number], in the order of METRICS.

    def text(self):
        lines = [f"{INTRODUCTION}{self.context}",
                 f"generator {self.generator}", "", "# From seed on: a hash for each program."]
        for first in sorted({seed // 10 * 10 for seed in self.hashes}):
            some = [self.hashes.get(seed, "-") for seed in range(first, first + 10)]
            lines.append(f"{first}: {' '.join(some)}")
        lines += ["", f"# Seed: what ncu counted: {', '.join(METRICS)}"]
        lines += [f"{seed} = {' '.join(map(str, numbers))}" for seed, numbers in sorted(self.counters.items())]
        return "\n".join(lines) + "\n"

    @staticmethod
    def read(path):
        try:
            text = path.read_text()
        except OSError as error:
            raise Problem(f"no record: {error}. `fuzz.py record` on a machine with a GPU makes one") from error
        generator = re.search(r"^generator (\w+)$", text, re.M)
        hashes = {}
        for first, some in re.findall(r"^(\d+): (.*)$", text, re.M):
            hashes |= {int(first) + k: one for k, one in enumerate(some.split()) if one != "-"}
        counters = {int(seed): [int(n) for n in numbers.split()]
                    for seed, numbers in re.findall(r"^(\d+) = (.*)$", text, re.M)}
        if not generator or not hashes:
            raise Problem(f"{path} holds no record")
        context = text.splitlines()[0].removeprefix(INTRODUCTION)
        return Record(context, generator[1], hashes, counters)


def context():
    of = program_record.context()
    return f"{of['gpu']}, driver {of['driver']}, CUDA {of['cuda']}, {of['date']}, commit {of['commit']}"


def record(seeds, path):
    if not has_gpu():
        raise Problem("a record is made on a machine with a GPU")
    made = Record(context(), version(), {}, {})
    if path.is_file() and (known := Record.read(path)).generator == made.generator:
        made.hashes, made.counters = known.hashes, known.counters
    seeds = [seed for seed in seeds if seed not in made.hashes]
    wrong = {}

    def visit(batch, target, answers):
        for seed, answer in answers.items():
            (made.hashes if is_hash(answer) else wrong)[seed] = answer
        path.write_text(made.text())  # What is there stays if time runs out.

    run_all(GPU_LITERAL, seeds, visit)
    for seed, answer in sorted(wrong.items()):
        print(f"FAIL  seed {seed}: {answer}")
    print(f"{path}: {len(made.hashes)} passed, {len(wrong)} failed")
    return bool(wrong)


def is_hash(answer):
    return re.fullmatch("[0-9a-f]{8}", answer) is not None


# ---- Counters ----------------------------------------------------------------


def count(known, path, seconds):
    """Has ncu count what it can in that time."""
    require_fresh(known)
    seeds = [seed for seed in sorted(known.hashes) if generate.is_counted(seed) and seed not in known.counters]
    targets = []
    started = time.monotonic()
    run_all(GPU, seeds, lambda batch, target, answers: targets.append((target, batch)) or True)
    for target, batch in targets:
        if time.monotonic() - started < seconds:
            known.counters |= count_by_ncu(target, batch)
            path.write_text(known.text())
            print(f"ncu counted {len(known.counters)} of {len(seeds)} programs", flush=True)
        forget(target)
    return 0


def count_by_ncu(target, seeds):
    done = subprocess.run(["ncu", *ncu.arguments(METRICS), ROOT / target, *map(str, seeds)],
                          cwd=ROOT, text=True, capture_output=True)
    return {int(kernel[1:]): [int(numbers[metric]) for metric in METRICS]
            for kernel, _, _, numbers in ncu.read(done.stdout, METRICS)}


def count_by_executor(target, seeds):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        execute(target, seeds, SIMT_REPORT=report.name)
        launches = json.load(report)["launches"]
    return {int(ncu.short_name(one["kernel"])[1:]): [int(one["metrics"][metric]) for metric in METRICS]
            for one in launches}


def differences(ours, theirs):
    return [f"{metric}: {a}, on the GPU {b}" for metric, a, b in zip(METRICS, ours, theirs) if a != b]


# ---- Checking ----------------------------------------------------------------


def spread(seeds, count):
    """So many of them, from the first to the last."""
    return [seeds[k * len(seeds) // count] for k in range(count)]


@functools.cache
def set_aside():
    """("result" or "counters", seed) of what the record cannot be compared with."""
    return {(kind, seed) for cause in random_programs.causes(ASIDE.read_text())
            for kind, seeds in (("result", cause.results), ("counters", cause.counters)) for seed in seeds}


def judge(known, seed, answer, counted):
    """What is wrong with a program, or None."""
    if not is_hash(answer):
        return answer
    same = answer == known.hashes[seed]
    if same == (("result", seed) in set_aside()):
        return (f"its result is the GPU's: take it out of {ASIDE.name}" if same
                else f"{answer} instead of {known.hashes[seed]}")
    if not counted:
        return None
    wrong = differences(counted, known.counters[seed])
    if bool(wrong) == (("counters", seed) in set_aside()):
        return None
    return "; ".join(wrong) or f"its counters are the GPU's: take it out of {ASIDE.name}"


def require_fresh(known):
    if known.generator != version():
        raise Problem(f"the record is stale: it is of generator {known.generator}, and this is {version()}. "
                      "`fuzz.py record` on a machine with a GPU makes a new one")


def check(known, seeds):
    require_fresh(known)
    wrong, side = {}, GPU if os.environ.get("BACKEND") == "gpu" else CPU

    def visit(batch, target, answers):
        of_ncu = [seed for seed in batch if seed in known.counters and is_hash(answers[seed]) and side == CPU]
        counters = count_by_executor(target, of_ncu) if of_ncu else {}
        for seed in batch:
            if trouble := judge(known, seed, answers[seed], counters.get(seed)):
                wrong[seed] = trouble
                print(f"FAIL  seed {seed}: {trouble}", flush=True)

    run_all(side, seeds, visit)
    for seed in sorted(wrong)[:SHRUNK]:
        shrink(seed)
    aside = len({seed for _, seed in set_aside()} & set(seeds) - wrong.keys())
    print(f"{len(seeds) - len(wrong) - aside} passed, {len(wrong)} failed, {aside} skipped")
    return bool(wrong)


# ---- Shrinking ---------------------------------------------------------------


class Shrinker:
    """Makes ever more of a program simple, while the two sides still disagree."""

    def __init__(self, program, sides):
        self.program, self.sides = program, sides
        self.tried = 0

    def disagree(self, candidates):
        """Which sets of simplified parts leave a program that fails, and how."""
        cases = [Case(k, self.program, one) for k, one in enumerate(candidates)]
        self.tried += 1
        answers = run_sides(self.sides, cases, f"shrink_{self.program.seed}_{self.tried}")
        return [kind_of([answer[case.number] for answer in answers]) for case in cases]

    def shrink(self):
        """The parts that can be simple, or None where the sides agree."""
        done = frozenset()
        kind = self.disagree([done])[0]
        if not kind:
            return None
        at_once = None
        while True:
            left = list(generate.numbers(self.program.pieces, done))
            at_once = min(at_once or len(left), max(1, len(left) // 8))
            chunks = [frozenset(left[k:k + at_once]) for k in range(0, len(left), at_once)]
            kinds = self.disagree([done | chunk for chunk in chunks]) if chunks else []
            kept = [chunk for chunk, one in zip(chunks, kinds) if one == kind]
            if kept:
                together = done.union(*kept)
                all_fail = len(kept) > 1 and self.disagree([together])[0] == kind
                done = together if all_fail else done | kept[0]
            elif at_once == 1:
                return done
            else:
                at_once //= 2


def kind_of(answers):
    """How a program fails, given both sides' answers; None if it does not."""
    for answer in answers:
        if not is_hash(answer):
            return re.split("[:,]", answer)[0]
    return "a difference" if len(set(answers)) > 1 else None


def tidy(text):
    """Without declarations of what nobody names again."""
    while True:
        lines = text.splitlines()
        kept = [line for line in lines if not unused(line, text)]
        if len(kept) == len(lines):
            return text
        text = "\n".join(kept) + "\n"


def unused(line, text):
    found = re.match(r"\s*(?:__shared__ )?(?:const )?(?:alignas\(8\) )?(?:u\d+|bool|uint4) (\w+)(?:\[\w+\])?(?: = [^,]*|\s*);$", line)
    return bool(found) and len(re.findall(rf"\b{found[1]}\b", text)) == 1


def two_sides():
    return (CPU, GPU) if has_gpu() else (CPU, CPU_PLAIN)


def shrink(seed):
    program, sides = generate.program(seed), two_sides()
    print(f"Shrinking seed {seed}: {sides[0]} against {sides[1]} ...", flush=True)
    simplified = Shrinker(program, sides).shrink()
    if simplified is None:
        print(f"Seed {seed}: {sides[0]} and {sides[1]} agree. "
              + ("" if has_gpu() else "Shrink it on a machine with a GPU."))
        return True
    print(f"// Seed {seed}, <<<{program.blocks}, {program.threads}>>>\n"
          + tidy(program.text(f"k{seed}", simplified)), flush=True)
    return False


# ---- The command -------------------------------------------------------------


def seeds_of(texts):
    """17 20-22 -> [17, 20, 21, 22]"""
    found = []
    for text in texts:
        first, _, last = text.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, some in (("check", "*"), ("record", "+"), ("show", "+"), ("compare", "+"), ("shrink", "+")):
        commands.add_parser(name).add_argument("seeds", nargs=some, metavar="SEED or FIRST-LAST")
    commands.choices["check"].add_argument("--sample", type=int, metavar="N", help="only N of them")
    commands.add_parser("count").add_argument("--seconds", type=int, default=3600, help="how long ncu may take")
    for name in ("check", "record", "count"):
        commands.choices[name].add_argument("--file", type=pathlib.Path, default=RECORD, help="the record")
    return parser.parse_args()


def main():
    options = arguments()
    if options.command == "count":
        return count(Record.read(options.file), options.file, options.seconds)
    seeds = seeds_of(options.seeds)
    if options.command == "show":
        print("\n".join(generate.program(seed).text(f"k{seed}") for seed in seeds))
        return 0
    if options.command == "record":
        return record(seeds, options.file)
    if options.command == "shrink":
        return any([shrink(seed) for seed in seeds])
    if options.command == "compare":
        return compare(seeds)
    known = Record.read(options.file)
    seeds = seeds or sorted(known.hashes)
    return check(known, spread(seeds, options.sample) if options.sample else seeds)


def answers_of(side, seeds):
    found = {}
    run_all(side, seeds, lambda batch, target, answers: found.update(answers))
    return found


def compare(seeds):
    sides = two_sides()
    ours, theirs = (answers_of(side, seeds) for side in sides)
    wrong = [seed for seed in seeds if kind_of([ours[seed], theirs[seed]])]
    for seed in wrong:
        print(f"FAIL  seed {seed}: {sides[0]} {ours[seed]}, {sides[1]} {theirs[seed]}")
    for seed in wrong[:SHRUNK]:
        shrink(seed)
    print(f"{len(seeds) - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    script("fuzz", main)
