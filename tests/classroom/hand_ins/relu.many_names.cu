// Hostile: kernels with names of 10 MB, as many as can be.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  say(4, binary("none"));
  std::vector<char> handle = hear();
  handle.erase(handle.begin(), handle.begin() + 4);
  for (uint64_t address = 0;; ++address) {
    std::vector<char> text = handle;
    text.resize(16 + (10 << 20), 'n');
    std::memcpy(text.data() + 8, &address, sizeof address);
    text.push_back(0);
    say(5, text);
    hear();
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
