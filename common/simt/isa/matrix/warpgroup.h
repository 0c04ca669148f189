// What four warps do together for Hopper's tensor cores: wgmma. Each computes
// its own sixteen rows of the result.
#pragma once
#include "common/simt/core/block.h"
#include "common/simt/isa/arithmetic/arithmetic.h"
#include "common/simt/isa/matrix/fragment.h"
#include "common/simt/isa/matrix/sparsity.h"

namespace simt {

// What a wgmma.mma_async is about; instructions of one form share it.
struct WarpgroupProduct {
  static constexpr int kRows = 16;  // of a warp
  static constexpr int kTile = 8;   // columns of the result

  int n = 0, k = 0;
  Number a = Number::kHalf, b = Number::kHalf, d = Number::kFloat;
  Fragment a_fragment, tile;  // a warp's registers; of D those of each tile
  bool a_in_registers = false;
  bool a_along_k = true, b_along_k = true;  // neighbours in shared memory
  bool negated = false;
  bool saturates = false;
  Sparsity sparsity;

  int in_row() const { return sparsity ? sparsity.stored : k; }  // of A, stored
  int tiles() const { return n / kTile; }
  int a_registers() const {
    return a_in_registers ? a_fragment.registers() : 1;
  }
  int d_registers() const { return tiles() * tile.registers(); }
  // Among the sources; before them stands whether D is an addend, and behind
  // them stand, if A is sparse, what says which half of it is stored, then D's
  // registers and the member mask.
  static constexpr int kAdds = 0, kA = 1;
  int b_source() const { return kA + a_registers(); }
  int metadata_source() const { return b_source() + 1; }
};

// Decodes wgmma and setmaxnreg; returns false for any other opcode.
bool decode_warpgroup(const Statement& s, OperandReader& operands, Draft& ins);

// In warpgroup_multiply.cpp: a warp's part of the product.
void multiply_in_warpgroup(Warp& warp, const Instruction& ins, uint32_t mask);

}  // namespace simt
