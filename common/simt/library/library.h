// What the stand-ins for NVIDIA's libraries share: work that a call puts into a
// stream, and the arrays of device memory that it reads and writes there. Each
// access is checked as a kernel's would be, and what is wrong names the call.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

namespace simt {

// While it lives, another device is current.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const int before_;
};

// Columns of elements that lie one behind the other; each column begins `step`
// elements behind the one before.
struct Shape {
  int64_t rows = 1, columns = 1, step = 1;
};

// The operands of one call, by the names that its documents give them. What
// they return is where the executor sees them.
class Operands {
 public:
  Operands(std::string call, int device)
      : call_(std::move(call)), device_(device) {}

  // Values that nobody wrote are told.
  template <class T>
  const T* read(const char* name, const T* at, Shape shape) const {
    return static_cast<const T*>(open({name, at, sizeof(T), shape}, kRead));
  }
  template <class T>
  T* write(const char* name, T* at, Shape shape) const {
    return static_cast<T*>(open({name, at, sizeof(T), shape}, kWrite));
  }
  template <class T>
  T* change(const char* name, T* at, Shape shape) const {
    read(name, at, shape);
    return write(name, at, shape);
  }

 private:
  enum Access { kRead, kWrite };
  struct Array {
    const char* name;
    const void* at;
    size_t bytes;  // of an element
    Shape shape;
  };

  void* open(const Array& array, Access access) const;
  void require_accessible(const Array& array, Access access) const;
  void require_written(const Array& array) const;
  void note_written(const Array& array) const;
  void note_touched(const Array& array, Access access) const;
  [[noreturn]] void refuse(const Array& array, uint64_t address,
                           const std::string& kind, cudaError_t code) const;
  std::string place(const Array& array, uint64_t address) const;

  const std::string call_;
  const int device_;
};

// Puts a call's work into the stream, or into the graph that is recorded of it.
// Work that fails fails as a kernel does: later calls return the error. The
// device is that of the library's handle.
using Compute = std::function<void(const Operands&)>;
void enqueue(const char* call, int device, cudaStream_t stream,
             const Compute& compute);

// The same for what the host gets: waits until it is there. Refuses a stream
// that is being captured.
void compute_now(const char* call, int device, cudaStream_t stream,
                 const Compute& compute);

}  // namespace simt
