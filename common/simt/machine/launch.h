// The seam between the runtime library and the execution of kernels: all that
// runtime/ asks of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/simt/core/error.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/grid.h"
#include "common/simt/core/ptx.h"

namespace simt {

struct Module;
struct Kernel;

// Loads the PTX of one fat binary for a device, which has variables of its own;
// or links that of several. Throws Error for text it cannot read.
// What is `placed` lies somewhere already: managed variables are all devices'.
using Placed = std::map<std::string, uint64_t>;
Module* load_module(const std::vector<PtxFile>& ptx, int device,
                    const Placed& placed, bool relocatable);

// By its mangled name; null if there is none. Cheap: decoding waits until the
// kernel runs or info() is asked for.
Kernel* find_kernel(Module* module, const std::string& mangled);

std::vector<std::string> kernel_names(const Module* module);

struct KernelInfo {
  std::string name;  // demangled, without its parameters
  size_t static_shared = 0;
  size_t local_bytes = 0;  // a thread's, as PTX declares them
  size_t const_bytes = 0;
  unsigned max_threads = 1024;       // .maxntid, or what every device allows
  unsigned block[3] = {};            // __block_size__; 0: the launch decides
  unsigned cluster[3] = {};          // __cluster_dims__, likewise
  bool blocks_are_clusters = false;  // a launch tells how many of them
  bool wants_cluster = false;
  unsigned most_in_cluster = 0;  // .maxclusterrank; 0: not given
};
KernelInfo info(Kernel* kernel);

// How its arguments lie behind one another, and how many bytes they take.
std::vector<uint32_t> parameter_offsets(Kernel* kernel);
size_t parameter_bytes(Kernel* kernel);

// A __device__, __constant__ or __managed__ variable; address null if the
// module has none of that name.
struct DeviceVariable {
  void* address = nullptr;
  size_t bytes = 0;
  bool constant = false;
};
DeviceVariable find_variable(Module* module, const std::string& name);

// Runs every block and returns when the last one has ended. args[i] points to
// parameter i. Throws KernelFault, or Error for PTX that cannot be run.
void run_kernel(Kernel* kernel, const LaunchShape& shape, void** args);

}  // namespace simt
