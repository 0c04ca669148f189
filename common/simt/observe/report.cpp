// Sums counters up under ncu's names, and writes SIMT_REPORT.
#include "common/simt/observe/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "common/simt/core/device.h"
#include "common/simt/core/grid.h"
#include "common/simt/core/program.h"
#include "common/simt/core/settings.h"
#include "common/simt/memory/peers.h"
#include "common/simt/observe/counters.h"

namespace simt {
namespace {

// Never destroyed: the last report is written when the program ends.
std::vector<LaunchReport>& reports() {
  static auto* all = new std::vector<LaunchReport>;
  return *all;
}

// A report may take 100 kB, and some programs launch a million kernels.
constexpr size_t kMostReports = 1000;
size_t reports_wanted = kMostReports;
uint64_t launches = 0;

bool instructions_kept = false;

struct FindingsByPlace {
  std::vector<RepeatedFinding> all;  // as they first came up
  std::map<std::string, size_t> places;

  // Those of a launch. One that ended it may be where another was found.
  void add(const std::vector<Finding>& findings) {
    std::set<size_t> met;
    for (const Finding& f : findings) {
      const auto [at, is_new] = places.try_emplace(place(f), all.size());
      if (is_new) all.push_back({f});
      met.insert(at->second);
      all[at->second].times += std::max<uint64_t>(f.count, 1);
    }
    for (const size_t one : met) ++all[one].launches;
  }

 private:
  static std::string place(const Finding& f) {
    const std::string end = '\n' + f.kind + '\n' + f.kernel;
    if (f.line == 0) return f.message + end;
    return f.file + ':' + std::to_string(f.line) + '\n' + f.other_file + ':' +
           std::to_string(f.other_line) + end;
  }
};
FindingsByPlace& findings_by_place() {
  static auto* one = new FindingsByPlace;
  return *one;
}

// The counts of some instructions, by what they do to memory.
struct Totals {
  InstructionCounts all;
  MemoryCounts global_load, global_store, global_reduction, global_atomic;
  MemoryCounts shared_load, shared_store;
  MemoryCounts copies;  // of them ncu counts requests and sectors alone
  uint64_t shared_atomics = 0;
  uint64_t machine_issued = 0, machine_lanes = 0;  // As far as we can guess.

  void add(const Instruction& ins, const InstructionCounts& c) {
    all.add(c);
    const int weight = ins.machine_weight;
    machine_issued += weight * c.issued + c.machine_issued;
    machine_lanes += weight * c.lanes + c.machine_lanes;
    // Each part comes to the meeting by itself.
    if (ins.waits_at_meeting) machine_issued += c.divergent;
    if (ins.jumps) all.branches += c.issued;
    const std::string& op = ins.statement ? ins.statement->name() : "";
    if (op == "atom" || op == "red") {
      const bool answers = ins.atomic_form != AtomicForm::kReduction;
      (answers ? global_atomic : global_reduction).add(c.global);
      global_load.add(c.words);
      shared_atomics += c.shared.requests;
    } else if (op == "cp") {
      copies.add(c.global);
    } else {
      const bool stores = ins.statement && ins.statement->stores();
      (stores ? global_store : global_load).add(c.global);
      (stores ? shared_store : shared_load).add(c.shared);
    }
  }
};

double percent(uint64_t part, uint64_t whole, double otherwise) {
  return whole ? 100. * part / whole : otherwise;
}

Metrics metrics_of(const Totals& t) {
  Metrics m;
  const auto global = [&](const char* op, const MemoryCounts& c) {
    const std::string end = std::string("_pipe_lsu_mem_global_op_") + op;
    m["l1tex__t_requests" + end + ".sum"] = c.requests;
    m["l1tex__t_sectors" + end + ".sum"] = c.sectors;
  };
  MemoryCounts loads = t.global_load;
  loads.add(t.copies);
  global("ld", loads);
  MemoryCounts stores = t.global_store;
  stores.requests += t.all.system_fences;
  stores.sectors += t.all.system_fences;
  global("st", stores);
  global("red", t.global_reduction);
  global("atom", t.global_atomic);
  const auto per_sector = [&](const char* op, const MemoryCounts& c) {
    m[std::string("smsp__sass_average_data_bytes_per_sector_mem_global_op_") +
      op + ".pct"] = percent(c.used_bytes, 32 * c.sectors, 0);
    m[std::string("simt__least_sectors_mem_global_op_") + op + ".sum"] =
        c.least_sectors;
  };
  per_sector("ld", t.global_load);
  m["simt__least_sectors_mem_global_op_ld.sum"] = loads.least_sectors;
  per_sector("st", t.global_store);
  const auto shared = [&](const char* op, const MemoryCounts& c) {
    const std::string end = std::string("_pipe_lsu_mem_shared_op_") + op;
    m["smsp__sass_inst_executed_op_shared_" + std::string(op) + ".sum"] =
        c.requests;
    // ncu counts them by instruction, and by hardware.
    m["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" +
      std::string(op) + ".sum"] = c.wavefronts - c.of_rows;
    m["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + std::string(op) +
      ".sum"] = c.wavefronts;
    m["l1tex__data_bank_conflicts" + end + ".sum"] = c.conflicts;
  };
  shared("ld", t.shared_load);
  shared("st", t.shared_store);
  m["smsp__inst_executed_op_shared_atom.sum"] = t.shared_atomics;
  m["smsp__sass_branch_targets.sum"] = t.all.branches;
  m["smsp__sass_branch_targets_threads_divergent.sum"] = t.all.divergent;
  m["smsp__sass_branch_targets_threads_uniform.sum"] =
      t.all.branches - t.all.divergent;
  m["smsp__sass_average_branch_targets_threads_uniform.pct"] =
      percent(t.all.branches - t.all.divergent, t.all.branches, 100);
  m["simt__branches_predicated.sum"] = t.all.predicated;
  m["smsp__inst_executed.sum"] = t.all.issued;
  m["smsp__thread_inst_executed.sum"] = t.all.lanes;
  // A line may have none that ptxas makes an instruction of.
  const double active = t.machine_issued
                            ? double(t.machine_lanes) / t.machine_issued
                        : t.all.issued ? double(t.all.lanes) / t.all.issued
                                       : 0;
  m["smsp__thread_inst_executed_per_inst_executed.ratio"] = active;
  m["simt__barrier_arrivals.sum"] = t.all.barriers;
  return m;
}

Metrics metrics_of_launch(const Totals& t, uint64_t sectors,
                          double barriers_per_block) {
  Metrics m = metrics_of(t);
  m["simt__compulsory_bytes.sum"] = 32. * sectors;
  m["simt__barriers_per_block.ratio"] = barriers_per_block;
  return m;
}

template <class F>
void for_each_instruction(const Program& program, F f) {
  for (const auto& [name, function] : program.functions)
    for (const Instruction& ins : function.code) f(ins);
}

std::string guarded_text(const Statement& s) {
  if (s.guard.empty()) return s.text;
  return (s.guard_negated ? "@!" : "@") + s.guard + " " + s.text;
}

void fill_metrics(LaunchReport& report, const Grid& grid,
                  const Counters& counters) {
  Totals whole;
  struct OfLine {
    Totals totals;
    std::vector<LaunchReport::Line::Instruction> instructions;
  };
  std::map<std::pair<std::string, uint32_t>, OfLine> by_line;
  for_each_instruction(grid.program, [&](const Instruction& ins) {
    const InstructionCounts& c = counters.sites()[ins.site];
    if (c.issued == 0) return;
    whole.add(ins, c);
    if (ins.where.line == 0) return;
    const auto& files = grid.program.module->text.files;
    OfLine& line = by_line[{files.at(ins.where.file), ins.where.line}];
    line.totals.add(ins, c);
    if (instructions_kept && ins.statement)
      line.instructions.push_back(
          {guarded_text(*ins.statement), c.issued, c.lanes});
  });
  report.metrics = metrics_of_launch(
      whole, counters.sectors(),
      double(whole.all.barriers) / grid.warps() / grid.blocks);
  for (auto& [place, line] : by_line)
    report.lines.push_back({place.first, place.second, metrics_of(line.totals),
                            std::move(line.instructions)});
}

// ---- JSON ------------------------------------------------------------------

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string array(const std::array<uint32_t, 3>& v) {
  return "[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " +
         std::to_string(v[2]) + "]";
}

std::string object(const Metrics& metrics) {
  std::string out;
  for (const auto& [name, value] : metrics)
    out += (out.empty() ? "" : ", ") + quoted(name) + ": " + number(value);
  return "{" + out + "}";
}

std::string json(const Finding& f) {
  return "{\"kind\": " + quoted(f.kind) +
         ", \"message\": " + quoted(f.message) +
         ", \"note\": " + (f.note ? "true" : "false") +
         ", \"file\": " + quoted(f.file) +
         ", \"line\": " + std::to_string(f.line) +
         ", \"block\": " + array(f.block) + ", \"thread\": " + array(f.thread) +
         ", \"count\": " + std::to_string(std::max<uint64_t>(f.count, 1)) +
         ", \"address\": " + std::to_string(f.address) +
         (f.has_other ? ", \"other\": {\"file\": " + quoted(f.other_file) +
                            ", \"line\": " + std::to_string(f.other_line) +
                            ", \"block\": " + array(f.other_block) +
                            ", \"thread\": " + array(f.other_thread) + "}"
                      : "") +
         "}";
}

template <class List, class F>
std::string array(const List& list, const char* indent, F f) {
  std::string out;
  for (const auto& one : list)
    out += (out.empty() ? "" : ",") + std::string(indent) + f(one);
  return "[" + out + "]";
}

std::string json(const RepeatedFinding& f) {
  return "{\"launches\": " + std::to_string(f.launches) +
         ", \"count\": " + std::to_string(f.times) +
         ", \"first\": " + json(f.first) + "}";
}

std::string json(const Traffic& t) {
  return "{\"from\": " + std::to_string(t.from) +
         ", \"to\": " + std::to_string(t.to) +
         ", \"loaded\": " + std::to_string(t.loaded) +
         ", \"stored\": " + std::to_string(t.stored) +
         ", \"copied\": " + std::to_string(t.copied) + "}";
}

std::string json(const LaunchReport& r) {
  const auto line = [](const LaunchReport::Line& l) {
    return "{\"file\": " + quoted(l.file) +
           ", \"line\": " + std::to_string(l.line) +
           ", \"metrics\": " + object(l.metrics) + "}";
  };
  return "{\"kernel\": " + quoted(r.kernel) +
         ", \"device\": " + std::to_string(r.device) +
         ", \"grid\": " + array(r.grid) + ", \"block\": " + array(r.block) +
         ", \"shared_bytes\": " + std::to_string(r.shared_bytes) +
         ",\n   \"metrics\": " + object(r.metrics) +
         ",\n   \"lines\": " + array(r.lines, "\n    ", line) +
         ",\n   \"findings\": " +
         array(r.findings, "\n    ", [](const Finding& f) { return json(f); }) +
         "}";
}

void write_report() {
  const char* path = settings::report_path();
  const std::string text =
      "{\"device\": " + quoted(model_device().name) + ", \"launches\": " +
      array(reports(), "\n  ", [](const LaunchReport& r) { return json(r); }) +
      ",\n \"launches_left_out\": " +
      std::to_string(launches - reports().size()) + ",\n \"findings\": " +
      array(all_findings(), "\n  ",
            [](const RepeatedFinding& f) { return json(f); }) +
      ",\n \"between_devices\": " +
      array(peers().traffic(), "\n  ",
            [](const Traffic& t) { return json(t); }) +
      "}\n";
  if (launches > reports().size()) {
    std::fprintf(stderr,
                 "simt: SIMT_REPORT=%s holds the first %zu of %llu launches, "
                 "and what all of them found\n",
                 path, reports().size(),
                 static_cast<unsigned long long>(launches));
  }
  std::FILE* file = std::fopen(path, "w");
  const bool written =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file && std::fclose(file) != 0) || !written) {
    std::fprintf(stderr, "simt: cannot write SIMT_REPORT=%s: %s\n", path,
                 std::strerror(errno));
    std::_Exit(1);
  }
}

void schedule_report() {
  static const bool scheduled =
      settings::report_path() && std::atexit(write_report) == 0;
  (void)scheduled;
}

}  // namespace

const std::vector<LaunchReport>& launch_reports() { return reports(); }

uint64_t launch_count() { return launches; }

const std::vector<RepeatedFinding>& all_findings() {
  return findings_by_place().all;
}

Metrics metrics_of_nothing() { return metrics_of_launch({}, 0, 0); }

void renew_launch_reports() {
  reports_wanted = reports().size() + kMostReports;
}

void keep_instructions(bool keep) { instructions_kept = keep; }

std::recursive_mutex& reports_mutex() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

void add_findings(const std::vector<Finding>& findings) {
  const std::lock_guard lock(reports_mutex());
  schedule_report();
  findings_by_place().add(findings);
}

void add_report(const Grid& grid, const Counters* counters,
                std::vector<Finding> findings) {
  const std::lock_guard lock(reports_mutex());
  schedule_report();
  ++launches;
  std::stable_partition(findings.begin(), findings.end(),
                        [](const Finding& f) { return !f.note; });
  findings_by_place().add(findings);
  if (reports().size() >= reports_wanted) return;
  LaunchReport report;
  report.kernel = grid.kernel.name;
  report.device = grid.shape.device;
  for (int k = 0; k < 3; ++k) {
    report.grid[k] = grid.shape.grid[k];
    report.block[k] = grid.shape.block[k];
  }
  report.shared_bytes = grid.shared_bytes();
  if (counters) fill_metrics(report, grid, *counters);
  report.findings = std::move(findings);
  reports().push_back(std::move(report));
}

}  // namespace simt
