// PTX text as a list of words, each with the line of the source it stems from.
#pragma once
#include <string>
#include <vector>

#include "common/simt/core/ptx.h"

namespace simt {

struct Token {
  std::string text;  // A name, number, "string", directive, or one character.
  SourceLine where;
};

// Fills in `files`, too, by the index of .file. Throws Error for text that
// cannot be taken apart.
std::vector<Token> tokens_of(const std::string& text,
                             std::vector<std::string>& files);

}  // namespace simt
