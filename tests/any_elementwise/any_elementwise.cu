// All families behind one function.
#include <map>

#include "tests/any_elementwise/family.h"

namespace {

using by_name::Member;

// The member of that name, or none.
const Member* found(const char* what) {
  using namespace by_name;
  static const auto all = [] {
    std::map<std::string, Member> members;
    for (const auto& family :
         {floats(), halves(), brains(), others(), casts_bool(), casts_int8(),
          casts_int16(), casts_int32(), casts_int64(), casts_uint8(),
          casts_uint16(), casts_uint32(), casts_half(), casts_bfloat16(),
          casts_float(), casts_double()})
      for (const Member& member : family) members[member.what] = member;
    return members;
  }();
  const auto place = all.find(what);
  return place == all.end() ? nullptr : &place->second;
}

}  // namespace

const char* any_elementwise(const AnyElementwise* asked, cudaStream_t stream) {
  const Member* member = found(asked->what);
  if (!member) return "There is no such function.";
  return member->apply(*asked, stream);
}

void any_elementwise_path(const AnyElementwise* asked, int64_t* path) {
  const Member* member = found(asked->what);
  const elementwise::Path taken =
      member ? member->path(*asked) : elementwise::Path{};
  path[0] = taken.width;
  path[1] = taken.head;
  path[2] = taken.packs;
  path[3] = taken.blocks;
  path[4] = taken.shifted;
}
