// Chapter 04: half2.
//
// New:   a thread moves eight halves with one 16-byte load and one store, and
//        converts them two at a time: half2.
// Why:   a pack holds twice as many halves as floats, and by single accesses
//        a thread would have no more than 2 bytes in flight.
// Price: packs must be plain bits, and every half becomes a float and a half
//        again, because half has too few digits to compute with.

#include "common/check.h"
#include "common/gelu.h"

namespace {

constexpr int kBlock = 256;
constexpr int kPack = 8;

// A __half2 has a copy constructor, and would be copied alone, 4 bytes at a
// time. Raw ones are plain bits: one access moves the eight halves.
struct alignas(16) Pack {
  __half2_raw v[kPack / 2];
};

constexpr float kLinear = 1.5957691f;  // 2 sqrt(2 / pi)
constexpr float kCubic = kLinear * 0.044715f;

// x / 2 (1 + tanh(u)), in a form that takes no difference of near equals.
__device__ float gelu1(float x) {
  // Below -8 y is 0 in half; -infinity would come to inf / inf. A NaN is
  // not less than -8, so it passes. From fmaxf it would come out as -8.
  if (x < -8.f) x = -8.f;
  const float twice_u = x * (kLinear + kCubic * x * x);
  return __fdividef(x, 1.f + __expf(-twice_u));
}

__device__ __half2 gelu2(__half2 x) {
  const float2 v = __half22float2(x);
  return __float22half2_rn({gelu1(v.x), gelu1(v.y)});
}

// A thread has one pack, or one of the halves after the last pack.
__global__ void gelu_kernel(const __half* __restrict__ x,
                            __half* __restrict__ y, int64_t packs, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (first < packs) {
    Pack pack = reinterpret_cast<const Pack*>(x)[first];
    for (__half2_raw& v : pack.v) v = gelu2(v);
    reinterpret_cast<Pack*>(y)[first] = pack;
    return;
  }
  const int64_t i = packs * kPack + (first - packs);
  if (i < n) y[i] = __float2half_rn(gelu1(__half2float(x[i])));
}

bool is_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(Pack) == 0;
}

}  // namespace

void gelu(const __half* x, __half* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t packs = is_aligned(x) && is_aligned(y) ? n / kPack : 0;
  const int64_t threads = packs + (n - packs * kPack);
  const int64_t grid = (threads + kBlock - 1) / kBlock;
  gelu_kernel<<<grid, kBlock, 0, stream>>>(x, y, packs, n);
  CUDA_CHECK(cudaGetLastError());
}

int gelu_ulps() { return 1; }
