// What the executor's suite is made of. A program states what CUDA's documents
// promise, and is judged the same way on a GPU and on the executor: it prints
// the first few differences, ends with `N passed, N failed`, and exits
// non-zero when a check failed or when nothing was checked.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <source_location>
#include <vector>

namespace expect {

using Where = std::source_location;

constexpr int kShown = 5;
inline int passed = 0;
inline int failed = 0;

// Ends the program when a CUDA call fails that should not.
inline void ok(cudaError_t error, Where where = Where::current()) {
  if (error == cudaSuccess) return;
  std::cerr << where.file_name() << ':' << where.line() << ": "
            << cudaGetErrorName(error) << ": " << cudaGetErrorString(error)
            << "\n0 passed, 1 failed\n";
  std::exit(1);
}

template <typename T>
auto printable(const T& value) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<int>(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<long long>(value);
  } else {
    return value;
  }
}

// FNV-1a of 32-bit words; every NaN counts as one.
template <typename Word>
uint32_t digest(const Word* words, size_t n, uint32_t so_far = 2166136261) {
  for (size_t k = 0; k < n; ++k) {
    uint32_t bits;
    std::memcpy(&bits, &words[k], sizeof bits);
    so_far = (so_far ^ (words[k] != words[k] ? 0x7fffffff : bits)) * 16777619;
  }
  return so_far;
}

inline void count(bool good) { good ? ++passed : ++failed; }

template <typename Got, typename Expected>
void equal(const Got& got, const Expected& expected,
           Where where = Where::current()) {
  const bool good = got == static_cast<Got>(expected);
  count(good);
  if (good) return;
  std::cout << where.file_name() << ':' << where.line() << ": expected "
            << printable(static_cast<Got>(expected)) << ", got "
            << printable(got) << '\n';
}

inline void is_true(bool good, const char* what,
                    Where where = Where::current()) {
  count(good);
  if (good) return;
  std::cout << where.file_name() << ':' << where.line() << ": not so: " << what
            << '\n';
}

// One check: got[i] == expected(i) for every i.
template <typename T, typename Expected>
void each(const std::vector<T>& got, Expected expected,
          Where where = Where::current()) {
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const T want = static_cast<T>(expected(static_cast<int>(i)));
    if (got[i] == want) continue;
    if (++wrong > kShown) continue;
    std::cout << where.file_name() << ':' << where.line() << ": [" << i
              << "] expected " << printable(want) << ", got "
              << printable(got[i]) << '\n';
  }
  if (wrong > kShown) {
    std::cout << "  and " << wrong - kShown << " more of " << got.size()
              << '\n';
  }
  count(wrong == 0 && !got.empty());
}

// Gives `launch` an array of n zeros on the device and returns what it left.
template <typename T, typename Launch>
std::vector<T> results(size_t n, Launch launch,
                       Where where = Where::current()) {
  T* device = nullptr;
  ok(cudaMalloc(&device, n * sizeof(T)), where);
  ok(cudaMemset(device, 0, n * sizeof(T)), where);
  launch(device);
  ok(cudaGetLastError(), where);
  ok(cudaDeviceSynchronize(), where);
  std::vector<T> host(n);
  ok(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost),
     where);
  ok(cudaFree(device), where);
  return host;
}

// A copy of a host array on the device, freed at the end of its scope.
template <typename T>
class Copy {
 public:
  explicit Copy(const std::vector<T>& host) {
    ok(cudaMalloc(&device_, host.size() * sizeof(T)));
    ok(cudaMemcpy(device_, host.data(), host.size() * sizeof(T),
                  cudaMemcpyHostToDevice));
  }
  ~Copy() { ok(cudaFree(device_)); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  operator const T*() const { return device_; }

 private:
  T* device_ = nullptr;
};

// The last line of a program, and its exit status.
inline int report() {
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace expect
