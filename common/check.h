// The one macro of the repository: CUDA_CHECK(call) stops the program when a
// CUDA call fails, and prints the place, the call and the error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                       \
  do {                                                                         \
    const cudaError_t error_ = (call);                                         \
    if (error_ != cudaSuccess) {                                               \
      std::fflush(stdout);                                                     \
      std::fprintf(stderr, "%s:%d: %s\n  %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorName(error_), cudaGetErrorString(error_));      \
      std::exit(EXIT_FAILURE);                                                 \
    }                                                                          \
  } while (0)
