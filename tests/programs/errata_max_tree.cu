// The greatest of five numbers, by a tree: neighbours in pairs, until one is
// left. Who has no neighbour is paired with a number that must not win.
#include <cuda_runtime.h>

#include <climits>
#include <cstdio>

const int kMost = 8;

__global__ void max_kernel(const int* x, int n, int nobody) {
  __shared__ int left[kMost];
  const int i = threadIdx.x;

  if (i < n) left[i] = x[i];
  for (;; n = (n + 1) / 2) {
    __syncthreads();
    if (i == 0)
      for (int k = 0; k < n; ++k)
        printf("%d%s", left[k], k < n - 1 ? ", " : n > 1 ? "  ->  " : "\n");
    if (n == 1) return;
    const bool works = 2 * i < n;
    const int a = works ? left[2 * i] : nobody;
    const int b = 2 * i + 1 < n ? left[2 * i + 1] : nobody;
    __syncthreads();  // All have read what is written now.
    if (works) left[i] = max(a, b);
  }
}

void print_tree(const int (&x)[5], int nobody) {
  int* device_x;
  cudaMalloc(&device_x, sizeof x);
  cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
  max_kernel<<<1, kMost>>>(device_x, 5, nobody);
  cudaDeviceSynchronize();
  cudaFree(device_x);
}

int main() {
  print_tree({5, 8, 9, 7, 6}, INT_MIN);
  print_tree({-5, -8, -9, -7, -6}, INT_MIN);
  print_tree({-5, -8, -9, -7, -6}, 0);  // What a sum may be padded with.
  return 0;
}
