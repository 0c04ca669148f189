// Chapter 16, packs: fused, and 16 bytes per access.
//
// New:   a thread takes a pack through BatchNorm, addition, ReLU and mask, and
//        shuffles join the bits of neighbouring packs.
// Why:   x and the addend are read once and y is written once, with as many
//        bytes in flight as in chapter 03.
// Price: a second launch has to read x again. Misaligned arrays travel one
//        element at a time.

#include "chapters/16_bn_relu/normalise.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

template <int kPack, class T>
__global__ void bn_relu_kernel(const __grid_constant__ Task task,
                               Elements<T> at, const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const auto find = [&](int64_t c) { return channels[c]; };
  forward<kPack>(task, at, InRows(task, find), i * kPack);
}

template <int kPack, class T>
__global__ void bn_relu_backward_kernel(const __grid_constant__ Task task,
                                        ElementSlopes<T> at,
                                        const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const auto find = [&](int64_t c) { return channels[c]; };
  backward<kPack>(task, at, InRows(task, find), i * kPack);
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
    with_pack<T>(aligned_to(16, at.x, at.addend, at.y), [&](auto pack) {
      const int64_t grid = tiles_of(task.n, pack.value);
      bn_relu_kernel<pack.value><<<grid, kBlock, 0, stream>>>(
          task, elements_of<T>(what, at), lent.channels);
      CUDA_CHECK(cudaGetLastError());
    });
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
    with_pack<T>(aligned_to(16, at.x, at.dy, at.dx, at.d_addend),
                 [&](auto pack) {
                   const int64_t grid = tiles_of(task.n, pack.value);
                   bn_relu_backward_kernel<pack.value>
                       <<<grid, kBlock, 0, stream>>>(task, ends, lent.channels);
                   CUDA_CHECK(cudaGetLastError());
                 });
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
