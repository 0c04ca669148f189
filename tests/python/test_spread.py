"""A program that says nothing of host threads: it leaves, counts and finds the same as on one."""

import os
import pathlib
import subprocess
import tempfile

import pytest
from ladder import toolchain
from tree import REPOSITORY

PROGRAMS = ("tests/simt/spread", "tests/simt/memory", "tests/wrong/programs/race_far",
            "tests/wrong/programs/race_far.fixed", "tests/wrong/programs/race_late",
            "tests/wrong/programs/race_late.fixed", "tests/wrong/programs/race_table")


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
