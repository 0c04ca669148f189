// How much processor time kernels may take, all together. A kernel that would
// run for days here may take a second on a GPU: its author should hear of it.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "common/simt/core/settings.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

timespec to_timespec(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  return {whole, static_cast<long>(1e9 * (seconds - double(whole)))};
}

// What a thread of the timer's says; the kernel still runs in others, so that
// there is no orderly end. Never destroyed, see launch.cpp.
std::string& last_words() {
  static auto* one = new std::string;
  return *one;
}
void end_process(sigval) {
  say(last_words());
  std::fflush(stdout);
  _exit(EXIT_FAILURE);
}

timer_t create_timer() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = end_process;
  timer_t timer;
  require(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0,
          cudaErrorOperatingSystem, "no timer for SIMT_SECONDS");
  return timer;
}

// Kernels of several devices run at the same time: one of them waits.
std::mutex& limit_mutex() {
  static auto* one = new std::mutex;
  return *one;
}
int running = 0;
double left = 0;  // seconds, as soon as there is a limit

// Lets the timer run for so many seconds, and tells how many it had left.
double set_timer(double seconds) {
  static const timer_t timer = create_timer();
  const itimerspec next = {{}, to_timespec(seconds)};
  itimerspec before = {};
  timer_settime(timer, 0, &next, &before);
  return double(before.it_value.tv_sec) + 1e-9 * before.it_value.tv_nsec;
}

}  // namespace

TimeLimit::TimeLimit(const std::string& kernel) {
  static const double limit = settings::seconds();
  const std::lock_guard lock(limit_mutex());
  if (limit == 0 || running++ > 0) return;
  const auto seconds = [](double n) {
    return (std::ostringstream() << n).str();
  };
  last_words() =
      text("SIMT_SECONDS: kernels have taken ", seconds(limit),
           " s of processor time, and ", kernel,
           " is not done; give it smaller arrays, or more time, such "
           "as SIMT_SECONDS=",
           seconds(10 * limit), ", or no limit with SIMT_SECONDS=0");
  if (left == 0) left = limit;
  set_timer(left);
}

TimeLimit::~TimeLimit() {
  const std::lock_guard lock(limit_mutex());
  if (running > 0 && --running == 0) left = std::max(set_timer(0), 1e-3);
}

}  // namespace simt
