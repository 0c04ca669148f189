// Tells where an undefined value decides something, and where it comes from.
#include <algorithm>
#include <string>

#include "common/simt/observe/known_kernels.h"
#include "common/simt/observe/places.h"
#include "common/simt/observe/tainted.h"
#include "common/simt/observe/values.h"

namespace simt {
namespace {

constexpr char kUninitialised[] = "uninitialised read";

// A lane that might have taken part is missed.
const char* kind_of(const Origin& origin) {
  if (origin.by_zero) return "division by zero";
  return origin.absent <= Absent::kNoThread ? kUninitialised : "missing lane";
}

std::string text_of_absent(const Origin& origin) {
  constexpr const char* kWhy[] = {"", "has no thread", "has exited",
                                  "the mask leaves out"};
  return "shuffle with lane " + std::to_string(origin.address) + ", which " +
         kWhy[static_cast<int>(origin.absent)] +
         ": what it brings is undefined";
}

// Is it memory that nobody has written?
bool has_address(const Origin& origin) {
  return origin.absent == Absent::kNo && !origin.variable && !origin.by_zero;
}

std::string text_of(const Grid& grid, const Origin& origin) {
  if (origin.variable) return "a variable is read that has no value yet";
  if (origin.by_zero)
    return "an integer is divided by 0: what comes of it is undefined";
  if (origin.absent != Absent::kNo) return text_of_absent(origin);
  const Instruction& load = grid.program.instruction(origin.site);
  const int elements =
      load.kind == Kind::kMatrix ? 1 : std::max<int>(load.result_count, 1);
  return "read of " + std::to_string(load.element_bytes * elements) +
         " bytes that nobody has written: " +
         text_of_place(grid, origin.space, origin.address);
}

}  // namespace

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
  if (found_.again(kind_of(origin), origin.site)) return;
  const Instruction& load = grid_.program.instruction(origin.site);
  const Warp& loader = *warp.block->warps[origin.thread / kLanes];
  Finding f = finding_at(
      loader, load, origin.thread % kLanes, kind_of(origin),
      text_of(grid_, origin) + ". " + matters + at_place(grid_, ins));
  if (has_address(origin)) f.address = origin.address;
  place_other(grid_, f, ins, warp.block->number, warp.index * kLanes + lane);
  found_.add(kind_of(origin), origin.site, std::move(f));
}

void Values::tell_unwritten(Warp& warp, const Instruction& ins, int lane,
                            Space space, uint64_t address, const char* what,
                            uint32_t bytes, const char* matters) {
  if (found_.again(kUninitialised, ins.site)) return;
  Finding f = finding_at(warp, ins, lane, kUninitialised,
                         what + (" of " + std::to_string(bytes)) +
                             " bytes that nobody has written: " +
                             text_of_place(grid_, space, address) +
                             (*matters ? ". " : "") + matters);
  f.address = address;
  found_.add(kUninitialised, ins.site, std::move(f));
}

}  // namespace simt
