// finds: race, block (0,0,0), says the write by thread (0,0,0)
//
// One lane changes a tensor map in shared memory, and nothing makes the other
// lanes wait before the warp copies the map.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

__global__ void change_kernel(uint32_t* map, const float* tensor) {
  __shared__ alignas(128) uint32_t copy[32];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(copy));
  copy[threadIdx.x] = map[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0)
    asm volatile(
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 "
        "[%0], %1;" ::"r"(at),
        "l"(tensor)  // <- other
        : "memory");
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
      ".gpu.sync.aligned [%0], [%1], 128;" ::"l"(map),
      "r"(at)  // <- here
      : "memory");
}

int main() {
  uint32_t* map = nullptr;
  float* tensor = nullptr;
  cudaMalloc(&map, sizeof(CUtensorMap));
  cudaMalloc(&tensor, 1024);
  cudaMemset(map, 0, sizeof(CUtensorMap));
  change_kernel<<<1, 32>>>(map, tensor);
  return cudaDeviceSynchronize() != cudaSuccess;
}
