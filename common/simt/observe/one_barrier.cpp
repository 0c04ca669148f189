// Finds races that one barrier would order.
#include "common/simt/observe/one_barrier.h"

#include <algorithm>

namespace simt {
namespace {

// Whether a barrier of its block, or of a warp, puts the race in order.
bool wants_barrier(const Finding& f) {
  return f.kind == "race" && !f.note && f.line != 0 && f.file == f.other_file &&
         (f.widest.reach == Remedy::kLanes || f.widest.reach == Remedy::kWarps);
}

}  // namespace

OneBarrier::OneBarrier(const Finding& first)
    : first_(first), between_(lines_of(first)), pairs_{between_} {}

OneBarrier::Lines OneBarrier::lines_of(const Finding& f) {
  return std::minmax({f.line, f.other_line});
}

bool OneBarrier::takes(const Finding& more) {
  if (!wants_barrier(first_) || !wants_barrier(more) ||
      more.kernel != first_.kernel || more.file != first_.file ||
      more.widest.is_for_more_than(first_.widest))
    return false;
  const Lines lines = lines_of(more);
  const Lines both = {std::max(between_.first, lines.first),
                      std::min(between_.second, lines.second)};
  if (both.first >= both.second) return false;
  between_ = both;
  pairs_.insert(lines);
  return true;
}

std::string OneBarrier::text() const {
  const size_t others = pairs_.size() - 1;
  if (others == 0) return first_.text();
  return first_.text() + "\n  and " + std::to_string(others) + " more pair" +
         (others > 1 ? "s" : "") +
         " of lines, which the same barrier would order: "
         "SIMT_REPORT=file.json lists all";
}

}  // namespace simt
