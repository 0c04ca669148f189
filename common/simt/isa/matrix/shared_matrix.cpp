// Where the chunks of a matrix lie that a descriptor describes.
#include "common/simt/isa/matrix/shared_matrix.h"

namespace simt {
namespace {

// Of a descriptor: addresses and distances leave their last four bits out.
uint32_t distance(uint64_t descriptor, int bit) {
  return (descriptor >> bit & 0x3fff) << 4;
}

}  // namespace

SharedMatrix::SharedMatrix(uint64_t descriptor, int element_bytes, bool along_k,
                           int k)
    : along_k_(along_k),
      element_bytes_(element_bytes),
      k_(k),
      begin_(distance(descriptor, 0)),
      leading_(distance(descriptor, 16)),
      stride_(distance(descriptor, 32)),
      pattern_(descriptor >> 49 & 7) {
  // 1 to 3: a swizzle of 128, 64 or 32 bytes.
  if (const auto swizzle = descriptor >> 62) chunks_ = 16 >> swizzle;
}

uint64_t SharedMatrix::address(int side, int k) const {
  const uint32_t row = kChunkBytes * chunks_;
  if (along_k_) {
    const uint32_t chunk = k / per_chunk();
    return swizzled(begin_ + uint64_t(side / 8) * stride_ + side % 8 * row +
                    uint64_t(chunk / chunks_) * leading_ +
                    chunk % chunks_ * kChunkBytes);
  }
  // Without a swizzle the two distances change places.
  const uint32_t chunk = side / per_chunk();
  const uint32_t across = chunks_ > 1 ? leading_ : stride_;
  const uint32_t down = chunks_ > 1 ? stride_ : leading_;
  return swizzled(begin_ + uint64_t(chunk / chunks_) * across +
                  chunk % chunks_ * kChunkBytes + k % 8 * row +
                  uint64_t(k / 8) * down);
}

// As tensor maps do it, counted from where the pattern begins.
uint64_t SharedMatrix::swizzled(uint64_t at) const {
  return at ^ (((at >> 7) - pattern_) & (chunks_ - 1)) << 4;
}

}  // namespace simt
