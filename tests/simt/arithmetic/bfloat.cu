// Arithmetic of bfloat16, single and in pairs.

#include "tests/simt/arithmetic.h"

namespace {

// clang-format off

// bf16: add, subtract, multiply.
BINARY(90, bf16, bf16, bf16, "add.rn.bf16")
BINARY(90, bf16, bf16, bf16, "sub.rn.bf16")
BINARY(90, bf16, bf16, bf16, "mul.rn.bf16")

// bf16: fused multiply and add.
TERNARY(80, bf16, bf16, bf16, bf16, "fma.rn.bf16")
TERNARY(80, bf16, bf16, bf16, bf16, "fma.rn.relu.bf16")

// bf16: sign, minimum, maximum.
UNARY(80, bf16, bf16, "abs.bf16")
UNARY(80, bf16, bf16, "neg.bf16")
BINARY(80, bf16, bf16, bf16, "min.bf16")
BINARY(80, bf16, bf16, bf16, "min.NaN.bf16")
BINARY(90, bf16, bf16, bf16, "min.xorsign.abs.bf16")
BINARY(90, bf16, bf16, bf16, "min.NaN.xorsign.abs.bf16")
BINARY(80, bf16, bf16, bf16, "max.bf16")
BINARY(80, bf16, bf16, bf16, "max.NaN.bf16")
BINARY(90, bf16, bf16, bf16, "max.xorsign.abs.bf16")
BINARY(90, bf16, bf16, bf16, "max.NaN.xorsign.abs.bf16")

// bf16x2: add, subtract, multiply.
BINARY(90, bf16x2, bf16x2, bf16x2, "add.rn.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "sub.rn.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "mul.rn.bf16x2")

// bf16x2: fused multiply and add.
TERNARY(80, bf16x2, bf16x2, bf16x2, bf16x2, "fma.rn.bf16x2")
TERNARY(80, bf16x2, bf16x2, bf16x2, bf16x2, "fma.rn.relu.bf16x2")

// bf16x2: sign, minimum, maximum.
UNARY(80, bf16x2, bf16x2, "abs.bf16x2")
UNARY(80, bf16x2, bf16x2, "neg.bf16x2")
BINARY(80, bf16x2, bf16x2, bf16x2, "min.bf16x2")
BINARY(80, bf16x2, bf16x2, bf16x2, "min.NaN.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "min.xorsign.abs.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "min.NaN.xorsign.abs.bf16x2")
BINARY(80, bf16x2, bf16x2, bf16x2, "max.bf16x2")
BINARY(80, bf16x2, bf16x2, bf16x2, "max.NaN.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "max.xorsign.abs.bf16x2")
BINARY(90, bf16x2, bf16x2, bf16x2, "max.NaN.xorsign.abs.bf16x2")

// bf16: comparisons.
COMPARE(90, bf16, "setp.eq.bf16")
COMPARE(90, bf16, "setp.ne.bf16")
COMPARE(90, bf16, "setp.lt.bf16")
COMPARE(90, bf16, "setp.le.bf16")
COMPARE(90, bf16, "setp.gt.bf16")
COMPARE(90, bf16, "setp.ge.bf16")
COMPARE(90, bf16, "setp.equ.bf16")
COMPARE(90, bf16, "setp.neu.bf16")
COMPARE(90, bf16, "setp.ltu.bf16")
COMPARE(90, bf16, "setp.leu.bf16")
COMPARE(90, bf16, "setp.gtu.bf16")
COMPARE(90, bf16, "setp.geu.bf16")
COMPARE(90, bf16, "setp.num.bf16")
COMPARE(90, bf16, "setp.nan.bf16")

// clang-format on

}  // namespace

int main(int argc, char** argv) { return arithmetic::run_table(argc, argv); }
