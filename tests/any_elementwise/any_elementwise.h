// Chapter 13's engine, by the name of what there is to apply: for its suite and
// for Python.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

extern "C" {

// `what` names a function and the types of its elements, such as "add half". It
// takes as many of the arrays as it has.
struct AnyElementwise {
  const char* what;
  double parameter;    // The factor of "scale".
  const void* scalar;  // That of "scale_by", on the device.
  int64_t n;
  void* results[2];
  const void* operands[3];
};

// What the engine returns, or that there is no such function.
const char* any_elementwise(const AnyElementwise* asked, cudaStream_t stream);

// The path that this call takes: width, head, packs, blocks, and whether it is
// shifted.
void any_elementwise_path(const AnyElementwise* asked, int64_t* path);
}
