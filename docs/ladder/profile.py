"""Profile a chapter with Nsight Compute: the table of ./run, measured by a GPU.

    python -m ladder.profile PROGRAM [BEFORE]      `make profile03` calls it so

The programs are those that the Makefile builds for a GPU, *.profiled.
"""

import math
import os
import pathlib
import shutil
import subprocess
import sys

from ladder import ncu
from ladder.pages import Problem, script
from ladder.toolchain import said_by


def find_ncu():
    wanted = os.environ.get("NCU", "1")  # 1 asks for ncu's names in the table, no more.
    found = shutil.which("ncu" if wanted == "1" else wanted)
    if not found:
        raise Problem("there is no ncu. Nsight Compute comes with the CUDA Toolkit (package "
                      "cuda-nsight-compute); set NCU to where it is. Without it, 'make chapterNN "
                      "BACKEND=cpu && ./run' counts the same on the CPU")
    return found


def profiled(tool, program, case, metrics):
    """The launches of one call, as ncu saw them."""
    command = [tool, *ncu.arguments(metrics), program, "call", *case]
    run = subprocess.run(command, capture_output=True, text=True)
    output = run.stdout + run.stderr
    if run.returncode and ncu.NO_PERMISSION not in output:
        raise Problem(f"ncu ended with status {run.returncode}:\n{output[-2000:].strip()}")
    return ncu.read(output, metrics)


def name_of(program):
    """As ./run calls a chapter: its folder, or the variant's name."""
    is_chapter = program.parent.parent.name == "chapters" and "." not in program.stem
    return program.parent.name if is_chapter else program.stem


def count(tool, program):
    """Write what ncu counts of a program's usual calls, and tell where."""
    metrics = said_by([program, "metrics"]).split()
    lines = [f"name\t{name_of(program)}"]
    for case in map(str.split, said_by([program, "cases"]).splitlines()):
        lines.append("\t".join(["case", *case]))
        for kernel, grid, block, numbers in profiled(tool, program, case, metrics):
            lines.append(f"launch\t{kernel}\t{math.prod(grid)}\t{math.prod(block)}")
            lines += [f"metric\t{name}\t{number:.15g}" for name, number in numbers.items()]
    path = program.with_suffix(".ncu")
    path.write_text("\n".join(lines) + "\n")
    return path


def main(program, *before):
    tool = find_ncu()
    program, *before = (pathlib.Path(one).resolve() for one in (program, *before))
    files = [count(tool, one) for one in (program, *before)]
    print(said_by([program, "show", *files]), end="")
    print("\nCounted by ncu on this GPU, in machine code. 'ideal' is the same work with whole\n"
          "sectors, without bank conflicts and without idle threads. With NCU=1 the table\n"
          "holds ncu's name of each counter, too.")


if __name__ == "__main__":
    script("profile", main, *sys.argv[1:])
