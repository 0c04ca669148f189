// Arithmetic of double.

#include "tests/simt/arithmetic.h"

namespace {

// clang-format off

// Add, subtract, multiply, fused, divided, rooted, in four roundings.
BINARY(75, f64, f64, f64, "add.rn.f64")
BINARY(75, f64, f64, f64, "add.rz.f64")
BINARY(75, f64, f64, f64, "add.rm.f64")
BINARY(75, f64, f64, f64, "add.rp.f64")
BINARY(75, f64, f64, f64, "sub.rn.f64")
BINARY(75, f64, f64, f64, "sub.rz.f64")
BINARY(75, f64, f64, f64, "sub.rm.f64")
BINARY(75, f64, f64, f64, "sub.rp.f64")
BINARY(75, f64, f64, f64, "mul.rn.f64")
BINARY(75, f64, f64, f64, "mul.rz.f64")
BINARY(75, f64, f64, f64, "mul.rm.f64")
BINARY(75, f64, f64, f64, "mul.rp.f64")
BINARY(75, f64, f64, f64, "div.rn.f64")
BINARY(75, f64, f64, f64, "div.rz.f64")
BINARY(75, f64, f64, f64, "div.rm.f64")
BINARY(75, f64, f64, f64, "div.rp.f64")
TERNARY(75, f64, f64, f64, f64, "fma.rn.f64")
TERNARY(75, f64, f64, f64, f64, "fma.rz.f64")
TERNARY(75, f64, f64, f64, f64, "fma.rm.f64")
TERNARY(75, f64, f64, f64, f64, "fma.rp.f64")
UNARY(75, f64, f64, "sqrt.rn.f64")
UNARY(75, f64, f64, "sqrt.rz.f64")
UNARY(75, f64, f64, "sqrt.rm.f64")
UNARY(75, f64, f64, "sqrt.rp.f64")
UNARY(75, f64, f64, "rcp.rn.f64")
UNARY(75, f64, f64, "rcp.rz.f64")
UNARY(75, f64, f64, "rcp.rm.f64")
UNARY(75, f64, f64, "rcp.rp.f64")

// Sign, minimum and maximum.
UNARY(75, f64, f64, "abs.f64")
UNARY(75, f64, f64, "neg.f64")
BINARY(75, f64, f64, f64, "copysign.f64")
BINARY(75, f64, f64, f64, "min.f64")
BINARY(75, f64, f64, f64, "max.f64")

// Comparisons and classes.
COMPARE(75, f64, "setp.eq.f64")
COMPARE(75, f64, "setp.ne.f64")
COMPARE(75, f64, "setp.lt.f64")
COMPARE(75, f64, "setp.le.f64")
COMPARE(75, f64, "setp.gt.f64")
COMPARE(75, f64, "setp.ge.f64")
COMPARE(75, f64, "setp.equ.f64")
COMPARE(75, f64, "setp.neu.f64")
COMPARE(75, f64, "setp.ltu.f64")
COMPARE(75, f64, "setp.leu.f64")
COMPARE(75, f64, "setp.gtu.f64")
COMPARE(75, f64, "setp.geu.f64")
COMPARE(75, f64, "setp.num.f64")
COMPARE(75, f64, "setp.nan.f64")
ROW(75, "testp.finite.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.finite.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))
ROW(75, "testp.infinite.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.infinite.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))
ROW(75, "testp.number.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.number.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))
ROW(75, "testp.notanumber.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.notanumber.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))
ROW(75, "testp.normal.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.normal.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))
ROW(75, "testp.subnormal.f64", __LINE__, pred, f64, None, None, asm("{.reg .pred p; testp.subnormal.f64 p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "l"(a)))

// clang-format on

}  // namespace

int main(int argc, char** argv) { return arithmetic::run_table(argc, argv); }
