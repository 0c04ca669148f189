// Statements that are decoded as others.
#pragma once
#include <optional>

#include "common/simt/core/ptx.h"

namespace simt {

// Does it set a field of a tensor map?
bool changes_map(const Statement& s);

// What to decode in its place; or nothing: it is what it is.
std::optional<Statement> rewritten(const Statement& s);

}  // namespace simt
