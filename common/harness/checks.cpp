// Runs the checks, names those that passed, and describes the first that
// failed.
#define DOCTEST_CONFIG_IMPLEMENT
#include "common/harness/checks.h"

#include <doctest/doctest.h>
#include <errno.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/harness/circumstances.h"

namespace simt {
// The executor's last words on what it found; there are none on a GPU.
__attribute__((weak)) void sum_up_findings();
}  // namespace simt

namespace show {
__attribute__((weak)) std::string failure();  // Nor any of these.
}  // namespace show

namespace {

unsigned checks_run = 0;
bool some_left_out = false;  // By the reader; a check may also skip itself.
const char* running = nullptr;
bool in_plain_words = false;

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

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
}

// What to do where it fails, if who built it has left word: for build/x/sum.run
// in build/x/sum.next.
std::string what_next() {
  auto path = std::filesystem::read_symlink("/proc/self/exe");
  std::ostringstream text;
  if (std::ifstream word(path.replace_extension(".next")); word)
    text << "\n" << word.rdbuf();
  return text.str();
}

// How the message of a check begins that skips itself.
constexpr std::string_view kSkipped = "Skipped: ";

// Says little: the names of what passed, or the first thing that failed.
class PlainWords : public doctest::IReporter {
 public:
  explicit PlainWords(const doctest::ContextOptions& options)
      : options_(options), out_(*options.cout) {
    in_plain_words = true;
  }

  void report_query(const doctest::QueryData& query) override {
    doctest::ConsoleReporter(options_).report_query(query);
  }
  void test_case_skipped(const doctest::TestCaseData& check) override {
    left_out_ += check.m_skip;
  }
  void test_case_start(const doctest::TestCaseData& check) override {
    check_ = check.m_name;
    suite_ = check.m_file.c_str();
    line_ = static_cast<int>(check.m_line);
    why_skipped_.clear();
  }
  void test_case_end(const doctest::CurrentTestCaseStats& check) override {
    if (check.failure_flags)
      failed_.push_back(check_);
    else if (!why_skipped_.empty())
      skipped_.push_back(check_ + ": " + why_skipped_);
    else
      passed_.push_back(check_);
  }
  void test_case_exception(const doctest::TestCaseException& end) override {
    fail("it ended with: " + std::string(end.error_string.c_str()));
  }
  void log_assert(const doctest::AssertData& check) override {
    if (!check.m_failed) return;
    const std::string got =
        check.m_threw
            ? "an exception: " + std::string(check.m_exception.c_str())
            : check.m_decomp.c_str();
    fail("expected  " + std::string(check.m_expr) + "\ngot       " + got,
         check.m_file, check.m_line);
  }
  void log_message(const doctest::MessageData& message) override {
    const std::string text = message.m_string.c_str();
    if (text.starts_with(kSkipped)) {
      why_skipped_ = text.substr(kSkipped.size());
    } else if (message.m_severity == doctest::assertType::is_warn) {
      out_ << check_ << ": " << text << "\n";
    } else {
      fail(text, message.m_file, message.m_line);
    }
  }
  void test_run_end(const doctest::TestRunStats&) override {
    if (simt::sum_up_findings) simt::sum_up_findings();
    failed_.empty() ? sum_up_success() : sum_up_failure();
    out_.flush();
  }

  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}

 private:
  void fail(const std::string& what, const char* file = nullptr, int line = 0) {
    if (told_) return;
    told_ = true;
    out_ << "\nFAILED: " << check_ << "\n" << indented(circumstances() + what);
    // What all suites share says nothing of the check that called it.
    const bool shared = file && suite_ != file;
    if (file)
      out_ << "  (" << suite_ << ":" << (shared ? line_ : line) << ")\n";
    out_.flush();
  }

  void sum_up_success() {
    list(passed_, "passed");
    list(skipped_, "skipped");
    if (passed_.empty()) return;
    if (left_out_)
      out_ << "Left out, because it takes long: " << left_out_ << " more"
           << typed("(", "--no-skip).");
  }

  void sum_up_failure() {
    out_ << "\n"
         << count(failed_) << " of " << passed_.size() + failed_.size()
         << " checks failed";
    if (failed_.size() > 1) out_ << ", these too";
    out_ << (failed_.size() > 1 ? ":\n" : ".\n");
    for (size_t k = 1; k < failed_.size(); ++k)
      out_ << "  " << failed_[k] << "\n";
    out_ << "All that they say:" << typed("", "--dt-reporters=console")
         << what_next();
  }

  // What a reader can type: on a line of its own where the path is long.
  static std::string typed(const std::string& before, const char* option) {
    const std::string command = before + program_invocation_name + " " + option;
    return (command.size() < 40 ? " " : "\n  ") + command + "\n";
  }

  void list(const std::vector<std::string>& checks, const char* became) {
    if (checks.empty()) return;
    out_ << (checks.size() == 1 ? "1 check" : count(checks) + " checks") << " "
         << became << ":\n";
    for (const std::string& name : checks) out_ << "  " << name << "\n";
  }

  static std::string count(const std::vector<std::string>& checks) {
    return std::to_string(checks.size());
  }

  const doctest::ContextOptions& options_;
  std::ostream& out_;
  std::string check_;
  std::string suite_;  // Where the check stands.
  int line_ = 0;
  std::string why_skipped_;
  std::vector<std::string> passed_, failed_, skipped_;
  bool told_ = false;
  int left_out_ = 0;  // Because they take long.
};
REGISTER_REPORTER("plain", 0, PlainWords);

// CUDA_CHECK ends the program: say, as the reporter would, within which check.
void name_interrupted_check() {
  if (!running) return;
  std::fflush(stdout);
  if (in_plain_words)
    std::fprintf(stderr,
                 "\nFAILED: %s\n"
                 "  It ended here, because no CUDA error can be mended. The "
                 "checks after it did\n  not run.\n%s%s",
                 running, indented(said_if_interrupted()).c_str(),
                 what_next().c_str());
  else
    std::fprintf(stderr,
                 "%s\nTEST CASE:  %s\n\n"
                 "ERROR: it ended here, because no CUDA error can be mended.\n",
                 std::string(79, '=').c_str(), running);
}

// While it lives, the executor does not count: nobody reads what the checks
// cost, unless SIMT_REPORT asks, and they take half the time.
class Uncounted {
 public:
  Uncounted() {
    if (!chosen_) setenv("SIMT_COUNTERS", "off", 1);
  }
  ~Uncounted() {
    if (!chosen_) unsetenv("SIMT_COUNTERS");
  }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  const bool chosen_ =
      std::getenv("SIMT_COUNTERS") || std::getenv("SIMT_REPORT");
};

bool names_reporter(int argc, char** argv) {
  for (int k = 1; k < argc; ++k)
    if (std::string_view(argv[k]).starts_with("--dt-reporters=")) return true;
  return false;
}

}  // namespace

bool is_for_checks(std::string_view option) {
  for (const std::string_view name : {"--no-skip", "-ns", "--list-test-cases"})
    if (option == name) return true;
  return option.starts_with("--dt-") || option.starts_with("--test-case=");
}

bool print_findings() {
  const std::string failure = show::failure ? show::failure() : "";
  if (failure.empty()) return false;
  simt::sum_up_findings();  // They would come last, else.
  std::printf(
      "\nEvery check passed, but the executor found the code wrong. Nothing is "
      "counted of\nwrong code.\n%s\n%s",
      failure.c_str(), what_next().c_str());
  return true;
}

// Never destroyed: it is asked for at the very end.
std::string& said_if_interrupted() {
  static auto* one = new std::string;
  return *one;
}

std::optional<int> run_checks(int argc, char** argv) {
  std::atexit(name_interrupted_check);
  doctest::Context checks(argc, argv);
  if (!names_reporter(argc, argv)) checks.setOption("reporters", "plain");
  const int failed = [&] {
    const Uncounted uncounted;
    return checks.run();
  }();
  if (failed) return failed;
  if (print_findings()) return EXIT_FAILURE;
  if (checks.shouldExit()) return EXIT_SUCCESS;
  if (checks_run == 0) {
    std::fprintf(stderr,
                 "No check has such a name: --list-test-cases shows them all. "
                 "One that is\nskipped by default needs --no-skip too.\n");
    return EXIT_FAILURE;
  }
  if (some_left_out) {
    std::puts("Some checks were left out, so nothing is measured.");
    return EXIT_SUCCESS;
  }
  return std::nullopt;
}
