// Chapter 12: a sum by the reduction engine.
//
// New:   the sum of an array is one of many reductions that the kernel in
//        reduce.h can do: any operation, any shape, any of its dimensions.
// Why:   the host plans by shape which thread reads what, so one kernel reads
//        whole packs, along a row or across several, wherever they begin.
// Price: a call costs the host a plan, and a kernel for every shape is longer
//        than one for a row.

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "chapters/12_reduce/reduce.h"
#include "common/sum.h"

namespace {

// All that the engine has to be told of a sum.
struct Add {
  using In = float;
  using Acc = float;
  using Out = float;
  static constexpr bool kIndexed = false, kNeedsOne = false;

  __device__ float identity() const { return 0.f; }
  __device__ float reduce(float sum, float element, int64_t) const {
    // >>> Your code, at most 1 line: return what has been added up, `sum`, with
    // one element more. A thread calls this for each element that it reads.
    return 0.f;  // Remove this line.
    // <<<
  }
  __device__ float combine(float sum, float of_others) const {
    // >>> Your code, at most 1 line: return the sum of all elements of both.
    // The engine calls this for two threads, two warps or two blocks.
    return 0.f;  // Remove this line.
    // <<<
  }
  __device__ float project(float sum, int64_t) const { return sum; }
};

reduction::Plan plan_of(const float* x, float* out, int64_t n) {
  return reduction::plan_for<Add>(x, {{n}, {1}}, {0}, out);
}
// What it needs is the same wherever the arrays begin.
reduction::Plan plan_of(int64_t n) { return plan_of(nullptr, nullptr, n); }

}  // namespace

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const reduction::Plan plan = plan_of(x, out, n);
  const reduction::Error error = reduction::reduce(
      Add{}, plan, x, out, {scratch, plan.scratch_bytes}, stream);
  if (!error) return;
  std::fprintf(stderr, "sum: %s\n", error);
  std::exit(EXIT_FAILURE);
}

int64_t sum_scratch_floats(int64_t n) {
  return plan_of(n).scratch_bytes / static_cast<int64_t>(sizeof(float));
}

// A thread's own numbers, its chains, the team's tree; then the same once more
// with a number from each block.
SumPromise sum_promise(int64_t n) {
  const reduction::Plan plan = plan_of(n);
  const int64_t step = plan.members * plan.grid_y;
  const int64_t own = n / (step * reduction::kAccs) + 2 * plan.along;
  const int64_t tree = std::bit_width(unsigned(plan.members));
  const int64_t parts = plan.grid_y / plan.members + 1;
  return {.depth = own + reduction::kAccs + tree + parts + tree,
          .same_bits = true,
          .denormals = true};
}
