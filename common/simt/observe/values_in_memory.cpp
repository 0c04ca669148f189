// Loads of what nobody has written, and stores of what is undefined.
#include <algorithm>
#include <optional>

#include "common/simt/memory/undo.h"
#include "common/simt/observe/tainted.h"
#include "common/simt/observe/values.h"
#include "common/simt/observe/written_memory.h"

namespace simt {

void Values::access(Warp& warp, const Instruction& ins, const Access& a) {
  Allocations& all = allocations();
  if (a.space == Space::kShared)
    access(warp, ins, a, shared_memory(checks_of(warp, a)));
  else if (a.space == Space::kGlobal &&
           all.in_arena(a.address[first_lane(a.mask)]))
    access(warp, ins, a, device_memory(all));
  else if (!warp.stacks.empty() && a.base == warp.stack(0, 0))
    access(warp, ins, a, stacks_of(values_of(warp)));
  else
    access(warp, ins, a, host_memory());
}

template <class Set>
void Values::access(Warp& warp, const Instruction& ins, const Access& a,
                    const WrittenMemory<Set>& memory) {
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

// ---- Loads -----------------------------------------------------------------

template <class Set>
void Values::load(Warp& warp, const Instruction& ins, const Access& a,
                  const WrittenMemory<Set>& memory) {
  const uint32_t missing = memory.missing(a);
  if (a.matrix) return load_matrix(warp, ins, a, missing, memory);
  if (warp.tainted) define_results(warp, ins, a.mask);
  if (missing) taint(warp, ins, a, missing, memory);
}

// Lanes of `mask` load bytes that nobody has written, all or some of them.
template <class Set>
void Values::taint(Warp& warp, const Instruction& ins, const Access& a,
                   uint32_t mask, const WrittenMemory<Set>& memory) {
  for (int k = 0; k < ins.result_count; ++k) {
    Undefined value;
    value.place = ins.result(k);
    if (value.place == kNowhere) continue;
    value.width = width(ins, value.place);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      taint_lane(warp, ins, a, first_lane(rest), k, memory, value);
    if (ins.statement->type().is_signed())
      value.extend(8 * ins.element_bytes - 1);
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
  const uint64_t at = address + distance;
  const bool exists = a.space == Space::kShared
                          ? at / 64 < checks_of(warp, a).written_bits.size()
                          : allocations().in_arena(at);
  return exists ? std::optional(at) : std::nullopt;
}

}  // namespace

// Has somebody written other bytes of the word? One byte may be any in a word,
// and padding leads to a multiple of 16 at most.
template <class Set>
bool Values::is_padding(const Instruction& ins, uint64_t begin,
                        const WrittenMemory<Set>& memory) const {
  constexpr uint64_t kWord = 16;
  if (ins.element_bytes == 1)
    return memory.any_written(begin / kWord * kWord,
                              begin / kWord * kWord + kWord);
  return memory.any_written(begin, begin + ins.element_bytes);
}

// The same of all that is loaded with it.
template <class Set>
bool Values::is_part(const Warp& warp, const Instruction& ins, const Access& a,
                     int lane, const WrittenMemory<Set>& memory) {
  const Objects::Part object = objects_.around(ins);
  for (int64_t at = object.begin; at < object.end; ++at)
    if (const auto byte = byte_beside(warp, a, lane, at))
      if (memory.is_written(*byte, 1)) return true;
  return false;
}

// One element of a lane.
template <class Set>
void Values::taint_lane(Warp& warp, const Instruction& ins, const Access& a,
                        int lane, int element, const WrittenMemory<Set>& memory,
                        Undefined& value) {
  const uint64_t begin =
      a.address[lane] + uint64_t(element) * ins.element_bytes;
  uint64_t bits = 0, first = 0;    // The first byte that is missing,
  const Copied* copied = nullptr;  // and what it is a copy of.
  for (int k = ins.element_bytes; k-- > 0;) {
    if (memory.is_written(begin + k, 1)) continue;
    first = begin + k;
    copied = memory.copied(first);
    bits |= uint64_t{copied ? copied->bits : uint8_t{255}} << 8 * (k % 8);
  }
  if (!bits) return;
  Origin origin =
      copied ? copied->origin : unwritten_at(warp, ins, a, lane, first);
  if (!copied || origin.moved) origin.moved = ins.element_bytes;
  origin.padding |= is_padding(ins, begin, memory);
  origin.part |= is_part(warp, ins, a, lane, memory);
  value.add(lane, bits, origin);
}

// The registers of a matrix are defined when its load begins: they are loaded
// in parts.
template <class Set>
void Values::load_matrix(Warp& warp, const Instruction& ins, const Access& a,
                         uint32_t missing, const WrittenMemory<Set>& memory) {
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
      values[p.value].add(p.lane, bits << (p.shift + 8 * k),
                          copied ? copied->origin
                                 : unwritten_at(warp, ins, a, p.from, address));
    }
  }
  for (const Undefined& value : values) registers_of(warp).set(value);
  settle(warp);
}

// ---- Stores ----------------------------------------------------------------

template <class Set>
void Values::store_matrix(Warp& warp, const Instruction& ins, const Access& a,
                          const WrittenMemory<Set>& memory) {
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
      memory.copies->set(address, {value->origin[p.lane], byte});
    }
  }
  settle(warp);
}

template <class Set>
void Values::store(Warp& warp, const Instruction& ins, const Access& a,
                   const WrittenMemory<Set>& memory) {
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
                             const WrittenMemory<Set>& memory) {
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
        memory.copies->set(address, {value->origin[lane], bits});
    }
  }
}

// Bit-fields of a struct are set one after the other: what is not set yet goes
// back to where it came from. Of a byte no more is known than whether it has
// been written: one of which some bits are set counts as such.
template <class Set>
bool Values::stays_there(Warp& warp, const Instruction& ins, const Access& a,
                         int lane, const WrittenMemory<Set>& memory) const {
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
                    const WrittenMemory<Set>& memory) {
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

}  // namespace simt
