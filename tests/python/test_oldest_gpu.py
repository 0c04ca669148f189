"""Every chapter's kernel keeps its contract within the limits of a T4: 64 KB of shared memory, 1,024 threads per SM."""

import os
import subprocess

import pytest
from ladder import toolchain
from tree import REPOSITORY

KERNELS = [path for path in sorted(REPOSITORY.glob("chapters/*/*.cu")) if "." not in path.stem]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.parent.name)
def test_a_t4_will_do(path):
    name = path.relative_to(REPOSITORY).with_suffix(".run")
    program = toolchain.built(REPOSITORY, f"build/cpu/{name}")
    run = subprocess.run([program, "--dt-reporters=console"], cwd=REPOSITORY, capture_output=True, text=True,
                         env=os.environ | {"SIMT_DEVICE": "t4", "SIMT_COUNTERS": "off", "SIMT_CHECKS": "off"})
    assert run.returncode == 0, run.stdout + run.stderr
