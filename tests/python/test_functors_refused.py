"""What the compiler says of a functor that an engine cannot take: functors.txt."""

import os
import pathlib
import re
import subprocess

import pytest
from ladder import toolchain
from ladder.pages import ROOT

FUNCTORS = re.findall(r"^== (\w+): (.*)\n((?:(?!== ).*\n?)*)",
                      pathlib.Path(__file__).with_name("functors.txt").read_text(), re.M)
# How each engine is called with a functor.
CALLED = {
    "elementwise": """#include "chapters/13_elementwise/elementwise.h"
        FUNCTOR
        #ifndef TYPE
        #define TYPE __half
        #endif
        const char* call(int64_t n, TYPE* r, const TYPE* a) { return elementwise::unary(F{}, n, r, a, nullptr); }
        """,
    "strides": """#include "chapters/15_strides_and_casts/gpu_kernel.h"
        strided::Array x;
        FUNCTOR
        const char* call() { return strided::gpu_kernel(F{}, nullptr, x, x); }
        """,
}


@pytest.mark.parametrize("engine, sentence, functor", FUNCTORS)
def test_what_the_compiler_says(engine, sentence, functor, tmp_path):
    source = tmp_path / "functor.cu"
    source.write_text(CALLED[engine].replace("FUNCTOR", functor))
    done = subprocess.run([toolchain.nvcc(ROOT), "-std=c++20", "-ccbin", os.environ.get("CXX", "g++"), f"-I{ROOT}",
                           "-arch=compute_90", "-ptx", source, "-o", tmp_path / "functor.ptx"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if sentence == "nothing":
        assert done.returncode == 0, done.stdout
    else:
        assert done.returncode != 0 and sentence in done.stdout


def test_all_are_tried():
    assert [engine for engine, *_ in FUNCTORS] == ["elementwise"] * 7 + ["strides"] * 4
