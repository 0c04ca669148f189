// Where a block goes: SIMT_TRACE=file.json writes which bytes the lanes of each
// launch's first block access at one line, SIMT_TRACE_LINE=relu.cu:28, and what
// they hand each other there, for `make figures` to draw. SIMT_TRACE_BLOCK=7
// chooses another block.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/simt/core/access.h"

namespace simt {

class Trace {
 public:
  // The one of this process; null: nobody asked for any.
  static Trace* wanted();

  void access(const Warp& warp, const Instruction& ins, const Access& access);
  // Lanes of `mask` have laid out their operands for a shuffle, a vote, ...
  void collective(const Warp& warp, const Instruction& ins, uint32_t mask);
  // A barrier of the block opens.
  void release(const Block& block);

 private:
  Trace(std::string path, const std::string& place);
  bool is_traced(const Warp& warp, const Instruction& ins);
  void add(const Warp& warp, const std::string& what, const std::string& lanes);
  void write() const;

  std::string path_, file_;
  uint32_t line_ = 0;
  uint64_t block_;                    // of each launch, by its number
  uint32_t barriers_ = 0;             // that have opened in such blocks so far
  std::array<uint32_t, 32> taken_{};  // by the warps of a block
  std::vector<std::string> events_;   // JSON
};

}  // namespace simt
