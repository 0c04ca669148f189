// Where declared variables lie: in registers, on the stack, in shared memory.
#include <algorithm>
#include <set>

#include "common/simt/core/access.h"
#include "common/simt/core/device.h"
#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/core/warp.h"
#include "common/simt/decode/analysis.h"
#include "common/simt/decode/decoder.h"

namespace simt {
namespace {

// More than any GPU has, and little enough for the host.
constexpr uint32_t kMostRegisterBytes = 1 << 26;  // a function's, 32 lanes

}  // namespace

void Decoder::kernel_parameters(const FunctionText& text) {
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

void Decoder::declare(const Declaration& d) {
  try {
    declare_in_scope(d);
  } catch (const Error& e) {
    refuse("." + d.space + " " + d.name, e.what());
  }
}

void Decoder::declare_in_scope(const Declaration& d) {
  if (d.space == "reg") {
    if (d.registers == 0)
      define(context_.scopes.now().registers, d.name, new_register(d.type));
    for (uint32_t k = 0; k < d.registers; ++k)
      define(context_.scopes.now().registers, d.name + std::to_string(k),
             new_register(d.type));
  } else if (d.space == "shared") {
    define(context_.scopes.now().variables, d.name, shared_variable(d));
  } else {
    stack_variable(d);
  }
}

Register Decoder::new_register(Type type) {
  Function& f = *context_.function;
  const uint32_t at = align_up(f.register_bytes, type.is('p') ? 4 : 64);
  f.register_bytes = at + (type.is('p') ? 4 : type.bytes * kLanes);
  f.widths[static_cast<Place>(at)] = type.is('p') ? 0 : type.bytes;
  if (f.register_bytes > kMostRegisterBytes)
    throw Error(function_name(f.name) + " has too many registers");
  return {static_cast<Place>(at), type};
}

// ---- On the stack ----------------------------------------------------------

// By addresses that are computed.
void Decoder::may_be_meant(const Variable& v) {
  Function& f = *context_.function;
  const auto begin = static_cast<uint32_t>(v.address);
  const auto end = static_cast<uint32_t>(v.address + v.bytes);
  const bool first = f.variables_end == 0;
  f.variables_begin = first ? begin : std::min(f.variables_begin, begin);
  f.variables_end = std::max(f.variables_end, end);
}

Function::Slot Decoder::stack_variable(const Declaration& d) {
  Function& f = *context_.function;
  f.stack_bytes = align_up(f.stack_bytes, std::max<uint32_t>(d.align, 8));
  require_room(f.stack_bytes, d, kStackLimit, "local memory", "thread");
  const Variable v{Space::kLocal, f.stack_bytes, d.bytes};
  define(context_.scopes.now().variables, d.name, v);
  f.stack_bytes += d.bytes;
  if (d.space == "local") may_be_meant(v);
  const Function::Slot slot{static_cast<uint32_t>(v.address),
                            static_cast<uint32_t>(v.bytes)};
  if (d.space == "local" && is_of_library(context_.text->name))
    f.not_followed.push_back(slot);
  return slot;
}

void Decoder::require_room(uint64_t used, const Declaration& d, uint64_t most,
                           const char* what, const char* owner) const {
  if (is_inside(used, d.bytes, 0, most)) return;
  throw Error(context_.text->name + " needs " + std::to_string(used + d.bytes) +
              " bytes of " + what + ", with '" + d.name + "'; a " + owner +
              " has at most " + std::to_string(most));
}

// ---- In shared memory ------------------------------------------------------

// One behind the other, as ptxas places them.
Variable Decoder::shared_variable(const Declaration& d) {
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

// Those that this function uses, in the order of the file. A kernel that
// other files may mean has its own before them, any other behind them.
void Decoder::place_shared_of_file() {
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

// ---- By name ---------------------------------------------------------------

const Register* Decoder::find_register(const std::string& name) const {
  return context_.scopes.find(&Scope::registers, name);
}

const Variable* Decoder::find_variable(const std::string& name) {
  if (const Variable* v = context_.scopes.find(&Scope::variables, name))
    return v;
  if (const auto v = shared_.find(name); v != shared_.end()) return &v->second;
  if (const auto v = module_.variables.find(name); v != module_.variables.end())
    return &v->second;
  const bool is_shared =
      std::ranges::any_of(module_.text.variables, [&](const Declaration& d) {
        return d.name == name && d.space == "shared";
      });
  if (!is_shared) return nullptr;
  place_shared_of_file();
  return &shared_.at(name);
}

}  // namespace simt
