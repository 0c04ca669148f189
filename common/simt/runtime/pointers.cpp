// Tells about memory: what a pointer is, where a variable lies, how much is
// free.
#include "common/simt/runtime/ranges.h"

using namespace simt;

extern "C" {

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer([&] {
    require_result(address);
    *address = find_symbol(symbol, current_device()).address;
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return answer([&] {
    require_result(bytes);
    *bytes = find_symbol(symbol, current_device()).bytes;
  });
}

// The model device's memory, so that programs that size themselves by it do the
// same everywhere. This machine may have less.
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return answer([&] {
    const uint64_t all = allocations().device_bytes();
    if (total) *total = all;
    if (free_bytes)
      *free_bytes = all - allocations().device_bytes_in_use(current_device());
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer) {
  return answer_apart([&] {
    require_result(attributes);
    void* const here = const_cast<void*>(pointer);
    const auto found = allocations().find(address_of(pointer));
    *attributes = {};
    attributes->device = cudaInvalidDeviceId;
    attributes->type = cudaMemoryTypeUnregistered;
    if (!found || found->freed) {
      attributes->hostPointer = here;
      return;
    }
    attributes->device = found->device;
    attributes->devicePointer = here;
    if (!found->is_device_only()) attributes->hostPointer = here;
    attributes->type = found->is_managed()       ? cudaMemoryTypeManaged
                       : found->is_device_only() ? cudaMemoryTypeDevice
                                                 : cudaMemoryTypeHost;
  });
}

}  // extern "C"
