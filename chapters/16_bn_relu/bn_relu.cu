// Chapter 16: BatchNorm, addition and ReLU; the second kernel begins early.
//
// New:   a thread asks for its elements, and then waits for the statistics.
// Why:   between two kernels a GPU does next to nothing; small arrays feel it.
// Price: what a thread does before it waits must not need the kernel in front.

#include "chapters/16_bn_relu/columns.h"
#include "chapters/16_bn_relu/launch.h"
#include "common/bn_relu.h"

namespace {
using namespace batch_norm;
// The channels, as the kernel in front finds them.
struct Awaited {
  const Channel* channels;

  __device__ Channel operator[](int64_t c) const {
#if __CUDA_ARCH__ >= 900  // Older GPUs begin no kernel early.
    cudaGridDependencySynchronize();
#endif
    return channels[c];
  }
};

template <int kPack, int kEach, class T>
__global__ void __launch_bounds__(kBlock, kResident)
    bn_relu_kernel(const __grid_constant__ Task task, Elements<T> at,
                   Awaited channels) {
  the_tile<kPack, kEach>(task, channels, [&](const auto& of, int64_t i) {
    forward<kPack, kEach>(task, at, of, i);
  });
}

template <int kPack, class T>
__global__ void __launch_bounds__(kBlock)
    bn_relu_backward_kernel(const __grid_constant__ Task task,
                            ElementSlopes<T> at, Awaited channels) {
  the_tile<kPack>(task, channels, [&](const auto& of, int64_t i) {
    backward<kPack>(task, at, of, i);
  });
}
}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Forward<T> call(what, at, scratch);
    if (call.in_columns(columns_kernel<T>, stream, call.channels, call.at))
      return;
    call.find_channels(stream);
    call.in_long_launch([&](auto pack, auto each, int64_t grid) {
      launch_early(bn_relu_kernel<pack.value, each.value, T>, grid, stream,
                   call.task, call.at, Awaited{call.lent.channels});
    });
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Backward<T> call(what, at, scratch);
    if (call.in_columns(backward_columns_kernel<T>, stream, call.at)) return;
    call.find_channels(stream);
    call.in_second_launch([&](auto pack, int64_t grid) {
      launch_early(bn_relu_backward_kernel<pack.value, T>, grid, stream,
                   call.task, call.at, Awaited{call.lent.channels});
    });
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}
int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
