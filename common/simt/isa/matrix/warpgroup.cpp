// Decoding of wgmma and setmaxnreg; fences, groups, and who takes part.
#include "common/simt/isa/matrix/warpgroup.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// ---- Fences and groups ------------------------------------------------------

void fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  warp.fenced_products = true;
}

void close_group(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  ++warp.product_groups;
}

// A group has been multiplied for all four warps when one of them has waited
// for it.
void wait_for_groups(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  const uint32_t but = *lanes<uint32_t>(warp, ins.source(0));
  if (but >= warp.product_groups) return;
  const uint32_t groups = warp.product_groups - but;
  observe::multiplied(warp, groups);
  auto& products = warp.block->copies.products;
  uint64_t done = 0;
  for (const AsyncProduct& one : products)
    if (one.warp == &warp && one.group < groups)
      done = std::max(done, one.number + 1);
  std::erase_if(products, [&](AsyncProduct& one) {
    const bool meant =
        one.warp->index / Warpgroup::kWarps == warp.index / Warpgroup::kWarps &&
        one.number < done;
    return meant && !observe::waited(one, warp);
  });
}

// ---- Decoding ---------------------------------------------------------------

bool is_transposable(Number number) {
  return number == Number::kHalf || number == Number::kBFloat;
}
bool is_float(Number number) {
  return is_transposable(number) || number == Number::kTFloat ||
         number == Number::kE4M3 || number == Number::kE5M2;
}

int64_t number_in(const Statement& s, size_t k) {
  const auto found = parse_literal(s.operands.at(k).text);
  if (!found || !found->is_integer())
    throw Error("'" + s.operands[k].text + "' is no whole number");
  return static_cast<int64_t>(found->bits);
}

bool is_one_of(int64_t value, int64_t this_one, int64_t that_one) {
  if (value != this_one && value != that_one)
    throw Error(std::to_string(value) + " is neither " +
                std::to_string(this_one) + " nor " + std::to_string(that_one));
  return value == that_one;
}

// Before the predicate: D, A, B, and of a sparse A what says which half is
// stored, and the selector.
size_t predicate_of(const Statement& s) { return is_sparse(s) ? 5 : 3; }

// The numbers behind the predicate: signs, and which sides are transposed.
void read_numbers(const Statement& s, WarpgroupProduct& p) {
  const size_t first = predicate_of(s) + 1, all = s.operands.size();
  size_t wanted = first;
  if (is_float(p.a)) wanted += 2;
  if (is_transposable(p.a)) wanted += p.a_in_registers ? 1 : 2;
  if (all != wanted)
    throw Error("it has " + std::to_string(all) +
                " operands, and should have " + std::to_string(wanted));
  if (is_float(p.a))
    p.negated = is_one_of(number_in(s, first), 1, -1) !=
                is_one_of(number_in(s, first + 1), 1, -1);
  if (!is_transposable(p.a)) return;
  p.b_along_k = !is_one_of(number_in(s, all - 1), 0, 1);
  if (!p.a_in_registers) p.a_along_k = !is_one_of(number_in(s, all - 2), 0, 1);
}

WarpgroupProduct product_of(const Statement& s) {
  WarpgroupProduct p;
  if (s.operands.size() <= predicate_of(s))
    throw Error(std::string("its operands should be {d, ...}, a, b, ") +
                (is_sparse(s) ? "metadata, selector, " : "") +
                "p, and numbers");
  std::vector<Number> found;
  for (const std::string& part : s.op) {
    std::sscanf(part.c_str(), "m64n%dk%d", &p.n, &p.k);
    if (is_number(part)) found.push_back(number_of(part));
  }
  p.d = found.at(0);
  p.a = found.at(1);
  p.b = found.at(2);
  if (p.a == Number::kBits) p.k /= 32;
  if (is_sparse(s)) {
    p.sparsity = {bits_of(p.a), p.k / 2};
    p.sparsity.choose(number_in(s, predicate_of(s) - 1));
  }
  p.a_fragment = fragment_a(p.a, WarpgroupProduct::kRows, p.in_row());
  p.tile = fragment_c(p.d, WarpgroupProduct::kRows, WarpgroupProduct::kTile);
  p.a_in_registers = !s.operands[1].list.empty();
  p.saturates = s.has("satfinite");
  read_numbers(s, p);
  return p;
}

// One for each form. Kernels may be decoded at the same time.
const WarpgroupProduct& known_product(const Statement& s) {
  static std::mutex mutex;
  static auto* all = new std::map<std::string, WarpgroupProduct>;
  const std::lock_guard lock(mutex);
  std::string form;
  for (const std::string& part : s.op) form.append(part).append(1, '.');
  form += s.operands.size() > 1 && s.operands[1].list.empty() ? "s" : "r";
  for (size_t k = 4; k < s.operands.size(); ++k)
    if (k != predicate_of(s)) form.append(1, ' ').append(s.operands[k].text);
  const auto known = all->find(form);
  if (known != all->end()) return known->second;
  return all->emplace(form, product_of(s)).first->second;
}

void require_registers(const std::vector<std::string>& names, int count,
                       OperandReader& operands, const char* matrix) {
  if (static_cast<int>(names.size()) != count)
    throw Error("of " + std::string(matrix) + " it has " +
                std::to_string(names.size()) + " registers, and should have " +
                std::to_string(count));
  for (const std::string& name : names)
    if (!operands.is_register(name) || operands.width(named(name)) != 4)
      throw Error("'" + name + "' is no register of 32 bits");
}

Place descriptor(const Operand& o, OperandReader& operands) {
  if (!parse_literal(o.text) && operands.width(o) != 8)
    throw Error("'" + o.text + "' is no descriptor: that has 64 bits");
  return operands.source(o, 8);
}

void decode_product(const Statement& s, OperandReader& operands, Draft& ins) {
  const WarpgroupProduct& p = known_product(s);
  const std::vector<std::string>& d = s.operands[0].list;
  const Operand &a = s.operands[1], &adds = s.operands[predicate_of(s)];
  require_registers(d, p.d_registers(), operands, "D");
  // ptxas takes a whole number, too.
  const auto number = parse_literal(adds.text);
  if (!operands.is_predicate(adds.text) && !(number && number->is_integer()))
    throw Error("'" + adds.text + "' is no predicate");
  ins.read.push_back(operands.predicate(adds.text));
  if (adds.negated) ins.invert_last();
  if (p.a_in_registers) {
    require_registers(a.list, p.a_registers(), operands, "A");
    for (const std::string& name : a.list)
      ins.read.push_back(operands.source(named(name), 4));
  } else {
    ins.read.push_back(descriptor(a, operands));
  }
  ins.read.push_back(descriptor(s.operands[2], operands));
  if (p.sparsity) ins.read.push_back(operands.source(s.operands[3], 4));
  for (const std::string& name : d) {
    ins.read.push_back(operands.source(named(name), 4));
    ins.written.push_back(operands.destination(named(name)));
  }
  ins.product = &p;
  ins.element_bytes = 16;  // That it reads at once, for messages.
  ins.run = multiply_in_warpgroup;
}

// How many registers a thread has changes nothing here.
void decode_register_count(const Statement& s, Draft& ins) {
  const int64_t count = number_in(s, 0);
  if (count < 24 || count > 256 || count % 8)
    throw Error("a thread has 24 to 256 registers, in steps of 8, and not " +
                std::to_string(count));
  ins.run = require_all_lanes;
}

}  // namespace

bool decode_warpgroup(const Statement& s, OperandReader& operands, Draft& ins) {
  if (s.name() == "setmaxnreg") {
    decode_register_count(s, ins);
  } else if (s.name() != "wgmma") {
    return false;
  } else if (s.has("fence")) {
    ins.run = fence;
  } else if (s.has("commit_group")) {
    ins.run = close_group;
  } else if (s.has("wait_group")) {
    ins.read = {operands.source(s.operands.at(0), 4)};
    ins.run = wait_for_groups;
  } else {
    decode_product(s, operands, ins);
  }
  ins.kind = Kind::kMatrix;
  ins.read.push_back(operands.source(named("-1"), 4));
  return true;
}

}  // namespace simt
