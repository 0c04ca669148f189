// Built in chapter 02.
//
// How many blocks a grid-stride loop needs: one thread per item, but no
// more than kWaves times what the GPU can hold at once, and never none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/check.h"

constexpr int kBlock = 256;
constexpr int kWaves = 32;  // A wave is every block the GPU can hold at once.

// The blocks to launch for n items: one thread each, up to kWaves waves.
constexpr int64_t grid_blocks(int64_t n, int sms, int threads_per_sm) {
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const int64_t wave = int64_t{sms} * threads_per_sm / kBlock;
  return std::clamp<int64_t>(blocks, 1, kWaves * wave);
}

inline int64_t grid_for(int64_t n) {
  int device, sms, threads_per_sm;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaDeviceGetAttribute(
      &threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return grid_blocks(n, sms, threads_per_sm);
}
