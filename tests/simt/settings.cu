// A setting of the executor that cannot be what it says ends the program before
// anything runs, whether or not the program would have needed it. A GPU has no
// settings, so there each run ends well.
#include <cstdlib>
#include <cstring>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

constexpr const char* kRan = "The program ran.\n";
constexpr int kRefused = 1;

struct Setting {
  const char *name, *value;
  // Behind the name and, unless that is unknown, the value.
  const char* told = "";
};

const Setting kWrong[] = {
    {"SIMT_CHECKS", "no", "it is on or off"},
    {"SIMT_COUNTERS", "0", "it is on or off"},
    {"SIMT_DEVICE", "h100", "it is one of h200, a100, t4"},
    {"SIMT_DEVICES", "17", "give a number of devices from 1 to 16"},
    {"SIMT_LEAKS", "on", "it is 1, to list memory"},
    {"SIMT_ORDER", "back", "it is backwards"},
    {"SIMT_PATIENCE", "-1", "give a number of seconds from 0 to 1000000"},
    {"SIMT_PATIENCE", "nan", "give a number of seconds from 0 to 1000000"},
    {"SIMT_PTXAS", "ON", "it is on or off"},
    {"SIMT_SECONDS", "1s", "give a number of seconds from 0 to 1000000"},
    {"SIMT_SMS", "0", "give a number of multiprocessors from 1 to 1024"},
    {"SIMT_THREADS", " 2", "give a number of host threads from 1 to 1024"},
    {"SIMT_THREADS", "4294967298", "give a number of host threads"},
    {"SIMT_TRACE_BLOCK", "all",
     "give the number of a block from 0 to 2147483646"},
    {"SIMT_THREAD", "2", " is no setting of the executor; there are"},
};

const Setting kRight[] = {
    {"SIMT_CHECKS", "off"},   {"SIMT_COUNTERS", "on"},
    {"SIMT_DEVICE", "t4"},    {"SIMT_DEVICES", "16"},
    {"SIMT_LEAKS", "0"},      {"SIMT_ORDER", "late"},
    {"SIMT_PATIENCE", "0.5"}, {"SIMT_PTXAS", "off"},
    {"SIMT_SECONDS", "0"},    {"SIMT_SMS", "1024"},
    {"SIMT_THREADS", "2"},    {"SIMT_TRACE_BLOCK", "3"},
    {"SIMT_THREADS", ""},     {"SIMT", "2"},
};

Ended run_with(const Setting& setting) {
  setenv(setting.name, setting.value, 1);
  const Ended run = run_self("child");
  unsetenv(setting.name);
  return run;
}

void check_refused(const Setting& wrong) {
  const Ended run = run_with(wrong);
  const std::string name = std::string("simt: ") + wrong.name;
  const bool is_known = wrong.told[0] != ' ';
  const std::string value =
      is_known ? '=' + std::string(wrong.value) + ": " : "";
  expect::equal(run.status, kRefused);
  expect::is_true(run.output.starts_with(name + value + wrong.told),
                  run.output.c_str());
  expect::is_true(run.output.find(kRan) == run.output.npos, wrong.name);
}

void check_accepted(const Setting& right) {
  const Ended run = run_with(right);
  expect::equal(run.status, 0);
  expect::equal(run.output, kRan);
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::printf("%s", kRan);
    return 0;
  }
  for (const Setting& right : kRight) check_accepted(right);
  for (const Setting& wrong : kWrong) {
    on_executor() ? check_refused(wrong) : check_accepted(wrong);
  }
  return expect::report();
}
