"""Times and memory of the executor are read, tabled, and refused when stale."""

import json

import pytest
import made_up
import tree
from ladder.measured import speed
from ladder.measured.tie import tie

OUTPUT = """\
copy            2048 threads, ns a thread: 5.84 5.50 6.00
block_sum       2048 threads, ns a thread: 33.00 32.00
memory: 2097152 bytes of arrays, 6967296 bytes at most
"""


class TestReading:
    def test_every_sample_of_every_kernel(self):
        times = speed.read_times(OUTPUT)
        assert list(times) == ["copy", "block_sum"]
        assert times["copy"] == speed.Timed(2048, [5.84, 5.5, 6.0])
        assert times["copy"].best == 5.5

    def test_memory(self):
        assert speed.read_memory(OUTPUT) == {"arrays": 2097152, "peak": 6967296}

    def test_silence_is_refused(self):
        for read in (speed.read_times, speed.read_memory):
            with pytest.raises(speed.Problem):
                read("simt: out of bounds\n")


class TestTables(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def timed(self, in_a_made_up_repository):
        self.write(speed.SOURCE, "// six kernels\n")
        self.report = json.loads((tree.REPOSITORY / speed.DATA).read_text())
        self.report["context"] |= {"dirty": "no", "tie": tie(self.root, speed.SOURCE)}

    def of_report(self, name):
        made_up.write(self.root / speed.DATA, self.report)
        return self.table(name)

    def test_without_the_simulator_its_columns_are_left_out(self):
        del self.report["times"]["numba"]
        self.report["context"]["numba"] = None
        lines = self.of_report("speed")
        assert lines[0].count("|") == lines[2].count("|") == 2 + len({*speed.OBSERVERS, *speed.ON_AVX2})
        assert "numba" not in "".join(lines)

    def test_local_changes_are_told(self):
        self.report["context"]["dirty"] = "yes"
        assert " with local changes;" in self.of_report("memory")[-1]

    def test_nothing_measured_is_refused(self):
        self.refuses("run `make speed`", "table speed")
