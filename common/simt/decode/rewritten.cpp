// Rewrites cache hints, which change no result, and changes of tensor maps,
// which are stores.
#include "common/simt/decode/rewritten.h"

#include <cstddef>
#include <map>
#include <string>

#include "common/simt/core/error.h"
#include "common/simt/core/literals.h"
#include "common/simt/memory/tensor_map.h"

namespace simt {

bool changes_map(const Statement& s) {
  return s.name() == "tensormap" && s.has("replace");
}

namespace {

// How long the L2 cache keeps what an access touches changes no result.
Statement without_policy(Statement s) {
  std::erase(s.op, "L2::cache_hint");
  s.operands.pop_back();
  return s;
}

struct Field {
  uint64_t begin, bytes;
  uint64_t count = 1;
};

Field field_of(const std::string& name) {
  constexpr uint64_t kMost = TensorMap::kMostDimensions;
  static const std::map<std::string, Field> kFields = {
      {"global_address", {offsetof(TensorMap, address), 8}},
      {"rank", {offsetof(TensorMap, last_dimension), 1}},
      {"box_dim", {offsetof(TensorMap, box), 4, kMost}},
      {"global_dim", {offsetof(TensorMap, extent), 4, kMost}},
      // The first is not told.
      {"global_stride", {offsetof(TensorMap, stride[1]), 8, kMost - 1}},
      {"element_stride", {offsetof(TensorMap, step), 1, kMost}},
      {"elemtype", {offsetof(TensorMap, element), 1}},
      {"interleave_layout", {offsetof(TensorMap, interleave), 1}},
      {"swizzle_mode", {offsetof(TensorMap, swizzle_mode), 1}},
      {"fill_mode", {offsetof(TensorMap, fills_nan), 1}}};
  return kFields.at(name);
}

// tensormap.replace as what it is here: the store of a number in a map.
Statement store_of_field(Statement s) {
  const Field field = field_of(s.op.at(3));
  uint64_t which = 0;
  if (s.operands.size() > 2) {
    which = parse_literal(s.operands[1].text).value().bits;
    s.operands.erase(s.operands.begin() + 1);
  }
  if (which >= field.count) throw Error("a tensor map has no such field");
  s.operands[0].offset +=
      static_cast<int64_t>(field.begin + which * field.bytes);
  std::erase(s.op, "b1024");
  s.op.back() = "b" + std::to_string(8 * field.bytes);
  s.op.erase(s.op.begin() + 1, s.op.begin() + 4);  // replace.tile.field
  s.op[0] = "st";
  return s;
}

}  // namespace

std::optional<Statement> rewritten(const Statement& s) {
  // Bulk copies have their operands by their places, and leave it alone.
  if (s.has("L2::cache_hint") && !s.has("bulk")) return without_policy(s);
  if (changes_map(s)) return store_of_field(s);
  return {};
}

}  // namespace simt
