// Writes small functions out where they are called.
#include "common/simt/decode/written_out.h"

#include <algorithm>
#include <span>

namespace simt {
namespace {

constexpr int kMostWrittenOut = 64;  // instructions
constexpr Place kSlots = 1 << 30;    // behind all registers

// Of an argument or a result, its function's own or a call's.
bool is_in_frame(const Instruction& ins) {
  return ins.address_count == 1 && ins.address().space == Space::kLocal &&
         ins.address().base == kNowhere;
}

// Where they begin, and their bytes.
std::map<uint32_t, uint32_t> slots_of(const Function& f) {
  std::map<uint32_t, uint32_t> slots;
  const auto add = [&](const auto& offsets, const auto& theirs) {
    for (size_t k = 0; k < offsets.size(); ++k)
      slots[offsets[k]] = theirs[k].bytes;
  };
  for (const auto& own : {f.params, f.results})
    for (const Function::Slot& slot : own) slots[slot.offset] = slot.bytes;
  for (const Call& call : f.calls) {
    if (!call.callee) continue;
    add(call.arguments, call.callee->params);
    add(call.results, call.callee->results);
  }
  return slots;
}

// Is each loaded and stored as a whole?
bool has_whole_slots(const Function& f) {
  const std::map<uint32_t, uint32_t> slots = slots_of(f);
  return std::ranges::all_of(f.code, [&](const Instruction& ins) {
    if (!is_in_frame(ins)) return true;
    const auto slot = slots.find(static_cast<uint32_t>(ins.address().offset));
    return slot == slots.end() || slot->second == ins.element_bytes;
  });
}

// Up to its first return.
std::span<const Instruction> body_of(const Function& f) {
  const auto end = std::ranges::find(f.code, Kind::kReturn, &Instruction::kind);
  return {f.code.begin(), end};
}

// Is there one way through it, and through what it calls? `left`: of so many
// instructions.
bool is_straight(const Function& f, int& left) {
  const auto body = body_of(f);
  if (body.size() == f.code.size() || f.code[body.size()].guard != kNowhere ||
      f.allocates || !has_whole_slots(f))
    return false;
  return std::ranges::all_of(body, [&](const Instruction& ins) {
    if (--left < 0) return false;
    if (ins.kind == Kind::kCall)
      return ins.call->callee && ins.guard == kNowhere &&
             is_straight(*ins.call->callee, left);
    return (ins.kind == Kind::kPlain || ins.kind == Kind::kPoll) && !ins.call;
  });
}

const Statement& copy_statement() {
  static const Statement kCopy = [] {
    Statement s;
    s.op = {"mov", "b64"};
    return s;
  }();
  return kCopy;
}

}  // namespace

WrittenOut::WrittenOut(const Function& f) {
  if (f.calls.empty() || !has_whole_slots(f)) return;
  for (const Instruction& ins : f.code) {
    if (!is_small(ins)) continue;
    passed_.insert(ins.call->arguments.begin(), ins.call->arguments.end());
    passed_.insert(ins.call->results.begin(), ins.call->results.end());
  }
  const Frame frame{f};
  registers_ = static_cast<Place>(f.register_bytes);
  slots_ = static_cast<Place>(f.stack_bytes);
  std::vector<uint32_t> now(f.code.size());
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    now[pc] = static_cast<uint32_t>(written_.code.size());
    write(frame, f.code[pc]);
    own_.resize(written_.code.size(), kCalled);
    if (!is_small(f.code[pc])) own_.back() = pc;
  }
  const auto moved = [&](uint32_t pc) {
    return pc < now.size() ? now[pc] : pc;
  };
  for (Instruction& ins : written_.code) {
    if (ins.kind == Kind::kBranch) ins.target = moved(ins.target);
    ins.reconverge = moved(ins.reconverge);
    if (ins.target_count == 0) continue;
    std::vector<uint32_t> targets(ins.targets().begin(), ins.targets().end());
    std::ranges::transform(targets, targets.begin(), moved);
    ins.target_list = written_.keep(targets);
  }
}

Place WrittenOut::Frame::slot(uint32_t offset) const {
  if (!call) return kSlots + static_cast<Place>(offset);
  for (size_t k = 0; k < function.params.size(); ++k)
    if (function.params[k].offset == offset)
      return caller->slot(call->arguments[k]);
  for (size_t k = 0; k < function.results.size(); ++k)
    if (function.results[k].offset == offset)
      return caller->slot(call->results[k]);
  return kSlots + slots + static_cast<Place>(offset);
}

// A call of what can be written out?
bool WrittenOut::is_small(const Instruction& ins) {
  if (ins.kind != Kind::kCall || !ins.call->callee || ins.guard != kNowhere)
    return false;
  const Function& callee = *ins.call->callee;
  const auto [known, fresh] = small_.try_emplace(&callee, false);
  int left = kMostWrittenOut;
  if (fresh) known->second = is_straight(callee, left);
  return known->second;
}

// Does it load or store what is passed to or by such a function?
bool WrittenOut::passes(const Frame& frame, const Instruction& ins) const {
  return is_in_frame(ins) &&
         (frame.call ||
          passed_.contains(static_cast<uint32_t>(ins.address().offset)));
}

void WrittenOut::write(const Frame& frame, const Instruction& ins) {
  if (is_small(ins)) return call(frame, *ins.call);
  Instruction& mine = written_.code.emplace_back(ins);
  mine.guard = frame.place(ins.guard);
  if (passes(frame, ins)) return pass(frame, mine);
  list_operands(frame, mine);
  std::vector<Address> addresses(ins.addresses().begin(),
                                 ins.addresses().end());
  for (Address& a : addresses) a.base = frame.place(a.base);
  mine.address_list = written_.keep(addresses);
}

void WrittenOut::call(const Frame& frame, const Call& call) {
  const Frame inner{*call.callee, registers_, slots_, &call, &frame};
  registers_ += static_cast<Place>(call.callee->register_bytes);
  slots_ += static_cast<Place>(call.callee->stack_bytes);
  ++calls_;
  for (const Instruction& ins : body_of(*call.callee)) write(inner, ins);
}

void WrittenOut::pass(const Frame& frame, Instruction& ins) {
  const Place slot = frame.slot(static_cast<uint32_t>(ins.address().offset));
  const bool stores = ins.result_count == 0;
  const Place other = frame.place(stores ? ins.source(0) : ins.result(0));
  const std::vector<Place> operands =
      stores ? std::vector{slot, other} : std::vector{other, slot};
  ins.operands = written_.keep(operands) + 1;
  ins.result_count = ins.source_count = 1;
  ins.address_count = 0;
  ins.kind = Kind::kPlain;
  ins.pure = true;
  ins.statement = &copy_statement();
}

void WrittenOut::list_operands(const Frame& frame, Instruction& ins) {
  std::vector<Place> operands(ins.operands - ins.result_count,
                              ins.operands + ins.source_count);
  for (Place& p : operands) p = frame.place(p);
  ins.operands = written_.keep(operands) + ins.result_count;
}

}  // namespace simt
