// Host code that touches device memory: a crash on a GPU, so no success here.
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/closed_pages.h"
#include "common/simt/runtime/runtime.h"

namespace simt {

thread_local BytesCopied bytes_copied;

namespace {

struct sigaction before;  // what happened on a fault until now

void complain(uint64_t address) {
  const auto found = allocations().find(address);
  const bool live = found && !found->freed;
  // There free() and delete look for how large it is.
  constexpr uint64_t kSizeInFront = sizeof(size_t);
  const auto behind = allocations().find(address + kSizeInFront);
  const bool frees = behind && behind->begin == address + kSizeInFront;
  say(text("the host program touched device memory at ",
           reinterpret_cast<void*>(address), ", ",
           allocations().describe(address),
           live    ? "; copy it with cudaMemcpy first"
           : frees ? "; so do free() and delete: give it back with cudaFree, "
                     "or cudaFreeHost if it is pinned"
                   : ""));
}

// The program stands at an instruction of its own or in a function like
// memcpy, where no lock that we need is held: it is safe to speak.
// It says itself what it was about.
bool is_write(const void* context) {
#ifdef __x86_64__
  constexpr greg_t kByWrite = 2;
  return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] &
         kByWrite;
#else
  (void)context;
  return false;
#endif
}

// Came too early, or has been let in since: it is tried again.
bool may_go_on(uint64_t address, bool writes) {
  if (closed_pages().stopped(address, writes)) return true;
  const auto found = allocations().find(address);
  return found && !found->freed && !found->is_device_only();
}

// One of the two arrays is the host's, and ends too early. The copy may hold
// locks, so nothing of ours is asked.
void complain_of_copy(uint64_t address) {
  const BytesCopied& all = bytes_copied;
  const bool writes = address - all.to < all.count;
  if (!writes && address - all.from >= all.count) return;
  char line[200];
  const int length = std::snprintf(
      line, sizeof line,
      "simt: a copy %s %zu bytes of the host's memory from %#llx on, and not "
      "all of them are the program's: is that array too small?\n",
      writes ? "fills" : "reads", all.count,
      static_cast<unsigned long long>(writes ? all.to : all.from));
  if (write(STDERR_FILENO, line, length) == length) _exit(EXIT_FAILURE);
}

void on_fault(int signal, siginfo_t* fault, void* context) {
  const auto address = reinterpret_cast<uint64_t>(fault->si_addr);
  const bool of_an_access = fault->si_code > 0;
  if (of_an_access && allocations().in_arena(address)) {
    if (may_go_on(address, is_write(context))) return;
    complain(address);
    _exit(EXIT_FAILURE);
  }
  if (of_an_access) complain_of_copy(address);
  // Any other fault takes its old course as soon as we return: the access is
  // tried again. A signal that somebody sent must be sent again.
  sigaction(signal, &before, nullptr);
  if (!of_an_access) raise(signal);
}

}  // namespace

void watch_host() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  struct sigaction now = {};
  sigaction(SIGSEGV, nullptr, &now);
  if (now.sa_sigaction == on_fault) return;
  sigaction(SIGSEGV, &action, &before);
  closed_pages().watch = watch_host;
}

}  // namespace simt
