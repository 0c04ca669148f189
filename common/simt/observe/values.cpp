// Follows undefined values, and tells where one decides something.
#include "common/simt/observe/values.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "common/simt/core/lanes.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/block_checks.h"
#include "common/simt/observe/known_kernels.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

constexpr char kKind[] = "uninitialised read";
constexpr uint64_t kAllBits = ~0ull;

WarpValues& values_of(const Warp& warp) {
  return warp.block->checks->values[warp.index];
}
UndefinedRegisters& registers_of(const Warp& warp) {
  return values_of(warp).calls[warp.registers];
}

// Notes whether there is still something undefined in the warp.
void settle(Warp& warp) {
  WarpValues& values = values_of(warp);
  std::erase_if(values.calls, [](const auto& c) { return c.second.empty(); });
  warp.tainted = !values.calls.empty() || !values.in_flight.empty();
  if (values.calls.empty()) values.exchanged.lanes = values.unsure = 0;
}

void set_undefined(Undefined& value, int lane, uint64_t bits,
                   const Origin& origin) {
  if (!bits) return;
  if (!(value.lanes >> lane & 1)) value.origin[lane] = origin;
  value.lanes |= 1u << lane;
  value.bits[lane] |= bits;
}

// The same of a value that has been computed with.
Origin computed(Origin origin) {
  origin.moved = 0;
  origin.beside = false;
  return origin;
}

// ---- Registers as bytes -----------------------------------------------------

size_t register_bytes(int width) { return width ? size_t(width) * kLanes : 4; }

// Makes all that is undefined zeros, or ones.
void fill_undefined(uint8_t* at, const Undefined& u, bool ones) {
  if (u.width == 0) {
    uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    bits = ones ? bits | u.lanes : bits & ~u.lanes;
    std::memcpy(at, &bits, sizeof bits);
    return;
  }
  for (uint32_t rest = u.lanes; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    for (int k = 0; k < u.width; ++k) {
      const auto bits = static_cast<uint8_t>(u.bits[l] >> 8 * (k % 8));
      uint8_t& byte = at[l * u.width + k];
      byte = ones ? byte | bits : byte & ~bits;
    }
  }
}

// The bits of a lane in which two such registers differ.
uint64_t difference(const uint8_t* x, const uint8_t* y, int width, int lane) {
  if (width == 0) return (x[lane / 8] ^ y[lane / 8]) >> lane % 8 & 1;
  uint64_t differ = 0;
  for (int k = 0; k < width; ++k)
    differ |= uint64_t(x[lane * width + k] ^ y[lane * width + k])
              << 8 * (k % 8);
  return differ;
}

// Registers as they are, to be put back.
class Snapshot {
 public:
  explicit Snapshot(Warp& warp) : warp_(warp) {}
  void add(Place place, int width) {
    const uint8_t* from = lanes<uint8_t>(warp_, place);
    saved_.push_back({place, {from, from + register_bytes(width)}});
  }
  void restore() const {
    for (const auto& [place, bytes] : saved_)
      std::copy(bytes.begin(), bytes.end(), lanes<uint8_t>(warp_, place));
  }

 private:
  Warp& warp_;
  std::vector<std::pair<Place, std::vector<uint8_t>>> saved_;
};

bool of_whole_bytes(uint64_t bits) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  return bits == (bits & kOnes) * 255;
}

// Does it give other bits of the word a value, and leave these? So bit-fields
// are set. An `or` alone sets flags, too, of which all should have a value.
bool inserts(const Instruction& ins) {
  return ins.statement->name() == "and" || ins.statement->name() == "bfi";
}
bool leaves(const Instruction& ins) {
  return inserts(ins) || ins.spread == Spread::kMoved ||
         ins.statement->name() == "or" || ins.statement->name() == "cvt";
}

// The origin of undefined bits that an instruction has made of a lane of `from`
// without computing with them.
Origin passed_on(const Undefined& from, int lane, const Instruction& ins,
                 const Undefined& result, uint64_t bits) {
  const Spread spread = ins.spread;
  Origin origin = from.origin[lane];
  origin.beside =
      leaves(ins) && (origin.beside || (origin.moved && inserts(ins)));
  if (spread == Spread::kMoved)
    origin.moved = origin.moved >= from.width
                       ? result.width
                       : std::min(origin.moved, result.width);
  else if (spread == Spread::kBytes && of_whole_bytes(bits))
    origin.moved = std::min<uint8_t>(origin.moved, 1);
  else
    origin.moved = 0;
  return origin;
}

// Which bits of the results of `run` change from one time to the next.
class Changes {
 public:
  Changes(Warp& warp, std::vector<Undefined>& results)
      : warp_(warp), results_(results) {}
  // `origin` of a lane: where such a bit comes from.
  template <class F>
  void note(uint32_t mask, F origin) {
    for (size_t k = 0; k < results_.size(); ++k) {
      Undefined& result = results_[k];
      const uint8_t* now = lanes<uint8_t>(warp_, result.place);
      if (first_.size() == k)
        first_.push_back({now, now + register_bytes(result.width)});
      for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = first_lane(rest);
        const uint64_t bits =
            difference(first_[k].data(), now, result.width, l);
        if (bits) set_undefined(result, l, bits, origin(l, result, bits));
      }
    }
  }

 private:
  Warp& warp_;
  std::vector<Undefined>& results_;
  std::vector<std::vector<uint8_t>> first_;
};

// f(place) for each register that the instruction computes with.
template <class F>
void each_source(const Instruction& ins, F f) {
  for (Place p : ins.sources())
    if (p != kNowhere) f(p);
  if (ins.takes_carry) f(UndefinedRegisters::kCarry);
}

// The same for each that it writes.
template <class F>
void each_result(const Instruction& ins, F f) {
  for (Place p : ins.results())
    if (p != kNowhere) f(p);
  if (ins.gives_carry) f(UndefinedRegisters::kCarry);
}

}  // namespace

void Values::start(Block& block) {
  for (Warp* warp : block.warps) {
    WarpValues& values = values_of(*warp);
    values.start();
    values.grow(warp->stacks.size());
    warp->tainted = false;
  }
}

// ---- What an instruction makes of them -------------------------------------

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
                                  : "It decides what is done");
  switch (ins.kind) {
    case Kind::kTable:
      use(warp, ins, ins.source(0), mask, "It decides the branch");
      break;
    case Kind::kIndirect:
      use(warp, ins, ins.source(0), mask, "It decides what is called");
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
      for (const Address& a : ins.addresses()) {
        use(warp, ins, a.base, mask, "It is an address");
        // Loaded in parts; how far rows are apart is all that a load reads.
        if (ins.result_count == 0) continue;
        use(warp, ins, ins.source(0), mask, "It says how far rows are apart");
        define_results(warp, ins, mask);
      }
      break;
    case Kind::kPlain:
    case Kind::kPoll:
      if (ins.spread == Spread::kAccess || ins.spread == Spread::kExchange)
        for (const Address& a : ins.addresses())
          use(warp, ins, a.base, mask, "It is an address");
      else if (!ins.call)
        compute(warp, ins, mask, ins.pure ? unsure : 0);
      break;
    default:
      break;
  }
  settle(warp);
}

const Undefined* Values::undefined(const Warp& warp, Place place) const {
  return registers_of(warp).find(place);
}

std::optional<Origin> Values::unwritten(const Warp& warp,
                                        const Instruction& ins,
                                        uint64_t address,
                                        uint32_t bytes) const {
  const BlockChecks& checks = *warp.block->checks;
  if (checks.written.contains(address, address + bytes)) return std::nullopt;
  while (checks.written.contains(address)) ++address;
  const auto copied = checks.copies.find(address);
  if (copied != checks.copies.end()) return copied->second.origin;
  return Origin{address, ins.site, static_cast<uint16_t>(warp.index * kLanes),
                0,       false,    Space::kShared};
}

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

void Values::replace(Warp& warp, const std::vector<Undefined>& results) {
  write_results(warp, kAllLanes, results);
  settle(warp);
}

void Values::compute(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t unsure) {
  const UndefinedRegisters& registers = registers_of(warp);
  uint32_t undefined = unsure;
  each_source(ins, [&](Place p) { undefined |= registers.lanes(p) & mask; });
  if (!undefined) return define_results(warp, ins, mask);
  std::vector<Undefined> results = results_of(ins);
  const bool bitwise = ins.spread == Spread::kBits ||
                       ins.spread == Spread::kBytes ||
                       ins.spread == Spread::kMoved;
  if (!bitwise)
    as_a_whole(warp, ins, mask, results);
  else if (mask)
    bit_by_bit(warp, ins, mask, results);
  if (const Undefined* guard = registers.find(ins.guard))
    for (uint32_t rest = unsure; rest; rest &= rest - 1)
      for (Undefined& result : results)
        set_undefined(result, first_lane(rest), kAllBits,
                      computed(guard->origin[first_lane(rest)]));
  write_results(warp, mask | unsure, results);
}

void Values::as_a_whole(Warp& warp, const Instruction& ins, uint32_t mask,
                        std::vector<Undefined>& results) {
  const UndefinedRegisters& registers = registers_of(warp);
  if (ins.spread == Spread::kAnd || ins.spread == Spread::kOr) {
    const uint32_t c = read_predicate(warp, ins, 2);
    mask &=
        registers.lanes(ins.source(2)) | (ins.spread == Spread::kAnd ? c : ~c);
  }
  constexpr uint64_t kLow = 0xffff, kHigh = kLow << 16;
  each_source(ins, [&](Place p) {
    const Undefined* source = registers.find(p);
    if (!source) return;
    for (uint32_t rest = source->lanes & mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const uint64_t bits = source->bits[l];
      const uint64_t spread =
          ins.spread != Spread::kPairs
              ? kAllBits
              : (bits & kLow ? kLow : 0) | (bits & kHigh ? kHigh : 0);
      for (Undefined& result : results)
        set_undefined(result, l, spread, computed(source->origin[l]));
    }
  });
}

// Tries what comes out if the undefined bits are zeros, and if they are ones:
// what then differs is undefined. The instruction itself says how it works.
void Values::bit_by_bit(Warp& warp, const Instruction& ins, uint32_t mask,
                        std::vector<Undefined>& results) {
  const UndefinedRegisters& registers = registers_of(warp);
  std::vector<const Undefined*> tried;
  Snapshot before(warp);
  int operand = 0;
  each_source(ins, [&](Place p) {
    const bool chooses = operand++ >= ins.spread_operands;
    const Undefined* u = registers.find(p);
    if (!u || !(u->lanes & mask)) return;
    for (uint32_t rest = chooses ? u->lanes & mask : 0; rest; rest &= rest - 1)
      for (Undefined& result : results)
        set_undefined(result, first_lane(rest), kAllBits,
                      computed(u->origin[first_lane(rest)]));
    if (chooses || std::count(tried.begin(), tried.end(), u)) return;
    tried.push_back(u);
    before.add(u->place, u->width);
  });
  if (tried.empty()) return;
  for (const Undefined& result : results)
    before.add(result.place, result.width);
  Changes changes(warp, results);
  for (uint32_t ones = 0; ones < 1u << tried.size(); ++ones) {
    for (size_t k = 0; k < tried.size(); ++k)
      fill_undefined(lanes<uint8_t>(warp, tried[k]->place), *tried[k],
                     ones >> k & 1);
    ins.run(warp, ins, mask);
    changes.note(mask, [&](int lane, const Undefined& result, uint64_t bits) {
      const Undefined& u = **std::find_if(
          tried.begin(), tried.end(),
          [&](const Undefined* one) { return one->lanes >> lane & 1; });
      return passed_on(u, lane, ins, result, bits);
    });
    before.restore();
  }
}

std::vector<Undefined> Values::results_of(const Instruction& ins) const {
  std::vector<Undefined> results;
  each_result(ins, [&](Place p) {
    results.emplace_back().place = p;
    results.back().width = width(ins, p);
  });
  return results;
}

void Values::define_results(Warp& warp, const Instruction& ins, uint32_t mask) {
  UndefinedRegisters& registers = registers_of(warp);
  each_result(ins, [&](Place p) { registers.define(p, mask); });
  settle(warp);
}

void Values::write_results(Warp& warp, uint32_t mask,
                           const std::vector<Undefined>& results) {
  UndefinedRegisters& registers = registers_of(warp);
  for (const Undefined& result : results) {
    registers.define(result.place, mask);
    registers.set(result);
  }
}

uint8_t Values::width(const Instruction& ins, Place place) const {
  const auto& widths = grid_.program.function_of(ins).widths;
  const auto known = widths.find(place);
  return known == widths.end() ? 0 : known->second;
}

// ---- Collectives -----------------------------------------------------------

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
      set_undefined(out, l, value->bits[l], value->origin[l]);
    }
  }
  for (Place p : sources.subspan(1, sources.size() - 2)) {
    const Undefined* value = registers.find(p);
    if (!value || !(value->lanes & mask)) continue;
    values.unsure |= value->lanes & mask;
    values.why = computed(value->origin[first_lane(value->lanes & mask)]);
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
        set_undefined(result, first_lane(rest), kAllBits,
                      computed(values.exchanged.origin[first_lane(undefined)]));
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
      return computed(in.origin[first_lane(undefined)]);
    });
  }
  warp.exchange.predicate = votes;
  before.restore();
}

namespace {

Origin no_thread(const Warp& warp, const Instruction& ins, int lane,
                 uint32_t from) {
  Origin origin;
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
        set_undefined(result, l, kAllBits, values.why);
      else if (result.place != ins.result(0))
        continue;
      else if (in.lanes >> from & 1)
        set_undefined(result, l, in.bits[from], in.origin[from]);
      else if (!(warp.threads >> from & 1))
        set_undefined(result, l, kAllBits, no_thread(warp, ins, l, from));
    }
  }
  before.restore();
}

// ---- Memory -----------------------------------------------------------------

// Memory of the host, and constants: all of it is written.
struct HostBytes {
  bool contains(uint64_t, uint64_t) const { return true; }
  void insert(uint64_t, uint64_t) {}
  void erase(uint64_t, uint64_t) {}
};

// What is known of the bytes of a memory.
template <class Set>
struct Values::Memory {
  Set& written;
  uint64_t origin;  // `written` holds bytes by their distance from here
  Copies* copies;   // null: a copy of an undefined value is an error there

  // Lanes that want a byte which nobody has written.
  uint32_t missing(const Access& a) const {
    uint32_t lanes = 0;
    a.each_span([&](const Access::Span& s) {
      if (!is_written(s.begin, s.end - s.begin))
        for (int l = s.first; l < s.first + s.lanes; ++l)
          lanes |= uint32_t{!is_written(a.address[l], a.bytes)} << l;
    });
    return lanes & a.mask;
  }
  bool is_written(uint64_t address, uint32_t bytes) const {
    return written.contains(address - origin, address - origin + bytes);
  }
  bool any_written(uint64_t begin, uint64_t end) const {
    while (begin < end && !is_written(begin, 1)) ++begin;
    return begin < end;
  }
  void write(uint64_t address, uint32_t bytes) const {
    written.insert(address - origin, address - origin + bytes);
  }
  void unwrite(uint64_t address) const {
    written.erase(address - origin, address - origin + 1);
  }
  const Copied* copied(uint64_t address) const {
    if (!copies) return nullptr;
    const auto known = copies->find(address);
    return known == copies->end() ? nullptr : &known->second;
  }
};

void Values::access(Warp& warp, const Instruction& ins, const Access& a) {
  Allocations& all = allocations();
  if (a.space == Space::kShared) {
    BlockChecks& checks = *(a.owner ? a.owner : warp.block)->checks;
    access(warp, ins, a, Memory<ByteSet>{checks.written, 0, &checks.copies});
  } else if (a.space == Space::kGlobal &&
             all.in_arena(a.address[first_lane(a.mask)])) {
    access(warp, ins, a,
           Memory<WrittenBytes>{all.written(), all.arena_begin(), nullptr});
  } else if (!warp.stacks.empty() && a.base == warp.stack(0, 0)) {
    WarpValues& values = values_of(warp);
    access(warp, ins, a,
           Memory<ByteSet>{values.stack, 0, &values.stack_copies});
  } else {
    HostBytes all_written;
    access(warp, ins, a, Memory<HostBytes>{all_written, 0, nullptr});
  }
}

template <class Set>
void Values::access(Warp& warp, const Instruction& ins, const Access& a,
                    const Memory<Set>& memory) {
  if (a.dense && !warp.tainted) {
    const uint32_t bytes = a.bytes * kLanes;
    if (a.use == Use::kStore) return memory.write(a.address[0], bytes);
    if (memory.is_written(a.address[0], bytes)) return;
  }
  if (a.use == Use::kLoad)
    load(warp, ins, a, memory);
  else if (a.use == Use::kStore)
    store(warp, ins, a, memory);
  else
    atomic(warp, ins, a, memory);
}

template <class Set>
void Values::load(Warp& warp, const Instruction& ins, const Access& a,
                  const Memory<Set>& memory) {
  const uint32_t missing = memory.missing(a);
  if (a.matrix) return load_matrix(warp, ins, a, missing, memory);
  if (warp.tainted) define_results(warp, ins, a.mask);
  if (missing) taint(warp, ins, a, missing, memory);
}

// Lanes of `mask` load bytes that nobody has written, all or some of them.
template <class Set>
void Values::taint(Warp& warp, const Instruction& ins, const Access& a,
                   uint32_t mask, const Memory<Set>& memory) {
  for (int k = 0; k < ins.result_count; ++k) {
    Undefined value;
    value.place = ins.result(k);
    if (value.place == kNowhere) continue;
    value.width = width(ins, value.place);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      taint_lane(warp, ins, a, first_lane(rest), k, memory, value);
    registers_of(warp).set(value);
  }
  settle(warp);
}

namespace {

// In a warp's stacks 16 bytes of a lane lie side by side, then the next lane's.
constexpr uint64_t kRow = 16, kRows = kRow * kLanes;

bool is_in_stacks(const Warp& warp, const Access& a) {
  return a.base == warp.stacks.data();
}

// Where an undefined byte of memory was, or a copy of it, was first.
Origin unwritten_at(const Warp& warp, const Instruction& ins, const Access& a,
                    int lane, uint64_t address) {
  Origin origin{
      address, ins.site, static_cast<uint16_t>(warp.index * kLanes + lane),
      0,       false,    a.space};
  if (is_in_stacks(warp, a))
    origin.address = address / kRows * kRow + address % kRow;
  return origin;
}

// A byte so far from where a lane accesses, if that memory has it.
std::optional<uint64_t> byte_beside(const Warp& warp, const Access& a, int lane,
                                    int64_t distance) {
  const uint64_t address = a.address[lane];
  if (is_in_stacks(warp, a)) {
    const uint64_t offset = address / kRows * kRow + address % kRow + distance;
    const uint64_t at = Warp::stack_offset(lane, offset);
    return offset < warp.stacks.size() / kLanes ? std::optional(at)
                                                : std::nullopt;
  }
  const BlockChecks& checks = *(a.owner ? a.owner : warp.block)->checks;
  const uint64_t at = address + distance;
  const bool exists = a.space == Space::kShared
                          ? at / 64 < checks.written_bits.size()
                          : allocations().in_arena(at);
  return exists ? std::optional(at) : std::nullopt;
}

}  // namespace

// Has somebody written other bytes of the word? One byte may be any in a word,
// and padding leads to a multiple of 16 at most.
template <class Set>
bool Values::is_padding(const Instruction& ins, uint64_t begin,
                        const Memory<Set>& memory) const {
  constexpr uint64_t kWord = 16;
  if (ins.element_bytes == 1)
    return memory.any_written(begin / kWord * kWord,
                              begin / kWord * kWord + kWord);
  return memory.any_written(begin, begin + ins.element_bytes);
}

// The same of all that is loaded with it.
template <class Set>
bool Values::is_part(const Warp& warp, const Instruction& ins, const Access& a,
                     int lane, const Memory<Set>& memory) {
  const Objects::Part object = objects_.around(ins);
  for (int64_t at = object.begin; at < object.end; ++at)
    if (const auto byte = byte_beside(warp, a, lane, at))
      if (memory.is_written(*byte, 1)) return true;
  return false;
}

// One element of a lane.
template <class Set>
void Values::taint_lane(Warp& warp, const Instruction& ins, const Access& a,
                        int lane, int element, const Memory<Set>& memory,
                        Undefined& value) {
  const uint64_t begin =
      a.address[lane] + uint64_t(element) * ins.element_bytes;
  uint64_t bits = 0;
  Origin origin;
  for (int k = ins.element_bytes; k-- > 0;) {
    const uint64_t address = begin + k;
    if (memory.is_written(address, 1)) continue;
    const Copied* copied = memory.copied(address);
    bits |= uint64_t{copied ? copied->bits : uint8_t{255}} << 8 * (k % 8);
    origin =
        copied ? copied->origin : unwritten_at(warp, ins, a, lane, address);
    if (!copied || origin.moved) origin.moved = ins.element_bytes;
  }
  origin.padding |= is_padding(ins, begin, memory);
  origin.part |= is_part(warp, ins, a, lane, memory);
  if (const int top = 8 * ins.element_bytes - 1;
      ins.statement->type().is_signed() && bits >> top & 1)
    bits |= kAllBits << top;
  set_undefined(value, lane, bits, origin);
}

// The registers of a matrix are defined when its load begins: they are loaded
// in parts.
template <class Set>
void Values::load_matrix(Warp& warp, const Instruction& ins, const Access& a,
                         uint32_t missing, const Memory<Set>& memory) {
  if (!missing) return;
  std::vector<Undefined> values(ins.result_count);
  for (int k = 0; k < ins.result_count; ++k) {
    if (const Undefined* known = registers_of(warp).find(ins.result(k)))
      values[k] = *known;
    values[k].place = ins.result(k);
    values[k].width = width(ins, ins.result(k));
  }
  for (const Piece& p : a.matrix->pieces) {
    if (!(missing >> p.from & 1)) continue;
    for (int k = 0; k < p.bytes; ++k) {
      const uint64_t address = a.address[p.from] + p.offset + k;
      if (memory.is_written(address, 1)) continue;
      const Copied* copied = memory.copied(address);
      const uint64_t bits = copied ? copied->bits : 255;
      set_undefined(values[p.value], p.lane, bits << (p.shift + 8 * k),
                    copied ? copied->origin
                           : unwritten_at(warp, ins, a, p.from, address));
    }
  }
  for (const Undefined& value : values) registers_of(warp).set(value);
  settle(warp);
}

template <class Set>
void Values::store_matrix(Warp& warp, const Instruction& ins, const Access& a,
                          const Memory<Set>& memory) {
  for (uint32_t rest = a.mask; rest; rest &= rest - 1)
    memory.write(a.address[first_lane(rest)], a.bytes);
  if (!warp.tainted) return;
  for (const Piece& p : a.matrix->pieces) {
    const Place place = ins.source(p.value);
    const Undefined* value = registers_of(warp).find(place);
    const uint64_t all = value ? value->bits_of(p.lane) >> p.shift : 0;
    const uint64_t bits = all & kAllBits >> (64 - 8 * p.bytes);
    if (!bits || !(a.mask >> p.from & 1)) continue;
    if (!memory.copies) {
      use(warp, ins, place, 1u << p.lane, "It is stored");
      continue;
    }
    for (int k = 0; k < p.bytes; ++k) {
      const auto byte = static_cast<uint8_t>(bits >> 8 * k);
      if (!byte) continue;
      const uint64_t address = a.address[p.from] + p.offset + k;
      memory.unwrite(address);
      (*memory.copies)[address] = {value->origin[p.lane], byte};
    }
  }
  settle(warp);
}

template <class Set>
void Values::store(Warp& warp, const Instruction& ins, const Access& a,
                   const Memory<Set>& memory) {
  if (a.matrix) return store_matrix(warp, ins, a, memory);
  uint32_t undefined = 0;
  if (warp.tainted)
    for (Place p : ins.sources()) undefined |= registers_of(warp).lanes(p);
  a.each_span(a.mask & ~undefined, [&](const Access::Span& s) {
    memory.write(s.begin, s.end - s.begin);
  });
  if (!undefined) return;
  for (uint32_t rest = a.mask & undefined; rest; rest &= rest - 1)
    store_undefined(warp, ins, a, first_lane(rest), memory);
  settle(warp);
}

// A copy of what nobody has written is no more written than that.
template <class Set>
void Values::store_undefined(Warp& warp, const Instruction& ins,
                             const Access& a, int lane,
                             const Memory<Set>& memory) {
  if (grid_.undo && !memory.copies) grid_.undo->give_up();
  const bool stays = !memory.copies && stays_there(warp, ins, a, lane, memory);
  if (!memory.copies && !stays && !may_copy(warp, ins, lane))
    for (Place p : ins.sources()) use(warp, ins, p, 1u << lane, "It is stored");
  for (int k = 0; k < ins.source_count; ++k) {
    const Undefined* value = registers_of(warp).find(ins.source(k));
    const uint64_t undefined = value ? value->bits_of(lane) : 0;
    for (int j = 0; j < ins.element_bytes; ++j) {
      const uint64_t address = a.address[lane] + k * ins.element_bytes + j;
      const auto bits = static_cast<uint8_t>(undefined >> 8 * (j % 8));
      if (!bits || (stays && bits != 255))
        memory.write(address, 1);
      else if (memory.copies || grid_.threads == 1)
        memory.unwrite(address);
      if (bits && memory.copies)
        (*memory.copies)[address] = {value->origin[lane], bits};
    }
  }
}

// Bit-fields of a struct are set one after the other: what is not set yet goes
// back to where it came from. Of a byte no more is known than whether it has
// been written: one of which some bits are set counts as such.
template <class Set>
bool Values::stays_there(Warp& warp, const Instruction& ins, const Access& a,
                         int lane, const Memory<Set>& memory) const {
  for (int k = 0; k < ins.source_count; ++k) {
    const Undefined* value = registers_of(warp).find(ins.source(k));
    const uint64_t bits = value ? value->bits_of(lane) : 0;
    if (!bits) continue;
    const uint64_t at = a.address[lane] + k * ins.element_bytes;
    const Origin& origin = value->origin[lane];
    if (!origin.beside || origin.space != Space::kGlobal ||
        origin.address < at || origin.address >= at + ins.element_bytes)
      return false;
    for (int j = 0; j < ins.element_bytes; ++j)
      if (static_cast<uint8_t>(bits >> 8 * (j % 8)) &&
          memory.is_written(at + j, 1))
        return false;
  }
  return true;
}

// Whether a lane may store this in global memory, although some of it is
// undefined: nvcc copies the padding of a struct with it, and programs the part
// of a vector that they never use. It must be as it was loaded, and either lie
// beside what was written, or be stored beside what is defined.
bool Values::may_copy(Warp& warp, const Instruction& ins, int lane) {
  const uint64_t whole =
      kAllBits >> (64 - 8 * std::min<int>(ins.element_bytes, 8));
  const bool parts = objects_.around(ins).bytes() > ins.element_bytes;
  bool all_padding = true, all_moved = true, some_defined = false;
  for (Place p : ins.sources()) {
    const Undefined* value = registers_of(warp).find(p);
    const uint64_t bits = value ? value->bits_of(lane) & whole : 0;
    some_defined |= bits != whole;
    if (!bits) continue;
    const Origin& origin = value->origin[lane];
    all_padding &= origin.moved && (origin.padding || (origin.part && parts));
    all_moved &= origin.moved >= ins.element_bytes;
  }
  return all_padding || (all_moved && some_defined);
}

template <class Set>
void Values::atomic(Warp& warp, const Instruction& ins, const Access& a,
                    const Memory<Set>& memory) {
  if (warp.tainted) {
    for (Place p : ins.sources())
      use(warp, ins, p, a.mask, "An atomic takes it");
    define_results(warp, ins, a.mask);
  }
  for (uint32_t rest = memory.missing(a); rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t address = a.address[lane];
    if (memory.is_written(address, a.bytes)) continue;  // By a lane before it.
    if (ins.spread == Spread::kExchange)
      taint(warp, ins, a, rest & -rest, memory);
    else
      tell_unwritten(warp, ins, lane, a.space, address, verb(a.use), a.bytes,
                     "");
    memory.write(address, a.bytes);
  }
}

// From shared to global memory, where what nobody has written is an error.
void Values::store_bulk(const AsyncCopy& copy, int lane) {
  copy.each_move(lane, [&](uint64_t from, uint64_t to, uint32_t bytes) {
    store_bulk(copy, lane, from, to, bytes);
  });
}

void Values::store_bulk(const AsyncCopy& copy, int lane, uint64_t from,
                        uint64_t to, uint32_t bytes) {
  Allocations& all = allocations();
  BlockChecks& checks = *copy.warp->block->checks;
  const bool reads_both = copy.reduction && all.in_arena(to);
  const Memory<WrittenBytes> target{all.written(), all.arena_begin(), nullptr};
  if (!copy.taken && !checks.written.contains(from, from + bytes)) {
    uint64_t missing = from;
    while (checks.written.contains(missing)) ++missing;
    tell_unwritten(*copy.warp, *copy.ins, lane, Space::kShared, missing, "read",
                   bytes, "It is stored");
  } else if (reads_both && !target.is_written(to, bytes)) {
    tell_unwritten(*copy.warp, *copy.ins, lane, Space::kGlobal, to, "atomic",
                   bytes, "");
  }
  if (all.in_arena(to)) target.write(to, bytes);
}

void Values::forget(const Warp& warp, const Access& a) {
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t at = a.address[first_lane(rest)];
    warp.block->checks->written.erase(at, at + a.bytes);
  }
}

void Values::discard(const Access& a) {
  Allocations& all = allocations();
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t at = a.address[first_lane(rest)];
    const std::optional<Allocation> found = all.find(at);
    // What the host may write unseen counts as written.
    if (!found || !found->is_device_only() || found->adopted) continue;
    const uint64_t begin = at - all.arena_begin();
    all.written().erase(begin, begin + a.bytes);
  }
}

// ---- Asynchronous copies --------------------------------------------------

void Values::begin(const AsyncCopy& copy) {
  Warp& warp = *copy.warp;
  if (!warp.tainted) return;
  for (Place p : copy.ins->sources())
    use(warp, *copy.ins, p, copy.to.mask,
        copy.taken ? "It is stored" : "It says how much is copied");
}

void Values::end(const AsyncCopy& copy, uint32_t mask) {
  Allocations& all = allocations();
  HostBytes all_written;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const uint64_t source = copy.box    ? copy.box->begin
                            : copy.from ? copy.from->address[l]
                                        : 0;
    if (copy.to.space == Space::kGlobal)
      store_bulk(copy, l);
    else if (copy.from && copy.from->space == Space::kShared)
      end(copy, l,
          Memory<ByteSet>{copy.warp->block->checks->written, 0, nullptr});
    else if (copy.from && all.in_arena(source))
      end(copy, l,
          Memory<WrittenBytes>{all.written(), all.arena_begin(), nullptr});
    else
      end(copy, l, Memory<HostBytes>{all_written, 0, nullptr});
  }
}

// What nobody has written is no more written where it is copied to.
template <class Set>
void Values::end(const AsyncCopy& copy, int lane, const Memory<Set>& from) {
  const Block& home = copy.to.owner ? *copy.to.owner : *copy.warp->block;
  BlockChecks& checks = *home.checks;
  const Memory<ByteSet> to{checks.written, 0, &checks.copies};
  copy.each_part(copy.to, [&](const Access& part) {
    const uint64_t at = part.address[lane];
    if (copy.reduction && !to.is_written(at, part.bytes))
      tell_unwritten(*copy.warp, *copy.ins, lane, Space::kShared, at, "atomic",
                     part.bytes, "");
    to.write(at, part.bytes);
  });
  const auto thread = static_cast<uint16_t>(copy.warp->index * kLanes + lane);
  copy.each_move(lane, [&](uint64_t source, uint64_t target, uint32_t bytes) {
    if (from.is_written(source, bytes)) return;
    for (uint32_t k = 0; k < bytes; ++k) {
      if (from.is_written(source + k, 1)) continue;
      to.unwrite(target + k);
      checks.copies[target + k] = {
          {source + k, copy.ins->site, thread, 1, false, Space::kGlobal}, 255};
    }
  });
}

// ---- Calls -----------------------------------------------------------------

// A struct may be copied before all of its members have a value: such a
// register is stored like a part of what one line has loaded.
void Values::begin_frame(Warp& warp, const uint8_t* registers,
                         uint32_t stack_base, const Function& function,
                         uint32_t mask) {
  if (!function.not_followed.empty()) values_of(warp).grow(warp.stacks.size());
  for (const Function::Slot& slot : function.not_followed)
    for (uint32_t k = 0; k < slot.bytes; ++k)
      for (uint32_t rest = mask; rest; rest &= rest - 1)
        write(warp, first_lane(rest), stack_base + slot.offset + k, 1);
  for (const Function::Unwritten& one : function.unwritten) {
    if (!one.followed) continue;
    Undefined value;
    value.place = one.place;
    value.width = one.width;
    Origin origin;
    origin.site = function.code[one.reader].site;
    origin.moved = one.width;
    origin.space = Space::kLocal;
    origin.part = origin.variable = true;
    const uint64_t bits =
        one.width ? kAllBits >> (64 - 8 * std::min<int>(one.width, 8)) : 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      origin.thread = static_cast<uint16_t>(warp.index * kLanes + l);
      set_undefined(value, l, bits, origin);
    }
    values_of(warp).calls[registers].set(value);
    warp.tainted = true;
  }
}

void Values::call(Warp& warp, uint32_t mask, uint32_t begin, uint32_t end) {
  WarpValues& values = values_of(warp);
  values.grow(warp.stacks.size());
  const auto offset = [&](int lane, uint32_t at) -> uint64_t {
    return warp.stack(lane, at) - warp.stack(0, 0);
  };
  for (uint32_t row = begin; row < end; row += 16)
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const uint64_t at = offset(first_lane(rest), row);
      values.stack.erase(at, at + 16);
      if (values.stack_copies.empty()) continue;
      values.stack_copies.erase(values.stack_copies.lower_bound(at),
                                values.stack_copies.lower_bound(at + 16));
    }
}

void Values::end_call(Warp& warp, const uint8_t* registers, uint32_t bytes) {
  WarpValues& values = values_of(warp);
  values.calls.erase(registers);
  values.in_flight.erase(values.in_flight.lower_bound(registers),
                         values.in_flight.lower_bound(registers + bytes));
  settle(warp);
}

void Values::copy_stack(Warp& warp, uint32_t mask, uint32_t from, uint32_t to,
                        uint32_t bytes) {
  WarpValues& values = values_of(warp);
  const uint8_t* const base = warp.stack(0, 0);
  const auto copy = [&](uint64_t source, uint64_t target) {
    if (values.stack.contains(source))
      return void(values.stack.insert(target, target + 1));
    values.stack.erase(target, target + 1);
    const auto copied = values.stack_copies.find(source);
    if (copied != values.stack_copies.end())
      values.stack_copies[target] = copied->second;
  };
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    for (uint32_t k = 0, together = 0; k < bytes; k += together) {
      together =
          std::min({bytes - k, 16 - (from + k) % 16, 16 - (to + k) % 16});
      const uint64_t source = warp.stack(l, from + k) - base;
      const uint64_t target = warp.stack(l, to + k) - base;
      if (values.stack.contains(source, source + together))
        values.stack.insert(target, target + together);
      else
        for (uint32_t j = 0; j < together; ++j) copy(source + j, target + j);
    }
  }
}

void Values::read(Warp& warp, const Instruction& ins, int lane,
                  uint64_t address, uint32_t bytes) {
  const char* const matters =
      ins.statement->text.find("vprintf") == std::string::npos
          ? "It is an argument of the call"
          : "It is printed";
  const uint64_t plain = address & ~kWindowMask;
  const auto look = [&](const auto& memory, uint64_t at, Space space) {
    for (uint32_t k = 0; k < bytes; ++k) {
      if (memory.is_written(at + k, 1)) continue;
      if (const Copied* copied = memory.copied(at + k))
        return tell(warp, ins, lane, copied->origin, matters);
      return tell_unwritten(warp, ins, lane, space, plain, "read", bytes,
                            matters);
    }
  };
  BlockChecks& checks = *warp.block->checks;
  WarpValues& values = values_of(warp);
  Allocations& all = allocations();
  if ((address & kWindowMask) == kSharedWindow)
    look(Memory<ByteSet>{checks.written, 0, &checks.copies}, plain,
         Space::kShared);
  else if ((address & kWindowMask) == kLocalWindow)
    look(Memory<ByteSet>{values.stack, 0, &values.stack_copies},
         warp.stack(lane, plain) - warp.stack(0, 0), Space::kLocal);
  else if (all.in_arena(address))
    look(Memory<WrittenBytes>{all.written(), all.arena_begin(), nullptr},
         address, Space::kGlobal);
}

void Values::write(Warp& warp, int lane, uint32_t offset, uint32_t bytes) {
  const uint64_t at = warp.stack(lane, offset) - warp.stack(0, 0);
  values_of(warp).stack.insert(at, at + bytes);
}

// ---- What is told ----------------------------------------------------------

void Values::use(Warp& warp, const Instruction& ins, Place place, uint32_t mask,
                 const char* matters) {
  const Undefined* value = registers_of(warp).find(place);
  if (!value || !(value->lanes & mask)) return;
  for (uint32_t rest = value->lanes & mask; rest; rest &= rest - 1)
    tell(warp, ins, first_lane(rest), value->origin[first_lane(rest)], matters);
  registers_of(warp).define(place, mask);  // Once is enough.
}

void Values::tell(Warp& warp, const Instruction& ins, int lane,
                  const Origin& origin, const char* matters) {
  if (compares_behind_the_end(grid_.program, origin)) return;
  if (found_.again(kKind, origin.site)) return;
  const Instruction& load = grid_.program.instruction(origin.site);
  const Warp& loader = *warp.block->warps[origin.thread / kLanes];
  const int elements =
      load.kind == Kind::kMatrix ? 1 : std::max<int>(load.result_count, 1);
  const bool shuffles = load.kind == Kind::kCollective;
  const std::string what =
      origin.variable ? "a variable is read that has no value yet"
      : shuffles      ? "shuffle with lane " + std::to_string(origin.address) +
                       ", which has no thread: what it brings is undefined"
                 : "read of " + std::to_string(load.element_bytes * elements) +
                       " bytes that nobody has written: " +
                       text_of_place(grid_, origin.space, origin.address);
  Finding f = finding_at(loader, load, origin.thread % kLanes, kKind,
                         what + ". " + matters + at_place(grid_, ins));
  if (!shuffles && !origin.variable) f.address = origin.address;
  place_other(grid_, f, ins, warp.block->number, warp.index * kLanes + lane);
  found_.add(kKind, origin.site, std::move(f));
}

void Values::tell_unwritten(Warp& warp, const Instruction& ins, int lane,
                            Space space, uint64_t address, const char* what,
                            uint32_t bytes, const char* matters) {
  if (found_.again(kKind, ins.site)) return;
  Finding f = finding_at(warp, ins, lane, kKind,
                         what + (" of " + std::to_string(bytes)) +
                             " bytes that nobody has written: " +
                             text_of_place(grid_, space, address) +
                             (*matters ? ". " : "") + matters);
  f.address = address;
  found_.add(kKind, ins.site, std::move(f));
}

}  // namespace simt
