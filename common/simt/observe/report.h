// What became of the launches: counters by ncu's names, whole and by source
// line, and findings. SIMT_REPORT=file.json writes them when the program ends.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/simt/core/finding.h"

namespace simt {

struct Grid;
class Counters;

using Metrics = std::map<std::string, double>;

struct LaunchReport {
  std::string kernel;
  int device = 0;
  std::array<uint32_t, 3> grid = {}, block = {};
  uint64_t shared_bytes = 0;
  Metrics metrics;  // empty: SIMT_COUNTERS=off
  struct Line {
    std::string file;
    uint32_t line = 0;
    Metrics metrics;
    struct Instruction {
      std::string text;  // PTX
      uint64_t issued = 0, lanes = 0;
    };
    std::vector<Instruction> instructions;  // empty: see keep_instructions
  };
  std::vector<Line> lines;  // by file and line
  std::vector<Finding> findings;
};

// What launches found of one kind at one place: the first finding, in how many
// launches there was one, and how often in all.
struct RepeatedFinding {
  Finding first;
  uint64_t launches = 0, times = 0;
};

// The launches of this program so far, in order, up to the first 1,000.
const std::vector<LaunchReport>& launch_reports();

// How many there were, and what all of them found.
uint64_t launch_count();
const std::vector<RepeatedFinding>& all_findings();

// What a launch's metrics would be if it had done nothing: all their names.
Metrics metrics_of_nothing();

// From here on 1,000 more are reported.
void renew_launch_reports();

// Whether the reports of later launches hold each line's instructions; at first
// they do not.
void keep_instructions(bool keep);

// Held by whoever adds to these, or reads while others may add.
std::recursive_mutex& reports_mutex();

// Of what is no launch.
void add_findings(const std::vector<Finding>& findings);

// For the launch itself: adds a report, with `counters` if they were kept.
void add_report(const Grid& grid, const Counters* counters,
                std::vector<Finding> findings);

}  // namespace simt
