"""What a GPU's memory moves for the counted call of a contract, file by file, as Nsight Compute tells.

plots/<op>_moved.py says for how many elements, and how many bytes have to be moved for each;
plots/data/<gpu>/<date>/<op>_moved.json holds what was.
"""

import dataclasses
import pathlib

from ladder import ncu
from ladder.measured import bench, program_record, records
from ladder.measured.tie import tie
from ladder.pages import ROOT
from ladder.toolchain import said_by

METRICS = {"read": "dram__bytes_read.sum", "written": "dram__bytes_write.sum"}


@dataclasses.dataclass(frozen=True)
class Moved:
    """A record of it."""
    path: pathlib.Path
    context: dict
    files: dict  # Source -> bytes that were read and written, of all launches.

    @property
    def needed(self):
        """Bytes of an element."""
        return self.context["needed"]

    def of_element(self, source):
        """(bytes read, bytes written)"""
        return tuple(self.files[source][way] / self.context["n"] for way in METRICS)


def count(program, n):
    """`program` is build/gpu/FILE.profiled."""
    metrics = list(METRICS.values())
    told = ncu.read(said_by(["ncu", *ncu.arguments(metrics), program, "call", str(n), "0"]), metrics)
    return {way: sum(numbers[metric] for *_, numbers in told) for way, metric in METRICS.items()}


def record(op, n, needed, programs):
    files = {}
    for program in programs:
        source = str(pathlib.Path(*pathlib.Path(program).parts[2:]).with_suffix(".cu"))
        files[source] = count(program, n)
        print(f"{source}: {sum(files[source].values()) / n:.2f} bytes per element, {needed} needed")
    context = program_record.context() | {"command": f"make {op}_moved", "n": n, "needed": needed,
                                          "sources": {source: _tie(ROOT, op, source) for source in files}}
    records.write(bench.place(context, f"{op}_moved.json"), {"context": context, "moved": files})


def _tie(root, op, source):
    return tie(root, source, f"plots/{op}_count.cpp")


def recorded(root):
    """Of each contract the newest record."""
    paths = sorted(root.glob(f"plots/data/{records.REFERENCE_GPU}/*/*_moved.json"))
    return {path.name.removesuffix("_moved.json"): path for path in paths}


def newest(root, op):
    path = recorded(root).get(op)
    if not path:
        raise records.Unmeasured(f"nobody has asked {records.REFERENCE_GPU} what it moves for {op}: run `make {op}_moved` there")
    data = records.opened(path)
    for source, then in data["context"]["sources"].items():
        records.note_stale(then, (root / source).is_file() and _tie(root, op, source),
                           f"{path.relative_to(root)} is of an earlier version of {source}: "
                           f"`make {op}_moved` on {records.REFERENCE_GPU} counts it anew")
    return Moved(path, data["context"], data["moved"])
