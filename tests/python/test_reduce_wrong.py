"""Wrong versions of chapter 12's engine, each caught by the check of tests/reduce_test.cpp
that is named. Those that the sum's own checks catch stand in the chapter's page."""

import concurrent.futures
import dataclasses
import hashlib
import os
import re
import subprocess
import unittest

from ladder import pages, toolchain
from ladder.pages import ROOT

ENGINE, BY_NAME = "chapters/12_reduce", "tests/any_reduce"
SUITE = "build/cpu/tests/reduce_test.checks"
SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Wrong:
    """An edit of one of the engine's headers, for one family of operations."""
    what: str
    header: str
    old: str
    new: str
    family: str
    red: str  # A check by its name, or a finding.
    where: str = ""  # The check to run, where a finding is red.

    @property
    def folder(self):
        digest = hashlib.sha256(f"{self}|{text_of_engine()}".encode()).hexdigest()[:12]
        return f"build/wrong_engine/{digest}"

    @property
    def part(self):
        return f"build/cpu/{self.folder}/{BY_NAME}/{self.family}.o"


RANDOM = "reduce handles random shapes, strides, dimensions and types"
LENGTHS = "reduce handles every length of a row"
SHARED = "reduce shares long rows and columns between blocks"
WRONG = [
    Wrong("the counter is not reset", "reduce.h", "atomicInc(counter, gridDim.y - 1)", "atomicAdd(counter, 1)",
          "sums", "reduce leaves its counters ready for the next call"),
    Wrong("one part is left out", "reduce.h", "for (int y = seat.member; y", "for (int y = seat.member + 1; y", "sums", SHARED),
    Wrong("all blocks write their part to one place", "reduce.h", "parts[(blockIdx.y * task.teams + holder.team)",
          "parts[(holder.team)", "sums", "race", SHARED),
    Wrong("a chain of additions is forgotten", "reduce.h", "for (int a = 1; a < kAccs", "for (int a = 2; a < kAccs",
          "sums", LENGTHS),
    Wrong("what is left over is read one too early", "reduce.h", "i < head ? i : i + loads * kAlong",
          "i < head ? i : i + loads * kAlong - 1", "sums", LENGTHS),
    Wrong("a round is taken for whole", "reduce.h", "i + (kAtOnce - 1) * step < loads", "i + (kAtOnce - 2) * step < loads",
          "sums", LENGTHS),
    Wrong("the last exchange ends early", "reduce.h", "for (int far = warps / 2; far > 0", "for (int far = warps / 2; far > 1",
          "sums", LENGTHS),
    Wrong("results are written by the input's strides", "access.h", "sum.out + i * out_stride[d]", "sum.out + i * stride[d]",
          "sums", RANDOM),
    Wrong("64-bit indices are divided wrongly", "access.h", "return i / divisor;", "return i / (divisor + 1);",
          "sums", RANDOM),
    Wrong("dimensions are joined whatever the results' order", "plan.h",
          " &&\n                 next.out_stride == last.size * last.out_stride", "", "sums", RANDOM),
    Wrong("an index counts in the order of reading", "plan.h", "if (!kind.indexed) std", "std", "arg_extremes", RANDOM),
    Wrong("columns are packed wherever they begin", "plan.h", "at.x % (side * kind.in_bytes) == 0 &&", "", "sums",
          "misaligned access", "reduce handles every offset, in rows and columns"),
    Wrong("no index needs 64 bits", "plan.h", "INT32_MAX - (1 << 24)", "INT64_MAX", "sums",
          "the planner counts in 64 bits where 32 are too few"),
    Wrong("a tie goes to the highest index", "operations.h", "tie ? b.index < a.index", "tie ? b.index > a.index",
          "arg_extremes", "reduce gives a tie to the lowest index"),
    Wrong("a NaN loses", "operations.h", "return b != b || Order::better(b, a) ? b : a;",
          "return Order::better(b, a) ? b : a;", "extremes", "reduce lets NaN win, and says where the first is"),
    Wrong("a NaN has no place", "operations.h", "b_nan || Order::better", "Order::better",
          "arg_extremes", "reduce lets NaN win, and says where the first is"),
    Wrong("the greatest is 0 at least", "operations.h", "? -std::numeric_limits<A>::infinity()", "? A{0}",
          "extremes", "reduce keeps infinities and denormal numbers"),
    Wrong("Welford divides by no elements", "operations.h", "if (count == 0) return a;\n", "\n",
          "spreads", SHARED),
    Wrong("two means are taken for one", "operations.h", " + away * away * a.count * part", "",
          "spreads", "reduce finds the variance of numbers far from 0"),
]


def text_of_engine():
    folders = [ROOT / ENGINE, ROOT / BY_NAME]
    return "".join(path.read_text() for folder in folders for path in sorted(folder.iterdir())
                   if path.suffix in (".h", ".cu"))


def plant(wrong):
    """The engine and the family, in a folder of their own that their includes name."""
    for place, names in ((ENGINE, ("plan.h", "access.h", "reduce.h", "operations.h")),
                         (BY_NAME, ("any_reduce.h", "family.h", f"{wrong.family}.cu"))):
        for name in names:
            text = (ROOT / place / name).read_text()
            if name == wrong.header:
                assert text.count(wrong.old) == 1, f"{wrong.what}: '{wrong.old}' occurs {text.count(wrong.old)} times"
                text = text.replace(wrong.old, wrong.new)
            text = re.sub(rf'#include "({ENGINE}|{BY_NAME})/', rf'#include "{wrong.folder}/\1/', text)
            path = ROOT / wrong.folder / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)


def link(wrong):
    """The suite with that part in place of its own. Being first, its inline functions count."""
    parts = [path.stem for path in (ROOT / BY_NAME).glob("*.cu") if path.stem != wrong.family]
    program = ROOT / wrong.folder / "wrong.checks"
    objects = [wrong.part, "build/cpu/tests/reduce_test.o", *(f"build/cpu/{BY_NAME}/{part}.o" for part in parts),
               "build/cpu/common/harness/checks/all.o", "build/cpu/common/harness/unmeasured.o",
               "build/cpu/common/harness/show/all.o", "build/cpu/libsimt.a"]
    subprocess.run([os.environ.get("CXX", "g++"), *objects, "-pthread", "-o", program], cwd=ROOT, check=True)
    return program


def said_by(wrong):
    """(exit status, output) of the suite's one check."""
    check = wrong.where or wrong.red
    done = subprocess.run([link(wrong), "--dt-exit", "--dt-reporters=console", f"--dt-test-case={check.replace(',', '?')}"],
                          cwd=ROOT, env=os.environ | {"SIMT_COUNTERS": "off"}, timeout=SECONDS,
                          text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class WrongEngines(unittest.TestCase):
    @unittest.skipUnless(pages.CLASSROOM, "takes minutes: make test-classroom builds and judges them")
    def test_each_is_caught(self):
        for wrong in WRONG:
            plant(wrong)
        with toolchain.alone(ROOT):
            built = toolchain.make(ROOT, "cpu", SUITE, *(wrong.part for wrong in WRONG))
        self.assertEqual(built.returncode, 0, built.stdout)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            found = list(pool.map(said_by, WRONG))
        for wrong, (status, said) in zip(WRONG, found):
            with self.subTest(wrong.what):
                self.assertNotEqual(status, 0, f"{wrong.what}: nothing noticed it:\n{said}")
                self.assertIn(wrong.red, said)
                self.assertNotIn("There is no such operation", said)
