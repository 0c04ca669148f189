// Telling what kernels did wrong: once for each kind and place, and no more
// than somebody would read.
#include <algorithm>
#include <vector>

#include "common/simt/observe/one_barrier.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr size_t kMostOfLaunch = 20, kMostOfProcess = 100;

// Never destroyed: the sum is told when all destructors have run.
struct Told {
  size_t considered = 0;      // of all_findings()
  std::vector<size_t> shown;  // which of them
  size_t limited = 0;         // of those, all that did not end a kernel
  size_t joined = 0;          // that are told with one of those
};
Told& told() {
  static auto* one = new Told;
  return *one;
}

constexpr char kWhereAllAre[] = "SIMT_REPORT=file.json lists all";

std::string summary(const RepeatedFinding& f) {
  const std::string place =
      f.first.file.empty() ? "" : text(" at ", f.first.file, ':', f.first.line);
  return text(f.first.note ? "note: " : "", f.first.kind, place, " in ",
              f.first.kernel, ": in ", f.launches, " launches, ", f.times,
              " times in all");
}

}  // namespace

void tell_findings() {
  const std::lock_guard lock(reports_mutex());
  const std::vector<RepeatedFinding>& all = all_findings();
  Told& so_far = told();
  size_t room = std::min(kMostOfLaunch, kMostOfProcess - so_far.limited);
  bool too_many = false;
  std::vector<OneBarrier> shown;
  for (size_t& next = so_far.considered; next < all.size(); ++next) {
    const Finding& finding = all[next].first;
    if (!finding.note) note_finding();
    const bool ended_kernel = finding.count == 0;
    if (std::ranges::any_of(
            shown, [&](OneBarrier& one) { return one.takes(finding); })) {
      ++so_far.joined;
    } else if (!ended_kernel && room == 0) {
      too_many = true;
    } else {
      room -= !ended_kernel;
      so_far.limited += !ended_kernel;
      so_far.shown.push_back(next);
      shown.emplace_back(finding);
    }
  }
  for (const OneBarrier& one : shown) say(one.text());
  if (too_many)
    say(text("there are findings at more places than are shown; ",
             kWhereAllAre));
}

void sum_up_findings() {
  tell_early();  // What the host did after the last call belongs to the sum.
  const std::vector<RepeatedFinding>& all = all_findings();
  for (const size_t one : told().shown) {
    if (all[one].launches > 1) say(summary(all[one]));
  }
  if (const size_t rest = all.size() - told().shown.size() - told().joined) {
    say(text("findings at ", rest, " more places were not shown; ",
             kWhereAllAre));
  }
}

}  // namespace simt
