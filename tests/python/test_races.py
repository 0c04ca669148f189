"""The oracle of the random races knows what orders, and an executor that forgets a barrier does not pass."""

import pytest

import race_kernels
import races
from happens_before import NOT_HERE, Order, Shape
from ladder import toolchain

SEEDS = range(1, 41)


class TestOracle:
    def test_a_flag_orders_behind_a_fence_that_reaches_far_enough(self):
        shape = Shape(2, 1, False)
        givers, takers = shape.block == 0, shape.block == 1
        for fenced, behind, ordered in ((2, 2, True), (0, 2, False), (2, 0, False), (NOT_HERE, 2, False)):
            order = Order(shape)
            if fenced >= 0:
                order.fence(givers, fenced)
            order.flag(givers, takers, 3, False, False)
            order.fence(takers, behind)
            assert (order.know[1, 0] > 0) == ordered


class TestExecutor:
    @pytest.fixture(autouse=True, scope="class")
    def program(self):
        toolchain.made(races.ROOT, "cpu", races.PROGRAM)

    def said(self, capsys):
        failed = races.check(SEEDS)
        return failed, capsys.readouterr().out

    def test_the_two_agree(self, capsys):
        failed, said = self.said(capsys)
        assert not failed and f"{len(SEEDS)} passed, 0 failed" in said

    def test_a_race_that_is_missed_fails(self, capsys, monkeypatch):
        monkeypatch.setattr(Order, "meet", lambda *_: None)
        failed, said = self.said(capsys)
        assert failed and "missed between lines" in said

    def test_a_race_that_is_none_fails(self, capsys, monkeypatch):
        monkeypatch.setattr(race_kernels.Meeting, "text", lambda *_: "")
        failed, said = self.said(capsys)
        assert failed and "no race between lines" in said
