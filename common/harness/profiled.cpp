// On a GPU, the program that ncu watches, and the table of what it saw.
// ladder/profile.py runs it both ways.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/harness/show.h"

namespace {

void print_cases() {
  for (const Case& one : counted_cases())
    std::printf("%lld %lld\n", static_cast<long long>(one.n),
                static_cast<long long>(one.offset));
}

void print_metrics() {
  for (const std::string& name : show::ncu_metrics())
    std::printf("%s\n", name.c_str());
}

int print_files(const char* path, const char* before_path) {
  const std::optional<show::Counts> counts = show::read_file(path);
  if (!counts) {
    std::fprintf(stderr, "There is no file %s.\n", path);
    return EXIT_FAILURE;
  }
  std::optional<show::Counts> before;
  if (before_path) before = show::read_file(before_path);
  show::print_table(*counts, before ? &*before : nullptr);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* word, int words) {
    return argc == words && std::strcmp(argv[1], word) == 0;
  };
  if (is("cases", 2)) return print_cases(), EXIT_SUCCESS;
  if (is("metrics", 2)) return print_metrics(), EXIT_SUCCESS;
  if (is("show", 3)) return print_files(argv[2], nullptr);
  if (is("show", 4)) return print_files(argv[2], argv[3]);
  if (is("call", 4)) {
    counted_call({std::atoll(argv[2]), std::atoll(argv[3])});
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr,
               "usage: %s cases | metrics | call N OFFSET | "
               "show COUNTS [COUNTS BEFORE]\n",
               argv[0]);
  return EXIT_FAILURE;
}
