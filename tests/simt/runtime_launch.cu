// Launches that CUDA refuses, the codes it refuses them with, and what the
// program can ask about a kernel beforehand.

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;
using expect::Where;

__global__ void count_kernel(unsigned* count) { atomicAdd(count, 1); }

__global__ void __launch_bounds__(64) bounded_kernel(unsigned* count) {
  atomicAdd(count, 1);
}

// Each thread keeps so many numbers in registers.
constexpr int kKept = 80;
__global__ void wide_kernel(float* x) {
  float kept[kKept];
  for (int i = 0; i < kKept; ++i) kept[i] = x[i * blockDim.x + threadIdx.x];
  for (int i = 0; i < kKept; ++i)
    for (int k = 0; k < kKept; ++k) kept[k] *= kept[(k + 1) % kKept];
  for (int i = 0; i < kKept; ++i) x[i * blockDim.x + threadIdx.x] = kept[i];
}

__global__ void shared_kernel(int* out) {
  __shared__ int fixed[1024];  // 4096 bytes
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = 1;
  dynamic[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x] + dynamic[threadIdx.x];
}

template <typename T>
__global__ void typed_kernel(T* out) {
  *out = T(5);
}

__global__ void odd_shared_kernel(int* x) {
  __shared__ char chars[3];
  __shared__ double doubles[2];
  extern __shared__ int dynamic[];
  chars[threadIdx.x % 3] = x[0];
  doubles[threadIdx.x & 1] = x[1];
  dynamic[0] = 1;
  __syncthreads();
  x[0] = chars[0] + int(doubles[1]) + dynamic[0];
}

void not_a_kernel() {}

cudaError_t launched(dim3 grid, dim3 block, size_t shared = 0) {
  static unsigned* count = nullptr;
  if (count == nullptr) {
    ok(cudaMalloc(&count, sizeof *count));
    ok(cudaMemset(count, 0, sizeof *count));
  }
  count_kernel<<<grid, block, shared>>>(count);
  const cudaError_t error = cudaGetLastError();
  ok(cudaDeviceSynchronize());
  return error;
}

// Documented is cudaErrorInvalidConfiguration; with CUDA 13 an H200 answers
// cudaErrorInvalidValue.
void refused(dim3 grid, dim3 block, Where where = Where::current()) {
  const cudaError_t error = launched(grid, block);
  is_true(error == cudaErrorInvalidConfiguration ||
              (CUDART_VERSION >= 13000 && error == cudaErrorInvalidValue),
          "the launch is refused for its shape", where);
}

void shapes() {
  equal(launched(1, 1), cudaSuccess);
  refused(0, 1);
  refused(1, 0);
  refused(dim3(1, 0, 1), 1);
  refused(1, dim3(1, 1, 0));
  equal(launched(1, 1024), cudaSuccess);
  refused(1, 1025);
  refused(1, dim3(32, 33));
  equal(launched(1, dim3(1, 1, 64)), cudaSuccess);
  refused(1, dim3(1, 1, 65));
  refused(dim3(1, 65536), 1);
  refused(dim3(1, 1, 65536), 1);
  equal(launched(1, 1), cudaSuccess);
}

void bounds() {
  unsigned* count = nullptr;
  ok(cudaMalloc(&count, sizeof *count));
  ok(cudaMemset(count, 0, sizeof *count));
  bounded_kernel<<<1, 65>>>(count);
  equal(cudaGetLastError(), cudaErrorInvalidValue);
  bounded_kernel<<<1, 64>>>(count);
  equal(cudaGetLastError(), cudaSuccess);
  unsigned got = 0;
  ok(cudaMemcpy(&got, count, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 64);
  ok(cudaFree(count));
}

void shared_memory() {
  equal(launched(1, 1, 48 * 1024), cudaSuccess);
  equal(launched(1, 1, 48 * 1024 + 1), cudaErrorInvalidValue);
  int* out = nullptr;
  ok(cudaMalloc(&out, 1024 * sizeof(int)));
  shared_kernel<<<1, 1024, 44 * 1024>>>(out);
  equal(cudaGetLastError(), cudaSuccess);
  shared_kernel<<<1, 1024, 44 * 1024 + 1>>>(out);
  equal(cudaGetLastError(), cudaErrorInvalidValue);

  int most = 0;
  ok(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const int beside = most - 4096;
  equal(cudaFuncSetAttribute(
            shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, beside),
        cudaSuccess);
  equal(cudaFuncSetAttribute(shared_kernel,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             beside + 1),
        cudaErrorInvalidValue);
  cudaGetLastError();
  shared_kernel<<<1, 1024, beside>>>(out);
  equal(cudaGetLastError(), cudaSuccess);
  std::vector<int> got(1024);
  ok(cudaMemcpy(got.data(), out, 4096, cudaMemcpyDeviceToHost));
  expect::each(got, [](int) { return 3; });

  cudaFuncAttributes attributes = {};
  ok(cudaFuncGetAttributes(&attributes, shared_kernel));
  equal(attributes.sharedSizeBytes, 4096);
  equal(attributes.maxThreadsPerBlock, 1024);
  equal(attributes.maxDynamicSharedSizeBytes, beside);
  ok(cudaFuncGetAttributes(&attributes, bounded_kernel));
  equal(attributes.maxThreadsPerBlock, 64);
  ok(cudaFree(out));
}

void by_hand() {
  float* out = nullptr;
  ok(cudaMalloc(&out, sizeof *out));
  void* arguments[] = {&out};
  equal(cudaLaunchKernel(typed_kernel<float>, 1, 1, arguments, 0, 0),
        cudaSuccess);
  float got = 0;
  ok(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 5.0f);
  const cudaError_t error = cudaLaunchKernel(
      reinterpret_cast<const void*>(not_a_kernel), 1, 1, arguments, 0, 0);
  is_true(
      error == cudaErrorInvalidDeviceFunction ||
          (CUDART_VERSION >= 13000 && error == cudaErrorInvalidResourceHandle),
      "only a kernel is launched");
  equal(cudaGetLastError(), error);
  cudaFuncAttributes attributes;
  for (const void* other :
       {reinterpret_cast<const void*>(not_a_kernel), (const void*)nullptr}) {
    const cudaError_t refused = other ? error : cudaErrorInvalidDeviceFunction;
    equal(cudaLaunchKernel(other, 1, 1, arguments, 0, 0), refused);
    equal(cudaFuncGetAttributes(&attributes, other), refused);
    int blocks = 0;
    equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, 32, 0),
          refused);
    equal(cudaGetLastError(), refused);
  }

  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 1;
  ok(cudaMemset(out, 0, sizeof *out));
  equal(cudaLaunchKernelEx(&config, typed_kernel<float>, out), cudaSuccess);
  ok(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 5.0f);
  ok(cudaFree(out));
}

#if CUDART_VERSION >= 13000

// A GPU may follow them or not; what the kernel does stays the same.
void hints() {
  float* out = nullptr;
  ok(cudaMalloc(&out, sizeof *out));
  cudaLaunchAttribute hints[3] = {};
  hints[0].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
  hints[0].val.sharedMemCarveout = 50;
  hints[1].id = cudaLaunchAttributeMemSyncDomainMap;
  hints[1].val.memSyncDomainMap.remote = 1;
  hints[2].id = cudaLaunchAttributeMemSyncDomain;
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  config.attrs = hints;
  config.numAttrs = 3;
  ok(cudaLaunchKernelEx(&config, typed_kernel<float>, out));
  float got = 0;
  ok(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 5.0f);
  ok(cudaFree(out));
}

// Launches typed_kernel in 8 blocks; whether it ran.
struct Launch {
  std::vector<cudaLaunchAttribute> attributes;

  cudaLaunchAttribute& add(cudaLaunchAttributeID id) {
    attributes.push_back({});
    attributes.back().id = id;
    return attributes.back();
  }
  void cluster(unsigned x, unsigned y, unsigned z) {
    add(cudaLaunchAttributeClusterDimension).val.clusterDim = {x, y, z};
  }
  void preferred(unsigned x) {
    add(cudaLaunchAttributePreferredClusterDimension)
        .val.preferredClusterDim = {x, 1, 1};
  }
  void gives(cudaError_t code) {
    float* out = nullptr;
    ok(cudaMalloc(&out, sizeof *out));
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 1;
    config.attrs = attributes.data();
    config.numAttrs = unsigned(attributes.size());
    equal(cudaLaunchKernelEx(&config, typed_kernel<float>, out), code);
    equal(cudaGetLastError(), code);
    ok(cudaDeviceSynchronize());
    ok(cudaFree(out));
  }
};

// Nor is each value one.
void values_of_hints() {
  Launch policy, domain, map, carveout, synchronization, unknown;
  policy.add(cudaLaunchAttributeClusterSchedulingPolicyPreference)
      .val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicy(3);
  domain.add(cudaLaunchAttributeMemSyncDomain).val.memSyncDomain =
      cudaLaunchMemSyncDomain(2);
  map.add(cudaLaunchAttributeMemSyncDomainMap).val.memSyncDomainMap = {0, 9};
  carveout.add(cudaLaunchAttributePreferredSharedMemoryCarveout)
      .val.sharedMemCarveout = 101;
  synchronization.add(cudaLaunchAttributeSynchronizationPolicy);
  unknown.add(cudaLaunchAttributeID(40));
  for (Launch* one :
       {&policy, &domain, &map, &carveout, &synchronization, &unknown})
    one->gives(cudaErrorInvalidValue);
}

void clusters() {
  Launch none, empty, alone, fits, fits_not;
  none.cluster(0, 0, 0);
  none.gives(cudaSuccess);
  empty.cluster(0, 1, 1);
  empty.gives(cudaErrorInvalidClusterSize);
  alone.preferred(4);
  alone.gives(cudaErrorInvalidClusterSize);
  fits.cluster(2, 1, 1);
  fits.preferred(4);
  fits.gives(cudaSuccess);
  fits_not.cluster(2, 1, 1);
  fits_not.preferred(3);
  fits_not.gives(cudaErrorInvalidClusterSize);
}

// Events that a launch records.
void events_of_launches() {
  cudaEvent_t timed = nullptr, event = nullptr;
  ok(cudaEventCreate(&timed));
  ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Launch early, complete, with_time, flags, null;
  early.add(cudaLaunchAttributeProgrammaticEvent).val.programmaticEvent.event =
      event;
  early.gives(cudaSuccess);
  complete.add(cudaLaunchAttributeLaunchCompletionEvent)
      .val.launchCompletionEvent.event = event;
  complete.gives(cudaSuccess);
  equal(cudaEventQuery(event), cudaSuccess);
  with_time.add(cudaLaunchAttributeProgrammaticEvent)
      .val.programmaticEvent.event = timed;
  with_time.gives(cudaErrorNotSupported);
  auto& given = flags.add(cudaLaunchAttributeProgrammaticEvent).val;
  given.programmaticEvent.event = event;
  given.programmaticEvent.flags = 5;
  flags.gives(cudaErrorInvalidValue);
  null.add(cudaLaunchAttributeLaunchCompletionEvent);
  null.gives(cudaErrorInvalidResourceHandle);
  ok(cudaEventDestroy(timed));
  ok(cudaEventDestroy(event));
}

#endif

void cooperative() {
  unsigned* count = nullptr;
  ok(cudaMalloc(&count, sizeof *count));
  ok(cudaMemset(count, 0, sizeof *count));
  void* arguments[] = {&count};
  int processors = 0, resident = 0;
  ok(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count_kernel, 128,
                                                   0));
  is_true(resident > 0, "a small block fits");
  const unsigned most = processors * resident;
  equal(cudaLaunchCooperativeKernel(count_kernel, most, 128, arguments, 0, 0),
        cudaSuccess);
  ok(cudaDeviceSynchronize());
  equal(
      cudaLaunchCooperativeKernel(count_kernel, most + 1, 128, arguments, 0, 0),
      cudaErrorCooperativeLaunchTooLarge);
  equal(cudaLaunchCooperativeKernel(count_kernel, 1, 128, arguments, 200000, 0),
        cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  ok(cudaFree(count));
}

// This kernel needs so few registers that they are nowhere the limit.
void occupancy() {
  int threads = 0, processors_most = 0, blocks_most = 0, shared_most = 0;
  ok(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                            0));
  ok(cudaDeviceGetAttribute(&blocks_most, cudaDevAttrMaxBlocksPerMultiprocessor,
                            0));
  ok(cudaDeviceGetAttribute(&shared_most,
                            cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  for (const int block : {1, 32, 33, 64, 256, 1024}) {
    int blocks = 0;
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_kernel,
                                                     block, 0));
    const int warps = (block + 31) / 32;
    equal(blocks, std::min(blocks_most, threads / 32 / warps));
  }
  int blocks = 0;
  ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_kernel, 32,
                                                   48 * 1024));
  int reserved = 0;
  ok(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock,
                            0));
  equal(blocks, shared_most / (48 * 1024 + reserved));
  equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_kernel, 0,
                                                      0),
        cudaErrorInvalidValue);
  cudaGetLastError();
  int grid = 0, block = 0;
  ok(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count_kernel, 0, 0));
  ok(cudaDeviceGetAttribute(&processors_most, cudaDevAttrMultiProcessorCount,
                            0));
  equal(grid * block, processors_most * threads);
}

// Registers are the limit of this one: a quarter of a multiprocessor has 16,384
// of them, and a warp gets a multiple of 256.
void occupancy_by_registers() {
  cudaFuncAttributes few = {}, many = {};
  ok(cudaFuncGetAttributes(&few, count_kernel));
  ok(cudaFuncGetAttributes(&many, wide_kernel));
  is_true(few.numRegs > 0 && few.numRegs <= 32, "few registers");
  is_true(many.numRegs > kKept && many.numRegs < 256, "many registers");
  const int warps = 16384 / ((many.numRegs * 32 + 255) / 256 * 256) * 4;
  equal(few.maxThreadsPerBlock, 1024);
  equal(many.maxThreadsPerBlock, 32 * warps);
  for (const int threads : {32, 96, 256, 1024}) {
    int blocks = -1;
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wide_kernel,
                                                     threads, 0));
    equal(blocks, threads / 32 > warps ? 0 : warps / (threads / 32));
  }
}

// Static shared memory ends where the dynamic part begins.
void shared_of_both_kinds() {
  cudaFuncAttributes attributes;
  ok(cudaFuncGetAttributes(&attributes, odd_shared_kernel));
  equal(attributes.sharedSizeBytes, size_t{32});
  equal(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 32);
}

// What a kernel's __launch_bounds__ allow is not looked at.
void occupancy_of_bounded() {
  int plain = 0, bounded = 0;
  ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&plain, count_kernel, 1024,
                                                   0));
  ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&bounded, bounded_kernel,
                                                   1024, 0));
  equal(bounded, plain);
}

// How much shared memory is left for each of so many blocks.
void shared_left() {
  size_t left = 0;
  ok(cudaOccupancyAvailableDynamicSMemPerBlock(&left, count_kernel, 2, 256));
  equal(left, size_t{48 << 10});
  int most = 0, all = 0;
  ok(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  ok(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                            0));
  const auto limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  ok(cudaFuncSetAttribute(count_kernel, limit, most));
  for (const int blocks : {1, 2, 3, 8}) {
    ok(cudaOccupancyAvailableDynamicSMemPerBlock(&left, count_kernel, blocks,
                                                 128));
    equal(left, size_t(std::min(most, all / blocks)));
  }
  ok(cudaFuncSetAttribute(count_kernel, limit, 48 << 10));
  equal(cudaOccupancyAvailableDynamicSMemPerBlock(&left, count_kernel, 3, 1024),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace

int main() {
  shapes();
  bounds();
  shared_memory();
  by_hand();
#if CUDART_VERSION >= 13000
  hints();
  values_of_hints();
  clusters();
  events_of_launches();
#endif
  cooperative();
  occupancy();
  occupancy_by_registers();
  shared_of_both_kinds();
  occupancy_of_bounded();
  shared_left();
  return expect::report();
}
