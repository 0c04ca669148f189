"""Traces: what the executor sees, and figures of one idea each that follow from nothing else."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from ladder import counts
from ladder.figures import (
    asked, bank_figures, budget_figure, drawings, drawings_bits, error_figure, plot, race_figures, trace_kinds, traces)
from ladder.figures.asked import View
from ladder.figures.drawing import Printed
from ladder.figures.trace_kinds import reading
from ladder.measured import records, sweep
from ladder.pages import Problem
from tree import Folder

VIEW = View(code=("code",), titles=("made up",))


class TestAsked:
    def parse(self, text):
        return asked.parse(text, traces.ROOT / "tests/parity/page.md", traces.ROOT)

    def test_what_cannot_be_read(self):
        for text, message in {
                "lanes gone.cu 'a'": "no file gone.cu beside parity/page.md",
                "lanes as": "no file as beside", "lanes 'a'": "cannot read", "'a'": "does not begin with the kind",
                "lanes shared.cu 'a' m=3": "'m=3' of", "lanes shared.cu n=2^11 a": "'a' of .* is no option",
                "lanes shared.cu 'a' blocks=1-3": "'blocks=1-3' of", "lanes shared.cu 'a": "cannot read",
                "lanes shared.cu 'a' n=many": "'many' is no size"}.items():
            with pytest.raises((Problem, ValueError), match=message):
                self.parse(text)


def event(use, *offsets, **more):
    """Of the lanes from 0 on, at these offsets."""
    return {"use": use, "warp": 0, "number": 0, "barriers": 0, "blocks": 2, "block": 64, "bytes": 4, "space": "global",
            "lanes": [{"lane": lane, "allocation": 1, "offset": offset} for lane, offset in enumerate(offsets)]} | more


def race(*uses):
    return reading()({"title": "made up", "uses": uses})


def shuffle(*far):
    return event("exchange", lanes=[{"lane": k, "value": 1 << k, "with": far[k % len(far)]} for k in range(32)])


@pytest.mark.parametrize("kind, events, message", [
    ("sides", [event("load", 0, 4)], "no store"),
    ("vote", [event("load")], "comes to 0 votes"),
    ("exchange", [shuffle(1), shuffle(2)], "2 exchanges"),
    ("exchange", [shuffle(1, 2), shuffle(2), shuffle(4)], "differently far"),
    ("active", [event("store", 0, 0), event("store", 0)], "twice between two barriers"),
    ("active", [event("load", 0)], "stores nothing"),
    ("tree", [event("store", 0)], "adds 0 other numbers"),
    ("tree", [event("load", 4), event("load", 8), event("store", 0)], "adds 2 other numbers"),
    ("queue", [event("load", 0)], "does not add to one number"),
    ("queue", [event("atomic", 4), event("atomic", 0)], "does not add to one number"),
    ("meeting", [event("store", 0), event("store", 0, number=1)], "where all but the last should"),
    ("banks", [event("load", space="shared")] * 2, "loads 2 times .* has 1 titles"),
    ("banks", [event("load", space="shared", bytes=8)], "more than one bank's width"),
    ("lanes", [event("load", space="shared")], "loads 0 times from global memory")])
def test_what_is_not_of_its_kind_is_refused(kind, events, message):
    """What is, TestCommitted shows."""
    with pytest.raises(Problem, match=message):
        traces.TRACERS[kind](VIEW, events)


def test_a_view_that_does_not_fit_is_refused():
    with pytest.raises(Problem, match="no square"):
        trace_kinds.sides(View(code=("code",), titles=("made up",), n=2048), [event("load", 0), event("store", 0)])
    with pytest.raises(Problem, match="has 2 titles, need one"):
        trace_kinds.order(View("", ("s[i]",), ("one", "two")), [event("load")])


def test_wavefronts_are_those_that_the_executor_counts():
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
                    trace_kinds.Access("", 1, "x", 4, {lane["lane"]: lane["offset"] for lane in event["lanes"]}).wavefronts())
    assert len({max(w) for w in seen.values()}) > 3
    for launch, wavefronts in seen.items():
        counted = [at["metrics"]["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
                   for at in launches[launch]["lines"] if at["line"] == int(place.split(":")[1])]
        assert [sum(wavefronts)] == counted


class TestOfPrograms(Folder):
    GOOD = "-0.1 becomes 0xae66: 1 01011 1001100110, which is -0.0999755859375\n"

    def printed(self, text):
        return Printed(self.write("made_up.expected", text))

    def test_the_bits_of_a_half_are_its_value(self):
        told = "-0.1", "1010111001100110", "-0.0999755859375"
        assert drawings_bits.read_half(self.printed(self.GOOD)) == told
        with pytest.raises(ValueError, match="are not"):
            drawings_bits.read_half(self.printed(self.GOOD.replace(" 1 01011", " 0 01011")))
        with pytest.raises(ValueError, match="no half"):
            drawings_bits.read_half(self.printed("nothing"))

    def test_a_table_of_errors_has_four_columns(self):
        with pytest.raises(ValueError, match="no table of errors"):
            error_figure.formulas(self.printed("a\nb\n1 2 3\n1 2 3\n"))


class TestDrawn:
    lost = race(["load", [0, 1]], ["store", [0, 1]])
    kept = race(["atomic", [1, 0]])
    in_turn = race(["load", [0]], ["store", [0]], ["load", [1]], ["store", [1]])

    def test_an_update_is_lost_when_both_have_loaded_before(self):
        assert [race_figures.replay(race)[0]
                for race in (self.lost, self.kept, self.in_turn)] == [14, 17, 17]

    def test_a_race_that_loses_nothing_is_not_shown_as_one(self):
        assert "before either has stored" in drawings.KINDS["race"].caption_of([traces.Trace(None, "made up.cu", [self.lost])], "")
        with pytest.raises(ValueError, match="loses nothing any more"):
            drawings.of_race([traces.Trace(None, "made up.cu", [self.in_turn])])

    def test_padding_lies_behind_every_32_numbers(self):
        def access(stride):
            return trace_kinds.Access("", 1, "x", 4, {lane: 4 * stride * lane for lane in range(32)})
        assert bank_figures.pads(access(33), 3) == [32, 65]
        assert bank_figures.pads(access(32), 3) == []
        assert bank_figures.told(access(32), 32) == "lanes 32 words apart: 32 wavefronts"

    def test_reading_and_the_rest_are_the_time_of_a_block(self):
        n, pair = budget_figure.N, sweep.Pair(2, 256)

        def row(series, us):
            return records.Row(series, n, 4 * n, us, us, us, None, None, 50, False, None)
        record = records.Record(None, {"source": "sum.cu"}, {(r.series, n): r for r in (row("sum", 1024.0),
                                                                                        row("read", 256.0))})
        blocks = n // 512
        assert budget_figure.per_block(record, pair) == (256e3 / blocks, 768e3 / blocks)


class TestCommitted:
    """plot.py sees to it that they are drawn of what was traced."""

    captioned = [one.name for one in traces.wanted(traces.ROOT) if drawings.KINDS[one.kind].says]

    def text(self, name):
        return (traces.ROOT / f"plots/figures/{name}.svg").read_text()

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

    @pytest.mark.parametrize("name, words", {
        "threads": [">i = 256 to 511<", ">24 threads too many"], "rounds": [">12,000,004<", ">+ step<"],
        "waves": ["31 full waves", "1,088 blocks"], "flight": ["4 waits", "1 wait<"],
        "half": ["(1 + 614/1024)"], "ballot": ["0xaead6cba"], "butterfly": ["far = 4", ">32 bits<"],
        "tree_simple": [">stride 4<", ">2 threads add<", ">thread 3<", ">25<"],
        "memory": ["07: 4,095 floats loaded from global memory, 2,048 stored", "08: 2,048 floats loaded from global memory, 1 "],
        "conflicts": ["lanes 2 words apart: 2 wavefronts"], "padding": ["lanes 33 words apart: 1 wavefront<"],
        "lanes_03_pack": ["32 lanes × 4 bytes in 5 sectors", ">fetched with it, not wanted<"],
        "coalesced": ["32 lanes × 4 bytes in 4 sectors", "32 lanes × 4 bytes in 32 sectors"],
        "two_sides": ["reads 128 bytes of x in 4 sectors"],
        "active_06_sum_simple": [">1,024<", ">32<"]}.items())
    def test_they_show_what_was_traced(self, name, words):
        for part in words:
            assert part in self.text(name)

    def test_a_colour_that_is_not_there_has_no_words(self):
        assert "fetched with it" not in self.text("lanes_07_sum_convergent") and "not fetched" not in self.text("coalesced")

    @pytest.mark.parametrize("name", captioned)
    def test_nothing_is_drawn_too_small_to_read(self, name):
        text = self.text(name)
        assert float(re.search(r'width="([\d.]+)pt"', text)[1]) / 0.75 <= 830
        for size in re.findall(r"font-size: ([\d.]+)px", text):
            assert round(float(size) / 0.75, 1) >= 11

    def run_example(self, name):
        source = traces.ROOT / name
        program = counts.built(traces.ROOT, source, ".program")
        return subprocess.run([program], check=True, text=True, capture_output=True,
                              env=os.environ | {"SIMT_CHECKS": "off", "SIMT_COUNTERS": "off"})

    def test_the_sums_that_are_drawn_are_those_that_the_program_computes(self):
        one, = (one for one in traces.wanted(traces.ROOT) if one.kind == "race")
        trace, = traces.shown(traces.ROOT, one)
        drawn = [race_figures.replay(race)[0] for race in trace.views]
        assert self.run_example(trace.source).stdout == "{} and {}\n".format(*drawn)

    def test_the_neighbours_add_up_with_and_without_padding(self):
        assert self.run_example("plots/examples/neighbours.cu").stdout == "1024 and 1024\n"


class TestFound:
    """What is drawn is what was traced for just this figure, of files as they are."""

    one = next(one for one in traces.wanted(traces.ROOT) if one.kind == "lanes")

    def refuses(self, message, one):
        with pytest.raises(ValueError, match=message):
            traces.shown(traces.ROOT, one)

    def test_a_changed_source_makes_its_trace_stale(self, monkeypatch):
        monkeypatch.setattr(traces, "tie", lambda *_: "another")
        self.refuses("traced in another version of chapters/", self.one)
        troubles = []
        plot.figures(traces.ROOT, troubles)
        assert "traced in another version" in troubles[0]

    def test_a_trace_of_another_directive_is_stale_and_a_missing_one_says_what_to_run(self):
        self.refuses("for another directive than 'other'", dataclasses.replace(self.one, text="other"))
        self.refuses("run `make figures`", dataclasses.replace(self.one, name="nothing"))

    def test_two_figures_of_a_name_are_refused(self, monkeypatch):
        page = traces.ROOT / "chapters/03_pack/README.md"
        monkeypatch.setattr(asked.pages, "directives", lambda *_: [
            (page, f"{kind} as it relu.four.cu 'x'") for kind in ("lanes", "active")])
        with pytest.raises(Problem, match="two figures are called it"):
            traces.wanted(traces.ROOT)
        assert asked.parse("lanes relu.four.cu 'x'", page, traces.ROOT).name == "lanes_03_pack.four"
