// Shared memory between processes, by name.
#include "common/simt/nccl/board.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "common/simt/runtime/runtime.h"

namespace simt::nccl {
namespace {

constexpr int kOwnerOnly = 0600;

void* map(int file, size_t size) {
  void* const at =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

std::unique_ptr<Notice> Notice::create(const std::string& name, size_t bytes) {
  static_assert(sizeof(Header) <= kOffset);
  const size_t size = kOffset + bytes;
  const int file =
      shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, kOwnerOnly);
  require(file >= 0, cudaErrorOperatingSystem, "shared memory ", name,
          " cannot be created, or is there already");
  // Without its pages a full machine would end the program with a signal.
  const bool has_room = posix_fallocate(file, 0, size) == 0;
  if (!has_room) shm_unlink(name.c_str());
  void* const at = has_room ? map(file, size) : nullptr;
  require(at != nullptr, cudaErrorOperatingSystem, "there is no room for ",
          size, " bytes of shared memory");
  new (at) Header;
  return std::unique_ptr<Notice>(new Notice(name, at, size));
}

std::unique_ptr<Notice> Notice::find(const std::string& name) {
  const int file = shm_open(name.c_str(), O_RDWR, 0);
  if (file < 0) return nullptr;
  struct stat found = {};
  const bool is_whole = fstat(file, &found) == 0 && found.st_size > 0;
  const size_t size = found.st_size;
  void* const at = is_whole ? map(file, size) : nullptr;
  if (at == nullptr) {
    if (!is_whole) close(file);
    return nullptr;
  }
  std::unique_ptr<Notice> notice(new Notice(name, at, size));
  return notice->header().is_ready ? std::move(notice) : nullptr;
}

Notice::~Notice() { munmap(at_, size_); }

void Notice::take_down() { shm_unlink(name_.c_str()); }

void Notice::note_read(uint32_t readers) {
  if (++header().readers == readers) take_down();
}

bool is_alive(int process) { return kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace simt::nccl
