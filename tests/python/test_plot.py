"""Figures: the same bytes for the same data, and no stale one passes."""

import json
import pathlib
import re
import shutil

import pytest
import made_up
from ladder.figures import counters_figure, error_figure, plot, two_gpus_figure
from ladder.measured import records, sweep
import tree


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    root = made_up.repository(tmp_path_factory.mktemp("drawn"))
    plot.draw(root, plot.figures(root))
    return root


class TestFigures(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def in_a_made_up_repository(self, drawn, in_a_folder_of_its_own, capsys):
        self.root, self.capsys = self.root / "copy", capsys
        shutil.copytree(drawn, self.root)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.svg = self.root / "plots/figures/by_size_03_pack.svg"

    def test_one_ladder_and_a_figure_for_each_chapter(self):
        names = sorted(p.name for p in self.svg.parent.iterdir())
        assert names == ["by_size_01_one_thread_each.svg", "by_size_03_pack.svg", "ladder.svg"]

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

    def draw_a_half(self):
        """Of what a program has printed, which is returned."""
        self.write("README.md", "<!-- figure half as half half.expected -->\n<!-- end -->\n")
        printed = self.write("half.expected", "1 becomes 0x3c00: 0 01111 0000000000, which is 1\n")
        self.draw()
        return printed

    def test_what_a_program_printed_are_data(self):
        printed = self.draw_a_half()
        assert self.check() == "4 passed, 0 failed\n"
        printed.write_text("2 becomes 0x4000: 0 10000 0000000000, which is 2\n")
        assert "half.svg was drawn from other data" in self.check()

    def test_wrong_data_hide_no_other_figure(self):
        self.draw_a_half()
        next(self.root.glob("plots/data/*/*/03_pack.relu.json")).write_text("{}")
        troubles = []
        plot.check(self.root, plot.figures(self.root, troubles), troubles)
        assert re.search(r"FAIL .*03_pack.relu.json .*seal(.*\n)+[1-9]\d* passed, 1 failed\n",
                         self.capsys.readouterr().out)


class TestCommitted:
    """Of what the made-up repository does not have."""

    root = tree.REPOSITORY

    def shows(self, name, *words):
        drawn = (self.root / f"plots/figures/{name}.svg").read_text()
        assert [one for one in words if one not in drawn] == []
        return [drawn.index(one) for one in words]

    @pytest.mark.parametrize("kind", plot.KINDS, ids=lambda kind: kind.__name__)
    def test_what_is_read_for_figures_is_what_they_are_drawn_from(self, kind, monkeypatch):
        read, text_of = set(), pathlib.Path.read_text
        monkeypatch.setattr(pathlib.Path, "read_text", lambda path, *more, **how: (
            read.add(path) or text_of(path, *more, **how)))
        figures = list(kind(self.root))
        data = {path for path in read if path.suffix == ".json"} | {self.root / error_figure.FILE} & read
        assert data and data <= {record.path for figure in figures for record in figure.shown}

    def test_the_ladder_shows_what_its_table_does_in_its_order(self):
        rows = re.findall(r"\| ([\d,]+) \| ([\d.]+ %) \|", (self.root / "README.md").read_text())
        found = self.shows("ladder", *(f">{gbps} GB/s  ·  {percent}<" for gbps, percent in rows))
        assert len(rows) > 15 and found == sorted(found)
        self.shows("ladder", "relu_mask: 8.125 bytes to move for each element", ">PyTorch<", ">a read<", ">a plain copy<")

    def test_a_second_gpu_stands_beside_the_first(self):
        for of_gpu in two_gpus_figure.records_of(self.root):
            rows = [(record, record.headline(records.HEADLINE)) for record in of_gpu]
            self.shows("gpus", f">{of_gpu[0].context['gpu']}<", ">01 one thread each<", *(
                f">{record.percent_of_copy(row):.1f} %  ·  {row.us:,.0f} µs<" for record, row in rows))

    def test_counters_and_errors_stand_beside_times(self):
        chapters = counters_figure.load(self.root).chapters.values()
        bytes_ = [one[str(counters_figure.DRAWN)]["bytes"] for one in chapters]
        self.shows("counters", ">01 one thread each<", ">memory requests<", *(f">{value:,.3g}<" for value in bytes_))
        self.shows("sweep", "reading the array alone takes ", *(f">{block}<" for block in sweep.BLOCKS))
        self.shows("error_speed", ">04<", ">04.scalar<", ">06<", "worst error in ulps")

    def test_what_holds_no_errors_is_refused(self, tmp_path):
        table = tmp_path / "errors"
        table.write_text("  n  one by one\n 256  3.8 of 255  0.7 of 8  0.7 of 8\n")
        assert error_figure.load(table).curves["one by one"] == [(3.8, 255)]
        table.write_text("nothing\n")
        with pytest.raises(ValueError, match="holds no table of errors"):
            error_figure.load(table)
        with pytest.raises(ValueError, match="holds no errors: run `make bench` again"):
            error_figure.worst_error(records.of_source(self.root, self.root / "chapters/01_one_thread_each/relu.cu"))

    def test_chapters_are_counted_as_they_were(self):
        for name, one in json.loads((self.root / counters_figure.FILE).read_text()).items():
            quick = counters_figure.count(self.root, self.root / name, counters_figure.QUICK)
            assert one["counted"][str(counters_figure.QUICK)] == quick

    def test_what_was_counted_of_another_version_is_refused(self, monkeypatch):
        monkeypatch.setattr(counters_figure, "tie", lambda *_: "another")
        with pytest.raises(ValueError, match="was not counted from this .*: run `make figures`"):
            counters_figure.load(self.root)
