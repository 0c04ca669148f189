// The counters of each line, beside the source.
#include "common/harness/show_profile.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "common/harness/show.h"

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

// What the margin holds of a line. Numbers that are 0 are left blank.
using Cells = std::vector<std::string>;
Cells headings() {
  return {"instr", "lanes", "requests", "sectors", "shared", "waves", "parted"};
}

// Narrow: 999,999, then 1.00M.
std::string count(double value) {
  if (value == 0) return "";
  if (value < 1e6) return grouped(value);
  char text[32];
  std::snprintf(text, sizeof text, value < 1e9 ? "%.2fM" : "%.2fG",
                value / (value < 1e9 ? 1e6 : 1e9));
  return text;
}
std::string quotient(double part, double whole, int digits) {
  if (part == 0 || whole == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, part / whole);
  return text;
}

Cells cells_of(const Metrics& m) {
  const double instructions = value(m, "smsp__inst_executed.sum");
  const double lanes =
      value(m, "smsp__thread_inst_executed_per_inst_executed.ratio");
  const double requests =
      sum(m, "l1tex__t_requests_pipe_lsu_mem_global_op_*.sum",
          {"ld", "st", "red", "atom"});
  const double sectors = sum(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum",
                             {"ld", "st", "red", "atom"});
  const double accesses =
      sum(m, "smsp__sass_inst_executed_op_shared_*.sum", {"ld", "st"});
  const double wavefronts = sum(
      m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum", {"ld", "st"});
  return {count(instructions),
          instructions == 0 ? "" : quotient(lanes, 1, 1),
          count(requests),
          quotient(sectors, requests, 2),
          count(accesses),
          quotient(wavefronts, accesses, 2),
          count(value(m, "smsp__sass_branch_targets_threads_divergent.sum"))};
}

Cells cells_of(const Instructions::value_type& ins) {
  return {count(ins.issued), quotient(ins.lanes, ins.issued, 1)};
}

// The margin's columns: as wide as need be, those in which some line has a
// number.
class Columns {
 public:
  explicit Columns(const std::map<std::string, SourceFile>& files) {
    for (const auto& [name, file] : files)
      for (const auto& [number, line] : file) {
        const Metrics metrics = total(line.parts);
        predicated_ |= value(metrics, "simt__branches_predicated.sum") > 0;
        make_room_for(cells_of(metrics));
        for (const auto& ins : line.instructions) make_room_for(cells_of(ins));
      }
    for (size_t k = 0; k < widths_.size(); ++k)
      if (widths_[k]) widths_[k] = std::max(widths_[k], headings()[k].size());
  }

  std::string margin(const Cells& cells) const {
    std::string out;
    for (size_t k = 0; k < widths_.size(); ++k) {
      if (widths_[k] == 0) continue;
      const std::string cell = k < cells.size() ? cells[k] : "";
      out += std::string(widths_[k] + 1 - cell.size(), ' ') + cell;
    }
    return out;
  }

  std::string legend() const {
    std::string out =
        "instr: PTX instructions that warps issued; lanes: active in each, of "
        "32.\n";
    if (predicated_)
      out +=
          "A short if becomes predicates: lanes that it turns off do nothing, "
          "yet they\ncount as active, as they do in ncu.\n";
    if (widths_[2])
      out +=
          "requests: loads and stores of global memory; sectors: of 32 "
          "bytes, per request.\n";
    if (widths_[4])
      out +=
          "shared: loads and stores of shared memory; waves: passes that "
          "each takes.\n";
    if (widths_[6]) out += "parted: branches at which a warp's lanes part.\n";
    return out;
  }

 private:
  void make_room_for(const Cells& cells) {
    for (size_t k = 0; k < cells.size(); ++k)
      widths_[k] = std::max(widths_[k], cells[k].size());
  }

  std::array<size_t, 7> widths_ = {};
  bool predicated_ = false;
};

// Without the kernel's name in front of a parameter's number.
std::string short_ptx(std::string text) {
  const std::string mark = "_param_";
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
  };
  for (size_t at = 0; (at = text.find(mark, at)) != text.npos; ++at) {
    size_t begin = at;
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    if (begin == 0 || text[begin - 1] != '[') continue;
    text.erase(begin, at + 1 - begin);
    at = begin;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    for (size_t at; (at = line.find('\t')) != line.npos;)
      line.replace(at, 1, "    ");
    lines.push_back(line);
  }
  return lines;
}

bool same_line(const Note& a, const Note& b) {
  return a.file == b.file && a.line == b.line;
}

// What is far from its ideal and costs something: the worst line first, and all
// that is to be said of it.
std::vector<Note> notes_of(const std::map<std::string, SourceFile>& files,
                           double instructions) {
  std::vector<Note> notes;
  for (const auto& [name, file] : files)
    for (const auto& [number, line] : file)
      for (const Row& row : rows_of(total(line.parts)))
        if (row.relevant && !row.note.empty() &&
            row.cost > kWorthNoting * instructions)
          notes.push_back({name, number, explained(row), row.cost});
  std::stable_sort(
      notes.begin(), notes.end(),
      [](const Note& a, const Note& b) { return a.cost > b.cost; });
  if (notes.size() > kWorst) notes.resize(kWorst);
  for (auto first = notes.begin(); first != notes.end();)
    first = std::stable_partition(
        first, notes.end(),
        [one = *first](const Note& note) { return same_line(one, note); });
  return notes;
}

// Is this line, or one next to it, among those that ran?
bool is_shown(const SourceFile& file, uint32_t number) {
  const auto next = file.lower_bound(number > kContext ? number - kContext : 0);
  return next != file.end() && next->first <= number + kContext;
}

// As much of a line as a terminal shows in one; all of it in a pipe.
void print_cut(std::string line) {
  winsize screen = {};
  const bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) == 0;
  if (is_terminal && screen.ws_col && line.size() > screen.ws_col)
    line.resize(screen.ws_col);
  std::puts(line.c_str());
}

void print_line(const SourceLine* ran, const Columns& columns, char mark,
                uint32_t number, const std::string& source) {
  char numbered[16];
  std::snprintf(numbered, sizeof numbered, " %c%4u", mark, number);
  print_cut(columns.margin(ran ? cells_of(total(ran->parts)) : Cells()) +
            numbered + (source.empty() ? "" : "  ") + source);
  if (!ran) return;
  for (const auto& ins : ran->instructions)
    print_cut(columns.margin(cells_of(ins)) + "       | " +
              short_ptx(ins.text));
}

void print_file(const std::string& name, const SourceFile& file,
                const Columns& columns, const std::vector<Note>& notes) {
  const std::vector<std::string> lines = lines_of(name);
  std::puts("");
  print_cut(columns.margin(headings()) + "       " + short_path(name) +
            (lines.empty() ? " (which cannot be read)" : ""));
  uint32_t printed = 0;
  const auto last = std::max<uint32_t>(lines.size(), file.rbegin()->first);
  for (uint32_t number = 1; number <= last; ++number) {
    if (!is_shown(file, number)) continue;
    if (number != printed + 1) print_cut(columns.margin({}) + "   ...");
    printed = number;
    const auto ran = file.find(number);
    const bool bad = std::any_of(
        notes.begin(), notes.end(),
        [&](const Note& n) { return n.file == name && n.line == number; });
    print_line(ran == file.end() ? nullptr : &ran->second, columns,
               bad ? '!' : ' ', number,
               number <= lines.size() ? lines[number - 1] : "");
  }
}

}  // namespace

std::string short_path(const std::string& file) {
  const std::string near = std::filesystem::path(file).lexically_proximate(
      std::filesystem::current_path());
  return near.starts_with("..") ? file : near;
}

Launch launch_of(const simt::LaunchReport& report) {
  const auto volume = [](const auto& v) {
    return uint64_t{v[0]} * v[1] * v[2];
  };
  return {report.kernel, volume(report.grid), volume(report.block),
          report.metrics};
}

void print_profile(const std::vector<simt::LaunchReport>& launches) {
  const std::map<std::string, SourceFile> files = by_file(launches);
  double instructions = 0;
  for (const simt::LaunchReport& launch : launches)
    instructions += value(launch.metrics, "smsp__inst_executed.sum");
  const Columns columns(files);
  const std::vector<Note> notes = notes_of(files, instructions);

  std::puts(notes.empty() ? "No line is far from its ideal."
                          : "What deserves attention, the worst line first:");
  for (auto note = notes.begin(); note != notes.end(); ++note) {
    if (note == notes.begin() || !same_line(note[-1], *note))
      std::printf("! %s:%u\n", short_path(note->file).c_str(), note->line);
    std::printf("  %s\n", note->text.c_str());
  }
  for (const auto& [name, file] : files) print_file(name, file, columns, notes);
  std::printf("\n%s", columns.legend().c_str());
}

}  // namespace show
