"""What the suite of chapter 15's engine cannot see: the banks of its tiles."""

import json
import os
import subprocess

from ladder import toolchain
from ladder.pages import ROOT

TILES = "gpu_kernel turns what lies the other way through tiles"
CONFLICTS = [f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{way}.sum" for way in ("ld", "st")]


def test_a_tile_has_no_conflict_of_any_type(tmp_path):
    suite, report = toolchain.built(ROOT, "build/cpu/tests/strided_test.checks"), tmp_path / "report.json"
    subprocess.run([suite, "--dt-exit", f"--dt-test-case={TILES}"], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"SIMT_REPORT": str(report)})
    launches = json.loads(report.read_text())["launches"]
    tiles = [launch for launch in launches if "tile_kernel" in launch["kernel"]]
    assert len({launch["kernel"] for launch in tiles}) > 4
    for launch in tiles:
        assert [launch["metrics"][name] for name in CONFLICTS] == [0, 0]
