// Calls: of functions, which are decoded or written out where they are called,
// and of the system.
#include <algorithm>
#include <utility>

#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/decoder.h"
#include "common/simt/decode/parse.h"
#include "common/simt/isa/collectives.h"
#include "common/simt/isa/device_calls.h"

namespace simt {
namespace {

// Of a function that is written out where it is called, statements; and of one
// that others are written out in, instructions.
constexpr int kMostStatements = 1000;
constexpr size_t kMostWithCalls = 20'000;

void require_signature(const Call& call, const FunctionText& f) {
  if (call.arguments.size() != f.params.size() ||
      call.results.size() != f.results.size())
    throw Error(function_name(f.name) + " takes " +
                std::to_string(f.params.size()) + " arguments and returns " +
                std::to_string(f.results.size()));
}

}  // namespace

// A function of the toolkit's is another one for each line that calls it.
const Function* Decoder::decode_called(FunctionText& text) {
  parse_body(module_.text, text);
  const bool is_users = std::ranges::any_of(
      text.body, [&](const Statement& s) { return user_lines_.has(s.where); });
  const bool is_told = !is_users && user_lines_.has(context_.where);
  return decode_function(text, is_told ? context_.where : SourceLine{});
}

// call (results), callee, (arguments)[, prototype];
void Decoder::call(const Statement& s, Draft ins) {
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
  if (!find_register(target.text)) return call_named(target.text, ins, call);
  ins.kind = Kind::kIndirect;
  ins.read = {source(target, 8)};
  indirect_calls_ = true;
  emit_call(ins, call);
}

void Decoder::call_named(const std::string& name, Draft& ins, Call& call) {
  const auto f = module_.text.functions.find(name);
  const bool is_declared = f != module_.text.functions.end();
  if (is_declared && f->second.defined)
    return call_defined(f->second, ins, call);
  call.system = system_call(name);
  if (!call.system) throw Error("there is no device function " + name);
  if (!is_declared) throw Error(name + " is not declared");
  require_signature(call, f->second);
  ins.run = call.system;
  program_.calls_runtime |= device_call(name) != nullptr;
  emit_call(ins, call);
}

void Decoder::call_defined(FunctionText& callee, Draft& ins, Call& call) {
  require_signature(call, callee);
  if (ins.guard == kNowhere && is_written_out(callee))
    return write_out(callee, call);
  ins.kind = Kind::kCall;
  call.callee = decode_called(callee);
  emit_call(ins, call);
}

void Decoder::emit_call(Draft& ins, const Call& call) {
  ins.call = &context_.function->calls.emplace_back(call);
  emit(ins);
}

uint32_t Decoder::stack_offset(const std::string& name) {
  const Variable* v = find_variable(name);
  if (!v || v->space != Space::kLocal)
    throw Error("'" + name + "' is not a parameter of this call");
  return v->address;
}

// ---- Functions that are written out where they are called ------------------

// Not optimised, even a cast is a call. What becomes of values is looked at
// within one function; and what a function of the toolkit does is told at the
// line that calls it.
bool Decoder::is_written_out(FunctionText& callee) {
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
int Decoder::written_size(FunctionText& f) {
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
void Decoder::write_out(const FunctionText& callee, const Call& call) {
  const SourceLine where = context_.where;
  const Statement* const statement = context_.statement;
  go_on();
  context_.written_out.push_back(&callee);
  const SourceLine called_at = std::exchange(context_.called_at, where);
  const FunctionText* const text = std::exchange(context_.text, &callee);
  Scopes::Left outer = context_.scopes.enter_other_text();
  const int own = context_.scopes.number();
  pass(callee.params, call.arguments);
  pass(callee.results, call.results);
  body(callee);
  context_.scopes.at(own).labels[kEndOfCall] = context_.function->code.size();
  context_.scopes.come_back(std::move(outer));
  context_.written_out.pop_back();
  context_.called_at = called_at;
  context_.text = text;
  context_.where = where;
  context_.statement = statement;
}

void Decoder::pass(const std::vector<Declaration>& theirs,
                   const std::vector<uint32_t>& offsets) {
  for (size_t k = 0; k < theirs.size(); ++k) {
    const auto bytes = static_cast<uint32_t>(theirs[k].bytes);
    define(context_.scopes.now().variables, theirs[k].name,
           Variable{Space::kLocal, offsets[k], bytes});
    context_.passed[offsets[k]] = bytes;
  }
}

}  // namespace simt
