// Chapter 16, ballot: fused, one element per thread.
//
// New:   one kernel normalises, adds, rectifies and votes, and one takes all of
//        it back; neither needs what the other kept but a bit per element.
// Why:   y goes to memory once instead of three times, and the sums backward
//        read dy as it came, with the mask.
// Price: every element has its channel to find, and a thread keeps only its own
//        few bytes in flight.

#include "chapters/16_bn_relu/normalise.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

template <class T>
__global__ void bn_relu_kernel(const __grid_constant__ Task task,
                               Elements<T> at, const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  float v = 0.f;
  if (i < task.n) {
    v = normalised(to_float(at.x[i]), channels[Place(task, i).channel()]);
    if (at.addend) v += to_float(at.addend[i]);
    const T y = rounded<T>(at.relu ? rectified(v) : v);
    at.y[i] = y;
    v = to_float(y);
  }
  const uint32_t word = __ballot_sync(~0u, v > 0.f);
  if (at.mask && i < task.n && i % 32 == 0) at.mask[i / 32] = word;
}

template <class T>
__global__ void bn_relu_backward_kernel(const __grid_constant__ Task task,
                                        ElementSlopes<T> at,
                                        const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const auto find = [&](int64_t c) { return channels[c]; };
  backward<1>(task, at, InRows(task, find), i);
}

}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  const Task task(shape_of(what));
  const Lent lent(scratch, task.shape);
  const Plan plan = alone(task.shape, what.element, at.x);
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    find_sums<Moments>(task, plan, statistics_of<T>(what, at), lent, stream);
    if (task.n == 0) return;
    bn_relu_kernel<<<tiles_of(task.n, 1), kBlock, 0, stream>>>(
        task, elements_of<T>(what, at), lent.channels);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  const Task task(shape_of(what));
  const Lent lent(scratch, task.shape);
  const Plan plan = alone(task.shape, what.element, at.x, at.dy);
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const ElementSlopes<T> ends = slopes_of<T>(what, at);
    find_sums<Gradients>(task, plan, ends.from, lent, stream);
    if (task.n == 0) return;
    bn_relu_backward_kernel<<<tiles_of(task.n, 1), kBlock, 0, stream>>>(
        task, ends, lent.channels);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
