// finds: nothing
//
// Each sum has terms of its own.
#include <cuda_runtime.h>

struct Term {
  __device__ virtual ~Term() {}
};
struct Sum : Term {
  Term *a, *b;
  __device__ Sum(Term* a, Term* b) : a(a), b(b) {}
  __device__ ~Sum() override {
    delete a;
    delete b;
  }
};

__device__ __noinline__ void drop(Term* term) { delete term; }

__global__ void share_kernel() {
  Term* first = new Sum(new Term, new Term);
  Term* second = new Sum(new Term, new Term);
  drop(first);
  drop(second);
}

int main() {
  share_kernel<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
