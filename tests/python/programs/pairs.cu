// What ptxas does otherwise with -rdc=true: atomics, and arrays side by side.
__global__ void pairs_kernel(float* y, unsigned* count) {
  __shared__ float pairs[64];
  pairs[threadIdx.x] = pairs[threadIdx.x + 32] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = pairs[2 * threadIdx.x] - pairs[2 * threadIdx.x + 1];
  atomicAdd(count + threadIdx.x, 1u);
}
int main() {
  float* y;
  cudaMalloc(&y, 256);
  cudaMemset(y, 0, 256);
  pairs_kernel<<<1, 32>>>(y, (unsigned*)(y + 32));
  return cudaDeviceSynchronize() != cudaSuccess;
}
