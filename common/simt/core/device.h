// The GPU whose numbers the executor answers with. SIMT_DEVICE=h200|a100|t4
// picks it; it decides limits and attributes, never how a kernel runs.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>

namespace simt {

// By number, because older toolkits lack some of the names.
struct MeasuredAttribute {
  int which, value;
};

// Everything NVIDIA publishes about a model, or its driver reports, that a
// program can ask for.
struct ModelDevice {
  const char* key;   // as in SIMT_DEVICE
  const char* name;  // says that this is no GPU
  int major, minor;  // compute capability
  int multiprocessors;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int shared_per_multiprocessor;
  int shared_opt_in;    // a block's most, after cudaFuncSetAttribute
  int shared_reserved;  // the driver's own share of each block
  int shared_unit;      // shared memory is handed out in multiples of it
  // What else of the L1 cache a multiprocessor can make shared memory of, KB.
  std::span<const int> shared_sizes;
  uint64_t global_bytes;
  int l2_bytes;
  int clock_khz, memory_clock_khz;
  int memory_bus_bits;
  int single_to_double;  // FP32 operations for one of FP64
  std::span<const MeasuredAttribute> measured;  // what else one answered
};

// What all of them have in common.
constexpr int kWarpThreads = 32;
constexpr int kMaxThreads = 1024;  // in a block
constexpr unsigned kMostInCluster = 16, kMostInPortableCluster = 8;  // blocks
constexpr int kMaxBlock[3] = {1024, 1024, 64};
constexpr int kMaxGrid[3] = {2147483647, 65535, 65535};
constexpr int kSharedPerBlock = 48 * 1024;  // without opting in
constexpr int kRegisters = 64 * 1024;       // of a block, of a multiprocessor

// Ends the program with a list of the names if SIMT_DEVICE is none of them.
const ModelDevice& model_device();

// How many there are: what SIMT_DEVICES said when somebody asked first.
int device_count();

// Those of the model, or as many as SIMT_SMS says at the moment.
int model_multiprocessors();

// Nothing for an attribute we do not know: no number is better than a guess.
std::optional<int> attribute(const ModelDevice& device, cudaDeviceAttr which);

cudaDeviceProp properties(const ModelDevice& device);

}  // namespace simt
