// Nothing here is worth studying: the counters of each line, beside the source.
#include "common/show_profile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "common/show.h"

namespace show {
namespace {

constexpr int kContext = 1;            // lines shown around those that ran
constexpr size_t kWorst = 5;           // notes shown
constexpr double kWorthNoting = 0.01;  // of all warp instructions

using Instructions = std::vector<simt::LaunchReport::Line::Instruction>;

struct SourceLine {
  std::vector<Metrics> parts;  // one a launch
  Instructions instructions;
};
using SourceFile = std::map<uint32_t, SourceLine>;

struct Note {
  std::string file;
  uint32_t line = 0;
  std::string text;
  double cost = 0;  // what the ideal would save; only to sort
};

// Another launch of the same kernel adds to its counts.
void add(Instructions& into, const Instructions& more) {
  const bool same =
      std::equal(into.begin(), into.end(), more.begin(), more.end(),
                 [](const auto& a, const auto& b) { return a.text == b.text; });
  if (!same) {
    into.insert(into.end(), more.begin(), more.end());
    return;
  }
  for (size_t k = 0; k < more.size(); ++k) {
    into[k].issued += more[k].issued;
    into[k].lanes += more[k].lanes;
  }
}

std::map<std::string, SourceFile> by_file(
    const std::vector<simt::LaunchReport>& launches) {
  std::map<std::string, SourceFile> files;
  for (const simt::LaunchReport& launch : launches) {
    for (const simt::LaunchReport::Line& line : launch.lines) {
      SourceLine& into = files[line.file][line.line];
      into.parts.push_back(line.metrics);
      add(into.instructions, line.instructions);
    }
  }
  return files;
}

double value(const Metrics& m, const std::string& name) {
  const auto found = m.find(name);
  return found == m.end() ? 0 : found->second;
}

// The sum of a metric over what may stand for the '*' in its name.
double sum(const Metrics& m, std::string name,
           std::initializer_list<const char*> parts) {
  double all = 0;
  const size_t star = name.find('*');
  for (const char* part : parts)
    all += value(m, std::string(name).replace(star, 1, part));
  return all;
}

// What the margin holds. Numbers that are 0 are left blank.
struct Margin {
  double instructions, active, requests, sectors, passes, conflicts, parted;

  explicit Margin(const Metrics& m)
      : instructions(value(m, "smsp__inst_executed.sum")),
        active(value(m, "smsp__thread_inst_executed_per_inst_executed.ratio")),
        requests(sum(m, "l1tex__t_requests_pipe_lsu_mem_global_op_*.sum",
                     {"ld", "st", "red", "atom"})),
        sectors(sum(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum",
                    {"ld", "st", "red", "atom"})),
        passes(sum(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum",
                   {"ld", "st"})),
        conflicts(sum(m,
                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*.sum",
                      {"ld", "st"})),
        parted(value(m, "smsp__sass_branch_targets_threads_divergent.sum")) {}
};

// The margin's columns: those that are nowhere blank, and no others.
class Columns {
 public:
  explicit Columns(const std::map<std::string, SourceFile>& files) {
    for (const auto& [name, file] : files)
      for (const auto& [number, line] : file) {
        const Margin m(total(line.parts));
        global_ |= m.requests > 0;
        shared_ |= m.passes > 0;
        parted_ |= m.parted > 0;
      }
  }

  std::string heading() const {
    std::string out = cell("warp instr", 11) + cell("threads", 8);
    if (global_) out += cell("requests", 10) + cell("sectors/r", 10);
    if (shared_) out += cell("passes", 10) + cell("conflicts", 10);
    if (parted_) out += cell("parted", 8);
    return out;
  }

  std::string margin(const Metrics& metrics) const {
    const Margin m(metrics);
    std::string out = count(m.instructions, 11) + ratio(m.active, 8, 1);
    if (global_)
      out += count(m.requests, 10) +
             ratio(m.requests ? m.sectors / m.requests : 0, 10, 2);
    if (shared_)
      out += count(m.passes, 10) +
             (m.passes ? cell(grouped(m.conflicts), 10) : cell("", 10));
    if (parted_) out += count(m.parted, 8);
    return out;
  }

  std::string legend() const {
    std::string out;
    if (global_)
      out +=
          "requests: to global memory; sectors/r: sectors of 32 bytes in "
          "each request;\n";
    if (shared_)
      out +=
          "passes: wavefronts of shared memory; conflicts: those that other "
          "addresses save;\n";
    if (parted_) out += "parted: branches at which a warp's threads part.\n";
    return out;
  }

  std::string blank() const { return std::string(heading().size(), ' '); }

  static std::string cell(const std::string& text, int width) {
    const int spaces = std::max<int>(1, width - static_cast<int>(text.size()));
    return std::string(spaces, ' ') + text;
  }
  static std::string count(double value, int width) {
    return cell(value ? grouped(value) : "", width);
  }
  static std::string ratio(double value, int width, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return cell(value ? text : "", width);
  }

 private:
  bool global_ = false, shared_ = false, parted_ = false;
};

// Without the kernel's name in front of a parameter's number.
std::string short_ptx(const std::string& text) {
  static const std::regex parameter(R"(\[[\w$]*_(param_\d+))");
  return std::regex_replace(text, parameter, "[$1");
}

// As a path from here, if it is below.
std::string short_path(const std::string& file) {
  const std::string near = std::filesystem::path(file).lexically_proximate(
      std::filesystem::current_path());
  return near.starts_with("..") ? file : near;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What is far from its ideal and costs something, the worst first.
std::vector<Note> notes_of(const std::map<std::string, SourceFile>& files,
                           double instructions) {
  std::vector<Note> notes;
  for (const auto& [name, file] : files)
    for (const auto& [number, line] : file)
      for (const Row& row : rows_of(total(line.parts)))
        if (row.relevant && !row.note.empty() &&
            row.cost > kWorthNoting * instructions)
          notes.push_back({name, number, row.note, row.cost});
  std::stable_sort(
      notes.begin(), notes.end(),
      [](const Note& a, const Note& b) { return a.cost > b.cost; });
  if (notes.size() > kWorst) notes.resize(kWorst);
  return notes;
}

void print_file(const std::string& name, const SourceFile& file,
                const Columns& columns, const std::vector<Note>& notes) {
  const std::vector<std::string> lines = lines_of(name);
  std::printf("\n%s  %s%s\n", columns.heading().c_str(),
              short_path(name).c_str(),
              lines.empty() ? " (which cannot be read)" : "");
  const auto near = [&](uint32_t number) {
    const auto next =
        file.lower_bound(number > kContext ? number - kContext : 0);
    return next != file.end() && next->first <= number + kContext;
  };
  const auto last = std::max<uint32_t>(lines.size(), file.rbegin()->first);
  bool gap = false;
  for (uint32_t number = 1; number <= last; ++number) {
    if (!near(number)) {
      gap = true;
      continue;
    }
    if (gap) std::printf("%s    ...\n", columns.blank().c_str());
    gap = false;
    const auto counted = file.find(number);
    const bool ran = counted != file.end();
    const bool bad = std::any_of(
        notes.begin(), notes.end(),
        [&](const Note& n) { return n.file == name && n.line == number; });
    std::printf(
        "%s %c%4u  %s\n",
        (ran ? columns.margin(total(counted->second.parts)) : columns.blank())
            .c_str(),
        bad ? '!' : ' ', number,
        number <= lines.size() ? lines[number - 1].c_str() : "");
    if (!ran) continue;
    for (const auto& ins : counted->second.instructions)
      std::printf("%s%s%s      | %s\n", Columns::count(ins.issued, 11).c_str(),
                  Columns::ratio(double(ins.lanes) / ins.issued, 8, 1).c_str(),
                  columns.blank().substr(19).c_str(),
                  short_ptx(ins.text).c_str());
  }
}

}  // namespace

void print_profile(const std::vector<simt::LaunchReport>& launches) {
  const std::map<std::string, SourceFile> files = by_file(launches);
  double instructions = 0;
  for (const simt::LaunchReport& launch : launches)
    instructions += value(launch.metrics, "smsp__inst_executed.sum");
  const Columns columns(files);
  const std::vector<Note> notes = notes_of(files, instructions);

  for (const auto& [name, file] : files) print_file(name, file, columns, notes);
  std::printf(
      "\nwarp instr: PTX instructions that warps issued; threads: active in "
      "each, of 32;\n%s",
      columns.legend().c_str());
  std::puts(notes.empty() ? "No line is far from its ideal." : "");
  for (const Note& note : notes)
    std::printf("! %s:%u: %s.\n", short_path(note.file).c_str(), note.line,
                note.text.c_str());
}

}  // namespace show
