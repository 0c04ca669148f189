// Bulk copies: what those of tensors have in common with the others.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// What one lane asks for.
struct BulkCopy {
  Access to;
  std::optional<Access> from;                      // none: it is in registers
  std::optional<Access> barrier;                   // none: it is of a group
  std::shared_ptr<const TensorBox> box = {};       // null: it is of plain bytes
  AsyncCopy::Reduction reduction = nullptr;        // of elements,
  uint32_t element_bytes = 0;                      //   each so large
  std::optional<std::vector<uint8_t>> bytes = {};  // of registers
};

// What a lane means by one of its addresses.
Access bulk_place(Warp& warp, const Instruction& ins, int lane, int which,
                  uint32_t bytes, uint32_t alignment, Use use);

// Begins it; `multicasts`: in each block that the last operand names.
void begin_bulk(Warp& warp, const Instruction& ins, int lane,
                const BulkCopy& copy, bool multicasts);

// Decodes tensormap.cp_fenceproxy.
void decode_map_copy(const Statement& s, Draft& ins);

// Decodes cp.async.bulk.tensor and its kin, of which it is known that they are;
// their addresses are already there.
void decode_tensor_copy(const Statement& s, OperandReader& operands,
                        Draft& ins);

}  // namespace simt
