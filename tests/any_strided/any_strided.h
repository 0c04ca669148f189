// The engine of chapter 15, told by name what to do: for its suite and for
// Python.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

extern "C" {

struct AnyArray {
  const void* data;
  int type;  // As strided::Type counts them.
  int rank;
  const int64_t *sizes, *strides;
};

// `what` names a function and the type it is computed in, such as "add float".
// The outputs are the first of the arrays.
struct AnyStrided {
  const char* what;
  double scalar;  // For the functions that have one.
  int arrays;
  const AnyArray* array;
};

// What strided::gpu_kernel() returns, or that there is no such function.
const char* any_strided(const AnyStrided* asked, cudaStream_t stream);

// The path that it would take, in words that last until the next call.
const char* any_strided_path(const AnyStrided* asked);

// n / d by strided::Divider, on the host, and of device arrays by a kernel.
uint32_t any_quotient(uint32_t n, uint32_t d);
void any_quotients(const uint32_t* n, int count, uint32_t d,
                   uint32_t* quotients);
}
