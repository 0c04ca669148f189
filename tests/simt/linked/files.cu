// Device code of several files, compiled with -rdc=true: functions, variables,
// pointers and kernels of other files, and what each has for itself. The other
// files are in files/.
#include "tests/simt/expect.h"
#include "tests/simt/linked/files/shared.h"

namespace {

__global__ void functions_kernel(int* out) {
  const int i = threadIdx.x;
  out[4 * i] = mixed(i);
  out[4 * i + 1] = local_of_one(i);
  out[4 * i + 2] = local_of_two(i);
  out[4 * i + 3] = table[i % 2](i);
}

void check_functions() {
  const auto got = expect::results<int>(
      4 * 32, [](int* out) { functions_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int k) {
    const int i = k / 4;
    const int answers[] = {2 * i + 2 + 7 + 100, i + 10, i * 20,
                           i % 2 == 0 ? 2 * i : -i};
    return answers[k % 4];
  });
}

// Texts have no names of their own.
__global__ void texts_kernel(char* out) {
  const char* const texts[] = {text_of_one(), text_of_two(), "three"};
  for (int k = 0; k < 3; ++k) out[k] = texts[threadIdx.x + k][1];
}

void check_texts() {
  const auto got =
      expect::results<char>(3, [](char* out) { texts_kernel<<<1, 1>>>(out); });
  expect::each(got, [](int k) { return "nwh"[k]; });
}

// The host means the one definition, from whichever file.
void check_variables() {
  const int count = 1000;
  const float own[4] = {5, 50, 500, 5000};
  expect::ok(cudaMemcpyToSymbol(counter, &count, sizeof count));
  expect::ok(cudaMemcpyToSymbol(factors, own, sizeof own));
  offset = 20000;
  const auto got = expect::results<int>(
      4, [](int* out) { functions_kernel<<<1, 1>>>(out); });
  expect::equal(got[0], 50 + 1000 + 20000);
  int there = 0;
  expect::ok(cudaMemcpyFromSymbol(&there, counter, sizeof there));
  expect::equal(there, 1000);
  void *one = nullptr, *same = nullptr;
  expect::ok(cudaGetSymbolAddress(&one, counter));
  expect::ok(cudaGetSymbolAddress(&same, counter));
  expect::is_true(one != nullptr && one == same, "it has one address");
}

__global__ void arrays_kernel(int* out) {
  extern __shared__ int ints[];
  ints[threadIdx.x] = 10 * threadIdx.x;
  out[threadIdx.x] = own_dynamic() + unsized[threadIdx.x];
}

void check_arrays() {
  const auto got = expect::results<int>(
      5, [](int* out) { arrays_kernel<<<1, 5, 5 * sizeof(int)>>>(out); });
  expect::each(got, [](int i) { return 10 * i + i + 1; });
}

// Shared memory of a function and of the launch; a kernel of another file.
void check_kernels() {
  const auto got = expect::results<int>(
      64, [](int* out) { kernel_of_two<<<1, 64, 64 * sizeof(int)>>>(out); });
  expect::each(got, [](int i) { return 2016 + 2 * i + 50 + 1000 + 20000; });
}

__global__ void weak_kernel(int* out) { *out = calls_so_far(1); }

void check_weak() {
  auto got =
      expect::results<int>(1, [](int* out) { weak_kernel<<<1, 1>>>(out); });
  expect::equal(got[0], 5);  // kernel_of_two has been there.
}

__global__ void same_name(int* out) { *out = 1; }

void check_same_names() {
  auto got = expect::results<int>(2, [](int* out) {
    same_name<<<1, 1>>>(out);
    launch_same_name_of_two(out + 1);
  });
  expect::each(got, [](int k) { return k + 1; });
}

}  // namespace

int main() {
  check_functions();
  check_texts();
  check_variables();
  check_arrays();
  check_kernels();
  check_weak();
  check_same_names();
  return expect::report();
}
