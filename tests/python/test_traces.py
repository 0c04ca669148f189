"""Traces: what the executor sees, and figures that follow from nothing else."""

import json
import os
import pathlib
import subprocess
import tempfile

import pytest
import made_up
from ladder import counts
from ladder.figures import drawings, plot, trace_kinds, traces
from ladder.figures.asked import View, parse
from ladder.pages import Problem


class TestAsked:
    def parse(self, text):
        return parse(text, traces.ROOT / "tests/parity/page.md", traces.ROOT)

    def test_views(self):
        one = self.parse("lanes as it note=\"A; 'b'.\" shared.cu 'a b' 'c' n=2^11 offset=1 \"t 1\" 2 \"u\"; "
                         "../../chapters/../tests/parity/global.cu 'd' blocks=1..3 array=dy;shared.cu 'e' blocks=0,7")
        assert (one.kind, one.name, one.note) == ("lanes", "it", "A; 'b'.")
        assert one.views == [
    View("tests/parity/shared.cu", ("a b", "c"), ("t 1", "", "", "u"), n=2048, offset=1),
    View("tests/parity/global.cu", ("d",), blocks=(1, 2, 3), array="dy"),
    View("tests/parity/shared.cu", ("e",), blocks=(0, 7))]
        assert self.parse("tree shared.cu 'a'").name == "tree_parity"

    def test_what_cannot_be_read(self):
        for text, message in {
                "lanes gone.cu 'a'": "no file gone.cu beside parity/page.md",
                "lanes as": "is to be called", "lanes 'a'": "does not begin with its file",
                "lanes shared.cu 'a' m=3": "'m=3' of", "lanes shared.cu n=2^11 a": "'a' of .* is no option",
                "lanes shared.cu 'a' blocks=1-3": "'blocks=1-3' of", "lanes shared.cu 'a": "cannot read",
                "lanes shared.cu 'a' n=many": "'many' is no size"}.items():
            with pytest.raises((Problem, ValueError), match=message):
                self.parse(text)


class TestTouched:
    def sectors(self, bytes_, first):
        access = trace_kinds.Access("", 1, "x", bytes_, dict(enumerate(first)))
        touched = access.touched()
        return {sector: sum(lanes.values()) for sector, lanes in touched.items()}

    def test_sectors_and_the_bytes_wanted_of_each(self):
        assert self.sectors(4, range(0, 128, 4)) == dict.fromkeys(range(4), 32)
        assert self.sectors(4, range(4, 132, 4)) == {0: 28, 1: 32, 2: 32, 3: 32, 4: 4}
        assert len(self.sectors(16, range(0, 512, 16))) == 16
        assert len(self.sectors(4, range(0, 32 * 256, 256))) == 32

    def test_bytes_that_two_lanes_share_count_once_for_each_lane(self):
        touched = trace_kinds.Access("", 1, "x", 4, {0: 0, 1: 0}).touched()
        assert touched == {0: {0: 4, 1: 4}}


class TestBanks:
    def access(self, words):
        return trace_kinds.Access("", 1, "x", 4, {lane: 4 * w for lane, w in enumerate(words)})

    def test_words_of_one_bank_take_turns_and_a_word_that_is_shared_does_not(self):
        for stride, wavefronts in {0: 1, 1: 1, 2: 2, 3: 1, 8: 8, 32: 32, 33: 1}.items():
            access = self.access(range(0, 32 * stride, stride) if stride else [7] * 32)
            assert access.wavefronts() == wavefronts
        assert self.access([0, 33, 0, 64]).banks() == {0: {0: 0, 2: 0, 3: 64}, 1: {1: 33}}

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
        assert len({max(w) for w in seen.values()}) > 3
        for launch, wavefronts in seen.items():
            counted = [at["metrics"]["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
                       for at in launches[launch]["lines"] if at["line"] == int(place.split(":")[1])]
            assert [sum(wavefronts)] == counted


class TestSteps:
    """Of a block of 64 threads; each store is (barriers, warp, its lanes)."""

    def steps(self, *stores, titles=("made up",)):
        events = [{"block": 64, "use": use, "barriers": barriers, "warp": warp,
                   "lanes": [{"lane": lane} for lane in lanes]}
                  for barriers, warp, lanes in stores for use in ("load", "store")]
        found = trace_kinds.steps_taken(View(code=("x[i] +=",), titles=titles), events)
        return traces.READERS["active"](found[0]).masks

    def test_a_step_is_what_happens_between_two_barriers(self):
        assert self.steps((5, 0, range(32)), (5, 1, range(32)), (7, 0, [0, 2])) == [[0xffffffff, 0xffffffff], [5, 0]]

    def test_both_sides_of_a_branch_are_one_step(self):
        assert self.steps((0, 1, [0, 1]), (0, 1, [3])) == [[0, 11]]

    def test_what_has_no_steps_is_refused(self):
        with pytest.raises(Problem, match="twice between two barriers"):
            self.steps((0, 0, [0, 1]), (0, 0, [1]))

    def test_a_reduction_in_the_executor(self):
        """The counts are those of PMPP's exercise: 1,024 threads, and 32 warps
        that work for ever fewer of them, until the stride exceeds a warp."""
        warps, threads = [32] * 6 + [16, 8, 4, 2, 1], [1024 >> k for k in range(11)]
        for name, code, warps in (
                ("sum_simple", "data[at] +=", warps),
                ("sum_convergent", "in[t] +=", [32, 16, 8, 4, 2] + [1] * 6)):
            view = View(f"tests/programs/{name}.cu", (code,), ("made up",))
            found = trace_kinds.steps_taken(view, traces.events(traces.ROOT, view))
            masks = traces.READERS["active"](found[0]).masks
            assert [sum(map(bool, step)) for step in masks] == warps
            assert [sum(m.bit_count() for m in step) for step in masks] == threads


class TestCommitted:
    def test_what_is_committed_is_what_the_executor_sees(self):
        root = traces.ROOT
        of_traces = [one for one in traces.wanted(root) if drawings.KINDS[one.kind].traced]
        assert sorted(path.stem for path in (root / traces.FOLDER).iterdir()) == sorted(one.name for one in of_traces)
        for one in of_traces:
            traces.shown(root, one)
            assert json.loads(traces.path_of(root, one).read_text()) == traces.trace(root, one)

    def test_a_line_that_is_not_there_is_refused(self):
        source = traces.ROOT / "tests/parity/shared.cu"
        with pytest.raises(Problem, match="0 lines with 'y = x'"):
            traces.place_of(source, "y = x")

    def test_a_view_that_does_not_fit_is_refused(self):
        load = {"warp": 0, "use": "load", "space": "shared", "bytes": 4, "lanes": []}
        with pytest.raises(Problem, match="loads 2 times .* has 1 titles"):
            trace_kinds.banks_loaded(View("", ("s[i]",), ("one",)), [load, load])
        with pytest.raises(Problem, match="loads 0 times from global memory"):
            trace_kinds.sectors_loaded(View("", ("s[i]",), ("one",)), [load])
        with pytest.raises(Problem, match="more than one bank's width"):
            trace_kinds.banks_loaded(View("", ("s[i]",), ("one",)), [load | {"bytes": 8}])
        with pytest.raises(Problem, match="has 2 titles, need one"):
            trace_kinds.order(View("", ("s[i]",), ("one", "two")), [load])

    def test_a_load_without_a_title_is_left_out(self):
        load = {"warp": 0, "use": "load", "space": "shared", "bytes": 4, "lanes": []}
        found = trace_kinds.banks_loaded(View("", ("s[i]",), ("", "two")), [load, load])
        assert [one["title"] for one in found] == ["two"]


class TestFigures(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def traced(self, in_a_made_up_repository):
        self.svg = self.root / "plots/figures/lanes_03_pack.svg"
        made_up.plant_trace(self.root, self.source, 4)

    def figure(self, kind, file="relu.cu", code="code"):
        return self.render("figure", kind, file, f"'{code}'")

    def test_only_what_was_drawn_from_these_traces_passes(self):
        self.draw()
        assert self.check() == "5 passed, 0 failed\n"
        drawn = self.svg.read_text()
        assert "32 lanes × 4 bytes in 5 sectors" in drawn
        assert ">fetched with it, not wanted<" in drawn
        for kind in ("lanes", "active"):
            assert f"{kind}_03_pack.svg" in self.figure(kind)[0]
        drawn_steps = self.svg.with_name("active_03_pack.svg").read_text()
        for count in (2, 64, 1, 16):  # Warps and threads, of each step.
            assert f">{count}<" in drawn_steps

        made_up.plant_trace(self.root, self.source, 0)
        assert "lanes_03_pack.svg was drawn from other data" in self.check()
        self.draw()
        assert "fetched with it" not in self.svg.read_text()

    def test_a_changed_source_makes_its_trace_stale(self):
        self.source.write_text("int edited;\n")
        with pytest.raises(ValueError, match="traced in another version"):
            self.figure("lanes")
        troubles = []
        plot.figures(self.root, troubles)
        assert "traced in another version" in troubles[0]

    def test_a_missing_trace_says_what_to_run(self):
        next((self.root / traces.FOLDER).glob("lanes_*")).unlink()
        with pytest.raises(ValueError, match="run `make figures`"):
            self.figure("lanes")

    def test_a_trace_of_another_directive_is_stale(self):
        with pytest.raises(ValueError, match="for another directive than"):
            self.figure("lanes", code="other")

    def test_two_figures_of_a_name_are_refused(self):
        self.page.write_text(self.page.read_text() + "<!-- figure lanes as active_03_pack relu.cu 'x' -->\n<!-- end -->\n")
        with pytest.raises(Problem, match="two figures are called active_03_pack"):
            traces.wanted(self.root)

    def test_a_variant_has_figures_of_its_own(self):
        variant = self.source.with_name("relu.four.cu")
        made_up.plant_trace(self.root, variant)
        self.draw()
        assert "active_03_pack.four.svg" in self.figure("active", "relu.four.cu")[0]
