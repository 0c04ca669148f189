"""What is timed of chapter 12's engine beside PyTorch, and how the result is told."""

import contextlib
import ctypes
import io
import re
import unittest

from ladder.measured import records, work
from ladder.pages import ROOT
from plots import reductions


class Cases(unittest.TestCase):
    cases = reductions.cases()

    def test_are_many_and_each_is_there_once(self):
        self.assertGreaterEqual(len(self.cases), 100)
        self.assertEqual(len(self.cases), len(set(self.cases)))

    def test_are_drawn_from_the_seed(self):
        self.assertEqual(self.cases, reductions.cases())
        self.assertNotEqual(self.cases, reductions.cases(seed=1))

    def test_have_those_that_pytorch_is_slow_at(self):
        known = {(case.shape, case.dims) for case in self.cases if case.known}
        for wanted in (((1 << 22, 2), (1,)), ((10 ** 6, 8), (1,)), ((8, 10 ** 6), (0,)), ((1 << 20, 16), (0,))):
            self.assertIn(wanted, known)

    def test_are_known_to_the_engine(self):
        text = "".join(path.read_text() for path in (ROOT / "tests/any_reduce").glob("*.cu"))
        offered = set(re.findall(r'>\("([^"]+)"\)', text))
        self.assertLessEqual({case.what for case in self.cases}, offered)

    def test_reduce_something_that_fits(self):
        for case in self.cases:
            with self.subTest(case):
                self.assertTrue(case.dims)
                self.assertEqual(case.dims, tuple(sorted(set(case.dims))))
                self.assertLess(case.dims[-1], len(case.shape))
                self.assertTrue(1 << 12 <= case.bytes <= 1 << 29)

    def test_enough_are_long(self):
        self.assertGreaterEqual(sum(case.bytes >= reductions.ROOF_FROM for case in self.cases), 10)

    def test_rows_lie_side_by_side(self):
        self.assertTrue(reductions.Case("sum float", (4, 5, 6), (1, 2)).rows)
        self.assertFalse(reductions.Case("sum float", (4, 5, 6), (0, 2)).rows)


class Told(unittest.TestCase):
    asked = [reductions.Case("sum float", (1 << 26,), (0,)), reductions.Case("sum half", (64, 64), (1,))]
    times = [reductions.Time(case, by, us, us, us) for case, by, us in (
        (0, "engine", 100), (0, "PyTorch", 200), (0, "CUB", 110), (0, records.READ, 95),
        (1, "engine", 4), (1, "PyTorch", 2), (1, records.READ, 3))]

    def test_the_worst_comes_first(self):
        self.assertEqual([ratio for _, ratio in reductions.ratios(self.asked, self.times)], [0.5, 2])

    def test_the_mean_is_geometric_and_the_roof_is_of_long_ones(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            reductions.tell(self.asked, self.times)
        self.assertIn("2 cases: 1.000 x PyTorch (geometric mean), the worst 0.50 x", said.getvalue())
        self.assertIn("at least 95.0 % of the read", said.getvalue())


class Slots(unittest.TestCase):
    def test_none_is_read_twice_where_there_are_enough(self):
        for slots in (work.CALLS + 1, 100, 2000):
            used = [work.slot_of(k, slots) for k in range(work.CALLS)]
            self.assertEqual(len(set(used)), work.CALLS)
            self.assertTrue(all(0 < slot < slots for slot in used), "the first is for warming up")

    def test_all_are_read_in_turn_where_there_are_few(self):
        self.assertEqual({work.slot_of(k, 3) for k in range(work.CALLS)}, {0, 1, 2})


class Struct(unittest.TestCase):
    def test_is_the_one_of_the_header(self):
        """Names in their order; the types are C's of the same size."""
        text = (ROOT / "tests/any_reduce/any_reduce.h").read_text()
        body = re.sub(r"//.*", "", re.search(r"struct AnyReduction \{(.*?)\};", text, re.S)[1])
        names = [name for line in body.split(";") for name in re.findall(r"\*?(\w+)\s*(?:,|$)", line.strip())]
        self.assertEqual(names, [name for name, _ in reductions.AnyReduction._fields_])
        self.assertEqual(ctypes.sizeof(reductions.AnyReduction), 72)
