"""What is timed of chapter 13's engine beside PyTorch and CUB, and how the result is told."""

import ctypes
import re
import unittest

from ladder.measured import records
from ladder.pages import ROOT
from plots import elementwise

LARGE = elementwise.ROOF_FROM


class Cases(unittest.TestCase):
    cases = elementwise.cases()

    def test_are_each_there_once_and_the_first_is_large(self):
        self.assertEqual(len(self.cases), len(set(self.cases)))
        self.assertEqual(self.cases[0].n, max(case.n for case in self.cases))

    def test_have_each_function_and_type_at_every_start_and_size(self):
        kinds = {(case.op, case.type) for case in self.cases}
        self.assertEqual(len(kinds), 9)
        for start in elementwise.STARTS:
            large = {(case.op, case.type) for case in self.cases if case.start == start and case.n >= LARGE}
            self.assertEqual(large, kinds)
        self.assertEqual({case.n for case in self.cases if case.start == "aligned"},
                         {1 << exponent for exponent in range(10, 29, 2)})

    def test_are_known_to_the_engine_and_to_cub(self):
        offered = "".join(path.read_text() for path in (ROOT / "tests/any_elementwise").glob("*.cu"))
        peer = (ROOT / elementwise.SOURCES[1]).read_text()
        for case in self.cases:
            self.assertIn(f'("{case.what}")', re.sub(r"\(\s+", "(", offered))
            for name in case.what.split():
                self.assertIn(f'"{name}"', peer)

    def test_move_each_array_once(self):
        self.assertEqual(elementwise.Case("fma", "half", 1000, "aligned").bytes, 8000)
        self.assertEqual(elementwise.Case("relu", "float", 1000, "aligned").bytes, 8000)


class Told(unittest.TestCase):
    asked = [elementwise.Case("add", "float", LARGE, start) for start in elementwise.STARTS]
    asked.append(elementwise.Case("relu", "half", 1024, "aligned"))
    times = [elementwise.Time(case, by, us, us, us) for case, *all_us in (
        (0, 100, 110, 120, 99), (1, 100, 101, 120, 95), (2, 100, 98, 120, 90), (3, 4, 2, 8, 1))
        for by, us in zip((elementwise.ENGINE, elementwise.CUB, elementwise.PYTORCH, records.COPY), all_us)]

    def test_each_case_has_a_line_and_the_worst_stand_at_the_end(self):
        lines = list(elementwise.told(self.asked, self.times))
        self.assertEqual(len(lines), 1 + 4 + 3 + 1)
        self.assertRegex(lines[1], r"add float +2\^26 +aligned +100.00 +99.0 % +1.10 +1.20")
        self.assertEqual(lines[6], "all off by one, 2^26 and more: at least 95.0 % of the copy (add float)")
        self.assertEqual(lines[-1], "The worst beside CUB: 0.50 x (relu half, n = 1,024, aligned)")


class Struct(unittest.TestCase):
    def test_is_the_one_of_the_header(self):
        """Names in their order; the types are C's of the same size."""
        text = (ROOT / "tests/any_elementwise/any_elementwise.h").read_text()
        body = re.sub(r"//.*", "", re.search(r"struct AnyElementwise \{(.*?)\};", text, re.S)[1])
        names = re.findall(r"(\w+)(?:\[\d\])?;", body)
        self.assertEqual(names, [name for name, _ in elementwise.AnyElementwise._fields_])
        self.assertEqual(ctypes.sizeof(elementwise.AnyElementwise), 72)
