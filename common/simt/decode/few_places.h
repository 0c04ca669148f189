// A set of few places, of which there is one for each instruction that a value
// passes.
#pragma once
#include <algorithm>
#include <iterator>
#include <vector>

#include "common/simt/core/code.h"

namespace simt {

class Places {
 public:
  bool insert(Place place) {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), place);
    if (at != sorted_.end() && *at == place) return false;
    sorted_.insert(at, place);
    return true;
  }
  void erase(Place place) { std::erase(sorted_, place); }
  bool contains(Place place) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), place);
  }
  // Whether some were new.
  bool merge(const Places& more) {
    if (std::includes(sorted_.begin(), sorted_.end(), more.sorted_.begin(),
                      more.sorted_.end()))
      return false;
    std::vector<Place> both;
    both.reserve(sorted_.size() + more.sorted_.size());
    std::set_union(sorted_.begin(), sorted_.end(), more.sorted_.begin(),
                   more.sorted_.end(), std::back_inserter(both));
    sorted_ = std::move(both);
    return true;
  }
  bool empty() const { return sorted_.empty(); }
  const std::vector<Place>& sorted() const { return sorted_; }

 private:
  std::vector<Place> sorted_;
};

}  // namespace simt
