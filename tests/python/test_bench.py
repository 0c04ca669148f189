"""`make bench` files what a binary measured, or nothing at all."""

import json
import pathlib

import pytest
import made_up
from ladder.measured import bench, records
from tree import Folder

# Stands in for a chapter's binary: copies what it would have measured.
BINARY = """#!/bin/sh
cp measured.json "${1#--record=}"
echo checked
exit $(cat status)
"""


class TestBench(Folder):
    @pytest.fixture(autouse=True)
    def built(self, in_a_folder_of_its_own, monkeypatch, capsys):
        self.capsys = capsys
        self.source = pathlib.Path("chapters/03_pack/relu.cu")
        made_up.plant_harness(self.root)
        measured = made_up.record(self.root, self.write(self.source, "// relu\n"), 4000)
        for key in ("commit", "dirty", "command", "source", "tie"):
            del measured["context"][key]
        measured["context"]["date"] = bench.datetime.date.today().isoformat()
        self.write("measured.json", json.dumps(measured))
        self.write("status", "0")
        self.script("run", BINARY)

        made_up.record_below(self.root, monkeypatch)
        monkeypatch.setattr(bench, "ROOT", self.root)
        monkeypatch.setattr(bench, "this_gpu", lambda: "nvidia-h200")
        monkeypatch.setenv("COMMIT", "abc")
        monkeypatch.chdir(self.root)

    def bench(self, *pairs):
        bench.main(pairs or (f"{self.source}=run",))
        return self.capsys.readouterr().out

    def fails(self, message, *pairs):
        with pytest.raises(SystemExit, match=message):
            self.bench(*pairs)
        assert list(self.root.glob("plots/data/**/*.json")) == []

    def test_files_the_record_with_its_provenance(self):
        said = self.bench()
        assert "[1/1] chapters/03_pack/relu.cu" in said
        assert "3,981 GB/s, 100.0 % of the copy" in said
        context = records.of_source(self.root, self.root / self.source).context
        assert (context["commit"], context["dirty"]) == ("abc", "no")
        assert context["command"] == "./run --record=plots/data/recording.json"
        assert not bench.SCRATCH.exists()

    def test_goes_on_where_it_stopped(self):
        self.bench()
        said = self.bench()
        assert "Kept plots/data/nvidia-h200" in said
        assert "Measured 0 of 1" in said

    def test_measures_again_what_has_changed(self, monkeypatch):
        self.bench()
        self.write(self.source, "int edited;\n")
        assert "Measured 1 of 1" in self.bench()
        for commit in ("def", "def-dirty", "def-dirty"):
            monkeypatch.setenv("COMMIT", commit)
            assert "Measured 1 of 1" in self.bench()

    def test_a_failing_binary_records_nothing_and_shows_its_output(self):
        self.write("status", "3")
        self.fails("checked\n\nbench: ./run --record.* failed with status 3")

    def test_what_cannot_be_a_record_replaces_none(self, monkeypatch):
        self.bench()
        (kept,) = self.root.glob("plots/data/*/*/*.json")
        before = kept.read_text()
        measured = json.loads(self.read("measured.json"))
        measured["benchmarks"][1]["p10_us"] = 9e9
        self.write("measured.json", json.dumps(measured))
        monkeypatch.setenv("COMMIT", "def")
        with pytest.raises(records.RecordError, match="p10, p50, p90 are"):
            self.bench()
        assert kept.read_text() == before

    def test_what_is_missing_is_named(self):
        self.fails("there is no other", f"{self.source}=other")

    def test_without_git_and_commit_it_says_what_to_do(self, monkeypatch):
        monkeypatch.setenv("COMMIT", "")
        monkeypatch.setenv("GIT_DIR", "/nonexistent")
        self.fails("make bench COMMIT=<hash>")
