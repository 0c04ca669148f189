"""What of tests/claims.py is no matter of one run over drifts/claims.tree."""

import pytest
import made_up
from tree import REPOSITORY, TreeTest

from ladder import ptx
from ladder.pages import Problem

HERE = "chapters/03_pack/README.md"


class ClaimTest(TreeTest):
    tool = tree = "claims"

    def claim(self, text):
        self.write(HERE, f"# Page\n\nA sentence. <!-- {text} -->\n")

    def green(self, text):
        self.claim(text)
        self.assert_green()

    def red(self, text, *messages):
        self.claim(text)
        self.assert_red(f"{HERE}:3: ", *messages)


class TestInstructions(ClaimTest):
    def test_a_file_is_compiled_once(self):
        self.green("ptx relu.cu plain_kernel: 1 x ret")
        self.green("ptx relu.cu relu_kernel: 1 x ret")
        assert len(list((self.root / "build/claims").iterdir())) == 1


class TestCounts(ClaimTest):
    """Counting claims, judged by what the program says that it counted."""

    tree = "counts"

    def test_it_runs_once_for_each_size(self):
        for _ in range(2):
            self.green("count relu.cu n=1024: 32 load requests")
            self.green("count relu.cu n=2048: 64 load requests")
        assert self.read("calls").split("\n") == ["1024 0", "2048 0", ""]


class TestTimes(ClaimTest):
    """Comparisons, judged by made-up records: chapter 03 runs at the copy's speed."""

    @pytest.fixture(autouse=True)
    def measured(self, in_its_tree):
        made_up.repository(self.root)

    def test_comparisons(self):
        self.green("times relu.cu < 0.65 x ../01_one_thread_each/relu.cu at 2^28")
        self.red("times relu.cu < 0.6 x ../01_one_thread_each/relu.cu at 2^28", "0.626 x at n = 268,435,456")
        self.green("times relu.cu < 1.01 x relu.cu copy at 1024..2^28, relu.cu copy < 1 x relu.four.cu at 2^20..2^28")
        self.red("times relu.four.cu < 1.01 x relu.cu at 1024..2^28", "1.026 x at n = 268,435,456")

    def test_grammar(self):
        for text, message in [
            ("times relu.cu is faster", "cannot read 'relu.cu is faster'"),
            ("times relu.cu < 1 x relu.cu copy at 2^20..2^27", "was not measured at both 1,048,576 and 134,217,728"),
            ("times relu.cu < 1 x relu.cu backward at 2^28", "was not measured at both"),
            ("times gone.cu < 1 x relu.cu at 2^28", "no file gone.cu"),
        ]:
            self.red(text, message)

    def test_a_stale_record_is_skipped_aloud(self, monkeypatch):
        self.write("chapters/03_pack/relu.four.cu", "int edited;\n")
        self.claim("times relu.four.cu < 0.1 x relu.cu at 2^28, relu.cu < 1.1 x relu.cu copy at 2^28")
        status, said = self.run_tool()
        assert (status, said.count("STALE ")) == (0, 1), said
        assert "1 passed, 0 failed, 1 skipped" in said
        monkeypatch.setenv("RELEASE", "1")
        self.assert_red("not checked: plots/data/")


class TestLoops:
    def kernel(self, name):
        return ptx.Module(ptx.parsed(REPOSITORY / f"tests/python/programs/{name}.ptx")).kernel("k")

    def test_loops_and_lines(self):
        kernel = self.kernel("nested")

        def opcodes(indices):
            return sorted(kernel.opcodes[i] for i in indices)

        assert opcodes(kernel.in_loops_of((1, 20))) == ["bra", "ld.global.f32", "mul.f32"]
        assert {"ld.global.f32", "st.global.f32"} < set(opcodes(kernel.in_loops_of((1, 11))))
        assert "mov.u32" not in opcodes(kernel.repeated)
        for line in (21, 30):  # Inlined code stems from its caller, too.
            assert opcodes(kernel.of_line((1, line))) == ["mul.f32"]

    def test_a_jump_table_leads_back(self):
        assert self.kernel("switch").repeated == {0, 1}

    def test_what_is_no_ptx(self):
        with pytest.raises(Problem, match="cannot read this PTX: .*left"):
            self.kernel("odd")
