// Chapter 17: the sums of several devices, read where they are.
//
// New:   a kernel of the first device reads every device's own sum, and writes
//        what they make together to each of them.
// Why:   with peer access an address of another device is an address: a load
//        goes over the link between the two, past the host and its memory.
// Price: devices that can reach each other, and an event per device: nothing
//        else keeps one of them from reading what another has not yet written.

#include "chapters/17_sum_all/team.h"

namespace {

using team::must, team::told;

// A lane for each device.
struct Meeting {
  int count;
  const float* sum[kMostDevices];
  float* out[kMostDevices];
};

__global__ void sum_all_kernel(const __grid_constant__ Meeting at) {
  const int lane = threadIdx.x;
  const float sum = own::warp_sum(lane < at.count ? *at.sum[lane] : 0.f);
  if (lane < at.count) *at.out[lane] = sum;
}

struct Team : SumAllTeam {
  team::Members members;

  explicit Team(const SumAllDevices& devices)
      : members(team::members_of(devices)) {
    const int first = members[0].device;
    team::use(first);
    for (size_t i = 1; i < members.size(); ++i)
      team::reach(first, members[i].device);
  }
};

void meet(const team::Members& members, const SumAllPart* part) {
  Meeting at = {.count = static_cast<int>(members.size())};
  for (int i = 0; i < at.count; ++i) {
    at.sum[i] = members[i].sum.get();
    at.out[i] = part[i].out;
    if (i > 0) members[0].wait_for(members[i], part[0].stream);
  }
  team::use(members[0].device);
  sum_all_kernel<<<1, own::kLanes, 0, part[0].stream>>>(at);
  must(members[0].device, "adding up all sums", cudaGetLastError());
}

}  // namespace

SumAllJoined sum_all_join(SumAllDevices devices) {
  return team::joined<Team>(devices);
}

SumAllError sum_all(SumAllTeam* team, SumAllParts parts) {
  const team::Members& members = static_cast<Team*>(team)->members;
  return told([&] {
    for (size_t i = 0; i < members.size(); ++i) {
      members[i].add_up(parts.of[i]);
      members[i].record(parts.of[i].stream);
    }
    meet(members, parts.of);
    members[0].record(parts.of[0].stream);
    for (size_t i = 1; i < members.size(); ++i)
      members[i].wait_for(members[0], parts.of[i].stream);
  });
}

void sum_all_leave(SumAllTeam* team) { delete static_cast<Team*>(team); }
