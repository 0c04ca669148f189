// The layout of a fat binary, as nvcc 11 to 13 write it.
#pragma once
#include <cstdint>

namespace simt::fat {

struct Wrapper {  // in the section .nvFatBinSegment
  uint32_t magic, version;
  const uint8_t* data;
};
struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of the entries behind it
};
struct Image {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;  // with padding
  uint32_t other;
  uint32_t options_at;  // in the header: where a Text is; 0: nowhere
  uint32_t ptx_version;
  uint32_t architecture;  // 90 for compute_90
  uint8_t more[8];
  uint64_t flags;
};
struct Text {
  uint32_t at, bytes;  // in the header
};
constexpr uint32_t kWrapperMagic = 0x466243b1, kHeaderMagic = 0xba55ed50;
constexpr uint16_t kPtx = 1;
constexpr uint16_t kLinked = 0x4c;  // a header's version: all its PTX is one
constexpr uint64_t kCompressed = 0x2000 | 0x8000;  // LZ4, Zstandard

}  // namespace simt::fat
