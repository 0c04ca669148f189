// Chapter 16: how blocks, and the threads of a block, sum up their parts of the
// channels.
#pragma once

#include "chapters/16_bn_relu/moments.h"

namespace batch_norm {

// The caller's scratch. Counters come first, so that every shape has them in
// the same place: each call leaves zeros there.
struct Lent {
  unsigned* counters;
  Channel* channels;
  void* parts;

  Lent(float* scratch, const Shape& shape)
      : counters(reinterpret_cast<unsigned*>(scratch)),
        channels(reinterpret_cast<Channel*>(counters + kMostShared)),
        parts(channels + shape.channels) {}
};

// Where a thread sits: neighbouring lanes read neighbouring elements.
struct Seat {
  int team, member, apart;  // From a member to the next.

  __device__ explicit Seat(const Plan& plan) {
    const int t = threadIdx.x;
    team = plan.columns ? t % plan.teams : t / plan.members;
    member = plan.columns ? t / plan.teams : t % plan.members;
    apart = plan.columns ? plan.teams : 1;
  }
};

// Whether this block is the last of those that share its channels.
__device__ inline bool is_last(unsigned* counter, int parts) {
  __shared__ bool last;
  __threadfence();  // What this block wrote comes before its count.
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, parts - 1) == parts - 1u;
  __syncthreads();
  __threadfence();  // What the others wrote is read after their counts.
  return last;
}

// Member 0 of each team gets what all of them have.
template <class Sums>
__device__ void meet(Sums* mine, const Plan& plan, const Seat& seat) {
  __shared__ Sums shared[kBlock];
  __syncthreads();  // The block's channels before these have been read.
  shared[threadIdx.x] = *mine;
  __syncthreads();
  for (int far = plan.members / 2; far > 0; far /= 2) {
    if (seat.member < far) {
      mine->join(shared[threadIdx.x + far * seat.apart]);
      shared[threadIdx.x] = *mine;
    }
    __syncthreads();
  }
}

// What a block does for its part of a group's channels.
template <class Sums>
__device__ void sum_part(const Task& task, const Plan& plan,
                         const typename Sums::Ends& ends, const Lent& lent,
                         int64_t group, int part) {
  constexpr int kPack = Sums::kPack, kOf = Sums::kOf;
  constexpr int kAtOnce = Sums::kAtOnce;
  const Seat seat(plan);
  const Shape& shape = task.shape;
  const int64_t first = group * plan.channels_of_block() + seat.team * kOf;
  const bool has_channel = first < shape.channels;
  float shift[kOf] = {};
  for (int c = 0; c < kOf && has_channel && task.n > 0; ++c)
    shift[c] = Sums::shift(ends, (first + c) * shape.inner, first + c);

  // The p-th load is in row p / in_row of the channel.
  const int64_t in_row = kOf > 1 ? 1 : shape.inner / kPack;
  const int64_t loads = has_channel ? shape.outer * in_row : 0;
  const auto fetch = [&](int64_t p) {
    const int64_t row = kOf > 1 ? p : task.by_inner.divide(p * kPack);
    const int64_t begin = (row * shape.channels + first) * shape.inner;
    return Sums::fetch(ends, begin + (p - row * in_row) * kPack);
  };
  const int64_t step = int64_t{plan.parts} * plan.members;
  int64_t p = int64_t{part} * plan.members + seat.member;
  Sums sums = {};
  for (; p + (kAtOnce - 1) * step < loads; p += kAtOnce * step) {
    typename Sums::Loaded round[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) round[k] = fetch(p + k * step);
    sums.add(round, shift);
  }
  for (; p < loads; p += step) {
    const typename Sums::Loaded one[1] = {fetch(p)};
    sums.add(one, shift);
  }
  meet(&sums, plan, seat);

  if (plan.parts > 1) {
    Sums* const parts = static_cast<Sums*>(lent.parts) +
                        group * plan.parts * plan.teams + seat.team;
    if (seat.member == 0) parts[part * plan.teams] = sums;
    if (!is_last(lent.counters + group, plan.parts)) return;
    sums = {};
    for (int other = seat.member; other < plan.parts; other += plan.members)
      sums.join(parts[other * plan.teams]);
    meet(&sums, plan, seat);
  }
  if (seat.member > 0 || !has_channel) return;
  for (int c = 0; c < kOf; ++c)
    lent.channels[first + c] =
        sums.finish(c, first + c, shift[c], ends, shape.of_each());
}

template <class Sums>
__global__ void __launch_bounds__(kBlock)
    sums_kernel(const __grid_constant__ Task task,
                const __grid_constant__ Plan plan,
                const __grid_constant__ typename Sums::Ends ends, Lent lent) {
  sum_part<Sums>(task, plan, ends, lent, blockIdx.x, blockIdx.y);
}

// ---- The call ---------------------------------------------------------------

// Calls f with what a thread sums up: of one element, of a pack of one channel,
// or of one element of each of some channels.
template <class T, template <class, int, int> class Sums, class F>
void with_sums(const Plan& plan, F f) {
  if (plan.pack == 1) return f(Sums<T, 1, 1>{});
  if (plan.columns) return f(Sums<T, 1, kSumPack>{});
  f(Sums<T, kSumPack, 1>{});
}

template <template <class, int, int> class Sums, class T,
          template <class> class Ends>
void find_sums(const Task& task, const Plan& plan, const Ends<T>& ends,
               const Lent& lent, cudaStream_t stream) {
  if (plan.groups == 0) return;
  const dim3 grid(plan.groups, plan.parts);
  with_sums<T, Sums>(plan, [&](auto sums) {
    sums_kernel<decltype(sums)>
        <<<grid, kBlock, 0, stream>>>(task, plan, ends, lent);
    CUDA_CHECK(cudaGetLastError());
  });
}

// Enough for every way to read x, wherever it begins.
inline int64_t scratch_floats(const BnRelu& what) {
  const Shape shape = shape_of(what);
  int64_t most = 0;
  for (const bool aligned : {false, true}) {
    const Plan plan =
        make_plan(shape, aligned, attribute(cudaDevAttrMultiProcessorCount));
    const int64_t sums = plan.parts > 1 ? plan.groups * plan.parts : 0;
    const int64_t floats = 1 + 2 * plan.channels_of_thread();  // Of Moments.
    most = std::max(most, sums * plan.teams * floats);
  }
  return kMostShared + 4 * shape.channels + most;
}

}  // namespace batch_norm
