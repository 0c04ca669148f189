"""The archive of a Gradescope autograder, and the array job for Slurm."""

import concurrent.futures
import io
import os
import shutil
import subprocess
import types
import zipfile

import pytest
import test_formats
import tree

from classroom import bundle, grade
from classroom.assignment import ROOT, Problem

SLURM = ROOT / "common/classroom/slurm.sbatch"
CHOSEN = types.SimpleNamespace(name="chapter07")
# A make that writes down how it was called, and leaves what the grader leaves even if it fails.
MAKE = """#!/usr/bin/env bash
echo "$BACKEND $MARCH $CHAPTER $COMMIT: $*" >> "$CALLS"
dir=$(printf '%s\\n' "$@" | sed -n 's/^DIR=//p')
[[ -z $dir ]] || find "$dir" -mindepth 1 -printf '%P\\n' | sort >> "$CALLS"
[[ $1 != grade ]] || {
  mkdir -p results/submission/chapter07
  echo '{"score": 12}' > results/submission/chapter07/gradescope.json
}
[[ -z ${FAILS-} ]]
"""


@pytest.fixture(scope="module")
def archive():
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(bundle.contents(CHOSEN)))) as opened:
        yield opened


def unpacked(archive, folder):
    """As Gradescope lays it out, programs and all."""
    source = folder / "autograder/source"
    for entry in archive.infolist():
        archive.extract(entry, source)
        (source / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    for name in ("submission", "results"):
        (folder / "autograder" / name).mkdir()
    shutil.copy(source / "run_autograder", folder / "autograder/run_autograder")
    return folder / "autograder"


def test_what_is_in_it(archive):
    names = set(archive.namelist())
    assert {"setup.sh", "run_autograder", "settings.sh", "ladder/Makefile", "ladder/chapters/07_sum_convergent/sum.cu",
            "ladder/common/classroom/result.py"} <= names
    assert not [name for name in names if "/build/" in name or ".git/" in name or ".toolchain" in name]
    assert not archive.testzip()
    for script in ("setup.sh", "run_autograder"):
        assert archive.getinfo(script).external_attr >> 16 & 0o111
        assert archive.read(script).startswith(b"#!/usr/bin/env bash\n")


def test_its_settings(archive):
    lines = archive.read("settings.sh").decode().splitlines()
    found = dict(line.removeprefix("export ").split("=") for line in lines)
    assert (found["ASSIGNMENT"], found["CHAPTER"], found["FIRST_BUILD"]) == ("chapter07", "07", "chapter07")
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert head.startswith(found["COMMIT"].strip("'+")) and len(found["COMMIT"]) > 6
    task = bundle.settings(types.SimpleNamespace(name="argmax"))
    assert "CHAPTER=argmax\n" in task and "FIRST_BUILD=chapter01\n" in task


def test_without_git(monkeypatch, tmp_path):
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    with pytest.raises(Problem, match="the archive holds what git knows of, and git says"):
        list(bundle.contents(CHOSEN))


# As root of a user namespace: $1 is an empty folder, $2 what is /autograder; then what is to be run.
FRESH_ROOT = r"""
set -e
new=$1; autograder=$2; shift 2
mount -t tmpfs tmpfs "$new"
cd "$new"
for name in bin etc lib lib64 sbin usr opt var; do
  if [[ -L /$name ]]; then cp -P /$name .
  elif [[ -e /$name ]]; then mkdir $name; mount --rbind /$name $name; mount -o remount,bind,ro $name
  fi
done
mkdir -m 1777 tmp
mkdir dev proc old autograder
mount --rbind /dev dev
mount -t proc proc proc
mount --bind "$autograder" autograder
PATH=$PATH:/usr/sbin:/sbin pivot_root . old
umount -l old
cd /autograder
exec "$@"
"""
NAMESPACES = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child=KILL", "--mount"]


def contained(root, *command, **environment):
    """A command in a root of its own: this machine's programs, and nothing else but /autograder."""
    fresh = root.parent / "root"
    fresh.mkdir(exist_ok=True)
    return subprocess.run([*NAMESPACES, "bash", "-c", FRESH_ROOT, "root", fresh, root, *command],
                          env=os.environ | environment, capture_output=True, text=True, errors="replace", timeout=1200)


needs_namespaces = pytest.mark.skipif(
    subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode != 0,
    reason="user namespaces do not work here")
needs_bubblewrap = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="set-up would install bubblewrap, on this machine")


def run(archive, tmp_path, script, **environment):
    root = unpacked(archive, tmp_path)
    (root / "submission/sum.cu").write_text("// mine")
    tree.script(root / "bin/make", MAKE)
    for program in ("dpkg-query", "apt-get"):
        tree.script(root / "bin" / program, f'#!/bin/sh\necho {program} "$@" >> "$CALLS"\n[ -z "$NO_{program[0]}" ]\n')
    done = contained(root, script, PATH="/autograder/bin:/usr/bin:/bin", CALLS="/autograder/calls", **environment)
    calls = root / "calls"
    return done, calls.read_text().splitlines() if calls.is_file() else [], root / "results/results.json"


@needs_namespaces
def test_run_autograder(archive, tmp_path):
    done, calls, results = run(archive, tmp_path, "/autograder/run_autograder")
    assert done.returncode == 0, done.stderr
    assert calls[0].startswith("cpu x86-64-v3 07 ") and ": grade DIR=" in calls[0]
    assert calls[1:] == ["submission", "submission/chapter07", "submission/chapter07/sum.cu"]
    assert results.read_text() == '{"score": 12}\n'


@needs_namespaces
def test_a_grader_that_fails_gives_no_grade(archive, tmp_path):
    done, calls, results = run(archive, tmp_path, "/autograder/run_autograder", FAILS="1")
    assert ": grade DIR=" in calls[0]
    assert done.returncode != 0 and not results.exists()


@needs_namespaces
@pytest.mark.parametrize("missing", ["", "1"])
def test_setup(archive, tmp_path, missing):
    done, calls, _ = run(archive, tmp_path, "/autograder/source/setup.sh", NO_d=missing)
    assert done.returncode == 0, done.stderr
    assert calls[0].startswith("dpkg-query -W bubblewrap ")
    assert [call.split()[1] for call in calls[1:-1]] == (["update", "install"] if missing else [])
    assert calls[-1].endswith(": chapter07")


@needs_namespaces
@needs_bubblewrap
def test_both_scripts_as_they_stand_with_the_grader(archive, tmp_path):
    """Set-up fetches a toolkit where there is none. The executor is compiled for any machine, which
    takes minutes; .ci/run hands over the one that is built here."""
    root, solution = unpacked(archive, tmp_path), ROOT / "chapters/07_sum_convergent/sum.cu"
    shutil.copy(solution, root / "submission")
    if "TURN" in os.environ:
        settings = "source ../settings.sh && echo $MARCH && make --silent build/cpu.$MARCH/settings"
        begun = contained(root, "bash", "-c", f"cd source/ladder && {settings}", HOME="/tmp")
        assert begun.returncode == 0, begun.stdout + begun.stderr
        tree.hand_over_executor(root / f"source/ladder/build/cpu.{begun.stdout.split()[0]}", solution)
    ready = contained(root, "/autograder/source/setup.sh", HOME="/tmp")
    assert ready.returncode == 0, ready.stdout + ready.stderr
    graded = contained(root, "/autograder/run_autograder", HOME="/tmp")
    assert graded.returncode == 0, graded.stdout + graded.stderr
    document = test_formats.strictly((root / "results/results.json").read_text())
    test_formats.validate(document, "gradescope")
    assert document["score"] == sum(test["max_score"] for test in document["tests"]) > 0


# ---- Slurm ------------------------------------------------------------------


def test_every_hand_in_has_one_task(tmp_path, monkeypatch):
    """The job's tasks, as Slurm would start them, with a make that says what it was given."""
    tree.script(tmp_path / "bin/make", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    hand_ins = [*range(20)]
    shares = []
    for task in (5, 6, 7):
        said = subprocess.run(
            ["bash", SLURM, "hand ins", "07"], cwd=tmp_path, capture_output=True, text=True, check=True,
            env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": str(task),
                              "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "3"}).stdout.splitlines()
        assert said[:2] + said[3:] == ["grade", "DIR=hand ins", "CHAPTER=07"]
        monkeypatch.setenv(*said[2].split("="))
        shares.append(grade.share_of(hand_ins))
    assert all(shares) and sorted(sum(shares, [])) == hand_ins
    for wrong in ("0/3", "4/3", "3", "a/b", "-1/3"):
        monkeypatch.setenv("SHARE", wrong)
        with pytest.raises(Problem, match="write SHARE=3/10"):
            grade.share_of(hand_ins)


def test_graders_that_begin_at_once_draw_one_seed(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        seeds = {*pool.map(lambda _: grade.seed_of(tmp_path / "results", tmp_path), range(8))}
    assert len(seeds) == 1 and grade.remembered(tmp_path / "results")["seed"] in seeds


def test_the_job_without_a_folder(tmp_path):
    done = subprocess.run(["bash", SLURM], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "Say which folder: sbatch" in done.stderr
