"""A program that says nothing of host threads: it leaves, counts and finds the same as on one.

What is left out because it has just been done is reported all the same.
"""

import os
import pathlib
import resource
import subprocess
import tempfile

import pytest
from ladder import toolchain
from tree import REPOSITORY

PROGRAMS = ("tests/simt/spread", "tests/simt/repeats", "tests/simt/memory", "tests/wrong/programs/race_far",
            "tests/wrong/programs/race_far.fixed", "tests/wrong/programs/race_late",
            "tests/wrong/programs/race_late.fixed", "tests/wrong/programs/race_table",
            "tests/wrong/programs/race_count", "tests/wrong/programs/race_count.fixed",
            "tests/wrong/programs/race_block_atomic_large",
            "tests/python/programs/mixed")


def report_of(program, **environment):
    """(exit status, all that it prints, the report) on as many cores as there are."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        run = subprocess.run([program], cwd=REPOSITORY, env=clean | environment | {"SIMT_REPORT": str(report)},
                             capture_output=True, text=True)
        return run.returncode, run.stdout, run.stderr.replace(folder, ""), report.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_nobody_can_tell(name):
    program = toolchain.built(REPOSITORY, f"build/cpu/{name}.program")
    assert report_of(program) == report_of(program, SIMT_THREADS="1")


def test_a_block_is_one_threads_whole():
    ring = "build/cpu/tests/wrong/programs/race_ring"
    wrong, right = (toolchain.built(REPOSITORY, f"{ring}{twin}.program") for twin in ("", ".fixed"))
    assert "simt: race: " in report_of(wrong, SIMT_THREADS="2")[2]
    assert report_of(right, SIMT_THREADS="2")[0] == 0


def seconds(*command):
    """Of all cores together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.skipif(os.cpu_count() == 1, reason="on one core every launch is run")
def test_what_has_just_been_done_is_left_out():
    program = toolchain.built(REPOSITORY, "build/cpu/tests/python/programs/again.program")
    assert seconds(program, "x" * 100) < 10 * seconds(program, "x")
