// Sums up what went between devices.
#include "common/simt/memory/peers.h"

namespace simt {

std::vector<Traffic> Peers::traffic() const {
  std::vector<Traffic> all;
  for (int from = 0; from < settings::kMostDevices; ++from)
    for (int to = 0; to < settings::kMostDevices; ++to) {
      const Bytes& bytes = between_[from][to];
      const Traffic one = {from, to, bytes.loaded, bytes.stored, bytes.copied};
      if (!one.none()) all.push_back(one);
    }
  return all;
}

std::vector<Traffic> difference(std::vector<Traffic> all,
                                const std::vector<Traffic>& before) {
  for (Traffic& one : all)
    for (const Traffic& then : before) {
      if (one.from != then.from || one.to != then.to) continue;
      one.loaded -= then.loaded;
      one.stored -= then.stored;
      one.copied -= then.copied;
    }
  std::erase_if(all, [](const Traffic& one) { return one.none(); });
  return all;
}

bool Peers::may_access_pool(uint64_t pool, int device) const {
  const std::lock_guard lock(mutex_);
  return to_pools_.contains({pool, device});
}

void Peers::allow_pool(uint64_t pool, int device, bool may) {
  const std::lock_guard lock(mutex_);
  if (may)
    to_pools_.insert({pool, device});
  else
    to_pools_.erase({pool, device});
}

Peers& peers() {
  static auto* all = new Peers;
  return *all;
}

}  // namespace simt
