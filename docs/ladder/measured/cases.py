"""An engine on many cases beside PyTorch, in one process: how they are timed, told and kept.

plots/<name>.py says what the cases are, and how each is done: by "engine", by PyTorch, by
others, and by the roof, which moves as many bytes and does nothing else. A case has a name and
how many bytes must move. plots/data/<gpu>/<date>/<name>.json holds the cases and their times.

All calls of a series are queued while the GPU is held back, so that no time of Python is in
any of them; each works on arrays that have left the L2 cache.
"""

import dataclasses
import datetime
import functools
import math
import pathlib
import statistics

from ladder.measured import bench, records, work
from ladder.measured.tie import tie
from ladder.pages import ROOT

ENGINE, PYTORCH = "engine", "PyTorch"
CALLS, WARM_UP = 40, 5
HELD_BACK = 12_000_000  # Clock cycles: about 6 ms.
MOST_SLOTS = 2000
LARGE = 1 << 27  # Bytes: from here on, the roof is what counts.

# Of an element, by the engines' names of types.
BYTES = {"float": 4, "double": 8, "half": 2, "bfloat16": 2, "int8": 1, "int32": 4, "int64": 8}


@dataclasses.dataclass(frozen=True)
class Time:
    """Of one case, one way; times in microseconds."""
    case: int
    by: str
    p10_us: float
    p50_us: float
    p90_us: float


@dataclasses.dataclass(frozen=True)
class Named:
    """A case as it was recorded."""
    name: str
    bytes: int
    known: str = ""  # Why it was not drawn by chance.


@dataclasses.dataclass(frozen=True)
class Compared:
    """All cases of one run on one GPU."""
    path: pathlib.Path
    context: dict
    cases: list
    times: list

    @functools.cached_property
    def ways(self):
        """The median of each way, for each case."""
        return [{t.by: t.p50_us for t in self.times if t.case == k} for k in range(len(self.cases))]

    def us(self, k, by):
        return self.ways[k][by]

    def ratio(self, k):
        """PyTorch's time over the engine's."""
        return self.us(k, PYTORCH) / self.us(k, ENGINE)

    def of_roof(self, k):
        """The roof's time over the engine's; the context says what the roof is called."""
        return self.us(k, self.context["roof"]) / self.us(k, ENGINE)

    @property
    def slowest_first(self):
        """Numbers of the cases, the worst beside PyTorch first."""
        return sorted(range(len(self.cases)), key=self.ratio)

    @property
    def mean(self):
        """Geometric, of all ratios."""
        return math.exp(statistics.mean(math.log(self.ratio(k)) for k in range(len(self.cases))))

    @property
    def large(self):
        return [k for k, case in enumerate(self.cases) if case.bytes >= LARGE]

    def least_of_roof(self, ending):
        """Of the large cases whose name ends so."""
        return min((self.of_roof(k) for k in self.large if self.cases[k].name.endswith(ending)), default=None)

    def worst_beside(self, by):
        """The least of another's time over the engine's."""
        return min((ways[by] / ways[ENGINE] for ways in self.ways if by in ways), default=None)


# ---- Timing ------------------------------------------------------------------


class Pool:
    """Random elements of one type, more than four times what the L2 cache holds."""

    def __init__(self, torch, name, most):
        kind = getattr(torch, name)
        self.size = BYTES[name]
        count = max(4 * cache_of(torch), 2 * most) // self.size
        whole = not kind.is_floating_point
        self.memory = (torch.randint(-100, 100, (count,), dtype=kind, device="cuda") if whole
                       else torch.randn(count, dtype=kind, device="cuda"))

    def arrays(self, *shape):
        """As many as there is room for, each at an address of 512 bytes."""
        size = math.prod(shape)
        step = max(1, -(-size * self.size // 512)) * 512 // self.size
        slots = min(MOST_SLOTS, self.memory.numel() // step)
        return [self.memory[k * step:k * step + size].view(shape) for k in range(slots)]


def cache_of(torch):
    """The bytes of the L2 cache."""
    return torch.cuda.get_device_properties(0).L2_cache_size


def slot_of(call, slots):
    """Far from each other, and none twice but where all of them are more than the cache holds."""
    return 1 + call * ((slots - 1) // CALLS) if slots > CALLS else call % slots


def pytorch():
    """The module, or None where it is absent: then there is nothing to compare with."""
    try:
        import torch
    except ImportError as error:
        print(f"PyTorch is absent ({error}), and there is nothing to compare with.")
        return None
    return torch


class Timer:
    def __init__(self, torch):
        self.torch = torch
        self.others = torch.zeros(cache_of(torch), device="cuda")  # Four times as many bytes.

    def percentiles(self, call, slots):
        """(10th, 50th, 90th percentile) of CALLS calls, in µs, after others have filled the cache."""
        for _ in range(WARM_UP):
            call(0)
        self.others.sum()
        return work.percentiles(self.torch, lambda k: call(slot_of(k, slots)), CALLS, HELD_BACK)

    def times(self, number, ways, slots):
        """A Time for each way that there is."""
        for by, call in ways.items():
            if call is not None:
                yield Time(number, by, *(round(us, 3) for us in self.percentiles(call, slots)))


# ---- What is told and kept ---------------------------------------------------


def tell(compared):
    """A line for each case, the slowest first, and what they are together."""
    roof = compared.context["roof"]
    print(f"{'':60} engine us  x torch  of the {roof}")
    for k in compared.slowest_first:
        more = "".join(f"  {us / compared.us(k, ENGINE):.2f} x {by}" for by, us in compared.ways[k].items()
                       if by not in (ENGINE, PYTORCH, roof))
        print(f"{compared.cases[k].name:60} {compared.us(k, ENGINE):10.2f} {compared.ratio(k):8.2f} "
              f"{100 * compared.of_roof(k):10.1f} %  {compared.cases[k].known}{more}")
    worst = compared.ratio(compared.slowest_first[0])
    large = [compared.of_roof(k) for k in compared.large]
    print(f"{len(compared.cases)} cases: {compared.mean:.3f} x PyTorch (geometric mean), the worst {worst:.2f} x; "
          f"of {len(large)} from {LARGE:,} bytes on, {sum(part >= 0.9 for part in large)} reach 90 % of the {roof}.")


def context(torch, command, roof, sources, **more):
    """Where the numbers come from."""
    commit, dirty = bench.checkout()
    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
            "commit": commit, "dirty": dirty, "date": datetime.date.today().isoformat(),
            "command": command, "roof": roof, "calls": CALLS, **more,
            "sources": {source: tie(ROOT, source) for source in sources}}


def keep(name, of, asked, times):
    """Tells and writes what was measured."""
    folder = bench.DATA / records.gpu_folder(of["gpu"]) / of["date"]
    named = [Named(case.name, case.bytes, case.known) for case in asked]
    path = folder / f"{name}.json"
    tell(Compared(path, of, named, times))
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(records.sealed({"context": of, "cases": [dataclasses.asdict(case) for case in named],
                                    "times": [dataclasses.asdict(time) for time in times]}))
    print(f"Wrote {path.relative_to(ROOT)}.")


def newest(root, name):
    """The newest run on the GPU of the text, be it of earlier versions."""
    return recorded(root, name) or _never(name)


def _never(name):
    raise records.Unmeasured(f"plots/{name}.py was never run on {records.REFERENCE_GPU}: run `make {name}` there")


def recorded(root, name):
    """The same, or None where there is none."""
    found = sorted(root.glob(f"plots/data/{records.REFERENCE_GPU}/*/{name}.json"))
    if not found:
        return None
    path = found[-1]
    try:
        data = records.opened(path)
        compared = Compared(path, data["context"], [Named(**case) for case in data["cases"]],
                            [Time(**time) for time in data["times"]])
        for k in range(len(compared.cases)):
            compared.ratio(k), compared.of_roof(k)
        sources = data["context"]["sources"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise records.RecordError(f"{path}: {error!r}: run `make {name}` again") from error
    for source, then in sources.items():
        records.note_stale(then, (root / source).is_file() and tie(root, source),
                           f"{path.relative_to(root)} is of an earlier version of {source}: "
                           f"`make {name}` measures it anew")
    return compared
