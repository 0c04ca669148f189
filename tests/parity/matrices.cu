// Matrices: rows of ldmatrix and stmatrix in and out of step with the banks,
// and what becomes of the loads and stores of wmma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

using namespace nvcuda;

// Offsets of rows of 16 bytes, in bytes.
enum Order { kStride, kSwizzle, kSame, kPairs, kScattered };

__device__ int offset(Order order, int stride, int lane) {
  switch (order) {
    case kStride:
      return lane * stride;
    case kSwizzle:
      return lane % 8 * 128 + (lane % 8 ^ lane / 8) * 16;
    case kSame:
      return 0;
    case kPairs:
      return lane / 2 * stride;
    default:
      return (lane * lane * 5 + lane * 3) % 97 * 16;
  }
}

template <int kCount, bool kTransposed>
__global__ void load_rows(Order order, int stride, uint32_t* out) {
  __shared__ __align__(128) unsigned char box[32 * 272];
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(box)) +
                      offset(order, stride, threadIdx.x);
  uint32_t r[4] = {};
  if constexpr (kCount == 4 && kTransposed)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(at));
  else if constexpr (kCount == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  else if constexpr (kCount == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(at));
  out[threadIdx.x] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

template <int kCount>
__global__ void store_rows(Order order, int stride, uint32_t* out) {
  __shared__ __align__(128) unsigned char box[32 * 272];
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(box)) +
                      offset(order, stride, threadIdx.x);
  if constexpr (kCount == 4)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(
            at),
        "r"(at));
  else if constexpr (kCount == 2)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%1};" ::"r"(
            at),
        "r"(at));
  else
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at),
        "r"(at));
  out[threadIdx.x] = at;
}

template <class Use, class T, int m, int n, int k, class Layout>
__global__ void load_global(const T* from, int stride, T* out) {
  wmma::fragment<Use, m, n, k, T, Layout> f;
  wmma::load_matrix_sync(f, from, stride);
  for (int i = 0; i < f.num_elements; ++i) out[i * 32 + threadIdx.x] = f.x[i];
}

template <class Use, class T, int m, int n, int k, class Layout>
__global__ void load_shared(int stride, T* out) {
  extern __shared__ __align__(128) unsigned char box[];
  wmma::fragment<Use, m, n, k, T, Layout> f;
  wmma::load_matrix_sync(f, reinterpret_cast<const T*>(box), stride);
  for (int i = 0; i < f.num_elements; ++i) out[i * 32 + threadIdx.x] = f.x[i];
}

template <class T, int m, int n, int k>
__global__ void sums_global(const T* from, T* to, int stride,
                            wmma::layout_t layout) {
  wmma::fragment<wmma::accumulator, m, n, k, T> f;
  wmma::load_matrix_sync(f, from, stride, layout);
  wmma::store_matrix_sync(to, f, stride, layout);
}

template <class T, int m, int n, int k>
__global__ void sums_shared(T* out, int stride, wmma::layout_t layout) {
  extern __shared__ __align__(128) unsigned char box[];
  T* const at = reinterpret_cast<T*>(box);
  wmma::fragment<wmma::accumulator, m, n, k, T> f;
  wmma::load_matrix_sync(f, at, stride, layout);
  wmma::store_matrix_sync(at + 2048, f, stride, layout);
  out[threadIdx.x] = at[2048 + threadIdx.x];
}

constexpr int kBox = 32768;

void rows(uint32_t* out) {
  for (int stride : {16, 32, 80, 128, 144, 272}) {
    load_rows<4, false><<<1, 32>>>(kStride, stride, out);
    load_rows<2, false><<<1, 32>>>(kStride, stride, out);
    load_rows<1, false><<<1, 32>>>(kStride, stride, out);
    store_rows<4><<<1, 32>>>(kStride, stride, out);
    store_rows<2><<<1, 32>>>(kStride, stride, out);
    store_rows<1><<<1, 32>>>(kStride, stride, out);
  }
  for (Order order : {kSwizzle, kSame, kPairs, kScattered}) {
    load_rows<4, true><<<1, 32>>>(order, 16, out);
    store_rows<4><<<1, 32>>>(order, 16, out);
  }
}

template <class Use, class T, int m, int n, int k>
void operands(T* numbers, int stride) {
  T* const out = numbers + 4096;
  load_global<Use, T, m, n, k, wmma::row_major>
      <<<1, 32>>>(numbers, stride, out);
  load_global<Use, T, m, n, k, wmma::col_major>
      <<<1, 32>>>(numbers, stride, out);
  load_shared<Use, T, m, n, k, wmma::row_major><<<1, 32, kBox>>>(stride, out);
  load_shared<Use, T, m, n, k, wmma::col_major><<<1, 32, kBox>>>(stride, out);
}
template <class T, int m, int n, int k>
void both_operands(T* numbers) {
  for (int stride : {32, 48}) {
    operands<wmma::matrix_a, T, m, n, k>(numbers, stride);
    operands<wmma::matrix_b, T, m, n, k>(numbers, stride);
  }
}

template <class T, int m, int n, int k>
void sums(T* numbers) {
  for (int stride : {32, 40})
    for (auto layout : {wmma::mem_row_major, wmma::mem_col_major}) {
      sums_global<T, m, n, k>
          <<<1, 32>>>(numbers, numbers + 4096, stride, layout);
      sums_shared<T, m, n, k><<<1, 32, kBox>>>(numbers, stride, layout);
    }
}

}  // namespace

int main() {
  DeviceArray<double> memory(1 << 16);
  void* const numbers = memory.data();
  rows(static_cast<uint32_t*>(numbers));
  both_operands<half, 16, 16, 16>(static_cast<half*>(numbers));
  both_operands<half, 32, 8, 16>(static_cast<half*>(numbers));
  both_operands<__nv_bfloat16, 8, 32, 16>(static_cast<__nv_bfloat16*>(numbers));
  both_operands<signed char, 16, 16, 16>(static_cast<signed char*>(numbers));
  both_operands<double, 8, 8, 4>(static_cast<double*>(numbers));
  sums<float, 16, 16, 16>(static_cast<float*>(numbers));
  sums<half, 32, 8, 16>(static_cast<half*>(numbers));
  sums<int, 8, 32, 16>(static_cast<int*>(numbers));
  sums<double, 8, 8, 4>(static_cast<double*>(numbers));
  cudaDeviceSynchronize();
  return 0;
}
