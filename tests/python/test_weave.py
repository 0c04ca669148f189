"""What of `make weave` is no matter of one run over drifts/weave.tree."""

import re

from tree import REPOSITORY, TreeTest

from ladder import source, tables

HERE = "chapters/02_two/README.md"


class TestWeave(TreeTest):
    tool, tree = "ladder.weave", "weave"

    def check_red(self, *messages):
        before = self.read(HERE)
        self.assert_red(*messages, arguments=["--check"])
        assert self.read(HERE) == before, "--check changes nothing"

    def test_weaving_is_complete(self):
        page = self.read(HERE)
        woven = r"(?s:```(?:cuda|diff)\n.*?```\n)|^[|].*\n|^  !.*\n|4\.20"
        self.write(HERE, re.sub(woven, "", page, flags=re.M))
        assert len(self.read(HERE)) < len(page) - 600
        self.assert_green()
        assert self.read(HERE) == page

    def test_data_of_an_earlier_version(self, monkeypatch):
        def render(*_):
            tables.STALE.add("a.json is of an earlier version")
            return ["4.20"]

        monkeypatch.setattr(tables, "render", render)
        assert re.search("STALE a.json .*\n.*, 1 skipped\n", self.run_tool("--check")[1])
        monkeypatch.setenv("RELEASE", "1")
        self.check_red("FAIL  a.json is of an earlier version")

    def test_a_block_that_cannot_be_woven_keeps_its_text(self):
        self.edit(HERE, "code relu.cu relu_kernel", "code relu.cu gone_kernel")
        page = self.read(HERE)
        self.assert_red("0 definitions of 'gone_kernel'")
        assert self.read(HERE) == page


class TestCut(TreeTest):
    tree = "weave"

    def test_a_macro_of_several_lines(self):
        lines = source.cut(self.root / "chapters/02_two/relu.cu", "TWICE")
        assert (lines[0], lines[-1]) == ("#define TWICE(x) \\", "  ((x) + (x))")

    def test_a_declaration_counts_where_there_is_no_definition(self):
        header = self.write("a.h", "#pragma once\n\n// Adds.\nvoid sum(int n);\n")
        assert source.cut(header, "sum") == ["// Adds.", "void sum(int n);"]

    def test_every_source_of_the_repository_can_be_split(self):
        sources = [*REPOSITORY.glob("chapters/*/*.cu"), *REPOSITORY.glob("common/*.h")]
        assert sources
        for path in sources:
            assert [u for u in source.units(path.read_text()) if u.name]
