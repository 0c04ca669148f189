// Reads the environment.
#include "common/simt/core/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/simt/core/error.h"

namespace simt::settings {
namespace {

constexpr std::string_view kNames[] = {
    "SIMT_CHECKS", "SIMT_COUNTERS",    "SIMT_DEVICE",    "SIMT_DEVICES",
    "SIMT_LEAKS",  "SIMT_ORDER",       "SIMT_PATIENCE",  "SIMT_PTXAS",
    "SIMT_REPORT", "SIMT_SECONDS",     "SIMT_SMS",       "SIMT_THREADS",
    "SIMT_TRACE",  "SIMT_TRACE_BLOCK", "SIMT_TRACE_LINE"};

// Empty counts as unset.
const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

[[noreturn]] void refuse(const char* name, const std::string& value,
                         const std::string& why) {
  throw Error(std::string(name) + "=" + value + ": " + why);
}

bool on(const char* name) {
  const char* value = value_of(name);
  if (!value || std::strcmp(value, "on") == 0) return true;
  if (std::strcmp(value, "off") == 0) return false;
  refuse(name, value, "it is on or off");
}

template <typename Number = int>
std::optional<Number> number(const char* name, const char* what, int least,
                             int most) {
  const char* value = value_of(name);
  if (!value) return std::nullopt;
  const char* end = value + std::strlen(value);
  Number n = {};
  const auto [rest, error] = std::from_chars(value, end, n);
  if (error == std::errc() && rest == end && n >= least && n <= most) return n;
  refuse(name, value,
         std::string("give ") + what + " from " + std::to_string(least) +
             " to " + std::to_string(most));
}

std::string_view order() {
  const char* value = value_of("SIMT_ORDER");
  if (!value) return "";
  const std::string_view order = value;
  if (order == "backwards" || order == "turns" || order == "late") return order;
  refuse("SIMT_ORDER", value,
         "it is backwards, and the last block begins first, turns, and blocks "
         "take turns where they may talk, or late, and streams only work when "
         "somebody waits for them");
}

void require_known(std::string_view name) {
  if (!name.starts_with("SIMT_") ||
      std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames))
    return;
  std::string known;
  for (const std::string_view other : kNames)
    known += (known.empty() ? "" : ", ") + std::string(other);
  throw Error(std::string(name) + " is no setting of the executor; there are " +
              known);
}

}  // namespace

bool checks() { return on("SIMT_CHECKS"); }
bool counters() { return on("SIMT_COUNTERS"); }
bool ptxas_model() { return on("SIMT_PTXAS"); }
int devices() {
  return number("SIMT_DEVICES", "a number of devices", 1, kMostDevices)
      .value_or(1);
}
int host_threads() {
  return number("SIMT_THREADS", "a number of host threads", 1, 1024)
      .value_or(0);
}
std::optional<int> multiprocessors() {
  return number("SIMT_SMS", "a number of multiprocessors", 1, 1024);
}
double patience() {
  return number<double>("SIMT_PATIENCE", "a number of seconds", 0, 1'000'000)
      .value_or(10);
}
int seconds() {
  return number("SIMT_SECONDS", "a number of seconds", 0, 1'000'000)
      .value_or(600);
}
const char* report_path() { return value_of("SIMT_REPORT"); }
const char* trace_path() { return value_of("SIMT_TRACE"); }

bool backwards() { return order() == "backwards"; }
bool turns() { return order() == "turns"; }
bool late() { return order() == "late"; }

bool leaks() {
  const char* value = value_of("SIMT_LEAKS");
  if (!value || std::strcmp(value, "0") == 0) return false;
  if (std::strcmp(value, "1") == 0) return true;
  refuse("SIMT_LEAKS", value,
         "it is 1, to list memory that was never freed, or 0");
}

std::string device() {
  const char* value = value_of("SIMT_DEVICE");
  return value ? value : "";
}

std::string trace_line() {
  const char* value = value_of("SIMT_TRACE_LINE");
  return value ? value : "";
}

int trace_block() {
  return number("SIMT_TRACE_BLOCK", "the number of a block", 0, 2'147'483'646)
      .value_or(0);
}

void require_valid() {
  for (char** one = environ; *one; ++one)
    require_known({*one, std::strcspn(*one, "=")});
  for (const auto read : {checks, counters, ptxas_model, backwards, leaks})
    read();
  for (const auto read : {devices, host_threads, seconds, trace_block}) read();
  multiprocessors();
  patience();
}

}  // namespace simt::settings
