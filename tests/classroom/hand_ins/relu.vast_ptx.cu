// Hostile: PTX that asks for petabytes: of variables, registers, local memory
// and parameters.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string most = "[0x3fffffffffffffff];\n";
  for (const std::string& body :
       {".global .b8 a" + most + ".visible .entry kernel() {ret;}",
        ".visible .entry kernel() {.local .b8 a" + most + "ret;}",
        ".visible .entry kernel() {.shared .b8 a" + most + "ret;}",
        std::string(
            ".visible .entry kernel() {.reg .b32 %r<2000000000>; ret;}"),
        std::string(".visible .entry kernel(.param .b8 a[4000000000]) {ret;}"),
        std::string(".visible .entry kernel() {.reg .b64 %rd<2>; .local .b8 "
                    "a[1000000000]; mov.u64 %rd1, a; ret;}")})
    launch(head + body, "kernel");
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
