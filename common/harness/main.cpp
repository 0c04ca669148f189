// ./run: says what it runs on, checks, and measures only what has passed every
// check.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/check.h"
#include "common/harness/checks.h"

// On a GPU common/harness/bench.cpp times the kernel; without one there is no
// time to measure, and common/harness/counters.cpp counts.
int measure(int argc, char** argv);
bool measure_takes(std::string_view option);
extern const char* const kOptions;  // A line for each.

namespace {

// For scripts, where a run of the same program has passed every check before.
constexpr std::string_view kChecked = "--checked";

bool asks_for_help(int argc, char** argv) {
  const auto asks = [](std::string_view argument) {
    return argument == "--help" || argument == "-h";
  };
  return std::any_of(argv + 1, argv + argc, asks);
}

void print_help() {
  std::printf(
      "./run checks the code, and measures what has passed every check. It "
      "takes\n"
      "%s"
      "  --test-case='*NaN*'   only the checks with such a name; measures "
      "nothing\n"
      "  --list-test-cases     the names of the checks\n"
      "  --no-skip             the checks that take long, too\n"
      "  --dt-help             doctest's other options\n",
      kOptions);
}

// Before the checks, which take their time.
bool understands(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    if (is_for_checks(argv[k]) || measure_takes(argv[k]) || argv[k] == kChecked)
      continue;
    std::fprintf(stderr,
                 "./run does not understand %s. It takes what ./run --help "
                 "lists.\n",
                 argv[k]);
    return false;
  }
  return true;
}

// Of all that understands() let pass.
int keep_what_measure_takes(int argc, char** argv) {
  char** const end =
      std::stable_partition(argv + 1, argv + argc, measure_takes);
  return static_cast<int>(end - argv);
}

void print_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    std::fprintf(stderr,
                 "This program was built for a GPU, and none answers: %s.\n"
                 "'make doctor' says what is missing. To run without a GPU, "
                 "build with\nBACKEND=cpu.\n",
                 cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
  }
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  std::printf("Running on %s.\n", properties.name);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv)) return print_help(), EXIT_SUCCESS;
  if (!understands(argc, argv)) return EXIT_FAILURE;
  print_device();
  if (std::find(argv + 1, argv + argc, kChecked) == argv + argc) {
    if (const std::optional<int> end = run_checks(argc, argv)) return *end;
  }
  return measure(keep_what_measure_takes(argc, argv), argv);
}
