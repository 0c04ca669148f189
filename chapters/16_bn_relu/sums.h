// Chapter 16: how blocks, and the threads of a block, sum up their parts of the
// channels.
#pragma once

#include "chapters/16_bn_relu/moments.h"

namespace batch_norm {

// The caller's scratch. Counters and meetings come first, so that every shape
// has them in the same place: each call leaves them ready for any other.
struct Lent {
  unsigned *counters, *meetings;
  Channel* channels;
  void* parts;

  Lent(float* scratch, const Shape& shape)
      : counters(reinterpret_cast<unsigned*>(scratch)),
        meetings(counters + kMostShared),
        channels(reinterpret_cast<Channel*>(meetings + kMostShared)),
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

// What the lane has that comes `far` lanes after this one.
template <class Sums>
__device__ Sums of_lane_behind(const Sums& mine, int far) {
  struct Words {
    unsigned word[sizeof(Sums) / sizeof(unsigned)];
  };
  auto words = __builtin_bit_cast(Words, mine);
  for (unsigned& word : words.word) word = __shfl_down_sync(~0u, word, far);
  return __builtin_bit_cast(Sums, words);
}

// Member 0 of each team gets what all of them have: lanes by shuffles, and then
// warp by warp, through shared memory.
template <class Sums>
__device__ void meet(Sums* mine, const Plan& plan, const Seat& seat) {
  __shared__ Sums shared[kBlock / 32][32];
  for (int far = 16; far >= seat.apart; far /= 2)
    mine->join(of_lane_behind(*mine, far));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warps = plan.columns ? kBlock / 32 : plan.members / 32;
  __syncthreads();  // The block's channels before these have been read.
  if (lane < seat.apart) shared[warp][lane] = *mine;
  __syncthreads();
  if (seat.member > 0) return;
  for (int next = 1; next < warps; ++next)
    mine->join(shared[warp + next][lane]);
}

// Where a thread's loads begin, if they are a step apart in a channel whose
// rows lie apart. Dividing once is enough: a step is so many rows and packs.
template <int kPack>
class Walk {
 public:
  __device__ Walk(const Task& task, int64_t channel, int64_t p, int64_t step)
      : in_row_(task.shape.inner / kPack) {
    const int64_t apart = task.shape.channels * task.shape.inner;  // Of rows.
    const int64_t row = task.by_inner.divide(p * kPack);
    const int64_t rows = task.by_inner.divide(step * kPack);
    pack_ = p - row * in_row_;
    packs_ = step - rows * in_row_;
    i_ = row * apart + channel * task.shape.inner + pack_ * kPack;
    step_ = rows * apart + packs_ * kPack;
    to_next_row_ = apart - in_row_ * kPack;
  }
  // The element that the next load begins with.
  __device__ int64_t next() {
    const int64_t i = i_;
    i_ += step_;
    pack_ += packs_;
    if (pack_ >= in_row_) {
      pack_ -= in_row_;
      i_ += to_next_row_;
    }
    return i;
  }

 private:
  int64_t in_row_, pack_, packs_, i_, step_, to_next_row_;
};

// What a block does for its part of a group's channels.
template <class Sums>
__device__ void sum_part(const Task& task, const Plan& plan,
                         const typename Sums::Ends& ends, const Lent& lent,
                         int64_t group, int part) {
  constexpr int kPack = Sums::kPack, kAtOnce = Sums::kAtOnce;
  const Seat seat(plan);
  const Shape& shape = task.shape;
  const int64_t channel = group * plan.teams + seat.team;
  const bool has_channel = channel < shape.channels;
  const float shift = has_channel && task.n > 0
                          ? Sums::shift(ends, channel * shape.inner, channel)
                          : 0.f;

  const int64_t loads = has_channel ? shape.of_each() / kPack : 0;
  const int64_t step = int64_t{plan.parts} * plan.members;
  int64_t p = int64_t{part} * plan.members + seat.member;
  Walk<kPack> walk(task, channel, p, step);
  Sums sums = {};
  for (; p + (kAtOnce - 1) * step < loads; p += kAtOnce * step) {
    typename Sums::Loaded round[kAtOnce];
#pragma unroll
    for (auto& loaded : round) loaded = Sums::fetch(ends, walk.next());
    sums.add(round, shift);
  }
  // What is left is asked for at once, too.
  typename Sums::Loaded rest[kAtOnce - 1][1];
#pragma unroll
  for (int k = 0; k < kAtOnce - 1; ++k)
    if (p + k * step < loads) rest[k][0] = Sums::fetch(ends, walk.next());
#pragma unroll
  for (int k = 0; k < kAtOnce - 1; ++k)
    if (p + k * step < loads) sums.add(rest[k], shift);

  const bool finishes = has_channel && seat.member == 0;
  typename Sums::Known known = {};
  if (finishes) known = Sums::known(ends, channel);
  meet(&sums, plan, seat);

  if (plan.parts > 1) {
    Sums* const parts = static_cast<Sums*>(lent.parts) +
                        group * plan.parts * plan.teams + seat.team;
    if (seat.member == 0) parts[part * plan.teams] = sums;
    if (!is_last(lent.counters + group, plan.parts)) return;
    sums = {};
    constexpr int kTogether = 4;
    for (int other = seat.member; other < plan.parts;
         other += kTogether * plan.members) {
      Sums theirs[kTogether] = {};
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if (other + k * plan.members < plan.parts)
          theirs[k] = parts[(other + k * plan.members) * plan.teams];
#pragma unroll
      for (const Sums& its : theirs) sums.join(its);
    }
    meet(&sums, plan, seat);
  }
  if (finishes)
    lent.channels[channel] =
        sums.finish(channel, shift, known, ends, shape.of_each());
}

template <class Sums>
__global__ void __launch_bounds__(kBlock, kResident)
    sums_kernel(const __grid_constant__ Task task,
                const __grid_constant__ Plan plan,
                const __grid_constant__ typename Sums::Ends ends, Lent lent) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // The next kernel may begin.
#endif
  sum_part<Sums>(task, plan, ends, lent, blockIdx.x, blockIdx.y);
}

// ---- The call ---------------------------------------------------------------

// Calls f with what a thread sums up: of one element, or of a pack.
template <class T, template <class, int> class Sums, class F>
void with_sums(const Plan& plan, F f) {
  if (plan.pack == 1) return f(Sums<T, 1>{});
  f(Sums<T, kSumPack>{});
}

template <template <class, int> class Sums, class T,
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
  const int sms = attribute(cudaDevAttrMultiProcessorCount);
  const Columns columns = columns_of(shape, 16 / bytes_of(what.element), sms);
  int64_t most = columns.groups > 0 ? 2 * shape.channels * columns.parts : 0;
  for (const bool aligned : {false, true}) {
    const Plan plan = make_plan(shape, aligned, sms);
    const int64_t sums = plan.parts > 1 ? plan.groups * plan.parts : 0;
    most = std::max(most, sums * plan.teams * 3);  // Floats of Moments.
  }
  return 2 * kMostShared + 4 * shape.channels + most;
}

}  // namespace batch_norm
