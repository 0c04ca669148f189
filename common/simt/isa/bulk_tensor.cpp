// Bulk copies of tensors: a box of elements, named by its lowest corner.
#include <algorithm>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/bulk.h"
#include "common/simt/isa/memory.h"
#include "common/simt/memory/tensor_map.h"

namespace simt {
namespace {

constexpr uint32_t kBoxAlignment = 128, kMapAlignment = 64, kMapBytes = 128;

[[noreturn]] void refuse(const Warp& warp, const Instruction& ins, int lane,
                         const std::string& why) {
  fault(warp, ins, lane, "bad copy", why, kLaunchFailure);
}

// ---- The map ----------------------------------------------------------------

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
  if (map.mark != TensorMap::kMark)
    refuse(warp, ins, lane,
           "what it names is no tensor map that cuTensorMapEncodeTiled made");
  if (map.dimensions != dimensions)
    refuse(warp, ins, lane,
           "the tensor map has " + std::to_string(map.dimensions) +
               " dimensions, and the instruction is for " +
               std::to_string(dimensions));
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
  for (int d = 1; d < map.dimensions; ++d) {
    const int64_t at = corner.at[d] + number % map.count(d) * map.step[d];
    if (at < 0 || at > map.last[d]) return std::nullopt;
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

// A NaN of the map's type, or nothing.
std::vector<uint8_t> filler_of(const TensorMap& map) {
  if (!map.fills_nan) return {};
  std::vector<uint8_t> nan(map.element_bytes, 0xff);
  nan.back() = 0x7f;
  return nan;
}

std::shared_ptr<const TensorBox> find_box(Warp& warp, const Instruction& ins,
                                          int lane, const Address& operand,
                                          const TensorMap& map,
                                          const Corner& corner, Use use) {
  auto box = std::make_shared<TensorBox>();
  box->swizzle = map.swizzle;
  box->filler = filler_of(map);
  const int64_t first = std::max<int64_t>(0, -corner.at[0]);
  const int64_t end =
      std::min<int64_t>(map.count(0), map.last[0] + int64_t{1} - corner.at[0]);
  if (first >= end) return box;
  const auto bytes = static_cast<uint32_t>((end - first) * map.element_bytes);
  for (uint32_t row = 0; row < map.rows(); ++row) {
    const auto offset = find_row(map, corner, row);
    if (!offset) continue;
    Access a(operand, bytes, use);
    find_global(
        warp, ins, lane,
        map.address + *offset + (corner.at[0] + first) * map.element_bytes, a);
    add_run(*box, {a.address[lane], a.base, bytes,
                   static_cast<uint32_t>(row * map.row_bytes() +
                                         first * map.element_bytes)});
  }
  return box;
}

// The box in global memory: a place of its own for each corner, though there
// may be none of its bytes.
Access whole_box(const Address& operand, const TensorMap& map,
                 const Corner& corner, int lane, Use use) {
  Access a(operand, map.rows() * map.row_bytes(), use);
  uint64_t address = map.address + corner.at[0] * map.element_bytes;
  for (int d = 1; d < map.dimensions; ++d)
    address += corner.at[d] * map.stride[d];
  std::fill_n(a.address, kLanes, address);
  a.mask = 1u << lane;
  return a;
}

// ---- Beginning --------------------------------------------------------------

template <bool multicasts>
void load(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int dimensions = ins.source_count - multicasts;
  for (; mask; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const Address& operand = ins.addresses()[1];
    const TensorMap map = read_map(warp, ins, lane, 1, dimensions);
    const Corner corner = read_corner(warp, ins, lane, dimensions);
    const Access from = whole_box(operand, map, corner, lane, Use::kLoad);
    const Access to =
        bulk_place(warp, ins, lane, 0, from.bytes, kBoxAlignment, Use::kStore);
    begin_bulk(warp, ins, lane,
               {to, from, bulk_place(warp, ins, lane, 2, 8, 8, Use::kAtomic),
                find_box(warp, ins, lane, operand, map, corner, Use::kLoad)},
               multicasts);
  }
}

bool can_reduce(Type type, Update update) {
  if (update == Update::kAdd) return type.bytes >= 4 || !type.is('u');
  const bool whole = type.bytes >= 4 && (type.is('u') || type.is('s'));
  const bool counts =
      update == Update::kIncrement || update == Update::kDecrement;
  return whole && (!counts || type == Type{'u', 4});
}

template <bool reduces>
void store(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int dimensions = ins.source_count;
  const Use use = reduces ? Use::kAtomic : Use::kStore;
  for (; mask; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const Address& operand = ins.addresses()[0];
    const TensorMap map = read_map(warp, ins, lane, 0, dimensions);
    if (reduces && !can_reduce(map.type(), ins.update))
      refuse(warp, ins, lane,
             "the executor has no such reduction of the tensor's elements, of "
             "which each has " +
                 std::to_string(map.element_bytes) + " bytes");
    const Corner corner = read_corner(warp, ins, lane, dimensions);
    const Access to = whole_box(operand, map, corner, lane, use);
    const Access from =
        bulk_place(warp, ins, lane, 1, to.bytes, kBoxAlignment, Use::kLoad);
    begin_bulk(
        warp, ins, lane,
        {to, from, std::nullopt,
         find_box(warp, ins, lane, operand, map, corner, use),
         reduces ? reduction_of(map.type()) : nullptr, map.element_bytes},
        false);
  }
}

// ---- Decoding ---------------------------------------------------------------

void read_coordinates(const Operand& map, OperandReader& operands, Draft& ins) {
  for (const std::string& name : map.list) {
    Operand one;
    one.text = name;
    ins.read.push_back(operands.source(one, 4));
  }
}

}  // namespace

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
