// Wrong on purpose: only lanes with a positive result come to the vote, which
// waits for all 32.

#include "chapters/16_bn_relu/launch.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

template <class T>
__global__ void bn_relu_kernel(const __grid_constant__ Task task,
                               Elements<T> at, const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= task.n) return;
  float v = normalised(to_float(at.x[i]), channels[Place(task, i).channel()]);
  if (at.addend) v += to_float(at.addend[i]);
  const T y = rounded<T>(at.relu ? rectified(v) : v);
  at.y[i] = y;
  uint32_t word = 0;
  if (to_float(y) > 0.f) word = __ballot_sync(~0u, true);
  if (at.mask && i % 32 == 0) at.mask[i / 32] = word;
}

}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    const Forward<decltype(zero)> call(what, at, scratch);
    find_sums<Moments>(call.task, call.plan, call.channels, call.lent, stream);
    if (call.task.n == 0) return;
    bn_relu_kernel<<<tiles_of(call.task.n, 1), kBlock, 0, stream>>>(
        call.task, call.at, call.lent.channels);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    Backward<decltype(zero)>(what, at, scratch).in_two_launches(stream);
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
