"""Peers, pitfalls and other GPUs: what their tables say, and what they refuse."""

import json
import re
import subprocess
import sys

import made_up
import pytest
import tree
from ladder.measured import compare, latency, pitfalls, records, work
from ladder.measured.peers import load
from ladder.measured.tie import tie

OURS = "chapters/03_pack/relu.cu"


class TestPeers(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def timed(self, in_a_made_up_repository):
        times = [made_up.peer(by, us) for by, us in (("copy", 500), ("PyTorch", 600), (OURS, 400))]
        self.path = made_up.plant_peers(self.root, times, **{OURS: tie(self.root, OURS)})

    def test_what_was_not_timed_is_named(self):
        self.refuses("was not timed", "value peer relu.cu CUB 2^28")
        self.refuses("was not timed", "value peer relu.cu PyTorch 2^20")

    def test_a_file_that_is_none(self):
        self.path.write_text("{}")
        with pytest.raises(records.RecordError, match="make peers"):
            load(self.path, self.root)


class TestPitfalls(made_up.MadeUp):
    def test_values(self):
        made_up.plant_program(self.root, pitfalls.RECORD, {"all zeros, GB/s": {"wrong": 4400, "right": 4000}})
        self.refuses("the names are all zeros", "value pitfall wrong nothing")


@pytest.mark.parametrize("script", ["latency", "pitfalls"])
def test_a_program_that_fails_is_named(script):
    run = subprocess.run([sys.executable, "-m", f"ladder.measured.{script}", "false"],
                         text=True, capture_output=True)
    assert (run.returncode, run.stderr) == (1, f"{script}: false ended with status 1:\n\n")


class TestLatency(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def timed(self, in_a_made_up_repository):
        self.plant()

    def plant(self, told=None, **more):
        told = told or {"tree step": 101.3, "load from L1": 20.94}
        return made_up.plant_program(self.root, latency.RECORD, told, **more)

    def test_values(self):
        for words in ("latency tree", "latency_us tree * 10", "latency tree step * 10"):
            self.refuses("the names are tree step; load from L1", f"value {words}")
        self.refuses("the names are", "value latency_us tree step * ten")
        for path in self.root.glob("plots/data/*/*/latency.json"):
            path.unlink()
        self.refuses("run `make latency` there", "value latency tree step")

    @pytest.mark.parametrize("words, message", {
        "{us relu.cu 2^28} - 539": "nothing is left", "{us relu.cu 2^28} - x": "no calculation",
        "{us relu.cu 2^28} -": "no result", "{us relu.cu 2^28} / 0": "no result",
        "{us relu.cu}": "write: value us", "{reckoned us relu.cu 2^28} * 2": "no calculation",
        "{tree step} / 2": "is no value", "{latency_us tree} / 2": "the names are"}.items())
    def test_what_nobody_can_reckon(self, words, message):
        self.refuses(message, f"value reckoned {words}")

    def test_clock(self):
        self.refuses("write: value clock", "value clock relu.cu 2^28")

    def test_the_table_has_a_column_for_each_gpu(self):
        assert self.table("latency")[0] == "| ns | NVIDIA H200 |"
        self.plant({"tree step": 90}, gpu="another-gpu", name="Another GPU")
        lines = self.table("latency")
        assert lines[0] == "| ns | NVIDIA H200 | Another GPU |"
        assert lines[2] == "| tree step | 101.3 | 90 |"
        assert lines[3] == "| load from L1 | 20.94 | - |"  # That GPU did not measure it.
        assert re.search(r"^\*NVIDIA H200, driver .*; Another GPU, driver 580.1, CUDA "
                         r"13.0, 2026-01-02, commit 0123456789ab\.\*$", lines[-1])


class TestCompare(made_up.MadeUp):
    def test_own_gpu_stands_first(self):
        path = made_up.data_path(self.root, self.source)
        for gpu in ("nvidia-a100", "tesla-t4"):
            data = json.loads(path.read_text())
            data["context"]["gpu"] = gpu
            made_up.write(made_up.data_path(self.root, self.source, gpu=gpu), data)
        head, *rows = compare.table(self.root, "tesla-t4", 1 << 28)
        assert head.split()[4:] == ["tesla-t4", "(here)", "nvidia-a100", "nvidia-h200"]
        pack = next(row for row in rows if row.startswith("03_pack/relu.cu"))
        assert pack.split()[1:] == ["100.0", "%"] * 3
        first = next(row for row in rows if row.startswith("01_"))
        assert first.split()[1:3] == ["-", "-"]

    def test_a_smaller_size_is_named(self):
        lines = compare.table(self.root, "unknown", 1 << 60)
        assert "% at " in next(line for line in lines if line.startswith("03_pack/relu.cu"))

    def test_no_record(self):
        with pytest.raises(records.RecordError, match="make bench"):
            compare.table(self.root / "docs", "unknown", 1)


def test_each_contract_that_has_peers_calls_its_own_function():
    """What its own file says, without PyTorch or Triton."""
    found = sorted(tree.REPOSITORY.glob("plots/*_peers.py"))
    assert found
    for path in found:
        op = path.name.removesuffix("_peers.py")
        peers = work.of(op)
        name = subprocess.run(["c++filt", peers.symbol], text=True, capture_output=True).stdout
        assert name.startswith(op), name
        assert callable(peers.kernel)
    assert work.of("made_up") is None
