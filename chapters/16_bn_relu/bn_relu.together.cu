// Chapter 16, together: BatchNorm, addition and ReLU in one launch.
//
// New:   all blocks find the statistics, meet, and then normalise a tile each.
// Why:   small arrays are as fast as their launches, and one is less than two;
//        what was read a moment ago is in the L2 cache still.
// Price: the whole grid has to be on the GPU at once. Arrays with more tiles
//        than there is room for, or misaligned ones, take two launches.

#include <cooperative_groups.h>

#include "chapters/16_bn_relu/columns.h"
#include "chapters/16_bn_relu/launch.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

template <class Sums, class T>
__global__ void __launch_bounds__(kBlock, kResident)
    bn_relu_kernel(const __grid_constant__ Task task,
                   const __grid_constant__ Plan plan,
                   const __grid_constant__ Statistics<T> channels,
                   const __grid_constant__ Elements<T> at, Lent lent) {
  sum_parts<Sums>(task, plan, channels, lent);
  cooperative_groups::this_grid().sync();
  the_tile<kWidest<T>>(task, lent.channels, [&](const auto& of, int64_t i) {
    forward<kWidest<T>>(task, at, of, i);
  });
}

template <class Sums, class T>
__global__ void __launch_bounds__(kBlock, kResident)
    bn_relu_backward_kernel(const __grid_constant__ Task task,
                            const __grid_constant__ Plan plan,
                            const __grid_constant__ ElementSlopes<T> at,
                            Lent lent) {
  sum_parts<Sums>(task, plan, at.from, lent);
  cooperative_groups::this_grid().sync();
  the_tile<kWidest<T>>(task, lent.channels, [&](const auto& of, int64_t i) {
    backward<kWidest<T>>(task, at, of, i);
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
    if (!call.fits()) return call.in_two_launches(stream);
    with_sums<T, Moments>(call.plan, [&](auto sums) {
      call.in_one_launch(bn_relu_kernel<decltype(sums), T>, stream, call.task,
                         call.plan, call.channels, call.at, call.lent);
    });
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Backward<T> call(what, at, scratch);
    if (call.in_columns(backward_columns_kernel<T>, stream, call.at)) return;
    if (!call.fits()) return call.in_two_launches(stream);
    with_sums<T, Gradients>(call.plan, [&](auto sums) {
      call.in_one_launch(bn_relu_backward_kernel<decltype(sums), T>, stream,
                         call.task, call.plan, call.at, call.lent);
    });
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
