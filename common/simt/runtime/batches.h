// What calls that ask for many things at once have in common.
#pragma once

#include "common/simt/runtime/runtime.h"

namespace simt {

// Which of a batch's entries holds for its member i: entry k does from
// begins[k] on.
class Entries {
 public:
  Entries(const size_t* begins, size_t count, size_t members)
      : begins_(begins), count_(count) {
    require(begins != nullptr && count != 0 && count <= members,
            cudaErrorInvalidValue, "there are ", count, " entries for ",
            members);
    require(begins[0] == 0, cudaErrorInvalidValue,
            "the first index must be 0, and is ", begins[0]);
    for (size_t k = 1; k < count; ++k)
      require(begins[k] > begins[k - 1] && begins[k] < members,
              cudaErrorInvalidValue, "index ", k, " is ", begins[k],
              ": they grow, and stay below ", members);
  }

  size_t of(size_t i) const {
    size_t k = 0;
    while (k + 1 < count_ && begins_[k + 1] <= i) ++k;
    return k;
  }

 private:
  const size_t* begins_;
  size_t count_;
};

}  // namespace simt
