// finds: race between streams, says Add an edge
//
// Two nodes of a graph, and no edge between them.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;  // <- other
}
__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t fill = nullptr, twice = nullptr;
  float one = 1;
  void *of_fill[] = {&x, &one}, *of_double[] = {&x, &y};
  const dim3 grid(kN / 256), block(256);
  const cudaKernelNodeParams fills = {
      (void*)fill_kernel, grid, block, 0, of_fill, nullptr};
  const cudaKernelNodeParams doubles = {
      (void*)double_kernel, grid, block, 0, of_double, nullptr};
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(&fill, graph, nullptr, 0, &fills);
  cudaGraphAddKernelNode(&twice, graph, nullptr, 0, &doubles);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, nullptr);
  return cudaDeviceSynchronize() != cudaSuccess;
}
