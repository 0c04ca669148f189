// ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store.
#include "common/simt/isa/matrix.h"

namespace simt {
Handler matrix_memory_handler(const Statement&, Matrix&) { return nullptr; }
}  // namespace simt
