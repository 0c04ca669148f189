// Calls what a chapter defines, once for each case that is counted, and checks
// nothing: what ncu and the executor are compared on.
//
//   relu.counted 1048576 1   one case instead: n, and how far off the arrays
//   are
#include <cstdlib>

#include "common/harness/count.h"

int main(int argc, char** argv) {
  if (argc == 3) {
    counted_call({.n = std::atoll(argv[1]), .offset = std::atoll(argv[2])});
    return 0;
  }
  for (const Case& one : counted_cases()) counted_call(one);
}
