// Video instructions: vadd, vmad, vset4 and their kin, on parts of registers.
//
// Where ptxas, which makes other instructions of them since Maxwell, settles
// what the PTX ISA leaves open, it is as ptxas 13.0 has it. Where it
// contradicts the ISA, the list of forms leaves a form out.
#include <algorithm>
#include <map>
#include <mutex>

#include "common/simt/isa/arithmetic/decode.h"

namespace simt {

// Which parts of a register an operand means, the lowest first: of 8, 16 or 32
// bits, by their number in the register, or in the 64 bits of b and a together.
struct Parts {
  int bits = 32;
  int count = 1;
  int number[4] = {};
};

struct Video {
  enum Operation {
    kAdd,
    kSubtract,
    kDifference,
    kMin,
    kMax,
    kAverage,
    kSet,
    kShiftLeft,
    kShiftRight
  };
  enum Then { kNothing, kAddC, kMinC, kMaxC, kMerge };

  Operation operation = kAdd;
  Then then = kNothing;
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturates = false, clamps = false;
  Relation relation = Relation::kEq;
  Parts a, b;
  Parts d;               // kMerge: the part that is replaced
  bool written[4] = {};  // of several side by side: those that d takes
  bool negates = false, negates_c = false, plus_one = false;  // vmad
  int shift = 0;                                              // vmad
};

namespace {

int64_t part(uint64_t from, const Parts& parts, int k, bool is_signed) {
  const int above = 64 - parts.bits;
  const uint64_t high = from >> (parts.bits * parts.number[k]) << above;
  return is_signed ? static_cast<int64_t>(high) >> above
                   : static_cast<int64_t>(high >> above);
}

int64_t clamped(int64_t x, int bits, bool is_signed) {
  const int64_t span = int64_t{1} << bits;
  return is_signed ? std::clamp(x, -span / 2, span / 2 - 1)
                   : std::clamp(x, int64_t{0}, span - 1);
}

int shift_by(const Video& v, int64_t b) {
  return static_cast<int>(v.clamps ? std::min<int64_t>(b, 32) : b & 31);
}

int64_t combined(const Video& v, int64_t a, int64_t b) {
  switch (v.operation) {
    case Video::kAdd:
      return a + b;
    case Video::kSubtract:
      return a - b;
    case Video::kDifference:
      return a < b ? b - a : a - b;
    case Video::kMin:
      return std::min(a, b);
    case Video::kMax:
      return std::max(a, b);
    case Video::kAverage:  // halves away from zero above it, towards it below
      return (a + b + (a + b >= 0)) >> 1;
    case Video::kSet:
      return holds(v.relation, a, b);
    case Video::kShiftLeft:
      return static_cast<int64_t>(static_cast<uint64_t>(a) << shift_by(v, b));
    default:
      return a >> shift_by(v, b);
  }
}

// `with` takes the place of one part of c.
uint32_t merged(const Parts& d, uint32_t with, uint32_t c) {
  const int at = d.bits * d.number[0];
  const uint32_t mask = (1u << d.bits) - 1;
  return (c & ~(mask << at)) | (with & mask) << at;
}

// vadd, vset, vshl and so on: one number.
uint32_t one(const Video& v, uint32_t a, uint32_t b, uint32_t c) {
  int64_t t =
      combined(v, part(a, v.a, 0, v.a_signed), part(b, v.b, 0, v.b_signed));
  if (v.saturates) t = clamped(t, 32, v.d_signed);
  // ptxas keeps 32 bits of a sum, before it compares them with c.
  if (v.operation == Video::kAdd || v.operation == Video::kSubtract)
    t = static_cast<int32_t>(t);
  const int64_t other = v.d_signed ? static_cast<int32_t>(c) : int64_t{c};
  switch (v.then) {
    case Video::kNothing:
      return static_cast<uint32_t>(t);
    case Video::kAddC:
      return static_cast<uint32_t>(t) + c;
    case Video::kMinC:
      return static_cast<uint32_t>(std::min(t, other));
    case Video::kMaxC:
      return static_cast<uint32_t>(std::max(t, other));
    default:
      return merged(v.d, static_cast<uint32_t>(t), c);
  }
}

// vadd2, vset4 and so on: several side by side, or their sum and c.
uint32_t several(const Video& v, uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = c;
  for (int k = 0; k < v.a.count; ++k) {
    if (!v.written[k]) continue;
    int64_t t = combined(v, part(both, v.a, k, v.a_signed),
                         part(both, v.b, k, v.b_signed));
    if (v.saturates) t = clamped(t, v.a.bits, v.d_signed);
    const auto low = static_cast<uint32_t>(t);
    result = v.then == Video::kAddC ? result + low
                                    : merged({v.a.bits, 1, {k}}, low, result);
  }
  return result;
}

// a * b + c, in 64 bits.
uint32_t multiplied(const Video& v, uint32_t a, uint32_t b, uint32_t c) {
  const auto x = static_cast<uint64_t>(part(a, v.a, 0, v.a_signed));
  const auto y = static_cast<uint64_t>(part(b, v.b, 0, v.b_signed));
  const auto z = static_cast<uint64_t>(int64_t{static_cast<int32_t>(c)});
  const uint64_t sum =
      (v.negates ? 0 - x * y : x * y) + (v.negates_c ? 0 - z : z) + v.plus_one;
  const int64_t t = static_cast<int64_t>(sum) >> v.shift;
  return static_cast<uint32_t>(v.saturates ? clamped(t, 32, true) : t);
}

template <uint32_t (*compute)(const Video&, uint32_t, uint32_t, uint32_t)>
void run(Warp& w, const Instruction& i, uint32_t mask) {
  const Video& v = *i.video;
  const int last = i.source_count - 1;
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [&](uint32_t a, uint32_t b, uint32_t c) { return compute(v, a, b, c); },
      lanes<uint32_t>(w, i.source(0)), lanes<uint32_t>(w, i.source(1)),
      lanes<uint32_t>(w, i.source(last)));
}

// ---- Decoding ---------------------------------------------------------------

// "b2" and "h1", or all of it.
Parts part_of(const std::string& selection) {
  if (selection.empty()) return {};
  return {selection[0] == 'b' ? 8 : 16, 1, {selection[1] - '0'}};
}

// "b7654" and "h10", the uppermost first; left out, they begin at `first`.
Parts parts_of(const std::string& selection, int count, int first) {
  Parts parts{32 / count, count, {}};
  for (int k = 0; k < count; ++k)
    parts.number[k] =
        selection.empty() ? first + k : selection[count - k] - '0';
  return parts;
}

void take_signs(Decoding& d, Video& v) {
  v.a_signed = d.take_type().is_signed();
  v.b_signed = d.take_type().is_signed();
}

Video::Then take_then(Decoding& d) {
  return static_cast<Video::Then>(1 + d.take_one({"add", "min", "max"}));
}

// Of the name, without the number of parts.
Video::Operation operation_of(std::string name) {
  static const std::map<std::string, Video::Operation, std::less<>> kNames = {
      {"vadd", Video::kAdd},        {"vsub", Video::kSubtract},
      {"vmin", Video::kMin},        {"vmax", Video::kMax},
      {"vavrg", Video::kAverage},   {"vabsdiff", Video::kDifference},
      {"vset", Video::kSet},        {"vshl", Video::kShiftLeft},
      {"vshr", Video::kShiftRight},
  };
  if (name.back() == '2' || name.back() == '4') name.pop_back();
  return kNames.at(name);
}

// Of vset the first type is that of a, and says what c is.
void take_operation(Decoding& d, Video& v) {
  v.operation = operation_of(d.s.name());
  if (v.operation != Video::kSet) v.d_signed = d.take_type().is_signed();
  take_signs(d, v);
  if (v.operation == Video::kSet) {
    v.d_signed = v.a_signed;
    v.relation =
        static_cast<Relation>(d.take_one({"eq", "ne", "lt", "le", "gt", "ge"}));
  }
  v.saturates = d.take("sat");
  v.clamps = d.take_one({"wrap", "clamp"}) == 1;
}

// One for each way to write it. Kernels may be decoded at the same time.
const Video* kept(const Decoding& d, const Video& video) {
  static std::mutex mutex;
  static auto* all = new std::map<std::string, Video>;
  std::string key;
  for (const std::string& part : d.s.op) key.append(part).append(1, '.');
  for (const Operand& o : d.s.operands)
    key.append(o.minus ? ",-" : ",").append(o.selection);
  const std::lock_guard lock(mutex);
  return &all->try_emplace(key, video).first->second;
}

void decode_one(Decoding& d) {
  Video v;
  take_operation(d, v);
  v.a = part_of(d.operand(1).selection);
  v.b = part_of(d.operand(2).selection);
  v.then = take_then(d);
  if (const std::string& selection = d.operand(0).selection;
      !selection.empty()) {
    // ptxas leaves the result where it is, and takes its upper half.
    if (selection == "h1")
      throw Error(
          "the executor does not put a result into .h1: ptxas does it "
          "otherwise than PTX's manual says");
    v.then = Video::kMerge;
    v.d = part_of(selection);
  }
  d.bind(4, 4, v.then == Video::kNothing ? 0 : 4);
  d.ins.video = kept(d, v);
  d.ins.run = run<one>;
}

template <int kCount>
void decode_several(Decoding& d) {
  Video v;
  take_operation(d, v);
  v.then = take_then(d);
  v.a = parts_of(d.operand(1).selection, kCount, 0);
  v.b = parts_of(d.operand(2).selection, kCount, kCount);
  const std::string& mask = d.operand(0).selection;
  for (int k = 0; k < kCount; ++k)
    v.written[k] =
        mask.empty() || mask.find(static_cast<char>('0' + k)) != mask.npos;
  d.bind(4, 4, 4);
  d.ins.video = kept(d, v);
  d.ins.run = run<several>;
}

void decode_multiply(Decoding& d) {
  Video v;
  v.d_signed = d.take_type().is_signed();
  take_signs(d, v);
  v.a = part_of(d.operand(1).selection);
  v.b = part_of(d.operand(2).selection);
  v.negates = d.operand(1).minus != d.operand(2).minus;
  v.negates_c = d.operand(3).minus;
  v.plus_one = d.take("po");
  v.saturates = d.take("sat");
  v.shift = d.take("shr7") ? 7 : d.take("shr15") ? 15 : 0;
  d.bind(4, 4, 4);
  d.ins.video = kept(d, v);
  d.ins.run = run<multiplied>;
}

}  // namespace

const Family& video_family() {
  static const Family family = {"",
                                {{"vadd", decode_one},
                                 {"vsub", decode_one},
                                 {"vabsdiff", decode_one},
                                 {"vmin", decode_one},
                                 {"vmax", decode_one},
                                 {"vshl", decode_one},
                                 {"vshr", decode_one},
                                 {"vset", decode_one},
                                 {"vmad", decode_multiply},
                                 {"vadd2", decode_several<2>},
                                 {"vsub2", decode_several<2>},
                                 {"vavrg2", decode_several<2>},
                                 {"vabsdiff2", decode_several<2>},
                                 {"vmin2", decode_several<2>},
                                 {"vmax2", decode_several<2>},
                                 {"vset2", decode_several<2>},
                                 {"vadd4", decode_several<4>},
                                 {"vsub4", decode_several<4>},
                                 {"vavrg4", decode_several<4>},
                                 {"vabsdiff4", decode_several<4>},
                                 {"vmin4", decode_several<4>},
                                 {"vmax4", decode_several<4>},
                                 {"vset4", decode_several<4>}}};
  return family;
}

}  // namespace simt
