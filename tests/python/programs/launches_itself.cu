// A kernel that launches itself.
#include <cstdio>
__global__ void kernel(int depth) {
  printf("%d ", depth);
  if (depth) kernel<<<1, 1>>>(depth - 1);
}
int main() {
  kernel<<<1, 1>>>(3);
  return cudaDeviceSynchronize();
}
