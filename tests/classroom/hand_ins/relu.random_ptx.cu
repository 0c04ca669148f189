// Hostile: PTX that is random bytes.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  std::string noise = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (uint64_t bits = 88172645463325252u; noise.size() < 1 << 20;) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    noise.push_back(char(bits));
  }
  launch(noise, "kernel");
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
