// The memory half of the runtime: what copies, fills and frees accept, and with
// which of CUDA's codes they refuse the rest.

#include <algorithm>
#include <cstdint>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__device__ int counter = 7;
__device__ int table[4] = {1, 2, 3, 4};
__constant__ float scale[2] = {0.5f, 2.0f};
__managed__ int managed = 3;

__global__ void use_variables(float* out) {
  counter += 1;
  managed += table[3];
  out[0] = scale[0] + scale[1];
}

__global__ void fill_kernel(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

__global__ void count_kernel(int* numbers, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++numbers[i];
}

void allocating() {
  void* p = nullptr;
  ok(cudaMalloc(&p, 1));
  equal(reinterpret_cast<uintptr_t>(p) % 256, 0);
  equal(cudaFree(p), cudaSuccess);
  equal(cudaFree(p), cudaErrorInvalidValue);
  equal(cudaFree(nullptr), cudaSuccess);

  ok(cudaMalloc(&p, 100));
  equal(cudaFree(static_cast<char*>(p) + 4), cudaErrorInvalidValue);
  equal(cudaFreeHost(p), cudaErrorInvalidValue);
  ok(cudaFree(p));
  int local = 0;
  equal(cudaFree(&local), cudaErrorInvalidValue);

  equal(cudaMalloc(&p, 0), cudaSuccess);
  is_true(p == nullptr, "no bytes are at no address");
  // Documented is cudaErrorInvalidValue; with CUDA 13 an H200 answers success.
  const cudaError_t empty = cudaMallocManaged(&p, 0);
  is_true(empty == cudaErrorInvalidValue ||
              (CUDART_VERSION >= 13000 && empty == cudaSuccess),
          "no bytes are refused, or at no address");
  ok(cudaFree(empty == cudaSuccess ? p : nullptr));
  equal(cudaMalloc(&p, size_t{1} << 50), cudaErrorMemoryAllocation);
  equal(cudaGetLastError(), cudaErrorMemoryAllocation);

  size_t free_bytes = 0, total = 0;
  ok(cudaMemGetInfo(&free_bytes, &total));
  is_true(free_bytes <= total && total > 0, "0 < total, free <= total");
}

void copying() {
  constexpr int n = 1000;
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i) host[i] = i * 3;
  int *a = nullptr, *b = nullptr;
  const size_t bytes = n * sizeof(int);
  ok(cudaMalloc(&a, bytes));
  ok(cudaMalloc(&b, bytes));
  ok(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
  ok(cudaMemcpy(back.data(), b, bytes, cudaMemcpyDefault));
  expect::each(back, [](int i) { return i * 3; });

  // Inside an array, at its very end, and one element too far.
  equal(cudaMemcpy(a + n - 1, host.data(), sizeof(int), cudaMemcpyDefault),
        cudaSuccess);
  equal(cudaMemcpy(a, host.data(), 0, cudaMemcpyHostToDevice), cudaSuccess);
  equal(cudaMemcpy(nullptr, host.data(), 4, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
  equal(cudaMemcpy(a, host.data(), 4, static_cast<cudaMemcpyKind>(7)),
        cudaErrorInvalidMemcpyDirection);
  // The kind must be what the pointers are.
  equal(cudaMemcpy(host.data(), a, 4, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
  equal(cudaMemcpy(back.data(), host.data(), 4, cudaMemcpyDeviceToHost),
        cudaErrorInvalidValue);
  equal(cudaGetLastError(), cudaErrorInvalidValue);
  equal(cudaGetLastError(), cudaSuccess);

  ok(cudaMemset(a, 0x01, bytes));
  ok(cudaMemcpy(back.data(), a, bytes, cudaMemcpyDeviceToHost));
  expect::each(back, [](int) { return 0x01010101; });
  equal(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  ok(cudaFree(a));
  ok(cudaFree(b));
  cudaGetLastError();
}

#if CUDART_VERSION >= 13000

// Each entry of attributes holds from its index on.
void batches() {
  int a = 7, b[2] = {8, 9}, back[4] = {};
  int* all = nullptr;
  cudaStream_t stream = nullptr;
  ok(cudaMalloc(&all, sizeof back));
  ok(cudaStreamCreate(&stream));
  ok(cudaMemsetAsync(all, 0, sizeof back, stream));
  void* const to[] = {all, all + 1};
  const void* const from[] = {&a, b};
  const size_t bytes[] = {sizeof a, sizeof b};
  size_t begins[] = {0, 1};
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ok(cudaMemcpyBatchAsync(to, from, bytes, 2, attributes, begins, 2, stream));
  b[0] = b[1] = 0;  // The call has read them.
  ok(cudaStreamSynchronize(stream));
  ok(cudaMemcpy(back, all, sizeof back, cudaMemcpyDefault));
  expect::each(std::vector(back, back + 4),
               [](int i) { return i < 3 ? 7 + i : 0; });
  const auto refused = [&](size_t count, size_t entries) {
    equal(cudaMemcpyBatchAsync(to, from, bytes, count, attributes, begins,
                               entries, stream),
          cudaErrorInvalidValue);
  };
  refused(2, 0);
  refused(1, 2);
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  refused(2, 2);
  begins[0] = 1;
  refused(2, 1);
  begins[0] = 0;
  attributes[0].flags = 99;
  refused(2, 1);
  attributes[0].flags = cudaMemcpyFlagPreferOverlapWithCompute;
  const size_t none[] = {sizeof a, 0};
  equal(cudaMemcpyBatchAsync(to, from, none, 2, attributes, begins, 1, stream),
        cudaErrorInvalidValue);
  ok(cudaStreamDestroy(stream));
  ok(cudaFree(all));
  cudaGetLastError();
}

// Boxes of 6 x 3 x 2 bytes, from rows of 8 to rows of 16.
void batches_of_boxes() {
  char *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<char> host(256), back(256);
  for (size_t i = 0; i < host.size(); ++i) host[i] = char(i);
  ok(cudaMalloc(&from, 256));
  ok(cudaMalloc(&to, 256));
  ok(cudaStreamCreate(&stream));
  ok(cudaMemcpy(from, host.data(), 256, cudaMemcpyHostToDevice));
  ok(cudaMemset(to, 0, 256));
  cudaMemcpy3DBatchOp box = {};
  box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = from;
  box.src.op.ptr.rowLength = 8;
  box.dst.op.ptr.ptr = to;
  box.dst.op.ptr.rowLength = 16;
  box.src.op.ptr.layerHeight = box.dst.op.ptr.layerHeight = 4;
  box.extent = make_cudaExtent(6, 3, 2);
  box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  ok(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
  ok(cudaStreamSynchronize(stream));
  ok(cudaMemcpy(back.data(), to, 256, cudaMemcpyDeviceToHost));
  expect::each(back, [](int i) {
    const int x = i % 16, y = i / 16 % 4, z = i / 64;
    return char(x < 6 && y < 3 && z < 2 ? (z * 4 + y) * 8 + x : 0);
  });
  equal(cudaMemcpy3DBatchAsync(0, &box, 0, stream), cudaErrorInvalidValue);
  equal(cudaMemcpy3DBatchAsync(1, &box, 1, stream), cudaErrorInvalidValue);
  equal(cudaMemcpy3DBatchAsync(1, nullptr, 0, stream), cudaErrorInvalidValue);
  equal(cudaMemcpy3DBatchAsync(1, &box, 0, nullptr), cudaErrorInvalidValue);
  ok(cudaStreamDestroy(stream));
  ok(cudaFree(from));
  ok(cudaFree(to));
  cudaGetLastError();
}

void batches_of_prefetches() {
  int* pages = nullptr;
  cudaStream_t stream = nullptr;
  ok(cudaMallocManaged(&pages, 1 << 20));
  ok(cudaStreamCreate(&stream));
  void* begin[] = {pages};
  size_t bytes[] = {1 << 20}, index[] = {0};
  cudaMemLocation here = {cudaMemLocationTypeDevice, {0}};
  ok(cudaMemPrefetchBatchAsync(begin, bytes, 1, &here, index, 1, 0, stream));
  ok(cudaStreamSynchronize(stream));
  int place = -1;
  ok(cudaMemRangeGetAttribute(&place, sizeof place,
                              cudaMemRangeAttributeLastPrefetchLocation, pages,
                              1 << 20));
  equal(place, 0);
  equal(cudaMemPrefetchBatchAsync(begin, bytes, 1, &here, index, 2, 0, stream),
        cudaErrorInvalidValue);
  ok(cudaMemDiscardBatchAsync(begin, bytes, 1, 0, stream));
  ok(cudaMemDiscardAndPrefetchBatchAsync(begin, bytes, 1, &here, index, 1, 0,
                                         stream));
  equal(cudaMemDiscardBatchAsync(begin, bytes, 1, 1, stream),
        cudaErrorInvalidValue);
  ok(cudaStreamSynchronize(stream));
  ok(cudaStreamDestroy(stream));
  ok(cudaFree(pages));
  cudaGetLastError();
}

#endif

void pitched() {
  constexpr size_t width = 10, height = 4;
  uint8_t* p = nullptr;
  size_t pitch = 0;
  ok(cudaMallocPitch(&p, &pitch, width, height));
  is_true(pitch >= width && pitch % 32 == 0, "rows begin at sectors");
  std::vector<uint8_t> host(width * height), back(width * height);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i);
  ok(cudaMemcpy2D(p, pitch, host.data(), width, width, height,
                  cudaMemcpyHostToDevice));
  ok(cudaMemset2D(p + pitch, pitch, 9, width, 1));
  ok(cudaMemcpy2D(back.data(), width, p, pitch, width, height,
                  cudaMemcpyDeviceToHost));
  expect::each(back, [](int i) { return i / 10 == 1 ? 9 : i; });
  equal(cudaMemcpy2D(p, width - 1, host.data(), width, width, height,
                     cudaMemcpyHostToDevice),
        cudaErrorInvalidPitchValue);
  ok(cudaFree(p));
  cudaGetLastError();
}

void symbols() {
  float* out = nullptr;
  ok(cudaMalloc(&out, sizeof(float)));
  const int ten[2] = {10, 20};
  ok(cudaMemcpyToSymbol(table, ten, sizeof ten, 2 * sizeof(int)));
  managed = 100;
  use_variables<<<1, 1>>>(out);
  ok(cudaDeviceSynchronize());
  int got = 0, all[4] = {};
  ok(cudaMemcpyFromSymbol(&got, counter, sizeof got));
  equal(got, 8);
  ok(cudaMemcpyFromSymbol(all, table, sizeof all));
  equal(all[1], 2);
  equal(all[3], 20);
  equal(managed, 120);
  float sum = 0;
  ok(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  equal(sum, 2.5f);

  void* address = nullptr;
  size_t bytes = 0;
  ok(cudaGetSymbolSize(&bytes, scale));
  equal(bytes, sizeof scale);
  ok(cudaGetSymbolAddress(&address, counter));
  ok(cudaMemset(address, 0, sizeof(int)));
  ok(cudaMemcpyFromSymbol(&got, counter, sizeof got));
  equal(got, 0);

  equal(cudaMemcpyToSymbol(counter, &got, 8), cudaErrorInvalidValue);
  equal(cudaMemcpyToSymbol(counter, &got, 4, 4), cudaErrorInvalidValue);
  // Not even where another variable may be.
  equal(cudaMemcpyToSymbol(counter, &got, 4, 512), cudaErrorInvalidValue);
  equal(cudaMemcpyToSymbol(got, &got, 4), cudaErrorInvalidSymbol);
  equal(cudaGetSymbolAddress(&address, got), cudaErrorInvalidSymbol);
  ok(cudaFree(out));
  cudaGetLastError();
}

void host_memory() {
  int *pinned = nullptr, *both = nullptr;
  ok(cudaMallocHost(&pinned, 400));
  ok(cudaMallocManaged(&both, 400));
  fill_kernel<<<1, 128>>>(both, 100);
  ok(cudaDeviceSynchronize());
  equal(both[99], 99);
  fill_kernel<<<1, 128>>>(pinned, 100);
  ok(cudaDeviceSynchronize());
  equal(pinned[42], 42);
  equal(cudaFree(pinned), cudaErrorInvalidValue);

  cudaPointerAttributes what = {};
  ok(cudaPointerGetAttributes(&what, pinned + 1));
  equal(what.type, cudaMemoryTypeHost);
  ok(cudaPointerGetAttributes(&what, both));
  equal(what.type, cudaMemoryTypeManaged);
  ok(cudaPointerGetAttributes(&what, &pinned));
  equal(what.type, cudaMemoryTypeUnregistered);
  int* device = nullptr;
  ok(cudaMalloc(&device, 4));
  ok(cudaPointerGetAttributes(&what, device));
  equal(what.type, cudaMemoryTypeDevice);
  is_true(what.devicePointer == device, "the device's own address");

  ok(cudaFree(device));
  ok(cudaFree(both));
  ok(cudaFreeHost(pinned));
  equal(cudaFreeHost(pinned), cudaErrorInvalidValue);

  std::vector<int> own(1000);
  ok(cudaHostRegister(own.data(), own.size() * sizeof(int),
                      cudaHostRegisterDefault));
  void* seen = nullptr;
  ok(cudaHostGetDevicePointer(&seen, own.data(), 0));
  fill_kernel<<<8, 128>>>(static_cast<int*>(seen), 1000);
  ok(cudaDeviceSynchronize());
  expect::each(own, [](int i) { return i; });
  ok(cudaHostUnregister(own.data()));
  equal(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  // Here the driver of a GPU would look for so many pages.
  if (!on_executor()) return;
  for (size_t bytes : {size_t{1} << 46, SIZE_MAX})
    is_true(cudaHostRegister(own.data(), bytes, 0) != cudaSuccess,
            "what is no memory cannot be registered");
  cudaGetLastError();
}

void host_flags() {
  constexpr unsigned kAsked =
      cudaHostAllocPortable | cudaHostAllocWriteCombined;
  int *x = nullptr, *plain = nullptr, *device = nullptr;
  unsigned flags = 0;
  ok(cudaHostAlloc(&x, 400, kAsked));
  ok(cudaHostGetFlags(&flags, x));
  equal(flags, kAsked | cudaHostAllocMapped);
  ok(cudaMallocHost(&plain, 400));
  ok(cudaHostGetFlags(&flags, plain));
  equal(flags, unsigned{cudaHostAllocMapped});
  equal(cudaHostRegister(plain, 400, 0), cudaErrorInvalidValue);
  ok(cudaMalloc(&device, 400));
  equal(cudaHostGetFlags(&flags, device), cudaErrorInvalidValue);
  equal(cudaHostGetFlags(&flags, &flags), cudaErrorInvalidValue);
  ok(cudaFree(device));
  ok(cudaFreeHost(plain));
  ok(cudaFreeHost(x));
  cudaGetLastError();
}

void registered() {
  constexpr size_t kPage = 4096;
  auto* const own = static_cast<char*>(std::aligned_alloc(kPage, kPage));
  unsigned flags = 0;
  for (const unsigned asked :
       {cudaHostRegisterDefault, cudaHostRegisterPortable,
        cudaHostRegisterMapped, cudaHostRegisterReadOnly}) {
    ok(cudaHostRegister(own, kPage, asked));
    ok(cudaHostGetFlags(&flags, own));
    equal(flags, cudaHostAllocMapped | (asked & cudaHostRegisterPortable));
    ok(cudaHostUnregister(own));
  }
  equal(cudaHostRegister(own, kPage, cudaHostRegisterIoMemory),
        cudaErrorInvalidValue);
  equal(cudaHostRegister(own, kPage, 16), cudaErrorInvalidValue);
  ok(cudaHostRegister(own, kPage, 0));
  void* seen = nullptr;
  equal(cudaHostGetDevicePointer(&seen, own, 1), cudaErrorInvalidValue);
  equal(cudaHostUnregister(own + 8), cudaErrorInvalidValue);
  ok(cudaHostUnregister(own));
  equal(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
  void* pinned = nullptr;
  ok(cudaMallocHost(&pinned, 64));
  equal(cudaHostUnregister(pinned), cudaErrorInvalidValue);
  ok(cudaFreeHost(pinned));
  cudaGetLastError();
  std::free(own);
}

// Where there is nothing to get, to free or to be told.
void nothing() {
  void* p = &p;
  size_t pitch = 77, bytes = 0;
  equal(cudaMalloc(&p, size_t{1} << 45), cudaErrorMemoryAllocation);
  is_true(p == nullptr, "no pointer is left behind");
  for (const auto& [width, height] : {std::pair{0, 3}, {3, 0}}) {
    p = &p;
    ok(cudaMallocPitch(&p, &pitch, width, height));
    is_true(p == nullptr && pitch == 0, "an image without a byte");
  }
  cudaPitchedPtr pitched = {};
  ok(cudaMalloc3D(&pitched, make_cudaExtent(4, 3, 0)));
  equal(pitched.pitch, 0);
  ok(cudaMemcpy(&bytes, &pitch, 0, cudaMemcpyKind(9)));
  ok(cudaFreeAsync(nullptr, nullptr));
  ok(cudaMemGetInfo(nullptr, &bytes));
  ok(cudaMemGetInfo(&bytes, nullptr));
  ok(cudaMemcpyToSymbol(counter, &bytes, 0, sizeof counter + 1));
  cudaPointerAttributes what = {};
  const auto* const beside = reinterpret_cast<char*>(&what);
  ok(cudaPointerGetAttributes(&what, beside));
  equal(what.device, cudaInvalidDeviceId);
  is_true(what.hostPointer == beside, "the host's own address");
  cudaGetLastError();
}

// Boxes that leave the rows and slices of which their pointers tell.
void boxes() {
  std::vector<char> host(64 * 64);
  char* p = nullptr;
  ok(cudaMalloc(&p, 64 * 64));
  cudaMemcpy3DParms fits = {};
  fits.srcPtr = make_cudaPitchedPtr(host.data(), 40, 33, 9);
  fits.dstPtr = make_cudaPitchedPtr(p, 64, 50, 11);
  fits.extent = make_cudaExtent(30, 7, 5);
  fits.kind = cudaMemcpyHostToDevice;
  ok(cudaMemcpy3D(&fits));
  const auto refused = [](const cudaMemcpy3DParms& one, cudaError_t code) {
    equal(cudaMemcpy3D(&one), code);
    equal(cudaMemcpy3DAsync(&one), code);
  };
  cudaMemcpy3DParms other = fits;
  other.srcPos.x = 11;
  refused(other, cudaErrorInvalidValue);
  other = fits;
  other.srcPos.y = 3;
  refused(other, cudaErrorInvalidValue);
  other = fits;
  other.extent.height = 10;
  refused(other, cudaErrorInvalidPitchValue);
  other.extent.depth = 1;
  refused(other, cudaErrorInvalidValue);

  const cudaPitchedPtr set = make_cudaPitchedPtr(p, 64, 60, 9);
  ok(cudaMemset3D(set, 5, make_cudaExtent(64, 9, 2)));
  equal(cudaMemset3D(set, 5, make_cudaExtent(65, 8, 2)), cudaErrorInvalidValue);
  equal(cudaMemset3D(set, 5, make_cudaExtent(50, 10, 1)),
        cudaErrorInvalidValue);
  ok(cudaMemset2D(p, 0, 7, 60, 1));
  equal(cudaMemset2D(p, 50, 7, 60, 2), cudaErrorInvalidValue);
  ok(cudaFree(p));
  cudaGetLastError();
}

// The host's memory, and managed memory, begin as zeros, also where something
// else was before. CUDA does not say so; programs rely on it.
template <class Get, class Free>
void begins_as_zeros(Get get, Free free) {
  for (const int n : {16, 1000, 300000}) {
    for (int round = 0; round < 3; ++round) {
      int* numbers = nullptr;
      ok(get(&numbers, n * sizeof(int)));
      if (round == 1) {
        count_kernel<<<n / 256 + 1, 256>>>(numbers, n);
        ok(cudaDeviceSynchronize());
      }
      int others = 0;
      for (int i = 0; i < n; ++i) others += numbers[i] != (round == 1);
      equal(others, 0);
      std::fill_n(numbers, n, -1);
      ok(free(numbers));
    }
  }
}

void fresh_memory() {
  begins_as_zeros(
      [](int** p, size_t bytes) { return cudaMallocManaged(p, bytes); },
      [](int* p) { return cudaFree(p); });
  begins_as_zeros(
      [](int** p, size_t bytes) { return cudaMallocHost(p, bytes); },
      [](int* p) { return cudaFreeHost(p); });
}

// Sizes whose product wraps around are too large, not small. Of the executor
// alone: what CUDA does then is not written down.
void huge_sizes() {
  constexpr size_t kHuge = size_t{1} << 32;
  void* p = nullptr;
  size_t pitch = 0;
  is_true(cudaMallocPitch(&p, &pitch, kHuge, kHuge) != cudaSuccess, "2^64 B");
  is_true(cudaMallocPitch(&p, &pitch, SIZE_MAX, 1) != cudaSuccess, "a row");
  cudaPitchedPtr pitched = {};
  is_true(cudaMalloc3D(&pitched, {kHuge, kHuge, 1}) != cudaSuccess, "in 3D");
  ok(cudaMalloc(&p, 64));
  char host[64] = {};
  is_true(cudaMemcpy2D(p, kHuge, host, 16, 16, kHuge + 1,
                       cudaMemcpyHostToDevice) != cudaSuccess,
          "rows far behind the array are not written");
  is_true(cudaMemset2D(p, kHuge, 0, 16, kHuge + 1) != cudaSuccess, "nor set");
  is_true(cudaMemset(p, 0, SIZE_MAX) != cudaSuccess, "nor any other way");
  ok(cudaFree(p));
  cudaGetLastError();
}

}  // namespace

int main() {
  allocating();
  copying();
#if CUDART_VERSION >= 13000
  batches();
  batches_of_boxes();
  batches_of_prefetches();
#endif
  pitched();
  symbols();
  host_memory();
  host_flags();
  registered();
  nothing();
  boxes();
  fresh_memory();
  if (on_executor()) huge_sizes();
  return expect::report();
}
