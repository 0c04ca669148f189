// What ./run reports where there is no GPU.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/harness/checks.h"
#include "common/harness/count.h"
#include "common/harness/show.h"
#include "common/harness/show_kernels.h"
#include "common/harness/show_profile.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/runtime.h"

namespace {

struct Options {
  std::string record;       // a file for the counts
  std::optional<Case> one;  // instead of the usual cases
  bool profile = false, ptx = false;
};

bool read_number(std::string_view argument, std::string_view name,
                 int64_t& number) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const char* end = argument.data() + argument.size();
  const auto read = std::from_chars(argument.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0;
}

bool take_option(std::string_view argument, Options& options) {
  if (argument.starts_with("--record=")) {
    options.record = argument.substr(9);
    return !options.record.empty();
  }
  if (argument == "--profile") return options.profile = true;
  if (argument == "--ptx") return options.profile = options.ptx = true;
  Case one = options.one.value_or(Case{});
  if (!read_number(argument, "--n=", one.n) &&
      !read_number(argument, "--offset=", one.offset))
    return false;
  options.one = one;
  return true;
}

// build/cpu/chapters/03_pack/relu.run is 03_pack, any other its own stem.
std::string name_of(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path();
  const std::string stem = program.stem();
  const bool is_chapter = folder.parent_path().filename() == "chapters" &&
                          stem.find('.') == std::string::npos;
  return is_chapter ? folder.filename().string() : stem;
}

void print_footer() {
  std::puts(
      "\n'ideal' is the same work with whole sectors, without bank conflicts "
      "and without\nidle threads. NCU=1 ./run adds what Nsight Compute calls "
      "each counter.\n"
      "* from PTX: a model predicts which branches and how many instructions "
      "ptxas,\n  which makes machine code of it, writes; warp instructions are "
      "those of PTX.");
}

show::Counts count(const std::string& name, const std::vector<Case>& cases) {
  show::Counts counts = {name, {}};
  const std::vector<simt::LaunchReport>& reports = simt::launch_reports();
  for (const Case& one : cases) {
    const size_t first = reports.size();
    counted_call(one);
    counts.cases.push_back({one, {}});
    for (size_t k = first; k < reports.size(); ++k)
      counts.cases.back().launches.push_back(show::launch_of(reports[k]));
  }
  return counts;
}

// The usual cases, or the one that was asked for. The counts of lines are those
// of one case, too.
std::vector<Case> cases_of(const Options& options) {
  if (options.one) return {*options.one};
  std::vector<Case> cases = counted_cases();
  if (options.profile) cases.resize(1);
  return cases;
}

void print_counts(const show::Counts& counts, std::filesystem::path program) {
  const auto path = program.replace_extension(".before");
  const std::optional<show::Counts> before = show::read_file(path);
  show::print_table(counts, before ? &*before : nullptr);
  print_footer();
  if (before && before->cases.empty())
    std::puts("The file to compare with does not pass its checks.");
}

}  // namespace

extern const char* const kOptions =
    "  --n=N, --offset=K     count one call: n elements, arrays K elements "
    "off\n"
    "  --profile, --ptx      the counters beside the source, and PTX below it\n"
    "  --record=FILE         write the counts into FILE\n"
    "  NCU=1 ./run           add what Nsight Compute calls each counter\n";

bool measure_takes(std::string_view option) {
  Options options;
  return take_option(option, options);
}

int measure(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) take_option(argv[k], options);

  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const size_t checks = simt::launch_reports().size();
  simt::renew_launch_reports();
  const std::vector<simt::Traffic> before = simt::peers().traffic();
  simt::keep_instructions(options.ptx);
  const show::Counts counts = count(name_of(program), cases_of(options));
  if (print_findings()) return EXIT_FAILURE;  // Of these calls, too.

  const std::vector<simt::LaunchReport>& reports = simt::launch_reports();
  if (reports.size() > checks && reports.back().metrics.empty()) {
    std::puts("Nothing was counted: SIMT_COUNTERS=off says so.");
    return options.record.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (!options.record.empty()) show::write_file(counts, options.record);
  if (options.profile) {
    std::printf("\nLine by line, %s.\n",
                show::title(counts.cases[0].which).c_str());
    show::print_profile({reports.begin() + checks, reports.end()});
  } else {
    print_counts(counts, program);
  }
  show::print_traffic(stdout, before);
  return EXIT_SUCCESS;
}
