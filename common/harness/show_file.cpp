// A file of counts, for later runs and scripts.
//
//   name    03_pack
//   case    1048576  0                 n and offset; what follows belongs to it
//   launch  relu_kernel  1024  256     blocks, and threads of each
//   metric  smsp__inst_executed.sum  65536      of the launch, in full
//   part    load requests  l1tex__...  8192  8,192  ...  of the launch alone
//   row     load requests  l1tex__...  8192  8,192  ...  as the table shows it
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/harness/show.h"

namespace show {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  std::fprintf(stderr, "Cannot %s %s: %s.\n", what.c_str(), path.c_str(),
               std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

std::string number(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}

void write_rows(const char* word, const CountedCase& counted,
                std::ostream& out) {
  for (const Row& row : rows_of(total(counted)))
    out << word << "\t" << row.name << "\t" << row.metric << "\t"
        << number(row.value) << "\t" << text(row.value, row.form) << "\t"
        << (row.ideal ? text(*row.ideal, row.form) : "") << "\t" << row.relevant
        << "\n";
}

void write_case(const CountedCase& one, std::ostream& out) {
  out << "case\t" << one.which.n << "\t" << one.which.offset << "\n";
  for (const Launch& launch : one.launches) {
    out << "launch\t" << launch.kernel << "\t" << launch.blocks << "\t"
        << launch.threads << "\n";
    for (const auto& [name, value] : launch.metrics)
      out << "metric\t" << name << "\t" << number(value) << "\n";
    write_rows("part", {one.which, {launch}}, out);
  }
  write_rows("row", one, out);
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
  return words;
}

// False when the line makes no sense where it stands.
bool take(const std::vector<std::string>& words, Counts& counts) {
  const auto is = [&](const char* what, size_t size) {
    return words[0] == what && words.size() == size;
  };
  const auto integer = [&](size_t k) { return std::stoll(words[k]); };
  if (words.empty()) return false;
  if (is("row", 7) || is("part", 7)) return true;
  if (is("name", 2)) {
    counts.name = words[1];
  } else if (is("case", 3)) {
    counts.cases.push_back({{integer(1), integer(2)}, {}});
  } else if (is("launch", 4) && !counts.cases.empty()) {
    counts.cases.back().launches.push_back(
        {words[1], uint64_t(integer(2)), uint64_t(integer(3)), {}});
  } else if (is("metric", 3) && !counts.cases.empty() &&
             !counts.cases.back().launches.empty()) {
    counts.cases.back().launches.back().metrics[words[1]] = std::stod(words[2]);
  } else {
    return false;
  }
  return true;
}

bool try_take(const std::string& line, Counts& counts) {
  try {
    return take(words_of(line), counts);
  } catch (const std::logic_error&) {  // of std::stoll
    return false;
  }
}

}  // namespace

const CountedCase* Counts::find(const Case& which) const {
  for (const CountedCase& one : cases)
    if (one.which == which) return &one;
  return nullptr;
}

void write_file(const Counts& counts, const std::string& path) {
  std::ofstream out(path);
  if (!out) fail("write", path);
  out << "name\t" << counts.name << "\n";
  for (const CountedCase& one : counts.cases) write_case(one, out);
  out.close();
  if (!out) fail("write all of", path);
}

std::optional<Counts> read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in && errno == ENOENT) return std::nullopt;
  if (!in) fail("read", path);
  Counts counts;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (try_take(line, counts)) continue;
    std::fprintf(stderr, "%s:%d: '%s' is no line of a file of counts.\n",
                 path.c_str(), number, line.c_str());
    std::exit(EXIT_FAILURE);
  }
  return counts;
}

}  // namespace show
