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

Peers& peers() {
  static auto* all = new Peers;
  return *all;
}

}  // namespace simt
