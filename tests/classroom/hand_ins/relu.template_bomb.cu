// Hostile: templates that are twice as many at each depth.
#include "common/check.h"
#include "common/relu.h"

template <int kDepth, unsigned long kPath>
struct Bomb {
  static constexpr int kValue = Bomb<kDepth - 1, 2 * kPath>::kValue +
                                Bomb<kDepth - 1, 2 * kPath + 1>::kValue;
};
template <unsigned long kPath>
struct Bomb<0, kPath> {
  static constexpr int kValue = 1;
};

int bomb = Bomb<40, 0>::kValue;

void relu(const float*, float*, int64_t, cudaStream_t) {}
