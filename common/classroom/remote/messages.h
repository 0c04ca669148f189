// What the judge and a hand-in say to each other, over a socket.
//
// The hand-in's host code runs in a process of its own, which may say anything:
// the judge believes no length, pointer or handle that it is told.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace remote {

constexpr int kSocket = 3;             // Where the hand-in finds it.
constexpr uint32_t kMost = 256 << 20;  // Bytes of a message.

// The hand-in asks for what CUDA's runtime library would do; kReady and
// kReturned end its turn. The judge answers with kAnswer, or says kCall.
enum class Kind : uint32_t {
  kReady,
  kReturned,
  kAnswer,
  kCall,
  kRegisterBinary,
  kRegisterFunction,
  kRegisterVariable,
  kParameterSizes,
  kLaunch,
  kMalloc,
  kFree,
  kMemset,
  kCopy,
  kCopyToSymbol,
  kSymbolAddress,
  kDeviceAttribute,
  kDeviceProperties,
  kFunctionAttributes,
  kSetFunctionAttribute,
  kOccupancy,
  kLastError,
  kErrorText,
  kSynchronize,
  kStreamCreate,
  kStreamDestroy,
  kWaitEvent,
  kEventCreate,
  kEventRecord,
  kEventDestroy,
  kUpload,
  kGetDevice,
  kSetDevice,
  kDeviceCount,
  kCanReachPeer,
  kReachPeer,
  kCount
};

// Whether what the host has is copied later, and on which stream. No bool, as
// a hostile message's bytes may be none.
struct When {
  uint64_t queued;
  cudaStream_t stream;
};
constexpr When kAtOnce = {};

// The other side has ended, or does not keep to this language.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Message {
 public:
  explicit Message(Kind kind = Kind::kAnswer) : kind_(kind) {}
  Message(Kind kind, std::vector<char> bytes)
      : kind_(kind), bytes_(std::move(bytes)) {}

  Kind kind() const { return kind_; }
  const std::vector<char>& bytes() const { return bytes_; }

  template <class T>
  Message& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return put_bytes(&value, sizeof value);
  }
  Message& put_bytes(const void* from, size_t count) {
    const auto* first = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
    return *this;
  }
  Message& put_text(const char* text) {
    return put_bytes(text, std::strlen(text) + 1);
  }

  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, bool>) return take<char>() != 0;
    T value;
    std::memcpy(&value, take_bytes(sizeof value), sizeof value);
    return value;
  }
  const char* take_bytes(size_t count) {
    if (count > bytes_.size() - taken_) throw Broken("a message is too short");
    taken_ += count;
    return bytes_.data() + taken_ - count;
  }
  const char* take_text() {
    const char* const text = bytes_.data() + taken_;
    const size_t left = bytes_.size() - taken_;
    take_bytes(std::min(strnlen(text, left) + 1, left + 1));
    return text;
  }
  size_t left() const { return bytes_.size() - taken_; }

 private:
  Kind kind_;
  std::vector<char> bytes_;
  size_t taken_ = 0;
};

struct Head {
  Kind kind;
  uint32_t bytes;
};

class Socket {
 public:
  explicit Socket(int file) : file_(file) {}

  // In one piece: the other side would wake up for each.
  void send(const Message& message) const {
    const std::vector<char>& bytes = message.bytes();
    const Head head = {message.kind(), static_cast<uint32_t>(bytes.size())};
    std::vector<char> whole(sizeof head + bytes.size());
    std::memcpy(whole.data(), &head, sizeof head);
    std::copy(bytes.begin(), bytes.end(), whole.begin() + sizeof head);
    write_all(whole.data(), whole.size());
  }

  Message receive() const {
    Head head;
    read_all(&head, sizeof head);
    if (head.kind >= Kind::kCount || head.bytes > kMost)
      throw Broken("a message has no such form");
    std::vector<char> bytes(head.bytes);
    read_all(bytes.data(), bytes.size());
    return {head.kind, std::move(bytes)};
  }

 private:
  void write_all(const void* from, size_t count) const {
    const auto* next = static_cast<const char*>(from);
    while (count > 0) {
      const ssize_t done = ::send(file_, next, count, MSG_NOSIGNAL);
      if (done <= 0) throw Broken("the other side has ended");
      next += done;
      count -= static_cast<size_t>(done);
    }
  }
  void read_all(void* to, size_t count) const {
    auto* next = static_cast<char*>(to);
    while (count > 0) {
      const ssize_t done = ::read(file_, next, count);
      if (done <= 0) throw Broken("the other side has ended");
      next += done;
      count -= static_cast<size_t>(done);
    }
  }

  int file_;
};

}  // namespace remote
