"""Chapter 10's constants: replaced, counted and timed; refused when stale."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock
import counted
import made_up
from ladder import tables
from ladder.figures import plot
from ladder.measured import records, sweep

SOURCE = """\
constexpr int kBlock = 256;
constexpr int kCoarse = 16;  // Numbers.
constexpr int kTile = kCoarse * kBlock;
"""
PATH = "chapters/10_sum_coarsened/sum.cu"
OWN = sweep.Pair(coarse=16, block=256)
NUMBERS = {"blocks": 4, "barriers": 32, "warp instructions": 1000,
           "load requests": 2048, "reduction requests": 4}

# What make's program counts: 4 blocks that pass 8 barriers each.
PROGRAM = """\
#!/bin/sh
{
  printf 'case\\t1048576\\t0\\nlaunch\\tsum_kernel\\t4\\t256\\n'
  printf 'row\\tbarriers per block\\tm\\t8\\t8.00\\t\\t1\\n'
  printf 'row\\twarp instructions\\tm\\t1000\\t1,000\\t\\t1\\n'
  printf 'row\\tload requests\\tm\\t2048\\t2,048\\t\\t1\\n'
  printf 'row\\treduction requests\\tm\\t4\\t4\\t\\t1\\n'
} > "${1#--record=}"
"""


class SweepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.source = self.root / PATH
        made_up.plant_harness(self.root)
        self.write(PATH, SOURCE)
        self.page = self.source.parent / "README.md"
        self.page.write_text("<!-- figure sweep sum.cu -->\n<!-- end -->\n")
        self.enterContext(mock.patch.object(sweep, "ROOT", self.root))

    def enterContext(self, context):  # unittest has it from Python 3.11 on.
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def context(self):
        return {"tie": records.tie_of(self.root, pathlib.Path(PATH))}

    def render(self, kind, name, *args):
        return tables.render(kind, name, list(args), self.page)


class Copies(SweepTest):
    def test_both_constants_are_replaced_and_nothing_else(self):
        text = sweep.copy_with(sweep.Pair(coarse=2, block=1024))
        self.assertEqual(text, SOURCE.replace("256", "1024").replace("16;", "2;"))

    def test_the_chapters_own_pair_is_the_file_itself(self):
        self.assertEqual(sweep.chapters_own(self.root), OWN)
        self.assertIn(OWN, sweep.PAIRS)
        self.assertEqual(sweep.copy_with(OWN), SOURCE)

    def test_what_is_swept_is_what_a_page_says(self):
        self.write("chapters/11_other/sum.cu", SOURCE)
        other = self.root / "chapters/11_other/README.md"
        other.write_text(self.page.read_text())
        with self.assertRaisesRegex(ValueError, "two files would be swept: .*10_.* and .*11_"):
            sweep.source_of(self.root)
        self.page.unlink()
        self.assertEqual(str(sweep.source_of(self.root)), "chapters/11_other/sum.cu")
        other.unlink()
        with self.assertRaisesRegex(ValueError, "no page says which file is swept"):
            sweep.source_of(self.root)

    def test_a_renamed_constant_is_no_silent_sweep_of_nothing(self):
        self.write(PATH, SOURCE.replace("kCoarse = 16", "kFactor = 16"))
        with self.assertRaisesRegex(ValueError, "lacks kCoarse"):
            sweep.build("cpu", ".counts")

    def test_a_copy_that_fails_its_checks_is_not_counted(self):
        with self.assertRaisesRegex(ValueError, "the checks fail"):
            sweep.of_counts({}, OWN)


class Counting(SweepTest):
    def setUp(self):
        super().setUp()
        counted.plant(self.write, PATH, PROGRAM)
        self.report = {"context": self.context(), "n": 1 << 20, "pairs": [
            {"coarse": coarse, "block": block, "counted": NUMBERS}
            for coarse, block in ((2, 256), (16, 256), (16, 64))]}

    def table(self):
        made_up.write(self.root / sweep.COUNTED, self.report)
        return self.render("table", "coarsening")

    def test_a_row_a_factor_in_blocks_of_the_chapters_size(self):
        lines = self.table()
        self.assertEqual(lines[0], "| numbers per thread | blocks | barriers | warp "
                         "instructions | load requests | reduction requests |")
        self.assertEqual(lines[2:4], ["| 2 | 4 | 32 | 1,000 | 2,048 | 4 |",
                                      "| 16 | 4 | 32 | 1,000 | 2,048 | 4 |"])
        self.assertIn("n = 1,048,576, blocks of 256 threads", lines[-1])
        self.assertEqual(len(lines), 6)

    def test_an_earlier_version_of_the_chapter_says_so(self):
        self.write(PATH, SOURCE + "int edited;\n")
        self.assertIn("earlier version", self.table()[-1])

    def test_an_executor_that_counts_otherwise_by_now_is_noticed(self):
        self.report["pairs"][1]["counted"] = NUMBERS | {"warp instructions": 999}
        with self.assertRaisesRegex(ValueError, "what is counted now"):
            self.table()

    def test_nothing_counted_is_refused(self):
        with self.assertRaisesRegex(ValueError, "run `make sweep`"):
            self.render("table", "coarsening")


class Timing(SweepTest):
    def setUp(self):
        super().setUp()
        # Slower than the roof by a share that the factor and the block lessen.
        self.report = {
            "context": made_up.record(self.root, self.source, 1)["context"],
            "pairs": [{"coarse": pair.coarse, "block": pair.block, "benchmarks": [
                made_up.benchmark(series, n, gbps, 4) for n in sweep.SIZES
                for series, gbps in ((records.READ, 4600),
                                     ("sum", 4600 / (1 + 64 / pair.coarse / pair.block)))]}
                for pair in sweep.PAIRS]}

    def plant(self):
        folder = f"plots/data/{records.REFERENCE_GPU}/2026-01-02"
        made_up.write(self.root / folder / sweep.TIMED, self.report)

    def test_times_beside_reading_alone(self):
        self.plant()
        lines = self.render("table", "sweep", "2^28")
        self.assertEqual(lines[0], "| numbers per thread | 2²⁸: µs | of the read |")
        self.assertEqual(lines[2], "| 1 | 294 | 80.2 % |")
        self.assertEqual(lines[8], "| 64 | 237 | 99.6 % |")
        self.assertIn("NVIDIA H200, driver 580.1", lines[-1])
        self.assertIn("blocks of 256 threads", lines[-1])

    def test_the_fastest_pair(self):
        self.plant()
        self.assertEqual(self.render("value", "fastest", "2^28"),
                         ["64 numbers per thread, blocks of 1024"])

    def test_the_time_of_one_pair(self):
        self.plant()
        self.assertEqual(self.render("value", "tried", "1", "256", "2^28"), ["294"])
        for wrong, message in ((("3", "256", "2^28"), "were not tried"),
                               (("1", "256"), "write: value tried")):
            with self.assertRaisesRegex(ValueError, message):
                self.render("value", "tried", *wrong)

    def test_turns_at_the_one_sum(self):
        self.plant()
        # 64 threads of 1 number each: no other pair's time is shared by more blocks.
        turn = self.us(sweep.Pair(1, 64)) / (1 << 22)
        self.assertEqual(self.render("value", "turn_ns"), [f"{1000 * turn:.2f}"])
        with self.assertRaisesRegex(ValueError, "run `make latency` there"):
            self.render("table", "turns")
        made_up.plant_latency(self.root, {"atomic addition": 0.2494})
        lines, pair = self.render("table", "turns"), sweep.Pair(1, 256)
        self.assertEqual(lines[2], f"| 1 | 1,048,576 | 262 | {self.us(pair, records.READ):.0f} | "
                         f"294 | {294 - 262} |")  # As a reader reckons, not 32.7.
        self.assertIn("n = 2²⁸, blocks of 256 threads; left over", lines[-1])

    def us(self, pair, series="sum"):
        told = self.report["pairs"][sweep.PAIRS.index(pair)]["benchmarks"]
        return next(b["p50_us"] for b in told if b["name"].startswith(f"{series}/n:{1 << 28}/"))

    def test_a_throttled_time_is_marked(self):
        slow = self.report["pairs"][sweep.PAIRS.index(OWN)]["benchmarks"][-1]
        slow["throttled"] = 1.0
        self.plant()
        self.assertRegex("\n".join(self.render("table", "sweep", "2^28")),
                         r"\| 16 \| \d+\\\* \|")

    def test_an_earlier_version_of_the_chapter_says_so(self):
        self.plant()
        self.write(PATH, SOURCE + "int edited;\n")
        for kind, name, *args in (("table", "sweep"), ("value", "fastest", "2^28")):
            self.assertIn("an-earlier-version", self.render(kind, name, *args)[-1])

    def test_nothing_timed_is_refused(self):
        with self.assertRaisesRegex(ValueError, "never swept on nvidia-h200"):
            self.render("table", "sweep")

    def test_the_figure_shows_every_size_of_block(self):
        self.plant()
        made_up.write(made_up.data_path(self.root, self.source),
                      made_up.record(self.root, self.source, 4000, 4))
        (figure,) = [one for one in plot.figures(self.root) if one.name == "sweep.svg"]
        text = figure.svg()
        for block in sweep.BLOCKS:
            self.assertIn(f">{block}<", text)
        self.assertIn("reading the array alone takes 236 µs", text)


class Measuring(SweepTest):
    """The program stands for a chapter's, which --record tells where to write."""

    def run_program(self, script):
        self.write("build/it.run", script)
        (self.root / "build/it.run").chmod(0o755)
        self.enterContext(mock.patch.object(
            sweep.bench, "SCRATCH", self.root / "plots/data/recording.json"))
        return sweep.measure("build/it.run")

    def test_only_the_sizes_and_series_that_are_shown(self):
        found = self.run_program('#!/bin/sh\necho "{\\"filter\\": \\"$2\\"}" '
                                 '> "${1#--record=}"\n')
        self.assertEqual(found["filter"], "--benchmark_filter="
                         "^(read|sum)/n:(1048576|16777216|268435456)/")
        self.assertFalse(sweep.bench.SCRATCH.exists())

    def test_what_is_written_can_be_read(self):
        told = made_up.record(self.root, self.source, 1)["context"]
        rows = [made_up.benchmark(series, n, 4000, 4)
                for n in sweep.SIZES for series in (records.READ, "sum")]
        made_up.write(self.root / "build/told.json",
                      {"context": told, "benchmarks": rows})
        self.write("build/it.run", '#!/bin/sh\ncp build/told.json "${1#--record=}"\n')
        (self.root / "build/it.run").chmod(0o755)
        data = self.root / "plots/data"
        for module, name, value in (
                (sweep, "build", lambda *_: {OWN: "build/it.run"}),
                (sweep.bench, "checkout", lambda: ("89abcdef0123", "no")),
                (sweep.bench, "DATA", data),
                (sweep.bench, "SCRATCH", data / "recording.json")):
            self.enterContext(mock.patch.object(module, name, value))
        with contextlib.redirect_stdout(io.StringIO()):
            sweep.time()
        found = sweep.timed(self.root)
        self.assertEqual(found.path, data / "nvidia-h200/2026-01-02/sweep.json")
        self.assertEqual(found.context["commit"], "89abcdef0123")
        self.assertAlmostEqual(found.records[OWN].row("sum", 1 << 20).us, rows[1]["p50_us"])

    def test_failing_checks_are_told_and_nothing_is_kept(self):
        with self.assertRaisesRegex(ValueError, "(?s)a check fails.*status 1"):
            self.run_program("#!/bin/sh\necho a check fails\nexit 1\n")
