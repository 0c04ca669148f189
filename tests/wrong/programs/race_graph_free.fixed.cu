// finds: nothing
//
// A node frees memory behind the kernel that writes there.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = 1; }

int main() {
  const int n = 256;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = n * sizeof(float);
  cudaGraphNode_t allocates, fills, frees;
  cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &memory);
  void* arguments[] = {&memory.dptr};
  cudaKernelNodeParams fill = {};
  fill.func = reinterpret_cast<void*>(fill_kernel);
  fill.gridDim = dim3(1);
  fill.blockDim = dim3(n);
  fill.kernelParams = arguments;
  cudaGraphAddKernelNode(&fills, graph, &allocates, 1, &fill);
  cudaGraphAddMemFreeNode(&frees, graph, &fills, 1, memory.dptr);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  return cudaStreamSynchronize(stream) != cudaSuccess;
}
