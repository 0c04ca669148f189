// One warp touches shared and global memory in every way we could think of,
// with every width. Written in PTX, so that ptxas has nothing to decide: what
// differs here is a wrong definition of a counter.
#include <cuda_runtime.h>

#include <cstdint>
#include <random>
#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kLanes = 32;
constexpr uint32_t kNever = 0xabcd1234;
constexpr int kElements = 1024;  // of each array; an index is below it

struct Pattern {
  int index[kLanes];
  uint32_t active = ~0u;
};

// Uses every bit, lest ptxas load fewer of them.
__device__ uint32_t fold(uint64_t v) {
  return static_cast<uint32_t>(v) ^ static_cast<uint32_t>(v >> 32);
}

template <class T>
struct Access;  // volatile, of exactly one instruction

#define ACCESS(T, suffix, constraint, cast)                        \
  template <>                                                      \
  struct Access<T> {                                               \
    static __device__ uint32_t load_shared(uint32_t at) {          \
      cast v;                                                      \
      asm volatile("ld.shared." suffix " %0, [%1];"                \
                   : "=" constraint(v)                             \
                   : "r"(at));                                     \
      return fold(v);                                              \
    }                                                              \
    static __device__ void store_shared(uint32_t at, uint32_t x) { \
      asm volatile("st.shared." suffix " [%0], %1;" ::"r"(at),     \
                   constraint(static_cast<cast>(x)));              \
    }                                                              \
    static __device__ uint32_t load_global(const T* p) {           \
      cast v;                                                      \
      asm volatile("ld.global." suffix " %0, [%1];"                \
                   : "=" constraint(v)                             \
                   : "l"(p));                                      \
      return fold(v);                                              \
    }                                                              \
    static __device__ void store_global(T* p, uint32_t x) {        \
      asm volatile("st.global." suffix " [%0], %1;" ::"l"(p),      \
                   constraint(static_cast<cast>(x)));              \
    }                                                              \
  };
ACCESS(uint8_t, "u8", "r", uint32_t)
ACCESS(uint16_t, "u16", "h", uint16_t)
ACCESS(uint32_t, "u32", "r", uint32_t)
ACCESS(uint64_t, "u64", "l", uint64_t)
#undef ACCESS

template <>
struct Access<uint4> {
  static __device__ uint32_t load_shared(uint32_t at) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at));
    return v.x + v.y + v.z + v.w;
  }
  static __device__ void store_shared(uint32_t at, uint32_t x) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(x));
  }
  static __device__ uint32_t load_global(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v.x + v.y + v.z + v.w;
  }
  static __device__ void store_global(uint4* p, uint32_t x) {
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(x));
  }
};

// All four kinds of access at the places of one pattern.
template <class T>
__global__ void touch(Pattern pattern, uint32_t never, T* x, uint32_t* out) {
  __shared__ uint4 words[kElements];
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(words));
  const int lane = threadIdx.x;
  const bool active = pattern.active >> lane & 1;
  const int i = pattern.index[lane];
  uint32_t v = 0;
  if (active) {
    Access<T>::store_shared(base + i * sizeof(T), never);
    Access<T>::store_global(x + i, never);
  }
  __syncthreads();  // Or ptxas would know what is loaded.
  if (active)
    v = Access<T>::load_shared(base + i * sizeof(T)) ^
        Access<T>::load_global(x + i) ^ i;
  if (v == never) out[lane] = words[lane].x;
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  const auto add = [&](auto index, uint32_t active = ~0u) {
    Pattern p;
    for (int l = 0; l < kLanes; ++l) p.index[l] = index(l) % kElements;
    p.active = active;
    all.push_back(p);
  };
  for (int stride : {0, 1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 64})
    add([=](int l) { return l * stride; });
  add([](int l) { return l + 1; });
  add([](int l) { return 31 - l; });
  for (int group : {2, 4, 8, 16}) {
    add([=](int l) { return l / group; });
    add([=](int l) { return l % group; });
    add([=](int l) { return l / group * 32 + l % group; });
    add([=](int l) { return l % group * 32 + l / group; });
  }
  for (int x : {1, 2, 4, 8, 16, 21}) add([=](int l) { return l ^ x; });
  for (uint32_t active : {0x0000ffffu, 0xffff0000u, 0x55555555u, 0x00ff00ffu,
                          0x0000000fu, 0x80000001u, 0x11111111u, 0x1u})
    for (int stride : {1, 2, 32})
      add([=](int l) { return l * stride; }, active);
  // Neighbours that coincide: in all of the warp, or in a part of it.
  for (int stride : {2, 4, 32}) add([=](int l) { return l / 2 * stride; });
  for (int from : {0, 8, 16, 24})
    add([=](int l) { return l / 8 * 8 == from ? l : l / 2 * 2; });
  for (int half : {0, 16}) {
    add([=](int l) { return l / 16 * 16 == half ? l : l / 2 * 2; });
    add([=](int l) { return l / 16 * 16 == half ? 2 * l : l / 2 * 4; });
  }
  add([](int l) { return (l ^ (l >> 1 & 1)) / 2 * 2; });
  // The same, where lanes two apart coincide, or four, or eight.
  for (int apart : {2, 4, 8, 16}) {
    add([=](int l) { return (l & ~apart) * 2; });
    for (int half : {0, 16})
      add([=](int l) { return (l & 16) == half ? l : (l & ~apart); });
    add([=](int l) { return l & (l < 16 ? ~apart : ~1); });
    add([=](int l) { return l; }, apart == 16 ? 0xffffu : 0x33333333u * apart);
    add([=](int l) { return l & ~apart; }, 0xfffffffeu);
    add([=](int l) { return l & ~apart; }, 0x0000ffffu);
  }
  std::mt19937 random(20261121);  // The same numbers everywhere.
  for (int most : {4, 8, 16, 32, 64, 128, 1024})
    for (int k = 0; k < 4; ++k)
      add([&](int) { return static_cast<int>(random() % most); },
          k < 2 ? ~0u : static_cast<uint32_t>(random()) | 1u);
  return all;
}

template <class T>
void launch(const Pattern& p, void* x, uint32_t* out) {
  touch<T><<<1, kLanes>>>(p, kNever, static_cast<T*>(x), out);
}

}  // namespace

int main() {
  const DeviceArray<uint4> x(kElements);
  const DeviceArray<uint32_t> out(kLanes);
  CUDA_CHECK(cudaMemset(x.data(), 0, kElements * sizeof(uint4)));
  for (const Pattern& p : patterns()) {
    launch<uint8_t>(p, x.data(), out.data());
    launch<uint16_t>(p, x.data(), out.data());
    launch<uint32_t>(p, x.data(), out.data());
    launch<uint64_t>(p, x.data(), out.data());
    launch<uint4>(p, x.data(), out.data());
  }
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
