// Which counters a table shows, what their ideal is, and what to say of one
// that is far from it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/harness/show.h"

namespace show {
namespace {

constexpr double kLanes = 32;
constexpr double kSectorBytes = 32;

constexpr char kInstructions[] = "smsp__inst_executed.sum";
constexpr char kActive[] = "smsp__thread_inst_executed_per_inst_executed.ratio";
constexpr char kBranches[] = "smsp__sass_branch_targets.sum";
constexpr char kUniform[] = "smsp__sass_branch_targets_threads_uniform.sum";
constexpr char kEfficiency[] =
    "smsp__sass_average_branch_targets_threads_uniform.pct";
constexpr char kSharedAtomics[] = "smsp__inst_executed_op_shared_atom.sum";
constexpr char kCompulsory[] = "simt__compulsory_bytes.sum";
constexpr char kBlocks[] = "simt__blocks.sum";
constexpr char kBarriers[] = "simt__barriers.sum";

// `op` is ld, st, red or atom.
std::string requests(const std::string& op) {
  return "l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum";
}
std::string sectors(const std::string& op) {
  return "l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum";
}
std::string used(const std::string& op) {
  return "smsp__sass_average_data_bytes_per_sector_mem_global_op_" + op +
         ".pct";
}
std::string shared_requests(const std::string& op) {
  return "smsp__sass_inst_executed_op_shared_" + op + ".sum";
}
std::string wavefronts(const std::string& op) {
  return "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum";
}
std::string conflicts(const std::string& op) {
  return "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + op + ".sum";
}

double ratio(double part, double whole, double otherwise = 0) {
  return whole ? part / whole : otherwise;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string formatted(const char* format, double a, double b = 0) {
  char text[200];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

// Bytes that lanes asked for, in sectors: as few would hold them.
double used_sectors(const Metrics& m, const std::string& op) {
  return value(m, used(op)) / 100 * value(m, sectors(op));
}

// What the requests would touch if each one's bytes lay side by side: at least
// one sector, however few bytes they are. ncu knows only all requests together,
// so of its numbers this is a lower bound.
double least_sectors(const Metrics& m, const std::string& op) {
  const auto counted =
      m.find("simt__least_sectors_mem_global_op_" + op + ".sum");
  if (counted != m.end()) return counted->second;
  return std::max(used_sectors(m, op), value(m, requests(op)));
}

std::string sector_note(double per_request, double ideal) {
  if (per_request < 1.1 * ideal) return "";
  const double times = per_request / ideal;
  if (per_request > 0.9 * kLanes && times > 2)
    return formatted(
        "Each lane touches a sector of its own: %.3g times as many sectors as "
        "the bytes need.",
        times);
  if (per_request - ideal < 1.5)
    return "A warp's bytes reach into one sector more than they need: "
           "they do not begin where a sector begins, or do not lie side by "
           "side.";
  return formatted(
      "A warp's bytes lie scattered: they touch %.3g times as many sectors "
      "as they need.",
      times);
}

void add_global(std::vector<Row>& rows, const Metrics& m, const std::string& op,
                const std::string& name, const std::string& past) {
  const double n = value(m, requests(op)), all = value(m, sectors(op));
  const bool relevant = n > 0;
  const double ideal = ratio(least_sectors(m, op), n);
  rows.push_back({.name = name + " requests",
                  .metric = requests(op),
                  .value = n,
                  .relevant = relevant});
  rows.push_back({.name = "sectors per " + name + " request",
                  .metric = sectors(op) + " / requests",
                  .form = Row::kRatio,
                  .value = ratio(all, n),
                  .ideal = ideal,
                  .relevant = relevant,
                  .note = relevant ? sector_note(all / n, ideal) : "",
                  .cost = all - n * ideal});
  rows.push_back({.name = past + " bytes that are used",
                  .metric = used(op),
                  .form = Row::kPercent,
                  .value = value(m, used(op)),
                  .ideal = 100 * ratio(used_sectors(m, op), n * ideal, 1),
                  .relevant = relevant});
}

std::string conflict_note(double passes, double lost) {
  if (lost < 0.05 * passes) return "";
  return formatted(
      "Lanes want different words of one bank and take turns: "
      "%.3g passes instead of 1.",
      passes / (passes - lost));
}

void add_shared(std::vector<Row>& rows, const Metrics& m, const std::string& op,
                const std::string& name) {
  const double n = value(m, shared_requests(op));
  const double passes = value(m, wavefronts(op));
  const double lost = value(m, conflicts(op));
  rows.push_back({.name = "shared " + name,
                  .metric = shared_requests(op),
                  .value = n,
                  .relevant = n > 0});
  rows.push_back({.name = "wavefronts of shared " + name,
                  .metric = wavefronts(op),
                  .value = passes,
                  .ideal = passes - lost,
                  .relevant = n > 0});
  rows.push_back({.name = "bank conflicts of shared " + name,
                  .metric = conflicts(op),
                  .value = lost,
                  .ideal = 0,
                  .relevant = n > 0,
                  .note = conflict_note(passes, lost),
                  .cost = lost});
}

void add_execution(std::vector<Row>& rows, const Metrics& m) {
  const double branches = value(m, kBranches);
  const double agree = 100 * ratio(value(m, kUniform), branches, 1);
  const double active = value(m, kActive);
  const bool of_ptx = is_executor(m);
  const bool relevant = value(m, kInstructions) > 0;
  rows.push_back(
      {.name = "branch efficiency",
       .metric = kEfficiency,
       .form = Row::kPercent,
       .value = agree,
       .ideal = 100,
       .of_ptx = of_ptx,
       .relevant = relevant,
       .note = agree > 95 ? ""
                          : formatted("At %.3g %% of the branches a warp's "
                                      "lanes take different ways, which run "
                                      "one after the other.",
                                      100 - agree),
       .cost = branches - value(m, kUniform)});
  rows.push_back(
      {.name = "active threads per warp instruction",
       .metric = kActive,
       .form = Row::kRatio,
       .value = active,
       .ideal = kLanes,
       .of_ptx = of_ptx,
       .relevant = relevant,
       .note = active > 30
                   ? ""
                   : formatted("On average %.3g of a warp's 32 lanes have "
                               "nothing to do.",
                               kLanes - active),
       .cost = value(m, kInstructions) * (1 - active / kLanes)});
  rows.push_back({.name = "warp instructions",
                  .metric = kInstructions,
                  .value = value(m, kInstructions),
                  .of_ptx = of_ptx,
                  .relevant = relevant});
}

void add_bytes(std::vector<Row>& rows, const Metrics& m) {
  double moved = 0;
  for (const char* op : {"ld", "st", "red", "atom"})
    moved += kSectorBytes * value(m, sectors(op));
  const double floor = value(m, kCompulsory);
  rows.push_back({.name = "compulsory bytes",
                  .metric = "none (a floor for dram__bytes.sum)",
                  .value = floor,
                  .relevant = floor > 0});
  rows.push_back(
      {.name = "bytes moved by all requests",
       .metric = "32 x l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum",
       .value = moved,
       .ideal = floor,
       .relevant = moved > 0,
       .note = moved < 1.1 * floor
                   ? ""
                   : formatted("Each sector is asked for %.3g times on "
                               "average; unless it is to read once and to "
                               "write once, only a cache can keep the repeats "
                               "from memory.",
                               ratio(moved, floor)),
       .cost = (moved - floor) / kSectorBytes});
}

}  // namespace

double value(const Metrics& m, const std::string& name) {
  const auto found = m.find(name);
  return found == m.end() ? 0 : found->second;
}

double sum(const Metrics& m, const std::string& name,
           std::initializer_list<const char*> parts) {
  double all = 0;
  const size_t star = name.find('*');
  for (const char* part : parts)
    all += value(m, std::string(name).replace(star, 1, part));
  return all;
}

bool is_executor(const Metrics& metrics) {
  return metrics.contains(kCompulsory);
}

std::vector<std::string> ncu_metrics() {
  std::vector<std::string> names = {kInstructions, kActive,     kBranches,
                                    kUniform,      kEfficiency, kSharedAtomics};
  for (const char* op : {"ld", "st", "red", "atom"}) {
    names.push_back(requests(op));
    names.push_back(sectors(op));
  }
  for (const char* op : {"ld", "st"}) {
    for (const auto& name :
         {used(op), shared_requests(op), wavefronts(op), conflicts(op)})
      names.push_back(name);
  }
  return names;
}

Metrics total(const std::vector<Metrics>& parts) {
  Metrics sum;
  std::map<std::string, double> used_by;
  double active = 0;
  for (const Metrics& part : parts) {
    for (const auto& [name, number] : part)
      if (ends_with(name, ".sum")) sum[name] += number;
    for (const char* op : {"ld", "st"}) used_by[op] += used_sectors(part, op);
    active += value(part, kActive) * value(part, kInstructions);
  }
  for (const auto& [op, sectors_used] : used_by)
    sum[used(op)] = 100 * ratio(sectors_used, value(sum, sectors(op)));
  sum[kEfficiency] =
      100 * ratio(value(sum, kUniform), value(sum, kBranches), 1);
  sum[kActive] = ratio(active, value(sum, kInstructions));
  return sum;
}

Metrics total(const CountedCase& counted) {
  std::vector<Metrics> parts;
  for (const Launch& launch : counted.launches) {
    parts.push_back(launch.metrics);
    parts.back()[kBlocks] = launch.blocks;
    const auto barriers = launch.metrics.find("simt__barriers_per_block.ratio");
    if (barriers != launch.metrics.end())
      parts.back()[kBarriers] = barriers->second * launch.blocks;
  }
  return total(parts);
}

std::vector<Row> rows_of(const Metrics& m) {
  std::vector<Row> rows;
  add_global(rows, m, "ld", "load", "loaded");
  add_global(rows, m, "st", "store", "stored");
  for (const auto& [op, name] : {std::pair("red", "reduction requests"),
                                 std::pair("atom", "atomic requests")}) {
    const double n = value(m, requests(op));
    rows.push_back(
        {.name = name, .metric = requests(op), .value = n, .relevant = n > 0});
  }
  add_shared(rows, m, "ld", "loads");
  add_shared(rows, m, "st", "stores");
  const double atomics = value(m, kSharedAtomics);
  rows.push_back({.name = "shared atomics",
                  .metric = kSharedAtomics,
                  .value = atomics,
                  .relevant = atomics > 0});
  const double barriers = value(m, kBarriers);
  if (is_executor(m))
    rows.push_back({.name = "barriers per block",
                    .metric = "none",
                    .form = Row::kRatio,
                    .value = ratio(barriers, value(m, kBlocks)),
                    .relevant = barriers > 0});
  add_execution(rows, m);
  if (is_executor(m)) add_bytes(rows, m);
  return rows;
}

}  // namespace show
