// Bulk copies of tensors: a box of elements, named by its lowest corner.
#include <algorithm>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/isa/async/bulk.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/isa/memory/atomic.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/memory/tensor_map.h"

namespace simt {
namespace {

constexpr uint32_t kBoxAlignment = 128, kMapAlignment = 64, kMapBytes = 128;
constexpr int64_t kRowAlignment = 16;  // of the coordinate in a row, in bytes

[[noreturn]] void refuse(const Warp& warp, const Instruction& ins, int lane,
                         const std::string& why) {
  fault(warp, ins, lane, "bad copy", why, kLaunchFailure);
}

std::string name_of(Type type) {
  const std::string bits = std::to_string(8 * type.bytes);
  switch (type.kind) {
    case 'u':
      return "an unsigned integer of " + bits + " bits";
    case 's':
      return "a signed integer of " + bits + " bits";
    case 'h':
      return "a half";
    case 'y':
      return "a bfloat16";
    default:
      return type.bytes == 4 ? "a float" : "a double";
  }
}

// ---- The map ----------------------------------------------------------------

// tensormap.replace stores whatever it is given.
void require_sound(const Warp& warp, const Instruction& ins, int lane,
                   const TensorMap& map) {
  constexpr uint32_t kUnit = 16, kMostBox = 256, kMostStep = 8;
  bool sound = map.address % kUnit == 0;
  for (int d = 0; d < map.dimensions(); ++d)
    sound &= map.stride[d] % kUnit == 0 && map.box[d] - 1 < kMostBox &&
             map.step[d] - 1u < kMostStep;
  if (!sound)
    refuse(warp, ins, lane,
           "tensormap.replace has left a tensor map whose address or strides "
           "are no multiples of 16, whose box is not 1 to 256 wide, or whose "
           "elements' strides are not 1 to 8");
}

// What cuTensorMapEncodeTiled refuses, and tensormap.replace lets pass.
void require_known(const Warp& warp, const Instruction& ins,
                   const TensorMap& map) {
  const bool fills =
      !map.fills_nan || (map.has_type() && map.fills_nan == 1 &&
                         !map.type().is('u') && !map.type().is('s'));
  if (map.has_type() && fills && !map.interleave && map.swizzle_mode <= 3 &&
      map.step[0] == 1 && map.row_bytes() % 16 == 0 &&
      map.row_bytes() <= map.pitch())
    return;
  throw Error(warp.block->grid->program.location(ins.where) + ": " +
              ins.statement->text +
              " is given a tensor map that tensormap.replace has made, of an "
              "element type or a layout that the executor does not have");
}

// The one that a lane names; the statement says how many dimensions it has.
TensorMap read_map(Warp& warp, const Instruction& ins, int lane, int which,
                   int dimensions) {
  const Access a =
      bulk_place(warp, ins, lane, which, kMapBytes, kMapAlignment, Use::kLoad);
  TensorMap map;
  if (a.space != Space::kGlobal && a.space != Space::kParam)
    refuse(warp, ins, lane,
           "a tensor map is a parameter (const __grid_constant__), a constant "
           "or in global memory, and this one is none of these");
  std::memcpy(&map, a.at<const uint8_t>(lane), sizeof map);
  if (!map.is_one())
    refuse(warp, ins, lane,
           "what it names is no tensor map that cuTensorMapEncodeTiled or "
           "tensormap.replace made");
  if (map.dimensions() != dimensions)
    refuse(warp, ins, lane,
           "the tensor map has " + std::to_string(map.dimensions()) +
               " dimensions, and the instruction is for " +
               std::to_string(dimensions));
  require_sound(warp, ins, lane, map);
  require_known(warp, ins, map);
  return map;
}

// ---- The box ----------------------------------------------------------------

// Where it begins: a coordinate in each dimension.
struct Corner {
  int64_t at[TensorMap::kMostDimensions] = {};
};

Corner read_corner(Warp& warp, const Instruction& ins, int lane,
                   int dimensions) {
  Corner corner;
  for (int d = 0; d < dimensions; ++d)
    corner.at[d] = lanes<int32_t>(warp, ins.source(d))[lane];
  return corner;
}

// The row of that number begins so many bytes behind the tensor's first row, if
// it is a row of the tensor.
std::optional<uint64_t> find_row(const TensorMap& map, const Corner& corner,
                                 uint32_t number) {
  uint64_t offset = 0;
  for (int d = 1; d < map.dimensions(); ++d) {
    const int64_t at = corner.at[d] + number % map.count(d) * map.step[d];
    if (at < 0 || at > map.last(d)) return std::nullopt;
    offset += at * map.stride[d];
    number /= map.count(d);
  }
  return offset;
}

void add_run(TensorBox& box, const TensorBox::Run& run) {
  box.begin = std::min(box.begin, run.address);
  box.end = std::max(box.end, run.address + run.bytes);
  if (!box.runs.empty()) {
    TensorBox::Run& before = box.runs.back();
    if (before.address + before.bytes == run.address &&
        before.at + before.bytes == run.at && before.base == run.base) {
      before.bytes += run.bytes;
      return;
    }
  }
  box.runs.push_back(run);
}

// A NaN of the map's type, or nothing: an H200 repeats that of a half.
std::vector<uint8_t> filler_of(const TensorMap& map) {
  if (!map.fills_nan) return {};
  return {0xf7, 0x7f};
}

TensorBox empty_box(const TensorMap& map) {
  TensorBox box;
  box.swizzle = map.swizzle();
  box.filler = filler_of(map);
  box.rows = map.rows();
  box.row_bytes = map.row_bytes();
  box.pitch = map.pitch();
  box.rounds = map.rounds();
  return box;
}

std::shared_ptr<const TensorBox> find_box(Warp& warp, const Instruction& ins,
                                          int lane, const Address& operand,
                                          const TensorMap& map,
                                          const Corner& corner, Use use) {
  auto box = std::make_shared<TensorBox>(empty_box(map));
  const int64_t first = std::max<int64_t>(0, -corner.at[0]);
  int64_t end =
      std::min<int64_t>(map.count(0), map.last(0) + int64_t{1} - corner.at[0]);
  // An H200 writes whole pieces of 16 bytes, if they begin in the tensor.
  const int64_t piece = kRowAlignment / map.element_bytes();
  if (use != Use::kLoad && end > 0) end = (end + piece - 1) / piece * piece;
  if (first >= end) return box;
  const auto bytes = static_cast<uint32_t>((end - first) * map.element_bytes());
  for (uint32_t row = 0; row < map.rows(); ++row) {
    const auto offset = find_row(map, corner, row);
    if (!offset) continue;
    Access a(operand, bytes, use);
    find_global(
        warp, ins, lane,
        map.address + *offset + (corner.at[0] + first) * map.element_bytes(),
        a);
    add_run(*box, {a.address[lane], a.base, bytes,
                   static_cast<uint32_t>(row * map.pitch() +
                                         first * map.element_bytes())});
  }
  return box;
}

// The box in shared memory, up to its last byte: in a last row that is shorter
// than what the swizzle mixes it depends on where the box begins.
Access shared_box(Warp& warp, const Instruction& ins, int lane, int which,
                  const TensorMap& map, Use use) {
  const TensorBox box = empty_box(map);
  const auto place = [&](uint64_t bytes) {
    return bulk_place(warp, ins, lane, which, static_cast<uint32_t>(bytes),
                      kBoxAlignment, use);
  };
  const Access least = place((box.rows - 1) * box.pitch + box.row_bytes);
  if (!box.has_gaps()) return least;
  const uint64_t begin = least.address[lane];
  uint64_t end = begin;
  box.each_shared(begin, [&](uint64_t at, uint32_t bytes) {
    end = std::max(end, at + bytes);
  });
  return place(end - begin);
}

// The box in global memory: a place of its own for each corner, though there
// may be none of its bytes.
Access whole_box(const Address& operand, const TensorMap& map,
                 const Corner& corner, int lane, Use use) {
  Access a(operand, map.rows() * map.row_bytes(), use);
  uint64_t address = map.address + corner.at[0] * map.element_bytes();
  for (int d = 1; d < map.dimensions(); ++d)
    address += corner.at[d] * map.stride[d];
  std::fill_n(a.address, kLanes, address);
  a.mask = 1u << lane;
  return a;
}

// ---- Beginning --------------------------------------------------------------

// Where a box begins in a row: at 16 bytes of it, or some times as many.
void require_aligned(const Warp& warp, const Instruction& ins, int lane,
                     const TensorMap& map, const Corner& corner) {
  if (corner.at[0] * map.element_bytes() % kRowAlignment == 0) return;
  fault(warp, ins, lane, "illegal instruction",
        "the box begins at element " + std::to_string(corner.at[0]) +
            " of a row, and only every " +
            std::to_string(kRowAlignment / map.element_bytes()) +
            "th may be the first: the first coordinate's bytes are to be a "
            "multiple of 16",
        kIllegalInstruction);
}

template <bool multicasts>
void load(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int dimensions = ins.source_count - multicasts;
  for (; mask; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const Address& operand = ins.addresses()[1];
    const TensorMap map = read_map(warp, ins, lane, 1, dimensions);
    const Corner corner = read_corner(warp, ins, lane, dimensions);
    require_aligned(warp, ins, lane, map, corner);
    const Access from = whole_box(operand, map, corner, lane, Use::kLoad);
    const Access to = shared_box(warp, ins, lane, 0, map, Use::kStore);
    begin_bulk(warp, ins, lane,
               {to, from, bulk_place(warp, ins, lane, 2, 8, 8, Use::kAtomic),
                find_box(warp, ins, lane, operand, map, corner, Use::kLoad)},
               multicasts);
  }
}

// As an H200 does: and, or and dec are like xor and inc.
bool can_reduce(Type type, Update update) {
  if (type.is('u') && type.bytes < 4) return false;
  const bool orders = update == Update::kMin || update == Update::kMax;
  if (type == Type{'s', 8}) return orders;
  if (update == Update::kAdd) return true;
  if (orders) return !type.is('f');
  const bool counts =
      update == Update::kIncrement || update == Update::kDecrement;
  return counts ? type == Type{'u', 4} : type.is('u') || type.is('s');
}

void require_reduction(const Warp& warp, const Instruction& ins, int lane,
                       const TensorMap& map) {
  if (can_reduce(map.type(), ins.update)) return;
  fault(
      warp, ins, lane, "illegal instruction",
      "there is no such reduction of the tensor's elements, of which each is " +
          name_of(map.type()),
      kIllegalInstruction);
}

// A box may end outside of the tensor, and is loaded from before it, too.
void require_corner(const Warp& warp, const Instruction& ins, int lane,
                    const Corner& corner) {
  const auto* least =
      std::min_element(std::begin(corner.at), std::end(corner.at));
  if (*least >= 0) return;
  fault(warp, ins, lane, "illegal instruction",
        "the box begins at coordinate " + std::to_string(*least) +
            ", before the tensor: only loads may",
        kIllegalInstruction);
}

// What else the executor does not know of the map's type.
void require_stored(const Warp& warp, const Instruction& ins,
                    const TensorMap& map) {
  if (!map.only_loads()) return;
  throw Error(warp.block->grid->program.location(ins.where) + ": " +
              ins.statement->text +
              " is of tf32 or flushed numbers; of these the executor has only "
              "loads");
}

template <bool reduces>
void store(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int dimensions = ins.source_count;
  const Use use = reduces ? Use::kAtomic : Use::kStore;
  for (; mask; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const Address& operand = ins.addresses()[0];
    const TensorMap map = read_map(warp, ins, lane, 0, dimensions);
    require_stored(warp, ins, map);
    if (reduces) require_reduction(warp, ins, lane, map);
    const Corner corner = read_corner(warp, ins, lane, dimensions);
    require_aligned(warp, ins, lane, map, corner);
    require_corner(warp, ins, lane, corner);
    const Access to = whole_box(operand, map, corner, lane, use);
    const Access from = shared_box(warp, ins, lane, 1, map, Use::kLoad);
    begin_bulk(warp, ins, lane,
               {to, from, std::nullopt,
                find_box(warp, ins, lane, operand, map, corner, use),
                reduces ? tensor_reduction_of(map.type()) : nullptr,
                map.element_bytes()},
               false);
  }
}

// ---- The map, changed in shared memory --------------------------------------

// tensormap.cp_fenceproxy: the warp copies a map, each lane its word. The fence
// is nothing here, as each copy of a tensor reads its map as it is.
void publish(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  constexpr uint32_t kWord = kMapBytes / kLanes;
  uint64_t word[kLanes];
  for (int l = 0; l < kLanes; ++l) word[l] = l * kWord;
  Access from(ins.addresses()[1], kWord, Use::kLoad);
  Access to(ins.addresses()[0], kWord, Use::kStore);
  from.displacement = to.displacement = word;
  resolve(warp, ins, mask, from);
  uint8_t staged[kLanes * kMatrixBytes];
  for (int l = 0; l < kLanes; ++l)
    std::memcpy(staged + l * kMatrixBytes, from.at<const uint8_t>(l), kWord);
  to.staged = staged;
  resolve(warp, ins, mask, to);
  for (int l = 0; l < kLanes; ++l)
    std::memcpy(to.at<uint8_t>(l), staged + l * kMatrixBytes, kWord);
  warp.block->quiet = false;
}

// ---- Decoding ---------------------------------------------------------------

void read_coordinates(const Operand& map, OperandReader& operands, Draft& ins) {
  for (const std::string& name : map.list)
    ins.read.push_back(operands.source(named(name), 4));
}

}  // namespace

void decode_map_copy(const Statement& s, Draft& ins) {
  if (parse_literal(s.operands.at(2).text).value().bits != kMapBytes)
    throw Error("it copies " + std::to_string(kMapBytes) + " bytes");
  ins.accessed.at(0).space = Space::kGlobal;
  ins.accessed.at(1).space = Space::kShared;
  ins.run = publish;
}

void decode_tensor_copy(const Statement& s, OperandReader& operands,
                        Draft& ins) {
  const bool stores = s.has("bulk_group");
  const int map = stores ? 0 : 1;
  ins.accessed.at(map).space = Space::kGeneric;
  read_coordinates(s.operands.at(map), operands, ins);
  if (!stores) {
    ins.accessed.at(0).space = ins.accessed.at(2).space = Space::kCluster;
    const bool multicasts = s.has("multicast::cluster");
    if (multicasts) ins.read.push_back(operands.source(s.operands.at(3), 2));
    ins.run = multicasts ? load<true> : load<false>;
    return;
  }
  ins.accessed.at(1).space = Space::kShared;
  ins.run = store<false>;
  if (s.name() != "cp" || !s.has("reduce")) return;
  ins.strength = Strength::kStrong;
  ins.update = update_of(s);
  ins.run = store<true>;
}

}  // namespace simt
