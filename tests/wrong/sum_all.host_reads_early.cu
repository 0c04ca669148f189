// Wrong on purpose: the host adds up the sums as soon as their copies are
// queued, and not when they have come.

#include "chapters/17_sum_all/team.h"

namespace {

using team::must, team::told;

struct FreeHost {
  void operator()(void* p) const { cudaFreeHost(p); }
};

// Pinned: a copy to any other memory of the host would wait there.
struct Met {
  int count;
  float sum[kMostDevices], total;
};

struct Team : SumAllTeam {
  team::Members members;
  std::unique_ptr<Met, FreeHost> met;

  explicit Team(const SumAllDevices& devices)
      : members(team::members_of(devices)) {
    void* p = nullptr;
    must(members[0].device, "taking memory of the host",
         cudaHostAlloc(&p, sizeof(Met), cudaHostAllocPortable));
    met.reset(new (p) Met{.count = devices.count});
  }
};

void add_up(void* p) {
  Met& met = *static_cast<Met*>(p);
  met.total = 0.f;
  for (int i = 0; i < met.count; ++i) met.total += met.sum[i];
}

void copy(const team::Member& member, float* to, const float* from,
          cudaMemcpyKind kind, cudaStream_t stream) {
  team::use(member.device);
  must(member.device, "copying a sum",
       cudaMemcpyAsync(to, from, sizeof(float), kind, stream));
}

}  // namespace

SumAllJoined sum_all_join(SumAllDevices devices) {
  return team::joined<Team>(devices);
}

SumAllError sum_all(SumAllTeam* team, SumAllParts parts) {
  const auto& [members, met] = *static_cast<Team*>(team);
  const cudaStream_t first = parts.of[0].stream;
  return told([&] {
    for (int i = 0; i < met->count; ++i) {
      members[i].add_up(parts.of[i]);
      copy(members[i], &met->sum[i], members[i].sum.get(),
           cudaMemcpyDeviceToHost, parts.of[i].stream);
      members[i].record(parts.of[i].stream);
      members[0].wait_for(members[i], first);
    }
    add_up(met.get());
    members[0].record(first);
    for (int i = 0; i < met->count; ++i) {
      members[i].wait_for(members[0], parts.of[i].stream);
      copy(members[i], parts.of[i].out, &met->total, cudaMemcpyHostToDevice,
           parts.of[i].stream);
    }
  });
}

void sum_all_leave(SumAllTeam* team) { delete static_cast<Team*>(team); }
