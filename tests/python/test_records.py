"""Data files are found, checked, and refused when they are out of date."""

import json
import subprocess
import tempfile
import unittest
import made_up
from ladder.measured import records
import tree


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(folder.name)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.path = made_up.data_path(self.root, self.source)

    def refuses(self, message):
        return self.assertRaisesRegex(records.RecordError, message)

    def rewrite(self, change):
        data = json.loads(self.path.read_text())
        change(data)
        made_up.write(self.path, data)

    def test_reads_what_was_recorded(self):
        record = records.of_source(self.root, self.source)
        row = record.row("relu", 1 << 28)
        self.assertEqual(row.bytes, 8 << 28)
        self.assertAlmostEqual(row.gbps, 4000, delta=30)
        self.assertAlmostEqual(record.percent_of_copy(row), 100)
        self.assertAlmostEqual(record.floor_us, 2.5)
        self.assertEqual(record.l2_bytes, made_up.L2_BYTES)

    def test_a_read_of_as_many_bytes_is_another_roof(self):
        def add_read(data):
            relu = next(b for b in data["benchmarks"] if b["name"].startswith("relu/"))
            data["benchmarks"].append(relu | {"name": "read/iterations:50"} | {
                f"p{k}_us": relu["p50_us"] / 2 for k in (10, 50, 90)})
            self.n = int(relu["n"])

        self.rewrite(add_read)
        record = records.of_source(self.root, self.source)
        self.assertAlmostEqual(record.percent_of_read(record.row("relu", self.n)), 50)
        with self.refuses("has no read of"):
            record.percent_of_read(record.row("relu", max(record.sizes("relu"))))

    def test_a_record_of_an_earlier_version_of_what_was_timed_is_noted(self):
        header = self.root / "common/grid.h"
        header.write_text("constexpr int kWaves = 32;  // a comment\n")
        self.source.write_text('#include "common/grid.h"\n')
        made_up.write(self.path, made_up.record(self.root, self.source, 4000))
        for path, text, stale in (
                (header, "// Another comment.\nconstexpr  int kWaves = 32;\n", False),
                (header, "constexpr int kWaves = 16;\n", True),
                (self.root / "common/harness/bench.cpp", "int samples = 50;\n", True)):
            before = path.read_text()
            path.write_text(text)
            records.stale.clear()
            records.of_source(self.root, self.source)
            self.assertEqual(bool(records.stale), stale, text)
            path.write_text(before)
        self.source.write_text("int five;\n")
        records.of_source(self.root, self.source)
        self.assertRegex(records.stale[-1], "earlier version of chapters/03_pack/relu.cu.*bench03")

    def test_refuses_what_was_never_measured(self):
        self.path.unlink()
        with self.refuses("never measured on nvidia-h200.*make bench03"):
            records.of_source(self.root, self.source)

    def test_takes_the_newest(self):
        data = made_up.record(self.root, self.source, 1000)
        data["context"]["date"] = "2026-02-01T01:02:03+00:00"
        made_up.write(made_up.data_path(self.root, self.source, "2026-02-01"), data)
        record = records.of_source(self.root, self.source)
        self.assertAlmostEqual(record.row("relu", 1 << 28).gbps, 1000, delta=30)

    def test_refuses_what_is_no_json(self):
        self.path.write_text(self.path.read_text()[:-10])
        with self.refuses("03_pack.relu.json: .*line \\d+ column"):
            records.load(self.path)

    def test_refuses_another_shape_of_json(self):
        for data in ({}, {"context": {}, "benchmarks": [{}]}, {"context": "no"}):
            made_up.write(self.path, data)
            with self.refuses("is not a file that `make bench` writes"):
                records.load(self.path)

    def test_refuses_a_missing_context(self):
        for key in records.CONTEXT:
            with self.subTest(key):
                data = made_up.record(self.root, self.source, 1000)
                del data["context"][key]
                made_up.write(self.path, data)
                with self.refuses(f"lacks {key}"):
                    records.load(self.path)

    def test_refuses_impossible_times(self):
        for us in (0, -1, float("nan"), float("inf"), "fast"):
            with self.subTest(us):
                self.rewrite(lambda data: data["benchmarks"][1].update(p50_us=us))
                with self.refuses("03_pack.relu.json"):
                    records.load(self.path)

    def test_refuses_what_was_edited_by_hand(self):
        self.path.write_text(self.path.read_text().replace('"580.1"', '"580.2"'))
        with self.refuses("is not what was measured.*restore it"):
            records.load(self.path)

    def test_refuses_what_cannot_have_been_measured(self):
        def relu(data):
            return next(one for one in data["benchmarks"] if one["name"].startswith("relu/n:1048576/"))

        for edit, message in (
                (lambda data: relu(data).update(p10_us=9e9), "p10, p50, p90 are"),
                (lambda data: relu(data).update(warm_p10_us=1, warm_p90_us=0.5), "warm_p10, p50"),
                (lambda data: relu(data).update(bytes=1e12), "is more than the memory's 4,800"),
                (lambda data: data["context"].update(gpu="NVIDIA A100"), "of nvidia-a100 and"),
                (lambda data: data["context"].update(date="2026-01-03"), "2026-01-03, by its own")):
            made_up.write(self.path, made_up.record(self.root, self.source, 1000))
            self.rewrite(edit)
            with self.refuses(message):
                records.load(self.path)

    def test_refuses_what_google_benchmark_skipped(self):
        self.rewrite(lambda data: data["benchmarks"][1].update(error_occurred=True))
        with self.refuses("was not measured"):
            records.load(self.path)

    def test_refuses_a_series_without_its_copy(self):
        self.rewrite(lambda data: data.update(benchmarks=[
            b for b in data["benchmarks"] if not b["name"].startswith("copy")]))
        with self.refuses("lacks the empty kernel or the copy"):
            records.load(self.path)

    def test_refuses_a_size_measured_twice(self):
        self.rewrite(lambda data: data["benchmarks"].append(data["benchmarks"][1]))
        with self.refuses("twice"):
            records.load(self.path)

    def test_names_the_sizes_it_has(self):
        with self.refuses("no 'relu' for n = 7; it has"):
            records.of_source(self.root, self.source).row("relu", 7)

    def test_a_tree_without_chapters_is_an_error(self):
        with self.refuses("holds no chapter"):
            records.main_sources(self.root / "plots")

    def test_variants_are_no_chapters(self):
        names = [str(s.relative_to(self.root / "chapters"))
                 for s in records.main_sources(self.root)]
        self.assertEqual(names, ["01_one_thread_each/relu.cu", "03_pack/relu.cu"])

    def test_previous_chapter(self):
        first = self.root / "chapters/01_one_thread_each/relu.cu"
        self.assertEqual(records.previous(self.root, self.source), first)
        self.assertIsNone(records.previous(self.root, first))


class Committed(unittest.TestCase):
    def test_every_record_names_a_commit_that_exists(self):
        def git(*arguments):
            return subprocess.run(["git", *arguments], cwd=tree.REPOSITORY, capture_output=True, text=True)
        if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
            self.skipTest("no git, or not the whole history")
        found = {path: json.loads(path.read_text()) for path in tree.REPOSITORY.glob("plots/data/*/*/*.json")}
        self.assertTrue(found)
        for path, data in found.items():
            commit = data.get("context", data)["commit"]
            with self.subTest(path.name):
                self.assertEqual(git("cat-file", "-e", f"{commit}^{{commit}}").returncode, 0, commit)
