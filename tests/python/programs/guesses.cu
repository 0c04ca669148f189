// Not optimised, casts and atomics are calls, and addresses are computed anew.
__device__ void add(double* y, double x) {
  auto* word = (unsigned long long*)y;
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed,
                    __double_as_longlong(x + __longlong_as_double(assumed)));
  } while (assumed != old);
}
__device__ void count(unsigned* y, int k) {
  unsigned old = y[k], assumed;
  do {
    assumed = old;
    old = atomicCAS(&y[k], assumed, assumed + 1);
  } while (assumed != old);
}
__global__ void right_kernel(double* y) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 1;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    y[1] = value;
  }
  add(y, 1);
  count((unsigned*)y + 4, threadIdx.x % 2);
}
__global__ void wrong_kernel(unsigned long long* y) {
  const unsigned long long old = *y;
  atomicCAS(y, old, old + 1);
  y[1 + threadIdx.x] = old;
}
// It swaps elsewhere than where it has read.
__global__ void moved_kernel(unsigned* y) {
  int k = threadIdx.x % 2;
  const unsigned old = y[k];
  if (old < 9) k = 1 - k;
  atomicCAS(&y[k], old, old + 1);
}
int main() {
  double* y;
  cudaMalloc(&y, 800);
  cudaMemset(y, 0, 800);
  right_kernel<<<1, 64>>>(y);
  wrong_kernel<<<1, 64>>>((unsigned long long*)y + 3);
  moved_kernel<<<1, 64>>>((unsigned*)(y + 90));
  return cudaDeviceSynchronize() != cudaSuccess;
}
