// The second part.
#include "tests/simt/linked/files/shared.h"

static __device__ int hidden = 20;
static __device__ __noinline__ int own(int x) { return x * hidden; }

__device__ int local_of_two(int x) { return own(x); }

__device__ const char* text_of_two() { return "two"; }

__device__ int mixed(int x) {
  return doubled(x) + static_cast<int>(factors[1]) + counter + offset;
}

__global__ void kernel_of_two(int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = block_sum(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x] + mixed(threadIdx.x);
  if (threadIdx.x == 0) calls_so_far(5);
}

// files.cu has one of that name.
static __global__ void same_name(int* out) { *out = 2; }
void launch_same_name_of_two(int* out) { same_name<<<1, 1>>>(out); }
