// Keeps the images that texture and surface objects stand for.
#include "common/simt/memory/images.h"

namespace simt {

uint64_t Images::add(const Texture& texture) {
  const std::lock_guard lock(mutex_);
  live_[++count_] = std::make_shared<const Texture>(texture);
  return count_;
}

std::shared_ptr<const Texture> Images::find(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : found->second;
}

bool Images::remove(uint64_t number) {
  const std::lock_guard lock(mutex_);
  return live_.erase(number) == 1;
}

Images& images() {
  static auto* all = new Images;
  return *all;
}

}  // namespace simt
