"""Figures of additions: what is traced, and what is drawn of it."""

import io
import os
import subprocess

import pytest
from ladder import counts
from ladder.figures import (
    bank_figures, budget_figure, drawings, race_figures, trace_additions, trace_kinds, traces, tree_figures
)
from ladder.figures.asked import View
from ladder.figures.trace_additions import Addition, Race, Traffic, Tree
from ladder.measured import records, sweep
from ladder.pages import Problem


def event(use, offsets, warp=0, barriers=0, space="global", allocation=1):
    """offsets: lane -> byte"""
    return {"use": use, "warp": warp, "barriers": barriers, "space": space, "bytes": 4,
            "blocks": 2, "number": 0,
            "lanes": [{"lane": lane, "allocation": allocation, "offset": offset}
                      for lane, offset in offsets.items()]}


def text_of(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def seen(view):
    return [traces.Trace(None, "made up.cu", [view])]


class TestTraced:
    view = View(code=("code",), titles=("made up",), n=8)

    def test_a_tree_is_who_adds_what_to_what(self):
        (found,) = trace_additions.additions(self.view, [
            event("load", {0: 0, 1: 4}), event("load", {0: 8, 1: 12}),
            event("store", {0: 0, 1: 4}), event("load", {3: 4}, warp=1, barriers=1),
            event("load", {3: 0}, warp=1, barriers=1), event("store", {3: 0}, 1, 1)])
        tree = trace_additions.READERS["tree"](found)
        assert tree.steps == [[Addition(0, 0, 2), Addition(1, 1, 3)], [Addition(35, 0, 1)]]
        assert tree.strides() == [2, 1]

    def test_a_step_that_adds_nothing_or_two_numbers_is_refused(self):
        for loads in ([], [event("load", {0: 4}), event("load", {0: 8})]):
            with pytest.raises(Problem, match=f"adds {len(loads)} other numbers"):
                trace_additions.additions(self.view, [*loads, event("store", {0: 0})])

    def test_floats_are_counted_by_step_memory_and_use(self):
        (found,) = trace_additions.floats_moved(self.view, [
            event("load", {0: 0, 1: 4}), event("load", {5: 0}, warp=1),
            event("store", {0: 0}, space="shared"), event("load", {0: 0}, barriers=1)])
        assert found["moved"] == [[0, "global", "load", 3], [0, "shared", "store", 1],
                                  [1, "global", "load", 1]]

    def test_a_race_keeps_the_uses_of_the_number_that_is_written(self):
        (found,) = trace_additions.uses_of_one(self.view, [
            event("load", {0: 0, 1: 0}), event("load", {0: 0, 1: 4}, allocation=2),
            event("store", {0: 0, 1: 0})])
        assert found["uses"] == [["load", [0, 1]], ["store", [0, 1]]]

    def test_a_queue_stands_before_one_address(self):
        add = event("atomic", {0: 0})
        (found,) = trace_additions.additions_to_one(self.view, [
            event("load", {0: 0}), add, add | {"number": 1}])
        assert found["additions"] == [1, 1]
        for other in (event("load", {0: 0}), event("atomic", {0: 4})):
            with pytest.raises(Problem, match="does not add to one number"):
                trace_additions.additions_to_one(self.view, [other, *[add] * (other["use"] != "load")])


class TestDrawn:
    lost = Race("+=", [["load", [0, 1]], ["store", [0, 1]]])
    kept = Race("atomicAdd", [["atomic", [1, 0]]])
    in_turn = Race("+=", [["load", [0]], ["store", [0]], ["load", [1]], ["store", [1]]])

    def test_an_update_is_lost_when_both_have_loaded_before(self):
        assert [race_figures.replay(race)[0]
                for race in (self.lost, self.kept, self.in_turn)] == [14, 17, 17]

    def test_a_race_that_loses_nothing_is_not_shown_as_one(self):
        assert "before either has stored" in drawings.KINDS["race"].caption_of(seen(self.lost), "")
        with pytest.raises(ValueError, match="loses nothing any more"):
            drawings.of_race(seen(self.in_turn))

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

    def test_a_tree_shows_what_the_steps_add_up_to(self):
        text = text_of(tree_figures.draw_tree(Tree(4, [
            [Addition(0, 0, 2), Addition(1, 1, 3)], [Addition(0, 0, 1)]])))
        for words in (">10<", ">11<", ">stride 2<", ">stride 1<", ">thread 1<", ">2 threads add<"):
            assert words in text  # 3 + 7 and 10 + 1.

    def test_what_crosses_to_global_memory_is_added_up(self):
        views = [Traffic("step", 8, [[0, "global", "load", 1300], [0, "shared", "store", 700]]),
                 Traffic("result", 8, [[1, "shared", "load", 1], [1, "global", "store", 1]])]
        text = text_of(tree_figures.draw_traffic(("chapter 98", views), ("chapter 99", views)))
        for words in ("chapter 99: 1,300 floats loaded from global memory, 1 stored there",
                      ">700<", ">result<"):
            assert words in text


class TestCommitted:
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
