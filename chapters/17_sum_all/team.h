// Chapter 17: what the devices of a team need, whichever way they meet.
//
// A call that fails throws a Trouble, which the contract's functions catch: so
// every error comes back as a sentence, and what was taken is given back.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <type_traits>
#include <vector>

#include "chapters/17_sum_all/own_sum.h"
#include "common/sum_all.h"

namespace team {

struct Trouble {
  SumAllError error = {};

  template <class... Value>
  explicit Trouble(const char* format, Value... value) {
    std::snprintf(error.said, sizeof error.said, format, value...);
  }
};

// must(device, "what was tried", cudaTry(...))
inline void must(int device, const char* tried, cudaError_t error) {
  if (error == cudaSuccess) return;
  throw Trouble("Device %d: %s: %s (%s)", device, tried,
                cudaGetErrorString(error), cudaGetErrorName(error));
}

inline void use(int device) {
  must(device, "choosing it", cudaSetDevice(device));
}

// Whichever device the caller uses, it will again.
class Restored {
 public:
  Restored() { cudaGetDevice(&device_); }
  ~Restored() { cudaSetDevice(device_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  int device_ = 0;
};

struct Free {
  void operator()(void* p) const { cudaFree(p); }
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
template <class T>
using OnDevice = std::unique_ptr<T, Free>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Free>;

// n elements that are 0, on the current device, which is `device`.
template <class T>
OnDevice<T> zeros(int device, int64_t n) {
  void* p = nullptr;
  must(device, "taking memory", cudaMalloc(&p, n * sizeof(T)));
  OnDevice<T> memory(static_cast<T*>(p));
  must(device, "clearing memory", cudaMemset(p, 0, n * sizeof(T)));
  return memory;
}

inline Event event(int device) {
  cudaEvent_t made = nullptr;
  must(device, "making an event",
       cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  return Event(made);
}

// A device of the team, with a place for its own sum.
struct Member {
  int device;
  OnDevice<own::Word> words;
  OnDevice<float> sum;
  Event done;  // What this device had to do for the others.

  explicit Member(int number) : device(number) {
    use(device);
    words = zeros<own::Word>(device, own::kMostBlocks);
    sum = zeros<float>(device, 1);
    done = event(device);
    must(device, "clearing memory", cudaDeviceSynchronize());
  }

  void add_up(const SumAllPart& part) const {
    use(device);
    must(device, "adding up its own numbers",
         own::sum(part.x, part.n, sum.get(), words.get(), part.stream));
  }
  void record(cudaStream_t stream) const {
    use(device);
    must(device, "recording an event", cudaEventRecord(done.get(), stream));
  }
  // This device's stream waits for what another has recorded; no host does.
  void wait_for(const Member& other, cudaStream_t stream) const {
    use(device);
    must(device, "waiting for another device",
         cudaStreamWaitEvent(stream, other.done.get(), 0));
  }
};

using Members = std::vector<Member>;

inline void require_sound(const SumAllDevices& devices) {
  int there = 0;
  const cudaError_t error = cudaGetDeviceCount(&there);
  if (error != cudaSuccess)
    throw Trouble("No device answers: %s.", cudaGetErrorString(error));
  if (devices.count < 1 || devices.count > kMostDevices)
    throw Trouble("A team has 1 to %d devices, not %d.", kMostDevices,
                  devices.count);
  const int* const begin = devices.device;
  for (const int* one = begin; one < begin + devices.count; ++one) {
    if (*one < 0 || *one >= there)
      throw Trouble("There is no device %d: this machine shows %d.", *one,
                    there);
    if (std::find(begin, one, *one) != one)
      throw Trouble("Device %d is in the team twice.", *one);
  }
}

inline Members members_of(const SumAllDevices& devices) {
  require_sound(devices);
  Members members;
  for (int i = 0; i < devices.count; ++i)
    members.emplace_back(devices.device[i]);
  return members;
}

// From now on `first`, the current device, may use the other's memory.
inline void reach(int first, int other) {
  int can = 0;
  must(first, "asking for peer access",
       cudaDeviceCanAccessPeer(&can, first, other));
  if (!can)
    throw Trouble("Device %d has no peer access to device %d.", first, other);
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();  // By another team.
  else
    must(first, "getting peer access", error);
}

// What join and a call return: whatever `work` throws is told.
template <class Made>
SumAllJoined joined(const SumAllDevices& devices) try {
  const Restored after;
  return {new Made(devices), {}};
} catch (const Trouble& trouble) {
  cudaGetLastError();  // It has been told.
  return {nullptr, trouble.error};
}

template <class Work>
SumAllError told(Work work) try {
  const Restored after;
  cudaGetLastError();  // What failed before this call is not its own.
  work();
  return {};
} catch (const Trouble& trouble) {
  cudaGetLastError();
  return trouble.error;
}

}  // namespace team
