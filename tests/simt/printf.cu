// printf of device code: every format, and lines of many threads that stay
// whole. The program reads what a second run of itself prints.

#include <algorithm>
#include <sstream>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

// The same source prints on the device, and on the host as the reference.
// (Left out is what an H200's printf does not know: %hhd and a precision of *.)
#define PRINT_FORMATS(p)                                                       \
  printf("int %d %i %5d|%-5d|%05d|%+d|% d\n", 1, -2, 3, 4, 5, 6, 7);           \
  printf("unsigned %u %x %X %o %#x %#o %08x\n", 4000000000u, 0xbeef, 0xBEEF,   \
         8, 255, 8, 0xabc);                                                    \
  printf("long %ld %lu %lld %llu %llx\n", -5000000000l, 5000000000ul,          \
         -9000000000000000000ll, 18000000000000000000ull, 0xfeedfacecafell);   \
  printf("short %hd %hu\n", short(-7), (unsigned short)(65535));               \
  printf("float %f %.2f %10.3f|%-10.1f|%e %.1e %g %g\n", 3.14159f, 2.0 / 3,    \
         -1.5, 1e3, 12345.678, 1e-10, 1e-10, 100000.0);                        \
  printf("odd %f %f %g %+.3f %G\n", 1.0 / zero, -1.0 / zero, -0.0, 0.5, 1e20); \
  printf("text %s %10s|%-10s|%.3s %c%c%%\n", "plain", "right", "left",         \
         "cut short", 'a', 66);                                                \
  printf("star %*d\n", 6, 42);                                                 \
  printf("nothing\n");                                                         \
  printf("pointer %p\n", p);                                                   \
  printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, \
         9, 10, 11, 12);

__global__ void formats_kernel(void* p, double zero){PRINT_FORMATS(p)}

// What the host's printf makes of the same calls.
__host__ void print_on_host(void* p, double zero){PRINT_FORMATS(p)}

__global__ void threads_kernel() {
  if (threadIdx.x % 3 == 0) {
    printf("thread %d of block %d: %s\n", threadIdx.x, blockIdx.x,
           threadIdx.x % 2 == 0 ? "even" : "odd");
  }
}

// Texts may be in any memory.
struct Text {
  char letters[16];
};
__constant__ Text constant_text = {"constant"};

__global__ void texts_kernel(const __grid_constant__ Text parameter) {
  __shared__ char shared[16];
  char local[16];
  for (int k = 0; k < 9; ++k) {
    shared[k] = "in shared"[k];
    local[k] = "in locals"[k];
  }
  shared[9] = local[8 + threadIdx.x] = 0;
  printf("%s, %s, %s, %s\n", shared, local, constant_text.letters,
         parameter.letters);
}

// What the device's printf does not know it prints as it stands, if nothing
// comes behind it that it does know.
__constant__ char unknown[] = "%*d|%zu %td %5% %.*f|\n";
__global__ void unknown_kernel() { printf(unknown, 6, 42); }

// printf tells how many arguments it took.
__global__ void result_kernel(int* out) {
  out[0] = printf("two arguments: %d %f\n", 1, 2.0);
  out[1] = printf("none\n");
}

int child(const std::string& what) {
  void* p = reinterpret_cast<void*>(uintptr_t{0x7f00dead1000});
  if (what == "host") print_on_host(p, 0.0);
  if (what == "formats") formats_kernel<<<1, 1>>>(p, 0.0);
  if (what == "texts") texts_kernel<<<1, 1>>>({"parameter"});
  if (what == "unknown") unknown_kernel<<<1, 1>>>();
  if (what == "threads") threads_kernel<<<5, 50>>>();
  expect::ok(cudaDeviceSynchronize());
  return 0;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void check_formats() {
  const Ended device = run_self("formats"), host = run_self("host");
  expect::equal(device.status, 0);
  const auto got = lines_of(device.output), want = lines_of(host.output);
  expect::equal(got.size(), size_t{11});
  for (size_t i = 0; i < want.size(); ++i) {
    expect::equal(i < got.size() ? got[i] : "(missing)", want[i]);
  }
}

void check_threads() {
  auto got = lines_of(run_self("threads").output);
  std::sort(got.begin(), got.end());
  std::vector<std::string> want;
  for (int block = 0; block < 5; ++block) {
    for (int thread = 0; thread < 50; thread += 3) {
      want.push_back("thread " + std::to_string(thread) + " of block " +
                     std::to_string(block) + ": " +
                     (thread % 2 == 0 ? "even" : "odd"));
    }
  }
  std::sort(want.begin(), want.end());
  expect::equal(got.size(), want.size());
  expect::is_true(got == want, "every thread's line is there, once and whole");
}

void check_texts() {
  expect::equal(run_self("texts").output,
                "in shared, in local, constant, parameter\n");
}

void check_unknown() {
  expect::equal(run_self("unknown").output, "    42|%zu %td %5% %.*f|\n");
}

void check_result() {
  const auto got =
      expect::results<int>(2, [](int* out) { result_kernel<<<1, 1>>>(out); });
  expect::equal(got[0], 2);
  expect::equal(got[1], 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return child(argv[1]);
  check_formats();
  check_threads();
  check_texts();
  check_unknown();
  check_result();
  return expect::report();
}
