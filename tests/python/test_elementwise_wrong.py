"""Wrong versions of chapter 13's engine, each caught by the check of
tests/elementwise_test.cpp that is named; and functors that must not compile."""

import subprocess
import tempfile

from ladder import toolchain
from ladder.pages import ROOT
from wrong_engines import Engine, Wrong, judge, takes_minutes

LENGTHS = "elementwise handles every length"
TOGETHER = "elementwise handles every offset, the same in all arrays"
APART = "elementwise handles every offset, others in each array"
PAIRS = "elementwise gives the same bits in pairs as one by one"
CASTS = "elementwise casts between any two of twelve types"
REFUSED = "elementwise refuses what is wrong, in a sentence, and does nothing"
WRONG = [
    Wrong("the pack is the narrowest type's", "path.h", "std::min({pack_of<T>()...})", "std::max({pack_of<T>()...})",
          "others", LENGTHS),
    Wrong("a pack of int8 has 16 elements", "path.h", "kMostPack = 8", "kMostPack = 16", "others", LENGTHS),
    Wrong("the head is one too long", "path.h", "-first % width", "(1 - first) % width",
          "floats", "misaligned access", TOGETHER),
    Wrong("only the last array's address counts", "path.h", "differ |= element(p) ^ first", "differ = element(p) ^ first",
          "floats", "misaligned access", "elementwise handles random lengths and offsets"),
    Wrong("a single element more is one too many for packs", "path.h", "while (differ % width != 0) width /= 2",
          "while (differ % width != 0) width = 1", "halves", APART),
    Wrong("the last block is missing", "path.h", "(packs + tile - 1) / tile", "packs / tile", "floats", LENGTHS),
    Wrong("what begins together may differ in size", "path.h", "(r.at == p.at && r.bytes == p.bytes)", "r.at == p.at",
          "casts_of_fractions", REFUSED),
    Wrong("an array's last element does not count", "path.h", "r.at + n * r.bytes <= p.at ||",
          "r.at + (n - 1) * r.bytes <= p.at ||", "floats", REFUSED),
    Wrong("two results may be one array", "path.h", "results[0].at == results[1].at ||", "", "floats", REFUSED),
    Wrong("packs begin where the result does", "elementwise.h", "f, r + path.head, at", "f, r, at", "floats", TOGETHER),
    Wrong("the last element is forgotten", "elementwise.h", "thread >= n - packed)", "thread >= n - packed - 1)",
          "floats", LENGTHS),
    Wrong("the head is taken for more of the tail", "elementwise.h", "thread < path.head ? thread : thread + packed",
          "thread + packed", "halves", TOGETHER),
    Wrong("a thread's packs lie a warp apart", "elementwise.h", "if (first + k * kBlock < packs)\n        pack[k] =\n            "
          "reinterpret_cast<const Pack<T, kWidth>*>(x)[first + k * kBlock]",
          "if (first + k * kBlock < packs)\n        pack[k] =\n            "
          "reinterpret_cast<const Pack<T, kWidth>*>(x)[first + k * 32]", "floats", APART),
    Wrong("the second result goes where the first did", "elementwise.h", "put(r.second, i, packs.second)",
          "put(r.second, i, packs.first)", "floats", "elementwise writes two results"),
    Wrong("a pair is taken the wrong way round", "elementwise.h", "{x[e], x[e + 1]}", "{x[e + 1], x[e]}", "halves", PAIRS),
    Wrong("a factory's functor is the host's", "functors.h", "return {*factor};", "return {3};",
          "floats", "elementwise takes a scalar that a kernel has just computed"),
    Wrong("a NaN is rectified", "functors.h", "Wide<T>(x) <= Wide<T>(0) ? T(Wide<T>(0)) : x",
          "Wide<T>(x) > Wide<T>(0) ? x : T(Wide<T>(0))", "halves", "elementwise relu lets NaN pass, and never gives -0"),
    Wrong("-infinity is not bounded", "functors.h", "return x < least ? least : x;", "return x;",
          "halves", "elementwise GELUs of all halves and bfloat16s"),
    Wrong("a pair's first half is done twice", "functors.h", "gelu_tanh<__half>(v.y)", "gelu_tanh<__half>(v.x)",
          "halves", PAIRS),
    Wrong("half of a derivative is left out", "functors.h", "sigmoid * (1.f - sigmoid)", "sigmoid",
          "floats", "elementwise writes two results"),
    Wrong("a product is rounded before the sum", "functors.h", "fma(Wide<T>(a), Wide<T>(b), Wide<T>(c))",
          "__fadd_rn(__fmul_rn(a, b), c)", "floats", "elementwise rounds a product and a sum once"),
    Wrong("too large a fraction is not held back", "functors.h", "if (x >= From(kEnd<To>)) return kMost<To>;", "",
          "casts_of_fractions", CASTS),
    Wrong("a whole number is rounded twice", "functors.h", "return To(x);", "return To(float(x));", "casts_of_whole", CASTS),
    Wrong("a NaN becomes whatever the hardware says", "functors.h", "x == x ? To(x) : To(0)", "To(x)", "casts_of_fractions", CASTS),
]

# What a functor may not be, and the sentence that says so.
REFUSALS = {
    "Apply2 is overloaded or a template": ["""
        struct F {
          __device__ __half operator()(__half x) const { return x; }
          __device__ __half2 Apply2(__half2 x) const { return x; }
          __device__ float2 Apply2(float2 x) const { return x; }
        };""", """
        struct F {
          __device__ __half operator()(__half x) const { return x; }
          template <class P> __device__ P Apply2(P x) const { return x; }
        };"""],
    "Apply2 does not turn a pair of each operand into a pair of results": ["""
        struct F {
          __device__ __half operator()(__half x) const { return x; }
          __device__ float2 Apply2(__half2 x) const { return __half22float2(x); }
        };""", """
        struct F {
          __device__ __half operator()(__half x) const { return x; }
          __device__ void Apply2(__half2* y, const __half2* x) const { *y = *x; }
        };"""],
    "an element of more than 16 bytes fits no access": ["""
        struct Large { double v[3]; };
        struct F { __device__ Large operator()(Large x) const { return x; } };
        #define TYPE Large"""],
    "a functor is a class that is not final": ["""
        struct F final { __device__ __half operator()(__half x) const { return x; } };"""],
    "": ["""
        struct F {
          __device__ __half operator()(__half x) const { return x; }
          __device__ __half2 Apply2(__half2 x) const { return x; }
        };"""],
}
CALL = """
#ifndef TYPE
#define TYPE __half
#endif
const char* call(int64_t n, TYPE* r, const TYPE* a) { return elementwise::unary(F{}, n, r, a, nullptr); }
"""


@takes_minutes
def test_each_is_caught():
    judge(Engine("elementwise", "chapters/13_elementwise"), WRONG)


class TestFunctors:
    """What does not compile says why; and the last one compiles."""

    def test_say_what_is_wrong_with_them(self):
        for sentence, functors in REFUSALS.items():
            for functor in functors:
                status, said = self.compiled(functor)
                assert (status == 0) == (not sentence), said
                assert sentence in said

    @staticmethod
    def compiled(functor):
        with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
            file.write(f'#include "chapters/13_elementwise/elementwise.h"\n{functor}\n{CALL}')
            file.flush()
            done = subprocess.run([toolchain.nvcc(ROOT), "-std=c++20", "-arch=compute_90", "-ptx", f"-I{ROOT}",
                                   file.name, "-o", "/dev/null"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
