// What it costs that devices meet, whichever sum_all() this is linked with: the
// whole call on few numbers, and beside it the own sums of its devices alone.
// Prints JSON, in microseconds; needs a GPU.
//
// As NCCL's own tests do, it queues call after call, and divides the time of
// the host's clock until all is done by their number; of several such rounds it
// takes the median.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "chapters/17_sum_all/own_sum.h"
#include "common/check.h"
#include "common/harness/device_array.h"
#include "common/sum_all.h"

namespace {

constexpr int kRounds = 9;
constexpr int kCalls = 2000;
constexpr int64_t kNumbers = 1024;  // Of each device: one block adds them up.

void require(const SumAllError& error) {
  if (error.said[0] == '\0') return;
  std::fprintf(stderr, "%s\n", error.said);
  std::exit(EXIT_FAILURE);
}

struct Use {
  explicit Use(int device) { CUDA_CHECK(cudaSetDevice(device)); }
};

// What one device has.
struct Part {
  explicit Part(int number)
      : device(number),
        use(number),
        x(std::vector<float>(kNumbers, 1.f)),
        out(1),
        own_out(1),
        words(std::vector<own::Word>(own::kMostBlocks)) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Part() { cudaStreamDestroy(stream); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const int device;
  const Use use;  // Before memory is taken.
  const DeviceArray<float> x, out, own_out;
  const DeviceArray<own::Word> words;
  cudaStream_t stream = nullptr;
};

class Devices {
 public:
  explicit Devices(int count) {
    SumAllDevices all = {};
    all.count = count;
    for (int i = 0; i < count; ++i) {
      all.device[i] = i;
      parts_.push_back(std::make_unique<Part>(i));
      given_.of[i] = {parts_[i]->x.data(), kNumbers, parts_[i]->out.data(),
                      parts_[i]->stream};
    }
    CUDA_CHECK(cudaSetDevice(0));
    const SumAllJoined joined = sum_all_join(all);
    require(joined.error);
    team_ = joined.team;
  }
  ~Devices() { sum_all_leave(team_); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  void whole() const { require(sum_all(team_, given_)); }
  void own_sums() const {
    for (const auto& part : parts_) {
      CUDA_CHECK(cudaSetDevice(part->device));
      CUDA_CHECK(own::sum(part->x.data(), kNumbers, part->own_out.data(),
                          part->words.data(), part->stream));
    }
  }
  void finish() const {
    for (const auto& part : parts_)
      CUDA_CHECK(cudaStreamSynchronize(part->stream));
  }
  void check() const {
    const float expected = kNumbers * static_cast<float>(parts_.size());
    for (const auto& part : parts_) {
      const float got = part->out.to_host()[0];
      if (got == expected) continue;
      std::fprintf(stderr, "Wrong while measuring: device %d has %g, not %g.\n",
                   part->device, got, expected);
      std::exit(EXIT_FAILURE);
    }
  }

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  SumAllParts given_ = {};
  SumAllTeam* team_ = nullptr;
};

double us_each(const Devices& devices, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  for (int round = 0; round < kRounds + 1; ++round) {  // The first warms up.
    devices.finish();
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < kCalls; ++k) call();
    devices.finish();
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    us.push_back(took.count() / kCalls);
  }
  std::nth_element(us.begin() + 1, us.begin() + 1 + kRounds / 2, us.end());
  return us[1 + kRounds / 2];
}

}  // namespace

int main() {
  int there = 0;
  CUDA_CHECK(cudaGetDeviceCount(&there));
  std::printf("[");
  for (int count = 1; count <= std::min(there, kMostDevices); count *= 2) {
    const Devices devices(count);
    const double own = us_each(devices, [&] { devices.own_sums(); });
    const double whole = us_each(devices, [&] { devices.whole(); });
    devices.check();
    std::printf("%s\n  {\"devices\": %d, \"own\": %.5g, \"whole\": %.5g}",
                count > 1 ? "," : "", count, own, whole);
  }
  std::printf("\n]\n");
}
