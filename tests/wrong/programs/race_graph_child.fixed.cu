// finds: nothing
//
// A graph is a node of another one. An edge leads to it from the node that
// fills what it doubles.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void double_kernel(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

cudaGraphNode_t add_node(cudaGraph_t graph, void (*kernel)(float*), float* x) {
  void* arguments[] = {&x};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = 16;
  params.blockDim = 256;
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  return node;
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 4096 * sizeof *x);
  cudaGraph_t inner = nullptr, outer = nullptr;
  cudaGraphCreate(&inner, 0);
  cudaGraphCreate(&outer, 0);
  add_node(inner, double_kernel, x);
  const cudaGraphNode_t fill = add_node(outer, fill_kernel, x);
  cudaGraphNode_t child = nullptr;
  cudaGraphAddChildGraphNode(&child, outer, &fill, 1, inner);
  cudaGraphExec_t ready = nullptr;
  cudaGraphInstantiate(&ready, outer, 0);
  cudaGraphLaunch(ready, 0);
  return cudaDeviceSynchronize() != cudaSuccess;
}
