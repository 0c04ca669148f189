// Rewrites cache hints, which change no result, and changes of tensor maps,
// which are stores.
#include "common/simt/decode/rewritten.h"

#include <cstddef>

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

// tensormap.replace as what it is here: the store of a number in a map.
Statement store_of_field(Statement s) {
  uint64_t which = 0;
  if (s.operands.size() > 2) {
    which = parse_literal(s.operands[1].text).value().bits;
    s.operands.erase(s.operands.begin() + 1);
  }
  const bool strides = s.has("global_stride");  // the first is not told
  if (which + strides >= TensorMap::kMostDimensions)
    throw Error("a tensor map has no such field");
  const uint64_t begin = strides               ? offsetof(TensorMap, stride[1])
                         : s.has("global_dim") ? offsetof(TensorMap, extent)
                         : s.has("box_dim")    ? offsetof(TensorMap, box)
                                               : offsetof(TensorMap, address);
  const uint64_t bytes = s.op.back() == "b64" ? 8 : 4;
  s.operands[0].offset += static_cast<int64_t>(begin + which * bytes);
  std::erase(s.op, "b1024");
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
