// Names of types, the modifiers of a statement, and where it came from.
#include "common/simt/core/ptx.h"

#include <algorithm>

namespace simt {

Type parse_type(const std::string& name) {
  static const std::map<std::string, Type> kTypes = {
      {"pred", {'p', 0}}, {"b8", {'b', 1}},     {"b16", {'b', 2}},
      {"b32", {'b', 4}},  {"b64", {'b', 8}},    {"b128", {'b', 16}},
      {"u8", {'u', 1}},   {"u16", {'u', 2}},    {"u32", {'u', 4}},
      {"u64", {'u', 8}},  {"s8", {'s', 1}},     {"s16", {'s', 2}},
      {"s32", {'s', 4}},  {"s64", {'s', 8}},    {"f32", {'f', 4}},
      {"f64", {'f', 8}},  {"f16", {'h', 2}},    {"f16x2", {'x', 4}},
      {"bf16", {'y', 2}}, {"bf16x2", {'z', 4}}, {"u16x2", {'u', 4}},
      {"s16x2", {'s', 4}}};
  const auto known = kTypes.find(name);
  return known == kTypes.end() ? Type{} : known->second;
}

std::vector<std::string> parts_of_op(std::string_view op) {
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    const size_t dot = op.find('.', from);
    parts.emplace_back(op.substr(from, dot - from));
    if (dot == op.npos) return parts;
    from = dot + 1;
  }
}

bool Statement::has(const char* modifier) const {
  return std::find(op.begin() + 1, op.end(), modifier) != op.end();
}

std::string location_of(SourceLine where,
                        const std::vector<std::string>& files) {
  if (where.line == 0 || where.file >= files.size()) return "";
  return files[where.file] + ":" + std::to_string(where.line);
}

}  // namespace simt
