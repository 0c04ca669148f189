// Storage for registers, parameters and shared memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

// Bytes that begin at a multiple of 128, as shared memory does.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t n) : lines_((n + 127) / 128), size_(n) {}
  uint8_t* data() { return reinterpret_cast<uint8_t*>(lines_.data()); }
  const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(lines_.data());
  }
  size_t size() const { return size_; }

 private:
  struct alignas(128) Line {
    uint8_t bytes[128];
  };
  std::vector<Line> lines_;
  size_t size_;
};

}  // namespace simt
