// Decodes functions, statement by statement.
#include "common/simt/decode/decoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/simt/core/error.h"
#include "common/simt/core/settings.h"
#include "common/simt/decode/analysis.h"
#include "common/simt/decode/parse.h"
#include "common/simt/decode/ptxas.h"
#include "common/simt/decode/rewritten.h"
#include "common/simt/isa/async/async.h"
#include "common/simt/isa/async/mbarrier.h"
#include "common/simt/isa/collectives.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/isa/matrix/warpgroup.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/stack.h"
#include "common/simt/isa/texture.h"

namespace simt {
namespace {

constexpr uint32_t kReturnBytes = 8;  // the address to which a call returns
constexpr int kMostNested = 256;      // functions that call one another

}  // namespace

int ptxas_level(const Unit& unit) {
  return settings::ptxas_model() ? unit.level : 0;
}

const Function* Decoder::decode_entry(const FunctionText& text) {
  kernel_parameters(text);
  return decode_function(text);
}

void Decoder::decode_addressable() {
  if (!indirect_calls_) return;
  for (const auto& [name, text] : module_.text.functions)
    if (!text.entry && text.defined) decode_function(text);
}

// ---- Functions -------------------------------------------------------------

const Function* Decoder::decode_function(const FunctionText& written,
                                         SourceLine called_at) {
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
      unrolled ? program_.unrolled.emplace_back(std::move(*unrolled)) : written;
  if (++nested_ > kMostNested)
    throw Error("functions that call one another, more than " +
                std::to_string(kMostNested) + " deep");
  Context outer = std::exchange(context_, Context{});
  context_.function = &function;
  context_.text = &text;
  context_.called_at = called_at;
  context_.where = told_at(text.where);
  decode_text(text);
  analyse(level);
  context_ = std::move(outer);
  --nested_;
  return &function;
}

void Decoder::decode_text(const FunctionText& text) {
  Function& function = *context_.function;
  function.name = text.name;
  function.text = &text;
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
}

// `level`: of ptxas; 0: it optimises nothing.
void Decoder::analyse(int level) {
  Function& function = *context_.function;
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
  find_words_around(function, program_);
}

void Decoder::body(const FunctionText& text) {
  if (text.linkage == Linkage::kOwnFile) place_shared_of_file();
  for (size_t k = 0; k <= text.body.size(); ++k) {
    if (const auto d = text.declarations.find(k); d != text.declarations.end())
      for (const Declaration& one : d->second) declare(one);
    if (k < text.body.size()) statement(text.body[k]);
  }
}

// ---- Statements ------------------------------------------------------------

void Decoder::statement(const Statement& s) {
  if (s.scope == '{') return context_.scopes.enter(s.number);
  if (s.scope == '}') return context_.scopes.leave();
  if (s.label.empty() && s.where.line) context_.where = told_at(s.where);
  try {
    s.label.empty() ? instruction(s) : label(s);
  } catch (const Error& e) {
    refuse(s.label.empty() ? s.text : s.label, e.what());
  }
}

void Decoder::label(const Statement& s) {
  if (s.op.empty())
    define<uint32_t>(context_.scopes.now().labels, s.label,
                     context_.function->code.size());
  else
    define(context_.scopes.now().tables, s.label, &s);
}

// Where a statement is told to be. The compiler says of inlined code where it
// was inlined, and of what is called nothing.
SourceLine Decoder::told_at(SourceLine where) {
  if (!context_.called_at.line || user_lines_.has(where)) return where;
  SourceLine at = context_.called_at;
  at.of_groups |= where.of_groups;
  at.of_library |= where.of_library;
  return at;
}

void Decoder::refuse(const std::string& what, const std::string& why) {
  const std::string at = program_.location(context_.where);
  throw Error("cannot run '" + what + "' (" + (at.empty() ? "" : at + ", ") +
              context_.text->name + "): " + why);
}

void Decoder::instruction(const Statement& s) {
  context_.statement = &s;
  forms_.check(s, *this);
  require_target(s);
  const std::optional<Statement> other = rewritten(s);
  decode_checked(other ? *other : s);
}

void Decoder::require_target(const Statement& s) const {
  const bool wants_sm_90a =
      s.name() == "wgmma" || s.name() == "setmaxnreg" || changes_map(s);
  if (wants_sm_90a && !module_.text.units[context_.text->unit].for_sm_90a)
    throw Error(
        "it is there for sm_90a only, and the program was compiled for "
        "sm_90; make program takes FLAGS=-arch=sm_90a");
}

void Decoder::guard(const Statement& s, Draft& ins) {
  if (s.guard.empty()) return;
  if (!is_predicate(s.guard))
    throw Error("'" + s.guard + "' is not a predicate");
  ins.guard = predicate(s.guard);
  ins.guard_negated = s.guard_negated;
}

void Decoder::decode_checked(const Statement& s) {
  Draft ins;
  guard(s, ins);
  const std::string& op = s.name();
  if (control_flow(s, ins)) return;
  if ((op == "ld" || op == "ldu") && parameter_load(s, ins)) return;
  if (decode_texture(s, *this, ins) || memory(s, ins) || stack(s, ins) ||
      decode_mbarrier(s, *this, ins) || decode_bulk(s, *this, ins) ||
      decode_async(s, *this, ins) || decode_collective(s, *this, ins) ||
      decode_matrix(s, *this, ins))
    return emit(ins);
  if (decode_warpgroup(s, *this, ins)) {
    emit(ins);
    if (s.has("mma_async")) meet_warpgroup(ins);
    return;
  }
  decode_arithmetic(s, *this, ins);
  ins.pure = true;
  emit(ins);
}

bool Decoder::control_flow(const Statement& s, Draft& ins) {
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
  } else {
    return false;
  }
  return true;
}

bool Decoder::memory(const Statement& s, Draft& ins) {
  for (const Operand& o : s.operands)
    if (o.address) ins.accessed.push_back(address(s, o));
  return decode_memory(s, *this, ins);
}

bool Decoder::stack(const Statement& s, Draft& ins) {
  if (!decode_stack(s, *this, ins)) return false;
  context_.function->allocates = true;
  return true;
}

// Behind a product under the same condition.
void Decoder::meet_warpgroup(const Draft& product) {
  Draft meeting;
  meeting.kind = Kind::kWarpgroup;
  meeting.guard = product.guard;
  meeting.guard_negated = product.guard_negated;
  emit(meeting);
}

void Decoder::emit(const Draft& draft) {
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

}  // namespace simt
