// finds: race, block (2,0,0), thread (0,0,0)
//
// Nodes are put in front of a list, and others walk along it. A swap that is
// relaxed may be seen before what the node holds.
#include <cuda_runtime.h>

#include <cuda/atomic>

struct Node {
  int value;
  Node* next;
};
using Head = cuda::atomic_ref<Node*, cuda::thread_scope_device>;

__device__ void push(Node** head, Node* node) {
  node->next = Head(*head).load(cuda::std::memory_order_relaxed);
  while (!Head(*head).compare_exchange_weak(node->next, node,
                                            cuda::std::memory_order_relaxed)) {
  }
}

__device__ int sum(Node** head) {
  int sum = 0;
  for (Node* node = Head(*head).load(cuda::std::memory_order_acquire); node;
       node = node->next)
    sum += node->value;  // <- here
  return sum;
}

__global__ void share_kernel(Node** head, Node* nodes, int* out) {
  if (blockIdx.x < 2) {
    Node* node = nodes + blockIdx.x * blockDim.x + threadIdx.x;
    node->value = 1;  // <- other
    push(head, node);
  } else if (threadIdx.x == 0) {
    while (sum(head) != 2 * blockDim.x) {
    }
    *out = 1;
  }
}

int main() {
  constexpr int kThreads = 8;
  Node **head = nullptr, *nodes = nullptr;
  int* out = nullptr;
  cudaMalloc(&head, sizeof *head);
  cudaMalloc(&nodes, 2 * kThreads * sizeof *nodes);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(head, 0, sizeof *head);
  share_kernel<<<3, kThreads>>>(head, nodes, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
