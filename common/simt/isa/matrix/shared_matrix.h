// A matrix in shared memory, as a descriptor of wgmma says where it lies.
#pragma once
#include <cstdint>

namespace simt {

// It consists of chunks of 16 bytes, in which neighbours along k lie together,
// or else neighbours along the other side. `side` counts along that: A's rows,
// or B's columns. Eight chunks make a core matrix, and an instruction takes two
// of these along k, or four of a B that meets a sparse A.
class SharedMatrix {
 public:
  static constexpr int kChunkBytes = 16;

  SharedMatrix(uint64_t descriptor, int element_bytes, bool along_k, int k);

  bool along_k() const { return along_k_; }
  int element_bytes() const { return element_bytes_; }
  int per_chunk() const { return kChunkBytes / element_bytes_; }

  // f(address, side, k) for each chunk of `count` rows or columns from `from`
  // on, and where it begins.
  template <class F>
  void each_chunk(int from, int count, F f) const {
    const int per = per_chunk();
    for (int side = from; side < from + count; side += along_k_ ? 1 : per)
      for (int k = 0; k < k_; k += along_k_ ? per : 1)
        f(address(side, k), side, k);
  }

 private:
  uint64_t address(int side, int k) const;
  uint64_t swizzled(uint64_t at) const;

  const bool along_k_;
  const int element_bytes_;
  const int k_;  // elements along k
  uint64_t begin_;
  uint32_t leading_, stride_;  // bytes between core matrices
  uint32_t pattern_;           // the swizzle's base offset, in 128 bytes
  uint32_t chunks_ = 1;        // side by side, that a swizzle mixes
};

}  // namespace simt
