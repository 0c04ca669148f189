"""tests/wrong.py believes a kernel rejected only for the reason it names."""

import unittest
from unittest import mock
import wrong
from ladder.mutants import Run

RED = "\nFAILED: tails\n  expected  x\n  (a.cpp:2)\n\n2 of 9 checks failed, these too:\n  offsets\n"
FOUND = "simt: out of bounds: read of 4 bytes at 0x10\n"


def judge(check, finding, run, backend="cpu"):
    with mock.patch.object(wrong, "BACKEND", backend):
        return wrong.judge(wrong.Expected(check, finding), run)


class Table(unittest.TestCase):
    def test_reads_three_fields_and_skips_comments(self):
        table = wrong.read_table("# file | check | finding\n\na.cu | tails | -\n")
        self.assertEqual(table, {"a.cu": wrong.Expected("tails", "-")})

    def test_refuses_what_it_cannot_read(self):
        for text in ("a.cu | tails", "a.cu | | -", "a.cu | t | -\na.cu | t | -"):
            with self.assertRaises(wrong.pages.Problem):
                wrong.read_table(text)


class Judge(unittest.TestCase):
    def test_the_named_check_must_be_the_first_to_fail(self):
        self.assertIsNone(judge("tails", "-", Run(True, 1, RED)))
        self.assertIn("not 'NaN'", judge("NaN", "-", Run(True, 1, RED)))
        self.assertIn("no check", judge("tails", "-", Run(True, 1, "")))

    def test_the_finding_must_be_the_named_one(self):
        self.assertIsNone(judge("tails", "out of bounds", Run(True, 1, FOUND + RED)))
        self.assertIn("said '-'", judge("tails", "out of bounds", Run(True, 1, RED)))
        self.assertIn("not '-'", judge("tails", "-", Run(True, 1, FOUND + RED)))

    def test_a_kernel_that_passes_is_not_rejected(self):
        self.assertEqual(judge("tails", "-", Run(True, 0, "")), "nothing rejected it")
        self.assertIn("compile", judge("tails", "-", Run(False, None, "")))
        self.assertIn("hung", judge("tails", "-", Run(True, None, "")))

    def test_what_only_a_gpu_sees_passes_here_and_fails_there(self):
        self.assertIsNone(judge("tails", "passes", Run(True, 0, "")))
        self.assertIn("say in the table", judge("tails", "passes", Run(True, 1, RED)))
        self.assertIsNone(judge("tails", "passes", Run(True, 1, RED), "gpu"))
        self.assertEqual(judge("tails", "passes", Run(True, 0, ""), "gpu"), "nothing rejected it")

    def test_what_is_right_must_pass(self):
        self.assertIsNone(judge("nothing", "-", Run(True, 0, "")))
        self.assertIn("keeps its contract", judge("nothing", "-", Run(True, 1, RED)))

    def test_what_only_the_executor_sees_is_left_out_on_a_gpu(self):
        self.assertIsNone(judge("executor: tails", "-", Run(True, 1, RED)))
        self.assertEqual(judge("executor: tails", "-", Run(True, 0, "")), "nothing rejected it")
        for backend, counts in (("cpu", True), ("gpu", False)):
            with mock.patch.object(wrong, "BACKEND", backend):
                self.assertEqual(wrong.Expected("executor: tails", "-").counts, counts)
