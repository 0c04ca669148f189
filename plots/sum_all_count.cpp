// Which call of sum_all() is counted, whichever file defines it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/sum_all.h"

namespace {

// What a device has of n numbers that are spread over all devices.
class Part {
 public:
  Part(int device, const std::vector<float>& values, int64_t offset)
      : device_(use(device)), x_(values), out_(1), offset_(offset) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Part() { cudaStreamDestroy(stream_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  SumAllPart part() const {
    return {x_.data() + offset_, x_.size() - offset_, out_.data(), stream_};
  }
  void finish() const {
    CUDA_CHECK(cudaSetDevice(device_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

 private:
  static int use(int device) {
    CUDA_CHECK(cudaSetDevice(device));
    return device;
  }

  const int device_;
  const DeviceArray<float> x_, out_;
  const int64_t offset_;
  cudaStream_t stream_ = nullptr;
};

void require(const SumAllError& error) {
  if (error.said[0] == '\0') return;
  std::fprintf(stderr, "%s\n", error.said);
  std::exit(EXIT_FAILURE);
}

}  // namespace

std::vector<Case> counted_cases() {
  return {{.n = 1 << 20}, {.n = 1 << 20, .offset = 1}};
}

void counted_call(const Case& one) {
  SumAllDevices devices = {};
  CUDA_CHECK(cudaGetDeviceCount(&devices.count));
  devices.count = std::min(devices.count, kMostDevices);
  std::mt19937 random(2026);
  std::vector<std::unique_ptr<Part>> all;
  SumAllParts parts = {};
  for (int i = 0; i < devices.count; ++i) {
    const bool is_last = i == devices.count - 1;
    const int64_t n =
        one.n / devices.count + (is_last ? one.n % devices.count : 0);
    std::vector<float> values(n + one.offset);
    for (float& v : values) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
    all.push_back(std::make_unique<Part>(i, values, one.offset));
    parts.of[i] = all[i]->part();
    devices.device[i] = i;
  }
  CUDA_CHECK(cudaSetDevice(0));
  const SumAllJoined joined = sum_all_join(devices);
  require(joined.error);
  require(sum_all(joined.team, parts));
  for (const auto& part : all) part->finish();
  sum_all_leave(joined.team);
  CUDA_CHECK(cudaSetDevice(0));
}
