// Loads modules, and sets up and reports a launch.
#include "common/simt/machine/launch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "common/simt/core/device.h"
#include "common/simt/core/error.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/names.h"
#include "common/simt/core/settings.h"
#include "common/simt/decode/decode.h"
#include "common/simt/decode/link.h"
#include "common/simt/machine/all_cores.h"
#include "common/simt/machine/repeats.h"
#include "common/simt/machine/workers.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/kin.h"
#include "common/simt/observe/overlaps.h"
#include "common/simt/observe/report.h"

namespace simt {
namespace {

constexpr uint64_t kWorkspace = 4096;  // bytes, more than any barrier needs
constexpr uint64_t kMostConstant = 64 << 10;

// As ptxas does, which nvcc does not run to the end here.
void require_room_for_constants(const std::vector<Declaration>& variables) {
  uint64_t bytes = 0;
  for (const Declaration& d : variables)
    if (d.space == "const")
      bytes = (bytes + d.align - 1) / d.align * d.align + d.bytes;
  if (bytes > kMostConstant)
    throw Error("the __constant__ variables of the program take " +
                std::to_string(bytes) + " bytes; there are " +
                std::to_string(kMostConstant) +
                ". Larger tables belong into global memory");
}

void initialise(Module& module, const Declaration& d) {
  const Variable& v = module.variables.at(d.name);
  auto* to = static_cast<uint8_t*>(allocations().open(v.address));
  for (const Declaration::Initial& e : d.initial) {
    uint64_t value = e.value;
    if (!e.symbol.empty()) {
      const auto known = module.variables.find(e.symbol);
      const uint64_t address = known != module.variables.end()
                                   ? known->second.address
                                   : module.function_address(e.symbol);
      if (address == 0)
        throw Error("PTX: " + d.name + " begins with the address of " +
                    e.symbol + ", which is not known");
      value += address;
    }
    if (e.mask) value = (value & e.mask) >> std::countr_zero(e.mask);
    std::memcpy(to, &value, d.type.bytes);
    to += d.type.bytes;
  }
}

// The grid of a launch, with what its blocks read: constants and parameters.
class GridRun : public Grid {
 public:
  GridRun(Kernel& kernel, const LaunchShape& shape, void** args);
  ~GridRun();
};

GridRun::GridRun(Kernel& kernel, const LaunchShape& shape, void** args)
    : Grid(kernel, program_of(kernel), shape) {
  // Relatives are compared in the order in which they run.
  threads = shape.kin ? 1 : std::max(settings::host_threads(), 1);
  patience = settings::patience();
  takes_turns = settings::turns();
  multiprocessors = model_multiprocessors();
  if (shape.cooperative) {
    workspace = allocations().allocate(kWorkspace, Memory::kDevice,
                                       "the grid's barrier", shape.device);
    if (workspace == 0) throw Error("no memory is left for a grid barrier");
    std::memset(allocations().open(workspace), 0, kWorkspace);
    allocations().note_written(workspace, kWorkspace);
  }
  uint8_t* const registers = fixed.data() + fixed.size();
  for (size_t k = 0; k < program.fixed.size(); ++k)
    std::memcpy(registers + Program::place_of(k), &program.fixed[k],
                sizeof(Program::Fixed));
  for (size_t k = 0; k < program.parameter_offsets.size(); ++k)
    std::memcpy(parameters.data() + program.parameter_offsets[k], args[k],
                program.parameter_sizes[k]);
  for (const Program::Parameter& p : program.parameters) {
    uint64_t value = 0;
    std::memcpy(&value, parameters.data() + p.offset, p.bytes);
    if (p.is_signed && p.bytes < 8) {
      const int unused = 64 - 8 * p.bytes;
      value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >>
                                    unused);
    }
    spread_value(registers + p.at, p.register_bytes, value);
  }
  for (const Program::Address& a : program.dynamic_shared)
    spread_value(registers + a.at, a.bytes, dynamic_shared_begin() + a.offset);
  for (const Program::Address& a : program.reserved_shared)
    spread_value(registers + a.at, a.bytes, reserved_begin() + a.offset);
}

GridRun::~GridRun() {
  if (workspace) allocations().release(workspace);
}

}  // namespace

Module* load_module(const std::vector<PtxFile>& ptx, int device,
                    const Placed& placed, bool relocatable) {
  auto module = std::make_unique<Module>();
  module->relocatable = relocatable;
  module->text = link(ptx);
  require_room_for_constants(module->text.variables);
  for (const auto& [name, function] : module->text.functions) {
    module->function_names.push_back(name);
    if (!function.entry || !function.defined) continue;
    auto kernel = std::make_unique<Kernel>();
    kernel->module = module.get();
    kernel->text = &function;
    kernel->name = function_name(name);
    module->kernels[name] = std::move(kernel);
  }
  for (const Declaration& d : module->text.variables) {
    if (d.space == "shared") continue;
    const bool constant = d.space == "const";
    if (const auto one = placed.find(d.name); one != placed.end()) {
      module->variables[d.name] = {Space::kGlobal, one->second, d.bytes};
      continue;
    }
    const uint64_t at = allocations().allocate(
        d.bytes, constant ? Memory::kConstant : Memory::kVariable,
        d.name.c_str(), device);
    if (at == 0) throw Error("no memory is left for the variable " + d.name);
    std::memset(allocations().open(at), 0, d.bytes);
    module->variables[d.name] = {Space::kGlobal, at, d.bytes, false, constant};
  }
  for (const Declaration& d : module->text.variables)
    if (!d.initial.empty() && !placed.contains(d.name)) initialise(*module, d);
  return module.release();
}

Kernel* find_kernel(Module* module, const std::string& mangled) {
  const auto it = module->kernels.find(mangled);
  return it == module->kernels.end() ? nullptr : it->second.get();
}

std::vector<std::string> kernel_names(const Module* module) {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : module->kernels) names.push_back(name);
  return names;
}

// Of a kernel with a dynamic part, up to where that begins: so an H100 tells.
static size_t static_shared_of(const Program& program) {
  const uint32_t to = program.dynamic_alignment;
  const bool has_dynamic = std::ranges::any_of(
      program.shared_arrays, [](const auto& array) { return array.dynamic; });
  return has_dynamic ? (program.static_shared + to - 1) / to * to
                     : program.static_shared;
}

KernelInfo info(Kernel* kernel) {
  const Program& program = program_of(*kernel);
  KernelInfo info;
  info.name = kernel->name;
  info.static_shared = static_shared_of(program);
  info.local_bytes = program.entry->stack_bytes;
  for (const auto& [name, v] : kernel->module->variables)
    if (v.constant) info.const_bytes += v.bytes;
  if (kernel->text->max_threads) info.max_threads = kernel->text->max_threads;
  std::copy_n(kernel->text->block, 3, info.block);
  std::copy_n(kernel->text->cluster, 3, info.cluster);
  info.blocks_are_clusters = kernel->text->blocks_are_clusters;
  info.wants_cluster = kernel->text->explicit_cluster;
  info.most_in_cluster = kernel->text->most_in_cluster;
  return info;
}

std::vector<uint32_t> parameter_offsets(Kernel* kernel) {
  return program_of(*kernel).parameter_offsets;
}
size_t parameter_bytes(Kernel* kernel) {
  return program_of(*kernel).parameter_bytes;
}

DeviceVariable find_variable(Module* module, const std::string& name) {
  const auto it = module->variables.find(name);
  if (it == module->variables.end()) return {};
  const Variable& v = it->second;
  return {reinterpret_cast<void*>(v.address), v.bytes, v.constant};
}

namespace {

void report(const Grid& grid, const Counters* counters,
            std::vector<Finding> findings, Footprint footprint,
            const Handover& handover) {
  if (Operation* operation = grid.shape.operation) {
    operation->handover = handover;
    if (grid.shape.member == 0) operation->what = grid.kernel.name;
    if (Kin* kin = grid.shape.kin)
      std::ranges::move(footprint, std::back_inserter(kin->footprint));
    else
      std::ranges::move(overlaps().end(*operation, std::move(footprint)),
                        std::back_inserter(findings));
  }
  add_report(grid, counters, std::move(findings));
}

Repeats& repeats() {
  static auto* all = new Repeats;  // Never destroyed: programs end in any way.
  return *all;
}

void report(const Grid& grid, const Done& done) {
  report(grid, done.counters.get(), {},
         is_compared(grid) ? copy_of(done.footprint) : Footprint{},
         done.handover);
}

// Of a launch.
enum class Seen { kNever, kBefore, kDone };

// Done: the same has been done before, and so it has not to be run.
Seen recall(Kernel& kernel, const LaunchShape& shape, void** args) {
  const GridRun grid(kernel, shape, args);
  const Seen seen =
      repeats().may_come_again(grid) ? Seen::kBefore : Seen::kNever;
  const Done* const done = repeats().find(grid);
  if (!done) return seen;
  report(grid, *done);
  return Seen::kDone;
}

// Blocks on one or several host threads, as if there were one; or false, and
// nothing has been done: blocks of two threads touch what one of them writes,
// or something was found, which is to be told as one thread finds it.
bool run_and_learn(Kernel& kernel, const LaunchShape& shape, void** args,
                   int threads, bool comes_again) {
  GridRun grid(kernel, shape, args);
  Undo undo;
  grid.threads = threads;
  grid.undo = &undo;
  grid.loads_apart =
      kernel.loads_apart && kernel.reach == Reach::kPlain && !is_compared(grid);
  // An endless loop must be found before it can be told.
  grid.patience /= 4;
  Workers workers(grid);
  try {
    workers.run();
  } catch (...) {  // It will be thrown again.
    undo.give_up();
  }
  const bool clean = workers.findings().empty();
  if (!undo.given_up() && clean) {
    Done done = workers.done();
    report(grid, done);
    repeats().add(std::move(done), undo, comes_again);
    return true;
  }
  for (const Touched& one : workers.footprint())
    if (one.use != Use::kLoad)
      one.bytes.each_range(
          [&](uint64_t begin, uint64_t end) { undo.restore(begin, end); });
  if (!clean || !undo.given_up_for_loads()) return false;
  kernel.loads_apart = false;
  return run_and_learn(kernel, shape, args, threads, comes_again);
}

void run_alone(Kernel& kernel, const LaunchShape& shape, void** args) {
  GridRun grid(kernel, shape, args);
  Workers workers(grid);
  try {
    workers.run();
  } catch (const PlacedFault& fault) {
    std::vector<Finding> findings = workers.findings();
    findings.push_back(fault.finding);
    add_report(grid, workers.counters(), std::move(findings));
    throw;
  }
  std::vector<Finding> findings = workers.findings();
  kernel.runs_alone |= !findings.empty();
  report(grid, workers.counters(), std::move(findings), workers.footprint(),
         workers.handover());
}

}  // namespace

void run_kernel(Kernel* kernel, const LaunchShape& shape, void** args) {
  const auto began = std::chrono::steady_clock::now();
  const Way way = way_of(*kernel, shape);
  bool done = false;
  if (way != Way::kAlone) {
    const Seen seen = recall(*kernel, shape, args);
    if (seen == Seen::kDone) return;
    const bool again = seen == Seen::kBefore;
    if (way == Way::kSpread || again) {
      const int threads = way == Way::kSpread ? cores_for(shape) : 1;
      done = run_and_learn(*kernel, shape, args, threads, again);
      kernel->runs_alone = !done;
    }
  }
  if (!done) {
    repeats().forget_what_is_there();
    run_alone(*kernel, shape, args);
  }
  kernel->took = std::chrono::steady_clock::now() - began;
}

}  // namespace simt
