// A matrix is transposed tile by tile. Tensor maps bring each tile into shared
// memory and take it back, by the functions of libcu++. What a tile has beyond
// the matrix's edge comes as zeros, and is left out where it is stored. The
// swizzle keeps the columns of a tile apart in banks.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>
#include <vector>

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kTile = 32;  // floats: a row is 128 bytes

// Where an element of a tile is: chunks of four floats change places.
__device__ int place(int row, int column) {
  return row * kTile + ((column / 4 ^ row % 8) * 4 + column % 4);
}

__global__ void transpose(const __grid_constant__ CUtensorMap from,
                          const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) float in[kTile * kTile];
  __shared__ alignas(1024) float out[kTile * kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier bar;
  const int x = static_cast<int>(blockIdx.x) * kTile;
  const int y = static_cast<int>(blockIdx.y) * kTile;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    const int corner[2] = {x, y};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, in, &from,
                              corner, cuda::device::barrier_native_handle(bar));
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof in);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x)
    out[place(i / kTile, i % kTile)] = in[place(i % kTile, i / kTile)];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int corner[2] = {y, x};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, corner,
                              out);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    bar.~Barrier();
  }
}

CUtensorMap map_of(float* matrix, cuuint64_t rows, cuuint64_t columns) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                   cudaEnableDefault, &status);
  const auto encode =
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  CUtensorMap map;
  const cuuint64_t size[] = {columns, rows}, stride[] = {columns * 4};
  const cuuint32_t box[] = {kTile, kTile}, step[] = {1, 1};
  const CUresult result = encode(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("no tensor map: %d\n", result);
  return map;
}

int main() {
  const int rows = 100, columns = 76;
  std::vector<float> host(rows * columns), back(rows * columns);
  for (int i = 0; i < rows * columns; ++i) host[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float),
             cudaMemcpyHostToDevice);
  const dim3 tiles((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<<<tiles, 256>>>(map_of(in, rows, columns),
                            map_of(out, columns, rows));
  cudaMemcpy(back.data(), out, back.size() * sizeof(float),
             cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      wrong += back[c * rows + r] != host[r * columns + c];
  std::printf("%d of %d elements are wrong; the last is %g\n", wrong,
              rows * columns, back.back());
  cudaFree(in);
  cudaFree(out);
}
