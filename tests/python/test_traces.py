"""Traces: what the executor sees, and figures that follow from nothing else."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import made_up
from ladder import counts, tables
from ladder.figures import drawings, plot, trace_kinds, traces
from ladder.figures.asked import View, parse
from ladder.pages import Problem


class Asked(unittest.TestCase):
    def parse(self, text):
        return parse(text, traces.ROOT / "tests/parity/page.md", traces.ROOT)

    def test_views(self):
        one = self.parse("lanes as it note=\"A; 'b'.\" shared.cu 'a b' 'c' n=2^11 offset=1 \"t 1\" 2 \"u\"; "
                         "../../chapters/../tests/parity/global.cu 'd' blocks=1..3 array=dy;shared.cu 'e' blocks=0,7")
        self.assertEqual((one.kind, one.name, one.note), ("lanes", "it", "A; 'b'."))
        self.assertEqual(one.views, [
            View("tests/parity/shared.cu", ("a b", "c"), ("t 1", "", "", "u"), n=2048, offset=1),
            View("tests/parity/global.cu", ("d",), blocks=(1, 2, 3), array="dy"),
            View("tests/parity/shared.cu", ("e",), blocks=(0, 7))])
        self.assertEqual(self.parse("tree shared.cu 'a'").name, "tree_parity")

    def test_what_cannot_be_read(self):
        for text, message in {
                "lanes gone.cu 'a'": "no file gone.cu beside parity/page.md",
                "lanes as": "is to be called", "lanes 'a'": "does not begin with its file",
                "lanes shared.cu 'a' m=3": "'m=3' of", "lanes shared.cu n=2^11 a": "'a' of .* is no option",
                "lanes shared.cu 'a' blocks=1-3": "'blocks=1-3' of", "lanes shared.cu 'a": "cannot read",
                "lanes shared.cu 'a' n=many": "'many' is no size"}.items():
            with self.subTest(text), self.assertRaisesRegex((Problem, ValueError), message):
                self.parse(text)


class Touched(unittest.TestCase):
    def sectors(self, bytes_, first):
        access = trace_kinds.Access("", 1, "x", bytes_, dict(enumerate(first)))
        touched = access.touched()
        return {sector: sum(lanes.values()) for sector, lanes in touched.items()}

    def test_sectors_and_the_bytes_wanted_of_each(self):
        self.assertEqual(self.sectors(4, range(0, 128, 4)), dict.fromkeys(range(4), 32))
        self.assertEqual(self.sectors(4, range(4, 132, 4)),
                         {0: 28, 1: 32, 2: 32, 3: 32, 4: 4})
        self.assertEqual(len(self.sectors(16, range(0, 512, 16))), 16)
        self.assertEqual(len(self.sectors(4, range(0, 32 * 256, 256))), 32)

    def test_bytes_that_two_lanes_share_count_once_for_each_lane(self):
        touched = trace_kinds.Access("", 1, "x", 4, {0: 0, 1: 0}).touched()
        self.assertEqual(touched, {0: {0: 4, 1: 4}})


class Banks(unittest.TestCase):
    def access(self, words):
        return trace_kinds.Access("", 1, "x", 4, {lane: 4 * w for lane, w in enumerate(words)})

    def test_words_of_one_bank_take_turns_and_a_word_that_is_shared_does_not(self):
        for stride, wavefronts in {0: 1, 1: 1, 2: 2, 3: 1, 8: 8, 32: 32, 33: 1}.items():
            with self.subTest(stride=stride):
                access = self.access(range(0, 32 * stride, stride) if stride else [7] * 32)
                self.assertEqual(access.wavefronts(), wavefronts)
        self.assertEqual(self.access([0, 33, 0, 64]).banks(),
                         {0: {0: 0, 2: 0, 3: 64}, 1: {1: 33}})

    def test_wavefronts_are_those_that_the_executor_counts(self):
        root, line = traces.ROOT, "s[i * read % kElements]"
        source = root / "tests/parity/shared.cu"
        program = counts.built(root, source, ".program")
        with tempfile.TemporaryDirectory() as folder:
            trace, report = (pathlib.Path(folder) / name for name in ("trace", "report"))
            place = traces.place_of(source, line)
            subprocess.run([program], check=True, env=os.environ | {
                "SIMT_TRACE": str(trace), "SIMT_REPORT": str(report),
                "SIMT_TRACE_LINE": place, "SIMT_CHECKS": "off"})
            launches = json.loads(report.read_text())["launches"]
            seen = {}
            for event in json.loads(trace.read_text()):
                if event["space"] == "shared" and event["bytes"] <= trace_kinds.BANK:
                    seen.setdefault(event["launch"], []).append(
                        self.access(lane["offset"] // 4 for lane in event["lanes"]).wavefronts())
        self.assertGreater(len({max(w) for w in seen.values()}), 3)
        for launch, wavefronts in seen.items():
            counted = [at["metrics"]["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
                       for at in launches[launch]["lines"] if at["line"] == int(place.split(":")[1])]
            self.assertEqual([sum(wavefronts)], counted)


class Steps(unittest.TestCase):
    """Of a block of 64 threads; each store is (barriers, warp, its lanes)."""

    def steps(self, *stores, titles=("made up",)):
        events = [{"block": 64, "use": use, "barriers": barriers, "warp": warp,
                   "lanes": [{"lane": lane} for lane in lanes]}
                  for barriers, warp, lanes in stores for use in ("load", "store")]
        found = trace_kinds.steps_taken(View(code=("x[i] +=",), titles=titles), events)
        return traces.READERS["active"](found[0]).masks

    def test_a_step_is_what_happens_between_two_barriers(self):
        self.assertEqual(self.steps((5, 0, range(32)), (5, 1, range(32)), (7, 0, [0, 2])),
                         [[0xffffffff, 0xffffffff], [5, 0]])

    def test_both_sides_of_a_branch_are_one_step(self):
        self.assertEqual(self.steps((0, 1, [0, 1]), (0, 1, [3])), [[0, 11]])

    def test_what_has_no_steps_is_refused(self):
        with self.assertRaisesRegex(Problem, "twice between two barriers"):
            self.steps((0, 0, [0, 1]), (0, 0, [1]))

    def test_a_reduction_in_the_executor(self):
        """The counts are those of PMPP's exercise: 1,024 threads, and 32 warps
        that work for ever fewer of them, until the stride exceeds a warp."""
        warps, threads = [32] * 6 + [16, 8, 4, 2, 1], [1024 >> k for k in range(11)]
        for name, code, warps in (
                ("sum_simple", "data[at] +=", warps),
                ("sum_convergent", "in[t] +=", [32, 16, 8, 4, 2] + [1] * 6)):
            with self.subTest(name):
                view = View(f"tests/programs/{name}.cu", (code,), ("made up",))
                found = trace_kinds.steps_taken(view, traces.events(traces.ROOT, view))
                masks = traces.READERS["active"](found[0]).masks
                self.assertEqual([sum(map(bool, step)) for step in masks], warps)
                self.assertEqual([sum(m.bit_count() for m in step) for step in masks], threads)


class Committed(unittest.TestCase):
    def test_what_is_committed_is_what_the_executor_sees(self):
        root = traces.ROOT
        of_traces = [one for one in traces.wanted(root) if drawings.KINDS[one.kind].traced]
        self.assertEqual(sorted(path.stem for path in (root / traces.FOLDER).iterdir()),
                         sorted(one.name for one in of_traces))
        for one in of_traces:
            with self.subTest(one.name):
                traces.shown(root, one)
                self.assertEqual(json.loads(traces.path_of(root, one).read_text()), traces.trace(root, one))

    def test_a_line_that_is_not_there_is_refused(self):
        source = traces.ROOT / "tests/parity/shared.cu"
        with self.assertRaisesRegex(Problem, "0 lines with 'y = x'"):
            traces.place_of(source, "y = x")

    def test_a_view_that_does_not_fit_is_refused(self):
        load = {"warp": 0, "use": "load", "space": "shared", "bytes": 4, "lanes": []}
        with self.assertRaisesRegex(Problem, "loads 2 times .* has 1 titles"):
            trace_kinds.banks_loaded(View("", ("s[i]",), ("one",)), [load, load])
        with self.assertRaisesRegex(Problem, "loads 0 times from global memory"):
            trace_kinds.sectors_loaded(View("", ("s[i]",), ("one",)), [load])
        with self.assertRaisesRegex(Problem, "more than one bank's width"):
            trace_kinds.banks_loaded(View("", ("s[i]",), ("one",)), [load | {"bytes": 8}])
        with self.assertRaisesRegex(Problem, "has 2 titles, need one"):
            trace_kinds.order(View("", ("s[i]",), ("one", "two")), [load])

    def test_a_load_without_a_title_is_left_out(self):
        load = {"warp": 0, "use": "load", "space": "shared", "bytes": 4, "lanes": []}
        found = trace_kinds.banks_loaded(View("", ("s[i]",), ("", "two")), [load, load])
        self.assertEqual([one["title"] for one in found], ["two"])


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(folder.name)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.page = self.source.parent / "README.md"
        self.svg = self.root / "plots/figures/lanes_03_pack.svg"
        made_up.plant_trace(self.root, self.source, 4)

    def render(self, kind, file="relu.cu", code="code"):
        return tables.render("figure", kind, [file, f"'{code}'"], self.page)

    def quietly(self, function):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = function(self.root, plot.figures(self.root))
        return status, said.getvalue()

    def test_only_what_was_drawn_from_these_traces_passes(self):
        self.quietly(plot.draw)
        self.assertEqual(self.quietly(plot.check), (0, "5 passed, 0 failed\n"))
        drawn = self.svg.read_text()
        self.assertIn("32 lanes × 4 bytes in 5 sectors", drawn)
        self.assertIn(">fetched with it, not wanted<", drawn)
        for kind in ("lanes", "active"):
            self.assertIn(f"{kind}_03_pack.svg", self.render(kind)[0])
        drawn_steps = self.svg.with_name("active_03_pack.svg").read_text()
        for count in (2, 64, 1, 16):  # Warps and threads, of each step.
            self.assertIn(f">{count}<", drawn_steps)

        self.svg.write_text(drawn.replace("in 5 sectors", "in 4 sectors"))
        self.assertIn("lanes_03_pack.svg was changed by hand",
                      self.quietly(plot.check)[1])

        self.svg.write_text(drawn)
        made_up.plant_trace(self.root, self.source, 0)
        self.assertIn("lanes_03_pack.svg was drawn from other data",
                      self.quietly(plot.check)[1])
        self.quietly(plot.draw)
        self.assertNotIn("fetched with it", self.svg.read_text())

    def test_a_changed_source_makes_its_trace_stale(self):
        self.source.write_text("int edited;\n")
        with self.assertRaisesRegex(ValueError, "traced in another version"):
            self.render("lanes")
        troubles = []
        plot.figures(self.root, troubles)
        self.assertIn("traced in another version", troubles[0])

    def test_a_missing_trace_says_what_to_run(self):
        next((self.root / traces.FOLDER).glob("lanes_*")).unlink()
        with self.assertRaisesRegex(ValueError, "run `make figures`"):
            self.render("lanes")

    def test_a_trace_of_another_directive_is_stale(self):
        with self.assertRaisesRegex(ValueError, "for another directive than"):
            self.render("lanes", code="other")

    def test_two_figures_of_a_name_are_refused(self):
        self.page.write_text(self.page.read_text() + "<!-- figure lanes as active_03_pack relu.cu 'x' -->\n<!-- end -->\n")
        with self.assertRaisesRegex(Problem, "two figures are called active_03_pack"):
            traces.wanted(self.root)

    def test_a_variant_has_figures_of_its_own(self):
        variant = self.source.with_name("relu.four.cu")
        made_up.plant_trace(self.root, variant)
        self.quietly(plot.draw)
        self.assertIn("active_03_pack.four.svg",
                      self.render("active", "relu.four.cu")[0])
