// How a table of counters is printed.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "common/harness/show.h"

namespace show {
namespace {

// The widest table has 80: of chapters with names of up to 17 letters.
constexpr int kNameColumns = 39, kNumberColumns = 12, kIdealColumns = 11;
constexpr size_t kScreenColumns = 80;

// A row of one case, with the same row of the chapter before.
struct Line {
  Row row;
  std::optional<Row> before;

  bool relevant() const { return row.relevant || (before && before->relevant); }
  bool same_numbers(const Line& other) const {
    const auto number = [](const std::optional<Row>& r) {
      return r ? text(r->value, r->form) : "";
    };
    return number(row) == number(other.row) &&
           number(before) == number(other.before);
  }
};

std::vector<Line> lines_of(const CountedCase& counted,
                           const CountedCase* before) {
  std::vector<Line> lines;
  for (const Row& row : rows_of(total(counted))) lines.push_back({row, {}});
  if (!before) return lines;
  for (const Row& row : rows_of(total(*before)))
    for (Line& line : lines)
      if (line.row.name == row.name) line.before = row;
  return lines;
}

// How a column is headed: 03_pack, or a variant's own part of its name.
std::string heading(const std::string& name) {
  return name.substr(name.find('.') + 1);
}

// The rows that deserve attention, but for those that did before.
std::vector<Row> take_noted(const CountedCase& counted,
                            std::set<std::string>& known) {
  std::vector<Row> noted;
  for (const Row& row : rows_of(total(counted)))
    if (row.relevant && !row.note.empty() && known.insert(row.name).second)
      noted.push_back(row);
  return noted;
}

void print_attention(const Counts& counts) {
  std::set<std::string> known;
  for (const CountedCase& one : counts.cases) {
    const std::vector<Row> noted = take_noted(one, known);
    if (noted.empty()) continue;
    std::printf("\nWhat deserves attention, %s:\n", title(one.which).c_str());
    for (const Row& row : noted) std::printf("  %s\n", explained(row).c_str());
  }
  if (known.empty()) std::puts("\nNo counter is far from its ideal.");
}

// From the chapter before to this one.
class Table {
 public:
  Table(const std::string& name, const Counts* before)
      : name_(heading(name)), before_(before) {
    width_ = std::max<int>(width_, name_.size() + 1);
  }

  void print_case(const CountedCase& counted, const CountedCase* before) {
    const std::vector<Line> lines = lines_of(counted, before);
    print_heading(counted.which);
    for (size_t k = 0; k < lines.size(); ++k)
      if (lines[k].relevant() &&
          (first_.empty() || !lines[k].same_numbers(first_[k])))
        print(lines[k]);
    if (first_.empty()) {
      for (const Launch& launch : counted.launches)
        std::printf("  launched: %s\n", describe(launch).c_str());
      if (counted.launches.empty()) std::printf("  launched: nothing\n");
      first_ = lines;
    } else {
      std::printf("  and the rest as above\n");
    }
  }

 private:
  void print_heading(const Case& which) const {
    std::printf("\n%s\n", title(which).c_str());
    if (before_)
      std::printf("%*s", kNameColumns + kNumberColumns,
                  heading(before_->name).c_str());
    std::printf("%*s%*s\n", before_ ? width_ : kNameColumns + width_,
                name_.c_str(), kIdealColumns, "ideal");
  }

  void print(const Line& line) const {
    const Row& row = line.row;
    const std::string name = row.name + (row.of_ptx ? " *" : "");
    std::printf("  %-*s", kNameColumns - 2, name.c_str());
    if (before_)
      std::printf("%*s", kNumberColumns,
                  line.before
                      ? text(line.before->value, line.before->form).c_str()
                      : "-");
    std::printf("%*s", width_, text(row.value, row.form).c_str());
    if (row.ideal)
      std::printf("%*s", kIdealColumns, text(*row.ideal, row.form).c_str());
    std::printf("\n");
    if (names_wanted_ && first_.empty())
      std::printf("%s      %s%s\n", dim_, row.metric.c_str(), plain_);
  }

  const std::string name_;
  const Counts* const before_;
  int width_ = kNumberColumns;
  std::vector<Line> first_;  // of the first case, once it is printed
  const bool names_wanted_ = std::getenv("NCU") != nullptr;
  const char* const dim_ = isatty(STDOUT_FILENO) ? "\033[2m" : "";
  const char* const plain_ = isatty(STDOUT_FILENO) ? "\033[0m" : "";
};

}  // namespace

std::string grouped(double count) {
  std::string digits = std::to_string(std::llround(count));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

std::string text(double value, Row::Form form) {
  if (form == Row::kCount) return grouped(value);
  char digits[48];
  std::snprintf(digits, sizeof digits,
                form == Row::kPercent ? "%.1f %%" : "%.2f", value);
  return digits;
}

std::string title(const Case& which) {
  std::string out = "n = " + grouped(which.n);
  if (which.offset == 1) out += ", one element off";
  if (which.offset > 1)
    out += ", " + std::to_string(which.offset) + " elements off";
  return out;
}

std::string describe(const Launch& launch) {
  return launch.kernel + ", " + grouped(launch.blocks) +
         (launch.blocks == 1 ? " block" : " blocks") + " of " +
         grouped(launch.threads) +
         (launch.threads == 1 ? " thread" : " threads");
}

std::string wrapped(const std::string& text, int indent) {
  const std::string begin(indent, ' ');
  std::string out, line = begin;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line != begin && line.size() + 1 + word.size() > kScreenColumns) {
      out += line + "\n";
      line = begin;
    }
    line += (line == begin ? "" : " ") + word;
  }
  return out + line;
}

std::string explained(const Row& row) {
  std::string out = row.name + ": " + text(row.value, row.form);
  if (row.ideal) out += ", ideally " + text(*row.ideal, row.form);
  return out + "\n" + wrapped(row.note, 4);
}

void print_table(const Counts& counts, const Counts* before) {
  if (before && before->cases.empty()) before = nullptr;
  print_attention(counts);
  Table table(counts.name, before);
  for (const CountedCase& one : counts.cases)
    table.print_case(one, before ? before->find(one.which) : nullptr);
}

}  // namespace show
