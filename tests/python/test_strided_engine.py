"""What the suite of chapter 15's engine cannot see: the banks of its tiles, and what a program that
cannot be right is told by the compiler."""

import json
import os
import pathlib
import subprocess
import tempfile

from ladder import toolchain
from ladder.pages import ROOT

TILES = "gpu_kernel turns what lies the other way through tiles"
CONFLICTS = [f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{way}.sum" for way in ("ld", "st")]


class TestBanks:
    def test_a_tile_has_no_conflict_of_any_type(self):
        suite = toolchain.built(ROOT, "build/cpu/tests/strided_test.checks")
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            subprocess.run([suite, "--dt-exit", f"--dt-test-case={TILES}"], check=True, stdout=subprocess.DEVNULL,
                           env=os.environ | {"SIMT_REPORT": str(report)})
            launches = json.loads(report.read_text())["launches"]
        tiles = [launch for launch in launches if "tile_kernel" in launch["kernel"]]
        assert len({launch["kernel"] for launch in tiles}) > 4
        for launch in tiles:
            assert [launch["metrics"][name] for name in CONFLICTS] == [0, 0]


BEGIN = """#include "chapters/15_strides_and_casts/gpu_kernel.h"
strided::Array x;
"""
CALL = "\nconst char* call() { return strided::gpu_kernel(F{}, nullptr, %s); }\n"


class TestMessages:
    def said(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "refused.cu"
            source.write_text(BEGIN + text)
            done = subprocess.run(
                [toolchain.nvcc(ROOT), "-std=c++20", "-ccbin", os.environ.get("CXX", "g++"), f"-I{ROOT}",
                 "-arch=compute_90", "-ptx", source, "-o", pathlib.Path(folder) / "refused.ptx"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode != 0, "it compiles"
        return done.stdout

    def test_an_overloaded_operator(self):
        functor = """struct F {
          __device__ float operator()(float v) const { return v; }
          __device__ double operator()(double v) const { return v; }
        };"""
        assert "A functor has one operator(), neither overloaded nor a template." in self.said(functor + CALL % "x, x")

    def test_a_template_as_operator(self):
        functor = "struct F { template <class T> __device__ T operator()(T v) const { return v; } };"
        assert "A functor has one operator(), neither overloaded nor a template." in self.said(functor + CALL % "x, x")

    def test_too_few_arrays(self):
        functor = "struct F { __device__ float operator()(float v, float w) const { return v + w; } };"
        assert "A call has an array for each result and each argument." in self.said(functor + CALL % "x, x")

    def test_a_type_that_no_array_has(self):
        functor = "struct F { __device__ unsigned operator()(unsigned v) const { return v; } };"
        assert "An array's elements have one of ten types." in self.said(functor + CALL % "x, x")
