// finds: use after free, block (0,0,0), thread (0,0,0), says its graph
//
// A graph frees its memory, and a kernel behind it still reads that.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = 1; }
__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // <- here
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
  cudaFreeAsync(x, stream);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  copy_kernel<<<1, n, 0, stream>>>(x, y);
  return cudaStreamSynchronize(stream) != cudaSuccess;
}
