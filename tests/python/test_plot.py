"""Figures: the same bytes for the same data, and no stale one passes."""

import json
import re
import shutil

import pytest
import made_up
from ladder.figures import counters_figure, error_figure, plot
from ladder.measured import records
from ladder.measured.tie import tie
import tree


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    root = made_up.repository(tmp_path_factory.mktemp("drawn"))
    plot.draw(root, plot.figures(root))
    return root


class TestFigures(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def in_a_made_up_repository(self, drawn, tmp_path, capsys):
        self.root, self.capsys = tmp_path.resolve() / "copy", capsys
        shutil.copytree(drawn, self.root)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.svg = self.root / "plots/figures/by_size_03_pack.svg"

    def shows(self, name, *texts):
        drawn = self.svg.with_name(name).read_text()
        assert [text for text in texts if text not in drawn] == []

    def test_one_ladder_and_a_figure_for_each_chapter(self):
        names = sorted(p.name for p in self.svg.parent.iterdir())
        assert names == ["by_size_01_one_thread_each.svg", "by_size_03_pack.svg", "ladder.svg"]

    def test_the_ladder_groups_chapters_by_contract(self):
        reads = [made_up.benchmark(records.READ, n, 4600, 4) for n in made_up.SIZES]
        self.plant("05_bitmask/relu_mask.cu", 3900, 8.125)
        self.plant("06_sum/sum.cu", 4400, 4, lambda data: data["benchmarks"].extend(reads))
        made_up.plant_peers(self.root, [made_up.peer("copy", 500), made_up.peer("PyTorch", 625)])
        self.draw()
        self.shows("by_size_06_sum.svg", ">06 sum: 96 %<")
        text = self.svg.with_name("ladder.svg").read_text()
        found = [text.index(f">{words}<") for words in (
            "PyTorch", "relu: 8 bytes to move for each element", "2,493 GB/s  ·  62.6 %",
            "3,436 GB/s  ·  80.0 %",
            "relu_mask: 8.125 bytes to move for each element",
            "sum: 4 bytes to move for each element", "4,355 GB/s  ·  109.9 %",
            "a read", "a plain copy")]
        assert found == sorted(found)

    def test_a_second_gpu_stands_beside_the_first(self):
        made_up.add_second_gpu(self.root, 2000)
        assert "gpus.svg is missing" in self.check()
        self.draw()
        self.shows("gpus.svg", ">NVIDIA H200<", ">NVIDIA H100 80GB HBM3<", ">01 one thread each<",
                   ">100.0 %  ·  539 µs<", ">50.1 %  ·  1,076 µs<")
        assert self.check() == "4 passed, 0 failed\n"
        made_up.add_second_gpu(self.root, 2001)
        assert "gpus.svg was drawn from other data" in self.check()

    def test_the_error_of_sums_is_drawn_from_what_the_program_printed(self):
        table = self.write(error_figure.FILE, "  n  one by one  a tree a block  a tree\n"
                                              " 256  3.8 of 255  0.7 of 8  0.7 of 8\n"
                                              "1024  6.7 of 1023  0.8 of 10  0.8 of 10\n")
        assert error_figure.load(table).curves["one by one"] == [(3.8, 255), (6.7, 1023)]
        self.draw()
        assert self.check() == "4 passed, 0 failed\n"
        table.write_text(table.read_text().replace("6.7", "7.6"))
        assert "error.svg was drawn from other data" in self.check()
        table.write_text("nothing\n")
        with pytest.raises(ValueError, match="holds no table of errors"):
            plot.figures(self.root)

    def plant(self, name, gbps, bytes_=8, change=lambda data: None):
        self.plant_record(gbps, bytes_, change, self.write(f"chapters/{name}", f"// {name}\n"))

    def plant_error(self, name, gbps, worst_error):
        def change(data):
            for benchmark in data["benchmarks"]:
                if worst_error is not None and "copy" not in benchmark["name"]:
                    benchmark["worst_error"] = worst_error

        self.plant(name, gbps, change=change)

    def test_errors_stand_beside_times(self):
        self.write("docs/numerics.md", '<!-- figure error_speed "for both" gelu "GELU: worst error in ulps" sum "sum" -->\n<!-- end -->\n')
        self.plant_error("04_half2/gelu.cu", 4000, 1)
        self.plant_error("04_half2/gelu.scalar.cu", 1000, 2)
        self.plant_error("06_sum/sum.cu", 3000, 0.004)
        self.draw()
        self.shows("error_speed.svg", ">04<", ">04.scalar<", ">06<", "worst error in ulps")
        self.plant_error("06_sum/sum.cu", 3000, 0.005)
        assert "error_speed.svg was drawn from other data" in self.check()
        self.plant_error("06_sum/sum.cu", 3000, None)
        with pytest.raises(ValueError, match="holds no errors: run `make bench` again"):
            self.draw()

    def test_counters_stand_beside_times(self):
        one = {"bytes": 8, "requests": 62.5, "slots": 13.5}
        counted = {str(source.relative_to(self.root)): {
            "tie": tie(self.root, source.relative_to(self.root)),
            "counted": {str(counters_figure.DRAWN): one}}
                   for source in records.main_sources(self.root)}
        file = self.write(counters_figure.FILE, json.dumps(counted))
        self.draw()
        self.shows("counters.svg", ">62.5<", ">13.5<", ">01 one thread each<", ">memory requests<")
        one["slots"] = 14
        file.write_text(json.dumps(counted))
        assert "counters.svg was drawn from other data" in self.check()
        counted.popitem()
        file.write_text(json.dumps(counted))
        with pytest.raises(ValueError, match="was not counted from this .*: run `make figures`"):
            plot.figures(self.root)

    def test_fresh_figures_pass(self):
        assert self.check() == "3 passed, 0 failed\n"

    def test_same_data_same_bytes(self):
        before = {p: p.read_bytes() for p in self.svg.parent.iterdir()}
        self.draw()
        assert before == {p: p.read_bytes() for p in before}

    def test_text_is_text_and_no_date_is_kept(self):
        text = self.svg.read_text()
        assert ">03 pack: 100 %<" in text
        assert "<dc:date>" not in text

    @pytest.mark.parametrize("change, said", [
        (lambda svg: svg.write_text(svg.read_text().replace(">03 pack:", ">04 pack:")), "was changed by hand"),
        (lambda svg: svg.write_text(svg.read_text().rsplit("<!--", 1)[0]), "was changed by hand"),
        (lambda svg: svg.unlink(), "is missing"),
        (lambda svg: svg.rename(svg.with_name("by_size_99_old.svg")), "belongs to no chapter")])
    def test_what_is_not_the_figure_of_a_page_is_caught(self, change, said):
        change(self.svg)
        assert said in self.check()

    def test_other_data_are_caught(self):
        self.plant_record(3999)
        assert "by_size_03_pack.svg was drawn from other data" in self.check()

    def test_what_a_program_printed_are_data(self):
        page, printed = self.root / "README.md", self.root / "half.expected"
        page.write_text("<!-- figure half as half half.expected -->\n<!-- end -->\n")
        printed.write_text("1 becomes 0x3c00: 0 01111 0000000000, which is 1\n")
        self.draw()
        assert self.check() == "4 passed, 0 failed\n"
        printed.write_text("2 becomes 0x4000: 0 10000 0000000000, which is 2\n")
        assert "half.svg was drawn from other data" in self.check()

    def test_wrong_data_hide_no_other_figure(self):
        made_up.plant_trace(self.root, self.source)
        self.draw()
        next(self.root.glob("plots/data/*/*/03_pack.relu.json")).write_text("{}")
        troubles = []
        plot.check(self.root, plot.figures(self.root, troubles), troubles)
        assert re.search(r"FAIL .*03_pack.relu.json .*seal(.*\n)+[1-9]\d* passed, 1 failed\n",
                         self.capsys.readouterr().out)


def test_the_committed_chapters_are_counted_as_they_were():
    root, quick = tree.REPOSITORY, counters_figure.QUICK
    for name, one in json.loads((root / counters_figure.FILE).read_text()).items():
        assert one["counted"][str(quick)] == counters_figure.count(root, root / name, quick)
