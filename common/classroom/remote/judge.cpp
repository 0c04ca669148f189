// The judge of a hand-in: a contract's checks and counted calls, in a process
// that no code of the hand-in runs in. It writes what it sees as lines of JSON.
//
//   judge --hand-in=FD --report=FILE [--case=N,OFFSET]... [doctest's options]
//
// Without a hand-in every function of the contract does nothing. Exit status: 0
// when the report is whole, 1 when a CUDA error or the hand-in's end cut it
// short: the check that began last then has no end. 3 when it cannot be
// written.
#define DOCTEST_CONFIG_IMPLEMENT
#include "common/classroom/remote/judge.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "common/classroom/remote/services.h"
#include "common/harness/checked_call.h"
#include "common/harness/checks.h"
#include "common/harness/circumstances.h"
#include "common/harness/show_profile.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/registers.h"

namespace {

constexpr int kNoReport = 3;  // The exit status.
std::FILE* report = nullptr;
std::unique_ptr<remote::Socket> hand_in;
std::vector<Case> cases;

// ---- JSON -------------------------------------------------------------------

std::string json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    char code[8];
    const bool controls = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    if (controls && c != '\n') c = '?';  // Somebody will print it.
    if (c == '\n' || c == '"' || c == '\\') {
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void write(const std::string& object) {
  std::fprintf(report, "%s\n", object.c_str());
  // What comes next may end the process.
  if (std::fflush(report) == 0) return;
  std::perror("the report");
  _exit(kNoReport);
}

// ---- The checks -------------------------------------------------------------

// Those that are new. What ends the program tells of the others.
void write_new_findings() {
  static size_t written = 0;
  const auto& all = simt::all_findings();
  for (; written < all.size(); ++written) {
    const simt::Finding& f = all[written].first;
    if (f.note) continue;
    write("{\"finding\": " + json(f.kind) +
          ", \"message\": " + json(f.message) +
          ", \"kernel\": " + json(f.kernel) + ", \"file\": " + json(f.file) +
          ", \"line\": " + std::to_string(f.line) + "}");
  }
}

class Lines : public doctest::IReporter {
 public:
  explicit Lines(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& check) override {
    check_ = check.m_name;
    why_.clear();
    skipped_ = false;
    tell("begun");
  }
  void test_case_end(const doctest::CurrentTestCaseStats& check) override {
    tell(check.failure_flags ? "failed" : skipped_ ? "skipped" : "passed");
    write_new_findings();  // A later check may end the program anyhow.
  }
  void test_case_exception(const doctest::TestCaseException& end) override {
    fail("it ended with: " + std::string(end.error_string.c_str()));
  }
  void log_assert(const doctest::AssertData& check) override {
    if (check.m_failed)
      fail("expected " + std::string(check.m_expr) + ", got " +
           check.m_decomp.c_str());
  }
  void log_message(const doctest::MessageData& message) override {
    const std::string text = message.m_string.c_str();
    if (message.m_severity != doctest::assertType::is_warn) fail(text);
    skipped_ |= text.starts_with("Skipped: ");
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}

 private:
  void fail(const std::string& why) {
    if (why_.empty()) why_ = circumstances() + why;
  }
  void tell(const char* state) const {
    write("{\"check\": " + json(check_) + ", \"state\": \"" + state +
          "\", \"why\": " + json(why_) + "}");
  }

  std::string check_, why_;
  bool skipped_ = false;
};
REGISTER_REPORTER("lines", 0, Lines);

// ---- The calls that are counted ---------------------------------------------

void add(std::string& fields, const std::string& name, double value) {
  fields += (fields.empty() ? "" : ", ") + json(name) + ": " + number(value);
}

// Counters by ncu's names, and the rows of ./run's table.
std::string counters(const show::Metrics& metrics) {
  std::string out;
  for (const auto& [name, value] : metrics) add(out, name, value);
  for (const show::Row& row : show::rows_of(metrics))
    add(out, row.name, row.value);
  return "{" + out + "}";
}

// Of a line, only what it has to do with.
std::string rows(const show::Metrics& metrics) {
  std::string out;
  for (const show::Row& row : show::rows_of(metrics))
    if (row.relevant) add(out, row.name, row.value);
  return "{" + out + "}";
}

constexpr char kBlocks[] = "launch__grid_size";  // What ncu calls it.

show::Launch shown(const simt::LaunchReport& report) {
  show::Launch launch = show::launch_of(report);
  launch.metrics[kBlocks] = static_cast<double>(launch.blocks);
  return launch;
}

void write_launch(const Case& one, const simt::LaunchReport& launch) {
  std::string lines;
  for (const auto& line : launch.lines)
    lines += (lines.empty() ? "" : ", ") + std::string("{\"file\": ") +
             json(line.file) + ", \"line\": " + std::to_string(line.line) +
             ", \"counters\": " + rows(line.metrics) + "}";
  write("{\"launch\": " + json(launch.kernel) + ", \"n\": " +
        std::to_string(one.n) + ", \"offset\": " + std::to_string(one.offset) +
        ", \"counters\": " + counters(shown(launch).metrics) +
        ", \"lines\": [" + lines + "]}");
}

void count(const Case& one) {
  simt::renew_launch_reports();
  const auto& reports = simt::launch_reports();
  const size_t first = reports.size(), before = simt::launch_count();
  checked_call(one);
  const size_t launches = simt::launch_count() - before;
  CHECK_MESSAGE(launches == reports.size() - first, "n = ", one.n, ": of ",
                launches, " launches only the first ", reports.size() - first,
                " are counted");
  show::CountedCase counted = {one, {}};
  double blocks = 0;
  for (size_t k = first; k < reports.size(); ++k) {
    write_launch(one, reports[k]);
    counted.launches.push_back(shown(reports[k]));
    blocks += counted.launches.back().metrics[kBlocks];
  }
  show::Metrics total = show::total(counted);
  total[kBlocks] = blocks;
  write("{\"n\": " + std::to_string(one.n) +
        ", \"offset\": " + std::to_string(one.offset) +
        ", \"counters\": " + counters(total) + "}");
}

// What there is to count, by its names.
void write_counters() {
  show::Metrics nothing =
      show::total({{}, {{"", 0, 0, simt::metrics_of_nothing()}}});
  nothing[kBlocks] = 0;
  write("{\"counters\": " + counters(nothing) + "}");
}

// Among the others: what looks well in a counted call has to be right there.
// Behind the others, which so draw the numbers that they draw without it.
TEST_CASE("the calls that are counted give right results" *
          doctest::test_suite("counted")) {
  const char* const setting = "SIMT_COUNTERS";
  unsetenv(setting);
  for (const Case& one : cases) count(one);
  setenv(setting, "off", 1);
}

// ---- The program ------------------------------------------------------------

bool take_case(const std::string& text) {
  Case one;
  char end = 0;
  long long n = 0, offset = 0;
  if (std::sscanf(text.c_str(), "%lld,%lld%c", &n, &offset, &end) != 2)
    return false;
  cases.push_back({n, offset});
  return true;
}

bool take_option(const std::string& option) {
  const auto value_of = [&](std::string_view name) {
    return option.starts_with(name) ? option.substr(name.size()) : "";
  };
  if (const std::string file = value_of("--hand-in="); !file.empty())
    hand_in = std::make_unique<remote::Socket>(std::atoi(file.c_str()));
  if (const std::string path = value_of("--report="); !path.empty())
    report = std::fopen(path.c_str(), "w");
  const std::string one = value_of("--case=");
  return one.empty() || take_case(one);
}

// Answers the hand-in until it has come to the end that is waited for.
remote::Message serve_until(remote::Kind end) {
  for (;;) {
    remote::Message question = hand_in->receive();
    if (question.kind() == end) return question;
    hand_in->send(remote::answer_to(question));
  }
}

int judge(int argc, char** argv) {
  if (hand_in)
    serve_until(remote::Kind::kReady);
  else
    write_counters();
  doctest::Context checks(argc, argv);
  checks.setOption("reporters", "lines");
  checks.setOption("order-by", "suite");
  setenv("SIMT_COUNTERS", "off", 1);
  checks.run();
  write("{\"whole\": true}");
  return EXIT_SUCCESS;
}

// A CUDA error or the hand-in's end may end the program within a check.
void write_last_findings() {
  if (report) write_new_findings();
  if (report) std::fclose(report);
  report = nullptr;
}

}  // namespace

std::string& said_if_interrupted() {
  static auto* one = new std::string;
  return *one;
}

bool remote::has_hand_in() { return hand_in != nullptr; }

remote::Message remote::call_hand_in(const Message& call) try {
  hand_in->send(call);
  return serve_until(Kind::kReturned);
} catch (const Broken& broken) {
  // In the middle of a check: nothing after it can be judged.
  std::fprintf(stderr, "The hand-in's process: %s.\n", broken.what());
  std::exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    if (take_option(argv[k])) continue;
    std::fprintf(stderr, "%s: not as --case=N,OFFSET\n", argv[k]);
    return EXIT_FAILURE;
  }
  if (!report) {
    std::fprintf(stderr, "usage: judge --report=FILE that can be written\n");
    return EXIT_FAILURE;
  }
  std::atexit(write_last_findings);
  simt::run_no_ptxas();
  try {
    return judge(argc, argv);
  } catch (const remote::Broken& broken) {
    std::fprintf(stderr, "The hand-in's process: %s.\n", broken.what());
    return EXIT_FAILURE;
  }
}
