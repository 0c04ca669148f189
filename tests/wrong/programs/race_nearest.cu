// finds: race
//
// Each point that seems nearer stores its number: whoever stores last, and not
// the nearest.
#include <cuda_runtime.h>

__global__ void nearest(const int* distance, int* best, int* point) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (distance[i] < *best) {       // <- here
    atomicMin(best, distance[i]);  // <- other
    *point = i;
  }
}

int main() {
  const int n = 512;
  int given[n], far = 1 << 30, *distance = nullptr, *best = nullptr;
  int* point = nullptr;
  for (int i = 0; i < n; ++i) given[i] = i * 193 % n;
  cudaMalloc(&distance, sizeof given);
  cudaMalloc(&best, sizeof *best);
  cudaMalloc(&point, sizeof *point);
  cudaMemcpy(distance, given, sizeof given, cudaMemcpyHostToDevice);
  cudaMemcpy(best, &far, sizeof far, cudaMemcpyHostToDevice);
  nearest<<<n / 128, 128>>>(distance, best, point);
  return cudaDeviceSynchronize() != cudaSuccess;
}
