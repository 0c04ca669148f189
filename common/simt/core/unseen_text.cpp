// Remembers where text was printed that the host has not waited for.
#include "common/simt/core/unseen_text.h"

#include <atomic>
#include <mutex>

namespace simt {
namespace {

struct Unseen {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::string place;
};
Unseen& unseen() {
  static auto* one = new Unseen;  // Never destroyed: it is asked at the end.
  return *one;
}

}  // namespace

void note_printed(const std::string& place) {
  const std::lock_guard lock(unseen().mutex);
  if (!unseen().any.exchange(true)) unseen().place = place;
}

bool is_text_unseen() { return unseen().any; }

void show_text() { unseen().any = false; }

std::string unseen_place() {
  const std::lock_guard lock(unseen().mutex);
  return unseen().any ? unseen().place : "";
}

}  // namespace simt
