// Three ways to move eight halves, of which one is a single load: the packs of
// chapter 04, and what looks as if it were the same. The page counts the loads;
// here all three move the right bytes.
#include <cuda_fp16.h>

#include <cstdio>
#include <type_traits>
#include <vector>

constexpr int kPack = 8, kPacks = 1 << 13;
constexpr int kBytes = kPack * kPacks * sizeof(__half);

struct alignas(16) OfHalf {
  __half v[kPack];
};
struct alignas(16) OfHalf2 {
  __half2 v[kPack / 2];
};
struct alignas(16) OfRaw {
  __half2_raw v[kPack / 2];
};

// What cannot be copied as plain bytes is copied member by member.
static_assert(std::is_trivially_copyable_v<OfRaw>);
static_assert(!std::is_trivially_copyable_v<OfHalf2>);

template <class Pack>
__global__ void copy_kernel(const Pack* __restrict__ x, Pack* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  Pack pack = x[i];
  y[i] = pack;
}

// The pack is aligned, but nothing says that x[kPack * i] is.
__global__ void fill_kernel(const __half* __restrict__ x,
                            OfHalf* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  OfHalf pack;
  for (int k = 0; k < kPack; ++k) pack.v[k] = x[kPack * i + k];
  y[i] = pack;
}

template <class X, class Y>
bool copies(const char* name, void (*kernel)(const X*, Y*)) {
  std::vector<unsigned short> all(kPack * kPacks), got(kPack * kPacks);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  void *x, *y;
  cudaMalloc(&x, kBytes);
  cudaMalloc(&y, kBytes);
  cudaMemcpy(x, all.data(), kBytes, cudaMemcpyHostToDevice);
  kernel<<<kPacks / 256, 256>>>(static_cast<X*>(x), static_cast<Y*>(y));
  cudaMemcpy(got.data(), y, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  printf("%s: %s\n", name, all == got ? "right" : "wrong");
  return all == got;
}

int main() {
  const bool filled = copies("filled one by one", fill_kernel);
  const bool half2 = copies("a pack of half2", copy_kernel<OfHalf2>);
  const bool raw = copies("a pack of raw bits", copy_kernel<OfRaw>);
  return !(filled && half2 && raw);
}
