// Follows undefined values from register to register, and sees which
// instructions only hand them on.
#include "common/simt/observe/values.h"

#include <set>

#include "common/simt/core/lanes.h"
#include "common/simt/observe/tainted.h"
#include "common/simt/observe/written_memory.h"

namespace simt {

void Values::start(Block& block) {
  for (Warp* warp : block.warps) {
    WarpValues& values = values_of(*warp);
    values.start();
    values.grow(warp->stacks.size());
    warp->tainted = false;
  }
}

void Values::follow(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (!values_of(warp).calls.contains(warp.registers)) return;
  uint32_t unsure = 0;
  if (ins.guard != kNowhere) {
    unsure = registers_of(warp).lanes(ins.guard) & mask;
    mask &= read_guard(warp, ins);
  }
  if (unsure && !ins.pure)
    use(warp, ins, ins.guard, unsure,
        ins.kind == Kind::kBranch ? "It decides the branch"
                                  : "It decides what is executed");
  follow_operands(warp, ins, mask, ins.pure ? unsure : 0);
  settle(warp);
}

// Of lanes of `unsure` nobody knows whether they carry it out.
void Values::follow_operands(Warp& warp, const Instruction& ins, uint32_t mask,
                             uint32_t unsure) {
  switch (ins.kind) {
    case Kind::kTable:
      use(warp, ins, ins.source(0), mask, "It decides the branch");
      break;
    case Kind::kIndirect:
      use(warp, ins, ins.source(0), mask,
          "It decides which function is called");
      break;
    case Kind::kBarrier:
    case Kind::kArrive:
      for (Place p : ins.sources())
        use(warp, ins, p, mask, "It is an operand of the barrier");
      define_results(warp, ins, mask);
      break;
    case Kind::kCollective:
      use(warp, ins, ins.sources().back(), mask,
          "It says which lanes take part");
      break;
    case Kind::kMatrix:
      follow_matrix(warp, ins, mask);
      break;
    case Kind::kPlain:
    case Kind::kPoll:
      if (ins.spread == Spread::kAccess || ins.spread == Spread::kExchange)
        for (const Address& a : ins.addresses())
          use(warp, ins, a.base, mask, "It is an address");
      else if (!ins.call)
        compute(warp, ins, mask, unsure);
      break;
    default:
      break;
  }
}

void Values::follow_matrix(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (const Address& a : ins.addresses()) {
    use(warp, ins, a.base, mask, "It is an address");
    // Loaded in parts; how far rows are apart is all that a load reads.
    if (ins.result_count == 0) continue;
    use(warp, ins, ins.source(0), mask, "It says how far apart the rows are");
    define_results(warp, ins, mask);
  }
}

const Undefined* Values::undefined(const Warp& warp, Place place) const {
  return registers_of(warp).find(place);
}

std::optional<Origin> Values::unwritten(const Warp& warp,
                                        const Instruction& ins,
                                        uint64_t address,
                                        uint32_t bytes) const {
  const auto memory = shared_memory(*warp.block->checks);
  if (memory.is_written(address, bytes)) return std::nullopt;
  const uint64_t missing = memory.first_missing(address);
  if (const Copied* copied = memory.copied(missing)) return copied->origin;
  return Origin{missing, ins.site, static_cast<uint16_t>(warp.index * kLanes),
                0,       false,    Space::kShared};
}

void Values::replace(Warp& warp, const std::vector<Undefined>& results) {
  write_results(warp, kAllLanes, results);
  settle(warp);
}

// ---- Products that go on beside their warps --------------------------------

void Values::fly(Warp& warp, const AsyncProduct& product) {
  auto& in_flight = values_of(warp).in_flight;
  const auto at = [&](int r) {
    return warp.registers + product.ins->result(r);
  };
  const int count = product.ins->result_count;
  std::set<uint64_t> added;  // Results that are in the new one.
  for (int r = 0; product.accumulates && r < count; ++r)
    if (const auto one = in_flight.find(at(r)); one != in_flight.end())
      added.insert(one->second.product);
  std::erase_if(in_flight, [&](const auto& one) {
    return added.contains(one.second.product);
  });
  for (int r = 0; r < count; ++r)
    in_flight[at(r)] = {product.number, product.group, r, product.ins};
  warp.tainted = true;
}

void Values::land(Warp& warp, uint32_t groups) {
  std::erase_if(values_of(warp).in_flight,
                [&](const auto& one) { return one.second.group < groups; });
  settle(warp);
}

}  // namespace simt
