// Checks ranges of memory, and counts their bytes.
#include "common/simt/runtime/ranges.h"

namespace simt {

// [pointer, pointer + bytes) is one side's memory and inside one allocation.
// Host memory that CUDA did not hand out has no known end.
void require_range(const char* name, const void* pointer, size_t bytes,
                   Side side) {
  const uint64_t address = address_of(pointer);
  const auto found = allocations().find(address);
  const auto refuse = [&](const auto&... why) {
    throw Refused{cudaErrorInvalidValue,
                  text(name, " = ", pointer, ' ', why...)};
  };
  if (pointer == nullptr) refuse("is null");
  if (!found) {
    const bool host = !allocations().in_arena(address);
    if (host && side != Side::kDevice) return;
    refuse("is not device memory, but ", allocations().describe(address));
  }
  if (found->freed) refuse("is ", allocations().describe(address));
  if (side == Side::kHost && found->is_device_only()) {
    // Addresses are unified: a GPU sees itself where the bytes are.
    complain("note", text(name, " = ", pointer,
                          " is not host memory, as the "
                          "copy's kind says, but ",
                          allocations().describe(address)));
  }
  if (bytes > found->end - address) {
    refuse("is ", allocations().describe(address), "; ", bytes,
           " bytes from there leave it by ", bytes - (found->end - address));
  }
}

void require_writable(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  require(!found || !found->read_only, cudaErrorInvalidValue, "dst = ", pointer,
          " is an input, which must stay as it is: ",
          allocations().describe(address_of(pointer)));
}

// The device whose memory it is, if it is no memory of the host's.
std::optional<int> home_of(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  if (!found || !found->is_device_only()) return std::nullopt;
  return found->device;
}

namespace {

using Wide = unsigned __int128;

size_t bounded(Wide bytes) { return bytes >> 64 ? SIZE_MAX : size_t(bytes); }

}  // namespace

size_t product_of(size_t one, size_t other) {
  return bounded(Wide(one) * other);
}

size_t bytes_of_rows(size_t pitch, size_t width, size_t height) {
  return bounded(Wide(height - 1) * pitch + width);
}

}  // namespace simt
