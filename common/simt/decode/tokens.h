// PTX text as a list of words, each with the line of the source it stems from.
#pragma once
#include <string>
#include <vector>

#include "common/simt/core/ptx.h"

namespace simt {

struct Token {
  std::string text;  // A name, number, "string", directive, or one character.
  SourceLine where;
  uint32_t origin;  // Which of ModuleText::origins.
};

// Fills in the module's files, too, and its origins. Throws Error for text that
// cannot be taken apart.
std::vector<Token> tokens_of(const std::string& text, ModuleText& module);

}  // namespace simt
