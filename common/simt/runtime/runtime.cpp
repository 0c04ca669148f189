// The runtime library that stands in for libcudart: what its parts share.
//
// Work runs at the call that issues it and is complete when the call returns;
// streams keep their promise of order because everything happens in order.
// Where there are several devices, some of it may wait for others: see tasks.h.
// What a GPU may do in another order is watched: see happens_before.h.
#include "common/simt/runtime/runtime.h"

#include <cuda.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include "common/simt/core/device.h"
#include "common/simt/core/settings.h"
#include "common/simt/core/unseen_text.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/overlaps.h"

namespace simt {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
thread_local cudaError_t last = cudaSuccess;
thread_local const char* driver_call = nullptr;
std::atomic<bool> runtime_called{false};
thread_local bool has_context = false;
std::atomic<bool> findings{false};

// Launches that failed and that nobody has asked about yet.
thread_local bool launch_unasked = false;
std::atomic<int> launches_unasked{0};

void asked() {
  if (!launch_unasked) return;
  launch_unasked = false;
  --launches_unasked;
}

// SIMT_LEAKS=1 asks for them.
bool leaks_matter() {
  try {
    return settings::leaks();
  } catch (const Error& error) {
    say(error.what());
    note_finding();
    return false;
  }
}

// Runs when the program has ended, after its own destructors.
void at_exit(int status, void*) {
  if (launches_unasked > 0 && !findings) {
    say("the program never asked whether its launch succeeded; call "
        "cudaGetLastError() after <<<...>>>");
    note_finding();
  }
  if (const std::string place = unseen_place(); !place.empty() && !findings) {
    say(text("lost text: the program ended without waiting for ", place,
             ". A GPU keeps a kernel's text until the host waits, so nobody "
             "would see it. Call cudaDeviceSynchronize() before the program "
             "ends"));
    note_finding();
  }
  if (const size_t left = unfinished_tasks(); left > 0 && !findings) {
    say(text("the program ended, and ", left, left == 1 ? " piece" : " pieces",
             " of work in its streams had not: it never waited for them"));
  }
  sum_up_findings();
  report_leaks();
  if (status != 0 || !findings) return;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

// Before the program's own constructors, so that what it frees in destructors
// is freed when we look.
__attribute__((constructor(101))) void watch_exit() {
  on_exit(at_exit, nullptr);
  watch_host();
  try {
    settings::require_valid();
    model_device();  // Ends the program if it has another name.
  } catch (const Error& error) {
    say(error.what());
    _exit(EXIT_FAILURE);
  }
}

// With the names of files as they are seen from here.
std::string seen_from_here(std::string line) {
  std::error_code nowhere;  // Somebody may have removed the folder.
  const std::string here =
      std::filesystem::current_path(nowhere).string() + "/";
  if (nowhere) return line;
  for (size_t at = 0; (at = line.find(" " + here, at)) != line.npos; ++at)
    line.erase(at + 1, here.size());
  return line;
}

// Broken between words where a terminal would break within them. Elsewhere a
// line stays whole, for grep.
std::string fit_for_screen(const std::string& text) {
  winsize screen = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &screen) != 0 || screen.ws_col == 0)
    return text;
  std::string out = text;
  for (size_t begin = 0; out.size() - begin > screen.ws_col;) {
    const size_t end = out.find('\n', begin);
    const size_t last = out.rfind(' ', begin + screen.ws_col);
    if (end != out.npos && end - begin <= screen.ws_col) {
      begin = end + 1;
    } else if (last != out.npos && last > begin + 4) {
      out.replace(last, 1, "\n    ");
      begin = last + 1;
    } else {
      break;  // A word as long as a line.
    }
  }
  return out;
}

}  // namespace

void Part::add_to(std::string& sentence) const {
  switch (kind_) {
    case kWords:
      sentence += words_;
      return;
    case kLetter:
      sentence += static_cast<char>(number_);
      return;
    case kSigned:
      sentence += std::to_string(static_cast<int64_t>(number_));
      return;
    case kUnsigned:
      sentence += std::to_string(number_);
      return;
    case kAddress:
      sentence += number_ ? hex(number_) : "0";
  }
}

std::string join(Parts parts) {
  std::string sentence;
  for (const Part& part : parts) part.add_to(sentence);
  return sentence;
}

void refuse(cudaError_t code, Parts why) { throw Refused{code, join(why)}; }

cudaError_t answer_always(Body body, const char* call) noexcept {
  try {
    body();
    return cudaSuccess;
  } catch (const Refused& refused) {
    if (!refused.why.empty()) {
      complain(call, text(refused.why, " (", error_name(refused.code), ")"));
    }
    if (refused.code == cudaErrorNotReady) return refused.code;  // No error.
    return remember(refused.code);
  } catch (const Lacking& lacking) {
    complain(call, text("the CPU executor has no ", lacking.what));
    note_finding();
    return cudaErrorNotSupported;
  } catch (const Error& error) {
    say(error.what());
    note_finding();
    return remember(cudaErrorInvalidPtx);
  } catch (const std::bad_alloc&) {
    complain(call, "this machine has no memory left");
    return remember(cudaErrorMemoryAllocation);
  }
}

cudaError_t answer(Body body, const char* call) noexcept {
  note_runtime_call();
  if (const cudaError_t fault = sticky_error()) return remember(fault);
  return answer_always(
      [&] {
        require(!in_function(), cudaErrorNotPermitted,
                "a function of the host that a stream calls must not call "
                "CUDA");
        body();
      },
      call);
}

cudaError_t answer_apart(Body body, const char* call) noexcept {
  note_runtime_call();
  return answer_always(body, call);
}

void say(const std::string& words) {
  const std::string line = seen_from_here(words);
  static auto* mutex = new std::mutex;
  static auto* said = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (!said->insert(line).second) return;
  std::fflush(stdout);  // so that both stay in order where they share a file
  std::fprintf(stderr, "%s\n", fit_for_screen("simt: " + line).c_str());
}

DriverCall::DriverCall(const char* name) : outer_(driver_call), last_(last) {
  driver_call = name;
}
DriverCall::~DriverCall() {
  driver_call = outer_;
  last = last_;
}

void note_runtime_call() {
  if (driver_call == nullptr) runtime_called = has_context = true;
}
bool runtime_was_called() { return runtime_called; }
bool runtime_has_context() { return has_context; }
void leave_runtime_context() { has_context = false; }

const char* error_name(cudaError_t code) {
  const char* name = nullptr;
  if (driver_call) cuGetErrorName(static_cast<CUresult>(code), &name);
  return name ? name : cudaGetErrorName(code);
}

void complain(const std::string& by, const std::string& why) {
  const std::string call = driver_call ? driver_call : by;
  constexpr size_t kMost = 10;
  static auto* mutex = new std::mutex;
  static auto* reasons = new std::map<std::string, std::set<std::string>>;
  {
    const std::lock_guard lock(*mutex);
    std::set<std::string>& said = (*reasons)[call];
    if (said.contains(why)) return;
    if (said.size() == kMost) {
      say(call + ": more than these " + std::to_string(kMost) +
          " mistakes were made in such calls; the rest is not shown");
      return;
    }
    said.insert(why);
  }
  say(call + ": " + why);
}

cudaError_t sticky_error() { return sticky; }

// From here on no call waits for anything, so nothing can be too early.
void set_sticky_error(cudaError_t code) {
  sticky = code;
  overlaps().give_up();
}

cudaError_t remember(cudaError_t code) { return last = code; }

cudaError_t last_error() {
  asked();
  return last;
}

cudaError_t take_last_error() {
  const cudaError_t error = last_error();
  last = cudaSuccess;
  return error;
}

void remember_failed_launch() {
  if (launch_unasked) return;
  launch_unasked = true;
  ++launches_unasked;
}

void note_finding() { findings = true; }

void make_read_only(const void* address) {
  allocations().make_read_only(reinterpret_cast<uint64_t>(address));
}

size_t things_held() {
  return allocations().unfreed().size() + live_streams_and_events() +
         live_graphs();
}

void report_leaks(std::optional<int> device) {
  if (!leaks_matter()) return;
  constexpr size_t kShown = 20;
  auto leaked = allocations().unfreed();
  std::erase_if(leaked, [&](const Allocation& one) {
    return device && one.device != *device;
  });
  for (size_t i = 0; i < leaked.size() && i < kShown; ++i) {
    say("never freed: " + name_of(leaked[i]));
  }
  if (leaked.size() > kShown) {
    say(text("never freed: ", leaked.size() - kShown, " more"));
  }
  if (!leaked.empty()) note_finding();
}

}  // namespace simt
