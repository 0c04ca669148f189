"""Traces: what the executor sees, and figures that follow from nothing else."""

import contextlib
import importlib.util
import io
import json
import tempfile
import unittest

import made_up
import plot
import tables
import traces
from pages import Problem

needs_matplotlib = unittest.skipUnless(
    importlib.util.find_spec("matplotlib"), "matplotlib is not installed")


class Touched(unittest.TestCase):
    def sectors(self, bytes_, first):
        touched = traces.Access("", 1, bytes_, dict(enumerate(first))).touched()
        return {sector: sum(lanes.values()) for sector, lanes in touched.items()}

    def test_sectors_and_the_bytes_wanted_of_each(self):
        self.assertEqual(self.sectors(4, range(0, 128, 4)), dict.fromkeys(range(4), 32))
        self.assertEqual(self.sectors(4, range(4, 132, 4)),
                         {0: 28, 1: 32, 2: 32, 3: 32, 4: 4})
        self.assertEqual(len(self.sectors(16, range(0, 512, 16))), 16)
        self.assertEqual(len(self.sectors(4, range(0, 32 * 256, 256))), 32)

    def test_bytes_that_two_lanes_share_count_once_for_each_lane(self):
        touched = traces.Access("", 1, 4, {0: 0, 1: 0}).touched()
        self.assertEqual(touched, {0: {0: 4, 1: 4}})


class Committed(unittest.TestCase):
    def test_what_is_committed_is_what_the_executor_sees(self):
        for name in traces.VIEWS:
            with self.subTest(name):
                source = traces.ROOT / name
                path = traces.of_source(traces.ROOT, source).path
                self.assertEqual(json.loads(path.read_text()),
                                 traces.trace(traces.ROOT, source))

    def test_a_line_that_is_not_there_is_refused(self):
        source = traces.ROOT / next(iter(traces.VIEWS))
        with self.assertRaisesRegex(Problem, "0 lines with 'y = x'"):
            traces.line_of(source, "y = x")


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(folder.name)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.page = self.source.parent / "README.md"
        self.svg = self.root / "plots/figures/lanes_03_pack.svg"
        made_up.plant_trace(self.root, self.source, 4)

    def quietly(self, function):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = function(self.root, plot.figures(self.root))
        return status, said.getvalue()

    @needs_matplotlib
    def test_only_what_was_drawn_from_these_traces_passes(self):
        self.quietly(plot.draw)
        self.assertEqual(self.quietly(plot.check), (0, "4 passed, 0 failed\n"))
        drawn = self.svg.read_text()
        self.assertIn("32 lanes × 4 bytes in 5 sectors", drawn)
        self.assertIn(">28 of 32 bytes<", drawn)
        self.assertIn("lanes_03_pack.svg",
                      tables.render("figure", "lanes", [], self.page)[0])

        self.svg.write_text(drawn.replace(">28 of", ">32 of"))
        self.assertIn("lanes_03_pack.svg was changed by hand",
                      self.quietly(plot.check)[1])

        self.svg.write_text(drawn)
        made_up.plant_trace(self.root, self.source, 0)
        self.assertIn("lanes_03_pack.svg was drawn from other data",
                      self.quietly(plot.check)[1])

    def test_a_changed_source_makes_its_trace_stale(self):
        self.source.write_text("// edited\n")
        with self.assertRaisesRegex(ValueError, "traced in another version"):
            traces.every(self.root)
        with self.assertRaisesRegex(ValueError, "traced in another version"):
            tables.render("figure", "lanes", [], self.page)

    def test_a_missing_trace_says_what_to_run(self):
        traces.path_of(self.root, self.source).unlink()
        with self.assertRaisesRegex(ValueError, "run `make figures`"):
            tables.render("figure", "lanes", [], self.page)


if __name__ == "__main__":
    unittest.main()
