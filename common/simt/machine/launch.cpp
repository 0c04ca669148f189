// Loads modules, and runs the blocks of a launch on the host's threads.
#include "common/simt/machine/launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "common/simt/core/device.h"
#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/core/settings.h"
#include "common/simt/decode/decode.h"
#include "common/simt/decode/parse.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/observers.h"
#include "common/simt/observe/report.h"

namespace simt {
namespace {

// Blocks that may be unfinished at the same time, waiting for one another.
constexpr size_t kResident = 4096;
constexpr uint64_t kWorkspace = 4096;  // bytes, more than any barrier needs
// So many rounds in which everybody only spins, and nothing will ever change.
constexpr int kPatience = 100'000;

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

// Runs the blocks of a grid, in order; each host thread has its own.
class Workers {
 public:
  explicit Workers(Grid& grid) : grid_(grid) {
    if (settings::counters())
      counters_ = std::make_unique<Counters>(grid.program.sites);
    if (settings::checks()) checker_ = std::make_unique<Checker>(grid);
  }

  // The counts of all blocks; null if none were kept.
  const Counters* counters() const { return counters_.get(); }
  std::vector<Finding> findings() const {
    return checker_ ? checker_->findings() : std::vector<Finding>{};
  }

  void run() {
    std::vector<std::thread> helpers;
    for (int k = 1; k < grid_.threads; ++k)
      helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& t : helpers) t.join();
    if (counters_) counters_->spread_runs(grid_.program);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    std::unique_ptr<Counters> counters;
    if (counters_) counters = std::make_unique<Counters>(grid_.program.sites);
    std::unique_ptr<Checker> checker;
    if (checker_) checker = std::make_unique<Checker>(grid_);
    std::exception_ptr error;
    try {
      blocks({counters.get(), checker.get(), Trace::wanted()});
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (counters) counters_->add(std::move(*counters));
    if (checker) checker_->add(*checker);
    if (error) {
      if (!error_) error_ = error;
      stop_ = true;
    }
  }

  void blocks(Observers observers) {
    std::vector<std::unique_ptr<BlockRun>> idle;
    std::deque<std::unique_ptr<BlockRun>> waiting;
    int patience = kPatience;
    while (!stop_) {
      const uint64_t before = grid_.progress;
      std::optional<uint64_t> number;
      if (waiting.size() < kResident) number = take();
      if (number) {
        if (idle.empty())
          idle.push_back(std::make_unique<BlockRun>(grid_, observers));
        std::unique_ptr<BlockRun> block = std::move(idle.back());
        idle.pop_back();
        block->start(*number);
        (block->run() == BlockRun::End::kFinished ? idle.emplace_back()
                                                  : waiting.emplace_back()) =
            std::move(block);
        continue;
      }
      if (waiting.empty()) return;
      for (size_t k = waiting.size(); k > 0; --k) {
        std::unique_ptr<BlockRun> block = std::move(waiting.front());
        waiting.pop_front();
        block->wake();
        if (block->run() == BlockRun::End::kFinished) {
          idle.push_back(std::move(block));
          grid_.progress++;
        } else {
          waiting.push_back(std::move(block));
        }
      }
      if (grid_.progress != before) {
        patience = kPatience;
      } else if ((patience -= rounds(waiting)) <= 0) {
        livelock(*waiting.front());
      } else if (grid_.threads > 1) {
        std::this_thread::yield();
      }
    }
  }

  // How much of the patience a round without progress costs. A path that is
  // stuck in a long loop has been through a million turns of it.
  static int rounds(const std::deque<std::unique_ptr<BlockRun>>& waiting) {
    const bool stuck =
        std::any_of(waiting.begin(), waiting.end(),
                    [](const auto& block) { return block->stuck(); });
    return stuck ? kPatience / 4 : 1;
  }

  [[noreturn]] void livelock(const BlockRun& block) {
    throw PlacedFault(
        719, block.stuck(Path::kSpinning, "livelock",
                         "every thread that is left waits for memory which "
                         "nobody changes:"));
  }

  std::optional<uint64_t> take() {
    const uint64_t number = next_++;
    if (number >= grid_.blocks) return std::nullopt;
    return number;
  }

  Grid& grid_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::unique_ptr<Counters> counters_;
  std::unique_ptr<Checker> checker_;
  std::exception_ptr error_;
};

// The grid of a launch, with what its blocks read: constants and parameters.
class GridRun : public Grid {
 public:
  GridRun(Kernel& kernel, const LaunchShape& shape, void** args);
  ~GridRun();
};

GridRun::GridRun(Kernel& kernel, const LaunchShape& shape, void** args)
    : Grid(kernel, program_of(kernel), shape) {
  threads = settings::host_threads();
  multiprocessors = model_multiprocessors();
  if (shape.cooperative) {
    workspace = allocations().allocate(kWorkspace, Memory::kManaged,
                                       "the grid's barrier");
    if (workspace == 0) throw Error("no memory is left for a grid barrier");
    std::memset(reinterpret_cast<void*>(workspace), 0, kWorkspace);
  }
  uint8_t* const registers = fixed.data() + fixed.size();
  for (size_t k = 0; k < program.fixed.size(); ++k)
    std::memcpy(registers + Program::place_of(k), &program.fixed[k],
                sizeof(Program::Fixed));
  for (size_t k = 0; k < program.parameter_offsets.size(); ++k)
    std::memcpy(parameters.data() + program.parameter_offsets[k], args[k],
                program.parameter_sizes[k]);
  const auto spread = [&](Place at, int bytes, uint64_t value) {
    for (int l = 0; l < kLanes; ++l)
      std::memcpy(registers + at + l * bytes, &value, bytes);
  };
  for (const Program::Parameter& p : program.parameters) {
    uint64_t value = 0;
    std::memcpy(&value, parameters.data() + p.offset, p.bytes);
    if (p.is_signed && p.bytes < 8) {
      const int unused = 64 - 8 * p.bytes;
      value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >>
                                    unused);
    }
    spread(p.at, p.register_bytes, value);
  }
  for (const Program::Address& a : program.dynamic_shared)
    spread(a.at, a.bytes, dynamic_shared_begin() + a.offset);
}

GridRun::~GridRun() {
  if (workspace) allocations().release(workspace);
}

}  // namespace

Module* load_module(std::string ptx) {
  auto module = std::make_unique<Module>();
  module->text = parse_ptx(ptx);
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
    const uint64_t at = allocations().allocate(
        d.bytes, constant ? Memory::kConstant : Memory::kVariable,
        d.name.c_str());
    if (at == 0) throw Error("no memory is left for the variable " + d.name);
    std::memset(allocations().open(at), 0, d.bytes);
    module->variables[d.name] = {Space::kGlobal, at, d.bytes, false, constant};
  }
  for (const Declaration& d : module->text.variables)
    if (!d.initial.empty()) initialise(*module, d);
  return module.release();
}

Kernel* find_kernel(Module* module, const std::string& mangled) {
  const auto it = module->kernels.find(mangled);
  return it == module->kernels.end() ? nullptr : it->second.get();
}

KernelInfo info(Kernel* kernel) {
  const Program& program = program_of(*kernel);
  KernelInfo info;
  info.name = kernel->name;
  info.static_shared = program.static_shared;
  info.local_bytes = program.entry->stack_bytes;
  for (const auto& [name, v] : kernel->module->variables)
    if (v.constant) info.const_bytes += v.bytes;
  if (kernel->text->max_threads) info.max_threads = kernel->text->max_threads;
  return info;
}

DeviceVariable find_variable(Module* module, const std::string& name) {
  const auto it = module->variables.find(name);
  if (it == module->variables.end()) return {};
  const Variable& v = it->second;
  return {reinterpret_cast<void*>(v.address), v.bytes, v.constant};
}

void run_kernel(Kernel* kernel, const LaunchShape& shape, void** args) {
  GridRun grid(*kernel, shape, args);
  Workers workers(grid);
  try {
    workers.run();
  } catch (const PlacedFault& fault) {
    std::vector<Finding> findings = workers.findings();
    findings.push_back(fault.finding);
    add_report(grid, workers.counters(), std::move(findings));
    throw;
  }
  add_report(grid, workers.counters(), workers.findings());
}

}  // namespace simt
