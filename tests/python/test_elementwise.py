"""What is timed of chapter 13's engine beside PyTorch and CUB, and how the result is told."""

import ctypes
import re
import unittest

from ladder.pages import ROOT
from plots import elementwise

LARGE = 1 << 26


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


class Struct(unittest.TestCase):
    def test_is_the_one_of_the_header(self):
        """Names in their order; the types are C's of the same size."""
        text = (ROOT / "tests/any_elementwise/any_elementwise.h").read_text()
        body = re.sub(r"//.*", "", re.search(r"struct AnyElementwise \{(.*?)\};", text, re.S)[1])
        names = re.findall(r"(\w+)(?:\[\d\])?;", body)
        self.assertEqual(names, [name for name, _ in elementwise.AnyElementwise._fields_])
        self.assertEqual(ctypes.sizeof(elementwise.AnyElementwise), 72)
