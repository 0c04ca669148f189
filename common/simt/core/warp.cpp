// A lane mask as people read it.
#include "common/simt/core/warp.h"

#include <cstdio>

namespace simt {

std::string hex_mask(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace simt
