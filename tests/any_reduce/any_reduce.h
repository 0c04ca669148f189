// The engine of chapter 12, told by name what to reduce: for its suite and for
// Python.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

extern "C" {

// `what` names an operation and the type of x, such as "sum float". `parameter`
// is the p of a norm or the correction of a variance.
struct AnyReduction {
  const char* what;
  double parameter;
  int rank, dims;  // How many of each follow.
  const int64_t *sizes, *strides;
  const int* dim;
  const void* x;
  void* out;
  bool wide;  // Indices of 64 bits, even where 32 would do.
};

// What reduction::reduce() returns, or that there is no such operation.
const char* any_reduce(const AnyReduction* asked, void* scratch, int64_t bytes,
                       cudaStream_t stream);

// The scratch that it needs; how much of that has to be 0 before.
int64_t any_reduce_scratch(const AnyReduction* asked, int64_t* cleared);
}
