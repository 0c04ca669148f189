// Which 16 bits are the half that is nearest to -0.1?
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

__global__ void convert(float x, __half* y) { *y = __float2half_rn(x); }

// The bits of `value` from the first of `count` on.
void print_bits(uint16_t value, int first, int count) {
  for (int bit = first; bit > first - count; --bit)
    putchar(value >> bit & 1 ? '1' : '0');
}

int main() {
  __half *device, host;
  cudaMalloc(&device, sizeof host);
  convert<<<1, 1>>>(-0.1f, device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);

  const uint16_t bits = __half_as_ushort(host);
  printf("-0.1 becomes 0x%04x: ", bits);
  print_bits(bits, 15, 1);
  printf(" ");
  print_bits(bits, 14, 5);
  printf(" ");
  print_bits(bits, 9, 10);
  printf(", which is %.13f\n", __half2float(host));
  return 0;
}
