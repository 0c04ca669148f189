// Values that nobody has written, and that nobody uses: a right program may
// load them, hand them round and drop them, and nothing is said.

#include <cuda_fp16.h>

#include "tests/simt/expect.h"

namespace {

constexpr unsigned kAll = 0xffffffff;

// Memory that nobody has written.
template <typename T>
class Unwritten {
 public:
  explicit Unwritten(size_t n) {
    expect::ok(cudaMalloc(&begin_, n * sizeof(T)));
  }
  ~Unwritten() { expect::ok(cudaFree(begin_)); }
  Unwritten(const Unwritten&) = delete;
  Unwritten& operator=(const Unwritten&) = delete;
  operator T*() const { return begin_; }

 private:
  T* begin_ = nullptr;
};

// ---- Lanes that have nothing to do
// -------------------------------------------

__global__ void block_sum_kernel(const float* x, float* y) {
  __shared__ float sums[32];
  float sum = x[threadIdx.x];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 16; k; k /= 2) sum += __shfl_down_sync(kAll, sum, k);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp > 0) return;
  sum = sums[lane];
  for (int k = blockDim.x / 64; k; k /= 2)
    sum += __shfl_down_sync(kAll, sum, k);
  if (lane == 0) *y = sum;
}

// Eight lanes add, and four of them ask lanes that take no part: those their
// mask leaves out, or those that have ended. None of the sums that count do.
template <bool leave>
__global__ void few_lanes_kernel(const float* x, float* y) {
  if (leave && threadIdx.x >= 8) return;
  if (threadIdx.x < 8) {
    float sum = x[threadIdx.x];
    for (int k = 4; k; k /= 2) sum += __shfl_down_sync(0xff, sum, k);
    if (threadIdx.x == 0) *y = sum;
  }
}

__global__ void guarded_kernel(const float* x, float* y, int n) {
  const float value = x[threadIdx.x];
  if (threadIdx.x < n) y[threadIdx.x] = 2 * value;
}

__global__ void both_kernel(const float* x, int* y, int n) {
  const float value = x[threadIdx.x];
  const bool good = threadIdx.x<n & value> 0;
  y[threadIdx.x] = good ? 1 : 0;
}

__global__ void ballot_kernel(const float* x, int* y, int n) {
  const unsigned positive = __ballot_sync(kAll, x[threadIdx.x] > 0);
  y[threadIdx.x] = __popc(positive & ((1u << n) - 1));
}

__global__ void any_kernel(const int* x, int* y) {
  const int value = x[threadIdx.x];  // that of lane 0 decides for all
  if (__any_sync(kAll, value == 3)) y[threadIdx.x] = 1;
  if (!__all_sync(kAll, value != 3)) y[threadIdx.x] += 1;
}

__global__ void select_kernel(const float* x, float* y, int n) {
  const float value = x[threadIdx.x];
  y[threadIdx.x] = threadIdx.x < n ? value : -1.f;
}

__global__ void rotate_kernel(const int* x, int* y) {
  const int lane = threadIdx.x;
  const int value = __shfl_sync(kAll, x[lane], lane % 8);
  y[lane] = value;
}

// What was undefined may be written later, in a register as in memory.
__global__ void rewritten_kernel(const int* x, int* y, int n) {
  __shared__ int tile[32];
  int value = x[threadIdx.x];
  tile[threadIdx.x] = value;
  if (threadIdx.x >= n) {
    value = threadIdx.x;
    tile[threadIdx.x] = threadIdx.x;
  }
  __syncwarp();
  y[threadIdx.x] = value + tile[31 - threadIdx.x];
}

// The carry of one sum is not that of the next.
__global__ void carry_kernel(const unsigned long long* x, int* y) {
  unsigned __int128 a = x[threadIdx.x];
  a += a << 63;
  unsigned __int128 b = 0xffffffffffffffff;
  b += threadIdx.x;
  y[threadIdx.x] = threadIdx.x > 40 ? static_cast<int>(a >> 64) : b >> 64;
}

__global__ void exchange_kernel(int* x, int* y) {
  atomicExch(x, 5);
  *y = *x;
}

void test_idle_lanes() {
  using expect::results;
  Unwritten<float> x(64);
  std::vector<float> ones(128, 1);
  const expect::Copy<float> full(ones);
  expect::each(results<float>(
                   1, [&](float* y) { block_sum_kernel<<<1, 128>>>(full, y); }),
               [](int) { return 128; });
  for (const auto kernel : {few_lanes_kernel<false>, few_lanes_kernel<true>})
    expect::each(
        results<float>(1, [&](float* y) { kernel<<<1, 32>>>(full, y); }),
        [](int) { return 8; });
  expect::ok(
      cudaMemcpy(x, ones.data(), 20 * sizeof(float), cudaMemcpyHostToDevice));
  expect::each(results<float>(
                   64, [&](float* y) { guarded_kernel<<<1, 64>>>(x, y, 20); }),
               [](int i) { return i < 20 ? 2 : 0; });
  expect::each(
      results<int>(64, [&](int* y) { both_kernel<<<1, 64>>>(x, y, 20); }),
      [](int i) { return i < 20 ? 1 : 0; });
  expect::each(
      results<int>(32, [&](int* y) { ballot_kernel<<<1, 32>>>(x, y, 20); }),
      [](int) { return 20; });
  expect::each(
      results<float>(64, [&](float* y) { select_kernel<<<1, 64>>>(x, y, 20); }),
      [](int i) { return i < 20 ? 1 : -1; });
  Unwritten<int> z(33);
  const int three = 3;
  expect::ok(cudaMemcpy(z, &three, sizeof three, cudaMemcpyHostToDevice));
  expect::each(results<int>(32, [&](int* y) { any_kernel<<<1, 32>>>(z, y); }),
               [](int) { return 2; });
  expect::ok(cudaMemset(z, 0, 8 * sizeof(int)));
  expect::each(
      results<int>(32, [&](int* y) { rotate_kernel<<<1, 32>>>(z, y); }),
      [](int) { return 0; });
  expect::each(
      results<int>(1, [&](int* y) { exchange_kernel<<<1, 1>>>(z + 32, y); }),
      [](int) { return 5; });
  Unwritten<int> late(32);
  expect::ok(cudaMemset(late, 0, 16 * sizeof(int)));
  expect::each(
      results<int>(32,
                   [&](int* y) { rewritten_kernel<<<1, 32>>>(late, y, 16); }),
      [](int i) { return (i < 16 ? 0 : i) + (31 - i < 16 ? 0 : 31 - i); });
  Unwritten<unsigned long long> numbers(32);
  expect::each(
      results<int>(32, [&](int* y) { carry_kernel<<<1, 32>>>(numbers, y); }),
      [](int i) { return i > 0; });
}

// ---- Parts of what is loaded at once
// -----------------------------------------

__global__ void first_kernel(const float4* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x].x;
}

__global__ void fill_first_kernel(float4* x) { x[threadIdx.x].x = threadIdx.x; }

__global__ void double_first_kernel(const float4* x, float4* y) {
  float4 pack = x[threadIdx.x];
  pack.x *= 2;
  y[threadIdx.x] = pack;
}

// Words of which only some bytes are written, and only those are used.
__global__ void fill_bytes_kernel(uint8_t* x) { x[threadIdx.x] = threadIdx.x; }

__global__ void bytes_kernel(const uint32_t* x, int* y, int n) {
  const uint32_t word = x[threadIdx.x];
  for (int k = 0; k < 4; ++k)
    if (4 * threadIdx.x + k < n) y[4 * threadIdx.x + k] = word >> (8 * k) & 255;
}

__global__ void low_kernel(const int* x, int* y) {
  const int word = x[0];
  y[0] = static_cast<int16_t>(word);
  y[1] = __byte_perm(word, 0, 0x4410);
  y[2] = word << 16 >> 16;
}

__global__ void halves_kernel(const __half2* x, float* y) {
  __half2 pair = x[0];
  pair = __hadd2(pair, pair);
  y[0] = __low2float(pair);
}

void test_parts() {
  Unwritten<float4> x(32), copy(32);
  fill_first_kernel<<<1, 32>>>(x);
  expect::each(expect::results<float>(
                   32, [&](float* y) { first_kernel<<<1, 32>>>(x, y); }),
               [](int i) { return i; });
  double_first_kernel<<<1, 32>>>(x, copy);
  expect::each(expect::results<float>(
                   32, [&](float* y) { first_kernel<<<1, 32>>>(copy, y); }),
               [](int i) { return 2 * i; });
  Unwritten<uint32_t> words(8);
  fill_bytes_kernel<<<1, 30>>>(reinterpret_cast<uint8_t*>((uint32_t*)words));
  expect::each(expect::results<int>(
                   30, [&](int* y) { bytes_kernel<<<1, 8>>>(words, y, 30); }),
               [](int i) { return i; });
  expect::each(expect::results<int>(
                   3,
                   [&](int* y) {
                     low_kernel<<<1, 1>>>(
                         reinterpret_cast<int*>((uint32_t*)words + 7), y);
                   }),
               [](int) { return 29 << 8 | 28; });
  Unwritten<__half2> pair(1);
  const __half one = __float2half(1.f);
  expect::ok(cudaMemcpy(pair, &one, sizeof one, cudaMemcpyHostToDevice));
  expect::each(expect::results<float>(
                   1, [&](float* y) { halves_kernel<<<1, 1>>>(pair, y); }),
               [](int) { return 2; });
}

// ---- Padding
// -------------------------------------------------------------------

struct Wide {
  char c;
  double d;
  int i;
};
struct Narrow {
  char c;
  int i;
  short s;
};
struct alignas(16) Triple {
  float x, y, z;
};
struct Large {
  char c;
  double d;
  int values[70];
  short s;
};

struct alignas(8) Aligned {
  int i;
};
struct alignas(16) Tail {
  float f;
  int i;
  char c;
};
struct Nested {
  Aligned parts[2];
  char c;
  Tail tail;
};

template <typename T>
__global__ void make_kernel(T* to);
template <>
__global__ void make_kernel(Wide* to) {
  to[threadIdx.x].c = 1;
  to[threadIdx.x].d = 2;
  to[threadIdx.x].i = 3;
}
template <>
__global__ void make_kernel(Narrow* to) {
  to[threadIdx.x].c = 1;
  to[threadIdx.x].i = 2;
  to[threadIdx.x].s = 3;
}
template <>
__global__ void make_kernel(Triple* to) {
  to[threadIdx.x].x = 1;
  to[threadIdx.x].y = 2;
  to[threadIdx.x].z = 3;
}
template <>
__global__ void make_kernel(Large* to) {
  to[threadIdx.x].c = 1;
  to[threadIdx.x].d = 2;
  for (int& value : to[threadIdx.x].values) value = 0;
  to[threadIdx.x].s = 3;
}

template <>
__global__ void make_kernel(Tail* to) {
  to[threadIdx.x].f = 1;
  to[threadIdx.x].i = 2;
  to[threadIdx.x].c = 3;
}
__device__ __noinline__ Nested nested(int i) {
  Nested made;
  made.parts[0].i = i;
  made.parts[1].i = 1;
  made.c = 1;
  made.tail.f = 1;
  made.tail.i = made.tail.c = 1;
  return made;
}
template <>
__global__ void make_kernel(Nested* to) {
  to[threadIdx.x] = nested(1);
}

__device__ int sum(const Wide& v) { return v.c + v.d + v.i; }
__device__ int sum(const Narrow& v) { return v.c + v.i + v.s; }
__device__ int sum(const Triple& v) { return v.x + v.y + v.z; }
__device__ int sum(const Large& v) {
  int total = v.c + v.d + v.s;
  for (int value : v.values) total += value;
  return total;
}

__device__ int sum(const Tail& v) { return v.f + v.i + v.c; }
__device__ int sum(const Nested& v) {
  return v.parts[0].i + v.parts[1].i + v.c + sum(v.tail);
}

template <typename T>
__global__ void copy_kernel(const T* from, T* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

template <typename T>
__global__ void stage_kernel(const T* from, T* to) {
  __shared__ T tile[16];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[15 - threadIdx.x];
}

template <typename T>
__noinline__ __device__ T handed_on(T value, const T& other, int which) {
  return which ? value : other;
}

template <typename T>
__global__ void call_kernel(const T* from, T* to) {
  T own[3];
  own[0] = from[threadIdx.x];
  own[1] = from[15 - threadIdx.x];
  own[threadIdx.x % 2] = from[threadIdx.x];
  to[threadIdx.x] = handed_on(own[threadIdx.x % 2], own[0], threadIdx.x % 3);
}

// Of two whole ones, or byte by byte.
template <typename T>
__global__ void choose_kernel(const T* from, T* to) {
  const T one = from[threadIdx.x], other = from[15 - threadIdx.x];
  const T chosen = threadIdx.x & 2 ? one : other;
  to[threadIdx.x] = chosen;
}
template <typename T>
__global__ void bytes_kernel(const T* from, T* to) {
  memcpy(to + threadIdx.x, from + threadIdx.x, sizeof(T));
}

template <typename T>
__global__ void sum_kernel(const T* from, int* y) {
  y[threadIdx.x] = sum(from[threadIdx.x]);
}

template <typename T>
void test_padding() {
  Unwritten<T> x(16), copied(16), staged(16), returned(16), chosen(16),
      moved(16);
  make_kernel<<<1, 16>>>(static_cast<T*>(x));
  copy_kernel<T><<<1, 16>>>(x, copied);
  stage_kernel<T><<<1, 16>>>(copied, staged);
  call_kernel<T><<<1, 16>>>(staged, returned);
  choose_kernel<T><<<1, 16>>>(returned, chosen);
  bytes_kernel<T><<<1, 16>>>(chosen, moved);
  expect::each(expect::results<int>(
                   16, [&](int* y) { sum_kernel<T><<<1, 16>>>(moved, y); }),
               [](int) { return 6; });
}

// ---- A thread's own memory
// -------------------------------------------------------

__global__ void stack_kernel(const int* order, int* y, int n) {
  int stack[16];
  int top = 0;
  for (int k = 0; k < n; ++k) {
    stack[top++] = order[k];
    if (order[k] % 3 == 0) top -= 2;
  }
  int total = 0;
  while (top > 0) total += stack[--top];
  y[threadIdx.x] = total;
}

__noinline__ __device__ int depth(const int* order, int n) {
  int own[4];
  own[order[n] & 3] = n;
  const int below = n > 0 ? depth(order, n - 1) : 0;
  return below + own[order[n] & 3];
}

__global__ void recursion_kernel(const int* order, int* y) {
  y[threadIdx.x] = depth(order, threadIdx.x % 8);
}

void test_own_memory() {
  const expect::Copy<int> order({1, 2, 4, 3, 5, 6, 7, 8});
  expect::each(expect::results<int>(
                   4, [&](int* y) { stack_kernel<<<1, 4>>>(order, y, 8); }),
               [](int) { return 1 + 2 + 7 + 8; });
  expect::each(expect::results<int>(
                   32, [&](int* y) { recursion_kernel<<<1, 32>>>(order, y); }),
               [](int i) { return i % 8 * (i % 8 + 1) / 2; });
}

}  // namespace

int main() {
  test_idle_lanes();
  test_parts();
  test_padding<Wide>();
  test_padding<Narrow>();
  test_padding<Triple>();
  test_padding<Large>();
  test_padding<Tail>();
  test_padding<Nested>();
  test_own_memory();
  return expect::report();
}
