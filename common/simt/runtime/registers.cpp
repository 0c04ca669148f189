// Runs ptxas, and reads what it says.
#include "common/simt/runtime/registers.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "common/simt/core/device.h"
#include "common/simt/runtime/runtime.h"

#ifndef SIMT_PTXAS_PATH  // The one beside nvcc.
#define SIMT_PTXAS_PATH "ptxas"
#endif

namespace simt {
namespace {

// A file in memory.
class File {
 public:
  File() : descriptor_(memfd_create("simt", MFD_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(descriptor_, text.data(), text.size());
      if (n <= 0) return false;
      text.remove_prefix(n);
    }
    return true;
  }
  std::string read() const {
    std::string all;
    char part[4096];
    for (ssize_t n;
         (n = pread(descriptor_, part, sizeof part, all.size())) > 0;)
      all.append(part, n);
    return all;
  }

 private:
  int descriptor_;
};

// What a program says on stderr about its stdin; "": it could not be run.
std::string said_by(std::vector<std::string> command, std::string_view input) {
  const File in, out;
  if (!in.write(input)) return "";
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr,
                                  arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return "";
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return out.read();
}

// For the device that the program sees, or what the PTX cannot do without.
std::string architecture_of(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target", kPrefix = "sm_";
  const size_t begin = ptx.find(kPrefix, ptx.find(kTarget));
  if (begin == ptx.npos) return "";
  size_t end = begin + kPrefix.size();
  while (end < ptx.size() && std::isalnum(ptx[end])) ++end;
  const std::string target(ptx.substr(begin, end - begin));
  const ModelDevice& device = model_device();
  const int least = std::atoi(target.c_str() + kPrefix.size());
  const bool is_for_one = !std::isdigit(target.back());
  return is_for_one || least > 10 * device.major + device.minor
             ? target
             : text(kPrefix, device.major, device.minor);
}

// The number in "Used 32 registers" behind the kernel's name.
int registers_in(const std::string& said, const std::string& kernel) {
  constexpr std::string_view kUsed = "Used ";
  const size_t name = said.find("entry function '" + kernel + "'");
  if (name == said.npos) return 0;
  const size_t used = said.find(kUsed, name);
  return used == said.npos ? 0 : std::atoi(said.c_str() + used + kUsed.size());
}

// Where the braces that follow close; inline assembly may have its own in them.
size_t end_of_body(std::string_view ptx, size_t at) {
  for (int depth = 0; (at = ptx.find_first_of("{}", at)) != ptx.npos; ++at) {
    depth += ptx[at] == '{' ? 1 : -1;
    if (depth == 0) return at + 1;
  }
  return ptx.npos;
}

// Other kernels are left out: ptxas would read them first, which takes most of
// the time where there are many.
std::string without_others(std::string_view ptx, const std::string& kernel) {
  constexpr std::string_view kEntry = ".entry ";
  std::string text;
  size_t copied = 0;
  for (size_t at = 0; (at = ptx.find(kEntry, at)) != ptx.npos;) {
    const size_t line = ptx.rfind('\n', at) + 1;
    const std::string_view name = ptx.substr(at + kEntry.size());
    const size_t end = end_of_body(ptx, at);
    if (end == ptx.npos) break;
    at = end;
    if (name.starts_with(kernel + "(")) continue;
    text += ptx.substr(copied, line - copied);
    copied = at;
  }
  return text.append(ptx.substr(copied));
}

int ask_ptxas(const Kernel& kernel) {
  const std::string& name = kernel.text->name;
  const Unit& unit = kernel.module->text.units[kernel.text->unit];
  std::vector<std::string> command = {"",
                                      "-v",
                                      "/dev/stdin",
                                      "-o",
                                      "/dev/null",
                                      "--entry",
                                      name,
                                      "-arch=" + architecture_of(unit.ptx),
                                      "-O" + std::to_string(unit.level)};
  if (!unit.fuses) command.insert(command.end(), {"-fmad", "false"});
  if (kernel.module->relocatable) command.push_back("-c");
  for (const char* ptxas : {SIMT_PTXAS_PATH, "ptxas"})
    for (const std::string& ptx :
         {without_others(unit.ptx, name), std::string(unit.ptx)}) {
      command[0] = ptxas;
      if (const int found = registers_in(said_by(command, ptx), name))
        return found;
    }
  return 0;
}

bool may_run_ptxas = true;

}  // namespace

void run_no_ptxas() { may_run_ptxas = false; }

int registers_of(Kernel& kernel) {
  std::call_once(kernel.assembled, [&] {
    if (may_run_ptxas) kernel.registers = ask_ptxas(kernel);
  });
  return kernel.registers;
}

}  // namespace simt
