// Memory pools: a program's own beside a device's, how much of them is in use,
// and which of them an allocation comes from. As an H200 does it.

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

constexpr size_t kBytes = 1 << 20;

__global__ void fill_kernel(int* x, int value) { x[threadIdx.x] = value; }

cudaMemPoolProps on_device(int device = 0) {
  cudaMemPoolProps given = {};
  given.allocType = cudaMemAllocationTypePinned;
  given.location.type = cudaMemLocationTypeDevice;
  given.location.id = device;
  return given;
}

cudaMemPool_t created(size_t limit = 0) {
  cudaMemPoolProps given = on_device();
  given.maxSize = limit;
  cudaMemPool_t pool = nullptr;
  ok(cudaMemPoolCreate(&pool, &given));
  return pool;
}

uint64_t asked(cudaMemPool_t pool, cudaMemPoolAttr which) {
  uint64_t got = 0;
  ok(cudaMemPoolGetAttribute(pool, which, &got));
  return got;
}
uint64_t used(cudaMemPool_t pool) {
  return asked(pool, cudaMemPoolAttrUsedMemCurrent);
}

void of_ones_own() {
  const cudaMemPool_t pool = created();
  cudaMemPool_t device_own = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&device_own, 0));
  is_true(pool != device_own, "another one");
  const uint64_t before = used(device_own);

  int* x = nullptr;
  ok(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&x), kBytes, pool,
                             nullptr));
  fill_kernel<<<1, 32>>>(x, 7);
  int got = 0;
  ok(cudaMemcpy(&got, x + 31, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 7);
  equal(used(pool), kBytes);
  equal(used(device_own), before);
  ok(cudaFreeAsync(x, nullptr));
  ok(cudaDeviceSynchronize());
  equal(used(pool), 0);
  equal(asked(pool, cudaMemPoolAttrUsedMemHigh), kBytes);
  uint64_t zero = 0;
  ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  equal(asked(pool, cudaMemPoolAttrUsedMemHigh), 0);
  uint64_t keep = 1 << 22;
  ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  equal(asked(pool, cudaMemPoolAttrReleaseThreshold), keep);
  equal(asked(device_own, cudaMemPoolAttrReleaseThreshold), 0);
  ok(cudaMemPoolTrimTo(pool, 0));
  ok(cudaMemPoolDestroy(pool));
}

// What a pool holds, and what it keeps when nothing is in use.
void reserved() {
  const cudaMemPool_t pool = created();
  const auto now = cudaMemPoolAttrReservedMemCurrent,
             high = cudaMemPoolAttrReservedMemHigh;
  uint64_t keep = UINT64_MAX;
  ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  equal(asked(pool, now), 0);
  void* x = nullptr;
  ok(cudaMallocFromPoolAsync(&x, kBytes, pool, nullptr));
  is_true(asked(pool, now) >= used(pool), "what is in use is reserved");
  is_true(asked(pool, high) >= asked(pool, now), "it is the most so far");
  ok(cudaFreeAsync(x, nullptr));
  ok(cudaDeviceSynchronize());
  is_true(asked(pool, now) >= kBytes, "the pool keeps it");
  ok(cudaMemPoolTrimTo(pool, 0));
  equal(asked(pool, now), 0);
  is_true(asked(pool, high) >= kBytes, "it was more");
  uint64_t zero = 0;
  ok(cudaMemPoolSetAttribute(pool, high, &zero));
  equal(asked(pool, high), 0);
  ok(cudaMemPoolDestroy(pool));
}

void by_location() {
  cudaMemLocation here = {};
  here.type = cudaMemLocationTypeDevice;
  const auto pinned = cudaMemAllocationTypePinned;
  cudaMemPool_t device_own = nullptr, got = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&device_own, 0));
  ok(cudaMemGetDefaultMemPool(&got, &here, pinned));
  is_true(got == device_own, "the device's own");
  const cudaMemPool_t pool = created();
  ok(cudaMemSetMemPool(&here, pinned, pool));
  ok(cudaMemGetMemPool(&got, &here, pinned));
  is_true(got == pool, "the one in use");
  ok(cudaMemPoolDestroy(pool));
}

void current() {
  const cudaMemPool_t pool = created();
  cudaMemPool_t device_own = nullptr, got = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&device_own, 0));
  ok(cudaDeviceSetMemPool(0, pool));
  ok(cudaDeviceGetMemPool(&got, 0));
  is_true(got == pool, "the one in use");
  void* x = nullptr;
  ok(cudaMallocAsync(&x, kBytes, nullptr));
  equal(used(pool), kBytes);
  // What it gave stays; the device goes on with its own.
  ok(cudaMemPoolDestroy(pool));
  ok(cudaDeviceGetMemPool(&got, 0));
  is_true(got == device_own, "the device's own again");
  ok(cudaMemset(x, 1, kBytes));
  ok(cudaFreeAsync(x, nullptr));
  ok(cudaDeviceSynchronize());
}

void access() {
  const cudaMemPool_t pool = created();
  cudaMemLocation here = {};
  here.type = cudaMemLocationTypeDevice;
  cudaMemAccessFlags flags = {};
  ok(cudaMemPoolGetAccess(&flags, pool, &here));
  equal(flags, cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc given = {here, cudaMemAccessFlagsProtReadWrite};
  ok(cudaMemPoolSetAccess(pool, &given, 1));
  given.flags = cudaMemAccessFlagsProtNone;
  is_true(cudaMemPoolSetAccess(pool, &given, 1) != cudaSuccess,
          "a device cannot lose its own");
  cudaGetLastError();
  ok(cudaMemPoolDestroy(pool));
}

void refused() {
  cudaMemPool_t device_own = nullptr, pool = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&device_own, 0));
  equal(cudaMemPoolDestroy(device_own), cudaErrorInvalidValue);
  cudaMemPoolProps given = on_device();
  given.allocType = cudaMemAllocationTypeInvalid;
  equal(cudaMemPoolCreate(&pool, &given), cudaErrorInvalidValue);
  uint64_t one = 1;
  equal(cudaMemPoolSetAttribute(device_own, cudaMemPoolAttrUsedMemHigh, &one),
        cudaErrorInvalidValue);
  for (const int which : {0, 14})
    equal(cudaMemPoolGetAttribute(device_own, cudaMemPoolAttr(which), &one),
          cudaErrorInvalidValue);
  given = on_device(99);
  equal(cudaMemPoolCreate(&pool, &given), cudaErrorInvalidValue);
  equal(cudaDeviceSetMemPool(99, device_own), cudaErrorInvalidValue);
  given = on_device();
  given.handleTypes = cudaMemAllocationHandleType(16);
  equal(cudaMemPoolCreate(&pool, &given), cudaErrorInvalidValue);
  cudaMemAccessDesc read = {on_device().location, cudaMemAccessFlagsProtRead};
  equal(cudaMemPoolSetAccess(device_own, &read, 1), cudaErrorNotSupported);
  read = {on_device(99).location, cudaMemAccessFlagsProtReadWrite};
  equal(cudaMemPoolSetAccess(device_own, &read, 1), cudaErrorInvalidDevice);
  cudaMemAccessFlags flags;
  equal(cudaMemPoolGetAccess(&flags, device_own, &read.location),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

// What is set to any number is on.
void switches() {
  const cudaMemPool_t pool = created();
  for (int given : {1000, 0, 2}) {
    ok(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic,
                               &given));
    int got = 77;
    ok(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &got));
    equal(got, given != 0);
  }
  ok(cudaMemPoolDestroy(pool));
}

// Its memory goes with all else that the device has, and is still counted.
void after_a_reset() {
  cudaMemPool_t device_own = nullptr;
  void* x = nullptr;
  ok(cudaMallocAsync(&x, kBytes, nullptr));
  ok(cudaDeviceReset());
  ok(cudaDeviceGetDefaultMemPool(&device_own, 0));
  equal(used(device_own), kBytes);
}

}  // namespace

int main() {
  of_ones_own();
  reserved();
  by_location();
  current();
  access();
  refused();
  switches();
  after_a_reset();
  return expect::report();
}
