# make bn_relu_moved   count what memory moves for each of chapter 16's files
# needs: chapters/16_bn_relu/bn_relu.unfused.profiled chapters/16_bn_relu/bn_relu.ballot.profiled chapters/16_bn_relu/bn_relu.packs.profiled chapters/16_bn_relu/bn_relu.planned.profiled chapters/16_bn_relu/bn_relu.together.profiled chapters/16_bn_relu/bn_relu.profiled
"""Asks Nsight Compute what the memory moves for each file of chapter 16, forward and backward.

    python -m plots.bn_relu_moved PROGRAM.profiled ...     `make bn_relu_moved` calls it so
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
