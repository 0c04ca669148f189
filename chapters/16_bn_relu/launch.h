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

// Calls f with what finds the channels of this thread's packs, and with the
// first one's first element, if there is a tile for this block. A warp's packs
// are side by side. The first block has the last tile: what was read last is
// the likeliest to be in the L2 cache.
template <int kPack, int kEach = 1, class Channels, class F>
__device__ void the_tile(const Task& task, Channels channels, F f) {
  const int64_t tile = tiles_of(task.n, kEach * kPack) - 1 - blockIdx.x;
  if (tile < 0) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x - lane;
  f(InRows(task, [&](int64_t c) { return channels[c]; }),
    ((tile * kBlock + warp) * kEach + lane) * kPack);
}

// ---- Two launches -----------------------------------------------------------

template <int kPack, class T>
__global__ void __launch_bounds__(kBlock)
    forward_kernel(const __grid_constant__ Task task, Elements<T> at,
                   const Channel* channels) {
  the_tile<kPack>(task, channels, [&](const auto& of, int64_t i) {
    forward<kPack>(task, at, of, i);
  });
}

template <int kPack, class T>
__global__ void __launch_bounds__(kBlock)
    backward_kernel(const __grid_constant__ Task task, ElementSlopes<T> at,
                    const Channel* channels) {
  the_tile<kPack>(task, channels, [&](const auto& of, int64_t i) {
    backward<kPack>(task, at, of, i);
  });
}

// ---- A call -----------------------------------------------------------------

inline cudaLaunchConfig_t config_with(cudaLaunchAttribute* attribute,
                                      int64_t grid, int block,
                                      cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(block);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = 1;
  return config;
}

// So that all blocks are on the GPU at once, and can wait for each other.
template <class... Parameters, class... Arguments>
void launch_together(void (*kernel)(Parameters...), int64_t grid, int block,
                     cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  const auto config = config_with(&together, grid, block, stream);
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

// So that it may begin as soon as there is room, once all blocks of the kernel
// in front have let it. A kernel that was compiled for an older GPU than Hopper
// does not know how to wait.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), int64_t grid,
                  cudaStream_t stream, const Arguments&... arguments) {
  cudaFuncAttributes compiled;
  CUDA_CHECK(cudaFuncGetAttributes(&compiled, kernel));
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  auto config = config_with(&early, grid, kBlock, stream);
  config.numAttrs = compiled.ptxVersion >= 90;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

// What both directions share.
template <class T>
struct Call {
  Task task;
  Plan plan;
  Lent lent;
  bool aligned;  // So that packs can be used.
  int sms = attribute(cudaDevAttrMultiProcessorCount);
  int64_t room = int64_t{kResident} * sms;
  Columns columns = columns_of(task.shape, kWidest<T>, aligned ? sms : 0);

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
    launch_together(kernel, grid, kBlock, stream, arguments...);
  }
  // The same with columns.h's kernels, if x can be cut up so. Whether it was.
  template <class... Parameters, class... Arguments>
  bool in_columns(void (*kernel)(Parameters...), cudaStream_t stream,
                  Arguments... arguments) const {
    if (columns.groups == 0) return false;
    launch_together(kernel, int64_t{columns.groups} * columns.parts, kTall,
                    stream, columns, arguments..., lent);
    return true;
  }
  // Calls launch(elements of a pack, packs of a thread, blocks). Where there
  // are blocks enough, each thread has several packs.
  template <class F>
  void in_long_launch(F launch) const {
    constexpr int kPack = kWidest<T>;
    const int64_t tiles = tiles_of(task.n, kMany * kPack);
    if (!aligned || tiles < room)
      return in_second_launch([&](auto pack, int64_t grid) {
        launch(pack, std::integral_constant<int, 1>{}, grid);
      });
    launch(std::integral_constant<int, kPack>{},
           std::integral_constant<int, kMany>{}, tiles);
    CUDA_CHECK(cudaGetLastError());
  }
  // Calls launch(elements of a pack, blocks).
  template <class F>
  void in_second_launch(F launch) const {
    if (task.n == 0) return;
    with_pack<T>(aligned, [&](auto pack) {
      launch(pack, tiles_of(task.n, pack.value));
    });
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

  void find_channels(cudaStream_t stream) const {
    find_sums<Moments>(this->task, this->plan, channels, this->lent, stream);
  }
  void in_two_launches(cudaStream_t stream) const {
    find_channels(stream);
    this->in_second_launch([&](auto pack, int64_t grid) {
      forward_kernel<pack.value>
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

  void find_channels(cudaStream_t stream) const {
    find_sums<Gradients>(this->task, this->plan, at.from, this->lent, stream);
  }
  void in_two_launches(cudaStream_t stream) const {
    find_channels(stream);
    this->in_second_launch([&](auto pack, int64_t grid) {
      backward_kernel<pack.value>
          <<<grid, kBlock, 0, stream>>>(this->task, at, this->lent.channels);
    });
  }
};

}  // namespace batch_norm
