// finds: nothing
//
// A graph's memory is freed behind the kernel that reads it.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = 1; }
__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&y, n * sizeof *y);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&x, n * sizeof *x, stream);
  fill_kernel<<<1, n, 0, stream>>>(x);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  copy_kernel<<<1, n, 0, stream>>>(x, y);
  cudaFreeAsync(x, stream);
  return cudaStreamSynchronize(stream) != cudaSuccess;
}
