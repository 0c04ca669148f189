// Chapter 12: any reduction of any array, over any of its dimensions.
//
//   Plan plan = plan_for<Op>(x, {{rows, columns}, {columns, 1}}, {1}, out);
//   Error error = reduce(Op{}, plan, x, out, scratch, stream);
//
// with Op = Sum<float> writes the sum of each row of x. plan.h decides which
// thread reads what, access.h where it lies and meet.h how those who share a
// result find each other; here are the kernels and the call.
//
// An operation is a type with these members; operations.h has many:
//
//   using In, Acc, Out;               // What is read, kept, and written.
//   static constexpr bool kIndexed;   // Does reduce() look at the index?
//   static constexpr bool kNeedsOne;  // Must there be an element?
//   Acc identity() const;                            // Changes nothing.
//   Acc reduce(Acc, In value, int64_t index) const;  // A later element.
//   Acc combine(Acc, Acc) const;                     // Two parts make one.
//   Out project(Acc, int64_t n) const;               // Of n elements.
//
// It may have reduce(Acc, const In (&several)[kMany]) too, for many at once.
// The plan decides in which order elements meet. It depends on shape, alignment
// and GPU alone, so the same call gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "chapters/12_reduce/access.h"
#include "chapters/12_reduce/meet.h"
#include "chapters/12_reduce/plan.h"
#include "chapters/12_reduce/plan_for.h"

namespace reduction {

// ---- The kernels ------------------------------------------------------------

// What a thread finds by itself: the loads `first`, `first + step`, ... of the
// row at x, of n elements; place(i, k) is where the k-th from the i-th on lies.
// A thread has kChains accumulators, and in the end `across` results.
template <int kAlong, int kAcross, int kAtOnce, class Op, class Index,
          class Place>
__device__ void add_up(const Op& op, const typename Op::In* x, Index n,
                       Place place, Index first, Index step,
                       typename Op::Acc* acc) {
  using In = typename Op::In;
  using Acc = typename Op::Acc;
  using Loaded = Load<In, kAlong * kAcross>;
  Index head = 0;  // Elements before the first aligned address.
  if (kAlong > 1) {
    head = -(reinterpret_cast<uintptr_t>(x) / sizeof(In)) % kAlong;
    head = head < n ? head : n;
  }
  const Index loads = (n - head) / kAlong;

  // Some members have one of the elements that lie before the first aligned
  // load or after the last. It is asked for before it is needed, too.
  const Index lonely = first < head ? first : first + loads * kAlong;
  const bool has_one = kAlong > 1 && lonely < n;
  const In one = has_one ? x[lonely] : In{};

  // All loads of a round are under way before the first one is needed.
  const auto round = [&](Index i, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    Loaded load[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (!kWhole && i + k * step >= loads) break;
      load[k] = *reinterpret_cast<const Loaded*>(x + head + place(i, k));
    }
    int added = 0;
    if constexpr (kAcross > 1 && takes_several<Op, kAtOnce>) {
#pragma unroll
      for (int e = 0; e < kAcross && kWhole; ++e) {
        In column[kAtOnce];
        for (int k = 0; k < kAtOnce; ++k) column[k] = load[k][e];
        acc[e] = op.reduce(acc[e], column);
      }
      if (kWhole) added = kAtOnce;
    }
#pragma unroll
    for (int k = added; k < kAtOnce; ++k) {
      if (!kWhole && i + k * step >= loads) break;
      if constexpr (kAlong > 1 && takes_several<Op, kAlong>) {
        In row[kAlong];
        std::memcpy(row, &load[k], sizeof row);
        acc[0] = op.reduce(acc[0], row);
      } else {
#pragma unroll
        for (int e = 0; e < kAlong * kAcross; ++e) {
          const int64_t index =
              head + int64_t{i + k * step} * kAlong + (kAcross > 1 ? 0 : e);
          Acc& mine = acc[(kAcross > 1 ? e : k * kAlong + e) % kAccs];
          mine = op.reduce(mine, load[k][e], index);
        }
      }
    }
  };
  Index i = first;
#pragma unroll 1
  for (; i + (kAtOnce - 1) * step < loads; i += kAtOnce * step)
    round(i, std::true_type{});
  if (i < loads) round(i, std::false_type{});

  if constexpr (kAcross == 1) {
    if (has_one)
      acc[0] = op.combine(acc[0], op.reduce(op.identity(), one, lonely));
    for (int a = 1; a < kChains<Op, kAlong, kAcross>; ++a)
      acc[0] = op.combine(acc[0], acc[a]);
  }
}

// The same for any dimensions. Where it is one, a loop of its own has neither
// divisions nor branches.
template <int kAlong, int kAcross, int kAtOnce, class Op, class Index>
__device__ void add_up_any(const Op& op, const typename Op::In* x,
                           const Task<Index>& task, Index first, Index step,
                           typename Op::Acc* acc) {
  const auto add = [&](auto place) {
    add_up<kAlong, kAcross, kAtOnce>(op, x, task.n, place, first, step, acc);
  };
  const Index stride = task.stride;
  // Where there is a second load, it is in reach; else the product may wrap.
  const auto jump = static_cast<Index>(int64_t{step} * stride);
  if (task.straight) {
    add([=](Index i, int k) { return i * stride + int64_t{jump} * k; });
  } else {
    add([&](Index i, int k) { return task.reduced.at(i + k * step).x; });
  }
}

// Results of one element each, all of them equally far apart: there is nothing
// to combine and no index to divide.
template <class Op, class Index, int kAcross>
__global__ void __launch_bounds__(kBlock, kPerSm)
    map_kernel(const Op op, const typename Op::In* __restrict__ x,
               typename Op::Out* __restrict__ out, Index results,
               Index stride) {
  const Index result =
      static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (result >= results) return;
  using Loaded = Load<typename Op::In, kAcross>;
  const auto load = *reinterpret_cast<const Loaded*>(x + result * stride);
  typename Op::Acc acc[kAcross];
  for (int e = 0; e < kAcross; ++e)
    acc[e] = op.reduce(op.identity(), load[e], 0);
  write<kAcross>(op, acc, Index{1}, out + result * kAcross);
}

// Each thread has a result to itself, or several side by side. There is nobody
// to meet, so it takes fewer registers, and more threads fit.
template <class Op, class Index, int kAlong, int kAcross>
__global__ void __launch_bounds__(kBlock, kPerSm)
    alone_kernel(const Op op, const typename Op::In* __restrict__ x,
                 typename Op::Out* __restrict__ out,
                 const __grid_constant__ Task<Index> task) {
  const Index result =
      static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (result >= task.results) return;
  typename Op::Acc acc[kAccs];
  for (auto& a : acc) a = op.identity();
  const auto at = task.kept.at(result);
  add_up_any<kAlong, kAcross, kAlone<Op, kAlong, kAcross>>(
      op, x + at.x, task, Index{0}, Index{1}, acc);
  write<kAcross>(op, acc, task.n, out + at.out);
}

// Each team has one, or several side by side.
template <class Op, class Index, int kAlong, int kAcross>
__global__ void __launch_bounds__(kBlock, kPerSm)
    reduce_kernel(const Op op, const typename Op::In* __restrict__ x,
                  typename Op::Out* __restrict__ out, unsigned* counters,
                  Part<typename Op::Acc, kAcross>* parts,
                  const __grid_constant__ Task<Index> task) {
  const int t = threadIdx.x;
  // Both are powers of two.
  const int near = task.apart == 1 ? task.members : task.teams;
  const int low = t & (near - 1), high = t >> (__ffs(near) - 1);
  const Seat seat = task.apart == 1 ? Seat{high, low} : Seat{low, high};
  const Index first =
      static_cast<Index>(blockIdx.x) * task.teams;  // Of the results.
  typename Op::Acc acc[kAccs];
  for (auto& a : acc) a = op.identity();
  if (first + seat.team < task.results)
    add_up_any<kAlong, kAcross, kInTeam<Op, kAlong, kAcross>>(
        op, x + task.kept.at(first + seat.team).x, task,
        Index(blockIdx.y * task.members + seat.member),
        Index(gridDim.y * task.members), acc);
  Seat holder = meet<kAcross>(op, task, seat, acc);

  if (gridDim.y > 1) {
    parts += int64_t{blockIdx.x} * gridDim.y * task.teams;
    if (holder.member == 0 && holder.team < task.teams)
      for (int v = 0; v < kAcross; ++v)
        parts[blockIdx.y * task.teams + holder.team].v[v] = acc[v];
    if (!is_last(counters + blockIdx.x)) return;
    for (auto& a : acc) a = op.identity();
    gather<kAcross>(op, task, seat, parts, acc);
    holder = meet<kAcross>(op, task, seat, acc);
  }
  const Index result = first + holder.team;
  if (holder.member > 0 || holder.team >= task.teams || result >= task.results)
    return;
  write<kAcross>(op, acc, task.n, out + task.kept.at(result).out);
}

// ---- The call ---------------------------------------------------------------

template <class Index, int kAlong, int kAcross, class Op>
void launch(const Op& op, const Plan& plan, const typename Op::In* x,
            typename Op::Out* out, const Scratch& scratch,
            cudaStream_t stream) {
  auto* const counters = static_cast<unsigned*>(scratch.data);
  auto* const parts = reinterpret_cast<Part<typename Op::Acc, kAcross>*>(
      static_cast<char*>(scratch.data) + plan.counter_bytes);
  const Task<Index> task(plan);
  if constexpr (kAlong == 1) {
    if (plan.n == 1 && plan.kept.rank == 1) {
      map_kernel<Op, Index, kAcross><<<plan.grid_x, plan.teams, 0, stream>>>(
          op, x, out, task.results,
          static_cast<Index>(plan.kept.dim[0].stride));
      return;
    }
  }
  if (plan.members * plan.grid_y == 1) {
    alone_kernel<Op, Index, kAlong, kAcross>
        <<<plan.grid_x, plan.teams, 0, stream>>>(op, x, out, task);
    return;
  }
  reduce_kernel<Op, Index, kAlong, kAcross>
      <<<dim3(plan.grid_x, plan.grid_y), plan.members * plan.teams, 0,
         stream>>>(op, x, out, counters, parts, task);
}

template <class Index, class Op, class... More>
void launch(const Op& op, const Plan& plan, const More&... more) {
  constexpr int kIn = sizeof(typename Op::In), kAcc = sizeof(typename Op::Acc);
  if (plan.along > 1) {
    launch<Index, pack_of(kIn), 1>(op, plan, more...);
  } else if (plan.across > 1) {
    launch<Index, 1, side_of(kIn, kAcc)>(op, plan, more...);
  } else {
    launch<Index, 1, 1>(op, plan, more...);
  }
}

// Whether an address is whole multiples of so many bytes away from another.
inline bool is_apart(const void* p, uintptr_t other, int bytes) {
  return (reinterpret_cast<uintptr_t>(p) - other) % bytes == 0;
}

// Does what was planned for these very addresses, or others that are aligned as
// they are. Returns what is wrong, and then does nothing.
template <class Op>
Error reduce(const Op& op, const Plan& plan, const typename Op::In* x,
             typename Op::Out* out, const Scratch& scratch,
             cudaStream_t stream) {
  if (plan.error) return plan.error;
  if (plan.kept.count == 0) return nullptr;  // There is no result to find.
  if (!x && plan.n > 0) return "x is a null pointer.";
  if (!out) return "out is a null pointer.";
  if (!is_apart(x, 0, sizeof *x) || !is_apart(out, 0, sizeof *out))
    return "x or out is not aligned to its elements.";
  if (!is_apart(x, plan.at.x, 16) || !is_apart(out, plan.at.out, 16))
    return "x or out is aligned otherwise than it was for the plan.";
  if (plan.scratch_bytes > 0 && !scratch.data)
    return "scratch is a null pointer.";
  if (scratch.bytes < plan.scratch_bytes) return "There is too little scratch.";
  const size_t part = sizeof(typename Op::Acc) * plan.across;
  if (plan.scratch_bytes > 0 && !is_apart(scratch.data, 0, alignment_of(part)))
    return "scratch is not aligned for what a block leaves there.";
  if (plan.wide) {
    launch<int64_t>(op, plan, x, out, scratch, stream);
  } else {
    launch<int>(op, plan, x, out, scratch, stream);
  }
  const cudaError_t error = cudaGetLastError();
  return error ? cudaGetErrorString(error) : nullptr;
}

}  // namespace reduction
