// What one host thread has found, each once: a kind of finding at one
// instruction, or at two.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simt/core/finding.h"
#include "common/simt/core/grid.h"

namespace simt {

class Found {
 public:
  explicit Found(const Grid& grid) : grid_(grid) {}

  // Was it found at these instructions before? Then it is counted once more,
  // and need not be put into words. `kind` is a literal.
  bool again(const char* kind, uint32_t site, uint32_t other = 0);
  // Found at these instructions before: does this remedy help more threads?
  void widen(const char* kind, uint32_t site, uint32_t other,
             const Remedy& remedy);
  void add(const char* kind, uint32_t site, uint32_t other, Finding finding);
  void add(const char* kind, uint32_t site, Finding finding) {
    add(kind, site, 0, std::move(finding));
  }
  void add(const Found& other);
  // In the order in which they were found first.
  std::vector<Finding> all() const;

 private:
  struct Seen {
    Finding finding;
    uint64_t number = 0, count = 0;
  };
  using Key = std::tuple<std::string_view, uint32_t, uint32_t>;
  bool is_explained(const Key& key) const;

  const Grid& grid_;
  std::map<Key, Seen> seen_;
};

}  // namespace simt
