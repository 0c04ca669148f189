// mov, between registers and between a register and its parts, and prmt.
#include <string_view>

#include "common/simt/isa/arithmetic/decode.h"

namespace simt {
namespace {

template <class T>
void move(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(
      mask, lanes<T>(w, i.result(0)), [](T a) { return a; },
      lanes<T>(w, i.source(0)));
}

void move_predicate(Warp& w, const Instruction& i, uint32_t mask) {
  write_predicate(w, i.result(0), read_predicate(w, i, 0), mask);
}

// mov.b64 %rd, {%r1, %r2}: the first part is the lowest.
template <class Whole, class Part>
void pack(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr int kParts = sizeof(Whole) / sizeof(Part);
  const Part* part[kParts];
  for (int k = 0; k < kParts; ++k) part[k] = lanes<Part>(w, i.source(k));
  map_indices(mask, lanes<Whole>(w, i.result(0)), [=](int l) {
    Whole whole = 0;
    for (int k = 0; k < kParts; ++k)
      whole |= Whole{part[k][l]} << (8 * sizeof(Part) * k);
    return whole;
  });
}

// mov.b64 {%r1, _}, %rd
template <class Whole, class Part>
void unpack(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr int kParts = sizeof(Whole) / sizeof(Part);
  const Whole* whole = lanes<Whole>(w, i.source(0));
  for (int k = 0; k < kParts; ++k) {
    if (i.result(k) == kNowhere) continue;
    const auto part = [=](Whole x) { return x >> (8 * sizeof(Part) * k); };
    map_lanes(mask, lanes<Part>(w, i.result(k)), part, whole);
  }
}

struct Packing {
  int whole, parts;
  Handler pack, unpack;
};
constexpr Packing kPackings[] = {
    {2, 2, pack<uint16_t, uint8_t>, unpack<uint16_t, uint8_t>},
    {4, 2, pack<uint32_t, uint16_t>, unpack<uint32_t, uint16_t>},
    {4, 4, pack<uint32_t, uint8_t>, unpack<uint32_t, uint8_t>},
    {8, 2, pack<uint64_t, uint32_t>, unpack<uint64_t, uint32_t>},
    {8, 4, pack<uint64_t, uint16_t>, unpack<uint64_t, uint16_t>},
    {16, 2, pack<unsigned __int128, uint64_t>,
     unpack<unsigned __int128, uint64_t>},
    {16, 4, pack<unsigned __int128, uint32_t>,
     unpack<unsigned __int128, uint32_t>},
};

void decode_parts(Decoding& d, int bytes) {
  const bool packs = d.operand(0).list.empty();
  const std::vector<std::string>& list = d.operand(packs ? 1 : 0).list;
  const int parts = list.size();
  for (const Packing& p : kPackings)
    if (p.whole == bytes && p.parts == parts)
      d.ins.run = packs ? p.pack : p.unpack;
  if (packs)
    d.bind_destination();
  else
    d.read(1, bytes);
  for (const std::string& name : list) {
    const Operand part = named(name);
    const int width = d.operands.width(part);
    if (width && width != bytes / parts) d.unsupported();
    if (packs)
      d.ins.read.push_back(d.operands.source(part, bytes / parts));
    else
      d.ins.written.push_back(d.operands.destination(part));
  }
}

void decode_mov(Decoding& d) {
  const Type type = d.take_type();
  if (type.is('p')) {
    d.bind_predicates();
    d.read_predicate(1);
    d.ins.run = move_predicate;
    return;
  }
  if (!d.operand(0).list.empty() || !d.operand(1).list.empty())
    return decode_parts(d, type.bytes);
  d.bind(type.bytes);
  d.ins.run = copy_handler(type.bytes);
}

// prmt: each nibble of the selector picks one of the eight bytes of b:a; its
// top bit picks that byte's sign instead, eight times.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t pick = selector >> (4 * k);
    const uint32_t word = pick & 4 ? b : a;
    const uint32_t byte = word >> (8 * (pick & 3)) & 255;
    const uint32_t sign = byte & 128 ? 255 : 0;
    result |= (pick & 8 ? sign : byte) << (8 * k);
  }
  return result;
}

void permute_bytes(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<uint32_t>(w, i.result(0)), permute,
            lanes<uint32_t>(w, i.source(0)), lanes<uint32_t>(w, i.source(1)),
            lanes<uint32_t>(w, i.source(2)));
}

// The named modes are four fixed selectors each, chosen by c's low two bits.
constexpr uint32_t kModes[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // forward 4 extract
    {0x5670, 0x6701, 0x7012, 0x0123},  // backward 4 extract
    {0x0000, 0x1111, 0x2222, 0x3333},  // replicate 8
    {0x3210, 0x3211, 0x3222, 0x3333},  // edge clamp left
    {0x0000, 0x1110, 0x2210, 0x3210},  // edge clamp right
    {0x1010, 0x3232, 0x1010, 0x3232},  // replicate 16
};

template <int mode>
void permute_by_mode(Warp& w, const Instruction& i, uint32_t mask) {
  each_lane(
      mask, lanes<uint32_t>(w, i.result(0)),
      [](uint32_t a, uint32_t b, uint32_t c) {
        return permute(a, b, kModes[mode][c & 3]);
      },
      lanes<uint32_t>(w, i.source(0)), lanes<uint32_t>(w, i.source(1)),
      lanes<uint32_t>(w, i.source(2)));
}

void decode_prmt(Decoding& d) {
  static constexpr Handler kByMode[] = {permute_by_mode<0>, permute_by_mode<1>,
                                        permute_by_mode<2>, permute_by_mode<3>,
                                        permute_by_mode<4>, permute_by_mode<5>};
  d.take_type();  // .b32
  d.bind(4, 4, 4);
  const int mode = d.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.ins.run = mode < 0 ? permute_bytes : kByMode[mode];
}

}  // namespace

Handler copy_handler(int bytes) {
  switch (bytes) {
    case 1:
      return move<uint8_t>;
    case 2:
      return move<uint16_t>;
    case 4:
      return move<uint32_t>;
    case 8:
      return move<uint64_t>;
    default:
      return move<unsigned __int128>;
  }
}

const Family& move_family() {
  static const Family family = {"",
                                {{"mov", decode_mov}, {"prmt", decode_prmt}}};
  return family;
}

}  // namespace simt
