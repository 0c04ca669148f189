// Turns the statements of a kernel into instructions.
#include "common/simt/decode/decode.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <set>
#include <utility>

#include "common/simt/core/access.h"
#include "common/simt/core/device.h"
#include "common/simt/core/error.h"
#include "common/simt/core/grid.h"
#include "common/simt/core/literals.h"
#include "common/simt/core/names.h"
#include "common/simt/core/settings.h"
#include "common/simt/core/warp.h"
#include "common/simt/decode/analysis.h"
#include "common/simt/decode/forms.h"
#include "common/simt/decode/parse.h"
#include "common/simt/decode/ptxas.h"
#include "common/simt/isa/arithmetic.h"
#include "common/simt/isa/async.h"
#include "common/simt/isa/collectives.h"
#include "common/simt/isa/device_calls.h"
#include "common/simt/isa/matrix.h"
#include "common/simt/isa/mbarrier.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/stack.h"
#include "common/simt/isa/texture.h"
#include "common/simt/isa/warpgroup.h"
#include "common/simt/memory/tensor_map.h"

namespace simt {

uint64_t Module::function_address(const std::string& name) const {
  const auto it =
      std::lower_bound(function_names.begin(), function_names.end(), name);
  if (it == function_names.end() || *it != name) return 0;
  const auto number = static_cast<uint64_t>(it - function_names.begin());
  return kFunctionWindow | number * kFunctionBytes;
}

const std::string* Module::function_at(uint64_t address) const {
  const uint64_t offset = address ^ kFunctionWindow;
  const uint64_t number = offset / kFunctionBytes;
  return offset % kFunctionBytes == 0 && number < function_names.size()
             ? &function_names[number]
             : nullptr;
}

std::string Program::location(SourceLine where) const {
  return location_of(where, module->text.files);
}

const Program& program_of(Kernel& kernel) {
  std::call_once(kernel.decoded, [&] {
    kernel.program = decode(*kernel.module, *kernel.text);
  });
  return *kernel.program;
}

namespace {

constexpr uint32_t kReturnBytes = 8;  // the address to which a call returns

// More than any GPU has of each, and little enough for the host.
constexpr uint32_t kMostRegisterBytes = 1 << 26;  // a function's, 32 lanes
constexpr int kMostNested = 256;  // functions that call one another

// Of a function that is written out where it is called, statements; and of one
// that others are written out in, instructions.
constexpr int kMostStatements = 1000;
constexpr size_t kMostWithCalls = 20'000;
// A label that no function has: behind what is written out.
constexpr char kEndOfCall[] = "(the end of a call)";

constexpr uint32_t align_up(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}

template <class T>
void fill_lanes(Warp& warp, const Instruction& ins, uint32_t mask, T value) {
  T* to = lanes<T>(warp, ins.result(0));
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) to[l] = value;
}

// The address of a local variable depends on how deep its function was called.
template <class T>
void local_address(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint64_t address = warp.stack_base + ins.address().offset;
  fill_lanes(warp, ins, mask, static_cast<T>(address));
}

// The clocks advance with the instructions of the warp: monotonic, the same in
// every run, and no measure of time. Who only waits for one to show some time
// would wait long: after a while each look at it takes a little longer.
template <class T, int first_bit>
void read_clock(Warp& warp, const Instruction& ins, uint32_t mask) {
  constexpr uint64_t kLooks = 32;
  if (!ins.waits_for_clock) {
    warp.clock_looks = warp.clock_step = 0;
  } else if (++warp.clock_looks > kLooks) {
    warp.clock_step += warp.clock_step / 16 + 1;
    warp.clock_ahead += warp.clock_step;
  }
  uint64_t time = warp.issued + warp.clock_ahead;
  if (!warp.block->clock_stands || ins.waits_for_clock)
    warp.clock_stood = 0;
  else if (warp.clock_stood)
    time = warp.clock_stood;
  else
    warp.clock_stood = time;
  fill_lanes(warp, ins, mask, static_cast<T>(time >> first_bit));
}

const std::map<std::string, Special>& special_names() {
  static const std::map<std::string, Special> kNames = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneId},
      {"%warpid", Special::kWarpId},
      {"%nwarpid", Special::kNwarpId},
      {"%smid", Special::kSmId},
      {"%nsmid", Special::kNsmId},
      {"%lanemask_eq", Special::kLaneMaskEq},
      {"%lanemask_lt", Special::kLaneMaskLt},
      {"%lanemask_le", Special::kLaneMaskLe},
      {"%lanemask_gt", Special::kLaneMaskGt},
      {"%lanemask_ge", Special::kLaneMaskGe},
      {"%dynamic_smem_size", Special::kDynamicShared},
      {"%total_smem_size", Special::kTotalShared},
      {"%aggr_smem_size", Special::kAllShared},
      {"%reserved_smem_offset_cap", Special::kReservedShared},
      // Where cooperative groups find the workspace of a grid barrier.
      {"%envreg1", Special::kWorkspaceHigh},
      {"%envreg2", Special::kWorkspaceLow},
      {"%cluster_ctarank", Special::kClusterRank},
      {"%cluster_nctarank", Special::kClusterBlocks},
      {"%cluster_ctaid.x", Special::kClusterCtaidX},
      {"%cluster_ctaid.y", Special::kClusterCtaidY},
      {"%cluster_ctaid.z", Special::kClusterCtaidZ},
      {"%cluster_nctaid.x", Special::kClusterNctaidX},
      {"%cluster_nctaid.y", Special::kClusterNctaidY},
      {"%cluster_nctaid.z", Special::kClusterNctaidZ},
      {"%clusterid.x", Special::kClusterIdX},
      {"%clusterid.y", Special::kClusterIdY},
      {"%clusterid.z", Special::kClusterIdZ},
      {"%nclusterid.x", Special::kNclusterIdX},
      {"%nclusterid.y", Special::kNclusterIdY},
      {"%nclusterid.z", Special::kNclusterIdZ},
      {"%is_explicit_cluster", Special::kExplicitCluster},
  };
  return kNames;
}

// Of the shared memory that the system has for itself: how far behind its
// beginning they point. Cooperative groups have theirs at _1.
const std::map<std::string, uint32_t>& reserved_names() {
  static const std::map<std::string, uint32_t> kNames = {
      {"%reserved_smem_offset_begin", 0},
      {"%reserved_smem_offset_1", 0},
      {"%reserved_smem_offset_end", Grid::kReservedShared}};
  return kNames;
}

struct Clock {
  uint8_t bytes;
  Handler read;
};
const std::map<std::string, Clock>& clock_names() {
  static constexpr Clock kWhole = {8, read_clock<uint64_t, 0>};
  static constexpr Clock kLow = {4, read_clock<uint32_t, 0>};
  static constexpr Clock kHigh = {4, read_clock<uint32_t, 32>};
  static const std::map<std::string, Clock> kNames = {
      {"%clock", kLow},          {"%clock_hi", kHigh},
      {"%clock64", kWhole},      {"%globaltimer", kWhole},
      {"%globaltimer_lo", kLow}, {"%globaltimer_hi", kHigh}};
  return kNames;
}

// How far ptxas goes by its -O, if it is to be predicted.
int ptxas_level(const Unit& unit) {
  return settings::ptxas_model() ? unit.level : 0;
}

// An atomic whose result is never read is a reduction: ptxas issues RED, which
// answers nothing; but not in code that is linked later, with -rdc=true.
// Exchange and compare-and-swap have no such form, and no atomic has one of 16
// bits.
void find_atomic_forms(Function& function, bool relocatable) {
  static const std::set<std::string> kWhole = {"u32", "s32", "b32",
                                               "u64", "s64", "b64"};
  std::set<Place> read;
  for (const Instruction& ins : function.code) {
    read.insert(ins.guard);
    read.insert(ins.sources().begin(), ins.sources().end());
    for (const Address& a : ins.addresses()) read.insert(a.base);
  }
  read.erase(kNowhere);
  for (Instruction& ins : function.code) {
    if (!ins.statement) continue;
    const std::string& op = ins.statement->name();
    if (op != "atom" && op != "red") continue;
    const bool answers = ins.update == Update::kExchange ||
                         ins.update == Update::kCompareAndSwap ||
                         std::any_of(ins.results().begin(), ins.results().end(),
                                     [&](Place p) { return read.contains(p); });
    ins.atomic_form = ins.element_bytes == 2        ? AtomicForm::kLoadFirst
                      : answers                     ? AtomicForm::kAnswer
                      : relocatable && op == "atom" ? AtomicForm::kDropped
                                                    : AtomicForm::kReduction;
    const bool for_all = !ins.for_block && !ins.for_cluster;
    ins.commutes = !answers && for_all && ins.update <= Update::kXor &&
                   !ins.releases && !ins.acquires &&
                   kWhole.contains(ins.statement->op.back());
  }
}

// Turns the statements of one kernel, and of the functions it calls, into
// instructions.
class Decoder : public OperandReader {
 public:
  Decoder(Module& module, Program& program)
      : module_(module), program_(program) {}

  const Function* decode_entry(const FunctionText& text) {
    kernel_parameters(text);
    return decode_function(text);
  }

  // Any of a module's functions may be the target of an indirect call.
  void decode_addressable() {
    if (!indirect_calls_) return;
    for (const auto& [name, text] : module_.text.functions)
      if (!text.entry && text.defined) decode_function(text);
  }

  Place source(const Operand& o, int bytes) override {
    if (const Register* r = find_register(o.text)) return r->place;
    if (const auto number = parse_literal(o.text))
      return constant(number->as(bytes), bytes);
    if (o.text == "WARP_SZ") return constant(kLanes, bytes);
    if (o.text[0] == '%') return special(o.text);
    return address_of(o.text, o.offset, bytes);
  }

  Place destination(const Operand& o) override {
    if (o.text == "_") return kNowhere;
    const Register* r = find_register(o.text);
    if (!r) throw Error("'" + o.text + "' is not a register");
    return r->place;
  }

  Place predicate(const std::string& name) override {
    if (name == "_" || name.empty()) return kNowhere;
    if (const Register* r = find_register(name)) return r->place;
    if (is_special_predicate(name)) return special(name);
    return constant(parse_literal(name).value().bits ? kAllLanes : 0, 4);
  }

  int width(const Operand& operand) override {
    if (const Register* r = find_register(operand.text)) return r->type.bytes;
    if (const auto clock = clock_names().find(operand.text);
        clock != clock_names().end())
      return clock->second.bytes;
    return special_names().contains(operand.text) ||
                   reserved_names().contains(operand.text)
               ? 4
               : 0;
  }
  bool is_predicate(const std::string& name) override {
    const Register* r = find_register(name);
    return r && r->type.is('p');
  }
  bool is_register(const std::string& name) override {
    const Register* r = find_register(name);
    return r && !r->type.is('p');
  }

 private:
  struct Register {
    Place place;
    Type type;
  };
  // What stands between { and }. A name is looked up from the inside out.
  struct Scope {
    int outer = -1;
    std::map<std::string, Register> registers;
    std::map<std::string, Variable> variables;
    std::map<std::string, uint32_t> labels;
    std::map<std::string, const Statement*> tables;  // of .branchtargets
  };
  // A branch whose labels may still follow.
  struct Jump {
    uint32_t pc;
    int scope;
    std::string label;
  };
  // What is being decoded; calls to new functions nest.
  struct Context {
    Function* function = nullptr;
    const FunctionText* text = nullptr;
    std::vector<Scope> scopes;
    std::map<uint32_t, int> numbered;  // Statement::number -> which of them
    int scope = 0;
    std::vector<Jump> jumps;
    SourceLine where;
    const Statement* statement = nullptr;
    SourceLine called_at;  // by whom it is told where the toolkit's code is
    // What is written out here instead of being called, from the outside in;
    // and what is passed there, see pass_in_registers.
    std::vector<const FunctionText*> written_out;
    std::map<uint32_t, uint32_t> passed;
  };

  Scope& scope() { return context_.scopes[context_.scope]; }
  void open_scope(int outer) {
    context_.scope = static_cast<int>(context_.scopes.size());
    context_.scopes.emplace_back().outer = outer;
  }
  void enter_scope(uint32_t number) {
    const auto [known, fresh] = context_.numbered.try_emplace(number);
    if (!fresh) {
      context_.scope = known->second;
      return;
    }
    open_scope(context_.scope);
    known->second = context_.scope;
  }

  // The value of `name` in a map of the nearest scope that has it, or null.
  // `in` becomes that scope.
  template <class T>
  const T* find(std::map<std::string, T> Scope::*names, const std::string& name,
                int& in) const {
    for (; in >= 0; in = context_.scopes[in].outer) {
      const auto& known = context_.scopes[in].*names;
      if (const auto it = known.find(name); it != known.end())
        return &it->second;
    }
    return nullptr;
  }
  template <class T>
  const T* find(std::map<std::string, T> Scope::*names,
                const std::string& name) const {
    int in = context_.scope;
    return find(names, name, in);
  }

  template <class T>
  static void define(std::map<std::string, T>& names, const std::string& name,
                     T value) {
    if (!names.try_emplace(name, value).second)
      throw Error("'" + name + "' is there twice");
  }

  void kernel_parameters(const FunctionText& text) {
    uint32_t at = 0;
    for (const Declaration& p : text.params) {
      at = align_up(at, p.align);
      kernel_params_[p.name] = {at, static_cast<uint32_t>(p.bytes)};
      program_.parameter_offsets.push_back(at);
      program_.parameter_sizes.push_back(p.bytes);
      at += p.bytes;
    }
    program_.parameter_bytes = at;
  }

  // A function of the toolkit's is another one for each line that calls it.
  const Function* decode_called(FunctionText& text) {
    parse_body(module_.text, text);
    const bool is_users = std::ranges::any_of(
        text.body, [&](const Statement& s) { return is_of_user(s.where); });
    const bool is_told = !is_users && is_of_user(context_.where);
    return decode_function(text, is_told ? context_.where : SourceLine{});
  }

  const Function* decode_function(const FunctionText& written,
                                  SourceLine called_at = {}) {
    std::string name = written.name;
    if (called_at.line)
      name += " at " + std::to_string(called_at.file) + ":" +
              std::to_string(called_at.line);
    const auto [it, fresh] = program_.functions.try_emplace(name);
    Function& function = it->second;
    if (!fresh) return &function;
    parse_body(module_.text, module_.text.functions.at(written.name));
    const int level = ptxas_level(module_.text.units[written.unit]);
    auto unrolled = level > 1 ? unroll_loops(written) : std::nullopt;
    const FunctionText& text =
        unrolled ? program_.unrolled.emplace_back(std::move(*unrolled))
                 : written;
    if (++nested_ > kMostNested)
      throw Error("functions that call one another, more than " +
                  std::to_string(kMostNested) + " deep");
    Context outer = std::move(context_);
    context_ = Context{};
    context_.function = &function;
    context_.text = &text;
    context_.called_at = called_at;
    context_.where = told_at(text.where);
    function.name = text.name;
    function.text = &text;
    open_scope(-1);
    if (!text.entry) {
      for (const Declaration& p : text.params)
        function.params.push_back(stack_variable(p));
      for (const Declaration& p : text.results)
        function.results.push_back(stack_variable(p));
    }
    body(text);
    Draft end;
    end.kind = Kind::kReturn;
    emit(end);
    resolve_jumps();
    // A call takes some of the stack even if it keeps nothing there.
    if (!text.entry) function.stack_bytes += kReturnBytes;
    function.stack_bytes = align_up(function.stack_bytes, 16);
    if (level == 0) {
      go_straight_on(function);
      pass_in_registers(function, context_.passed);
    }
    find_reconvergence(function);
    if (level > 0) apply_ptxas_model(function, program_);
    find_atomic_forms(function, module_.relocatable);
    if (level > 0) find_elected(function, program_);
    find_waits(function);
    find_unwritten(function);
    if (level == 0) see_through_copies(function);
    find_origins(function, program_);
    find_uses(function, program_);
    find_spread(function);
    find_runs(function);
    leave_out_copies(function);
    context_ = std::move(outer);
    --nested_;
    return &function;
  }

  void body(const FunctionText& text) {
    if (text.linkage == Linkage::kOwnFile) place_shared_of_file();
    for (size_t k = 0; k <= text.body.size(); ++k) {
      if (const auto d = text.declarations.find(k);
          d != text.declarations.end())
        for (const Declaration& one : d->second) declare(one);
      if (k < text.body.size()) statement(text.body[k]);
    }
  }

  // ---- Functions that are written out where they are called. ---------------
  // Not optimised, even a cast is a call. What becomes of values is looked at
  // within one function; and what a function of the toolkit does is told at the
  // line that calls it.

  bool is_written_out(FunctionText& callee) {
    if (ptxas_level(module_.text.units[context_.text->unit]) > 0 ||
        context_.function->code.size() > kMostWithCalls ||
        &callee == context_.function->text)
      return false;
    const auto& outer = context_.written_out;
    return std::ranges::find(outer, &callee) == outer.end() &&
           written_size(callee) <= kMostStatements;
  }

  // Statements, with those of what it calls. What keeps much in local memory
  // shares that with other calls; so it is left alone, and so is what has
  // memory that outlives the call.
  int written_size(FunctionText& f) {
    const auto [known, fresh] = written_sizes_.try_emplace(&f, 1);
    if (!fresh) return known->second;
    parse_body(module_.text, f);
    int size = 0;
    for (const auto& [at, declarations] : f.declarations)
      for (const Declaration& d : declarations) {
        if (d.space == "local") size += static_cast<int>(d.bytes / 8);
        if (d.space == "shared") size += kMostStatements;
      }
    for (const Statement& s : f.body) {
      if (!s.label.empty() || s.scope) continue;
      ++size;
      if (s.name() == "alloca") size += kMostStatements;
      if (s.name() != "call" || size > kMostStatements) continue;
      for (const Operand& o : s.operands)
        if (const auto callee = module_.text.functions.find(o.text);
            callee != module_.text.functions.end() && callee->second.defined)
          size += written_size(callee->second);
    }
    return written_sizes_[&f] = std::min(size, kMostStatements + 1);
  }

  // The frame has room for what is passed already.
  void write_out(const FunctionText& callee, const Call& call) {
    const SourceLine where = context_.where;
    const Statement* const statement = context_.statement;
    const int outer = context_.scope;
    go_on();
    context_.written_out.push_back(&callee);
    const SourceLine called_at = std::exchange(context_.called_at, where);
    const FunctionText* const text = std::exchange(context_.text, &callee);
    auto numbered = std::exchange(context_.numbered, {});
    open_scope(-1);
    const int own = context_.scope;
    pass(callee.params, call.arguments);
    pass(callee.results, call.results);
    body(callee);
    context_.scopes[own].labels[kEndOfCall] = context_.function->code.size();
    context_.written_out.pop_back();
    context_.called_at = called_at;
    context_.text = text;
    context_.numbered = std::move(numbered);
    context_.scope = outer;
    context_.where = where;
    context_.statement = statement;
  }

  void pass(const std::vector<Declaration>& theirs,
            const std::vector<uint32_t>& offsets) {
    for (size_t k = 0; k < theirs.size(); ++k) {
      const auto bytes = static_cast<uint32_t>(theirs[k].bytes);
      define(scope().variables, theirs[k].name,
             Variable{Space::kLocal, offsets[k], bytes});
      context_.passed[offsets[k]] = bytes;
    }
  }

  // In the place of a call: a jump to what comes next.
  void go_on() {
    Draft jump;
    jump.kind = Kind::kBranch;
    jump.target = static_cast<uint32_t>(context_.function->code.size() + 1);
    emit(jump);
  }

  // Where a statement is told to be. The compiler says of inlined code where it
  // was inlined, and of what is called nothing.
  SourceLine told_at(SourceLine where) {
    if (!context_.called_at.line || is_of_user(where)) return where;
    SourceLine at = context_.called_at;
    at.of_groups |= where.of_groups;
    at.of_library |= where.of_library;
    return at;
  }
  bool is_of_user(SourceLine where) {
    return where.line != 0 && !is_of_toolkit(where.file);
  }
  bool is_of_toolkit(uint32_t file) {
    const auto [known, fresh] = of_toolkit_.try_emplace(file, false);
    if (fresh) known->second = is_toolkit_file(module_.text.files.at(file));
    return known->second;
  }

  void declare(const Declaration& d) {
    try {
      declare_in_scope(d);
    } catch (const Error& e) {
      refuse("." + d.space + " " + d.name, e.what());
    }
  }
  void declare_in_scope(const Declaration& d) {
    if (d.space == "reg") {
      if (d.registers == 0)
        define(scope().registers, d.name, new_register(d.type));
      for (uint32_t k = 0; k < d.registers; ++k)
        define(scope().registers, d.name + std::to_string(k),
               new_register(d.type));
    } else if (d.space == "shared") {
      define(scope().variables, d.name, shared_variable(d));
    } else {
      stack_variable(d);
    }
  }

  Register new_register(Type type) {
    Function& f = *context_.function;
    const uint32_t at = align_up(f.register_bytes, type.is('p') ? 4 : 64);
    f.register_bytes = at + (type.is('p') ? 4 : type.bytes * kLanes);
    f.widths[static_cast<Place>(at)] = type.is('p') ? 0 : type.bytes;
    if (f.register_bytes > kMostRegisterBytes)
      throw Error(function_name(f.name) + " has too many registers");
    return {static_cast<Place>(at), type};
  }

  // By addresses that are computed.
  void may_be_meant(const Variable& v) {
    Function& f = *context_.function;
    const auto begin = static_cast<uint32_t>(v.address);
    const auto end = static_cast<uint32_t>(v.address + v.bytes);
    const bool first = f.variables_end == 0;
    f.variables_begin = first ? begin : std::min(f.variables_begin, begin);
    f.variables_end = std::max(f.variables_end, end);
  }

  Function::Slot stack_variable(const Declaration& d) {
    Function& f = *context_.function;
    f.stack_bytes = align_up(f.stack_bytes, std::max<uint32_t>(d.align, 8));
    require_room(f.stack_bytes, d, kStackLimit, "local memory", "thread");
    const Variable v{Space::kLocal, f.stack_bytes, d.bytes};
    define(scope().variables, d.name, v);
    f.stack_bytes += d.bytes;
    if (d.space == "local") may_be_meant(v);
    const Function::Slot slot{static_cast<uint32_t>(v.address),
                              static_cast<uint32_t>(v.bytes)};
    if (d.space == "local" && is_of_library(context_.text->name))
      f.not_followed.push_back(slot);
    return slot;
  }

  void require_room(uint64_t used, const Declaration& d, uint64_t most,
                    const char* what, const char* owner) const {
    if (is_inside(used, d.bytes, 0, most)) return;
    throw Error(context_.text->name + " needs " +
                std::to_string(used + d.bytes) + " bytes of " + what +
                ", with '" + d.name + "'; a " + owner + " has at most " +
                std::to_string(most));
  }

  // One behind the other, as ptxas places them.
  Variable shared_variable(const Declaration& d) {
    if (d.bytes == 0) {
      program_.shared_arrays.push_back({d.name, 0, 0, true});
      program_.dynamic_alignment =
          std::max<uint32_t>(program_.dynamic_alignment, d.align);
      return {Space::kShared, 0, 0, true};
    }
    uint32_t& least = program_.least_alignment;
    if (module_.relocatable) least = least ? std::min(least, d.align) : d.align;
    program_.static_shared = align_up(program_.static_shared, d.align);
    require_room(program_.static_shared, d, kSharedPerBlock,
                 "static shared memory", "block");
    const Variable v{Space::kShared, program_.static_shared, d.bytes};
    program_.shared_arrays.push_back(
        {d.name, program_.static_shared, static_cast<uint32_t>(d.bytes)});
    program_.static_shared += d.bytes;
    return v;
  }

  const Register* find_register(const std::string& name) const {
    return find(&Scope::registers, name);
  }

  const Variable* find_variable(const std::string& name) {
    if (const Variable* v = find(&Scope::variables, name)) return v;
    if (const auto v = shared_.find(name); v != shared_.end())
      return &v->second;
    if (const auto v = module_.variables.find(name);
        v != module_.variables.end())
      return &v->second;
    const bool is_shared =
        std::ranges::any_of(module_.text.variables, [&](const Declaration& d) {
          return d.name == name && d.space == "shared";
        });
    if (!is_shared) return nullptr;
    place_shared_of_file();
    return &shared_.at(name);
  }

  // Those that this function uses, in the order of the file. A kernel that
  // other files may mean has its own before them, any other behind them.
  void place_shared_of_file() {
    std::set<std::string> used;
    for (const Statement& s : context_.text->body)
      for (const Operand& o : s.operands) {
        used.insert(o.text);
        used.insert(o.list.begin(), o.list.end());
      }
    for (const Declaration& d : module_.text.variables)
      if (d.space == "shared" && used.contains(d.name) &&
          !shared_.contains(d.name))
        shared_[d.name] = shared_variable(d);
  }

  Place constant(uint64_t value, int bytes) {
    bytes = std::max(bytes, 2);
    const auto [it, fresh] = constants_.try_emplace({value, bytes}, 0);
    if (fresh) it->second = new_constant(bytes, value);
    if (value == 0) program_.zeros.insert(it->second);
    return it->second;
  }
  Place new_constant(int bytes, uint64_t value = 0) {
    if (bytes > 8) throw Error("an immediate of more than 8 bytes");
    Program::Fixed& lanes = program_.fixed.emplace_back();
    for (int l = 0; l < kLanes; ++l)
      std::memcpy(reinterpret_cast<char*>(&lanes) + l * bytes, &value, bytes);
    return Program::place_of(program_.fixed.size() - 1);
  }

  Place special(const std::string& name) {
    if (const auto clock = clock_names().find(name);
        clock != clock_names().end())
      return clock_register(clock->second);
    if (const auto reserved = reserved_names().find(name);
        reserved != reserved_names().end())
      return reserved_address(reserved->second);
    const Special wanted = special_names().at(name);
    for (const auto& [special, place] : program_.specials)
      if (special == wanted) return place;
    return program_.specials.emplace_back(wanted, new_constant(8)).second;
  }
  Place clock_register(Clock clock) {
    Draft read;
    read.run = clock.read;
    read.written = {new_register({'u', clock.bytes}).place};
    emit(read);
    return read.written[0];
  }

  // Not among the other numbers: in a cluster each block has another.
  Place shared_address(int64_t offset, int bytes, int array) {
    for (const Program::Address& a : program_.static_shared_at)
      if (a.offset == offset && a.bytes == bytes && a.array == array)
        return a.at;
    const Place at = new_constant(bytes, offset);
    program_.static_shared_at.push_back(
        {at, offset, static_cast<uint8_t>(bytes), array});
    return at;
  }

  // Which of the shared arrays.
  int array_of(const std::string& name) const {
    const auto& arrays = program_.shared_arrays;
    const auto at =
        std::ranges::find(arrays, name, &Program::SharedArray::name);
    return at == arrays.end() ? -1 : static_cast<int>(at - arrays.begin());
  }

  Place reserved_address(uint32_t offset) {
    constexpr uint8_t kBytes = 4;
    const Place at = new_constant(kBytes);
    program_.reserved_shared.push_back({at, offset, kBytes});
    return at;
  }

  // The address of a variable, function or parameter, as an operand.
  Place address_of(const std::string& name, int64_t offset, int bytes) {
    if (const Variable* v = find_variable(name)) {
      if (v->dynamic_shared) {
        const Place at = new_constant(bytes);
        program_.dynamic_shared.push_back(
            {at, offset, static_cast<uint8_t>(bytes), array_of(name)});
        return at;
      }
      if (v->space == Space::kLocal) {
        may_be_meant(*v);
        Draft get;
        get.run =
            bytes == 8 ? local_address<uint64_t> : local_address<uint32_t>;
        get.accessed = {{.space = Space::kLocal,
                         .offset = static_cast<int64_t>(v->address) + offset}};
        get.written = {new_register({'u', static_cast<uint8_t>(bytes)}).place};
        emit(get);
        return get.written[0];
      }
      if (v->space == Space::kGlobal && bytes < 8)
        throw Error("the address of '" + name + "' has 64 bits");
      if (v->space == Space::kShared)
        return shared_address(static_cast<int64_t>(v->address) + offset, bytes,
                              array_of(name));
      return constant(v->address + offset, bytes);
    }
    if (const auto p = kernel_params_.find(name);
        p != kernel_params_.end() && context_.text->entry)
      return constant(p->second.offset + offset, bytes);
    if (const uint64_t f = module_.function_address(name))
      return constant(f, bytes);
    throw Error("'" + name + "' is not known");
  }

  void emit(const Draft& draft) {
    Function& f = *context_.function;
    Instruction& ins = f.code.emplace_back(draft);
    std::vector<Place> operands(draft.written.rbegin(), draft.written.rend());
    operands.insert(operands.end(), draft.read.begin(), draft.read.end());
    ins.operands = f.keep(operands) + draft.written.size();
    ins.result_count = static_cast<uint8_t>(draft.written.size());
    ins.source_count = static_cast<uint8_t>(draft.read.size());
    ins.address_list = f.keep(draft.accessed);
    ins.address_count = static_cast<uint8_t>(draft.accessed.size());
    ins.where = context_.where;
    ins.statement = context_.statement;
    ins.site = program_.sites++;
  }

  void statement(const Statement& s) {
    if (s.scope == '{') return enter_scope(s.number);
    if (s.scope == '}') {
      context_.scope = scope().outer;
      return;
    }
    if (s.label.empty() && s.where.line) context_.where = told_at(s.where);
    try {
      s.label.empty() ? instruction(s) : label(s);
    } catch (const Error& e) {
      refuse(s.label.empty() ? s.text : s.label, e.what());
    }
  }

  void label(const Statement& s) {
    if (s.op.empty())
      define<uint32_t>(scope().labels, s.label, context_.function->code.size());
    else
      define(scope().tables, s.label, &s);
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& why) {
    const std::string at = program_.location(context_.where);
    throw Error("cannot run '" + what + "' (" + (at.empty() ? "" : at + ", ") +
                context_.text->name + "): " + why);
  }

  void instruction(const Statement& s) {
    context_.statement = &s;
    forms_.check(s, *this);
    require_target(s);
    // Bulk copies have their operands by their places, and leave it alone.
    if (s.has("L2::cache_hint") && !s.has("bulk"))
      decode_checked(without_policy(s));
    else if (changes_map(s))
      decode_checked(store_of_field(s));
    else
      decode_checked(s);
  }

  static bool changes_map(const Statement& s) {
    return s.name() == "tensormap" && s.has("replace");
  }

  void require_target(const Statement& s) const {
    const bool wants_sm_90a =
        s.name() == "wgmma" || s.name() == "setmaxnreg" || changes_map(s);
    if (wants_sm_90a && !module_.text.units[context_.text->unit].for_sm_90a)
      throw Error(
          "it is there for sm_90a only, and the program was compiled for "
          "sm_90; make program takes FLAGS=-arch=sm_90a");
  }

  // How long the L2 cache keeps what an access touches changes no result.
  static Statement without_policy(Statement s) {
    std::erase(s.op, "L2::cache_hint");
    s.operands.pop_back();
    return s;
  }

  // tensormap.replace as what it is here: the store of a number in a map.
  static Statement store_of_field(Statement s) {
    uint64_t which = 0;
    if (s.operands.size() > 2) {
      which = parse_literal(s.operands[1].text).value().bits;
      s.operands.erase(s.operands.begin() + 1);
    }
    const bool strides = s.has("global_stride");  // the first is not told
    if (which + strides >= TensorMap::kMostDimensions)
      throw Error("a tensor map has no such field");
    const uint64_t begin = strides ? offsetof(TensorMap, stride[1])
                           : s.has("global_dim") ? offsetof(TensorMap, extent)
                           : s.has("box_dim")    ? offsetof(TensorMap, box)
                                                 : offsetof(TensorMap, address);
    const uint64_t bytes = s.op.back() == "b64" ? 8 : 4;
    s.operands[0].offset += static_cast<int64_t>(begin + which * bytes);
    std::erase(s.op, "b1024");
    s.op.erase(s.op.begin() + 1, s.op.begin() + 4);  // replace.tile.field
    s.op[0] = "st";
    return s;
  }

  void decode_checked(const Statement& s) {
    Draft ins;
    if (!s.guard.empty()) {
      if (!is_predicate(s.guard))
        throw Error("'" + s.guard + "' is not a predicate");
      ins.guard = predicate(s.guard);
      ins.guard_negated = s.guard_negated;
    }
    const std::string& op = s.name();
    if (op == "bra") {
      ins.kind = Kind::kBranch;
      jump(ins, s.operands.at(0).text);
    } else if (op == "brx") {
      ins.kind = Kind::kTable;
      ins.read = {source(s.operands.at(0), 4)};
      jump(ins, s.operands.at(1).text);
    } else if (op == "ret" && !context_.written_out.empty()) {
      ins.kind = Kind::kBranch;
      jump(ins, kEndOfCall);
    } else if (op == "ret" || op == "exit") {
      ins.kind = op == "ret" ? Kind::kReturn : Kind::kExit;
      emit(ins);
    } else if (op == "call") {
      call(s, ins);
    } else if ((op == "ld" || op == "ldu") && parameter_load(s, ins)) {
    } else if (decode_texture(s, *this, ins) || memory(s, ins) ||
               stack(s, ins) || decode_mbarrier(s, *this, ins) ||
               decode_bulk(s, *this, ins) || decode_async(s, *this, ins) ||
               decode_collective(s, *this, ins) ||
               decode_matrix(s, *this, ins)) {
      emit(ins);
    } else if (decode_warpgroup(s, *this, ins)) {
      emit(ins);
      if (s.has("mma_async")) meet_warpgroup(ins);
    } else {
      decode_arithmetic(s, *this, ins);
      ins.pure = true;
      emit(ins);
    }
  }

  // Behind a product under the same condition.
  void meet_warpgroup(const Draft& product) {
    Draft meeting;
    meeting.kind = Kind::kWarpgroup;
    meeting.guard = product.guard;
    meeting.guard_negated = product.guard_negated;
    emit(meeting);
  }

  void jump(const Draft& ins, const std::string& label) {
    context_.jumps.push_back(
        {static_cast<uint32_t>(context_.function->code.size()), context_.scope,
         label});
    emit(ins);
  }

  // A label is seen from its scope and from those within.
  uint32_t target(const std::string& label, int from) {
    const uint32_t* at = find(&Scope::labels, label, from);
    if (!at) throw Error("there is no label " + label + " to jump to");
    return *at;
  }

  void resolve_jumps() {
    for (const Jump& jump : context_.jumps) {
      Instruction& ins = context_.function->code[jump.pc];
      context_.where = ins.where;
      try {
        if (ins.kind != Kind::kTable) {
          ins.target = target(jump.label, jump.scope);
          continue;
        }
        int scope = jump.scope;
        const auto table = find(&Scope::tables, jump.label, scope);
        if (!table) throw Error("there are no .branchtargets " + jump.label);
        std::vector<uint32_t> targets;
        for (const Operand& o : (*table)->operands)
          targets.push_back(target(o.text, scope));
        if (targets.empty()) throw Error("an empty table");
        ins.target_list = context_.function->keep(targets);
        ins.target_count = static_cast<uint32_t>(targets.size());
      } catch (const Error& e) {
        refuse(ins.statement->text, e.what());
      }
    }
  }

  // ld.param of a kernel reads a constant: the launch filled it in.
  bool parameter_load(const Statement& s, const Draft& guard) {
    const Operand& from = s.operands.at(1);
    if (!s.has("param") || !context_.text->entry) return false;
    const auto p = kernel_params_.find(from.text);
    if (p == kernel_params_.end()) return false;
    const Type type = s.type();
    if (type.bytes > 8)
      throw Error("of a parameter the executor loads at most 64 bits at once");
    const Operand& to = s.operands.at(0);
    std::vector<std::string> names = to.list;
    if (names.empty()) names = {to.text};
    require_within(from, accessed_bytes(s), p->second.bytes);
    for (size_t k = 0; k < names.size(); ++k) {
      if (names[k] == "_") continue;
      const Register* r = find_register(names[k]);
      if (!r) throw Error("'" + names[k] + "' is not a register");
      const auto bytes = static_cast<uint8_t>(r->type.bytes);
      const uint64_t offset = p->second.offset + from.offset + k * type.bytes;
      Draft ins = guard;
      ins.pure = true;
      ins.written = {r->place};
      ins.read = {parameter_constant(offset, type, bytes)};
      ins.run = copy_handler(bytes);
      emit(ins);
    }
    return true;
  }
  // Of a load or store.
  static uint64_t accessed_bytes(const Statement& s) {
    return s.type().bytes * (s.has("v4") ? 4 : s.has("v2") ? 2 : 1);
  }
  static void require_within(const Operand& o, uint64_t bytes, uint64_t all) {
    if (!is_inside(o.offset, bytes, 0, all))
      throw Error("'" + o.text + "' has " + std::to_string(all) + " bytes");
  }
  Place parameter_constant(uint32_t offset, Type type, uint8_t bytes) {
    for (const Program::Parameter& p : program_.parameters)
      if (p.offset == offset && p.bytes == type.bytes &&
          p.register_bytes == bytes && p.is_signed == type.is_signed())
        return p.at;
    const Place at = new_constant(bytes);
    program_.parameters.push_back(
        {at, offset, type.bytes, bytes, type.is_signed()});
    return at;
  }

  bool memory(const Statement& s, Draft& ins) {
    for (const Operand& o : s.operands)
      if (o.address) ins.accessed.push_back(address(s, o));
    return decode_memory(s, *this, ins);
  }

  bool stack(const Statement& s, Draft& ins) {
    if (!decode_stack(s, *this, ins)) return false;
    context_.function->allocates = true;
    return true;
  }

  // Where an operand in square brackets points to.
  Address address(const Statement& s, const Operand& o) {
    Address result{.space = space_of(s), .offset = o.offset};
    const bool parameter = s.has("param") || s.has("param::func");
    const Variable* v = find_variable(o.text);
    // An argument or a result of a call, at a distance from its beginning.
    if (parameter && v && v->space == Space::kLocal) {
      require_within(o, accessed_bytes(s), v->bytes);
      result.space = Space::kLocal;
      result.offset += static_cast<int64_t>(v->address);
      return result;
    }
    Operand base = o;
    base.offset = 0;
    base.address = false;
    result.base = source(base, 8);
    if (const int w = width(base)) result.bytes = w;
    // Behind a pointer, too, a function has its own parameters in its frame.
    if (parameter && !context_.text->entry) result.space = Space::kLocal;
    return result;
  }

  // call (results), callee, (arguments)[, prototype];
  void call(const Statement& s, Draft ins) {
    std::vector<Operand> parts = s.operands;
    Call call;
    if (!parts.empty() && parts[0].in_parentheses) {
      for (const std::string& name : parts[0].list)
        call.results.push_back(stack_offset(name));
      parts.erase(parts.begin());
    }
    if (parts.empty() || parts.size() > 3)
      throw Error("it should be call (results), function, (arguments)");
    if (parts.size() > 1)
      for (const std::string& name : parts[1].list)
        call.arguments.push_back(stack_offset(name));
    const Operand& target = parts.at(0);
    if (find_register(target.text)) {
      ins.kind = Kind::kIndirect;
      ins.read = {source(target, 8)};
      indirect_calls_ = true;
      return emit_call(ins, call);
    }
    const auto f = module_.text.functions.find(target.text);
    if (f != module_.text.functions.end() && f->second.defined) {
      require_signature(call, f->second);
      if (ins.guard == kNowhere && is_written_out(f->second))
        return write_out(f->second, call);
      ins.kind = Kind::kCall;
      call.callee = decode_called(f->second);
    } else if ((call.system = system_call(target.text))) {
      if (f == module_.text.functions.end())
        throw Error(target.text + " is not declared");
      require_signature(call, f->second);
      ins.run = call.system;
      program_.calls_runtime |= device_call(target.text) != nullptr;
    } else {
      throw Error("there is no device function " + target.text);
    }
    emit_call(ins, call);
  }
  void emit_call(Draft& ins, const Call& call) {
    ins.call = &context_.function->calls.emplace_back(call);
    emit(ins);
  }
  static void require_signature(const Call& call, const FunctionText& f) {
    if (call.arguments.size() != f.params.size() ||
        call.results.size() != f.results.size())
      throw Error(function_name(f.name) + " takes " +
                  std::to_string(f.params.size()) + " arguments and returns " +
                  std::to_string(f.results.size()));
  }
  uint32_t stack_offset(const std::string& name) {
    const Variable* v = find_variable(name);
    if (!v || v->space != Space::kLocal)
      throw Error("'" + name + "' is not a parameter of this call");
    return v->address;
  }

  Module& module_;
  Program& program_;
  Context context_;
  Forms forms_;
  int nested_ = 0;
  std::map<const FunctionText*, int> written_sizes_;
  std::map<uint32_t, bool> of_toolkit_;  // by the file's number
  struct Parameter {
    uint32_t offset, bytes;
  };
  std::map<std::string, Parameter> kernel_params_;
  std::map<std::string, Variable> shared_;
  std::map<std::pair<uint64_t, int>, Place> constants_;
  bool indirect_calls_ = false;
};

}  // namespace

bool reads_clock(const Instruction& ins) {
  return ins.statement &&
         std::ranges::any_of(ins.statement->operands, [](const Operand& o) {
           return clock_names().contains(o.text);
         });
}

std::vector<std::string> special_registers() {
  std::vector<std::string> names;
  for (const auto& [name, special] : special_names()) names.push_back(name);
  for (const auto& [name, clock] : clock_names()) names.push_back(name);
  for (const auto& [name, offset] : reserved_names()) names.push_back(name);
  return names;
}

std::unique_ptr<Program> decode(Module& module, const FunctionText& kernel) {
  if (!kernel.refused.empty())
    throw Error("cannot run " + function_name(kernel.name) + ": " +
                kernel.refused);
  const std::lock_guard lock(module.reading);
  auto program = std::make_unique<Program>();
  program->module = &module;
  Decoder decoder(module, *program);
  program->entry = decoder.decode_entry(kernel);
  decoder.decode_addressable();
  program->by_site.resize(program->sites);
  for (const auto& [name, function] : program->functions) {
    program->waits_for_memory |= function.waits_for_memory;
    for (const Instruction& ins : function.code)
      program->by_site[ins.site] = {&function, &ins};
  }
  return program;
}

}  // namespace simt
