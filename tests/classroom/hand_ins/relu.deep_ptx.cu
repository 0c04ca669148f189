// Hostile: PTX that opens 100,000 braces, and parentheses within parentheses.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  launch(head + ".visible .entry kernel() " + std::string(100'000, '{') +
             "ret;" + std::string(100'000, '}'),
         "kernel");
  launch(head + ".global .b32 deep = " + std::string(1'000'000, '(') + "1" +
             std::string(1'000'000, ')') + ";\n.visible .entry kernel() {ret;}",
         "kernel");
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
