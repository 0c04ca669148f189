// finds: nothing
//
// A barrier after each step.
#include <cuda_runtime.h>

constexpr int kCount = 256;

__global__ void sort_kernel(int* x) {
  __shared__ int s[kCount];
  const int i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  for (int size = 2; size <= kCount; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      const int j = i ^ step;
      if (j > i && (s[i] > s[j]) == ((i & size) == 0)) {
        const int kept = s[i];
        s[i] = s[j];
        s[j] = kept;
      }
      __syncthreads();
    }
  }
  x[i] = s[i];
}

int main() {
  int descending[kCount];
  for (int i = 0; i < kCount; i++) descending[i] = kCount - i;
  int* x = nullptr;
  cudaMalloc(&x, sizeof descending);
  cudaMemcpy(x, descending, sizeof descending, cudaMemcpyHostToDevice);
  sort_kernel<<<1, kCount>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
