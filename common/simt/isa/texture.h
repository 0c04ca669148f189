// Textures and surfaces: images that are read by coordinates, between texels
// too, and surfaces that are read and written texel by texel.
#pragma once
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// Decodes tex, tld4, suld, sust, txq, suq; returns false for any other opcode.
bool decode_texture(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
