// Chapter 13: a ReLU by the elementwise engine.
//
// New:   ReLU is one of many functions that the kernel in elementwise.h can
//        apply: any functor, any types, arrays that begin anywhere.
// Why:   the functor is a type, so the compiler puts it into the kernel as if
//        it had been written there; the host chooses how wide the packs are.
// Price: a kernel for every functor, for all types and every width of a pack.

#include <cstdio>
#include <cstdlib>

#include "chapters/13_elementwise/elementwise.h"
#include "common/relu.h"

namespace {

// All that the engine has to be told of a ReLU.
struct Rectify {
  __device__ float operator()(float x) const {
    // A NaN is not <= 0, so it passes; -0 is, and becomes +0.
    return x <= 0.f ? 0.f : x;
  }
};

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const auto error = elementwise::unary(Rectify{}, n, y, x, stream);
  if (!error) return;
  std::fprintf(stderr, "relu: %s\n", error);
  std::exit(EXIT_FAILURE);
}
