// From how many elements on does PyTorch launch an elementwise kernel more than
// once? Where a byte offset no longer fits in 32 bits: its rule, in our words.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

// For operands that lie in one piece; n counts elements.
bool fits(int64_t n, int64_t element_bytes) {
  const int64_t last_byte_of_first = (n - 1) * element_bytes + 1;
  return n <= INT32_MAX && last_byte_of_first <= INT32_MAX;
}

// What does not fit is cut in halves.
int launches(int64_t n, int64_t element_bytes) {
  if (fits(n, element_bytes)) return 1;
  return launches(n / 2, element_bytes) + launches(n - n / 2, element_bytes);
}

void print(const char* n_text, int64_t n) {
  printf("%-9s  float: %2d  half: %d\n", n_text, launches(n, 4),
         launches(n, 2));
}

__global__ void count_kernel(int* blocks) { atomicAdd(blocks, 1); }

int main() {
  print("65535", 65535);
  print("65536", 65536);
  print("2^29", int64_t{1} << 29);
  print("2^29 + 1", (int64_t{1} << 29) + 1);
  print("2^30 + 1", (int64_t{1} << 30) + 1);
  print("2^32", int64_t{1} << 32);

  // There is a 65,535 in CUDA: the blocks of a grid in its second direction.
  int x, y;
  cudaDeviceGetAttribute(&x, cudaDevAttrMaxGridDimX, 0);
  cudaDeviceGetAttribute(&y, cudaDevAttrMaxGridDimY, 0);
  printf("a grid of at most %d blocks in x, %d in y\n", x, y);

  int *device_count, count = 0;
  cudaMalloc(&device_count, sizeof count);
  cudaMemset(device_count, 0, sizeof count);
  count_kernel<<<70'000, 1>>>(device_count);
  cudaMemcpy(&count, device_count, sizeof count, cudaMemcpyDeviceToHost);
  cudaFree(device_count);
  printf("one launch, %d blocks\n", count);
  return count != 70'000;
}
