// What a kernel asks of the runtime library: to launch other kernels, and what
// belongs to that.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "common/simt/core/warp.h"

namespace simt {

// The thread that asks, and where.
struct Caller {
  Warp& warp;
  const Instruction& ins;
  int lane;
};

// Codes are CUDA's; the last one that was no success is each thread's last
// error. Handles and pointers are numbers here, as they are in registers.
class DeviceCalls {
 public:
  struct Extent {
    uint32_t x, y, z;
  };
  struct Shape {
    Extent grid, block;
    uint32_t dynamic_shared;
  };

  // Where the kernel's arguments are to be written; 0 for a launch that is not
  // possible.
  virtual uint64_t begin_launch(const Caller& caller, uint64_t function,
                                const Shape& shape) = 0;
  virtual cudaError_t launch(const Caller& caller, uint64_t arguments,
                             uint64_t stream) = 0;

  virtual cudaError_t last_error(const Caller& caller, bool forget) = 0;

  virtual cudaError_t create_stream(const Caller& caller, uint64_t& stream,
                                    uint32_t flags) = 0;
  virtual cudaError_t destroy_stream(const Caller& caller, uint64_t stream) = 0;
  virtual cudaError_t create_event(const Caller& caller, uint64_t& event,
                                   uint32_t flags) = 0;
  virtual cudaError_t destroy_event(const Caller& caller, uint64_t event) = 0;
  virtual cudaError_t record(const Caller& caller, uint64_t event,
                             uint64_t stream) = 0;
  virtual cudaError_t await(const Caller& caller, uint64_t stream,
                            uint64_t event) = 0;

  virtual cudaError_t copy(const Caller& caller, uint64_t to, uint64_t from,
                           uint64_t bytes, int kind, uint64_t stream) = 0;
  virtual cudaError_t fill(const Caller& caller, uint64_t to, int value,
                           uint64_t bytes, uint64_t stream) = 0;

  virtual cudaError_t allocate(const Caller& caller, uint64_t& address,
                               uint64_t bytes) = 0;
  virtual cudaError_t attribute(const Caller& caller, int& value, int which,
                                int device) = 0;
  virtual cudaError_t attributes(const Caller& caller,
                                 cudaFuncAttributes& attributes,
                                 uint64_t function) = 0;
  virtual cudaError_t limit(const Caller& caller, uint64_t& value,
                            int which) = 0;
  virtual int device_number() = 0;
  // The address of a text that says it.
  virtual uint64_t error_text(cudaError_t code, bool name) = 0;

 protected:
  ~DeviceCalls() = default;
};

}  // namespace simt
