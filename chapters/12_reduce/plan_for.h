// Chapter 12: a plan for an operation, two addresses and the GPU at hand, and
// the memory that a planned call takes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "chapters/12_reduce/plan.h"

namespace reduction {

// Memory for reduce(); its first counter_bytes must be 0 before the first call,
// and are 0 again after each. Calls at the same time need their own. Another
// plan keeps its counters elsewhere: for it they have to be cleared anew.
struct Scratch {
  void* data = nullptr;
  int64_t bytes = 0;
};

inline Error this_gpu(Gpu* gpu) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  for (auto [value, attribute] :
       {std::pair{&gpu->sms, cudaDevAttrMultiProcessorCount},
        {&gpu->threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor}})
    if (!error) error = cudaDeviceGetAttribute(value, attribute, device);
  return error ? cudaGetErrorString(error) : nullptr;
}

// Plans to reduce the dimensions `dims` of x. The others keep their order in
// `out`, whose rows lie one after the other.
template <class Op>
Plan plan_for(const typename Op::In* x, const Shape& shape,
              const std::vector<int>& dims, const typename Op::Out* out) {
  Gpu gpu;
  if (const Error error = this_gpu(&gpu)) return refused(error);
  const Kind kind{sizeof *x, sizeof *out, sizeof(typename Op::Acc),
                  Op::kIndexed, Op::kNeedsOne};
  return make_plan(
      shape, dims, kind,
      {reinterpret_cast<uintptr_t>(x), reinterpret_cast<uintptr_t>(out)}, gpu);
}

}  // namespace reduction
