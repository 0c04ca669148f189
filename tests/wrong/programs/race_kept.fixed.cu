// finds: nothing
//
// The elements that the warp does not keep go to a place behind the others. It
// does not matter who comes last there: nobody reads it before it is written
// once more, behind a barrier.
#include <cuda_runtime.h>

__global__ void keep_kernel(const float* x, float* y) {
  __shared__ float kept[33];
  const unsigned lane = threadIdx.x;
  const bool keeps = x[lane] > 0;
  const unsigned all = __ballot_sync(~0u, keeps);
  const int rank = __popc(all & ((1u << lane) - 1));
  kept[keeps ? rank : 32] = x[lane];
  __syncwarp();
  y[lane] = lane < __popc(all) ? kept[lane] : 0;
  __syncthreads();
  kept[32 - lane] = x[lane];
  __syncthreads();
  y[lane] += kept[lane + 1];
}

__global__ void fill_kernel(float* x) {
  const float lane = threadIdx.x;
  x[threadIdx.x] = threadIdx.x % 3 ? -lane : lane + 1;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  fill_kernel<<<1, 32>>>(x);
  keep_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
