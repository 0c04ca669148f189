"""What is said and drawn of meetings of devices, of a made-up record."""

import pathlib
import subprocess
import sys

import pytest
from ladder.figures import drawings_messages, grows_figure
from ladder.measured import all_reduce, records

ROWS = [{"devices": d, "bytes": size, "where": where, "us": us * d / 2, "bus_gbps": gbps}
        for d in (2, 4) for where in all_reduce.PLACES
        for size, us, gbps in ((4, 20.0, 0.0002), (1 << 30, 3000.0, 300.0))]
TOLD = all_reduce.Told(pathlib.Path("made_up.json"), {}, ROWS, {})


class TestModel:
    def test_both_ways_take_as_long_as_was_measured_between_two(self):
        assert all_reduce.ring_us(TOLD, 2, 4) == all_reduce.tree_us(TOLD, 2, 4 // 2)
        assert all_reduce.ring_us(TOLD, 2, 4) == pytest.approx(20, abs=1e-3)
        assert all_reduce.ring_us(TOLD, 2, 1 << 30) == pytest.approx(20 + (1 << 30) / 300e3)

    def test_few_bytes_want_a_tree_and_many_a_ring(self):
        for devices in (8, 1024):
            assert all_reduce.tree_us(TOLD, devices, 4) < all_reduce.ring_us(TOLD, devices, 4)
            assert all_reduce.ring_us(TOLD, devices, 1 << 30) < all_reduce.tree_us(TOLD, devices, 1 << 30)

    def test_the_source_of_a_program(self):
        assert all_reduce.source_of("build/gpu/chapters/17_x/sum.host.steps") == pathlib.Path("chapters/17_x/sum.host.cu")

    def test_no_program_is_refused(self):
        run = subprocess.run([sys.executable, "-m", "ladder.measured.all_reduce"], text=True, capture_output=True)
        assert "PROGRAM STEPS" in run.stderr
        assert run.returncode == 1


class TestFigures:
    def test_what_was_measured_is_marked_and_the_rest_is_computed(self):
        few, many = grows_figure.draw_grows(TOLD).axes
        for panel, us in ((few, 20), (many, 3000)):
            ring, tree, points = panel.get_lines()
            assert list(ring.get_xdata())[-1] == 1024
            assert list(points.get_xdata()) == [2, 4]
            assert list(points.get_ydata()) == [us, 2 * us]

    def test_steps_are_read_as_they_are_printed(self):
        way, = drawings_messages.read_steps("ring, step 1: 0-adds->1:2..3 1-gives->0:0..0").values()
        assert way == [[drawings_messages.Message(0, 1, True, range(2, 4)),
                        drawings_messages.Message(1, 0, False, range(0, 1))]]

    def test_what_is_no_step_is_refused(self):
        for text in ("", "ring, step 1: 0->1", "A rank has 3."):
            with pytest.raises(records.RecordError):
                drawings_messages.read_steps(text)
