// The first part of a linked program.
#include "tests/simt/linked/files/shared.h"

__device__ int counter = 7;
__constant__ float factors[4] = {1, 2, 3, 4};
__managed__ int offset = 100;

// two.cu has all of these, too: each is its own file's.
static __device__ int hidden = 10;
static __device__ __noinline__ int own(int x) { return x + hidden; }

__device__ int local_of_one(int x) { return own(x); }
__device__ const char* text_of_one() { return "one"; }
__device__ int doubled(int x) { return 2 * x; }

static __device__ int negated(int x) { return -x; }
__device__ Function table[2] = {doubled, negated};

__device__ short unsized[5] = {1, 2, 3, 4, 5};

// The launch's shared memory is one, whatever a file calls its type.
__device__ int own_dynamic() {
  extern __shared__ double dynamic[];
  return reinterpret_cast<const int*>(dynamic)[threadIdx.x];
}

// Called with all threads of a block.
__device__ int block_sum(int x) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x);
  __syncthreads();
  return sum;
}
