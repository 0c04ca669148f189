// Chapter 12, tree: bits that depend on the numbers alone.
//
// New:   neighbours are added, then pairs of them, then fours, whatever thread
//        has them; a launch for every 1,024-fold.
// Why:   no plan, no address and no other row changes the order, so a batch of
//        one gives the bits of a batch of a thousand.
// Price: shuffles for every pack, and a launch more for every level.

#include <bit>

#include "chapters/12_reduce/tree.h"
#include "common/sum.h"

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  tree::tree_sums(x, out, 1, n, scratch, stream);
}

int64_t sum_scratch_floats(int64_t n) { return tree::tree_scratch(1, n); }

// As many as the tree has levels: no order has fewer.
SumPromise sum_promise(int64_t n) {
  const int64_t levels = std::bit_width(static_cast<uint64_t>(n));
  return {.depth = levels, .same_bits = true, .denormals = true};
}
