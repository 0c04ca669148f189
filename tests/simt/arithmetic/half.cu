// Arithmetic of half and half2.

#include "tests/simt/arithmetic.h"

namespace {

// clang-format off

// f16: add, subtract, multiply.
BINARY(75, f16, f16, f16, "add.f16")
BINARY(75, f16, f16, f16, "add.rn.f16")
BINARY(75, f16, f16, f16, "add.ftz.f16")
BINARY(75, f16, f16, f16, "add.sat.f16")
BINARY(75, f16, f16, f16, "add.ftz.sat.f16")
BINARY(75, f16, f16, f16, "add.rn.ftz.f16")
BINARY(75, f16, f16, f16, "add.rn.sat.f16")
BINARY(75, f16, f16, f16, "sub.f16")
BINARY(75, f16, f16, f16, "sub.rn.f16")
BINARY(75, f16, f16, f16, "sub.ftz.f16")
BINARY(75, f16, f16, f16, "sub.sat.f16")
BINARY(75, f16, f16, f16, "sub.ftz.sat.f16")
BINARY(75, f16, f16, f16, "sub.rn.ftz.f16")
BINARY(75, f16, f16, f16, "sub.rn.sat.f16")
BINARY(75, f16, f16, f16, "mul.f16")
BINARY(75, f16, f16, f16, "mul.rn.f16")
BINARY(75, f16, f16, f16, "mul.ftz.f16")
BINARY(75, f16, f16, f16, "mul.sat.f16")
BINARY(75, f16, f16, f16, "mul.ftz.sat.f16")
BINARY(75, f16, f16, f16, "mul.rn.ftz.f16")
BINARY(75, f16, f16, f16, "mul.rn.sat.f16")

// f16: fused multiply and add.
TERNARY(75, f16, f16, f16, f16, "fma.rn.f16")
TERNARY(75, f16, f16, f16, f16, "fma.rn.ftz.f16")
TERNARY(75, f16, f16, f16, f16, "fma.rn.sat.f16")
TERNARY(80, f16, f16, f16, f16, "fma.rn.relu.f16")
TERNARY(80, f16, f16, f16, f16, "fma.rn.ftz.relu.f16")
TERNARY(75, f16, f16, f16, f16, "fma.rn.ftz.sat.f16")

// f16: sign, minimum, maximum.
UNARY(75, f16, f16, "abs.f16")
UNARY(75, f16, f16, "neg.f16")
UNARY(75, f16, f16, "abs.ftz.f16")
UNARY(75, f16, f16, "neg.ftz.f16")
BINARY(80, f16, f16, f16, "min.f16")
BINARY(80, f16, f16, f16, "min.NaN.f16")
BINARY(90, f16, f16, f16, "min.xorsign.abs.f16")
BINARY(90, f16, f16, f16, "min.NaN.xorsign.abs.f16")
BINARY(80, f16, f16, f16, "min.ftz.f16")
BINARY(80, f16, f16, f16, "min.ftz.NaN.f16")
BINARY(80, f16, f16, f16, "max.f16")
BINARY(80, f16, f16, f16, "max.NaN.f16")
BINARY(90, f16, f16, f16, "max.xorsign.abs.f16")
BINARY(90, f16, f16, f16, "max.NaN.xorsign.abs.f16")
BINARY(80, f16, f16, f16, "max.ftz.f16")
BINARY(80, f16, f16, f16, "max.ftz.NaN.f16")

// f16x2: add, subtract, multiply.
BINARY(75, f16x2, f16x2, f16x2, "add.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.rn.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.ftz.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.rn.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "add.rn.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.rn.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.ftz.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.rn.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "sub.rn.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.rn.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.ftz.sat.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.rn.ftz.f16x2")
BINARY(75, f16x2, f16x2, f16x2, "mul.rn.sat.f16x2")

// f16x2: fused multiply and add.
TERNARY(75, f16x2, f16x2, f16x2, f16x2, "fma.rn.f16x2")
TERNARY(75, f16x2, f16x2, f16x2, f16x2, "fma.rn.ftz.f16x2")
TERNARY(75, f16x2, f16x2, f16x2, f16x2, "fma.rn.sat.f16x2")
TERNARY(80, f16x2, f16x2, f16x2, f16x2, "fma.rn.relu.f16x2")
TERNARY(80, f16x2, f16x2, f16x2, f16x2, "fma.rn.ftz.relu.f16x2")
TERNARY(75, f16x2, f16x2, f16x2, f16x2, "fma.rn.ftz.sat.f16x2")

// f16x2: sign, minimum, maximum.
UNARY(75, f16x2, f16x2, "abs.f16x2")
UNARY(75, f16x2, f16x2, "neg.f16x2")
UNARY(75, f16x2, f16x2, "abs.ftz.f16x2")
UNARY(75, f16x2, f16x2, "neg.ftz.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "min.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "min.NaN.f16x2")
BINARY(90, f16x2, f16x2, f16x2, "min.xorsign.abs.f16x2")
BINARY(90, f16x2, f16x2, f16x2, "min.NaN.xorsign.abs.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "min.ftz.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "min.ftz.NaN.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "max.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "max.NaN.f16x2")
BINARY(90, f16x2, f16x2, f16x2, "max.xorsign.abs.f16x2")
BINARY(90, f16x2, f16x2, f16x2, "max.NaN.xorsign.abs.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "max.ftz.f16x2")
BINARY(80, f16x2, f16x2, f16x2, "max.ftz.NaN.f16x2")

// f16: comparisons.
COMPARE(75, f16, "setp.eq.f16")
COMPARE(75, f16, "setp.ne.f16")
COMPARE(75, f16, "setp.lt.f16")
COMPARE(75, f16, "setp.le.f16")
COMPARE(75, f16, "setp.gt.f16")
COMPARE(75, f16, "setp.ge.f16")
COMPARE(75, f16, "setp.equ.f16")
COMPARE(75, f16, "setp.neu.f16")
COMPARE(75, f16, "setp.ltu.f16")
COMPARE(75, f16, "setp.leu.f16")
COMPARE(75, f16, "setp.gtu.f16")
COMPARE(75, f16, "setp.geu.f16")
COMPARE(75, f16, "setp.num.f16")
COMPARE(75, f16, "setp.nan.f16")

// clang-format on

}  // namespace

int main(int argc, char** argv) { return arithmetic::run_table(argc, argv); }
