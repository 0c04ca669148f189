// What host code may touch, and what a program leaves unfreed. Each case is a
// run of this program; on a GPU only those that end well are worth running.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::ok;

constexpr int kFinding = 1;
constexpr int kCrash = -1;
constexpr size_t kBytes = 400;

__device__ int variable = 1;
__managed__ int managed = 2;

__global__ void sum_kernel(int* a, const int* b, const int* c) {
  *a += *b + *c + variable + managed;
}

int* allocated() {
  int* p = nullptr;
  ok(cudaMalloc(&p, kBytes));
  ok(cudaMemset(p, 0, kBytes));
  return p;
}

// Where the compiler cannot know what it is.
int peek(const volatile int* p) { return *p; }

void memory_of_both() {
  int *pinned = nullptr, *shared = nullptr;
  int own = 30;
  allocated();  // a neighbour
  ok(cudaMallocHost(&pinned, kBytes));
  ok(cudaMallocManaged(&shared, kBytes));
  ok(cudaHostRegister(&own, sizeof own, cudaHostRegisterDefault));
  *pinned = 4;
  *shared = 500;
  managed = 6000;
  sum_kernel<<<1, 1>>>(shared, pinned, &own);
  ok(cudaGetLastError());
  ok(cudaDeviceSynchronize());
  ok(cudaHostUnregister(&own));
  if (peek(shared) != 6535 || peek(&managed) != 6000) std::exit(2);
}

void read_array() { peek(allocated() + 3); }

void fill_array() { std::memset(allocated(), 0, kBytes); }

void free_array() { std::free(allocated()); }

void leave_array() { peek(allocated() + kBytes / sizeof(int)); }

void read_variable() {
  void* address = nullptr;
  ok(cudaGetSymbolAddress(&address, variable));
  peek(static_cast<int*>(address));
}

void read_freed() {
  int* shared = nullptr;
  ok(cudaMallocManaged(&shared, kBytes));
  *shared = 1;
  ok(cudaFree(shared));
  peek(shared);
}

void read_null() {
  allocated();
  peek(nullptr);
}

void leak() {
  int* freed = allocated();
  allocated();
  ok(cudaFree(freed));
}

void ask_for_leaks(const char* wish) { setenv("SIMT_LEAKS", wish, 1); }

void leak_and_ask() {
  ask_for_leaks("1");
  leak();
}

void leak_and_reset() {
  ask_for_leaks("1");
  leak();
  ok(cudaDeviceReset());
}

void ask_wrongly() { ask_for_leaks("yes"); }

// One page of the host's, and behind it one that nobody may touch.
void copy_over_the_end() {
  const size_t page = sysconf(_SC_PAGESIZE);
  void* const host = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(static_cast<char*>(host) + page, page, PROT_NONE);
  void* device = nullptr;
  ok(cudaMalloc(&device, 2 * page));
  ok(cudaMemset(device, 0, 2 * page));
  cudaMemcpy(host, device, 2 * page, cudaMemcpyDeviceToHost);
}

// Its destructor runs after main.
struct Holder {
  int* p = nullptr;
  ~Holder() { cudaFree(p); }
} holder;

void free_late() {
  ask_for_leaks("1");
  holder.p = allocated();
}

void use_after_reset() {
  int* p = allocated();
  ok(cudaDeviceReset());
  if (cudaFree(p) == cudaSuccess) std::exit(2);
}

const struct Case {
  const char* name;
  void (*run)();
  int status;
  std::vector<std::string> expected;
} cases[] = {
    {"memory of both", memory_of_both, 0, {}},
    {"array",
     read_array,
     kFinding,
     {"the host program touched device memory", "byte 12 of the 400-byte array",
      "cudaMalloc (allocation 1)", "cudaMemcpy"}},
    {"fill", fill_array, kFinding, {"byte 0 of the 400-byte array"}},
    {"behind", leave_array, kFinding, {"just past the end of the 400-byte"}},
    {"freed by free",
     free_array,
     kFinding,
     {"8 bytes before the 400-byte array", "free()", "cudaFree,"}},
    {"variable",
     read_variable,
     kFinding,
     {"byte 0 of the 4-byte variable", "cudaMemcpy"}},
    {"freed", read_freed, kFinding, {"cudaMallocManaged", "was freed"}},
    {"null", read_null, kCrash, {}},
    {"copy",
     copy_over_the_end,
     kFinding,
     {"a copy fills 8192 bytes of the host's memory", "too small?"}},
    {"leak", leak, 0, {}},
    {"leak, asked for",
     leak_and_ask,
     kFinding,
     {"never freed: the 400-byte array from cudaMalloc (allocation 2)"}},
    {"leak, reset", leak_and_reset, kFinding, {"(allocation 2)"}},
    {"freed late", free_late, 0, {}},
    {"asked wrongly", ask_wrongly, kFinding, {"SIMT_LEAKS=yes"}},
    {"after a reset", use_after_reset, 0, {}},
};

int child(const std::string& name) {
  for (const Case& it : cases) {
    if (it.name != name) continue;
    it.run();
    return 0;
  }
  return 2;
}

// The shell may report a signal as its own end or as 128 and its number.
int status_of(const Ended& ended) {
  return ended.status == 128 + 11 ? kCrash : ended.status;
}

void check(const Case& it) {
  const Ended ended = run_self(it.name);
  bool good = status_of(ended) == it.status;
  for (const std::string& text : it.expected) {
    good &= ended.output.find(text) != std::string::npos;
  }
  if (it.expected.empty()) {
    good &= ended.output.find("device memory") == std::string::npos &&
            ended.output.find("never freed") == std::string::npos;
  }
  if (!good) {
    std::cout << it.name << ": status " << ended.status << ", not " << it.status
              << ", or not the expected text:\n"
              << ended.output;
  }
  expect::count(good);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return child(argv[1]);
  const bool executor = on_executor();
  for (const Case& it : cases) {
    if (executor || it.status == 0) check(it);
  }
  return expect::report();
}
