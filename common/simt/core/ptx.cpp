// Names of types, and the modifiers of a statement.
#include "common/simt/core/ptx.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace simt {

Type parse_type(const std::string& name) {
  if (name == "pred") return {'p', 0};
  if (name == "f16x2") return {'x', 4};
  if (name == "f16") return {'h', 2};
  if (name == "bf16x2") return {'z', 4};
  if (name == "bf16") return {'y', 2};
  const bool known = name.size() >= 2 && std::strchr("usbf", name[0]) &&
                     std::isdigit(static_cast<unsigned char>(name[1])) &&
                     name.find_first_not_of("0123456789", 1) == name.npos;
  if (!known) return {};
  return {name[0], static_cast<uint8_t>(std::atoi(&name[1]) / 8)};
}

bool Statement::has(const char* modifier) const {
  return std::find(op.begin() + 1, op.end(), modifier) != op.end();
}

}  // namespace simt
