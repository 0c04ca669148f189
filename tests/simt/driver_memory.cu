// The driver API: virtual memory, and values that streams store and wait for.
#include <thread>

#include "tests/simt/child.h"
#include "tests/simt/driver_calls.h"

namespace {

using driver_calls::ok;
using expect::each;
using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void count_kernel(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}

__global__ void add_kernel(int* x, int value) { x[threadIdx.x] += value; }

__global__ void poll_kernel(volatile int* flag, int* x) {
  while (*flag == 0) {
  }
  *x = *flag;
}

int* pointer(CUdeviceptr address) { return reinterpret_cast<int*>(address); }

std::vector<int> read(CUdeviceptr from, size_t count) {
  std::vector<int> all(count);
  ok(CALL(MemcpyDtoH)(all.data(), from, count * sizeof(int)));
  return all;
}

// ---- Virtual memory ---------------------------------------------------------

CUmemAllocationProp on_device() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return properties;
}

size_t unit() {
  size_t bytes = 0;
  const CUmemAllocationProp properties = on_device();
  ok(CALL(MemGetAllocationGranularity)(&bytes, &properties,
                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

CUmemGenericAllocationHandle made(size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  const CUmemAllocationProp properties = on_device();
  ok(CALL(MemCreate)(&handle, bytes, &properties, 0));
  return handle;
}

CUdeviceptr reserved(size_t bytes) {
  CUdeviceptr address = 0;
  ok(CALL(MemAddressReserve)(&address, bytes, 0, 0, 0));
  return address;
}

void allow(CUdeviceptr address, size_t bytes) {
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ok(CALL(MemSetAccess)(address, bytes, &access, 1));
}

// Two pieces become one array; one of them moves, with what it holds.
void mapped() {
  const size_t bytes = unit();
  const int count = int(bytes / sizeof(int));
  const CUdeviceptr x = reserved(4 * bytes);
  const auto first = made(bytes), second = made(bytes);
  ok(CALL(MemMap)(x, bytes, 0, first, 0));
  ok(CALL(MemMap)(x + bytes, bytes, 0, second, 0));
  allow(x, 2 * bytes);
  count_kernel<<<2 * count / 256, 256>>>(pointer(x), 2 * count);
  each(read(x + bytes - 8, 4), [&](int i) { return count - 2 + i; });
  ok(CALL(MemUnmap)(x, 2 * bytes));
  ok(CALL(MemRelease)(first));
  ok(CALL(MemMap)(x + 2 * bytes, bytes, 0, second, 0));
  allow(x + 2 * bytes, bytes);
  ok(CALL(MemRelease)(second));  // stays as long as it is mapped
  add_kernel<<<1, 256>>>(pointer(x + 2 * bytes), 1);
  each(read(x + 2 * bytes, 300),
       [&](int i) { return count + i + (i < 256 ? 1 : 0); });
  unsigned long long flags = 0;
  const CUmemLocation device = on_device().location;
  ok(CALL(MemGetAccess)(&flags, &device, x + 2 * bytes + 100));
  equal(flags, uint64_t(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ok(CALL(MemUnmap)(x + 2 * bytes, bytes));
  ok(CALL(MemAddressFree)(x, 4 * bytes));
}

void wrongly_mapped() {
  const size_t bytes = unit();
  const CUmemAllocationProp properties = on_device();
  CUmemGenericAllocationHandle handle = 0;
  equal(CALL(MemCreate)(&handle, bytes + 1, &properties, 0),
        CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr x = reserved(2 * bytes);
  const auto memory = made(bytes);
  equal(CALL(MemMap)(x, 2 * bytes, 0, memory, 0), CUDA_ERROR_NOT_SUPPORTED);
  ok(CALL(MemMap)(x, bytes, 0, memory, 0));
  equal(CALL(MemMap)(x, bytes, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  equal(CALL(MemAddressFree)(x, 2 * bytes), CUDA_ERROR_INVALID_VALUE);
  ok(CALL(MemUnmap)(x + bytes, bytes));  // where nothing is
  equal(CALL(MemFree)(x), CUDA_ERROR_INVALID_VALUE);
  ok(CALL(MemUnmap)(x, bytes));
  ok(CALL(MemRelease)(memory));
  ok(CALL(MemAddressFree)(x, 2 * bytes));
}

// Without cuMemSetAccess nobody may touch it.
int closed() {
  driver_calls::begin();
  const size_t bytes = unit();
  const CUdeviceptr x = reserved(bytes);
  ok(CALL(MemMap)(x, bytes, 0, made(bytes), 0));
  count_kernel<<<1, 256>>>(pointer(x), 256);
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}

// What nobody has written, seen through a mapping.
int unwritten() {
  driver_calls::begin();
  const size_t bytes = unit();
  const CUdeviceptr x = reserved(bytes);
  ok(CALL(MemMap)(x, bytes, 0, made(bytes), 0));
  allow(x, bytes);
  count_kernel<<<1, 256>>>(pointer(x), 256);
  add_kernel<<<1, 257>>>(pointer(x), 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// ---- Values in streams ------------------------------------------------------

CUdeviceptr zeros(size_t bytes) {
  CUdeviceptr address = 0;
  ok(CALL(MemAlloc)(&address, bytes));
  ok(CALL(MemsetD8)(address, 0, bytes));
  ok(CALL(CtxSynchronize)());
  return address;
}

CUstream stream() {
  CUstream made = nullptr;
  ok(CALL(StreamCreate)(&made, CU_STREAM_NON_BLOCKING));
  return made;
}

// A kernel that is launched for the first time is loaded first, and on a GPU
// that may wait for all streams.
void load_kernels() {
  cudaFuncAttributes facts;
  ok(cudaFuncGetAttributes(&facts, add_kernel));
  ok(cudaFuncGetAttributes(&facts, poll_kernel));
}

void between_streams() {
  const CUstream first = stream(), second = stream();
  const CUdeviceptr flag = zeros(8), x = zeros(128);
  ok(CALL(StreamWaitValue32)(second, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
  add_kernel<<<1, 32, 0, second>>>(pointer(x), 10);
  equal(CALL(StreamQuery)(second), CUDA_ERROR_NOT_READY);
  add_kernel<<<1, 32, 0, first>>>(pointer(x), 5);
  ok(CALL(StreamWriteValue32)(first, flag, 1, 0));
  ok(CALL(StreamSynchronize)(second));
  each(read(x, 32), [](int) { return 15; });
}

void conditions() {
  const CUstream s = stream();
  const CUdeviceptr flag = zeros(16);
  ok(CALL(StreamWriteValue64)(s, flag + 8, 0x1'ffff'ffff, 0));
  ok(CALL(StreamWaitValue64)(s, flag + 8, 1ull << 32,
                             CU_STREAM_WAIT_VALUE_AND));
  ok(CALL(StreamWaitValue32)(s, flag + 8, 0xffff'fff0,
                             CU_STREAM_WAIT_VALUE_EQ));
  std::thread other([&] {
    driver_calls::begin();
    const CUstream mine = stream();
    ok(CALL(StreamWriteValue32)(mine, flag + 8, 0xffff'fff0, 0));
  });
  other.join();
  ok(CALL(StreamWaitValue32)(s, flag + 8, 3, CU_STREAM_WAIT_VALUE_NOR));
  // Where numbers go round, 0xfffffff0 comes before 3.
  CUstreamBatchMemOpParams both[2] = {};
  both[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, flag, {3}, 0, 0};
  both[1].waitValue = {
      CU_STREAM_MEM_OP_WAIT_VALUE_32, flag, {0xffff'fff0}, 0, 0};
  ok(CALL(StreamBatchMemOp)(s, 2, both, 0));
  ok(CALL(StreamSynchronize)(s));
  equal(read(flag, 1)[0], 3);
  equal(CALL(StreamWriteValue32)(s, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

// The host stores what a stream waits for.
void from_host() {
  const CUstream s = stream();
  const CUdeviceptr x = zeros(128);
  int* flag = nullptr;
  ok(cudaMallocHost(&flag, sizeof(int)));
  *flag = 0;
  ok(CALL(StreamWaitValue32)(s, CUdeviceptr(flag), 3, CU_STREAM_WAIT_VALUE_EQ));
  add_kernel<<<1, 32, 0, s>>>(pointer(x), 4);
  *static_cast<volatile int*>(flag) = 3;
  ok(CALL(StreamSynchronize)(s));
  each(read(x, 32), [](int) { return 4; });
}

// A kernel waits for what a stream stores.
void to_kernel() {
  const CUstream first = stream(), second = stream();
  const CUdeviceptr flag = zeros(4), x = zeros(4), go = zeros(4);
  ok(CALL(StreamWaitValue32)(second, go, 1, CU_STREAM_WAIT_VALUE_EQ));
  ok(CALL(StreamWriteValue32)(second, flag, 9, 0));
  poll_kernel<<<1, 1, 0, first>>>(pointer(flag), pointer(x));
  ok(CALL(StreamWriteValue32)(stream(), go, 1, 0));
  ok(CALL(StreamSynchronize)(first));
  equal(read(x, 1)[0], 9);
}

// Nobody will ever store it.
int for_ever() {
  driver_calls::begin();
  ok(CALL(StreamWaitValue32)(stream(), zeros(4), 1, CU_STREAM_WAIT_VALUE_EQ));
  return cudaDeviceSynchronize() == cudaSuccess;
}

// ---- What only the executor says --------------------------------------------

void says(const char* task, const char* what) {
  const Ended child = run_self(task);
  equal(child.status, 1);
  is_true(child.output.find(what) != std::string::npos, what);
}

void findings() {
  says("closed", "out of bounds: write of 4 bytes");
  says("unwritten", "uninitialised read: read of 4 bytes");
  says("unwritten", "from cuMemMap");
  says("for_ever", "and nothing will change it");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "closed") return closed();
  if (task == "unwritten") return unwritten();
  if (task == "for_ever") return for_ever();
  driver_calls::begin();
  mapped();
  wrongly_mapped();
  load_kernels();
  between_streams();
  conditions();
  from_host();
  to_kernel();
  if (on_executor()) findings();
  return expect::report();
}
