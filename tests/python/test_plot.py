"""Figures: the same bytes for the same data, and no stale one passes."""

import contextlib
import io
import json
import pathlib
import shutil
import tempfile
import unittest
import made_up
from ladder.figures import counters_figure, error_figure, plot
from ladder.measured import records
from ladder.measured.tie import tie
import tree


def quietly(function, root):
    """Its result and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        result = function(root, plot.figures(root))
    return result, said.getvalue()


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.drawn = made_up.repository(folder.name)
        quietly(plot.draw, cls.drawn)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "copy"
        shutil.copytree(self.drawn, self.root)
        self.svg = self.root / "plots/figures/by_size_03_pack.svg"

    def quietly(self, function):
        return quietly(function, self.root)

    def check_fails(self, message):
        status, said = self.quietly(plot.check)
        self.assertEqual(status, 1)
        self.assertIn(message, said)

    def test_one_ladder_and_a_figure_for_each_chapter(self):
        names = sorted(p.name for p in self.svg.parent.iterdir())
        self.assertEqual(names, ["by_size_01_one_thread_each.svg",
                                 "by_size_03_pack.svg", "ladder.svg"])

    def test_the_ladder_groups_chapters_by_contract(self):
        for name, gbps, bytes_ in (("05_bitmask/relu_mask.cu", 3900, 8.125),
                                   ("06_sum/sum.cu", 4400, 4)):
            source = self.root / "chapters" / name
            source.parent.mkdir()
            source.write_text(f"// {name}\n")
            data = made_up.record(self.root, source, gbps, bytes_)
            if bytes_ == 4:
                made_up.add_reads(data, 4600, bytes_)
            made_up.write(made_up.data_path(self.root, source), data)
        made_up.plant_peers(self.root, [made_up.peer("copy", 500), made_up.peer("PyTorch", 625)])
        self.quietly(plot.draw)
        self.assertIn(">06 sum: 96 %<", self.svg.with_name("by_size_06_sum.svg").read_text())
        text = self.svg.with_name("ladder.svg").read_text()
        found = [text.index(f">{words}<") for words in (
            "PyTorch", "relu: 8 bytes to move for each element", "2,493 GB/s  ·  62.6 %",
            "3,436 GB/s  ·  80.0 %",
            "relu_mask: 8.125 bytes to move for each element",
            "sum: 4 bytes to move for each element", "4,355 GB/s  ·  109.9 %",
            "a read", "a plain copy")]
        self.assertEqual(found, sorted(found))

    def test_a_second_gpu_stands_beside_the_first(self):
        made_up.add_second_gpu(self.root, 2000)
        self.check_fails("gpus.svg is missing")
        self.quietly(plot.draw)
        text = self.svg.with_name("gpus.svg").read_text()
        for words in ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "01 one thread each", "100.0 %  ·  539 µs",
                      "50.1 %  ·  1,076 µs"):
            self.assertIn(f">{words}<", text)
        self.assertEqual(self.quietly(plot.check), (0, "4 passed, 0 failed\n"))
        made_up.add_second_gpu(self.root, 2001)
        self.check_fails("gpus.svg was drawn from other data")

    def test_the_error_of_sums_is_drawn_from_what_the_program_printed(self):
        table = self.root / error_figure.FILE
        table.parent.mkdir(parents=True)
        table.write_text("  n  one by one  a tree a block  a tree\n"
                         " 256  3.8 of 255  0.7 of 8  0.7 of 8\n"
                         "1024  6.7 of 1023  0.8 of 10  0.8 of 10\n")
        self.assertEqual(error_figure.load(table).curves["one by one"],
                         [(3.8, 255), (6.7, 1023)])
        self.quietly(plot.draw)
        self.assertEqual(self.quietly(plot.check), (0, "4 passed, 0 failed\n"))
        table.write_text(table.read_text().replace("6.7", "7.6"))
        self.check_fails("error.svg was drawn from other data")
        table.write_text("nothing\n")
        with self.assertRaisesRegex(ValueError, "holds no table of errors"):
            plot.figures(self.root)

    def plant(self, name, gbps, worst_error):
        source = self.root / "chapters" / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(f"// {name}\n")
        data = made_up.record(self.root, source, gbps)
        for benchmark in data["benchmarks"]:
            if worst_error is not None and "copy" not in benchmark["name"]:
                benchmark["worst_error"] = worst_error
        made_up.write(made_up.data_path(self.root, source), data)

    def test_errors_stand_beside_times(self):
        page = self.root / "docs/numerics.md"
        page.parent.mkdir()
        page.write_text('<!-- figure error_speed "for both" gelu "GELU: worst error in ulps" sum "sum" -->\n<!-- end -->\n')
        self.plant("04_half2/gelu.cu", 4000, 1)
        self.plant("04_half2/gelu.scalar.cu", 1000, 2)
        self.plant("06_sum/sum.cu", 3000, 0.004)
        self.quietly(plot.draw)
        text = self.svg.with_name("error_speed.svg").read_text()
        for words in (">04<", ">04.scalar<", ">06<", "worst error in ulps"):
            self.assertIn(words, text)
        self.plant("06_sum/sum.cu", 3000, 0.005)
        self.check_fails("error_speed.svg was drawn from other data")
        self.plant("06_sum/sum.cu", 3000, None)
        with self.assertRaisesRegex(ValueError, "holds no errors: run `make bench` again"):
            self.quietly(plot.draw)

    def test_counters_stand_beside_times(self):
        one = {"bytes": 8, "requests": 62.5, "slots": 13.5}
        counted = {str(source.relative_to(self.root)): {
            "tie": tie(self.root, source.relative_to(self.root)),
            "counted": {str(counters_figure.DRAWN): one}}
            for source in records.main_sources(self.root)}
        file = self.root / counters_figure.FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(counted))
        self.quietly(plot.draw)
        text = self.svg.with_name("counters.svg").read_text()
        for words in (">62.5<", ">13.5<", ">01 one thread each<", ">memory requests<"):
            self.assertIn(words, text)
        one["slots"] = 14
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(counted))
        self.check_fails("counters.svg was drawn from other data")
        counted.popitem()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(counted))
        with self.assertRaisesRegex(ValueError, "was not counted from this .*: run `make figures`"):
            plot.figures(self.root)

    def test_fresh_figures_pass(self):
        self.assertEqual(self.quietly(plot.check), (0, "3 passed, 0 failed\n"))

    def test_same_data_same_bytes(self):
        before = {p: p.read_bytes() for p in self.svg.parent.iterdir()}
        self.quietly(plot.draw)
        self.assertEqual(before, {p: p.read_bytes() for p in before})

    def test_text_is_text_and_no_date_is_kept(self):
        text = self.svg.read_text()
        self.assertIn(">03 pack: 100 %<", text)
        self.assertNotIn("<dc:date>", text)

    def test_a_figure_changed_by_hand_is_caught(self):
        self.svg.write_text(self.svg.read_text().replace(">03 pack:", ">04 pack:"))
        self.check_fails("by_size_03_pack.svg was changed by hand")

    def test_a_figure_without_its_seal_is_caught(self):
        self.svg.write_text(self.svg.read_text().rsplit("<!--", 1)[0])
        self.check_fails("by_size_03_pack.svg was changed by hand")

    def test_other_data_are_caught(self):
        source = self.root / "chapters/03_pack/relu.cu"
        made_up.write(made_up.data_path(self.root, source),
                      made_up.record(self.root, source, 3999))
        self.check_fails("by_size_03_pack.svg was drawn from other data")

    def test_wrong_data_hide_no_other_figure(self):
        made_up.plant_trace(self.root, self.root / "chapters/03_pack/relu.cu")
        self.quietly(plot.draw)
        next(self.root.glob("plots/data/*/*/03_pack.relu.json")).write_text("{}")
        troubles = []
        with contextlib.redirect_stdout(io.StringIO()) as said:
            plot.check(self.root, plot.figures(self.root, troubles), troubles)
        self.assertRegex(said.getvalue(), r"FAIL .*03_pack.relu.json .*seal(.*\n)+[1-9]\d* passed, 1 failed\n")

    def test_a_missing_figure_is_caught(self):
        self.svg.unlink()
        self.check_fails("by_size_03_pack.svg is missing")

    def test_a_figure_of_no_chapter_is_caught(self):
        (self.svg.parent / "by_size_99_old.svg").write_text("")
        self.check_fails("by_size_99_old.svg belongs to no chapter")


class Committed(unittest.TestCase):
    def test_the_chapters_are_counted_as_they_were(self):
        chapters = json.loads((tree.REPOSITORY / counters_figure.FILE).read_text())
        for name, one in chapters.items():
            with self.subTest(name):
                self.assertEqual(
                    one["counted"][str(counters_figure.QUICK)],
                    counters_figure.count(tree.REPOSITORY, tree.REPOSITORY / name,
                                          counters_figure.QUICK))
