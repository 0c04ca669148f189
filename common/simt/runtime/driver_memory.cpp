// The driver API: memory, copies, fills.
#include <algorithm>

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

void require_bytes(const void* out, size_t bytes) {
  demand(out != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE,
         bytes ? "the pointer to the result is null" : "0 bytes");
}

// Rows of elements of 1, 2 or 4 bytes.
void fill_rows(CUstream stream, CUdeviceptr to, size_t pitch, unsigned value,
               unsigned element, size_t width, size_t height) {
  demand(to % element == 0, CUDA_ERROR_INVALID_VALUE,
         "dstDevice = ", pointer(to), " is no multiple of ", element);
  cudaMemsetParams p = {};
  p.dst = pointer(to);
  p.pitch = pitch;
  p.value = value;
  p.elementSize = element;
  p.width = width;
  p.height = height;
  if (width != 0 && height != 0) issue(stream, fill_work(p));
}

// One side of a copy of rows.
struct Rows {
  void* first;
  size_t pitch;
};
Rows rows_of(CUmemorytype type, void* host, CUdeviceptr device, size_t pitch,
             size_t x, size_t y, size_t width) {
  demand(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
             type == CU_MEMORYTYPE_UNIFIED || type == CU_MEMORYTYPE_ARRAY,
         CUDA_ERROR_INVALID_VALUE, "memory of the type ", int(type));
  if (type == CU_MEMORYTYPE_ARRAY) throw Lacking{"arrays in the driver API"};
  if (pitch == 0) pitch = width;
  auto* const from = type == CU_MEMORYTYPE_HOST
                         ? static_cast<char*>(host)
                         : static_cast<char*>(pointer(device));
  return {from + y * pitch + x, pitch};
}

void copy_rows(const CUDA_MEMCPY2D* given, const CUstream* stream) {
  demand(given != nullptr, CUDA_ERROR_INVALID_VALUE, "pCopy is null");
  const CUDA_MEMCPY2D& c = *given;
  const Rows to = rows_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch,
                          c.dstXInBytes, c.dstY, c.WidthInBytes);
  const Rows from =
      rows_of(c.srcMemoryType, const_cast<void*>(c.srcHost), c.srcDevice,
              c.srcPitch, c.srcXInBytes, c.srcY, c.WidthInBytes);
  if (stream)
    pass(cudaMemcpy2DAsync(to.first, to.pitch, from.first, from.pitch,
                           c.WidthInBytes, c.Height, cudaMemcpyDefault,
                           *stream));
  else
    pass(cudaMemcpy2D(to.first, to.pitch, from.first, from.pitch,
                      c.WidthInBytes, c.Height, cudaMemcpyDefault));
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
    require_bytes(address, width * height);
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
    require_bytes(address, bytes);
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
    require_bytes(address, bytes);
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

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return drive([&] { pass(cudaMemGetInfo(free, total)); });
}

CUresult cuMemGetAddressRange(CUdeviceptr* begin, size_t* bytes,
                              CUdeviceptr address) {
  return drive([&] {
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
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  return drive([&] { copy_rows(copy, nullptr); });
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  return drive([&] { copy_rows(copy, nullptr); });
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return drive([&] { copy_rows(copy, &stream); });
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

}  // extern "C"
