"""docs/numerics.md: what it says of Python holds in this one."""

import pathlib
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"


class TestSums:
    def test_the_order_shows_in_every_python(self):
        run = subprocess.run([sys.executable, PROGRAMS / "numerics_sum.py"],
                             capture_output=True, text=True, check=True)
        assert run.stdout == (PROGRAMS / "numerics_sum.expected").read_text()

    def test_since_3_12_sum_hides_the_order(self):
        orders = ([1e-20, 1e-20, 1e20, -1e20], [1e-20, 1e20, -1e20, 1e-20],
                  [1e20, -1e20, 1e-20, 1e-20])
        assert {sum(numbers) for numbers in orders} == ({2e-20} if sys.version_info >= (3, 12) else {0.0, 1e-20, 2e-20})
