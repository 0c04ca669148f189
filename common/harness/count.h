// The calls whose counters are shown, by ./run without a GPU and by
// `make profileNN` on one.
//
// plots/<op>_count.cpp defines both functions; the linker does the rest.
#pragma once

#include <cstdint>
#include <vector>

// A call on n elements, in arrays that start `offset` elements past an aligned
// address.
struct Case {
  int64_t n = 0;
  int64_t offset = 0;

  bool operator==(const Case&) const = default;
};

// What ./run shows, the most telling case first.
std::vector<Case> counted_cases();

// Calls the operation once and waits for it.
void counted_call(const Case& one);
