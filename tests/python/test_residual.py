"""What is timed of chapter 16's kernels beside PyTorch's layers, and the contract in Python's words."""

import ctypes
import re
import unittest

from ladder.pages import ROOT
from plots import bn_relu_peers, residual


class Cases(unittest.TestCase):
    cases = residual.cases()

    def test_are_all_shapes_in_each_way_once(self):
        self.assertEqual(len(set(self.cases)), 11 * 2 * 2 * 2 + 2)
        self.assertEqual(len(self.cases), len(set(self.cases)))

    def test_count_each_array_once(self):
        case = residual.Case(2, 4, 8, "float", False)
        self.assertEqual(case.bytes, 512 * 28 + 128)  # 28.25 bytes per element.
        self.assertEqual(residual.Case(2, 4, 8, "half", True).bytes, 512 * 14 + 128)
        self.assertEqual(residual.Case(2, 4, 8, "float", only_forward=True).bytes, 512 * 8 + 64)


class Structures(unittest.TestCase):
    text = re.sub(r"//.*", "", (ROOT / "common/bn_relu.h").read_text())

    def members(self, name):
        body = re.search(rf"struct {name} {{(.*?)}};", self.text, re.S)[1]
        declared = [part.split(None, 1)[1] if not part.strip().startswith("const") else part.split(None, 2)[2]
                    for part in body.split(";") if part.strip()]
        return [member.strip(" *\n") for part in declared for member in part.split(",")]

    def test_have_the_members_of_the_contract(self):
        for ours, name in ((bn_relu_peers.Problem, "BnRelu"), (bn_relu_peers.Ends, "BnReluForward"),
                           (residual.Slopes, "BnReluBackward")):
            with self.subTest(name):
                self.assertEqual([field for field, _ in ours._fields_], self.members(name))
        self.assertEqual(ctypes.sizeof(bn_relu_peers.Problem), 56)
