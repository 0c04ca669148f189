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

// They point into the text. Throw Error for text that cannot be taken apart.
//
// The text of the module's last unit, where each function's body is one token.
// Adds the files that it names.
std::vector<Token> outline_of(std::string_view text, ModuleText& module);
// Those of such a body. Adds to the module's origins.
std::vector<Token> tokens_of(std::string_view body, const Unit& unit,
                             ModuleText& module);

}  // namespace simt
