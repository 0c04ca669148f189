// What the headers of CUDA 12.0 to 12.2 lack of what we name.
#pragma once
#include <cuda_runtime_api.h>

#if CUDART_VERSION < 12030
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};
#endif

#if CUDART_VERSION < 12020
constexpr auto cudaMemLocationTypeHost = static_cast<cudaMemLocationType>(2);
#endif

#if CUDART_VERSION < 12010
using cudaKernel_t = struct CUkern_st*;
#endif
