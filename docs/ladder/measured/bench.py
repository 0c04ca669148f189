"""Measures chapters on this machine's GPU and records them in plots/data/.

    python -m ladder.measured.bench SOURCE=BINARY...    `make bench` calls it so

A binary checks itself before it measures. Interrupt it when you like: what is
finished is kept, and the next run of the same commit on the same day goes on.
Where git cannot tell the commit, COMMIT=<hash>[-dirty] in the environment does.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

from harness import built
from ladder.measured import records
from ladder.pages import ROOT, script

DATA = ROOT / "plots" / "data"
SCRATCH = DATA / "recording.json"  # Moved to its place when it is complete.


def main(pairs):
    if not pairs or not all(pair.count("=") == 1 for pair in pairs):
        sys.exit(__doc__)
    jobs = [tuple(map(pathlib.Path, pair.split("="))) for pair in pairs]
    for path in (path for job in jobs for path in job):
        if not path.is_file():
            sys.exit(f"bench: there is no {path}")
    commit, dirty = checkout()
    todo = [job for job in jobs if not finished(job[0], commit, dirty)]
    started = time.monotonic()
    for done, (source, binary) in enumerate(todo):
        spent = time.monotonic() - started
        left = f", {spent / done * (len(todo) - done):.0f} s left" if done else ""
        print(f"[{done + 1}/{len(todo)}{left}] {source} ...", flush=True)
        path = measure(source, binary, commit, dirty)
        print(f"    {summary(records.load(path))}")
        print(f"    {path.relative_to(ROOT)}")
    print(f"Measured {len(todo)} of {len(jobs)} in "
          f"{time.monotonic() - started:.0f} s; `make plots` draws them.")


def checkout():
    """The commit, and 'yes' if the files differ from it."""
    told = os.environ.get("COMMIT", "")
    if told:
        return told.removesuffix("-dirty"), "yes" if told.endswith("-dirty") else "no"
    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".",
                      ":!plots/data", ":!plots/figures")
    except (OSError, subprocess.CalledProcessError):
        sys.exit("bench: git cannot tell which commit this is; say it:\n"
                 "    make bench COMMIT=<hash>")
    return commit, "yes" if changed else "no"


def git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, check=True, text=True,
                          capture_output=True).stdout.strip()


def finished(source, commit, dirty):
    """Whether this very commit was measured on this GPU today."""
    today = datetime.date.today().isoformat()
    path = DATA / this_gpu() / today / records.file_name(source)
    if dirty == "yes" or not path.is_file():
        return False
    context = records.load(path).context
    same = (context["commit"], context["dirty"],
            context["tie"]) == (commit, "no", records.tie_of(ROOT, source))
    if same:
        print(f"Kept {path.relative_to(ROOT)}: delete it to measure it again.")
    return same


def this_gpu():
    """The folder of this machine's GPU; 'unknown' where the driver is mute."""
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, check=True, text=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    names = set(map(records.gpu_folder, answer.splitlines()))
    return names.pop() if len(names) == 1 else "unknown"


def gpus(root, name="*", first=records.REFERENCE_GPU):
    """The folders of all GPUs with a record of that name, `first` before the others."""
    found = {path.parents[1].name for path in root.glob(f"plots/data/*/*/{name}.json")}
    return sorted(found, key=lambda gpu: (gpu != first, gpu))


def place(context, name):
    """Where a record of that name lies, by its GPU and date."""
    return DATA / records.gpu_folder(context["gpu"]) / context["date"][:10] / name


def measure(source, binary, commit, dirty):
    """Runs one binary and files what it wrote; its output only on failure."""
    DATA.mkdir(parents=True, exist_ok=True)
    command = [f"./{binary}", f"--record={SCRATCH.relative_to(ROOT)}"]
    run = built.told(command, cwd=ROOT)
    if run.returncode:
        SCRATCH.unlink(missing_ok=True)
        sys.exit(f"{run.stdout}\nbench: {' '.join(command)} failed with "
                 f"status {run.returncode}; nothing of it is recorded")
    data = json.loads(SCRATCH.read_text())
    data["context"].update(commit=commit, dirty=dirty, command=" ".join(command),
                           source=str(source), tie=records.tie_of(ROOT, source))
    SCRATCH.write_text(records.sealed(data))
    context = records.load(SCRATCH).context  # What is no record replaces none.

    path = place(context, records.file_name(source))
    path.parent.mkdir(parents=True, exist_ok=True)
    SCRATCH.replace(path)
    return path


def summary(record):
    row = record.row(record.op, max(record.sizes(record.op)))
    return (f"n = {row.n:,}: {row.us:,.1f} us, {row.gbps:,.0f} GB/s, "
            f"{record.percent_of_copy(row):.1f} % of the copy")


if __name__ == "__main__":
    try:
        script("bench", main, sys.argv[1:])
    except KeyboardInterrupt:
        SCRATCH.unlink(missing_ok=True)
        sys.exit("\nbench: interrupted; what was finished is kept")
