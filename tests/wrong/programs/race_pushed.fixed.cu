// finds: nothing
//
// Each attempt stores what it expects before it swaps: an old head does no
// harm.
#include <cuda_runtime.h>

__global__ void push(int* head, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old;
  do {
    old = *head;
    next[i] = old;
  } while (atomicCAS(head, old, i) != old);
}

__global__ void push_as_found(int* head, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = *head, expected;
  do {
    expected = old;
    next[i] = expected;
    __threadfence();
    old = atomicCAS(head, expected, i);
  } while (old != expected);
}

int main() {
  const int n = 256;
  int *head = nullptr, *next = nullptr;
  cudaMalloc(&head, sizeof *head);
  cudaMalloc(&next, n * sizeof *next);
  for (const auto kernel : {push, push_as_found}) {
    cudaMemset(head, -1, sizeof *head);
    kernel<<<n / 128, 128>>>(head, next);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
