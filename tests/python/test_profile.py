"""`make profile` on a GPU, on what ncu said of an H200."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from ladder import ncu
from ladder.pages import Problem
from tree import Folder

SAID = pathlib.Path(__file__).with_name("ncu_h200.csv")
L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
METRICS = [L1.format("requests", "ld"), L1.format("sectors", "ld"),
           L1.format("sectors", "st"),
           "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]

# Stands for what the Makefile builds; `show` prints its files.
PROGRAM = """\
#!/bin/sh
case $1 in
  cases) printf '1024 0\\n1024 1\\n' ;;
  metrics) printf '%s\\n' METRICS ;;
  show) shift; cat "$@" ;;
  *) echo "called without ncu"; exit 1 ;;
esac
"""
NCU = """\
#!/bin/sh
echo "$@" >> CALLS
cat SAID
"""


class TestReading:
    launches = ncu.read(SAID.read_text(), METRICS)

    def test_launches_in_order(self):
        assert [kernel for kernel, *_ in self.launches] == [
    "load_global<unsigned int>", "load_global<uint4>",
    "load_global<unsigned int>", "store_global<unsigned int>",
    "load_shared<unsigned int>"]
        for _, grid, block, _ in self.launches:
            assert (grid, block) == ([1, 1, 1], [32, 1, 1])

    def test_metrics(self):
        dense, wide, scattered, store, shared = (m for *_, m in self.launches)
        assert [m[METRICS[1]] for m in (dense, wide, scattered)] == [4, 16, 32]
        assert scattered[METRICS[3]] == 12.5
        assert store[METRICS[2]] == 32
        assert shared[METRICS[4]] == 31

    def test_thousands_are_grouped(self):
        name = "launch__persisting_l2_cache_size"
        (_, _, _, metrics), *_ = ncu.read(SAID.read_text(), [name])
        assert metrics == {name: 11_796_480}

    def test_a_metric_that_the_gpu_lacks_is_left_out(self):
        text = SAID.read_text().replace('"12.50"', '"n/a"')
        *_, scattered = ncu.read(text, METRICS)[2]
        assert METRICS[3] not in scattered
        assert "none.sum" not in ncu.read(text, ["none.sum"])[0][3]

    def test_names(self):
        for said, short in {
                "void <unnamed>::f<(int)4>(float *)": "f<4>",
                "void (anonymous namespace)::f(const float *, long)": "f",
                "f<unsigned char, (bool)1>(T1)": "f<unsigned char, 1>",
                "relu_kernel(const float *, float *, long)": "relu_kernel"}.items():
            assert ncu.short_name(said) == short

    def test_what_is_no_table(self):
        assert ncu.read("==WARNING== No kernels were profiled.\n", METRICS) == []
        for text, message in {
                "==ERROR== ERR_NVGPUCTRPERM - The user does not have": "run it as root",
                "==ERROR== Failed to find metric": "told of no launch.*Failed to find",
                '"ID","Kernel Name"\n"",""\n"0","f()"\n': "no column Block Size, Grid Size",
        }.items():
            with pytest.raises(Problem, match=f"(?is){message}"):
                ncu.read(text, METRICS)


class TestProfiling(Folder):
    @pytest.fixture(autouse=True)
    def built(self, in_a_folder_of_its_own):
        for chapter in ("02_grid_stride", "03_pack"):
            self.script(f"chapters/{chapter}/relu.profiled",
                        PROGRAM.replace("METRICS", " ".join(METRICS)))
        self.said = self.write("said.csv", SAID.read_text())
        self.ncu = self.script("ncu", NCU.replace("SAID", str(self.said))
                               .replace("CALLS", str(self.root / "calls")))

    def run_profile(self, *chapters, ncu=None):
        programs = [self.root / f"chapters/{c}/relu.profiled" for c in chapters]
        run = subprocess.run(
            [sys.executable, "-m", "ladder.profile", *programs],
            env=os.environ | {"NCU": str(ncu or self.ncu)}, capture_output=True, text=True)
        assert "Traceback" not in run.stderr
        return run

    def refuses(self, message, **more):
        run = self.run_profile("03_pack", **more)
        assert run.returncode == 1
        assert re.search(message, run.stderr)

    def test_each_case_of_both_chapters_is_measured_and_shown(self):
        run = self.run_profile("03_pack", "02_grid_stride")
        assert run.returncode == 0, run.stderr
        this, before = run.stdout.split("name\t")[1:]
        assert this.startswith("03_pack\ncase\t1024\t0\nlaunch\tload_global")
        assert before.startswith("02_grid_stride\n")
        assert this.count("\nlaunch\t") == 10
        assert f"\nmetric\t{METRICS[1]}\t32\n" in this
        calls = (self.root / "calls").read_text().splitlines()
        assert len(calls) == 4
        assert "--clock-control none" in calls[0]
        assert calls[1].endswith("relu.profiled call 1024 1")

    def test_asking_for_names_is_no_path(self, monkeypatch):
        monkeypatch.setenv("PATH", str(self.ncu.parent), prepend=os.pathsep)
        run = self.run_profile("03_pack", ncu="1")
        assert run.returncode == 0, run.stderr
        assert max(map(len, run.stdout.split("\nCounted")[1].splitlines())) <= 80

    def test_there_is_no_ncu(self):
        self.refuses("there is no ncu", ncu="no-such-tool")

    def test_counters_are_not_permitted(self):
        self.said.write_text("==ERROR== ERR_NVGPUCTRPERM - see the web page\n")
        self.refuses("NVreg_RestrictProfilingToAdminUsers=0")

    def test_the_program_fails_under_ncu(self):
        self.script("ncu", f"#!/bin/sh\ncat {self.said}\necho a CUDA error\nexit 9\n")
        self.refuses("(?s)ncu ended with status 9:.*a CUDA error")

    def test_no_program(self):
        assert "PROGRAM [BEFORE]" in self.run_profile().stderr
