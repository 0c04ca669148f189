// How sum_all() is timed, whichever file defines it: on one device, then on 2,
// 4 and 8, as far as there are; n numbers on each. A call begins and ends on
// the first device's stream, as far as its caller can see.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/bench.h"
#include "common/sum_all.h"

namespace {

// The sums of the first m of random_floats(), which go on for ever.
class Prefixes {
 public:
  explicit Prefixes(double (*term)(double)) {
    double sum = 0;
    for (const float v : random_floats()) {
      sums_.push_back(sum);
      sum += term(v);
    }
    period_ = sum;
  }
  double operator()(int64_t m) const {
    const auto length = static_cast<int64_t>(sums_.size());
    return static_cast<double>(m / length) * period_ + sums_[m % length];
  }

 private:
  std::vector<double> sums_;
  double period_ = 0;
};

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr,
               "Wrong while measuring: %s. Nothing is timed that is "
               "wrong.\n",
               why);
  std::exit(EXIT_FAILURE);
}

void require(const SumAllError& error) {
  if (error.said[0] != '\0') stop(error.said);
}

// A device's numbers, stream and events. It is current while it is made.
class Part {
 public:
  Part(int device, int64_t n, int64_t slots)
      : use_(device), device_(device), x_(n, slots), out_(1, slots) {
    x_.fill(random_floats());
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&ended_, cudaEventDisableTiming));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  ~Part() {
    cudaStreamDestroy(stream_);
    cudaEventDestroy(ended_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  cudaStream_t stream() const { return stream_; }
  SumAllPart part(int64_t slot, int64_t n, cudaStream_t stream) const {
    return {x_[slot], n, out_[slot], stream};
  }
  // `stream` is the first device's.
  void begin_after(cudaEvent_t begun) const {
    CUDA_CHECK(cudaSetDevice(device_));
    CUDA_CHECK(cudaStreamWaitEvent(stream_, begun, 0));
  }
  void end_before(cudaStream_t stream) const {
    CUDA_CHECK(cudaSetDevice(device_));
    CUDA_CHECK(cudaEventRecord(ended_, stream_));
    CUDA_CHECK(cudaSetDevice(0));
    CUDA_CHECK(cudaStreamWaitEvent(stream, ended_, 0));
  }
  void poison() {
    CUDA_CHECK(cudaSetDevice(device_));
    out_.poison();
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  float result(int64_t slot) const {
    float got = 0.f;
    CUDA_CHECK(
        cudaMemcpy(&got, out_[slot], sizeof got, cudaMemcpyDeviceToHost));
    return got;
  }
  int64_t start(int64_t slot) const { return x_.start(slot); }

 private:
  struct Use {
    explicit Use(int device) { CUDA_CHECK(cudaSetDevice(device)); }
  };

  const Use use_;  // Before memory is taken.
  const int device_;
  Slots<float> x_, out_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t ended_ = nullptr;
};

class SumAll : public Work {
 public:
  SumAll(int devices, int64_t n, int64_t slots) : n_(n) {
    SumAllDevices all = {};
    all.count = devices;
    for (int i = 0; i < devices; ++i) {
      all.device[i] = i;
      parts_.push_back(std::make_unique<Part>(i, n, slots));
    }
    CUDA_CHECK(cudaSetDevice(0));
    CUDA_CHECK(cudaEventCreateWithFlags(&begun_, cudaEventDisableTiming));
    const SumAllJoined joined = sum_all_join(all);
    require(joined.error);
    team_ = joined.team;
  }
  ~SumAll() override {
    for (const auto& part : parts_) cudaStreamSynchronize(part->stream());
    sum_all_leave(team_);
    cudaEventDestroy(begun_);
  }
  void call(int64_t slot, cudaStream_t stream) override {
    SumAllParts parts = {};
    CUDA_CHECK(cudaEventRecord(begun_, stream));
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (i > 0) parts_[i]->begin_after(begun_);
      parts.of[i] =
          parts_[i]->part(slot, n_, i > 0 ? parts_[i]->stream() : stream);
    }
    CUDA_CHECK(cudaSetDevice(0));
    require(sum_all(team_, parts));
    for (size_t i = 1; i < parts_.size(); ++i) parts_[i]->end_before(stream);
  }
  void poison() override {
    for (const auto& part : parts_) part->poison();
    CUDA_CHECK(cudaSetDevice(0));
  }
  // Every device has the same numbers.
  void check(int64_t slot) override {
    static const Prefixes values([](double v) { return v; });
    static const Prefixes magnitudes([](double v) { return std::fabs(v); });
    const int64_t first = parts_[0]->start(slot), end = first + n_;
    const auto times = static_cast<double>(parts_.size());
    const double exact = times * (values(end) - values(first));
    const double rounding =
        0x1p-24 * times * (magnitudes(end) - magnitudes(first));
    for (const auto& part : parts_) {
      const double error = std::fabs(part->result(slot) - exact) / rounding;
      worst_ = std::max(worst_, error);
      if (!(error <= static_cast<double>(n_) * 0x1p-19 + 64))
        stop("a device has another sum");
    }
  }
  // In roundings: 2^-24 of the sum of all magnitudes is the most that one does.
  double worst_error() const override { return worst_; }

 private:
  int64_t n_;
  double worst_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
  SumAllTeam* team_ = nullptr;
  cudaEvent_t begun_ = nullptr;  // Of the first device.
};

std::string series(int devices) {
  return devices == 1 ? "sum_all"
                      : "sum_all on " + std::to_string(devices) + " devices";
}

}  // namespace

void add_benchmarks() {
  int there = 0;
  CUDA_CHECK(cudaGetDeviceCount(&there));
  for (int devices = 1; devices <= std::min(there, kMostDevices);
       devices *= 2) {
    for (const int64_t n : bench_sizes(sizeof(float))) {
      // What each device must move: the bandwidth is per device.
      const auto bytes = static_cast<int64_t>((n + 1) * sizeof(float));
      if (devices == 1) {
        add_copy(n, bytes);
        add_read(n, bytes);
      }
      add_benchmark(series(devices), n, bytes, [=](int64_t slots) {
        return std::make_unique<SumAll>(devices, n, slots);
      });
    }
  }
}
