// Calls of the driver API for tests: its library need not be linked.
#pragma once
#include <cuda.h>

#include "tests/simt/expect.h"

namespace driver_calls {

// Of what cuda.h declares nothing is younger; and cuCtxSynchronize, which takes
// nothing there, takes a context from CUDA 13.0 on.
constexpr unsigned kVersion = CUDART_VERSION < 12090 ? CUDART_VERSION : 12090;

inline void* found(const char* name, unsigned version = kVersion) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  expect::ok(cudaGetDriverEntryPointByVersion(name, &function, version,
                                              cudaEnableDefault, &status));
  return function;
}

// CALL(MemAlloc)(&a, 4) is cuMemAlloc(&a, 4).
#define CALL(NAME) \
  reinterpret_cast<decltype(&cu##NAME)>(driver_calls::found("cu" #NAME))

inline void ok(CUresult result,
               expect::Where where = expect::Where::current()) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  CALL(GetErrorName)(result, &name);
  std::cerr << where.file_name() << ':' << where.line() << ": "
            << (name ? name : "an unknown code") << "\n0 passed, 1 failed\n";
  std::exit(1);
}

// The device's primary context becomes the thread's.
inline void begin() {
  CUcontext context = nullptr;
  ok(CALL(Init)(0));
  ok(CALL(DevicePrimaryCtxRetain)(&context, 0));
  ok(CALL(CtxSetCurrent)(context));
}

}  // namespace driver_calls
