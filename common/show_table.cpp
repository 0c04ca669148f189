// Nothing here is worth studying: how a table of counters is printed.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/show.h"

namespace show {
namespace {

constexpr int kNameColumns = 36, kNumberColumns = 12;

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

class Table {
 public:
  Table(const std::string& name, const Counts* before)
      : name_(name), before_(before) {
    width_ = std::max<int>(width_, name.size() + 2);
    if (before) before_width_ = std::max<int>(width_, before->name.size() + 2);
  }

  void print_case(const CountedCase& counted, const CountedCase* before) {
    const std::vector<Line> lines = lines_of(counted, before);
    std::printf("\n%-*s%*s", kNameColumns, title(counted.which).c_str(), width_,
                name_.c_str());
    if (before_) std::printf("%*s", before_width_, before_->name.c_str());
    std::printf("%*s\n", kNumberColumns, "ideal");
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
  void print(const Line& line) {
    const Row& row = line.row;
    const std::string name = row.name + (row.of_ptx ? " *" : "");
    std::printf("  %-*s%*s", kNameColumns - 2, name.c_str(), width_,
                text(row.value, row.form).c_str());
    if (before_)
      std::printf("%*s", before_width_,
                  line.before
                      ? text(line.before->value, line.before->form).c_str()
                      : "-");
    if (row.ideal)
      std::printf("%*s", kNumberColumns, text(*row.ideal, row.form).c_str());
    std::printf("\n");
    if (first_.empty())
      std::printf("%s      %s%s\n", dim_, row.metric.c_str(), plain_);
    if (!row.note.empty()) std::printf("    > %s\n", row.note.c_str());
  }

  const std::string name_;
  const Counts* const before_;
  int width_ = kNumberColumns, before_width_ = 0;
  std::vector<Line> first_;  // of the first case, once it is printed
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

void print_table(const Counts& counts, const Counts* before) {
  if (before && before->cases.empty()) before = nullptr;
  Table table(counts.name, before);
  for (const CountedCase& one : counts.cases)
    table.print_case(one, before ? before->find(one.which) : nullptr);
}

}  // namespace show
