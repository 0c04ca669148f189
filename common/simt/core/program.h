// A kernel and all it can call, decoded; and the module it comes from.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/simt/core/code.h"
#include "common/simt/core/ptx.h"

namespace simt {

// Pointers into shared and local memory and to a kernel's parameters, in the
// generic address space, carry their space in the top bits; a device function's
// "address" is its number, times 16: in a pointer to a member, an odd address
// would be that of a virtual function.
constexpr uint64_t kSharedWindow = 1ull << 60;
constexpr uint64_t kLocalWindow = 2ull << 60;
constexpr uint64_t kFunctionWindow = 3ull << 60;
constexpr uint64_t kFunctionBytes = 16;
constexpr uint64_t kParamWindow = 4ull << 60;
constexpr uint64_t kWindowMask = 15ull << 60;

// In a cluster, an address in shared memory says whose it is: the rank of the
// block lies above its 24 bits, as on an H200.
constexpr int kRankShift = 24;
constexpr uint32_t kNoRank = 255;  // what no block of a cluster has

// Where a variable lives: an address in memory, or an offset in its space.
struct Variable {
  Space space = Space::kGlobal;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool dynamic_shared = false;
  bool constant = false;
};

// One fat binary: its text, its variables in memory.
struct Module {
  ModuleText text;
  bool relocatable = false;  // nvcc -rdc=true
  std::mutex reading;        // the bodies of its functions
  std::map<std::string, Variable> variables;
  std::vector<std::string> function_names;  // by number, for addresses
  std::map<std::string, std::unique_ptr<struct Kernel>> kernels;

  uint64_t function_address(const std::string& name) const;  // 0: none
  const std::string* function_at(uint64_t address) const;    // null: none
};

// %tid and its kin: which register, and where its 32 lanes are.
enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kLaneMaskEq,
  kLaneMaskLt,
  kLaneMaskLe,
  kLaneMaskGt,
  kLaneMaskGe,
  kSmId,
  kNsmId,
  kGridId,
  kDynamicShared,
  kTotalShared,
  kAllShared,
  kReservedShared,
  kWorkspaceHigh,
  kWorkspaceLow,
  kClusterRank,
  kClusterBlocks,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  kExplicitCluster  // a predicate
};

struct Program {
  Module* module = nullptr;
  std::map<std::string, Function> functions;
  std::deque<FunctionText> unrolled;  // what ptxas makes of some functions
  const Function* entry = nullptr;

  // What lies before the registers of every call: 32 lanes of each value, the
  // first last. Some are known only at launch, some differ between threads.
  struct alignas(64) Fixed {
    uint64_t lanes[32];
  };
  std::vector<Fixed> fixed;
  static Place place_of(size_t k) {
    return -static_cast<Place>((k + 1) * sizeof(Fixed));
  }
  std::set<Place> zeros;  // that hold the number 0
  struct Parameter {
    Place at;
    uint32_t offset;  // in the kernel's parameters
    uint8_t bytes, register_bytes;
    bool is_signed;
  };
  std::vector<Parameter> parameters;
  struct Address {
    Place at;
    int64_t offset;
    uint8_t bytes;
    int array = -1;  // the shared array that was named
  };
  // With -rdc=true ptxas does not know where arrays will lie, only how the
  // least aligned of them is; 0: it knows.
  uint32_t least_alignment = 0;
  std::vector<Address> dynamic_shared;
  std::vector<Address> static_shared_at;  // theirs; in a cluster not constant
  std::vector<Address> reserved_shared;   // of what the system has: no offset
  std::vector<std::pair<Special, Place>> specials;

  std::vector<uint32_t> parameter_offsets, parameter_sizes;
  uint32_t parameter_bytes = 0;
  uint32_t static_shared = 0;
  static constexpr uint32_t kLeastAlignment = 16;  // of the dynamic part
  uint32_t dynamic_alignment = kLeastAlignment;
  struct SharedArray {
    std::string name;
    uint32_t begin = 0, bytes = 0;
    bool dynamic =
        false;  // behind the static ones, as large as the launch says
  };
  std::vector<SharedArray> shared_arrays;
  bool calls_runtime = false;     // it may launch other kernels
  bool waits_for_memory = false;  // loops, until somebody changes some
  uint32_t sites = 0;
  struct Site {
    const Function* function = nullptr;
    const Instruction* instruction = nullptr;
  };
  std::vector<Site> by_site;
  const Instruction& instruction(uint32_t site) const {
    return *by_site[site].instruction;
  }
  const Function& function_of(const Instruction& ins) const {
    return *by_site[ins.site].function;
  }

  std::string location(SourceLine where) const;  // "relu.cu:23", or ""
};

// What else than its own block a block may have to do with.
enum class Reach : uint8_t {
  kPlain,    // with the bytes that plain loads and stores touch
  kMemory,   // with memory in any way: what it does follows from it alone
  kOutside,  // with more than that: clocks, system calls, copies
};

struct Kernel {
  Module* module = nullptr;
  const FunctionText* text = nullptr;
  std::string name;  // demangled, without its parameters
  std::once_flag decoded;
  std::unique_ptr<Program> program;  // null: nobody has needed it yet
  std::once_flag assembled;
  // Of a thread; 0: nobody has asked, or it is not known.
  std::atomic<int> registers = 0;

  // For machine/all_cores.h.
  std::optional<Reach> reach;  // none: nobody has looked
  bool runs_alone = false;     // it was taken back, or something was found
  bool loads_apart = true;     // from what it stores, as far as is known
  std::optional<std::chrono::nanoseconds> took;  // the last time
};

}  // namespace simt
