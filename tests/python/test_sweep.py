"""Chapter 10's constants: replaced, counted and timed; refused when stale."""

import pytest
import made_up
import tree
from ladder import tables
from ladder.measured import records, sweep

SOURCE = """\
constexpr int kBlock = 256;
constexpr int kCoarse = 16;  // Numbers.
constexpr int kTile = kCoarse * kBlock;
"""
PATH = "chapters/10_sum_coarsened/sum.cu"
OWN = sweep.Pair(coarse=16, block=256)


class SweepTest(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def in_a_made_up_repository(self, in_a_folder_of_its_own, monkeypatch):
        made_up.plant_harness(self.root)
        self.source = self.write(PATH, SOURCE)
        self.page = self.source.parent / "README.md"
        self.page.write_text("<!-- figure sweep sum.cu -->\n<!-- end -->\n")
        monkeypatch.setattr(sweep, "ROOT", self.root)


class TestCopies(SweepTest):
    def test_both_constants_are_replaced_and_nothing_else(self):
        text = sweep.copy_with(sweep.Pair(coarse=2, block=1024))
        assert text == SOURCE.replace("256", "1024").replace("16;", "2;")

    def test_what_is_swept_is_what_a_page_says(self):
        self.write("chapters/11_other/sum.cu", SOURCE)
        other = self.root / "chapters/11_other/README.md"
        other.write_text(self.page.read_text())
        with pytest.raises(ValueError, match="two files would be swept: .*10_.* and .*11_"):
            sweep.source_of(self.root)
        self.page.unlink()
        assert str(sweep.source_of(self.root)) == "chapters/11_other/sum.cu"
        other.unlink()
        with pytest.raises(ValueError, match="no page says which file is swept"):
            sweep.source_of(self.root)

    def test_a_renamed_constant_is_no_silent_sweep_of_nothing(self):
        self.write(PATH, SOURCE.replace("kCoarse = 16", "kFactor = 16"))
        with pytest.raises(ValueError, match="lacks kCoarse"):
            sweep.build("cpu", ".counts")

    def test_a_copy_that_fails_its_checks_is_not_counted(self):
        with pytest.raises(ValueError, match="the checks fail"):
            sweep.of_counts({}, OWN)


class TestShown(SweepTest):
    def test_what_was_never_swept_is_refused(self):
        self.refuses("run `make sweep`", "table coarsening")
        self.refuses("never swept on nvidia-h200", "table sweep 2^28")

    def test_an_executor_that_counts_otherwise_by_now_is_noticed(self, monkeypatch):
        root = tree.REPOSITORY
        found, own = sweep.recorded_counts(root), sweep.chapters_own(root)
        assert sweep.counted(root) == found
        monkeypatch.setattr(sweep, "recorded_counts", lambda _: found | {own: found[own] | {"blocks": 1}})
        with pytest.raises(ValueError, match="what is counted now"):
            sweep.counted(root)

    def test_a_pair_that_was_not_tried_is_refused(self):
        page = tree.REPOSITORY / sweep.source_of(tree.REPOSITORY)
        for message, *words in ("were not tried", "3", "256", "2^28"), ("write: value tried", "1", "256"):
            with pytest.raises(ValueError, match=message):
                tables.render("value", "tried", words, page)


class TestMeasuring(SweepTest):
    """The program stands for a chapter's, which --record tells where to write."""

    @pytest.fixture(autouse=True)
    def measured(self, in_a_made_up_repository, monkeypatch):
        made_up.record_below(self.root, monkeypatch)

    def plant_program(self, script):
        self.script("build/it.run", f"#!/bin/sh\n{script}\n")

    def test_only_the_sizes_and_series_that_are_shown(self):
        self.plant_program('echo "{\\"filter\\": \\"$2\\"}" > "${1#--record=}"')
        wanted = sweep.measure("build/it.run")["filter"]
        assert wanted == "--benchmark_filter=^(read|sum)/n:(1048576|16777216|268435456)/"
        assert not sweep.bench.SCRATCH.exists()

    def test_what_is_written_can_be_read(self, monkeypatch):
        told = made_up.record(self.root, self.source, 1)["context"]
        rows = [made_up.benchmark(series, n, 4000, 4)
                for n in sweep.SIZES for series in (records.READ, "sum")]
        made_up.write(self.root / "build/told.json", {"context": told, "benchmarks": rows})
        self.plant_program('cp build/told.json "${1#--record=}"')
        monkeypatch.setattr(sweep, "build", lambda *_: {OWN: "build/it.run"})
        monkeypatch.setattr(sweep.bench, "checkout", lambda: ("89abcdef0123", "no"))
        sweep.time()
        found = sweep.timed(self.root)
        assert found.path == self.root / "plots/data/nvidia-h200/2026-01-02/sweep.json"
        assert found.context["commit"] == "89abcdef0123"
        assert found.records[OWN].row("sum", 1 << 20).us == pytest.approx(rows[1]["p50_us"])

    def test_failing_checks_are_told_and_nothing_is_kept(self):
        self.plant_program("echo a check fails\nexit 1")
        with pytest.raises(ValueError, match="(?s)status 1:.*a check fails"):
            sweep.measure("build/it.run")
