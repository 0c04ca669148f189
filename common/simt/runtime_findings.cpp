// Telling what kernels did wrong: once for each kind and place, and no more
// than somebody would read.
#include <algorithm>
#include <vector>

#include "common/simt/report.h"
#include "common/simt/runtime.h"

namespace simt {
namespace {

constexpr size_t kMostOfLaunch = 20, kMostOfProcess = 100;

size_t considered = 0;      // of all_findings()
std::vector<size_t> shown;  // which of them
size_t told = 0;            // of those, but for what ended a kernel
constexpr char kWhereAllAre[] = "SIMT_REPORT=file.json lists all";

std::string summary(const RepeatedFinding& f) {
  return text(f.first.note ? "note: " : "", f.first.kind, " at ", f.first.file,
              ':', f.first.line, " in ", f.first.kernel, ": in ", f.launches,
              " launches, ", f.times, " times in all");
}

}  // namespace

void tell_findings() {
  const std::vector<RepeatedFinding>& all = all_findings();
  size_t room = std::min(kMostOfLaunch, kMostOfProcess - told);
  for (; considered < all.size(); ++considered) {
    const Finding& finding = all[considered].first;
    if (!finding.note) note_finding();
    const bool ended_kernel = finding.count == 0;
    if (!ended_kernel && room == 0) {
      say(text("there are findings at more places than are shown; ",
               kWhereAllAre));
      continue;
    }
    if (!ended_kernel) {
      --room;
      ++told;
    }
    shown.push_back(considered);
    say(finding.text());
  }
}

void sum_up_findings() {
  const std::vector<RepeatedFinding>& all = all_findings();
  for (const size_t one : shown) {
    if (all[one].launches > 1) say(summary(all[one]));
  }
  if (const size_t rest = all.size() - shown.size()) {
    say(text("findings at ", rest, " more places were not shown; ",
             kWhereAllAre));
  }
}

}  // namespace simt
