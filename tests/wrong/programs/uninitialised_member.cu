// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It is stored
//
// Of a union one member is set, and another, larger one used. In between the
// struct was copied as a whole.
#include <cuda_runtime.h>

struct Value {
  int tag;
  union {
    int whole;
    float parts[3];
  };
};

__global__ void set_kernel(Value* x) {
  x[threadIdx.x].tag = 1;
  x[threadIdx.x].whole = threadIdx.x;
}

__global__ void reverse_kernel(const Value* x, Value* y) {
  y[threadIdx.x] = x[31 - threadIdx.x];
}

__global__ void use_kernel(const Value* x, float* y) {
  const float part = x[threadIdx.x].parts[2];  // <- here
  y[threadIdx.x] = 2 * part;                   // <- other
}

int main() {
  Value *x = nullptr, *copy = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&copy, 32 * sizeof *copy);
  cudaMalloc(&y, 32 * sizeof *y);
  set_kernel<<<1, 32>>>(x);
  reverse_kernel<<<1, 32>>>(x, copy);
  use_kernel<<<1, 32>>>(copy, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
