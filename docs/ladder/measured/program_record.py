"""What a program with a main of its own has measured on a GPU: plots/NAME.cu prints
numbers as JSON, and `make NAME` records them in plots/data/<gpu>/<date>/NAME.json."""

import dataclasses
import datetime
import pathlib
import re

from ladder import toolchain
from ladder.measured import bench, records, tie
from ladder.pages import ROOT


@dataclasses.dataclass(frozen=True)
class ProgramRecord:
    name: str

    @property
    def source(self):
        return pathlib.Path("plots", f"{self.name}.cu")

    def newest(self, root, gpu=records.REFERENCE_GPU):
        """What was measured last, be it by an earlier version of the program."""
        return self._newest(root, gpu)[self.name]

    def context(self, root, gpu):
        """Where and when that was."""
        return self._newest(root, gpu)["context"]

    def gpus(self, root):
        return bench.gpus(root, self.name)

    def _newest(self, root, gpu):
        path = records.recorded(root, f"{self.name}.json", gpu)
        if not path:
            raise records.RecordError(f"{self.source} was not measured on {gpu}: "
                                      f"run `make {self.name}` there")
        data = records.opened(path)
        others = data["context"].get("others", ())
        records.note_stale(data["context"]["tie"], tie.tie(root, self.source, *others),
                           f"{path.relative_to(root)} is of an earlier version of "
                           f"{self.source}: `make {self.name}` on {gpu} measures it anew")
        return data

    def write(self, told, *others):
        """`others`: what else the numbers depend on, paths below the root."""
        about = context() | {"command": f"make {self.name}", "source": str(self.source),
                             "tie": tie.tie(ROOT, self.source, *others)}
        if others:
            about["others"] = list(map(str, others))
        records.write(bench.place(about, f"{self.name}.json"), {"context": about, self.name: told})


def context():
    """What has to be known of a measurement."""
    commit, dirty = bench.checkout()
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu, driver = toolchain.said_by(query).splitlines()[0].split(", ")
    cuda = toolchain.said_by([toolchain.nvcc(ROOT), "--version"])
    return {"gpu": gpu, "driver": driver, "cuda": re.search(r"release ([\d.]+)", cuda)[1],
            "date": datetime.date.today().isoformat(), "commit": commit, "dirty": dirty}
