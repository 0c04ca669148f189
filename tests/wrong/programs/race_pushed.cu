// finds: race
//
// A node is put in front of a list. If the swap fails, the list's new head is
// tried, but the node goes on pointing to the old one: others are lost.
#include <cuda_runtime.h>

__global__ void push(int* head, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = *head;  // <- here
  next[i] = old;
  while (atomicCAS(head, old, i) != old) old = *head;  // <- other
}

int main() {
  const int n = 256;
  int *head = nullptr, *next = nullptr;
  cudaMalloc(&head, sizeof *head);
  cudaMalloc(&next, n * sizeof *next);
  cudaMemset(head, -1, sizeof *head);
  push<<<n / 128, 128>>>(head, next);
  return cudaDeviceSynchronize() != cudaSuccess;
}
