"""What was measured: finds, reads and checks the files in plots/data/.

plots/data/<gpu>/<date>/<chapter folder>.<file stem>.json holds Google
Benchmark's own JSON and, in its context, where and from what it was measured.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import re

from ladder.measured.tie import tie
from ladder.pages import ROOT, Problem

# The GPU whose numbers the text states, and the one that stands beside it in a figure.
REFERENCE_GPU = "nvidia-h200"
SECOND_GPU = "nvidia-h100-80gb-hbm3"

CONTEXT = ("gpu", "driver", "cuda", "l2_bytes", "datasheet_gbps", "date",
           "clocks_before", "clocks_after", "commit", "dirty", "command",
           "source", "tie")

HEADLINE = 1 << 28  # Elements.
FLOOR, COPY, READ = "empty kernel", "copy", "read"
MISALIGNED = " misaligned by one element"  # Ends a series' name.
SIZE = re.compile(r"(\d+)\^(\d+)|[\d,]+")


# A sentence for each stale record that was read, and for each that is missing where others
# are shown; who reads clears them before.
stale, missing = [], []


class RecordError(Problem):
    """A data file is missing, malformed or out of date."""


class Unmeasured(RecordError):
    """Nobody with that GPU has measured the chapter yet."""


def sealed(data):
    """The text of a data file, with a digest of what was measured."""
    return json.dumps(data | {"seal": seal_of(data)}, indent=1) + "\n"


def opened(path):
    """What a data file holds; raises RecordError if somebody has edited it."""
    data = json.loads(path.read_text())
    if data.get("seal") != seal_of(data):
        raise RecordError(f"{path} is not what was measured, for its seal does not fit: "
                          "restore it, or measure again")
    about = data.get("context", data)
    if {"gpu", "date"} <= set(about) and path.parents[2].name == "data":
        of = (gpu_folder(about["gpu"]), about["date"][:10])
        if of != path.parts[-3:-1]:
            raise RecordError(f"{path} is of {' and '.join(of)}, by its own word")
    return data


def recorded(root, name, gpu=REFERENCE_GPU):
    """The newest file of that name of a GPU, or None."""
    return max(root.glob(f"plots/data/{gpu}/*/{name}"), default=None)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sealed(data))
    print(f"Wrote {os.path.relpath(path, ROOT)}.")


def seal_of(data):
    """Of all but what ties it to code, which a person may find to be the same."""
    def measured(value):
        if isinstance(value, dict):
            return {k: measured(v) for k, v in value.items() if k not in ("tie", "sources", "seal")}
        return [*map(measured, value)] if isinstance(value, list) else value
    return hashlib.sha256(json.dumps(measured(data), sort_keys=True).encode()).hexdigest()[:16]


def note_stale(then, now, sentence):
    """What was recorded of an earlier version is shown as that, and not refused."""
    if then != now:
        stale.append(sentence)


@dataclasses.dataclass(frozen=True)
class Row:
    """One series at one size; times are medians in microseconds."""
    series: str
    n: int
    bytes: int
    us: float
    us_p10: float
    us_p90: float
    warm_us: float | None
    graph_us: float | None
    calls: int  # The medians are of so many.
    throttled: bool
    worst_error: float | None  # In a unit of the contract's, where there is one.

    @property
    def gbps(self):
        return self.bytes / self.us * 1e-3


@dataclasses.dataclass(frozen=True)
class Record:
    """One run of one chapter file on one GPU."""
    path: pathlib.Path
    context: dict
    rows: dict  # (series, n) -> Row

    @property
    def date(self):
        return self.context["date"][:10]

    @property
    def op(self):
        return op_of(pathlib.Path(self.context["source"]))

    def series(self, name=""):
        """The op's own, or `OP backward` for 'backward'."""
        return " ".join([self.op, *name.split()])

    @property
    def l2_bytes(self):
        return int(self.context["l2_bytes"])

    @property
    def floor_us(self):
        return self.row(FLOOR, 0).us

    def row(self, series, n):
        if (series, n) not in self.rows:
            raise RecordError(f"{self.path} has no '{series}' for n = {n:,}; "
                              f"it has n = {self.sizes(series)}")
        return self.rows[series, n]

    def headline(self, n=None):
        """The op's own series, at 2^28 or the largest size that the GPU had room for."""
        return self.row(self.op, n or max(n for n in self.sizes(self.op) if n <= HEADLINE))

    def sizes(self, series):
        return sorted(n for name, n in self.rows if name == series)

    def copy_of(self, row):
        """The plain copy of as many bytes, from the same process."""
        return self._roof_of(row, COPY)

    def read_of(self, row):
        """The plain read of as many bytes, from the same process."""
        return self._roof_of(row, READ)

    def _roof_of(self, row, roof):
        same = [r for r in self.rows.values() if r.series == roof and r.bytes == row.bytes]
        if not same:
            raise RecordError(f"{self.path} has no {roof} of {row.bytes:,} bytes")
        return same[0]

    def percent_of_copy(self, row):
        return 100 * self.copy_of(row).us / row.us

    def percent_of_read(self, row):
        return 100 * self.read_of(row).us / row.us


def parse_size(text):
    """2^28, 150528 or 150,528 -> int"""
    match = SIZE.fullmatch(text)
    if not match:
        raise Problem(f"'{text}' is no size: write 150528 or 2^28")
    return int(match[1]) ** int(match[2]) if match[1] else int(text.replace(",", ""))


def op_of(source):
    """<op>.four.cu -> <op>: the contract that a file fulfils."""
    return source.name.split(".")[0]


def is_variant(source):
    return source.name.count(".") > 1


def gpu_folder(name):
    """NVIDIA H200 -> nvidia-h200"""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def file_name(source):
    """chapters/NN_name/<op>.four.cu -> NN_name.<op>.four.json"""
    return f"{source.parent.name}.{source.stem}.json"


def tie_of(root, source):
    """Of a chapter's file, with what timed it."""
    return tie(root, source, "common/harness/bench.cpp", f"plots/{op_of(source)}_bench.cpp",
               "common/harness/empty_kernel.cu", "common/harness/read_kernel.cu")


def root_of(page):
    """The root of the repository that a page belongs to."""
    for folder in page.resolve().parents:
        if (folder / "chapters").is_dir():
            return folder
    raise RecordError(f"{page} is in no folder that has chapters/")


def chapter_folders(root):
    folders = sorted(root.glob("chapters/[0-9][0-9]_*/"))
    if not folders:
        raise RecordError(f"{root}/chapters holds no chapter")
    return folders


def sources(folder):
    """Its files without the exercise, which nobody measures."""
    return sorted(path for path in folder.glob("*.cu") if not path.match("*.exercise.cu"))


def all_sources(root):
    """The chapters' files, variants too."""
    return [source for folder in chapter_folders(root) for source in sources(folder)]


def main_sources(root):
    """The chapters' own files, without variants, in order."""
    return [source for source in all_sources(root) if not is_variant(source)]


def chapters_own(folder):
    """The file that a chapter's page is about: of several contracts, the one with the exercise."""
    found = [source for source in sources(folder) if not is_variant(source)]
    if len(found) > 1:
        found = [source for source in found if source.with_suffix(".exercise.cu").is_file()]
    if len(found) != 1:
        raise RecordError(f"{folder.name} has no <op>.cu, or several and not one exercise")
    return found[0]


def figure_name(source):
    """What is drawn of a chapter's file is called by its folder, if the chapter is about it."""
    own = source == chapters_own(source.parent)
    return source.parent.name + ("" if own else f".{op_of(source)}")


def measured(root, sources, gpu=REFERENCE_GPU):
    """The records of what has been measured: a new chapter need not wait for a GPU."""
    found = []
    for source in sources:
        try:
            found.append(of_source(root, source, gpu))
        except Unmeasured as reason:
            missing.append(str(reason))
    return found


def previous(root, source):
    """The file of the same contract in the chapter before, or None."""
    before = [s for s in main_sources(root) if op_of(s) == op_of(source)
              and s.parent.name < source.parent.name]
    return before[-1] if before else None


def load(path):
    """Reads one data file; raises RecordError for anything that is amiss."""
    try:
        data = opened(path)
        context, benchmarks = data["context"], data["benchmarks"]
        missing = [key for key in CONTEXT if key not in context]
        by_key = rows_of(benchmarks)
    except RecordError:
        raise
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: {error}") from error
    except (KeyError, TypeError) as error:
        raise RecordError(f"{path} is not a file that `make bench` writes: {error!r}") from error
    if missing:
        raise RecordError(f"{path}: its context lacks {', '.join(missing)}; "
                          "record it with `make bench`")
    if (FLOOR, 0) not in by_key or not any(s == COPY for s, _ in by_key):
        raise RecordError(f"{path} lacks the empty kernel or the copy")
    record = Record(path, context, by_key)
    if trouble := nonsense(record):
        raise RecordError(f"{path}: {trouble}")
    return record


def nonsense(record):
    """What cannot have been measured so, or None."""
    most = float(record.context["datasheet_gbps"])  # 0: nobody knows it.
    fast = [row for row in record.rows.values() if 0 < most < row.gbps]
    if fast:
        return (f"{fast[0].series}, n = {fast[0].n:,}: {fast[0].gbps:,.0f} GB/s is more "
                f"than the memory's {most:,.0f}")
    return None


def rows_of(benchmarks):
    """(series, n) -> Row"""
    rows = [_row(benchmark) for benchmark in benchmarks]
    by_key = {(row.series, row.n): row for row in rows}
    if len(by_key) != len(rows):
        raise ValueError("the same series and size was measured twice")
    return by_key


def _row(benchmark):
    def positive(key):
        value = float(benchmark[key])
        if not 0 < value < float("inf"):
            raise ValueError(f"{benchmark['name']}: {key} is {value}")
        return value

    def optional(key):
        return positive(key) if key in benchmark else None

    def ordered(prefix):
        times = [positive(f"{prefix}p{k}_us") for k in (10, 50, 90)
                 if f"{prefix}p{k}_us" in benchmark]
        if times != sorted(times):
            raise ValueError(f"{benchmark['name']}: {prefix}p10, p50, p90 are {times}")

    for prefix in ("", "warm_", "graph_"):
        ordered(prefix)
    if benchmark.get("error_occurred") or benchmark.get("skipped"):
        raise ValueError(f"{benchmark['name']} was not measured")
    return Row(series=benchmark["name"].split("/")[0], n=int(benchmark["n"]),
               bytes=int(benchmark["bytes"]), us=positive("p50_us"), us_p10=positive("p10_us"),
               us_p90=positive("p90_us"), warm_us=optional("warm_p50_us"),
               graph_us=optional("graph_p50_us"),
               calls=int(re.search(r"iterations:(\d+)", benchmark["name"])[1]),
               throttled=bool(benchmark.get("throttled", 0)),
               worst_error=benchmark.get("worst_error"))


def of_source(root, source, gpu=REFERENCE_GPU):
    """The newest record of a .cu file, which may be of an earlier version."""
    name = source.relative_to(root)
    path = recorded(root, file_name(source), gpu)
    number = re.match(r"\d*", source.parent.name)[0]
    if not path:
        known = (root / "plots/data" / gpu).is_dir()  # Else its name may be misspelt.
        raise (Unmeasured if known else RecordError)(
            f"{name} was never measured on {gpu}: run `make bench{number}` there")
    record = load(path)
    note_stale(record.context["tie"], tie_of(root, name),
               f"{record.path.relative_to(root)} is of an earlier version of {name}: "
               f"`make bench{number}` on {gpu} measures it anew")
    return record
