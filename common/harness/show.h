// Counters of a chapter, beside those of another one, as a table that explains
// itself.
//
// The numbers are the executor's or, with a GPU, Nsight Compute's (ncu); both
// go by ncu's names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/harness/count.h"

namespace show {

using Metrics = std::map<std::string, double>;

struct Launch {
  std::string kernel;
  uint64_t blocks = 0, threads = 0;  // threads of a block
  Metrics metrics;
};

struct CountedCase {
  Case which;
  std::vector<Launch> launches;
};

struct Counts {
  std::string name;  // of the chapter: 03_pack
  std::vector<CountedCase> cases;

  const CountedCase* find(const Case& which) const;
};

// One line of the table.
struct Row {
  enum Form { kCount, kRatio, kPercent };

  std::string name;
  std::string metric;  // what ncu calls it
  Form form = kCount;
  double value = 0;
  std::optional<double> ideal = {};
  bool of_ptx = false;    // from PTX, without the machine code
  bool relevant = true;   // false: the kernel has nothing of the kind
  std::string note = {};  // one sentence, where the value is far from the ideal
  double cost = 0;  // sectors, passes or warp instructions the ideal would save
};

// A metric, or 0 where there is none of the name.
double value(const Metrics& metrics, const std::string& name);
// The sum of a metric over what may stand for the '*' in its name.
double sum(const Metrics& metrics, const std::string& name,
           std::initializer_list<const char*> parts);

// The metrics of several launches, or lines, as one.
Metrics total(const std::vector<Metrics>& parts);
Metrics total(const CountedCase& counted);

// Every row that can be worked out from the metrics, always in this order.
std::vector<Row> rows_of(const Metrics& metrics);

// Did the executor count, not ncu?
bool is_executor(const Metrics& metrics);

// The ncu metrics that the rows are worked out from.
std::vector<std::string> ncu_metrics();

std::string text(double value, Row::Form form);
std::string grouped(double count);           // 1048576 -> 1,048,576
std::string title(const Case& which);        // "n = 1,048,576"
std::string describe(const Launch& launch);  // "relu_kernel, 4 blocks of ..."

// In lines of at most 80 columns, of which the first `indent` are blank.
std::string wrapped(const std::string& text, int indent);
// "sectors per store request: 16.00, ideally 2.00" and, below it, the note.
std::string explained(const Row& row);

// What deserves attention, then every counter, from the chapter before to this
// one; ncu's names, too, if the environment has NCU=1.
void print_table(const Counts& counts, const Counts* before);

// A file of counts: lines of words between tabs. Ends the program with a clear
// message when the file cannot be written or read. A file that is not there is
// no counts.
void write_file(const Counts& counts, const std::string& path);
std::optional<Counts> read_file(const std::string& path);

}  // namespace show
