"""The oracle of the random races knows what orders, and an executor that forgets a barrier does not pass."""

import numpy as np
import pytest

import race_statements
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

    def test_a_lock_orders_as_threads_came_if_they_fence(self):
        shape, notes = Shape(1, 3, False), {1: np.array([4, 0, 2])}
        take, release = (race_statements.Access(verb, "global", 4, ".relaxed.gpu") for verb in ("atom", "st"))
        for fences, ordered in (((".cta", ".cta"), True), (("", ""), False)):
            lock = race_statements.Lock("", "", take, release, ("relaxed", "relaxed"), fences, [], [shape.id], False)
            order = Order(shape, notes)
            lock.happens(order, 1, 0)
            assert (order.know[2, 1] > 0) == (order.know[0, 1] > 0) == (order.know[0, 2] > 0) == ordered
            assert order.know[1, 0] == order.know[1, 2] == 0

    def test_who_counts_last_has_learned_from_all(self):
        shape, notes = Shape(3, 1, False), {1: np.array([1, 2, 0])}
        add = race_statements.Access("atom", "global", 4, ".acq_rel.gpu")
        order = Order(shape, notes)
        race_statements.Count(add, "acq_rel", ("", ""), [], [shape.id]).happens(order, 1, 0)
        assert all(order.know[1, [0, 2]]) and order.know[0, 2] and not order.know[2, [0, 1]].any()


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

    @pytest.mark.parametrize("kind, method, without, message", [
        (Order, "meet", None, "missed between lines"),
        (race_statements.Meeting, "text", "", "no race between lines")])
    def test_a_barrier_that_one_side_forgets_fails(
            self, kind, method, without, message, capsys, monkeypatch):
        monkeypatch.setattr(kind, method, lambda *_: without)
        failed, said = self.said(capsys)
        assert failed and message in said
