// The ranges of memory that calls name, and whose they are. Every range is
// checked against the allocation it claims to be in before a byte moves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/runtime.h"

namespace simt {

inline uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// Device memory is closed to us too, but for these ways in.
inline char* open(void* pointer) {
  return static_cast<char*>(allocations().open(address_of(pointer)));
}
inline const char* open(const void* pointer) {
  return static_cast<const char*>(allocations().look_at(address_of(pointer)));
}

// Which memory a pointer must be. Managed and pinned memory is either.
enum class Side { kAny, kHost, kDevice };

// [pointer, pointer + bytes) is one side's memory and inside one allocation.
// Host memory that CUDA did not hand out has no known end.
void require_range(const char* name, const void* pointer, size_t bytes,
                   Side side);
void require_writable(const void* pointer);

template <class Pointer>
void require_result(Pointer* result) {
  require(result != nullptr, cudaErrorInvalidValue,
          "the pointer to the result is null");
}

// The device whose memory it is, if it is no memory of the host's.
std::optional<int> home_of(const void* pointer);

// What is too large stays so: no size wraps around.
size_t product_of(size_t one, size_t other);
// Rows of `width` bytes, `pitch` bytes apart, of which there are some.
size_t bytes_of_rows(size_t pitch, size_t width, size_t height);

// Where a slice of a box begins.
inline char* slice(const cudaPitchedPtr& of, cudaPos at, size_t z) {
  return static_cast<char*>(of.ptr) +
         ((at.z + z) * of.ysize + at.y) * of.pitch + at.x;
}

}  // namespace simt
