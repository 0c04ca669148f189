"""What ncu counted and what the executor counts, launch by launch.

plots/data/<gpu>/<date>/parity.json holds both; tests/parity/exceptions.txt
holds what is known to differ, and why.
"""

import dataclasses
import json
import pathlib
import re

from ladder.measured import bench, records
from ladder.measured.tie import tie

EXCEPTIONS = pathlib.Path("tests/parity/exceptions.txt")
# Loops that lanes leave one by one: here the two sides may differ by more.
LEAVING = "tests/parity/leaving.cu"

_L1 = "l1tex__{}_pipe_lsu_mem_global_op_{}.sum"
_WAVEFRONTS = "{}_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_HARDWARE, _INSTRUCTIONS = "l1tex_", "smsp__sass_l1tex"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_PER_SECTOR = "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.pct"
_TARGETS = "smsp__sass_branch_targets{}.sum"
_UNIFORM = "smsp__sass_average_branch_targets_threads_uniform.pct"
_LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"


def _each(pattern, name, ops):
    return [pattern.format(name, op) for op in ops]


# What is compared, by the word that tables and exceptions.txt use.
QUANTITIES = {
    "requests": _each(_L1, "t_requests", ("ld", "st", "red", "atom")),
    "sectors": _each(_L1, "t_sectors", ("ld", "st", "red", "atom")),
    "bytes per sector": [_PER_SECTOR.format(op) for op in ("ld", "st")],
    "shared instructions": [
        *(f"smsp__sass_inst_executed_op_shared_{op}.sum" for op in ("ld", "st")),
        "smsp__inst_executed_op_shared_atom.sum"],
    "wavefronts": _each(_WAVEFRONTS, _HARDWARE, ("ld", "st")),
    "bank conflicts": [_CONFLICTS.format(op) for op in ("ld", "st")],
    "uniform branches": [_UNIFORM],
    "active lanes": [_LANES],
}
# What a page calls those that it shows.
WORDS = {
    _L1.format("t_requests", "ld"): "load requests",
    _L1.format("t_sectors", "ld"): "sectors of loads",
    _PER_SECTOR.format("ld"): "loaded bytes that are used, %",
    _L1.format("t_requests", "st"): "store requests",
    _L1.format("t_sectors", "st"): "sectors of stores",
    _L1.format("t_requests", "red"): "reduction requests",
    _L1.format("t_sectors", "red"): "sectors of reductions",
    _L1.format("t_requests", "atom"): "atomic requests",
    _L1.format("t_sectors", "atom"): "sectors of atomics",
    "smsp__sass_inst_executed_op_shared_ld.sum": "shared loads",
    _WAVEFRONTS.format(_HARDWARE, "ld"): "wavefronts of shared loads",
    _CONFLICTS.format("ld"): "bank conflicts of shared loads",
    _WAVEFRONTS.format(_HARDWARE, "st"): "wavefronts of shared stores",
    _CONFLICTS.format("st"): "bank conflicts of shared stores",
    _TARGETS.format(""): "branches",
    _TARGETS.format("_threads_divergent"): "divergent branches",
    _LANES: "active threads per warp instruction",
}
EXACT = tuple(QUANTITIES)[:6]
# Not compared by themselves.
BACKGROUND = [*(_TARGETS.format(kind)
                for kind in ("", "_threads_uniform", "_threads_divergent")),
              *_each(_WAVEFRONTS, _INSTRUCTIONS, ("ld", "st"))]
METRICS = [m for metrics in QUANTITIES.values() for m in metrics] + BACKGROUND

ROUNDING = 0.0051  # ncu prints two decimals.
POINTS = 2  # Of a hundred branches, or of a hundred lanes.
RELATIVE = 0.10  # For loops that lanes leave one by one.


@dataclasses.dataclass(frozen=True)
class Launch:
    kernel: str  # Without parameters, with template arguments.
    grid: list
    block: list
    ncu: dict  # metric -> number
    executor: dict

    def same_launch(self, other):
        """ncu and we spell template arguments differently."""
        return (base(self.kernel), self.grid, self.block) == (
            base(other.kernel), other.grid, other.block)


@dataclasses.dataclass(frozen=True)
class Parity:
    context: dict
    programs: dict  # source -> [Launch]
    ties: dict = dataclasses.field(default_factory=dict)  # source -> of what ncu counted
    later: dict = dataclasses.field(default_factory=dict)  # source -> when, if after the rest


@dataclasses.dataclass(frozen=True)
class Exception_:
    """A difference that is known: a kernel of a program, and quantities."""
    program: str
    kernel: str
    quantities: tuple
    cause: str

    def is_of(self, program):
        return program in (self.program, f"tests/parity/{self.program}")

    def covers(self, program, launch, quantity):
        return (self.is_of(program)
                and self.kernel in (launch.kernel, base(launch.kernel))
                and quantity in self.quantities)


def base(kernel):
    """Without namespaces, which ncu leaves out, and template arguments."""
    return kernel.partition("<")[0].rpartition("::")[2]


# ncu counts wavefronts by hardware, and by instruction. Where blocks share an SM, the
# banks serve another client first now and then, such as what a load brings, and the
# hardware counts a wavefront and a conflict more, of the same launch another number
# each time.
def arbitration(launch, op):
    """Of ncu's wavefronts, those that no address asks for: what the hardware has
    beyond ncu's count by instruction, provided that the executor agrees with that.
    ldmatrix is in the hardware's count alone, and then nobody can tell."""
    hardware, instructions = (_WAVEFRONTS.format(by, op) for by in (_HARDWARE, _INSTRUCTIONS))
    ours = launch.executor
    if not launch.ncu[instructions] == ours[instructions] == ours[hardware]:
        return 0
    return max(0, launch.ncu[hardware] - launch.ncu[instructions])


def percent_by_arbitration(launch):
    """Of ncu's wavefronts."""
    return 100 * sum(arbitration(launch, op) for op in ("ld", "st")) / (
        sum(launch.ncu[metric] for metric in QUANTITIES["wavefronts"]) or 1)


def of_ncu(launch, metric):
    """What ncu counted; of wavefronts and conflicts, those of the addresses."""
    for op in ("ld", "st"):
        if metric in (_WAVEFRONTS.format(_HARDWARE, op), _CONFLICTS.format(op)):
            return launch.ncu[metric] - arbitration(launch, op)
    return launch.ncu[metric]


# ---- Comparing ---------------------------------------------------------------


def differs(program, launch, quantity):
    """The metrics of a quantity that differ by more than they may."""
    return [metric for metric in QUANTITIES[quantity]
            if not _agree(program, quantity, of_ncu(launch, metric),
                          launch.executor[metric])]


def _agree(program, quantity, ncu, ours):
    if quantity in EXACT:
        return abs(ncu - ours) < ROUNDING
    if program == LEAVING:
        return abs(ncu - ours) <= RELATIVE * ncu
    whole = 32 if quantity == "active lanes" else 100
    return abs(ncu - ours) / whole <= POINTS / 100


def judge(parity, exceptions):
    """Yields (program, quantity, launches compared, what is wrong)."""
    used = set()  # (exception, quantity)
    for program, launches in parity.programs.items():
        for quantity in QUANTITIES:
            troubles = []
            for number, launch in enumerate(launches):
                metrics = differs(program, launch, quantity)
                known = [e for e in exceptions if e.covers(program, launch, quantity)]
                if metrics:
                    used.update((e, quantity) for e in known)
                if metrics and not known:
                    troubles += [difference(number, launch, m) for m in metrics]
            yield program, quantity, len(launches), troubles
    for exception in exceptions:
        for quantity in exception.quantities:
            if (exception, quantity) not in used:
                yield (exception.program, quantity, 1,
                       [f"{exception.kernel} no longer differs: take it out of {EXCEPTIONS}"])


def difference(number, launch, metric):
    return (f"launch {number}, {launch.kernel}: {metric}: ncu {of_ncu(launch, metric):,.10g}, the "
            f"executor {launch.executor[metric]:,.10g}")


def read_exceptions(text):
    """A line that begins at the margin is a cause; below it stand kernels."""
    found, cause = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            cause = line.strip()
            continue
        match = re.fullmatch(r"(\S+) (\S.*): (.+)", line.strip())
        if not match or not cause:
            raise records.RecordError(
                f"{EXCEPTIONS}:{number}: write a cause at the margin, then "
                "indented lines: program.cu kernel: quantity, quantity")
        quantities = tuple(match[3].split(", "))
        for quantity in quantities:
            if quantity not in QUANTITIES:
                raise records.RecordError(
                    f"{EXCEPTIONS}:{number}: '{quantity}' is none of {', '.join(QUANTITIES)}")
        found.append(Exception_(match[1], match[2], quantities, cause))
    return found


# ---- The file ----------------------------------------------------------------


def newest(root, gpu=records.REFERENCE_GPU):
    path = records.recorded(root, "parity.json", gpu)
    if not path:
        raise records.RecordError(f"there is no parity.json of {gpu}: run `make parity` there")
    return path


def newest_of_each(root):
    """Of each GPU, that of the text first."""
    return [newest(root, gpu) for gpu in bench.gpus(root, "parity")]


def merged(parities):
    """What only a later one has counted, too."""
    programs = {name: launches for one in reversed(parities)
                for name, launches in one.programs.items()}
    return dataclasses.replace(parities[0], programs=programs)


def load(path, root):
    try:
        data = records.opened(path)
        metrics, programs, ties, later = data["metrics"], {}, {}, {}
        for program, one in data["programs"].items():
            programs[program] = [
                Launch(name, grid, block, dict(zip(metrics, ncu, strict=True)),
                       dict(zip(metrics, ours, strict=True)))
                for name, grid, block, ncu, ours in one["launches"]]
            ties[program] = one["tie"]
            if "later" in one:
                later[program] = one["later"]
            records.note_stale(one["tie"], tie_of(root, program),
                               f"{path.relative_to(root)} is of an earlier version of {program}, "
                               "or of what it includes: `make parity` on a GPU measures it anew")
        return Parity(data["context"], programs, ties, later)
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, records.RecordError):
            raise
        raise records.RecordError(f"{path}: {error!r}") from error


def text_of(parity, root):
    """One launch a line, so that a diff shows what changed."""
    programs = []
    for program, launches in parity.programs.items():
        lines = ",\n    ".join(
            json.dumps([one.kernel, one.grid, one.block,
                        *([short(side[m]) for m in METRICS]
                          for side in (one.ncu, one.executor))])
            for one in launches)
        later = parity.later.get(program)
        programs.append(f'  {json.dumps(program)}: {{\n   "tie": '
                        f'"{parity.ties.get(program) or tie_of(root, program)}",\n'
                        + (f'   "later": {json.dumps(later)},\n' if later else "") +
                        f'   "launches": [\n    {lines}]}}')
    text = (f'{{"context": {json.dumps(parity.context, indent=1)},\n'
            f' "metrics": {json.dumps(METRICS, indent=1)},\n'
            ' "programs": {\n' + ",\n".join(programs) + "}")
    return text + f',\n "seal": "{records.seal_of(json.loads(text + "}"))}"}}\n'


def short(number):
    """As parity.json holds it."""
    return int(number) if number == int(number) else round(number, 4)


def tie_of(root, program):
    """Of all that decides what a program launches: plots/<op>_count.cpp calls a chapter's file."""
    sources = [program]
    if program.startswith("chapters/"):
        sources.append(f"plots/{records.op_of(pathlib.Path(program))}_count.cpp")
    return tie(root, *sources)
