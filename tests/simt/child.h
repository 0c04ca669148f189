// A program that runs itself again, to see what a kernel prints and how a run
// that has to fail ends.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/simt/expect.h"

struct Ended {
  int status;  // Of exit; -1 when a signal ended it.
  std::string output;
};

// As one word of a shell's.
inline std::string quoted(const std::string& word) {
  std::string all = "'";
  for (const char c : word) all += c == '\'' ? "'\\''" : std::string(1, c);
  return all + '\'';
}

// Runs this program with one argument, its two outputs joined. A child that
// is not done after a minute hangs, and ends with status 124.
inline Ended run_self(const std::string& argument) {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return {-1, ""};
  const std::string command =
      "timeout 60 " + quoted(path) + ' ' + quoted(argument) + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  std::string output;
  char part[4096];
  while (size_t n = fread(part, 1, sizeof part, pipe)) output.append(part, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

// Whether this program does as well when the executor's streams begin late.
inline void run_again_late() {
  if (std::getenv("SIMT_ORDER") != nullptr) return;
  setenv("SIMT_ORDER", "late", 1);
  const Ended again = run_self("again");
  unsetenv("SIMT_ORDER");
  expect::equal(again.status, 0);
  if (again.status != 0) std::cout << again.output;
}

inline bool on_executor() {
  cudaDeviceProp device = {};
  expect::ok(cudaGetDeviceProperties(&device, 0));
  return std::strstr(device.name, "CPU executor") != nullptr;
}
