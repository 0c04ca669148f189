// What operands become: places of registers and numbers, addresses of
// variables, functions and parameters.
#include <algorithm>

#include "common/simt/core/access.h"
#include "common/simt/core/error.h"
#include "common/simt/core/literals.h"
#include "common/simt/core/warp.h"
#include "common/simt/decode/decoder.h"
#include "common/simt/isa/memory/memory.h"

namespace simt {
namespace {

// The address of a local variable depends on how deep its function was called.
template <class T>
void local_address(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint64_t address = warp.stack_base + ins.address().offset;
  fill_lanes(warp, ins, mask, static_cast<T>(address));
}

// Of a load or store.
uint64_t accessed_bytes(const Statement& s) {
  return s.type().bytes * (s.has("v4") ? 4 : s.has("v2") ? 2 : 1);
}

void require_within(const Operand& o, uint64_t bytes, uint64_t all) {
  if (!is_inside(o.offset, bytes, 0, all))
    throw Error("'" + o.text + "' has " + std::to_string(all) + " bytes");
}

// nvcc puts this number where a variable without a value is added to something.
// Nobody means to compute with it: whatever comes of that is no number.
bool stands_for_no_value(const Statement& s, const Operand& o) {
  const std::string& op = s.name();
  return (op == "add" || op == "sub" || op == "mul" || op == "fma") &&
         (o.text == "0f7FC00000" || o.text == "0d7FF8000000000000");
}

}  // namespace

Place Decoder::source(const Operand& o, int bytes) {
  if (const Register* r = find_register(o.text)) return r->place;
  if (const auto number = parse_literal(o.text)) {
    const uint64_t bits = number->as(bytes);
    return context_.statement && stands_for_no_value(*context_.statement, o)
               ? without_value(bits, bytes)
               : fixed_.constant(bits, bytes);
  }
  if (o.text[0] == '%') return special(o.text);
  return address_of(o.text, o.offset, bytes);
}

Place Decoder::without_value(uint64_t bits, int bytes) {
  const Place place = new_register({'f', static_cast<uint8_t>(bytes)}).place;
  context_.function->begin_as[place] = bits;
  return place;
}

Place Decoder::destination(const Operand& o) {
  if (o.text == "_") return kNowhere;
  const Register* r = find_register(o.text);
  if (!r) throw Error("'" + o.text + "' is not a register");
  return r->place;
}

Place Decoder::predicate(const std::string& name) {
  if (name == "_" || name.empty()) return kNowhere;
  if (const Register* r = find_register(name)) return r->place;
  if (is_special_predicate(name)) return special(name);
  return fixed_.constant(parse_literal(name).value().bits ? kAllLanes : 0, 4);
}

int Decoder::width(const Operand& operand) {
  if (const Register* r = find_register(operand.text)) return r->type.bytes;
  if (const auto clock = clock_names().find(operand.text);
      clock != clock_names().end())
    return clock->second.bytes;
  return special_names().contains(operand.text) ||
                 reserved_names().contains(operand.text)
             ? 4
             : 0;
}

bool Decoder::is_predicate(const std::string& name) {
  const Register* r = find_register(name);
  return r && r->type.is('p');
}

bool Decoder::is_register(const std::string& name) {
  const Register* r = find_register(name);
  return r && !r->type.is('p');
}

// ---- Special registers -----------------------------------------------------

Place Decoder::special(const std::string& name) {
  if (const auto clock = clock_names().find(name); clock != clock_names().end())
    return clock_register(clock->second);
  if (const auto reserved = reserved_names().find(name);
      reserved != reserved_names().end())
    return fixed_.reserved_address(reserved->second);
  return fixed_.special(special_names().at(name));
}

Place Decoder::clock_register(Clock clock) {
  Draft read;
  read.run = clock.read;
  read.written = {new_register({'u', clock.bytes}).place};
  emit(read);
  return read.written[0];
}

// ---- Addresses -------------------------------------------------------------

// Which of the shared arrays.
int Decoder::array_of(const std::string& name) const {
  const auto& arrays = program_.shared_arrays;
  const auto at = std::ranges::find(arrays, name, &Program::SharedArray::name);
  return at == arrays.end() ? -1 : static_cast<int>(at - arrays.begin());
}

// The address of a variable, function or parameter, as an operand.
Place Decoder::address_of(const std::string& name, int64_t offset, int bytes) {
  if (const Variable* v = find_variable(name))
    return address_of(*v, name, offset, bytes);
  if (const auto p = kernel_params_.find(name);
      p != kernel_params_.end() && context_.text->entry)
    return fixed_.constant(p->second.offset + offset, bytes);
  if (const uint64_t f = module_.function_address(name))
    return fixed_.constant(f, bytes);
  throw Error("'" + name + "' is not known");
}

Place Decoder::address_of(const Variable& v, const std::string& name,
                          int64_t offset, int bytes) {
  if (v.dynamic_shared)
    return fixed_.dynamic_address(offset, bytes, array_of(name));
  if (v.space == Space::kLocal) return local_address_of(v, offset, bytes);
  if (v.space == Space::kGlobal && bytes < 8)
    throw Error("the address of '" + name + "' has 64 bits");
  if (v.space == Space::kShared)
    return fixed_.shared_address(static_cast<int64_t>(v.address) + offset,
                                 bytes, array_of(name));
  return fixed_.constant(v.address + offset, bytes);
}

Place Decoder::local_address_of(const Variable& v, int64_t offset, int bytes) {
  may_be_meant(v);
  Draft get;
  get.run = bytes == 8 ? local_address<uint64_t> : local_address<uint32_t>;
  get.accessed = {{.space = Space::kLocal,
                   .offset = static_cast<int64_t>(v.address) + offset}};
  get.written = {new_register({'u', static_cast<uint8_t>(bytes)}).place};
  emit(get);
  return get.written[0];
}

// Where an operand in square brackets points to.
Address Decoder::address(const Statement& s, const Operand& o) {
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

// ld.param of a kernel reads a constant: the launch filled it in.
bool Decoder::parameter_load(const Statement& s, const Draft& guard) {
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
    ins.read = {fixed_.parameter(offset, type, bytes)};
    ins.run = copy_handler(bytes);
    emit(ins);
  }
  return true;
}

}  // namespace simt
