// Wrong on purpose: each device asks for as many sums as it has numbers to
// give, one or none; the ranks have to agree.

#include <nccl.h>
#include <stdlib.h>

#include "chapters/17_sum_all/team.h"

namespace {

using team::told, team::Trouble;

void must(const char* tried, ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw Trouble("NCCL, %s: %s", tried, ncclGetErrorString(result));
}

struct Leave {
  void operator()(ncclComm_t rank) const { ncclCommDestroy(rank); }
};
using Rank = std::unique_ptr<std::remove_pointer_t<ncclComm_t>, Leave>;

struct Team : SumAllTeam {
  team::Members members;
  std::vector<Rank> ranks;  // One for each member.

  explicit Team(const SumAllDevices& devices)
      : members(team::members_of(devices)) {
    // Multicast within the switch needs rights that not every machine gives.
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    ncclComm_t made[kMostDevices] = {};
    must("making the ranks",
         ncclCommInitAll(made, devices.count, devices.device));
    for (int i = 0; i < devices.count; ++i) ranks.emplace_back(made[i]);
  }
};

// One thread speaks for all ranks. Within a group NCCL waits for none of them.
void all_reduce(const Team& team, const SumAllPart* part) {
  ncclResult_t result = ncclGroupStart();
  for (size_t i = 0; i < team.ranks.size() && result == ncclSuccess; ++i)
    result = ncclAllReduce(team.members[i].sum.get(), part[i].out,
                           part[i].n > 0 ? 1 : 0, ncclFloat, ncclSum,
                           team.ranks[i].get(), part[i].stream);
  const ncclResult_t ended = ncclGroupEnd();  // Whatever came of it.
  must("reducing", result);
  must("ending a group", ended);
}

}  // namespace

SumAllJoined sum_all_join(SumAllDevices devices) {
  return team::joined<Team>(devices);
}

SumAllError sum_all(SumAllTeam* joined, SumAllParts parts) {
  const Team& team = *static_cast<Team*>(joined);
  return told([&] {
    for (size_t i = 0; i < team.members.size(); ++i)
      team.members[i].add_up(parts.of[i]);
    all_reduce(team, parts.of);
  });
}

void sum_all_leave(SumAllTeam* team) { delete static_cast<Team*>(team); }
