// Chapter 16: one launch where x fits, else two.
#pragma once

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

// This block's last tile, and the first element of a thread's pack in a tile.
template <class T>
__device__ int64_t last_tile(const Task& task) {
  constexpr int kTile = kBlock * kWidest<T>;
  return (task.n + kTile - 1) / kTile - 1 - blockIdx.x;
}
template <class T>
__device__ int64_t first_of(int64_t tile) {
  return (tile * kBlock + threadIdx.x) * kWidest<T>;
}

// ---- Two launches -----------------------------------------------------------

template <int kPack, class T>
__global__ void forward_kernel(const __grid_constant__ Task task,
                               Elements<T> at, const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const auto find = [&](int64_t c) { return channels[c]; };
  forward<kPack>(task, at, find, i * kPack);
}

template <int kPack, class T>
__global__ void backward_kernel(const __grid_constant__ Task task,
                                ElementSlopes<T> at, const Channel* channels) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const auto find = [&](int64_t c) { return channels[c]; };
  backward<kPack>(task, at, find, i * kPack);
}

// ---- A call -----------------------------------------------------------------

// What both directions share.
template <class T>
struct Call {
  Task task;
  Lent lent;
  bool aligned;        // So that packs can be used.
  int64_t read_twice;  // Bytes.

  bool fits() const {
    return aligned && task.n > 0 &&
           fits_in(read_twice, attribute(cudaDevAttrL2CacheSize));
  }
  template <class... Parameters, class... Arguments>
  void in_one_launch(void (*kernel)(Parameters...), cudaStream_t stream,
                     Arguments... arguments) const {
    const int64_t most =
        int64_t{kResident} * attribute(cudaDevAttrMultiProcessorCount);
    const int64_t grid = std::min(most, tiles_of(task.n, kWidest<T>));
    void* pointers[] = {&arguments...};
    CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(kBlock),
                                           pointers, 0, stream));
  }
};

template <class T>
struct Forward : Call<T> {
  Plan plan;
  Statistics<T> channels;
  Elements<T> at;

  Forward(const BnRelu& what, const BnReluForward& of, float* scratch)
      : Call<T>{Task(shape_of(what)), Lent(scratch, shape_of(what)),
                aligned_to(16, of.x, of.addend, of.y),
                shape_of(what).n() * int64_t{sizeof(T)}},
        plan(plan_of(this->task.shape, what.element, of.x)),
        channels(statistics_of<T>(what, of)),
        at(elements_of<T>(what, of)) {}

  void in_two_launches(cudaStream_t stream) const {
    find_sums<Moments>(this->task, plan, channels, this->lent, stream);
    if (this->task.n == 0) return;
    with_pack<T>(this->aligned, [&](auto pack) {
      forward_kernel<pack.value>
          <<<tiles_of(this->task.n, pack.value), kBlock, 0, stream>>>(
              this->task, at, this->lent.channels);
      CUDA_CHECK(cudaGetLastError());
    });
  }
};

template <class T>
struct Backward : Call<T> {
  Plan plan;
  ElementSlopes<T> at;

  Backward(const BnRelu& what, const BnReluBackward& of, float* scratch)
      : Call<T>{Task(shape_of(what)), Lent(scratch, shape_of(what)),
                aligned_to(16, of.dy, of.x, of.dx, of.d_addend),
                2 * shape_of(what).n() * int64_t{sizeof(T)}},
        plan(plan_of(this->task.shape, what.element, of.x, of.dy)),
        at(slopes_of<T>(what, of)) {}

  void in_two_launches(cudaStream_t stream) const {
    find_sums<Gradients>(this->task, plan, at.from, this->lent, stream);
    if (this->task.n == 0) return;
    with_pack<T>(this->aligned, [&](auto pack) {
      backward_kernel<pack.value>
          <<<tiles_of(this->task.n, pack.value), kBlock, 0, stream>>>(
              this->task, at, this->lent.channels);
      CUDA_CHECK(cudaGetLastError());
    });
  }
};

}  // namespace batch_norm
