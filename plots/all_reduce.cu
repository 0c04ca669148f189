// make all_reduce      time how chapter 17's devices meet, and NCCL's way
// needs: plots/all_reduce.program %.steps
//
// NCCL's all-reduce of n floats on 2, 4 and 8 devices, as far as there are: how
// long a call takes and what bus bandwidth that is. Prints JSON; needs GPUs.
//
//   all_reduce [bytes of the largest vector]    the default is 2^32
//
// As all_reduce_perf of NCCL's tests does, it queues call after call, and
// divides the time of the host's clock until all is done by their number; first
// out of place, then in place. Of several such rounds it takes the median. A
// device sends and receives 2 (d - 1) / d bytes for each byte of the vector, so
// the bus bandwidth is that much of bytes / time.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "common/check.h"
#include "common/harness/device_array.h"

namespace {

constexpr int kRounds = 5, kWarmUp = 5, kCalls = 20;
constexpr int kMostRanks = 8;
constexpr int64_t kPeriod = 17;  // Of the numbers, which add up exactly.

void must(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(result));
  std::exit(EXIT_FAILURE);
}

__global__ void fill_kernel(float* x, int64_t n, int rank) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += step)
    x[i] = static_cast<float>(i % kPeriod + rank);
}

__global__ void count_wrong_kernel(const float* y, int64_t n, int ranks,
                                   unsigned long long* wrong) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int all = ranks * (ranks - 1) / 2;  // 0 + 1 + ...
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += step)
    if (y[i] != static_cast<float>(i % kPeriod * ranks + all))
      atomicAdd(wrong, 1ull);
}

struct Use {
  explicit Use(int device) { CUDA_CHECK(cudaSetDevice(device)); }
};

struct Device {
  Device(int number, int64_t most) : use(number), x(most), y(most), wrong(1) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Device() { cudaStreamDestroy(stream); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Use use;  // Before memory is taken.
  const DeviceArray<float> x, y;
  const DeviceArray<unsigned long long> wrong;
  cudaStream_t stream = nullptr;
};

class Ring {
 public:
  Ring(int ranks, int64_t most) : ranks_(ranks) {
    int numbers[kMostRanks];
    for (int i = 0; i < ranks; ++i) {
      numbers[i] = i;
      devices_.push_back(std::make_unique<Device>(i, most));
    }
    must(ncclCommInitAll(comm_, ranks, numbers));
  }
  ~Ring() {
    for (int i = 0; i < ranks_; ++i) ncclCommDestroy(comm_[i]);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Every device's vector becomes the sum of all, in y or in x itself.
  void reduce(int64_t n, bool in_place) const {
    must(ncclGroupStart());
    for (int i = 0; i < ranks_; ++i) {
      const Device& at = *devices_[i];
      float* const to = in_place ? at.x.data() : at.y.data();
      must(ncclAllReduce(at.x.data(), to, n, ncclFloat, ncclSum, comm_[i],
                         at.stream));
    }
    must(ncclGroupEnd());
  }
  void finish() const {
    for (const auto& at : devices_)
      CUDA_CHECK(cudaStreamSynchronize(at->stream));
  }
  void fill(int64_t n) const {
    for (int i = 0; i < ranks_; ++i) {
      CUDA_CHECK(cudaSetDevice(i));
      fill_kernel<<<1024, 256, 0, devices_[i]->stream>>>(devices_[i]->x.data(),
                                                         n, i);
    }
    finish();
  }
  // One call on fresh numbers, of which every result is looked at.
  void check(int64_t n, bool in_place) const {
    fill(n);
    reduce(n, in_place);
    for (int i = 0; i < ranks_; ++i) {
      const Device& at = *devices_[i];
      CUDA_CHECK(cudaSetDevice(i));
      CUDA_CHECK(cudaMemsetAsync(at.wrong.data(), 0, 8, at.stream));
      count_wrong_kernel<<<1024, 256, 0, at.stream>>>(
          in_place ? at.x.data() : at.y.data(), n, ranks_, at.wrong.data());
      CUDA_CHECK(cudaStreamSynchronize(at.stream));
      if (at.wrong.to_host()[0] == 0) continue;
      std::fprintf(stderr,
                   "Wrong while measuring: %lld floats, device %d. Nothing is "
                   "timed that is wrong.\n",
                   static_cast<long long>(n), i);
      std::exit(EXIT_FAILURE);
    }
  }
  double us(int64_t n, bool in_place) const {
    using Clock = std::chrono::steady_clock;
    std::vector<double> rounds;
    fill(n);
    for (int k = 0; k < kWarmUp; ++k) reduce(n, in_place);
    for (int round = 0; round < kRounds; ++round) {
      finish();
      const Clock::time_point start = Clock::now();
      for (int k = 0; k < kCalls; ++k) reduce(n, in_place);
      finish();
      const std::chrono::duration<double, std::micro> took =
          Clock::now() - start;
      rounds.push_back(took.count() / kCalls);
    }
    std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2,
                     rounds.end());
    return rounds[kRounds / 2];
  }

 private:
  const int ranks_;
  std::vector<std::unique_ptr<Device>> devices_;
  ncclComm_t comm_[kMostRanks] = {};
};

double bus_gbps(int64_t n, int ranks, double us) {
  return 4e-3 * static_cast<double>(n) / us * 2 * (ranks - 1) / ranks;
}

void print(int ranks, int64_t n, const char* where, double us) {
  static bool begun = false;
  std::printf(
      "%s\n    {\"devices\": %d, \"bytes\": %lld, \"where\": \"%s\", "
      "\"us\": %.5g, \"bus_gbps\": %.5g}",
      begun ? "," : "", ranks, static_cast<long long>(4 * n), where, us,
      bus_gbps(n, ranks, us));
  begun = true;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t most = (argc > 1 ? std::atoll(argv[1]) : int64_t{1} << 32) / 4;
  int there = 0, version = 0;
  CUDA_CHECK(cudaGetDeviceCount(&there));
  if (there < 2 || most < 1) {
    std::fprintf(stderr,
                 there < 2 ? "An all-reduce takes 2 devices, here is %d.\n"
                           : "%d devices, and no number for them.\n",
                 there);
    return EXIT_FAILURE;
  }
  setenv("NCCL_NVLS_ENABLE", "0",
         1);  // It needs rights that few machines give.
  must(ncclGetVersion(&version));
  std::printf("{\n  \"nccl\": %d,\n  \"all-reduce\": [", version);
  for (int ranks = 2; ranks <= std::min(there, kMostRanks); ranks *= 2) {
    const Ring ring(ranks, most);
    for (int64_t n = 1; n <= most; n *= 4) {
      for (const bool in_place : {false, true}) {
        ring.check(n, in_place);
        print(ranks, n, in_place ? "in place" : "out of place",
              ring.us(n, in_place));
      }
    }
  }
  std::printf("\n  ]\n}\n");
}
