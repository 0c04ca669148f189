// Chapter 16: one launch where x fits, else two.
#pragma once

#include <type_traits>

#include "chapters/16_bn_relu/normalise.h"

namespace batch_norm {

// ---- One launch -------------------------------------------------------------

// All parts of all channels, shared between the blocks of the grid.
template <class Sums>
__device__ void sum_parts(const Task& task, const Plan& plan,
                          const typename Sums::Ends& ends, const Lent& lent) {
  const int64_t all = plan.groups * plan.parts;
  for (int64_t k = blockIdx.x; k < all; k += gridDim.x)
    sum_part<Sums>(task, plan, ends, lent, k % plan.groups,
                   static_cast<int>(k / plan.groups));
}

template <class T>
constexpr int kWidest = 16 / sizeof(T);

// Calls f with what finds the channels of this thread's pack, and with the
// pack's first element, if there is a tile for this block. The first block has
// the last tile: what was read last is the likeliest to be in the L2 cache.
template <int kPack, class F>
__device__ void the_tile(const Task& task, const Channel* channels, F f) {
  const int64_t tile = tiles_of(task.n, kPack) - 1 - blockIdx.x;
  if (tile < 0) return;
  f(InRows(task, [&](int64_t c) { return channels[c]; }),
    (tile * kBlock + threadIdx.x) * kPack);
}

// ---- Two launches -----------------------------------------------------------

// The same for some tiles, all channels apart.
template <int kPack, class F>
__device__ void tiles_in_columns(const Task& task, const Channel* channels,
                                 F f) {
  const auto first = [](int64_t tile) {
    return (tile * kBlock + threadIdx.x) * kPack;
  };
  int64_t tile = tiles_of(task.n, kPack) - 1 - blockIdx.x;
  if (tile < 0) return;
  const InColumns<kPack> of(
      task, [&](int64_t c) { return channels[c]; }, first(tile));
  for (; tile >= 0; tile -= gridDim.x) f(of, first(tile));
}

template <bool kInColumns, int kPack, class F>
__device__ void normalise(const Task& task, const Channel* channels, F f) {
  if constexpr (kInColumns) {
    tiles_in_columns<kPack>(task, channels, f);
  } else {
    the_tile<kPack>(task, channels, f);
  }
}

template <bool kInColumns, int kPack, class T>
__global__ void __launch_bounds__(kBlock)
    forward_kernel(const __grid_constant__ Task task, Elements<T> at,
                   const Channel* channels) {
  normalise<kInColumns, kPack>(task, channels, [&](const auto& of, int64_t i) {
    forward<kPack>(task, at, of, i);
  });
}

template <bool kInColumns, int kPack, class T>
__global__ void __launch_bounds__(kBlock)
    backward_kernel(const __grid_constant__ Task task, ElementSlopes<T> at,
                    const Channel* channels) {
  normalise<kInColumns, kPack>(task, channels, [&](const auto& of, int64_t i) {
    backward<kPack>(task, at, of, i);
  });
}

// ---- A call -----------------------------------------------------------------

// What both directions share.
template <class T>
struct Call {
  Task task;
  Plan plan;
  Lent lent;
  bool aligned;  // So that packs can be used.
  int64_t room = int64_t{kResident} * attribute(cudaDevAttrMultiProcessorCount);

  // Whether there is room for a block of each tile. Where tiles would have to
  // take turns, a second launch is faster: its blocks have more of an SM.
  bool fits() const {
    return aligned && task.n > 0 && tiles_of(task.n, kWidest<T>) <= room;
  }
  template <class... Parameters, class... Arguments>
  void in_one_launch(void (*kernel)(Parameters...), cudaStream_t stream,
                     Arguments... arguments) const {
    const int64_t parts = plan.groups * plan.parts;
    const int64_t grid = std::clamp(parts, tiles_of(task.n, kWidest<T>), room);
    void* pointers[] = {&arguments...};
    CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(kBlock),
                                           pointers, 0, stream));
  }
  // Calls launch(whether in columns, elements of a pack, blocks).
  template <class F>
  void in_second_launch(F launch) const {
    if (task.n == 0) return;
    const int64_t step =
        aligned ? blocks_in_columns(task.shape, kWidest<T>, room) : 0;
    if (step > 0) {
      const int64_t tiles = tiles_of(task.n, kWidest<T>);
      launch(std::true_type(), std::integral_constant<int, kWidest<T>>(),
             std::min((tiles + step - 1) / step, room / step) * step);
    } else {
      with_pack<T>(aligned, [&](auto pack) {
        launch(std::false_type(), pack, tiles_of(task.n, pack.value));
      });
    }
    CUDA_CHECK(cudaGetLastError());
  }
};

template <class T>
struct Forward : Call<T> {
  Statistics<T> channels;
  Elements<T> at;

  Forward(const BnRelu& what, const BnReluForward& of, float* scratch)
      : Call<T>{Task(shape_of(what)),
                plan_of(shape_of(what), what.element, of.x),
                Lent(scratch, shape_of(what)),
                aligned_to(16, of.x, of.addend, of.y)},
        channels(statistics_of<T>(what, of)),
        at(elements_of<T>(what, of)) {}

  void in_two_launches(cudaStream_t stream) const {
    find_sums<Moments>(this->task, this->plan, channels, this->lent, stream);
    this->in_second_launch([&](auto columns, auto pack, int64_t grid) {
      forward_kernel<columns.value, pack.value>
          <<<grid, kBlock, 0, stream>>>(this->task, at, this->lent.channels);
    });
  }
};

template <class T>
struct Backward : Call<T> {
  ElementSlopes<T> at;

  Backward(const BnRelu& what, const BnReluBackward& of, float* scratch)
      : Call<T>{Task(shape_of(what)),
                plan_of(shape_of(what), what.element, of.x, of.dy),
                Lent(scratch, shape_of(what)),
                aligned_to(16, of.dy, of.x, of.dx, of.d_addend)},
        at(slopes_of<T>(what, of)) {}

  void in_two_launches(cudaStream_t stream) const {
    find_sums<Gradients>(this->task, this->plan, at.from, this->lent, stream);
    this->in_second_launch([&](auto columns, auto pack, int64_t grid) {
      backward_kernel<columns.value, pack.value>
          <<<grid, kBlock, 0, stream>>>(this->task, at, this->lent.channels);
    });
  }
};

}  // namespace batch_norm
