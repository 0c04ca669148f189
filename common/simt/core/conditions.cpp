// The numbers themselves, by their place in the order of creation.
#include "common/simt/core/conditions.h"

#include <mutex>
#include <vector>

namespace simt {
namespace {

std::mutex& mutex() {
  static auto* one = new std::mutex;
  return *one;
}

// Number 1 comes first.
std::vector<uint32_t>& values() {
  static auto* all = new std::vector<uint32_t>;
  return *all;
}

bool is_known(uint64_t condition) {
  return condition != 0 && condition <= values().size();
}

}  // namespace

uint64_t create_condition(uint32_t value) {
  const std::lock_guard lock(mutex());
  values().push_back(value);
  return values().size();
}

bool set_condition(uint64_t condition, uint32_t value) {
  const std::lock_guard lock(mutex());
  if (!is_known(condition)) return false;
  values()[condition - 1] = value;
  return true;
}

std::optional<uint32_t> find_condition(uint64_t condition) {
  const std::lock_guard lock(mutex());
  if (!is_known(condition)) return std::nullopt;
  return values()[condition - 1];
}

}  // namespace simt
