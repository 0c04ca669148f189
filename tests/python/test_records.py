"""Data files are found, checked, and refused when they are out of date."""

import json
import re
import subprocess

import pytest
import made_up
from ladder.measured import records
import tree


def refused(message):
    return pytest.raises(records.RecordError, match=message)


class TestRecords(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def recorded(self, in_a_made_up_repository):
        self.path = made_up.data_path(self.root, self.source)

    def load_refuses(self, message, change):
        """A file that is one but for this change."""
        self.plant_record(1000, change=change)
        with refused(message):
            records.load(self.path)

    def test_a_record_of_an_earlier_version_of_what_was_timed_is_noted(self):
        header = self.root / "common/grid.h"
        header.write_text("constexpr int kWaves = 32;  // a comment\n")
        self.source.write_text('#include "common/grid.h"\n')
        self.plant_record()
        for path, text, stale in (
                (header, "// Another comment.\nconstexpr  int kWaves = 32;\n", False),
                (header, "constexpr int kWaves = 16;\n", True),
                (self.root / "common/harness/bench.cpp", "int samples = 50;\n", True)):
            before = path.read_text()
            path.write_text(text)
            records.stale.clear()
            records.of_source(self.root, self.source)
            assert bool(records.stale) == stale, text
            path.write_text(before)
        self.source.write_text("int five;\n")
        records.of_source(self.root, self.source)
        assert re.search("earlier version of chapters/03_pack/relu.cu.*bench03", records.stale[-1])

    def test_refuses_what_is_no_json(self):
        self.path.write_text(self.path.read_text()[:-10])
        with refused("03_pack.relu.json: .*line \\d+ column"):
            records.load(self.path)

    def test_refuses_another_shape_of_json(self):
        for data in ({}, {"context": {}, "benchmarks": [{}]}, {"context": "no"}):
            made_up.write(self.path, data)
            with refused("is not a file that `make bench` writes"):
                records.load(self.path)

    @pytest.mark.parametrize("key", records.CONTEXT)
    def test_refuses_a_missing_context(self, key):
        self.load_refuses(f"lacks {key}", lambda data: data["context"].pop(key))

    @pytest.mark.parametrize("us", [0, -1, float("nan"), float("inf"), "fast"])
    def test_refuses_impossible_times(self, us):
        self.load_refuses("03_pack.relu.json", lambda data: data["benchmarks"][1].update(p50_us=us))

    def test_refuses_what_was_edited_by_hand(self):
        self.path.write_text(self.path.read_text().replace('"580.1"', '"580.2"'))
        with refused("is not what was measured.*restore it"):
            records.load(self.path)

    def test_refuses_what_cannot_have_been_measured(self):
        def relu(data):
            return next(one for one in data["benchmarks"] if one["name"].startswith("relu/n:1048576/"))

        for edit, message in (
                (lambda data: relu(data).update(p10_us=9e9), "p10, p50, p90 are"),
                (lambda data: relu(data).update(warm_p10_us=1, warm_p90_us=0.5), "warm_p10, p50"),
                (lambda data: relu(data).update(bytes=1e12), "is more than the memory's 4,800"),
                (lambda data: data["context"].update(gpu="NVIDIA A100"), "of nvidia-a100 and"),
                (lambda data: data["context"].update(date="2026-01-03"), "2026-01-03, by its own"),
                # What Google Benchmark skipped, a series without its copy, a size twice.
                (lambda data: relu(data).update(error_occurred=True), "was not measured"),
                (lambda data: data.update(benchmarks=[
                    b for b in data["benchmarks"] if not b["name"].startswith("copy")]),
                 "lacks the empty kernel or the copy"),
                (lambda data: data["benchmarks"].append(data["benchmarks"][1]), "twice")):
            self.load_refuses(message, edit)

    def test_names_what_it_lacks(self):
        record = records.of_source(self.root, self.source)
        with refused("no 'relu' for n = 7; it has"):
            record.row("relu", 7)
        with refused("has no read of"):
            record.read_of(record.headline())

    def test_a_tree_without_chapters_is_an_error(self):
        with refused("holds no chapter"):
            records.main_sources(self.root / "plots")

class TestCommitted:
    def test_every_record_names_a_commit_that_exists(self):
        def git(*arguments):
            return subprocess.run(["git", *arguments], cwd=tree.REPOSITORY, capture_output=True, text=True)
        if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
            pytest.skip("no git, or not the whole history")
        found = {path: json.loads(path.read_text()) for path in tree.REPOSITORY.glob("plots/data/*/*/*.json")}
        assert found
        for path, data in found.items():
            commit = data.get("context", data)["commit"]
            assert git("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0, commit
