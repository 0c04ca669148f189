// Hostile: a kernel of a binary that was never registered: the handle is an
// address in the judge.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  std::vector<char> text(8 + 8, 'A');
  for (const char c : std::string("kernel")) text.push_back(c);
  text.push_back(0);
  say(5, text);
  hear();
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
