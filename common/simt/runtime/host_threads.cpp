// Asks Linux what the threads of the process are at.
#include "common/simt/runtime/host_threads.h"

#include <sys/syscall.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace simt {
namespace {

// In a system call that lasts until another thread does something: it waits for
// a mutex, a condition or another thread's end (a futex), or for a timer's
// signal, without a time limit.
bool waits_for_ever(const std::filesystem::path& thread) {
  std::ifstream file(thread / "syscall");
  long call = -1;
  uint64_t argument[4] = {};
  file >> call >> std::hex;
  for (uint64_t& one : argument) file >> one;
  if (!file) return false;  // "running", or a file that is not there
  constexpr uint64_t kOperation = 127, kWait = 0, kWaitBitset = 9;
  const uint64_t operation = argument[1] & kOperation;
  if (call == SYS_futex)
    return (operation == kWait || operation == kWaitBitset) && argument[3] == 0;
  return call == SYS_rt_sigtimedwait && argument[2] == 0;
}

}  // namespace

bool all_threads_wait(size_t ours) {
  size_t others = 0, waiting = 0;
  std::error_code gone;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task", gone)) {
    ++others;
    waiting += waits_for_ever(thread.path());
  }
  return !gone && others == waiting + ours;
}

}  // namespace simt
