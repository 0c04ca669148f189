// Warp shuffles: the four kinds, every legal width, partial masks, indices
// beyond the segment, 64-bit and 16-bit values, and PTX's in-range predicate.

#include <cuda_fp16.h>

#include "tests/simt/expect.h"

namespace {

constexpr unsigned kAll = 0xffffffff;

__global__ void idx_kernel(int* out, int source, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(kAll, lane * 10, source, width);
}

__global__ void rotate_kernel(int* out, int by, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(kAll, lane, lane + by, width);
}

__global__ void up_kernel(int* out, unsigned delta, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_up_sync(kAll, lane, delta, width);
}

__global__ void down_kernel(int* out, unsigned delta, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_down_sync(kAll, lane, delta, width);
}

__global__ void xor_kernel(int* out, int mask, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_xor_sync(kAll, lane, mask, width);
}

// Every lane of `mask` shuffles, the others do not take part.
__global__ void partial_kernel(int* out, unsigned mask, int source) {
  const int lane = threadIdx.x;
  if (mask >> lane & 1) out[lane] = __shfl_sync(mask, lane + 100, source);
}

template <typename T>
__global__ void typed_kernel(T* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_xor_sync(kAll, static_cast<T>(lane - 5), 31);
}

__global__ void half2_kernel(float* out) {
  const int lane = threadIdx.x;
  const __half2 pair = __floats2half2_rn(lane, -lane);
  const __half2 other = __shfl_down_sync(kAll, pair, 1);
  const __half single = __shfl_up_sync(kAll, __float2half(lane * 0.5f), 1);
  out[3 * lane] = __low2float(other);
  out[3 * lane + 1] = __high2float(other);
  out[3 * lane + 2] = __half2float(single);
}

// The instruction itself: b is the lane or distance, c holds the clamp in
// bits 0-4 and the segment mask in bits 8-12.
template <int kKind>
__global__ void predicate_kernel(int* out, unsigned b, unsigned c) {
  const int lane = threadIdx.x;
  int value = lane;
  int in_range = 0;
  if constexpr (kKind == 0) {
    asm volatile(
        "{.reg .pred p; shfl.sync.up.b32 %0|p, %2, %3, %4, -1;"
        " selp.s32 %1, 1, 0, p;}"
        : "=r"(value), "=r"(in_range)
        : "r"(lane), "r"(b), "r"(c));
  } else if constexpr (kKind == 1) {
    asm volatile(
        "{.reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, %4, -1;"
        " selp.s32 %1, 1, 0, p;}"
        : "=r"(value), "=r"(in_range)
        : "r"(lane), "r"(b), "r"(c));
  } else if constexpr (kKind == 2) {
    asm volatile(
        "{.reg .pred p; shfl.sync.bfly.b32 %0|p, %2, %3, %4, -1;"
        " selp.s32 %1, 1, 0, p;}"
        : "=r"(value), "=r"(in_range)
        : "r"(lane), "r"(b), "r"(c));
  } else {
    asm volatile(
        "{.reg .pred p; shfl.sync.idx.b32 %0|p, %2, %3, %4, -1;"
        " selp.s32 %1, 1, 0, p;}"
        : "=r"(value), "=r"(in_range)
        : "r"(lane), "r"(b), "r"(c));
  }
  out[2 * lane] = value;
  out[2 * lane + 1] = in_range;
}

// What the PTX manual's pseudo-code of shfl computes for one lane.
struct Source {
  int lane;
  bool in_range;
};

Source source_of(int kind, int lane, unsigned b, unsigned c) {
  const int clamp = c & 31;
  const int segment = c >> 8 & 31;
  const int distance = b & 31;
  const int last = (lane & segment) | (clamp & ~segment);
  const int first = lane & segment;
  int j = 0;
  bool in_range = false;
  if (kind == 0) in_range = (j = lane - distance) >= last;
  if (kind == 1) in_range = (j = lane + distance) <= last;
  if (kind == 2) in_range = (j = lane ^ distance) <= last;
  if (kind == 3) {
    in_range = (j = first | (distance & ~segment)) <= last;
  }
  return {in_range ? j : lane, in_range};
}

template <int kKind>
void check_predicates() {
  for (unsigned b : {0u, 1u, 3u, 7u, 16u, 31u, 33u, 63u}) {
    // Also clamps that no __shfl would build: a segment cut short.
    for (unsigned c : {0x001fu, 0x0000u, 0x181fu, 0x1800u, 0x1c1fu, 0x1e1fu,
                       0x1f1fu, 0x101fu, 0x000au, 0x1005u, 0x1c03u}) {
      const auto got = expect::results<int>(
          64, [&](int* out) { predicate_kernel<kKind><<<1, 32>>>(out, b, c); });
      expect::each(got, [&](int i) {
        const Source source = source_of(kKind, i / 2, b, c);
        return i % 2 == 0 ? source.lane : source.in_range;
      });
    }
  }
}

void check_widths() {
  for (int width : {1, 2, 4, 8, 16, 32}) {
    for (int by : {0, 1, 2, 5, 15, 16, 31}) {
      auto got = expect::results<int>(
          32, [&](int* out) { idx_kernel<<<1, 32>>>(out, by, width); });
      expect::each(got, [&](int lane) {
        return (lane / width * width + by % width) * 10;
      });
      got = expect::results<int>(
          32, [&](int* out) { rotate_kernel<<<1, 32>>>(out, by, width); });
      expect::each(got, [&](int lane) {
        return lane / width * width + (lane + by) % width;
      });
      got = expect::results<int>(
          32, [&](int* out) { up_kernel<<<1, 32>>>(out, by, width); });
      expect::each(
          got, [&](int lane) { return lane % width >= by ? lane - by : lane; });
      got = expect::results<int>(
          32, [&](int* out) { down_kernel<<<1, 32>>>(out, by, width); });
      expect::each(got, [&](int lane) {
        return lane % width + by < width ? lane + by : lane;
      });
      // A butterfly may reach back into an earlier segment, not a later one.
      got = expect::results<int>(
          32, [&](int* out) { xor_kernel<<<1, 32>>>(out, by, width); });
      expect::each(got, [&](int lane) {
        const int source = lane ^ by;
        return source < (lane / width + 1) * width ? source : lane;
      });
    }
  }
}

void check_index_beyond_the_warp() {
  for (int source : {32, 37, 64 + 9, -1, -32}) {
    const auto got = expect::results<int>(
        32, [&](int* out) { idx_kernel<<<1, 32>>>(out, source, 32); });
    expect::each(got, [&](int) { return (source & 31) * 10; });
  }
}

void check_partial_masks() {
  for (unsigned mask : {0x1u, 0x80000000u, 0xffu, 0xaaaaaaaau, 0x12345678u,
                        0x7fffffffu, 0xfffffffeu}) {
    const int source = 31 - __builtin_clz(mask);
    const auto got = expect::results<int>(
        32, [&](int* out) { partial_kernel<<<1, 32>>>(out, mask, source); });
    expect::each(got,
                 [&](int lane) { return mask >> lane & 1 ? source + 100 : 0; });
  }
}

template <typename T>
void check_type() {
  const auto got =
      expect::results<T>(32, [](T* out) { typed_kernel<T><<<1, 32>>>(out); });
  expect::each(got, [](int lane) { return static_cast<T>((lane ^ 31) - 5); });
}

void check_halves() {
  const auto got = expect::results<float>(
      96, [](float* out) { half2_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int i) {
    const int lane = i / 3;
    const int next = lane == 31 ? 31 : lane + 1;
    const int previous = lane == 0 ? 0 : lane - 1;
    if (i % 3 == 2) return previous * 0.5f;
    return i % 3 == 0 ? static_cast<float>(next) : static_cast<float>(-next);
  });
}

// Lanes that have no thread may be asked: what they answer is dropped.
__global__ void ragged_kernel(int* out) {
  const int other = __shfl_down_sync(~0u, threadIdx.x, 16);
  out[threadIdx.x] = threadIdx.x < 32 ? other : -1;
}

void check_ragged() {
  const auto got =
      expect::results<int>(48, [](int* out) { ragged_kernel<<<1, 48>>>(out); });
  expect::each(got, [](int i) {
    if (i >= 32) return -1;
    return i < 16 ? i + 16 : i;  // Beyond the warp it is one's own.
  });
}

}  // namespace

int main() {
  check_widths();
  check_ragged();
  check_index_beyond_the_warp();
  check_partial_masks();
  check_predicates<0>();
  check_predicates<1>();
  check_predicates<2>();
  check_predicates<3>();
  check_type<int>();
  check_type<unsigned>();
  check_type<float>();
  check_type<long long>();
  check_type<unsigned long long>();
  check_type<double>();
  check_halves();
  return expect::report();
}
