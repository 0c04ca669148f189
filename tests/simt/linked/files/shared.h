// What the files of a linked program know of one another.
#pragma once

// Defined in one.cu.
extern __device__ int counter;
extern __constant__ float factors[4];
extern __managed__ int offset;
__device__ int doubled(int x);
using Function = int (*)(int);
extern __device__ Function table[2];
__device__ int local_of_one(int x);
__device__ const char* text_of_one();
__device__ int block_sum(int x);
extern __device__ short unsized[];
__device__ int own_dynamic();

// In two.cu, which calls one.cu in turn.
__device__ int mixed(int x);
__device__ int local_of_two(int x);
__device__ const char* text_of_two();
__global__ void kernel_of_two(int* out);
void launch_same_name_of_two(int* out);

// A weak function, which each file has: and one variable in it for all.
template <class T>
__device__ __noinline__ int calls_so_far(T step) {
  __device__ static int calls;
  return atomicAdd(&calls, static_cast<int>(step));
}
