"""What the compiler says of a functor that an engine cannot take."""

import os

import pytest
from harness import built
from ladder import toolchain
from ladder.pages import ROOT

SCALAR = "__device__ __half operator()(__half x) const { return x; }"

# What a functor may not be, and the sentence that says so.
OF_PAIRS = [
    ("Apply2 is overloaded or a template", f"""struct F {{
        {SCALAR}
        __device__ __half2 Apply2(__half2 x) const {{ return x; }}
        __device__ float2 Apply2(float2 x) const {{ return x; }}
        }};"""),
    ("Apply2 is overloaded or a template",
     f"struct F {{ {SCALAR} template <class P> __device__ P Apply2(P x) const {{ return x; }} }};"),
    ("Apply2 does not turn a pair of each operand into a pair of results",
     f"struct F {{ {SCALAR} __device__ float2 Apply2(__half2 x) const {{ return __half22float2(x); }} }};"),
    ("Apply2 does not turn a pair of each operand into a pair of results",
     f"struct F {{ {SCALAR} __device__ void Apply2(__half2* y, const __half2* x) const {{ *y = *x; }} }};"),
    ("an element of more than 16 bytes fits no access", """
        struct Large { double v[3]; };
        struct F { __device__ Large operator()(Large x) const { return x; } };
        #define TYPE Large"""),
    ("a functor is a class that is not final", f"struct F final {{ {SCALAR} }};"),
    ("", f"struct F {{ {SCALAR} __device__ __half2 Apply2(__half2 x) const {{ return x; }} }};"),
]

OVERLOADED = "A functor has one operator(), neither overloaded nor a template."
OF_STRIDES = [
    (OVERLOADED, """
        struct F {
          __device__ float operator()(float v) const { return v; }
          __device__ double operator()(double v) const { return v; }
        };"""),
    (OVERLOADED, "struct F { template <class T> __device__ T operator()(T v) const { return v; } };"),
    ("A call has an array for each result and each argument.",
     "struct F { __device__ float operator()(float v, float w) const { return v + w; } };"),
    ("An array's elements have one of ten types.",
     "struct F { __device__ unsigned operator()(unsigned v) const { return v; } };"),
]


def said_of(folder, text):
    """What nvcc says, "" if it compiles."""
    source = folder / "functor.cu"
    source.write_text(text)
    done = built.told([toolchain.nvcc(ROOT), "-std=c++20", "-ccbin", os.environ.get("CXX", "g++"), f"-I{ROOT}",
                       "-arch=compute_90", "-ptx", source, "-o", folder / "functor.ptx"])
    return done.stdout if done.returncode else ""


@pytest.mark.parametrize("sentence, functor", OF_PAIRS)
def test_of_chapter_13(sentence, functor, tmp_path):
    said = said_of(tmp_path, f"""#include "chapters/13_elementwise/elementwise.h"
        {functor}
        #ifndef TYPE
        #define TYPE __half
        #endif
        const char* call(int64_t n, TYPE* r, const TYPE* a) {{ return elementwise::unary(F{{}}, n, r, a, nullptr); }}
        """)
    assert sentence in said and bool(sentence) == bool(said)


@pytest.mark.parametrize("sentence, functor", OF_STRIDES)
def test_of_chapter_15(sentence, functor, tmp_path):
    said = said_of(tmp_path, f"""#include "chapters/15_strides_and_casts/gpu_kernel.h"
        strided::Array x;
        {functor}
        const char* call() {{ return strided::gpu_kernel(F{{}}, nullptr, x, x); }}
        """)
    assert sentence in said
