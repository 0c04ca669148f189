// Loads that only test a word, and the stores by which their threads set it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/simt/decode/definitions.h"
#include "common/simt/decode/life.h"
#include "common/simt/decode/reading.h"

namespace simt {

// The store by which a thread that has tested a word sets it; or none.
std::optional<uint32_t> store_of(const Function& f,
                                 const Definitions& definitions, uint32_t load,
                                 const Life& life);

// A comparison that is simple enough to be evaluated; not with what.
std::optional<Comparison> simple_comparison(const Instruction& ins);

// All comparisons of a tested value, if they are so simple.
std::vector<Comparison> comparisons_of(const Function& f,
                                       const Definitions& definitions,
                                       uint32_t load, const Life& life);

// Those of them whose answers are joined: `c != -1 && c != mine`.
std::vector<Test::Joined> joined_of(const Function& f, const Readers& readers,
                                    const Life& life);

// `if (x < *p) atomicMin(p, x)`, and nothing else hangs on what is read there.
Guess guess_before_atomic(const Function& f, const Definitions& definitions,
                          const Readers& readers, uint32_t load,
                          const Life& life);

// What must have been so for the store, if one comparison with a number or a
// parameter decides.
TestedStore asked_by(const Function& f, const Definitions& definitions,
                     Place value, const Life& life, uint32_t store);

}  // namespace simt
