// Nothing here is worth studying: ./run says what it runs on, checks, and
// measures only what has passed every check.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/check.h"

// On a GPU common/bench.cpp times the kernel; without one there is no time to
// measure, and common/counters.cpp counts.
int measure(int argc, char** argv);

namespace {

unsigned checks_run = 0;
bool some_left_out = false;  // By the reader; a check may also skip itself.
const char* running = nullptr;

struct Census : doctest::IReporter {
  explicit Census(const doctest::ContextOptions&) {}

  void test_case_skipped(const doctest::TestCaseData& check) override {
    some_left_out |= !check.m_skip;
  }
  void test_case_start(const doctest::TestCaseData& check) override {
    running = check.m_name;
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    running = nullptr;
  }
  void test_run_end(const doctest::TestRunStats& run) override {
    checks_run = run.numTestCasesPassingFilters;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
};
REGISTER_LISTENER("census", 0, Census);

// CUDA_CHECK ends the program: say, as doctest would, within which check.
void name_interrupted_check() {
  if (!running) return;
  std::fprintf(stderr,
               "%s\nTEST CASE:  %s\n\n"
               "ERROR: it ended here, because no CUDA error can be mended.\n",
               std::string(79, '=').c_str(), running);
}

void print_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    std::fprintf(stderr,
                 "This program was built for a GPU, and none answers: %s.\n"
                 "'make doctor' says what is missing. To run without a GPU, "
                 "build with BACKEND=cpu.\n",
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
  print_device();

  std::atexit(name_interrupted_check);
  doctest::Context checks(argc, argv);
  const int failed = checks.run();
  if (failed || checks.shouldExit()) return failed;
  if (checks_run == 0) {
    std::fprintf(stderr,
                 "No check has such a name: --list-test-cases shows them all. "
                 "One that is skipped by default needs --no-skip too.\n");
    return EXIT_FAILURE;
  }
  if (some_left_out) {
    std::printf("Some checks were left out, so nothing is measured.\n");
    return EXIT_SUCCESS;
  }
  return measure(argc, argv);
}
