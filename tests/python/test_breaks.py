"""What of tests/breaks.py and `make weave` is no matter of one run over drifts/breaks.tree.

A fake build makes a fake suite there, so that only the judging is on trial.
"""

import pytest
from tree import TreeTest

import breaks
from ladder import mutants

HERE = "chapters/03_pack/README.md"


class Planted(TreeTest):
    tree = "breaks"

    def items(self, *texts):
        lines = [f"- Item.\n  <!-- {text} -->\n  <!-- end -->\n" for text in texts]
        self.write(HERE, "## Break it\n\n" + "".join(lines))


class TestBreaks(Planted):
    tool = "breaks"

    def test_a_mutant_that_hangs(self, monkeypatch):
        source = self.root / "chapters/03_pack/relu.cu"
        item = mutants.Break("page:1", source, "stay", "sleep", "relu handles")
        workshop = mutants.Workshop(self.root, "cpu", [item])
        job = (workshop.mutants[item],)
        monkeypatch.setattr(mutants, "SECONDS", 0.2)
        hung = workshop.runs([job])[job]
        assert "hung for" in breaks.judge(item, hung, mutants.Run(True, 0, ""))
        monkeypatch.undo()
        self.edit("suite.sh", "exec sleep 60", "echo awake")
        assert workshop.runs([job])[job].passed, "it is tried again"

    def test_what_a_program_said_is_kept_as_long_as_it_is_the_same(self):
        self.items("break relu.cu: 'stay' -> 'overrun'; red: out of bounds")
        self.assert_green()
        self.edit("suite.sh", "out of bounds", "elsewhere")
        self.assert_green()
        self.edit("Makefile", "exec sh", "exec  sh")
        for program in (self.root / "build/cpu").rglob("*.run"):
            program.unlink()
        self.assert_red("not by 'out of bounds'")


class TestHeaders(Planted):
    """What is broken is a header; what runs, the file beside it that includes it."""

    HEADER, SOURCE = "chapters/03_pack/engine.h", "chapters/03_pack/relu.cu"

    def item(self):
        self.write(self.HEADER, "int a = 1;\n")
        self.items("break engine.h: 'a = 1' -> 'a = 2'; red: relu handles every length")
        return next(mutants.collect(self.root, pytest.fail))

    def test_it_is_planted_with_its_source(self):
        text = (self.root / self.SOURCE).read_text()
        self.write(self.SOURCE, f'#include "{self.HEADER}"\n{text}')
        item = self.item()
        assert (item.source, item.edited) == (self.root / self.SOURCE, self.root / self.HEADER)
        assert item.edit() == ["-int a = 1;", "+int a = 2;"]
        planted = mutants.Workshop(self.root, "cpu", [item]).mutants[item]
        header, = (self.root / "build/breaks/chapters/03_pack").glob("engine.*.h")
        assert header.read_text() == "int a = 2;\n"
        assert planted.read_text() == f'#include "{header.relative_to(self.root)}"\n{text}'

    def test_the_source_may_include_it_through_another(self):
        between, text = "chapters/03_pack/kernels.h", (self.root / self.SOURCE).read_text()
        self.write(between, f'#include "{self.HEADER}"\n')
        self.write(self.SOURCE, f'#include "{between}"\n{text}')
        planted = mutants.Workshop(self.root, "cpu", [self.item()])
        folder = self.root / "build/breaks/chapters/03_pack"
        (engine,), (kernels,) = folder.glob("engine.*.h"), folder.glob("kernels.*.h")
        assert kernels.read_text() == f'#include "{engine.relative_to(self.root)}"\n'
        source, = planted.mutants.values()
        assert source.read_text() == f'#include "{kernels.relative_to(self.root)}"\n{text}'

    def test_somebody_has_to_include_it(self):
        with pytest.raises(pytest.fail.Exception, match="included by 0 files beside it"):
            self.item()


def test_a_run_that_does_not_say_what_is_wrong():
    with pytest.raises(mutants.Problem, match="does not say what is wrong"):
        mutants.Run(True, 1, "Segmentation fault\n").first_lines(None)
