"""Asks Nsight Compute what the memory moves for each file of chapter 16, forward and backward.

    python -m plots.bn_relu_moved PROGRAM.profiled ...     `make moved` calls it so
"""

import sys

from ladder.measured import moved
from ladder.pages import script

N = 1 << 28  # No array of so many floats stays in a cache.
# x, the addend, y; dy, x, dx, the addend's gradient; the mask, written and read.
NEEDED = 7 * 4 + 2 / 8


def main():
    moved.record("bn_relu", N, NEEDED, sys.argv[1:])


if __name__ == "__main__":
    script("moved", main)
