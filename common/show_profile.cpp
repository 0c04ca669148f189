// Nothing here is worth studying: the counters of each line, beside the source.
#include "common/show_profile.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
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

// What the margin holds of a line. Numbers that are 0 are left blank.
struct Margin {
  double instructions, lanes, requests, sectors, accesses, wavefronts, parted;

  explicit Margin(const Metrics& m)
      : instructions(value(m, "smsp__inst_executed.sum")),
        lanes(value(m, "smsp__thread_inst_executed_per_inst_executed.ratio")),
        requests(sum(m, "l1tex__t_requests_pipe_lsu_mem_global_op_*.sum",
                     {"ld", "st", "red", "atom"})),
        sectors(sum(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum",
                    {"ld", "st", "red", "atom"})),
        accesses(
            sum(m, "smsp__sass_inst_executed_op_shared_*.sum", {"ld", "st"})),
        wavefronts(sum(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum",
                       {"ld", "st"})),
        parted(value(m, "smsp__sass_branch_targets_threads_divergent.sum")) {}
};

// Narrow, and right-aligned: 999,999, then 1.00M.
std::string cell(const std::string& text, int width) {
  const int spaces = std::max<int>(1, width - static_cast<int>(text.size()));
  return std::string(spaces, ' ') + text;
}
std::string count(double value, int width) {
  if (value == 0) return cell("", width);
  if (value < 1e6) return cell(grouped(value), width);
  char text[32];
  std::snprintf(text, sizeof text, value < 1e9 ? "%.2fM" : "%.2fG",
                value / (value < 1e9 ? 1e6 : 1e9));
  return cell(text, width);
}
std::string ratio(double part, double whole, int width, int digits) {
  if (part == 0 || whole == 0) return cell("", width);
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, part / whole);
  return cell(text, width);
}

// The margin's columns: those in which some line has a number.
class Columns {
 public:
  explicit Columns(const std::map<std::string, SourceFile>& files) {
    for (const auto& [name, file] : files)
      for (const auto& [number, line] : file) {
        const Margin m(total(line.parts));
        global_ |= m.requests > 0;
        shared_ |= m.accesses > 0;
        parted_ |= m.parted > 0;
      }
  }

  std::string heading() const {
    return cell("instr", kCount) + cell("lanes", kLanes) +
           (global_ ? cell("requests", kCount) + cell("sectors", kRatio) : "") +
           (shared_ ? cell("shared", kCount) + cell("waves", kRatio) : "") +
           (parted_ ? cell("parted", kCount) : "");
  }

  std::string margin(const Metrics& metrics) const {
    const Margin m(metrics);
    return execution(m.instructions, m.instructions * m.lanes) +
           (global_ ? count(m.requests, kCount) +
                          ratio(m.sectors, m.requests, kRatio, 2)
                    : "") +
           (shared_ ? count(m.accesses, kCount) +
                          ratio(m.wavefronts, m.accesses, kRatio, 2)
                    : "") +
           (parted_ ? count(m.parted, kCount) : "");
  }

  std::string margin(const Instructions::value_type& ins) const {
    const std::string begin = execution(ins.issued, ins.lanes);
    return begin + std::string(heading().size() - begin.size(), ' ');
  }

  std::string blank() const { return std::string(heading().size(), ' '); }

  std::string legend() const {
    std::string out =
        "instr: PTX instructions that warps issued; lanes: active in each, of "
        "32.\n";
    if (global_)
      out +=
          "requests: loads and stores of global memory; sectors: of 32 "
          "bytes, in each.\n";
    if (shared_)
      out +=
          "shared: loads and stores of shared memory; waves: passes that "
          "each takes.\n";
    if (parted_) out += "parted: branches at which a warp's lanes part.\n";
    return out;
  }

 private:
  static constexpr int kCount = 9, kLanes = 6, kRatio = 8;

  static std::string execution(double issued, double lanes) {
    return count(issued, kCount) + ratio(lanes, issued, kLanes, 1);
  }

  bool global_ = false, shared_ = false, parted_ = false;
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

// "sectors a store request: 16.00, ideally 2.00" and, below it, why.
std::string note_text(const Row& row) {
  std::string out = row.name + ": " + text(row.value, row.form);
  if (row.ideal) out += ", ideally " + text(*row.ideal, row.form);
  return out + "\n    > " + row.note;
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
          notes.push_back({name, number, note_text(row), row.cost});
  std::stable_sort(
      notes.begin(), notes.end(),
      [](const Note& a, const Note& b) { return a.cost > b.cost; });
  if (notes.size() > kWorst) notes.resize(kWorst);
  return notes;
}

// Is this line, or one next to it, among those that ran?
bool is_shown(const SourceFile& file, uint32_t number) {
  const auto next = file.lower_bound(number > kContext ? number - kContext : 0);
  return next != file.end() && next->first <= number + kContext;
}

void print_line(const SourceLine* ran, const Columns& columns, char mark,
                uint32_t number, const std::string& source) {
  const std::string margin =
      ran ? columns.margin(total(ran->parts)) : columns.blank();
  std::printf("%s %c%4u%s%s\n", margin.c_str(), mark, number,
              source.empty() ? "" : "  ", source.c_str());
  if (!ran) return;
  for (const auto& ins : ran->instructions)
    std::printf("%s       | %s\n", columns.margin(ins).c_str(),
                short_ptx(ins.text).c_str());
}

void print_file(const std::string& name, const SourceFile& file,
                const Columns& columns, const std::vector<Note>& notes) {
  const std::vector<std::string> lines = lines_of(name);
  std::printf("\n%s       %s%s\n", columns.heading().c_str(),
              short_path(name).c_str(),
              lines.empty() ? " (which cannot be read)" : "");
  uint32_t printed = 0;
  const auto last = std::max<uint32_t>(lines.size(), file.rbegin()->first);
  for (uint32_t number = 1; number <= last; ++number) {
    if (!is_shown(file, number)) continue;
    if (number != printed + 1)
      std::printf("%s   ...\n", columns.blank().c_str());
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

void print_profile(const std::vector<simt::LaunchReport>& launches) {
  const std::map<std::string, SourceFile> files = by_file(launches);
  double instructions = 0;
  for (const simt::LaunchReport& launch : launches)
    instructions += value(launch.metrics, "smsp__inst_executed.sum");
  const Columns columns(files);
  const std::vector<Note> notes = notes_of(files, instructions);

  for (const auto& [name, file] : files) print_file(name, file, columns, notes);
  std::printf("\n%s\n", columns.legend().c_str());
  if (notes.empty()) std::puts("No line is far from its ideal.");
  for (const Note& note : notes)
    std::printf("! %s:%u: %s\n", short_path(note.file).c_str(), note.line,
                note.text.c_str());
}

}  // namespace show
