// Wrong on purpose: backward multiplies by the bit, and 0 times infinity is
// NaN.

#include "chapters/16_bn_relu/launch.h"
#include "chapters/16_bn_relu/unfused.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

template <class T>
__global__ void bn_relu_backward_kernel(const T* dy, const uint32_t* mask, T* g,
                                        int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= n) return;
  const float bit = !mask || mask[i / 32] >> (i % 32) & 1 ? 1.f : 0.f;
  g[i] = rounded<T>(bit * to_float(dy[i]));
}

}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    Forward<decltype(zero)>(what, at, scratch).in_two_launches(stream);
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Backward<T> call(what, at, scratch);
    const int64_t n = call.task.n;
    const float* const end = scratch + (scratch_floats(what) + 3) / 4 * 4;
    T* const between = const_cast<T*>(reinterpret_cast<const T*>(end));
    T* const g = call.at.d_addend ? call.at.d_addend : between;
    Slopes<T> from = call.at.from;
    if (n > 0)
      bn_relu_backward_kernel<<<tiles_of(n, 1), kBlock, 0, stream>>>(
          from.dy, from.mask, g, n);
    from.dy = g;
    from.mask = nullptr;
    find_sums<Gradients>(call.task,
                         alone(call.task.shape, what.element, at.x, g), from,
                         call.lent, stream);
    if (n > 0)
      slope_kernel<<<tiles_of(n, 1), kBlock, 0, stream>>>(
          call.task, g, from.x, call.lent.channels, call.at.dx);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) {
  return (scratch_floats(what) + 3) / 4 * 4 + shape_of(what).n();
}
