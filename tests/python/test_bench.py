"""`make bench` files what a binary measured, or nothing at all."""

import contextlib
import io
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock
import made_up
from ladder.measured import bench, records

# Stands in for a chapter's binary: copies what it would have measured.
BINARY = """#!/bin/sh
cp measured.json "${1#--record=}"
echo checked
exit $(cat status)
"""


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.source = pathlib.Path("chapters/03_pack/relu.cu")
        made_up_source = self.root / self.source
        made_up_source.parent.mkdir(parents=True)
        made_up_source.write_text("// relu\n")
        made_up.plant_harness(self.root)
        measured = made_up.record(self.root, made_up_source, 4000)
        for key in ("commit", "dirty", "command", "source", "tie"):
            del measured["context"][key]
        measured["context"]["date"] = bench.datetime.date.today().isoformat()
        (self.root / "measured.json").write_text(json.dumps(measured))
        (self.root / "status").write_text("0")
        (self.root / "run").write_text(BINARY)
        (self.root / "run").chmod(0o755)

        data = self.root / "plots/data"
        for name, value in {"ROOT": self.root, "DATA": data,
                            "SCRATCH": data / "recording.json"}.items():
            self.patch(mock.patch.object(bench, name, value))
        self.patch(mock.patch.object(bench, "this_gpu", lambda: "nvidia-h200"))
        self.patch(mock.patch.dict(os.environ, COMMIT="abc"))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.root)

    def patch(self, patcher):
        patcher.start()
        self.addCleanup(patcher.stop)

    def bench(self, *pairs):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            bench.main(pairs or (f"{self.source}=run",))
        return said.getvalue()

    def fails(self, message, *pairs):
        with self.assertRaisesRegex(SystemExit, message):
            self.bench(*pairs)
        self.assertEqual(list(self.root.glob("plots/data/**/*.json")), [])

    def test_files_the_record_with_its_provenance(self):
        said = self.bench()
        self.assertIn("[1/1] chapters/03_pack/relu.cu", said)
        self.assertIn("3,981 GB/s, 100.0 % of the copy", said)
        context = records.of_source(self.root, self.root / self.source).context
        self.assertEqual((context["commit"], context["dirty"]), ("abc", "no"))
        self.assertEqual(context["command"], "./run --record=plots/data/recording.json")
        self.assertFalse(bench.SCRATCH.exists())

    def test_goes_on_where_it_stopped(self):
        self.bench()
        said = self.bench()
        self.assertIn("Kept plots/data/nvidia-h200", said)
        self.assertIn("Measured 0 of 1", said)

    def test_measures_again_what_has_changed(self):
        self.bench()
        (self.root / self.source).write_text("int edited;\n")
        self.assertIn("Measured 1 of 1", self.bench())
        with mock.patch.dict(os.environ, COMMIT="def"):
            self.assertIn("Measured 1 of 1", self.bench())
        with mock.patch.dict(os.environ, COMMIT="def-dirty"):
            self.assertIn("Measured 1 of 1", self.bench())
            self.assertIn("Measured 1 of 1", self.bench())

    def test_a_failing_binary_records_nothing_and_shows_its_output(self):
        (self.root / "status").write_text("3")
        self.fails("checked\n\nbench: ./run --record.* failed with status 3")

    def test_what_cannot_be_a_record_replaces_none(self):
        self.bench()
        (kept,) = self.root.glob("plots/data/*/*/*.json")
        before = kept.read_text()
        measured = json.loads((self.root / "measured.json").read_text())
        measured["benchmarks"][1]["p10_us"] = 9e9
        (self.root / "measured.json").write_text(json.dumps(measured))
        with mock.patch.dict(os.environ, COMMIT="def"):
            with self.assertRaisesRegex(records.RecordError, "p10, p50, p90 are"):
                self.bench()
        self.assertEqual(kept.read_text(), before)

    def test_what_is_missing_is_named(self):
        self.fails("there is no other", f"{self.source}=other")

    def test_without_git_and_commit_it_says_what_to_do(self):
        with mock.patch.dict(os.environ, COMMIT="", GIT_DIR="/nonexistent"):
            self.fails("make bench COMMIT=<hash>")
