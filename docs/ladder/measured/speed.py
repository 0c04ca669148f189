"""How fast the executor is, and how much memory it takes of its own.

    python -m ladder.measured.speed       `make speed` calls it so

Times the six kernels of tests/speed/kernels.cu in CPU time, on one core: with
the observers off, with the counters alone, and with everything on; the latter two
also as built for any processor with AVX2; and, in the same run, numba's CUDA
simulator on the same kernels. Writes plots/data/executor/speed.json.
"""

import dataclasses
import datetime
import os
import pathlib
import platform
import re
import sys

from ladder import toolchain
from ladder.measured import bench, records
from ladder.measured.tie import tie
from ladder.pages import ROOT, Problem, script

SOURCE = "tests/speed/kernels.cu"
PROGRAM = "build/cpu/tests/speed/kernels.program"
AVX2 = "x86-64-v3"
AVX2_PROGRAM = f"build/cpu.{AVX2}/tests/speed/kernels.program"
SIMULATED = "tests/speed/numba_kernels.py"
PINS = "tests/speed/numba.txt"
VENV = ROOT / ".toolchain" / "numba"
DATA = "plots/data/executor/speed.json"

# What each of the three runs switches off.
OBSERVERS = {"off": {"SIMT_COUNTERS": "off", "SIMT_CHECKS": "off"},
             "counters": {"SIMT_CHECKS": "off"},
             "everything": {}}
ON_AVX2 = {f"{name} on AVX2": name for name in ("counters", "everything")}
# They take turns, so that what disturbs the machine disturbs them all.
ROUNDS = 8
SLOW_ROUNDS = 2  # The simulator's times do not hang on a neighbour.
ELEMENTS = (1 << 18, 1 << 22, 1 << 24, 1 << 26)

TIMES = re.compile(r"^(\w+) +(\d+) threads, ns a thread:((?: \d+\.\d+)+)$", re.M)
MEMORY = re.compile(r"^memory: (\d+) bytes of arrays, (\d+) bytes at most$", re.M)


@dataclasses.dataclass
class Timed:
    threads: int
    ns: list  # a thread, one each time

    @property
    def best(self):
        """The time that the machine disturbed least."""
        return min(self.ns)


def read_times(output):
    """kernel -> Timed"""
    found = {name: Timed(int(threads), [float(ns) for ns in times.split()])
             for name, threads, times in TIMES.findall(output)}
    if not found:
        raise Problem(f"no kernel was timed:\n{output}")
    return found


def read_memory(output):
    """Bytes of the arrays, most bytes in use."""
    found = MEMORY.search(output)
    if not found:
        raise Problem(f"nothing was said of memory:\n{output}")
    arrays, peak = map(int, found.groups())
    return {"arrays": arrays, "peak": peak}


# ---- Measuring ---------------------------------------------------------------


def said_by(command, **environment):
    for name in [name for name in os.environ if name.startswith("SIMT_")]:
        del os.environ[name]
    # The timer of SIMT_SECONDS makes Linux count processor time in ticks of 4 ms.
    return toolchain.said_by(command, ROOT, SIMT_THREADS="1", SIMT_SECONDS="0", **environment)


def simulator():
    """The Python that has numba."""
    python = VENV / "bin" / "python"
    said_by([sys.executable, "-m", "venv", VENV])
    said_by([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", PINS])
    return python


def measure_times(python):
    commands = {name: ([PROGRAM], environment) for name, environment in OBSERVERS.items()}
    commands |= {name: ([AVX2_PROGRAM], OBSERVERS[observed]) for name, observed in ON_AVX2.items()}
    commands["numba"] = ([python, SIMULATED], {"NUMBA_ENABLE_CUDASIM": "1"})
    times = {name: {} for name in commands}
    for k in range(ROUNDS):
        for name, (command, environment) in commands.items():
            if name == "numba" and k >= SLOW_ROUNDS:
                continue
            print(f"time  {name}", flush=True)
            for kernel, timed in read_times(said_by(command, **environment)).items():
                kept = times[name].setdefault(kernel, Timed(timed.threads, []))
                kept.ns += timed.ns
    return {name: {kernel: dataclasses.asdict(timed) for kernel, timed in kernels.items()}
            for name, kernels in times.items()}


def measure_memory():
    return {name: [{"elements": n}
                   | read_memory(said_by([PROGRAM, str(n), "copy"], **environment))
                   for n in ELEMENTS]
            for name, environment in OBSERVERS.items()}


def context(python):
    commit, dirty = bench.checkout()
    numba = said_by([python, "-c", "import numba; print(numba.__version__)"])
    return {"date": datetime.date.today().isoformat(), "commit": commit, "dirty": dirty,
            "cpu": cpu(), "compiler": said_by(["g++", "--version"]).splitlines()[0],
            "nvcc": said_by([toolchain.nvcc(ROOT), "--version"]).splitlines()[-1],
            "python": platform.python_version(), "numba": numba.strip(),
            "source": SOURCE, "tie": tie(ROOT, SOURCE)}


def cpu():
    found = re.search(r"^model name\s*: (.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1].strip() if found else platform.machine()


def main():
    for program, march in ((PROGRAM, ""), (AVX2_PROGRAM, AVX2)):
        toolchain.made(ROOT, "cpu", program, f"MARCH={march}")
    python = simulator()
    report = {"context": context(python), "times": measure_times(python),
              "memory": measure_memory()}
    records.write(ROOT / DATA, report)
    print("`make weave` puts it into docs/executor.md")


# ---- The tables in docs/executor.md ------------------------------------------


def newest(root):
    path = root / DATA
    if not path.is_file():
        raise ValueError(f"{DATA} is not there: run `make speed`")
    report = records.opened(path)
    records.note_stale(report["context"]["tie"], tie(root, SOURCE),
                       f"{DATA} is of an earlier version of {SOURCE}: "
                       "`make speed` measures it anew")
    return report


def time_table(root):
    """Header, rows and caption."""
    report = newest(root)
    missing = {*OBSERVERS, *ON_AVX2, "numba"} - report["times"].keys()
    if missing:
        raise ValueError(f"{DATA} lacks {', '.join(sorted(missing))}: run `make speed` again")
    times = {name: {kernel: Timed(**timed) for kernel, timed in kernels.items()}
             for name, kernels in report["times"].items()}
    rows = []
    for kernel, everything in times["everything"].items():
        cells = [f"`{kernel}`"]
        cells += [f"{times[name][kernel].best:,.1f}" for name in (*OBSERVERS, *ON_AVX2)]
        simulated = times["numba"][kernel].best
        rows.append([*cells, f"{simulated:,.0f}", f"{simulated / everything.best:,.0f} x"])
    header = ["ns a thread", "observers off", *list(OBSERVERS)[1:], *ON_AVX2, "numba's simulator", "beside everything"]
    samples = len(next(iter(times["everything"].values())).ns)
    return header, rows, _caption(report, f"CPU time on one core, fastest of {samples}; numba "
                                          "{numba} on Python {python}".format(**report["context"]))


def memory_table(root):
    """Header, rows and caption; megabytes."""
    report = newest(root)
    rows = []
    for k, of_arrays in enumerate(report["memory"]["everything"]):
        own = [report["memory"][name][k] for name in OBSERVERS]
        rows.append([f"{of_arrays['elements']:,}", _megabytes(of_arrays["arrays"]),
                     *(_megabytes(m["peak"] - m["arrays"]) for m in own)])
    header = ["elements", "arrays, MB", "observers off", "counters", "everything"]
    return header, rows, _caption(report, "`copy`; most memory in use at any time, "
                                          "less the arrays, in MB")


def _megabytes(count):
    return f"{count / 1e6:,.1f}"


def _caption(report, note):
    c = report["context"]
    dirty = " with local changes" if c["dirty"] == "yes" else ""
    return (f"*{c['cpu']}, {c['compiler']}, {c['date']}, commit {c['commit']}{dirty}; {note}.*")


if __name__ == "__main__":
    script("speed", main)
