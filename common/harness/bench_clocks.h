// What the driver says of the GPU's clocks.
//
// The driver's management library is opened at run time, because a machine may
// lack it; then every answer is "unknown". Clocks are read, never changed.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>

#include "common/check.h"

struct Clocks {
  bool known = false;
  unsigned sm_mhz = 0, memory_mhz = 0;
  unsigned long long reasons = 0;  // Why the clock is not higher: a bit each.

  // Power cap, thermal limit or power brake; idling is no reason to worry.
  bool throttled() const { return (reasons & 0xec) != 0; }

  std::string text() const {
    if (!known) return "unknown";
    return "SM " + std::to_string(sm_mhz) + " MHz, memory " +
           std::to_string(memory_mhz) + " MHz, " +
           (throttled() ? "throttled" : "not throttled");
  }
};

class ClockReader {
 public:
  ClockReader() {
    int (*init)() = nullptr;
    int (*handle)(const char*, void**) = nullptr;
    load("nvmlInit_v2", &init);
    load("nvmlDeviceGetHandleByPciBusId_v2", &handle);
    load("nvmlSystemGetDriverVersion", &driver_);
    load("nvmlDeviceGetClockInfo", &clock_);
    load("nvmlDeviceGetCurrentClocksThrottleReasons", &reasons_);

    int device = 0;
    char bus[32] = "";
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    usable_ = complete_ && init() == 0 && handle(bus, &device_) == 0;
  }

  Clocks read() const {
    constexpr int kSm = 1, kMemory = 2;
    Clocks now;
    now.known = usable_ && clock_(device_, kSm, &now.sm_mhz) == 0 &&
                clock_(device_, kMemory, &now.memory_mhz) == 0 &&
                reasons_(device_, &now.reasons) == 0;
    return now;
  }

  std::string driver() const {
    char version[80] = "";
    const bool known = usable_ && driver_(version, sizeof version) == 0;
    return known ? version : "unknown";
  }

 private:
  template <class Function>
  void load(const char* name, Function* function) {
    void* symbol = library_ ? dlsym(library_, name) : nullptr;
    *function = reinterpret_cast<Function>(symbol);
    complete_ = complete_ && symbol;
  }

  void* library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  void* device_ = nullptr;
  bool complete_ = true, usable_ = false;
  int (*driver_)(char*, unsigned) = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
};
