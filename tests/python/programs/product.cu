// One rounding or two: PTX leaves that open here.
#include <cstdio>
__global__ void sum_kernel(float* x) {
  asm("{ .reg .f32 p; mul.f32 p, %1, %2; add.f32 %0, p, %3; }"
      : "=f"(x[3])
      : "f"(x[0]), "f"(x[1]), "f"(x[2]));
}
int main() {
  float x[] = {1 + 0x1p-13f, 1 - 0x1p-13f, -1, 0}, *y;
  cudaMalloc(&y, sizeof x);
  cudaMemcpy(y, x, sizeof x, cudaMemcpyDefault);
  sum_kernel<<<1, 1>>>(y);
  cudaMemcpy(x, y, sizeof x, cudaMemcpyDefault);
  std::printf(x[3] == 0 ? "apart" : "fused");
}
