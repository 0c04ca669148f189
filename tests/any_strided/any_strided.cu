// All families behind one function.
#include <cstring>
#include <string>

#include "tests/any_strided/family.h"

namespace {

using by_name::Member, by_name::Plan;

// The member of that name, or none.
const Member* found(const AnyStrided& asked) {
  static const std::vector<Member> all = [] {
    std::vector<Member> members;
    for (const auto& family :
         {by_name::sums(), by_name::other_sums(), by_name::copies(),
          by_name::narrow_copies(), by_name::whole_copies(), by_name::others()})
      members.insert(members.end(), family.begin(), family.end());
    return members;
  }();
  for (const Member& member : all)
    if (std::strcmp(member.what, asked.what) == 0 &&
        member.arrays == asked.arrays)
      return &member;
  return nullptr;
}

constexpr const char* kNone = "There is no such function of so many arrays.";

}  // namespace

const char* any_strided(const AnyStrided* asked, cudaStream_t stream) {
  const Member* member = found(*asked);
  return member ? member->call(*asked, stream) : kNone;
}

const char* any_strided_path(const AnyStrided* asked) {
  static thread_local std::string words;
  const Member* member = found(*asked);
  const Plan plan = member ? member->plan(*asked) : Plan{kNone, {}};
  if (plan.error) return plan.error;
  if (plan.pieces.empty()) return "nothing";
  const strided::Piece& piece = plan.pieces.front();
  words = piece.path() + ", packs of " + std::to_string(piece.width) +
          ", rows of " + std::to_string(piece.steps) +
          ", pieces: " + std::to_string(plan.pieces.size());
  return words.c_str();
}
