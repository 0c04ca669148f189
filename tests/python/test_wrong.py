"""tests/wrong.py believes a kernel rejected only for the reason it names."""

import pytest
import wrong
from harness import patches
from ladder.mutants import Run
from tree import Folder

RED = "\nFAILED: tails\n  expected  x\n  (a.cpp:2)\n\n2 of 9 checks failed, these too:\n  offsets\n"
FOUND = "simt: out of bounds: read of 4 bytes at 0x10\n"


class TestTable:
    def test_reads_three_fields_and_skips_comments(self):
        table = wrong.read_table("# file | check | finding\n\na.cu | tails | -\n")
        assert table == {"a.cu": wrong.Expected("tails", "-")}

    def test_refuses_what_it_cannot_read(self):
        for text in ("a.cu | tails", "a.cu | | -", "a.cu | t | -\na.cu | t | -"):
            with pytest.raises(wrong.pages.Problem):
                wrong.read_table(text)


class TestPatches(Folder):
    PATCH = """// Wrong: it adds
// too much.
chapters/right.cu:
    'x + 1;' -> 'x + 2;';
    '  return \\'a\\';\\n'
    '}\\n'
    -> '}\\n'
"""

    def sources(self, patch):
        """They, and what is said of those that do not fit."""
        said = []
        self.write("chapters/right.cu", "// Right.\n// It is.\n\n// Adds.\nx + 1;\n  return 'a';\n}\n")
        self.write("tests/wrong/op.own.cu", "whole")
        self.write("tests/wrong/op.more.patch", patch)
        return patches.sources(self.root, said.append), said

    def test_they_follow_their_file(self):
        found, said = self.sources(self.PATCH)
        assert list(found) == ["op.more.cu", "op.own.cu"] and not said
        assert found["op.own.cu"] == self.root / "tests/wrong/op.own.cu"
        assert found["op.more.cu"].read_text() == "// Wrong: it adds\n// too much.\n\n// Adds.\nx + 2;\n}\n"

    def test_one_that_no_longer_fits_is_named(self):
        found, said = self.sources(self.PATCH.replace("x + 1", "x + 3"))
        assert list(found) == ["op.own.cu"]
        assert said == ["tests/wrong/op.more.patch: 'x + 3;' occurs 0 times in chapters/right.cu, need exactly 1"]


@pytest.mark.parametrize("check, finding, run, why", [
    # The named check must be the first to fail ...
    ("tails", "-", Run(True, 1, RED), None),
    ("NaN", "-", Run(True, 1, RED), "not 'NaN'"),
    ("tails", "-", Run(True, 1, ""), "no check"),
    # ... and the finding the named one.
    ("tails", "out of bounds", Run(True, 1, FOUND + RED), None),
    ("tails", "out of bounds", Run(True, 1, RED), "said '-'"),
    ("tails", "-", Run(True, 1, FOUND + RED), "not '-'"),
    # What passes is not rejected.
    ("tails", "-", Run(True, 0, ""), "nothing rejected it"),
    ("tails", "-", Run(False, None, ""), "compile"),
    ("tails", "-", Run(True, None, ""), "hung"),
    # What only a GPU sees passes here; what is right must pass.
    ("tails", "passes", Run(True, 0, ""), None),
    ("tails", "passes", Run(True, 1, RED), "say in the table"),
    ("nothing", "-", Run(True, 0, ""), None),
    ("nothing", "-", Run(True, 1, RED), "keeps its contract"),
    ("executor: tails", "-", Run(True, 1, RED), None),
    ("executor: tails", "-", Run(True, 0, ""), "nothing rejected it"),
])
def test_a_judgement(check, finding, run, why, monkeypatch):
    monkeypatch.setattr(wrong, "BACKEND", "cpu")
    trouble = wrong.judge(wrong.Expected(check, finding), run)
    assert trouble is None if why is None else why in trouble


def test_what_only_a_gpu_sees_fails_there(monkeypatch):
    monkeypatch.setattr(wrong, "BACKEND", "gpu")
    hidden = wrong.Expected("tails", "passes")
    assert wrong.judge(hidden, Run(True, 1, RED)) is None
    assert wrong.judge(hidden, Run(True, 0, "")) == "nothing rejected it"


@pytest.mark.parametrize("backend, counts", [("cpu", True), ("gpu", False)])
def test_what_only_the_executor_sees_is_left_out_on_a_gpu(backend, counts, monkeypatch):
    monkeypatch.setattr(wrong, "BACKEND", backend)
    assert wrong.Expected("executor: tails", "-").counts == counts
