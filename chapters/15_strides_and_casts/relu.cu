// Chapter 15: a ReLU by the strided engine.
//
// New:   the function is one of many that the kernel in gpu_kernel.h can apply,
//        to arrays of any types, in any shape and with any strides.
// Why:   the host plans from shapes, strides, types and addresses which path
//        a call takes, so what is in the way of packs is paid for only there.
// Price: a call costs the host a plan, and each function is compiled once for
//        every path.

#include <cstdio>
#include <cstdlib>

#include "chapters/15_strides_and_casts/gpu_kernel.h"
#include "common/relu.h"

namespace {

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
struct Relu {
  __device__ float operator()(float element) const {
    return element <= 0.f ? 0.f : element;
  }
};

// An array of one dimension: its address and type, its sizes and its strides.
strided::Array floats(const float* data, int64_t n) {
  return {reinterpret_cast<uintptr_t>(data), strided::Type::kFloat, {n}, {1}};
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const strided::Error error =
      strided::gpu_kernel(Relu{}, stream, floats(y, n), floats(x, n));
  if (!error) return;
  std::fprintf(stderr, "relu: %s\n", error);
  std::exit(EXIT_FAILURE);
}
