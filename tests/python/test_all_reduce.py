"""What is said and drawn of meetings of devices, of a made-up record."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from ladder import tables
from ladder.figures import drawings_messages, grows_figure
from ladder.measured import all_reduce, records
from ladder.measured.tie import tie
import made_up

ROWS = [{"devices": d, "bytes": size, "where": where, "us": us * d / 2, "bus_gbps": gbps}
        for d in (2, 4) for where in all_reduce.PLACES
        for size, us, gbps in ((4, 20.0, 0.0002), (1 << 30, 3000.0, 300.0))]
STEPS = {"sum.cu": [{"devices": 1, "own": 3.0, "whole": 5.0}, {"devices": 2, "own": 4.0, "whole": 14.0}]}


def told(**more):
    return all_reduce.Told(pathlib.Path("made_up.json"), {}, ROWS, STEPS, **more)


class Model(unittest.TestCase):
    def test_both_ways_take_as_long_as_was_measured_between_two(self):
        self.assertEqual(all_reduce.ring_us(told(), 2, 4), all_reduce.tree_us(told(), 2, 4 // 2))
        self.assertAlmostEqual(all_reduce.ring_us(told(), 2, 4), 20, 3)
        self.assertAlmostEqual(all_reduce.ring_us(told(), 2, 1 << 30), 20 + (1 << 30) / 300e3)

    def test_few_bytes_want_a_tree_and_many_a_ring(self):
        for devices in (8, 1024):
            self.assertLess(all_reduce.tree_us(told(), devices, 4), all_reduce.ring_us(told(), devices, 4))
            self.assertLess(all_reduce.ring_us(told(), devices, 1 << 30), all_reduce.tree_us(told(), devices, 1 << 30))

    def test_a_meeting_is_what_the_own_sums_do_not_explain(self):
        self.assertEqual(all_reduce.meeting_us(STEPS["sum.cu"][1]), 10)

    def test_the_source_of_a_program(self):
        self.assertEqual(all_reduce.source_of("build/gpu/chapters/17_x/sum.host.steps"),
                         pathlib.Path("chapters/17_x/sum.host.cu"))

    def test_no_program_is_refused(self):
        run = subprocess.run([sys.executable, "-m", "ladder.measured.all_reduce"], text=True, capture_output=True)
        self.assertIn("PROGRAM STEPS", run.stderr)
        self.assertEqual(run.returncode, 1)


class Figures(unittest.TestCase):
    def test_what_was_measured_is_marked_and_the_rest_is_computed(self):
        few, many = grows_figure.draw_grows(told()).axes
        for panel, us in ((few, 20), (many, 3000)):
            ring, tree, points = panel.get_lines()
            self.assertEqual(list(ring.get_xdata())[-1], 1024)
            self.assertEqual(list(points.get_xdata()), [2, 4])
            self.assertEqual(list(points.get_ydata()), [us, 2 * us])

    def test_steps_are_read_as_they_are_printed(self):
        way, = drawings_messages.read_steps("ring, step 1: 0-adds->1:2..3 1-gives->0:0..0").values()
        self.assertEqual(way, [[drawings_messages.Message(0, 1, True, range(2, 4)),
                                drawings_messages.Message(1, 0, False, range(0, 1))]])

    def test_what_is_no_step_is_refused(self):
        for text in ("", "ring, step 1: 0->1", "A rank has 3."):
            with self.assertRaises(records.RecordError):
                drawings_messages.read_steps(text)


class Woven(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(pathlib.Path(folder.name))
        self.page = self.root / "chapters/01_one_thread_each/README.md"

    def plant(self):
        source = self.root / all_reduce.RECORD.source
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("// made up\nint main() {}\n")
        made_up.write(self.root / "plots/data" / records.REFERENCE_GPU / "2026-01-02/all_reduce.json", {
            "context": {"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0", "date": "2026-01-02",
                        "commit": "0123456789ab", "dirty": "no", "tie": tie(self.root, all_reduce.RECORD.source)},
            "all_reduce": {"nccl": 1, "all-reduce": ROWS, "steps": STEPS}})

    def woven(self, kind, *args):
        return "\n".join(tables.render(kind, args[0], list(args[1:]), self.page))

    def test_without_a_record_it_says_so(self):
        self.assertIn("Not measured yet", self.woven("table", "meetings"))

    def test_what_was_measured_of_an_earlier_program_says_so(self):
        self.plant()
        (self.root / all_reduce.RECORD.source).write_text("int edited;\n")
        self.assertIn("an-earlier-version", self.woven("table", "meetings"))

    def test_the_meetings_beside_nccl(self):
        self.plant()
        self.assertIn("| `sum.cu` | 2 | 4.00 | 14.0 | 10.0 | 0.50 x |", self.woven("table", "meetings"))
        self.assertEqual(self.woven("value", "all_reduce", "beside", "sum.cu", "2"), "0.50 x")

    def test_the_all_reduces(self):
        self.plant()
        self.assertIn("| 4 | 1,073,741,824 | 6,000 | 300 |", self.woven("table", "all_reduce", "2^30"))
        self.assertEqual(self.woven("value", "all_reduce", "hop_us"), "10")
        self.assertEqual(self.woven("value", "all_reduce", "link_gbps"), "300")
        with self.assertRaisesRegex(ValueError, "write: value all_reduce"):
            self.woven("value", "all_reduce", "speed")


if __name__ == "__main__":
    unittest.main()
