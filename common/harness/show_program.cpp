// Linked with a program that has its own main, it ends what that prints with
// what the executor counted. PROFILE=1 asks for every line, PTX=1 for the
// instructions below it, too.
#include <cstdio>
#include <cstdlib>

#include "common/harness/show_kernels.h"
#include "common/harness/show_profile.h"
#include "common/simt/runtime/runtime.h"

namespace {

void show_launches() {
  std::fflush(stdout);
  simt::sum_up_findings();  // They would come last, else.
  if (std::getenv("PROFILE") && !simt::launch_reports().empty())
    show::print_profile(simt::launch_reports());
  else
    show::print_kernels(stderr);
  show::print_traffic(stderr);
  std::fflush(stdout);
  const std::string failure = show::failure();
  if (!failure.empty()) std::fprintf(stderr, "%s\n", failure.c_str());
}

// After the runtime library has begun to watch the program's end, so that this
// comes before its last word; before the program's own constructors, so that it
// comes after their destructors.
__attribute__((constructor(102))) void watch_exit() {
  simt::keep_instructions(std::getenv("PTX") != nullptr);
  std::atexit(show_launches);
}

}  // namespace
