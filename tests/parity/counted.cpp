// Calls what a chapter defines, once for each case that is counted, and checks
// nothing: what ncu and the executor are compared on.
#include "common/count.h"

int main() {
  for (const Case& one : counted_cases()) counted_call(one);
}
