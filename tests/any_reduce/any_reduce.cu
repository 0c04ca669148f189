// All families behind one function.
#include <cstring>

#include "tests/any_reduce/family.h"

namespace {

using by_name::Member, by_name::Plan;

// The member of that name, or none.
const Member* found(const char* what) {
  static const std::vector<Member> all = [] {
    std::vector<Member> members;
    for (const auto& family :
         {by_name::sums(), by_name::means(), by_name::other_sums(),
          by_name::whole_sums(), by_name::extremes(), by_name::arg_extremes(),
          by_name::other_extremes(), by_name::norms(), by_name::spreads(),
          by_name::other_spreads()})
      members.insert(members.end(), family.begin(), family.end());
    return members;
  }();
  for (const Member& member : all)
    if (std::strcmp(member.what, what) == 0) return &member;
  return nullptr;
}

}  // namespace

const char* any_reduce(const AnyReduction* asked, void* scratch, int64_t bytes,
                       cudaStream_t stream) {
  const Member* member = found(asked->what);
  if (!member) return "There is no such operation.";
  Plan plan = member->plan(*asked);
  plan.wide = plan.wide || asked->wide;
  return member->reduce(*asked, plan, {scratch, bytes}, stream);
}

int64_t any_reduce_scratch(const AnyReduction* asked, int64_t* cleared) {
  const Member* member = found(asked->what);
  const Plan plan = member ? member->plan(*asked) : Plan{};
  *cleared = plan.counter_bytes;
  return plan.scratch_bytes;
}
