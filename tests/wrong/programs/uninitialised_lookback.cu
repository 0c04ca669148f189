// finds: race, says a flag needs a value before the kernel begins
//
// Each block looks back for the sum of those before it. Nobody has cleared the
// states: what is left there may look like a sum.
#include <cuda_runtime.h>

#include <cuda/atomic>

using State = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
constexpr unsigned kOwn = 1u << 30, kTotal = 2u << 30, kSum = kOwn - 1;

__device__ unsigned sum_before(unsigned* states) {
  unsigned sum = 0;
  for (int block = blockIdx.x - 1; block >= 0;) {
    const unsigned state =
        State(states[block]).load(cuda::std::memory_order_acquire);  // <- here
    if (state <= kSum) continue;
    sum += state & kSum;
    if (state & kTotal) break;
    --block;
  }
  return sum;
}

__device__ void publish(unsigned* states, unsigned state) {
  State mine(states[blockIdx.x]);
  mine.store(state, cuda::std::memory_order_release);  // <- other
}

__global__ void scan_kernel(unsigned* states) {
  const unsigned own = blockIdx.x + 1;
  if (blockIdx.x > 0) publish(states, kOwn | own);
  publish(states, kTotal | (sum_before(states) + own));
}

int main() {
  unsigned* states = nullptr;
  cudaMalloc(&states, 4 * sizeof *states);
  scan_kernel<<<4, 1>>>(states);
  return cudaDeviceSynchronize() != cudaSuccess;
}
