// Telling what kernels did wrong: once for each kind and place, and no more
// than somebody would read.
#include <algorithm>
#include <vector>

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
  for (size_t& next = so_far.considered; next < all.size(); ++next) {
    const Finding& finding = all[next].first;
    if (!finding.note) note_finding();
    const bool ended_kernel = finding.count == 0;
    if (!ended_kernel && room == 0) {
      say(text("there are findings at more places than are shown; ",
               kWhereAllAre));
      continue;
    }
    if (!ended_kernel) {
      --room;
      ++so_far.limited;
    }
    so_far.shown.push_back(next);
    say(finding.text());
  }
}

void sum_up_findings() {
  tell_early();  // What the host did after the last call belongs to the sum.
  const std::vector<RepeatedFinding>& all = all_findings();
  for (const size_t one : told().shown) {
    if (all[one].launches > 1) say(summary(all[one]));
  }
  if (const size_t rest = all.size() - told().shown.size()) {
    say(text("findings at ", rest, " more places were not shown; ",
             kWhereAllAre));
  }
}

}  // namespace simt
