// Undefined values that lanes hand over to one another: shuffles, votes and
// their kin.
#include <algorithm>

#include "common/simt/core/lanes.h"
#include "common/simt/observe/tainted.h"
#include "common/simt/observe/tried.h"
#include "common/simt/observe/values.h"

namespace simt {

void Values::publish(Warp& warp, const Instruction& ins, uint32_t mask) {
  WarpValues& values = values_of(warp);
  const UndefinedRegisters& registers = registers_of(warp);
  Undefined& out = values.exchanged;
  out.lanes &= ~mask;
  values.unsure &= ~mask;
  // The first is handed over, the last says who takes part; what lies between
  // says how.
  const auto sources = ins.sources();
  if (sources.size() == 1) return;
  if (const Undefined* value = registers.find(sources.front())) {
    for (uint32_t rest = value->lanes & mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      out.bits[l] = 0;
      out.add(l, value->bits[l], value->origin[l]);
    }
  }
  for (Place p : sources.subspan(1, sources.size() - 2)) {
    const Undefined* value = registers.find(p);
    if (!value || !(value->lanes & mask)) continue;
    values.unsure |= value->lanes & mask;
    values.why = value->origin[first_lane(value->lanes & mask)].computed();
  }
}

void Values::collective(Warp& warp, const Instruction& ins, uint32_t mask) {
  std::vector<Undefined> results = results_of(ins);
  const WarpValues& values = values_of(warp);
  const uint32_t undefined = values.exchanged.lanes & warp.exchange.members;
  const std::string& op = ins.statement->name();
  if (op == "shfl")
    shuffle(warp, ins, mask, results);
  else if (undefined && op == "vote" && !ins.statement->has("uni"))
    vote(warp, ins, mask, results);
  else if (undefined)
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      for (Undefined& result : results)
        result.add(first_lane(rest), kAllBits,
                   values.exchanged.origin[first_lane(undefined)].computed());
  write_results(warp, mask, results);
  settle(warp);
}

// More votes never take one away: it is enough to try all and none.
void Values::vote(Warp& warp, const Instruction& ins, uint32_t mask,
                  std::vector<Undefined>& results) {
  const Undefined& in = values_of(warp).exchanged;
  const uint32_t undefined = in.lanes & warp.exchange.members;
  const uint32_t votes = warp.exchange.predicate;
  Snapshot before(warp);
  for (const Undefined& result : results)
    before.add(result.place, result.width);
  Changes changes(warp, results);
  for (const uint32_t tried : {votes & ~undefined, votes | undefined}) {
    warp.exchange.predicate = tried;
    ins.run(warp, ins, mask);
    changes.note(mask, [&](int, const Undefined&, uint64_t) {
      return in.origin[first_lane(undefined)].computed();
    });
  }
  warp.exchange.predicate = votes;
  before.restore();
}

namespace {

// Of what `lane` gets from one that takes no part.
Origin of_absent(const Warp& warp, const Instruction& ins, int lane,
                 uint32_t from) {
  Origin origin;
  origin.absent = !(warp.threads >> from & 1) ? Absent::kNoThread
                  : !(warp.live >> from & 1)  ? Absent::kExited
                                              : Absent::kLeftOut;
  origin.address = from;
  origin.site = ins.site;
  origin.thread = static_cast<uint16_t>(warp.index * kLanes + lane);
  return origin;
}

}  // namespace

// Lanes hand over their numbers once: who gets whose value?
void Values::shuffle(Warp& warp, const Instruction& ins, uint32_t mask,
                     std::vector<Undefined>& results) {
  const WarpValues& values = values_of(warp);
  const Undefined& in = values.exchanged;
  Snapshot before(warp);
  for (const Undefined& result : results)
    before.add(result.place, result.width);
  uint64_t handed[kLanes];
  std::copy_n(warp.exchange.a, kLanes, handed);
  for (int l = 0; l < kLanes; ++l) warp.exchange.a[l] = l;
  ins.run(warp, ins, mask);
  std::copy_n(handed, kLanes, warp.exchange.a);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const uint32_t from = lanes<uint32_t>(warp, ins.result(0))[l];
    for (Undefined& result : results) {
      if (values.unsure >> l & 1)
        result.add(l, kAllBits, values.why);
      else if (result.place != ins.result(0))
        continue;
      else if (!(warp.exchange.members >> from & 1))
        result.add(l, kAllBits, of_absent(warp, ins, l, from));
      else if (in.lanes >> from & 1)
        result.add(l, in.bits[from], in.origin[from]);
    }
  }
  before.restore();
}

}  // namespace simt
