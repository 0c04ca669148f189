// What ranks in several processes of one machine show one another: each leaves
// what it gives in shared memory, under a name that the others can work out.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "common/simt/nccl/nccl.h"

namespace simt::nccl {

// One notice, mapped here: a header, and bytes behind it.
class Notice {
 public:
  struct Header {
    std::atomic<uint32_t> is_ready{0}, readers{0};
    int process = 0, device = 0;  // whose it is
    int kind = 0, type = 0, op = 0, root = 0;
    size_t count = 0;  // of the call
  };

  // Throws Refused where the machine has no room for it.
  static std::unique_ptr<Notice> create(const std::string& name, size_t bytes);
  // Null as long as there is none.
  static std::unique_ptr<Notice> find(const std::string& name);
  ~Notice();
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  Header& header() const { return *static_cast<Header*>(at_); }
  char* bytes() const { return static_cast<char*>(at_) + kOffset; }

  // All of it is there, for others to read.
  void publish() { header().is_ready = 1; }
  // Nobody will read it any more.
  void take_down();
  // This was one of so many who read it; the last one takes it down.
  void note_read(uint32_t readers);

 private:
  static constexpr size_t kOffset = 64;  // Of any type's alignment.
  Notice(std::string name, void* at, size_t size)
      : name_(std::move(name)), at_(at), size_(size) {}

  const std::string name_;
  void* const at_;
  const size_t size_;
};

// Whether the process is still there.
bool is_alive(int process);

}  // namespace simt::nccl
