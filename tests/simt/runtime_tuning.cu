// Calls that only tune a GPU or watch it: they succeed, refuse what CUDA
// refuses, and give back what was set. And what they are called beside: pools
// of memory, boxes of bytes.

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <string>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void nothing_kernel() {}
__global__ void parameters_kernel(char a, double2* b, double2 c) {
  *b = {c.x, c.y + a};
}

void watching() {
  ok(cudaProfilerStart());
  nvtxRangePushA("a range that nobody watches");
  nothing_kernel<<<1, 1>>>();
  nvtxRangePop();
  ok(cudaGetLastError());
  ok(cudaProfilerStop());
}

void device() {
  unsigned flags = 0;
  ok(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  ok(cudaGetDeviceFlags(&flags));
  equal(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
  ok(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  equal(cudaSetDeviceFlags(0x8000), cudaErrorInvalidValue);
  equal(cudaSetDeviceFlags(7), cudaErrorInvalidValue);

  char id[32] = {};
  int found = -1;
  ok(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  equal(std::strlen(id), 12);
  ok(cudaDeviceGetByPCIBusId(&found, id));
  equal(found, 0);
  equal(cudaDeviceGetPCIBusId(nullptr, 13, 0), cudaErrorInvalidValue);
  equal(cudaDeviceGetPCIBusId(id, sizeof id, -1), cudaErrorInvalidDevice);

  cudaDeviceProp wanted = {};
  found = -1;
  ok(cudaChooseDevice(&found, &wanted));
  is_true(found >= 0, "a device was chosen");
  ok(cudaInitDevice(0, 0, 0));

  ok(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  cudaFuncCache preference = {};
  ok(cudaDeviceGetCacheConfig(&preference));
  equal(cudaDeviceSetCacheConfig(cudaFuncCache(4)), cudaErrorInvalidValue);
  size_t kept = 0;
  ok(cudaDeviceGetLimit(&kept, cudaLimitPersistingL2CacheSize));
  ok(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  ok(cudaCtxResetPersistingL2Cache());
  ok(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, kept));
  ok(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128));
  ok(cudaDeviceGetLimit(&kept, cudaLimitMaxL2FetchGranularity));
  equal(kept, size_t{128});
  cudaGetLastError();
}

// Hints are told back; what cannot be set is refused.
void function_attributes() {
  const auto set = [](int which, int value) {
    return cudaFuncSetAttribute(nothing_kernel, cudaFuncAttribute(which),
                                value);
  };
  ok(set(cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  ok(set(cudaFuncAttributeClusterSchedulingPolicyPreference,
         cudaClusterSchedulingPolicyLoadBalancing));
  ok(set(cudaFuncAttributeNonPortableClusterSizeAllowed, 2));
  cudaFuncAttributes attributes;
  ok(cudaFuncGetAttributes(&attributes, nothing_kernel));
  equal(attributes.preferredShmemCarveout, 50);
  equal(attributes.clusterSchedulingPolicyPreference,
        int(cudaClusterSchedulingPolicyLoadBalancing));
  is_true(attributes.nonPortableClusterSizeAllowed != 0, "any value allows it");
  for (const int which : {-1, 0, 7, 10, 16})
    equal(set(which, 1), cudaErrorInvalidValue);
  equal(set(cudaFuncAttributeRequiredClusterWidth, -1), cudaErrorInvalidValue);
  cudaGetLastError();
}

void functions() {
  ok(cudaFuncSetCacheConfig(nothing_kernel, cudaFuncCachePreferShared));
  equal(cudaFuncSetCacheConfig(nothing_kernel, cudaFuncCache(4)),
        cudaErrorInvalidValue);
  const char* name = nullptr;
  ok(cudaFuncGetName(&name, reinterpret_cast<void*>(nothing_kernel)));
  is_true(std::string(name).find("nothing_kernel") != std::string::npos,
          "the name is the kernel's, mangled");
  size_t offset = 7, bytes = 7;
  const auto* const kernel = reinterpret_cast<void*>(parameters_kernel);
  ok(cudaFuncGetParamInfo(kernel, 0, &offset, &bytes));
  equal(offset, size_t{0});
  equal(bytes, size_t{1});
  ok(cudaFuncGetParamInfo(kernel, 1, &offset, &bytes));
  equal(offset, size_t{8});
  equal(bytes, sizeof(double2*));
  ok(cudaFuncGetParamInfo(kernel, 1, &offset, nullptr));
  ok(cudaFuncGetParamInfo(kernel, 2, &offset, &bytes));
  equal(offset, size_t{16});
  equal(bytes, sizeof(double2));
  equal(cudaFuncGetParamInfo(kernel, 3, &offset, &bytes),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

void streams() {
  cudaStream_t stream = nullptr, other = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaStreamCreate(&other));
  cudaStreamAttrValue value = {}, got = {};
  value.syncPolicy = cudaSyncPolicyYield;
  ok(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy,
                            &value));
  ok(cudaStreamCopyAttributes(other, stream));
  ok(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy,
                            &got));
  equal(got.syncPolicy, cudaSyncPolicyYield);
  equal(
      cudaStreamGetAttribute(stream, cudaLaunchAttributeClusterDimension, &got),
      cudaErrorInvalidValue);
  unsigned long long one = 0, two = 0;
  ok(cudaStreamGetId(stream, &one));
  ok(cudaStreamGetId(other, &two));
  is_true(one != two, "each stream has a number of its own");
  ok(cudaStreamDestroy(stream));
  ok(cudaStreamDestroy(other));
  cudaGetLastError();
}

// What a stream's attributes may be; the priority is clamped.
void values_of_streams() {
  cudaStream_t stream = nullptr, other = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaStreamCreate(&other));
  int least = 0, greatest = 0, got = 77;
  ok(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStreamAttrValue value = {};
  value.priority = -99;
  ok(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
  ok(cudaStreamGetPriority(stream, &got));
  equal(got, greatest);
  ok(cudaStreamCopyAttributes(other, stream));
  ok(cudaStreamGetPriority(other, &got));
  equal(got, greatest);

  value = {};
  value.syncPolicy = cudaSynchronizationPolicy(9);
  equal(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy,
                               &value),
        cudaErrorInvalidValue);
  char* x = nullptr;
  ok(cudaMallocManaged(&x, 4096));
  const auto window = [&](size_t bytes, float ratio, auto miss) {
    value = {};
    value.accessPolicyWindow.base_ptr = x;
    value.accessPolicyWindow.num_bytes = bytes;
    value.accessPolicyWindow.hitRatio = ratio;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = miss;
    return cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow,
                                  &value);
  };
  ok(window(4096, 0.5f, cudaAccessPropertyNormal));
  equal(window(4096, 1.5f, cudaAccessPropertyNormal), cudaErrorInvalidValue);
  equal(window(4096, 1, cudaAccessPropertyPersisting), cudaErrorInvalidValue);
  equal(window(size_t{1} << 40, 1, cudaAccessPropertyNormal),
        cudaErrorInvalidValue);

  ok(cudaStreamAttachMemAsync(stream, x, 4096, cudaMemAttachGlobal));
  equal(cudaStreamAttachMemAsync(stream, x, 100, cudaMemAttachGlobal),
        cudaErrorInvalidValue);
  equal(cudaStreamAttachMemAsync(nullptr, x, 0, cudaMemAttachSingle),
        cudaErrorInvalidValue);
  ok(cudaDeviceSynchronize());
  ok(cudaFree(x));
  ok(cudaStreamDestroy(stream));
  ok(cudaStreamDestroy(other));
  cudaGetLastError();
}

void managed() {
  char *data = nullptr, *plain = nullptr;
  ok(cudaMallocManaged(&data, 1 << 16));
  ok(cudaMalloc(&plain, 1 << 16));
  cudaStream_t stream = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaStreamAttachMemAsync(stream, data, 0, cudaMemAttachSingle));
  equal(cudaStreamAttachMemAsync(stream, data, 0, 77), cudaErrorInvalidValue);
  ok(cudaStreamSynchronize(stream));
  ok(cudaStreamDestroy(stream));
  ok(cudaFree(data));
  ok(cudaFree(plain));
  cudaGetLastError();
}

int asked(cudaMemRangeAttribute which, const void* from, size_t bytes) {
  int got = 77;
  ok(cudaMemRangeGetAttribute(&got, sizeof got, which, from, bytes));
  return got;
}

// Advice about some pages of an array, and questions about more of them.
void advice() {
  constexpr size_t kPart = 1 << 16, kAll = 2 * kPart;
  char* x = nullptr;
  ok(cudaMallocManaged(&x, kAll));
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0},
                        host = {cudaMemLocationTypeHost, 0};
  const auto mostly_read = cudaMemRangeAttributeReadMostly;
  equal(asked(mostly_read, x, kAll), 0);
  ok(cudaMemAdvise(x, kPart, cudaMemAdviseSetReadMostly, device));
  equal(asked(mostly_read, x, kPart), 1);
  equal(asked(mostly_read, x, kAll), 0);
  ok(cudaMemAdvise(x + kPart, kPart, cudaMemAdviseSetReadMostly, device));
  equal(asked(mostly_read, x, kAll), 1);
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseUnsetReadMostly, device));
  equal(asked(mostly_read, x, kAll), 0);

  const auto preferred = cudaMemRangeAttributePreferredLocation;
  equal(asked(preferred, x, kAll), cudaInvalidDeviceId);
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseSetPreferredLocation, device));
  equal(asked(preferred, x, kAll), 0);
  equal(asked(cudaMemRangeAttributePreferredLocationType, x, kAll),
        int(cudaMemLocationTypeDevice));
  equal(asked(cudaMemRangeAttributePreferredLocationId, x, kAll), 0);
  ok(cudaMemAdvise(x, kPart, cudaMemAdviseSetPreferredLocation, host));
  equal(asked(preferred, x, kPart), cudaCpuDeviceId);
  equal(asked(preferred, x, kAll), cudaInvalidDeviceId);
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseUnsetPreferredLocation, device));
  equal(asked(preferred, x, kPart), cudaInvalidDeviceId);

  const auto prefetched = cudaMemRangeAttributeLastPrefetchLocation;
  equal(asked(prefetched, x, kAll), cudaInvalidDeviceId);
  ok(cudaMemPrefetchAsync(x, kAll, device, 0, nullptr));
  equal(asked(prefetched, x, kAll), 0);
  ok(cudaMemPrefetchAsync(x, kPart, host, 0, nullptr));
  equal(asked(prefetched, x, kPart), cudaCpuDeviceId);
  equal(asked(prefetched, x, kAll), cudaInvalidDeviceId);

  ok(cudaMemAdvise(x, kAll, cudaMemAdviseSetAccessedBy, device));
  ok(cudaMemAdvise(x, kPart, cudaMemAdviseSetAccessedBy, host));
  int users[3] = {}, read = 7;
  void* answers[] = {users, &read};
  size_t bytes[] = {sizeof users, sizeof read};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeAccessedBy,
                                   mostly_read};
  ok(cudaMemRangeGetAttributes(answers, bytes, which, 2, x, kAll));
  equal(users[0], 0);
  equal(users[1], cudaInvalidDeviceId);
  equal(users[2], cudaInvalidDeviceId);
  equal(read, 0);
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseUnsetAccessedBy, device));
  equal(asked(cudaMemRangeAttributeAccessedBy, x, kAll), cudaInvalidDeviceId);

  const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 99};
  equal(cudaMemAdvise(x, kAll, cudaMemAdviseSetPreferredLocation, nowhere),
        cudaErrorInvalidValue);
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseSetReadMostly, nowhere));
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseUnsetReadMostly, nowhere));
  ok(cudaMemAdvise(x, kAll, cudaMemAdviseUnsetPreferredLocation, nowhere));
  equal(cudaMemPrefetchAsync(x, kAll, nowhere, 0, nullptr),
        cudaErrorInvalidDevice);
  equal(cudaMemPrefetchAsync(x, kAll, device, 1, nullptr),
        cudaErrorInvalidValue);
  equal(cudaMemRangeGetAttribute(&read, 3, mostly_read, x, kAll),
        cudaErrorInvalidValue);
  equal(cudaMemRangeGetAttribute(&read, sizeof read, mostly_read, x, 0),
        cudaErrorInvalidValue);
  ok(cudaDeviceSynchronize());
  ok(cudaFree(x));
  equal(cudaMemRangeGetAttribute(&read, sizeof read, mostly_read, x, kAll),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

void pool() {
  cudaMemPool_t pool = nullptr, current = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&pool, 0));
  ok(cudaDeviceGetMemPool(&current, 0));
  is_true(pool == current, "the default pool is the current one");
  uint64_t threshold = uint64_t{1} << 40, got = 0;
  ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                             &threshold));
  ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  equal(got, threshold);
  int reuse = 0;
  ok(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
  equal(reuse, 1);
  void* memory = nullptr;
  ok(cudaMallocFromPoolAsync(&memory, 64, pool, nullptr));
  ok(cudaMemsetAsync(memory, 0, 64, nullptr));
  ok(cudaFreeAsync(memory, nullptr));
  ok(cudaStreamSynchronize(nullptr));
  ok(cudaMemPoolTrimTo(pool, 0));
}

// A box of 3 x 2 x 2 bytes out of the middle of one, into another.
void boxes() {
  const cudaExtent whole = make_cudaExtent(5, 4, 3);
  cudaPitchedPtr device = {};
  ok(cudaMalloc3D(&device, whole));
  ok(cudaMemset3D(device, 7, whole));
  char host[2][2][3] = {};
  for (char& byte : *(char(*)[12])host) byte = 9;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 3, 3, 2);
  copy.dstPtr = device;
  copy.dstPos = make_cudaPos(1, 1, 1);
  copy.extent = make_cudaExtent(3, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  ok(cudaMemcpy3D(&copy));
  char all[3][4][5] = {};
  copy = {};
  copy.srcPtr = device;
  copy.dstPtr = make_cudaPitchedPtr(all, 5, 5, 4);
  copy.extent = whole;
  copy.kind = cudaMemcpyDeviceToHost;
  ok(cudaMemcpy3D(&copy));
  int right = 0;
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 5; ++x) {
        const bool inside = z >= 1 && y >= 1 && y < 3 && x >= 1 && x < 4;
        right += all[z][y][x] == (inside ? 9 : 7);
      }
    }
  }
  equal(right, 60);
  ok(cudaFree(device.ptr));
}

__device__ int changed = 5;
__constant__ int constant = 7;
__managed__ int managed_one = 3;
__global__ void change_kernel() { changed = managed_one = 99; }
__global__ void read_kernel(int* out) {
  out[0] = changed;
  out[1] = constant;
}

// Variables and limits begin anew, but for what is managed.
void reset() {
  const int one = 1;
  change_kernel<<<1, 1>>>();
  ok(cudaMemcpyToSymbol(constant, &one, sizeof one));
  ok(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  ok(cudaDeviceReset());
  const auto got =
      expect::results<int>(2, [](int* out) { read_kernel<<<1, 1>>>(out); });
  equal(got[0], 5);
  equal(got[1], 7);
  equal(managed_one, 99);
  size_t stack = 0;
  ok(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  equal(stack, size_t{1024});
  equal(cudaDeviceSetLimit(cudaLimit(77), 1), cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace

int main() {
  watching();
  device();
  function_attributes();
  functions();
  streams();
  values_of_streams();
  managed();
  advice();
  pool();
  boxes();
  reset();
  return expect::report();
}
