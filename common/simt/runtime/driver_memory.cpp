// The driver API: memory, copies, fills.
#include <bit>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/driver.h"
#include "common/simt/runtime/graphs.h"

namespace simt {
namespace {

void* kept(CUdeviceptr* out, void* made) {
  *out = reinterpret_cast<CUdeviceptr>(made);
  note_of_context(*out);
  return made;
}

void require_bytes(CUdeviceptr* out, size_t bytes) {
  demand(out != nullptr, CUDA_ERROR_INVALID_VALUE,
         "the pointer to the result is null");
  *out = 0;  // also where it fails
  demand(bytes != 0, CUDA_ERROR_INVALID_VALUE, "0 bytes");
}

// Of both APIs they are the same bytes.
template <class To, class From>
To runtime_type(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return std::bit_cast<To>(from);
}

// Rows of elements of 1, 2 or 4 bytes.
void fill_rows(CUstream stream, CUdeviceptr to, size_t pitch, unsigned value,
               unsigned element, size_t width, size_t height) {
  if (width == 0 || height == 0) return require_usable(stream);
  demand(to % element == 0, CUDA_ERROR_INVALID_VALUE,
         "dstDevice = ", pointer(to), " is no multiple of ", element);
  cudaMemsetParams p = {};
  p.dst = pointer(to);
  p.pitch = pitch;
  p.value = value;
  p.elementSize = element;
  p.width = width;
  p.height = height;
  issue(stream, fill_work(p));
}

void tell_of_pointer(void* out, CUpointer_attribute which,
                     CUdeviceptr address) {
  demand(out != nullptr, CUDA_ERROR_INVALID_VALUE, "data is null");
  cudaPointerAttributes facts;
  pass(cudaPointerGetAttributes(&facts, pointer(address)));
  demand(facts.type != cudaMemoryTypeUnregistered, CUDA_ERROR_INVALID_VALUE,
         pointer(address), " is ", allocations().describe(address));
  const bool managed = facts.type == cudaMemoryTypeManaged;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(out) = facts.type == cudaMemoryTypeHost
                                         ? CU_MEMORYTYPE_HOST
                                         : CU_MEMORYTYPE_DEVICE;
      return;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<void**>(out) = facts.devicePointer;
      return;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      demand(facts.hostPointer != nullptr, CUDA_ERROR_INVALID_VALUE,
             "the host cannot reach ", pointer(address));
      *static_cast<void**>(out) = facts.hostPointer;
      return;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(out) = managed;
      return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(out) = facts.device;
      return;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(out) = allocations().find(address)->begin;
      return;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(out) = allocations().find(address)->bytes();
      return;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(out) = 1;
      return;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<uint64_t*>(out) = allocations().find(address)->number;
      return;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *static_cast<uint64_t*>(out) = 0;
      return;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:  // so an H100
      *static_cast<unsigned*>(out) =
          allocations().find(address)->memory == Memory::kDevice;
      return;
    default:
      constexpr int kMost = 31;  // The last ones of CUDA 13 are smaller.
      demand(which > 0 && which <= kMost, CUDA_ERROR_INVALID_VALUE,
             "attribute ", int(which), " does not exist");
      throw Lacking{text("attribute ", int(which), " of pointers")};
  }
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

// ---- Allocating and freeing -------------------------------------------------

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  return drive([&] {
    require_bytes(address, bytes);
    void* made = nullptr;
    pass(cudaMalloc(&made, bytes));
    kept(address, made);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width,
                         size_t height, unsigned element) {
  return drive([&] {
    require_bytes(address, product_of(width, height));
    demand(element == 4 || element == 8 || element == 16,
           CUDA_ERROR_INVALID_VALUE, "ElementSizeBytes is not 4, 8 or 16");
    void* made = nullptr;
    pass(cudaMallocPitch(&made, pitch, width, height));
    kept(address, made);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return drive([&] {
    require_bytes(address, bytes);
    void* made = nullptr;
    pass(cudaMallocManaged(&made, bytes, flags));
    kept(address, made);
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return drive([&] { pass(cudaFree(pointer(address))); });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return drive([&] {
    pass(cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream));
  });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return drive([&] { pass(cudaFreeAsync(pointer(address), stream)); });
}

CUresult cuMemAllocHost(void** address, size_t bytes) {
  return drive([&] { pass(cudaMallocHost(address, bytes)); });
}
CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return drive([&] {
    demand(flags < 8, CUDA_ERROR_INVALID_VALUE, "unknown flags ", flags);
    pass(cudaHostAlloc(address, bytes, flags));
  });
}
CUresult cuMemFreeHost(void* address) {
  return drive([&] { pass(cudaFreeHost(address)); });
}
CUresult cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return drive([&] { pass(cudaHostRegister(address, bytes, flags)); });
}
CUresult cuMemHostUnregister(void* address) {
  return drive([&] { pass(cudaHostUnregister(address)); });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host,
                                   unsigned flags) {
  return drive([&] {
    pass(cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host,
                                  flags));
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return drive([&] { pass(cudaHostGetFlags(flags, host)); });
}

#if CUDA_VERSION >= 13000
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation to,
                            unsigned flags, CUstream stream) {
  return drive([&] {
    pass(cudaMemPrefetchAsync(pointer(address), bytes,
                              runtime_type<cudaMemLocation>(to), flags,
                              stream));
  });
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                     CUmemLocation location) {
  return drive([&] {
    pass(cudaMemAdvise(pointer(address), bytes,
                       static_cast<cudaMemoryAdvise>(advice),
                       runtime_type<cudaMemLocation>(location)));
  });
}
#endif

// ---- Pools ------------------------------------------------------------------

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceGetDefaultMemPool(pool, device)); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceGetMemPool(pool, device)); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceSetMemPool(device, pool)); });
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* given) {
  return drive(Needs::kDriver, [&] {
    demand(given != nullptr, CUDA_ERROR_INVALID_VALUE, "poolProps is null");
    const auto properties = runtime_type<cudaMemPoolProps>(*given);
    pass(cudaMemPoolCreate(pool, &properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return drive(Needs::kDriver, [&] { pass(cudaMemPoolDestroy(pool)); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return drive(Needs::kDriver, [&] { pass(cudaMemPoolTrimTo(pool, bytes)); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                               void* value) {
  return drive(Needs::kDriver, [&] {
    pass(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(which),
                                 value));
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                               void* value) {
  return drive(Needs::kDriver, [&] {
    pass(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(which),
                                 value));
  });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes,
                                 CUmemoryPool pool, CUstream stream) {
  return drive([&] {
    pass(cudaMallocFromPoolAsync(reinterpret_cast<void**>(address), bytes, pool,
                                 stream));
  });
}

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return drive([&] { pass(cudaMemGetInfo(free, total)); });
}

CUresult cuMemGetAddressRange(CUdeviceptr* begin, size_t* bytes,
                              CUdeviceptr address) {
  return drive([&] {
    if (bytes) *bytes = 0;
    const auto found = allocations().find(address);
    demand(found && !found->freed, CUDA_ERROR_NOT_FOUND, pointer(address),
           " is ", allocations().describe(address));
    if (begin) *begin = found->begin;
    if (bytes) *bytes = found->bytes();
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which,
                               CUdeviceptr address) {
  return drive([&] { tell_of_pointer(data, which, address); });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which,
                                void** data, CUdeviceptr address) {
  return drive([&] {
    demand(which && data && count, CUDA_ERROR_INVALID_VALUE,
           "attributes or data is null, or there are none");
    for (unsigned k = 0; k < count; ++k)
      tell_of_pointer(data[k], which[k], address);
  });
}

// ---- Copies -----------------------------------------------------------------

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return drive([&] {
    pass(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
  });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  return drive([&] {
    pass(cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault,
                         stream));
  });
}
// An address knows whose it is.
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                      size_t bytes) {
  return cuMemcpy(to, from, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from,
                           CUcontext, size_t bytes, CUstream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return drive([&] {
    pass(cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
  });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                           CUstream stream) {
  return drive([&] {
    pass(cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice,
                         stream));
  });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return drive([&] {
    pass(cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
  });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  return drive([&] {
    pass(cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost,
                         stream));
  });
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return drive([&] {
    pass(cudaMemcpy(pointer(to), pointer(from), bytes,
                    cudaMemcpyDeviceToDevice));
  });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  return drive([&] {
    pass(cudaMemcpyAsync(pointer(to), pointer(from), bytes,
                         cudaMemcpyDeviceToDevice, stream));
  });
}

// ---- Fills ------------------------------------------------------------------

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n) {
  return drive([&] { fill_rows(nullptr, to, n, value, 1, n, 1); });
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t n) {
  return drive([&] { fill_rows(nullptr, to, 2 * n, value, 2, n, 1); });
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t n) {
  return drive([&] { fill_rows(nullptr, to, 4 * n, value, 4, n, 1); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n,
                         CUstream stream) {
  return drive([&] { fill_rows(stream, to, n, value, 1, n, 1); });
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n,
                          CUstream stream) {
  return drive([&] { fill_rows(stream, to, 2 * n, value, 2, n, 1); });
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n,
                          CUstream stream) {
  return drive([&] { fill_rows(stream, to, 4 * n, value, 4, n, 1); });
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value,
                      size_t width, size_t height) {
  return drive([&] { fill_rows(nullptr, to, pitch, value, 1, width, height); });
}
CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value,
                       size_t width, size_t height) {
  return drive([&] { fill_rows(nullptr, to, pitch, value, 2, width, height); });
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value,
                       size_t width, size_t height) {
  return drive([&] { fill_rows(nullptr, to, pitch, value, 4, width, height); });
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value,
                           size_t width, size_t height, CUstream stream) {
  return drive([&] { fill_rows(stream, to, pitch, value, 1, width, height); });
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
                            size_t width, size_t height, CUstream stream) {
  return drive([&] { fill_rows(stream, to, pitch, value, 2, width, height); });
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value,
                            size_t width, size_t height, CUstream stream) {
  return drive([&] { fill_rows(stream, to, pitch, value, 4, width, height); });
}

}  // extern "C"
