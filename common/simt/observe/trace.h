// Where a block goes: SIMT_TRACE=file.json writes which bytes the lanes of each
// launch's first block access at one line, SIMT_TRACE_LINE=relu.cu:28, for
// plots/traces.py to draw.
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
  // A barrier of the block opens.
  void release(const Block& block);

 private:
  Trace(std::string path, const std::string& place);
  bool is_traced(const Warp& warp, const Instruction& ins) const;
  std::string json(const Warp& warp, const Access& access) const;
  void write() const;

  std::string path_, file_;
  uint32_t line_ = 0;
  uint32_t barriers_ = 0;             // that have opened in first blocks so far
  std::array<uint32_t, 32> taken_{};  // by the warps of a block
  std::vector<std::string> accesses_;  // JSON
};

}  // namespace simt
