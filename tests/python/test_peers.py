"""Peers and other GPUs: what is told of them, and what is refused."""

import json
import subprocess
import sys

import made_up
import pytest
import tree
from ladder.measured import compare, peers, records, work


def test_a_file_that_is_none(monkeypatch):
    monkeypatch.setattr(records, "opened", lambda path: {})
    with pytest.raises(records.RecordError, match="make peers"):
        peers.newest(tree.REPOSITORY)


@pytest.mark.parametrize("script", ["latency", "pitfalls"])
def test_a_program_that_fails_is_named(script):
    run = subprocess.run([sys.executable, "-m", f"ladder.measured.{script}", "false"],
                         text=True, capture_output=True)
    assert (run.returncode, run.stderr) == (1, f"{script}: false ended with status 1:\n\n")


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
        words = work.of(op)
        name = subprocess.run(["c++filt", words.symbol], text=True, capture_output=True).stdout
        assert name.startswith(op), name
        assert callable(words.kernel)
    assert work.of("made_up") is None
