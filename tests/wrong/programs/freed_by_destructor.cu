// finds: use after free, block (0,0,0), thread (0,0,0)
//
// Two sums share a term, and each deletes it. The compiler names no line of the
// destructor that it makes around ~Sum(), so the line that calls it is told.
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

__device__ __noinline__ void drop(Term* term) {
  delete term;  // <- here
}

__global__ void share_kernel() {
  Term* shared = new Term;
  Term* first = new Sum(shared, new Term);
  Term* second = new Sum(shared, new Term);
  drop(first);
  drop(second);
}

int main() {
  share_kernel<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
