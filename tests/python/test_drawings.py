"""The figures of one idea each: what they show is what was traced or printed."""

import json
import re

import pytest
from ladder.figures import (
    drawings, drawings_bits, drawings_threads, error_figure, trace_kinds, traces)
from ladder.figures.asked import View
from ladder.figures.drawing import Printed
from ladder.pages import ROOT, Problem

VIEW = View(code=("code",), titles=("made up",))


def event(use, lanes, warp=0, number=0, **more):
    return {"use": use, "warp": warp, "number": number, "blocks": 2, "block": 64,
            "bytes": 4, "lanes": lanes, **more}


class TestKinds:
    def kept(self, kind, events):
        """What a trace's reader makes of what its tracer recorded."""
        (data,) = trace_kinds.TRACERS[kind](VIEW, events)
        return trace_kinds.READERS[kind](json.loads(json.dumps(data)))

    def test_owners_are_kept_block_by_block_and_round_by_round(self):
        def load(warp, number, first):
            return event("load", [{"lane": k, "offset": 4 * (first + k)} for k in (0, 1)],
                         warp, number)

        owners = self.kept("owners", [load(0, 0, 0), load(0, 0, 128), load(1, 0, 32),
                                      event("store", [{"lane": 0, "offset": 0}]),
                                      load(0, 1, 64)])
        assert owners.takes == {0: [{0: 0, 1: 1, 32: 32, 33: 33}, {0: 128, 1: 129}],
                                1: [{0: 64, 1: 65}]}
        assert owners.step == 128

    def test_bytes_count_until_the_first_store(self):
        order = self.kept("order", [event(use, []) for use in ("load", "load", "store", "load")]
                          + [event("load", [], warp=1)])
        assert (order.bytes_before_store(), order.bytes_loaded()) == (8, 12)

    def test_sides_are_the_first_load_and_the_first_store_of_global_memory(self):
        def access(use, space, *offsets):
            return event(use, [{"lane": k, "offset": at} for k, at in enumerate(offsets)], space=space)

        load, store = access("load", "global", 0, 4), access("store", "global", 0, 4096)
        shared = access("load", "shared", 8, 12)
        found = self.kept("sides", [{**load, "warp": 1, "lanes": []}, shared, load, access("load", "global", 64), store])
        assert (found.side, found.read.first, found.written.first) == (1024, {0: 0, 1: 4}, {0: 0, 1: 4096})
        with pytest.raises(Problem, match="no store"):
            self.kept("sides", [load])
        with pytest.raises(Problem, match="no square"):
            trace_kinds.sides(View(code=("code",), titles=("made up",), n=2048), [load, store])

    def test_a_vote_is_the_bits_of_its_lanes(self):
        lanes = [{"lane": lane, "value": lane in (1, 31)} for lane in range(32)]
        assert self.kept("vote", [event("vote", lanes)]).word == 0x80000002
        with pytest.raises(Problem, match="comes to 0 votes"):
            self.kept("vote", [event("load", [])])

    def test_a_butterfly_has_three_rounds_of_one_distance_each(self):
        def shuffle(*far):
            return event("exchange", [{"lane": k, "value": 1 << k, "with": far[k % len(far)]}
                                      for k in range(32)])

        found = self.kept("exchange", [shuffle(1), shuffle(2), shuffle(4)])
        assert [far for far, _ in found.rounds] == [1, 2, 4]
        assert found.rounds[0][1] == [1 << k for k in range(32)]
        with pytest.raises(Problem, match="2 exchanges"):
            self.kept("exchange", [shuffle(1), shuffle(2)])
        with pytest.raises(Problem, match="differently far"):
            self.kept("exchange", [shuffle(1, 2), shuffle(2), shuffle(4)])


class TestOfPrograms:
    GOOD = "-0.1 becomes 0xae66: 1 01011 1001100110, which is -0.0999755859375\n"

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path):
        self.path = tmp_path / "made_up.expected"

    def printed(self, text):
        self.path.write_text(text)
        return Printed(self.path)

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


class TestCommitted:
    """plot.py sees to it that they are drawn of what was traced."""

    captioned = [one.name for one in traces.wanted(ROOT) if drawings.KINDS[one.kind].says]

    def text(self, name):
        return (ROOT / f"plots/figures/{name}.svg").read_text()

    @pytest.mark.parametrize("name, words", {
        "threads": [">i = 256 to 511<", ">24 threads too many"], "rounds": [">12,000,004<", ">+ step<"],
        "waves": ["31 full waves", "1,088 blocks"], "flight": ["4 waits", "1 wait<"],
        "half": ["(1 + 614/1024)"], "ballot": ["0xaead6cba"], "butterfly": ["far = 4", ">32 bits<"]}.items())
    def test_they_show_what_was_traced(self, name, words):
        for part in words:
            assert part in self.text(name)

    @pytest.mark.parametrize("name", captioned)
    def test_nothing_is_drawn_too_small_to_read(self, name):
        text = self.text(name)
        assert float(re.search(r'width="([\d.]+)pt"', text)[1]) / 0.75 <= 830
        for size in re.findall(r"font-size: ([\d.]+)px", text):
            assert round(float(size) / 0.75, 1) >= 11


def test_the_waves_are_those_of_the_source():
    assert drawings_threads.waves_in("constexpr int kWaves = 32;  // so") == 32
