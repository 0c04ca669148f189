// Where a warp goes: SIMT_TRACE=file.json writes which bytes the lanes of each
// launch's first warp access at one line, SIMT_TRACE_LINE=relu.cu:28, for
// plots/traces.py to draw.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/simt/access.h"

namespace simt {

class Trace {
 public:
  // The one of this process; null: nobody asked for any.
  static Trace* wanted();

  void access(const Warp& warp, const Instruction& ins, const Access& access);

 private:
  Trace(std::string path, const std::string& place);
  bool is_traced(const Warp& warp, const Instruction& ins) const;
  void write() const;

  std::string path_, file_;
  uint32_t line_ = 0;
  std::vector<std::string> accesses_;  // JSON
};

}  // namespace simt
