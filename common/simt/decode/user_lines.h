// Which lines are the user's own, and not the toolkit's or nobody's.
#pragma once
#include <cstdint>
#include <map>

#include "common/simt/core/names.h"
#include "common/simt/core/ptx.h"

namespace simt {

class UserLines {
 public:
  explicit UserLines(const ModuleText& text) : text_(text) {}

  bool has(SourceLine where) {
    return where.line != 0 && !is_of_toolkit(where.file);
  }

 private:
  bool is_of_toolkit(uint32_t file) {
    const auto [known, fresh] = of_toolkit_.try_emplace(file, false);
    if (fresh) known->second = is_toolkit_file(text_.files.at(file));
    return known->second;
  }

  const ModuleText& text_;
  std::map<uint32_t, bool> of_toolkit_;  // by the file's number
};

}  // namespace simt
