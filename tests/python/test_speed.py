"""Times and memory of the executor are read, tabled, and refused when stale."""

import pytest
import tree
from ladder.measured import speed

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


def test_local_changes_are_told(monkeypatch):
    report = speed.newest(tree.REPOSITORY)
    monkeypatch.setattr(speed, "newest", lambda root: report | {"context": report["context"] | {"dirty": "yes"}})
    assert " with local changes;" in speed.memory_table(tree.REPOSITORY)[-1]
