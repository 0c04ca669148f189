// Where branches go: their labels may still follow, and are looked up when a
// function has been decoded.
#include "common/simt/core/error.h"
#include "common/simt/decode/decoder.h"

namespace simt {

void Decoder::jump(const Draft& ins, const std::string& label) {
  context_.jumps.push_back(
      {static_cast<uint32_t>(context_.function->code.size()),
       context_.scopes.number(), label});
  emit(ins);
}

// In the place of a call: a jump to what comes next.
void Decoder::go_on() {
  Draft jump;
  jump.kind = Kind::kBranch;
  jump.target = static_cast<uint32_t>(context_.function->code.size() + 1);
  emit(jump);
}

// A label is seen from its scope and from those within.
uint32_t Decoder::target(const std::string& label, int from) {
  const uint32_t* at = context_.scopes.find(&Scope::labels, label, from);
  if (!at) throw Error("there is no label " + label + " to jump to");
  return *at;
}

void Decoder::resolve(const Jump& jump, Instruction& ins) {
  if (ins.kind != Kind::kTable) {
    ins.target = target(jump.label, jump.scope);
    return;
  }
  int scope = jump.scope;
  const auto table = context_.scopes.find(&Scope::tables, jump.label, scope);
  if (!table) throw Error("there are no .branchtargets " + jump.label);
  std::vector<uint32_t> targets;
  for (const Operand& o : (*table)->operands)
    targets.push_back(target(o.text, scope));
  if (targets.empty()) throw Error("an empty table");
  ins.target_list = context_.function->keep(targets);
  ins.target_count = static_cast<uint32_t>(targets.size());
}

void Decoder::resolve_jumps() {
  for (const Jump& jump : context_.jumps) {
    Instruction& ins = context_.function->code[jump.pc];
    context_.where = ins.where;
    try {
      resolve(jump, ins);
    } catch (const Error& e) {
      refuse(ins.statement->text, e.what());
    }
  }
}

}  // namespace simt
