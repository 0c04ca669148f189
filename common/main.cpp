// Nothing here is worth studying: ./run says what it runs on, checks, and
// measures only what has passed every check.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "common/check.h"
#include "common/checks.h"

// On a GPU common/bench.cpp times the kernel; without one there is no time to
// measure, and common/counters.cpp counts.
int measure(int argc, char** argv);

namespace {

void print_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    std::fprintf(stderr,
                 "This program was built for a GPU, and none answers: %s.\n"
                 "'make doctor' says what is missing. To run without a GPU, "
                 "build with\nBACKEND=cpu.\n",
                 cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
  }
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  std::printf("Running on %s.\n", properties.name);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  print_device();
  const std::optional<int> end = run_checks(argc, argv);
  return end ? *end : measure(argc, argv);
}
