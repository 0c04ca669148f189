// Checks that are switched on later than memory is asked for, or off for one
// launch: what is there when they begin counts as written, and what comes
// behind it does not.
#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

constexpr int kThreads = 64;

__global__ void copy_kernel(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

int* array() {
  int* p = nullptr;
  expect::ok(cudaMalloc(&p, kThreads * sizeof(int)));
  return p;
}

void copy(const int* from, int* to) {
  copy_kernel<<<1, kThreads>>>(from, to);
  expect::ok(cudaDeviceSynchronize());
}

// Of an array that is there before, of one that is written in between, and of
// one that nobody writes.
void copy_later(bool fresh) {
  setenv("SIMT_CHECKS", "off", 1);
  int *before = array(), *to = array();
  copy(before, to);
  unsetenv("SIMT_CHECKS");
  copy(before, to);
  int* unseen = array();
  setenv("SIMT_CHECKS", "off", 1);
  copy(before, unseen);
  unsetenv("SIMT_CHECKS");
  copy(unseen, to);
  if (fresh) copy(array(), to);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    copy_later(argv[1] == std::string("fresh"));
    return 0;
  }
  expect::equal(run_self("before").status, 0);
  if (on_executor()) {
    const Ended fresh = run_self("fresh");
    expect::equal(fresh.status, 1);
    expect::is_true(
        fresh.output.find("uninitialised read") != std::string::npos,
        "an array of later is unwritten");
  }
  return expect::report();
}
