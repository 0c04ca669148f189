"""What is timed of chapter 15's engine beside PyTorch, and how the result is told."""

import ctypes
import re
import unittest

from ladder.measured.cases import LARGE
from ladder.pages import ROOT
from plots import strided
from plots.strided import Case, Operand


class Cases(unittest.TestCase):
    cases = strided.cases()

    def test_are_many_and_each_is_there_once(self):
        self.assertGreaterEqual(len(self.cases), 200)
        self.assertEqual(len(self.cases), len(set(self.cases)))

    def test_are_drawn_from_the_seed(self):
        self.assertEqual(self.cases, strided.cases())
        self.assertNotEqual(self.cases, strided.cases(seed=1))

    def test_have_those_that_the_page_names(self):
        known = {case.known for case in self.cases}
        self.assertLessEqual({"half -> float", "half + float", "x + y.t()", "x + row", "x + column", "short rows"}, known)

    def test_are_known_to_the_engine(self):
        text = "".join(path.read_text() for path in (ROOT / "tests/any_strided").glob("*.cu"))
        offered = set(re.findall(r'>\("([^"]+)"\)', text))
        self.assertLessEqual({case.what for case in self.cases}, offered)

    def test_step_forwards_or_repeat(self):
        for case in self.cases:
            for operand in case.operands:
                with self.subTest(case):
                    self.assertEqual(len(operand.strides), len(case.shape))
                    self.assertTrue(all(stride >= 0 for stride in operand.strides))

    def test_have_every_layout(self):
        operands = [operand for case in self.cases for operand in case.operands]
        self.assertGreater(sum(0 in operand.strides for operand in operands), 20)
        self.assertGreater(sum(operand.offset > 0 for operand in operands), 10)
        self.assertGreater(sum(1 not in operand.strides for operand in operands), 10)
        self.assertGreater(sum(operand.type != case.type for case in self.cases for operand in case.operands), 40)

    def test_enough_are_large(self):
        self.assertGreaterEqual(sum(case.bytes >= LARGE for case in self.cases), 15)


class Bytes(unittest.TestCase):
    def test_what_is_repeated_counts_once(self):
        row, column = Operand("float32", (0, 1)), Operand("float16", (1, 0))
        case = Case("add", "float32", (10, 100), (row, column))
        self.assertEqual(case.bytes, 4 * 1000 + 4 * 100 + 2 * 10)

    def test_a_view_reaches_to_its_last_element(self):
        self.assertEqual(Operand("float32", (1, 10), 3).elements((4, 5)), 3 + 3 + 40 + 1)

    def test_strides_of_an_order(self):
        self.assertEqual(strided.dense((2, 3, 4)), (12, 4, 1))
        self.assertEqual(strided.permuted((2, 3, 4), (2, 0, 1)), (3, 1, 6))


class Names(unittest.TestCase):
    def test_say_types_and_strides(self):
        case = Case("add", "float32", (10, 100), (Operand("float32", (100, 1)), Operand("float16", (0, 1), 3)))
        self.assertEqual(case.name, "add float, 10 x 100 of float32; float16 by 0, 1 from 3 on")


class Struct(unittest.TestCase):
    text = (ROOT / "tests/any_strided/any_strided.h").read_text()

    def names(self, struct):
        body = re.sub(r"//.*", "", re.search(rf"struct {struct} \{{(.*?)\}};", self.text, re.S)[1])
        return [name for line in body.split(";") for name in re.findall(r"\*?(\w+)\s*(?:,|$)", line.strip())]

    def test_is_the_one_of_the_header(self):
        """Names in their order; the types are C's of the same size."""
        for struct in (strided.AnyArray, strided.AnyStrided):
            self.assertEqual(self.names(struct.__name__), [name for name, _ in struct._fields_])
            self.assertEqual(ctypes.sizeof(struct), 32)

    def test_types_are_counted_as_in_the_engine(self):
        plan = (ROOT / "chapters/15_strides_and_casts/plan.h").read_text()
        counted = re.findall(r"k(\w+)", re.search(r"enum class Type \{(.*?)\};", plan, re.S)[1])
        in_cpp = [strided.IN_CPP.get(name, name) for name in strided.TYPES]
        self.assertEqual([name.lower() for name in counted], in_cpp)
