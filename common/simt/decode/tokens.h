// PTX text as a list of words, each with the line of the source it stems from.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/core/ptx.h"

namespace simt {

struct Token {
  // A name, number, "string", directive, or one character.
  std::string_view text;
  SourceLine where;
  uint32_t origin;  // Which of ModuleText::origins.
};

// They point into the text. Fills in the module's files, too, and its origins.
// Throws Error for text that cannot be taken apart.
std::vector<Token> tokens_of(const std::string& text, ModuleText& module);

}  // namespace simt
