"""Peers, pitfalls and other GPUs: what their tables say, and what they refuse."""

import json
import subprocess
import sys
import tempfile
import unittest

from ladder import tables
from ladder.measured import compare, pitfalls, records, work
from ladder.measured.peers import label, load
from ladder.measured.tie import tie
import made_up
import tree

FOLDER = "plots/data/nvidia-h200/2026-01-02"
OURS = "chapters/03_pack/relu.cu"


class MadeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(folder.name)
        self.source = self.root / OURS
        self.page = self.source.parent / "README.md"

    def write(self, name, data):
        path = self.root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(records.sealed(data))
        return path

    def render(self, kind, name, *args):
        return tables.render(kind, name, list(args), self.page)


class Peers(MadeUp):
    def setUp(self):
        super().setUp()
        self.path = made_up.plant_peers(
            self.root, [made_up.peer("copy", 500), made_up.peer("PyTorch", 600),
                        made_up.peer(OURS, 400)], **{OURS: tie(self.root, OURS)})

    def test_table_and_value(self):
        lines = self.render("table", "peers", "relu", "2^28")
        self.assertEqual(lines[3], "| PyTorch | 600 | 83.3 % |")
        self.assertEqual(lines[4], "| 03_pack | 400 | 125.0 % |")
        self.assertEqual(self.render("value", "peer", "relu.cu", "PyTorch", "2^28"), ["1.50 x"])

    def test_what_was_not_timed_is_named(self):
        for args in (("relu.cu", "CUB", "2^28"), ("relu.cu", "PyTorch", "2^20")):
            with self.subTest(args), self.assertRaisesRegex(ValueError, "was not timed"):
                self.render("value", "peer", *args)

    def test_an_earlier_version_says_so(self):
        self.source.write_text("int edited;\n")
        self.assertIn("earlier version", self.render("table", "peers", "relu")[-1])
        self.assertRegex(records.stale[-1], "of chapters/03_pack/.*make peers")

    def test_a_file_that_is_none(self):
        self.path.write_text("{}")
        with self.assertRaisesRegex(records.RecordError, "make peers"):
            load(self.path, self.root)

    def test_labels(self):
        for by, name in {"PyTorch": "PyTorch", "plots/peers/sum.cub.cu": "CUB",
                         "plots/peers/relu.thrust.cu": "Thrust",
                         "chapters/03_pack/relu.four.cu": "03_pack, four"}.items():
            self.assertEqual(label(by), name)


class Pitfalls(MadeUp):
    def setUp(self):
        super().setUp()
        source = self.root / pitfalls.RECORD.source
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("// measured\n")
        self.write("pitfalls.json", {
            "context": {"tie": tie(self.root, pitfalls.RECORD.source)},
            "pitfalls": {"all zeros, GB/s": {"wrong": 4400, "right": 4000}}})

    def test_values(self):
        for which, text in {"wrong": "4,400", "right": "4,000", "times": "1.1 x"}.items():
            self.assertEqual(self.render("value", "pitfall", which, *"all zeros, GB/s".split()),
                             [text])

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "the names are all zeros"):
            self.render("value", "pitfall", "wrong", "nothing")
        (self.root / pitfalls.RECORD.source).write_text("int edited;\n")
        self.assertIn("old", self.render("value", "pitfall", "wrong", *"all zeros, GB/s".split())[0])


class Scripts(unittest.TestCase):
    def test_a_program_that_fails_is_named(self):
        for script in ("latency", "pitfalls"):
            with self.subTest(script):
                run = subprocess.run([sys.executable, "-m", f"ladder.measured.{script}", "false"],
                                     text=True, capture_output=True)
                self.assertEqual(run.returncode, 1)
                self.assertEqual(run.stderr, f"{script}: false ended with status 1:\n\n")


class Latency(MadeUp):
    def plant(self, **more):
        return made_up.plant_latency(self.root, {"tree step": 101.3, "load from L1": 20.94}, **more)

    def value(self, words):
        return self.render("value", *words.split())

    def test_values(self):
        with self.assertRaisesRegex(ValueError, "run `make latency` there"):
            self.value("latency tree step")
        source = self.plant()
        for words, text in {"latency tree step": "101.3", "latency load from L1": "20.94",
                            "latency_us tree step": "0.10", "latency_us tree step * 10": "1.01",
                            "latency_us load from L1 * 2^20": "21,957"}.items():
            with self.subTest(words):
                self.assertEqual(self.value(words), [text])
        for words in ("latency tree", "latency_us tree * 10", "latency tree step * 10"):
            with self.subTest(words):
                with self.assertRaisesRegex(ValueError, "the names are tree step; load from L1"):
                    self.value(words)
        with self.assertRaisesRegex(ValueError, "'ten' is no size"):
            self.value("latency_us tree step * ten")
        source.write_text("int edited;\n")
        for words in ("latency tree step", "latency_us tree step"):
            with self.subTest(words):
                self.assertIn("old", self.value(words)[0])

    def test_what_a_reader_reckons(self):
        self.plant()  # Below, relu takes 539.4 µs: 539 as it is printed.
        for words, text in {
                "{us relu.cu 2^28} - {latency_us tree step * 10}": "538",
                "({us relu.cu 2^28} - 500) * 10": "390",
                "{reckoned {us relu.cu 2^28} / 70} * 100": "770",  # 7.70, not 7.7057.
                "{us relu.cu 2^28} * {percent relu.cu 2^28} / {percent relu.cu 2^28}": "539",
                "{us relu.cu 2^28} / 1000 - {latency_us tree step}": "0.44",
                "{latency_us load from L1 * 2^20} / 2": "10,978"}.items():
            with self.subTest(words):
                self.assertEqual(self.value(f"reckoned {words}"), [text])
        for words, message in {"{us relu.cu 2^28} - 539": "nothing is left",
                               "{us relu.cu 2^28} - x": "no calculation",
                               "{us relu.cu 2^28} -": "no result",
                               "{us relu.cu 2^28} / 0": "no result",
                               "{us relu.cu}": "write: value us",
                               "{reckoned us relu.cu 2^28} * 2": "no calculation",
                               "{tree step} / 2": "is no value",
                               "{latency_us tree} / 2": "the names are"}.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, message):
                self.value(f"reckoned {words}")

    def test_clock(self):
        self.assertEqual(self.value("clock relu.cu"), ["1.98"])
        with self.assertRaisesRegex(ValueError, "write: value clock"):
            self.value("clock relu.cu 2^28")

    def test_the_table_has_a_column_for_each_gpu(self):
        self.plant()
        self.assertEqual(self.render("table", "latency")[0], "| ns | NVIDIA H200 |")
        source = self.plant(gpu="another-gpu", name="Another GPU")
        lines = self.render("table", "latency")
        self.assertEqual(lines[0], "| ns | NVIDIA H200 | Another GPU |")
        self.assertEqual(lines[2], "| tree step | 101.3 | 101.3 |")
        self.assertRegex(lines[-1], r"^\*NVIDIA H200, driver .*; Another GPU, driver 580.1, CUDA "
                         r"13.0, 2026-01-02, commit 0123456789ab\.\*$")
        source.write_text("int edited;\n")
        self.assertIn("earlier version", self.render("table", "latency")[-1])

    def test_what_a_gpu_did_not_measure_is_left_open(self):
        self.plant()
        made_up.plant_latency(self.root, {"tree step": 90}, gpu="another-gpu", name="Another GPU")
        self.assertIn("| load from L1 | 20.94 | - |", self.render("table", "latency"))


class Compare(MadeUp):
    def test_own_gpu_stands_first(self):
        record = next((self.root / FOLDER).glob("03_pack.relu.json"))
        for gpu in ("nvidia-a100", "tesla-t4"):
            data = json.loads(record.read_text())
            data["context"]["gpu"] = gpu
            made_up.write(self.root / f"plots/data/{gpu}/2026-01-02/{record.name}", data)
        head, *rows = compare.table(self.root, "tesla-t4", 1 << 28)
        self.assertEqual(head.split()[4:], ["tesla-t4", "(here)", "nvidia-a100", "nvidia-h200"])
        pack = next(row for row in rows if row.startswith("03_pack/relu.cu"))
        self.assertEqual(pack.split()[1:], ["100.0", "%"] * 3)
        first = next(row for row in rows if row.startswith("01_"))
        self.assertEqual(first.split()[1:3], ["-", "-"])

    def test_a_smaller_size_is_named(self):
        lines = compare.table(self.root, "unknown", 1 << 60)
        self.assertIn("% at ", next(line for line in lines if line.startswith("03_pack/relu.cu")))

    def test_no_record(self):
        with tempfile.TemporaryDirectory() as empty:
            with self.assertRaisesRegex(records.RecordError, "make bench"):
                compare.table(made_up.pathlib.Path(empty), "unknown", 1)


class Works(unittest.TestCase):
    """What a contract's own file says, without PyTorch or Triton."""

    def test_each_contract_that_has_peers_calls_its_own_function(self):
        found = sorted(tree.REPOSITORY.glob("plots/*_peers.py"))
        self.assertTrue(found)
        for path in found:
            op = path.name.removesuffix("_peers.py")
            with self.subTest(op):
                name = subprocess.run(["c++filt", work.of(op).symbol], text=True, capture_output=True).stdout
                self.assertTrue(name.startswith(op), name)
                self.assertTrue(callable(work.of(op).kernel))
        self.assertIsNone(work.of("made_up"))
