"""tests/wrong.py believes a kernel rejected only for the reason it names."""

from unittest import mock

import pytest
import wrong
from ladder import patches
from ladder.mutants import Run

RED = "\nFAILED: tails\n  expected  x\n  (a.cpp:2)\n\n2 of 9 checks failed, these too:\n  offsets\n"
FOUND = "simt: out of bounds: read of 4 bytes at 0x10\n"


def judge(check, finding, run, backend="cpu"):
    with mock.patch.object(wrong, "BACKEND", backend):
        return wrong.judge(wrong.Expected(check, finding), run)


class TestTable:
    def test_reads_three_fields_and_skips_comments(self):
        table = wrong.read_table("# file | check | finding\n\na.cu | tails | -\n")
        assert table == {"a.cu": wrong.Expected("tails", "-")}

    def test_refuses_what_it_cannot_read(self):
        for text in ("a.cu | tails", "a.cu | | -", "a.cu | t | -\na.cu | t | -"):
            with pytest.raises(wrong.pages.Problem):
                wrong.read_table(text)


class TestPatches:
    PATCH = """// Wrong: it adds
// too much.
chapters/right.cu:
    'x + 1;' -> 'x + 2;';
    '  return \\'a\\';\\n'
    '}\\n'
    -> '}\\n'
"""

    def sources(self, root):
        for name, text in {"chapters/right.cu": "// Right.\n// It is.\n\n// Adds.\nx + 1;\n  return 'a';\n}\n",
                           "tests/wrong/op.own.cu": "whole", "tests/wrong/op.more.patch": self.PATCH}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return patches.sources(root, self.said.append)

    def test_they_follow_their_file(self, tmp_path):
        self.said = []
        found = self.sources(tmp_path)
        assert list(found) == ["op.more.cu", "op.own.cu"] and not self.said
        assert found["op.own.cu"] == tmp_path / "tests/wrong/op.own.cu"
        assert found["op.more.cu"].read_text() == "// Wrong: it adds\n// too much.\n\n// Adds.\nx + 2;\n}\n"

    def test_one_that_no_longer_fits_is_named(self, tmp_path):
        self.said, self.PATCH = [], self.PATCH.replace("x + 1", "x + 3")
        assert list(self.sources(tmp_path)) == ["op.own.cu"]
        assert self.said == ["tests/wrong/op.more.patch: 'x + 3;' occurs 0 times in chapters/right.cu, need exactly 1"]


class TestJudge:
    def test_the_named_check_must_be_the_first_to_fail(self):
        assert judge("tails", "-", Run(True, 1, RED)) is None
        assert "not 'NaN'" in judge("NaN", "-", Run(True, 1, RED))
        assert "no check" in judge("tails", "-", Run(True, 1, ""))

    def test_the_finding_must_be_the_named_one(self):
        assert judge("tails", "out of bounds", Run(True, 1, FOUND + RED)) is None
        assert "said '-'" in judge("tails", "out of bounds", Run(True, 1, RED))
        assert "not '-'" in judge("tails", "-", Run(True, 1, FOUND + RED))

    def test_a_kernel_that_passes_is_not_rejected(self):
        assert judge("tails", "-", Run(True, 0, "")) == "nothing rejected it"
        assert "compile" in judge("tails", "-", Run(False, None, ""))
        assert "hung" in judge("tails", "-", Run(True, None, ""))

    def test_what_only_a_gpu_sees_passes_here_and_fails_there(self):
        assert judge("tails", "passes", Run(True, 0, "")) is None
        assert "say in the table" in judge("tails", "passes", Run(True, 1, RED))
        assert judge("tails", "passes", Run(True, 1, RED), "gpu") is None
        assert judge("tails", "passes", Run(True, 0, ""), "gpu") == "nothing rejected it"

    def test_what_is_right_must_pass(self):
        assert judge("nothing", "-", Run(True, 0, "")) is None
        assert "keeps its contract" in judge("nothing", "-", Run(True, 1, RED))

    def test_what_only_the_executor_sees_is_left_out_on_a_gpu(self):
        assert judge("executor: tails", "-", Run(True, 1, RED)) is None
        assert judge("executor: tails", "-", Run(True, 0, "")) == "nothing rejected it"
        for backend, counts in (("cpu", True), ("gpu", False)):
            with mock.patch.object(wrong, "BACKEND", backend):
                assert wrong.Expected("executor: tails", "-").counts == counts
