// The launches of a program, one line per kernel, and what the executor found
// wrong in one line.
#include "common/harness/show_kernels.h"

#include <set>
#include <vector>

#include "common/harness/show.h"
#include "common/harness/show_profile.h"
#include "common/simt/core/names.h"
#include "common/simt/core/settings.h"
#include "common/simt/observe/report.h"

namespace show {
namespace {

constexpr int kKernelColumns = 22;

struct Kernel {
  std::string name;
  std::vector<Metrics> launches;
};

// In the order in which they were launched first.
std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (const simt::LaunchReport& launch : simt::launch_reports()) {
    size_t k = 0;
    while (k < all.size() && all[k].name != launch.kernel) ++k;
    if (k == all.size()) all.push_back({launch.kernel, {}});
    all[k].launches.push_back(launch.metrics);
  }
  return all;
}

std::vector<simt::Finding> wrong_findings() {
  std::vector<simt::Finding> wrong;
  for (const simt::RepeatedFinding& one : simt::all_findings())
    if (!one.first.note) wrong.push_back(one.first);
  return wrong;
}

std::string findings_of(const std::string& kernel) {
  std::set<std::string> kinds;
  for (const simt::Finding& one : wrong_findings())
    if (one.kernel == kernel) kinds.insert(one.kind);
  std::string out;
  for (const std::string& kind : kinds) out += (out.empty() ? "" : ", ") + kind;
  return out.empty() ? "none" : out;
}

void print_kernel(const Kernel& kernel, std::FILE* out) {
  const Metrics m = total(kernel.launches);
  const double requests =
      sum(m, "l1tex__t_requests_pipe_lsu_mem_global_op_*.sum",
          {"ld", "st", "red", "atom"});
  const double sectors = sum(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum",
                             {"ld", "st", "red", "atom"});
  const double conflicts =
      sum(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*.sum",
          {"ld", "st"});
  const double lanes =
      m.at("smsp__thread_inst_executed_per_inst_executed.ratio");
  std::string name = simt::short_name(kernel.name);
  if (name.size() > kKernelColumns) {
    std::fprintf(out, "%s\n", name.c_str());
    name.clear();
  }
  std::fprintf(
      out, "%-*s%9s%12s%8s%10s%6.1f  %s\n", kKernelColumns, name.c_str(),
      grouped(kernel.launches.size()).c_str(), grouped(requests).c_str(),
      text(requests ? sectors / requests : 0, Row::kRatio).c_str(),
      grouped(conflicts).c_str(), lanes, findings_of(kernel.name).c_str());
}

}  // namespace

void print_kernels(std::FILE* out) {
  const std::vector<simt::LaunchReport>& reports = simt::launch_reports();
  if (reports.empty()) {
    std::fprintf(out, "\nNo kernel was launched, so nothing is counted.\n");
    return;
  }
  if (reports[0].metrics.empty()) return;  // SIMT_COUNTERS=off
  std::fprintf(out, "\n%-*s%9s%12s%8s%10s%6s  %s\n", kKernelColumns, "kernel",
               "launches", "requests", "sectors", "conflicts", "lanes",
               "findings");
  for (const Kernel& kernel : kernels()) print_kernel(kernel, out);
  std::fprintf(out,
               "requests: of global memory; sectors: per request; conflicts: "
               "in the banks of\nshared memory; lanes: active per "
               "instruction, of 32.\n");
  if (simt::launch_count() > reports.size())
    std::fprintf(out, "These are the first %s of %s launches.\n",
                 grouped(reports.size()).c_str(),
                 grouped(simt::launch_count()).c_str());
  std::fprintf(out, "Line by line: PROFILE=1 ./run. ");
  if (const char* path = simt::settings::report_path())
    std::fprintf(out, "The whole report is %s.\n", path);
  else
    std::fprintf(out, "The whole report: SIMT_REPORT=report.json ./run\n");
}

void print_traffic(std::FILE* out, const std::vector<simt::Traffic>& before) {
  const std::vector<simt::Traffic> between =
      simt::difference(simt::peers().traffic(), before);
  if (between.empty()) return;
  std::fprintf(out, "\n%-*s%15s%15s%15s\n", kKernelColumns,
               "bytes between devices", "loaded", "stored", "copied");
  for (const simt::Traffic& one : between) {
    const std::string pair =
        "from " + std::to_string(one.from) + " to " + std::to_string(one.to);
    std::fprintf(out, "%-*s%15s%15s%15s\n", kKernelColumns, pair.c_str(),
                 grouped(one.loaded).c_str(), grouped(one.stored).c_str(),
                 grouped(one.copied).c_str());
  }
  std::fprintf(out,
               "loaded, stored: by kernels, each byte of a warp's access once; "
               "copied: by the\nhost's calls, and by NCCL's, which go round in "
               "a ring.\n");
}

std::string failure() {
  const std::vector<simt::Finding> wrong = wrong_findings();
  if (wrong.empty()) return "";
  const simt::Finding& first = wrong[0];
  std::string out =
      "FAILED: " + first.kind + " in " + simt::short_name(first.kernel);
  if (!first.file.empty())
    out += " at " + short_path(first.file) + ":" + std::to_string(first.line);
  if (wrong.size() > 1)
    out += " (and " + std::to_string(wrong.size() - 1) + " more)";
  return out;
}

}  // namespace show
