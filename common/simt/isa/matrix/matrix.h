// Matrices that the lanes of a warp hold together: mma, wmma, ldmatrix,
// stmatrix, movmatrix.
#pragma once
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/isa/arithmetic/arithmetic.h"
#include "common/simt/isa/matrix/fragment.h"
#include "common/simt/isa/matrix/sparsity.h"

namespace simt {

// What a matrix instruction is about; instructions of one form share it.
struct Matrix {
  // mma, wmma.mma: D = A * B + C. Of m8n8k4 with .f16, A, C and D are four
  // matrices one below the other, and B are four side by side.
  int m = 0, n = 0, k = 0;
  int products = 1;
  int together = 0;   // so many products of an element are added at once
  Sparsity sparsity;  // mma.sp
  int in_row() const { return sparsity ? sparsity.stored : k; }  // of A, stored
  Fragment a, b, c, d;
  uint8_t a_registers = 0, b_registers = 0;  // of the statement
  bool saturates = false;
  bool exclusive = false;  // .b1: .xor, else .and

  // The others: what the machine accesses, one after the other.
  std::vector<MatrixAccess> accesses;
  uint8_t stored = 0;  // so many registers
  // In memory: of an element, and how far rows are apart if nothing says so.
  uint8_t element_bits = 8;
  uint16_t row_elements = 0;
};

// Decodes these instructions; returns false for any other opcode. Their last
// source is the member mask, which names all lanes. Before it stand, of a wmma
// load or store, the registers stored and how far rows are apart, and of a
// product the registers of A, B and C, and of mma.sp what says which half of A
// is stored, and the selector.
bool decode_matrix(const Statement& s, OperandReader& operands, Draft& ins);

bool is_sparse(const Statement& s);
bool is_number(const std::string& type);
Number number_of(const std::string& type);  // "bf16"
// Of the matrix 'a', 'b', 'c' or 'd' of such a product.
Fragment product_fragment(char which, Number number, int m, int n, int k);

// In multiply.cpp: what computes such a product, and fills `matrix`.
Handler product_handler(const Statement& s, Matrix& matrix);

// In memory.cpp.
Handler matrix_memory_handler(const Statement& s, Matrix& matrix);

// Ends the kernel unless all lanes of the warp are there.
void require_all_lanes(Warp& warp, const Instruction& ins, uint32_t mask);

}  // namespace simt
