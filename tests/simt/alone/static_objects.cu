// Static objects that launch kernels before main begins and after it has ended,
// one of Thrust's among them. Other programs had better not have them.
#include <thrust/device_vector.h>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::ok;

__global__ void count_up(int* numbers) { numbers[threadIdx.x] += threadIdx.x; }

struct Early {
  Early() {
    equal(expect::results<int>(
              32, [](int* numbers) { count_up<<<1, 32>>>(numbers); })[31],
          31);
  }
};

struct Late {
  int* numbers = nullptr;
  cudaStream_t stream = nullptr;
  ~Late() {
    int last = 0;
    count_up<<<1, 32, 0, stream>>>(numbers);
    ok(cudaMemcpyAsync(&last, numbers + 31, sizeof(int), cudaMemcpyDeviceToHost,
                       stream));
    ok(cudaStreamSynchronize(stream));
    equal(last, 62);
    ok(cudaFree(numbers));
    ok(cudaStreamDestroy(stream));
    expect::report();
  }
};

const Early early;
thrust::device_vector<int> sevens(100, 7);
Late late;

}  // namespace

int main() {
  equal(int{sevens[99]}, 7);
  sevens.clear();
  sevens.shrink_to_fit();
  ok(cudaMalloc(&late.numbers, 32 * sizeof(int)));
  ok(cudaMemset(late.numbers, 0, 32 * sizeof(int)));
  ok(cudaStreamCreate(&late.stream));
  count_up<<<1, 32>>>(late.numbers);
  ok(cudaDeviceSynchronize());
  return 0;
}
