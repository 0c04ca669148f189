// Finds the bytes that libcu++ means where it accesses the word around them.
//
// A GPU has no atomics of one byte, and few of two. libcu++ rounds the pointer
// down, loads the word, and swaps it for one in which its own bytes differ
// (cccl: cuda/std/__atomic/functions/cuda_ptx_derived.h). The others stay as
// they are: they may be somebody else's, or behind an array's end.
#include <algorithm>
#include <string>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/definitions.h"

namespace simt {
namespace {

// and.b64 rounded, pointer, -bytes
bool rounds_down(const Instruction& ins, int bytes) {
  return ins.where.of_library && ins.guard == kNowhere && ins.statement &&
         ins.statement->name() == "and" &&
         ins.statement->operands.size() == 3 &&
         ins.statement->operands[2].text == std::to_string(-bytes);
}

bool rounds_any(const Instruction& ins) {
  return rounds_down(ins, 2) || rounds_down(ins, 4);
}

}  // namespace

void find_words_around(Function& function, const Program& program) {
  if (std::ranges::none_of(function.code, rounds_any)) return;
  const Definitions definitions(function, program);
  for (uint32_t pc = 0; pc < function.code.size(); ++pc) {
    const Instruction& ins = function.code[pc];
    if (ins.address_count != 1) continue;
    Address& address = ins.addresses()[0];
    const auto writer = definitions.only(address.base);
    if (!writer || address.offset != 0 ||
        !rounds_down(function.code[*writer], ins.element_bytes))
      continue;
    const Place pointer = function.code[*writer].source(0);
    if (definitions.settled(pointer, pc)) address.meant = pointer;
  }
}

}  // namespace simt
