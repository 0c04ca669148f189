// Runs the kernels that tests/forms.py makes: for each form, a hash of what it
// left.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

struct alignas(128) Parameter {
  uint64_t words[16];
};
__constant__ uint64_t some_constants[512] = {1, 2, 3, 5, 7, 11, 13, 17};
extern const std::vector<uint64_t> values;  // Of the file that includes this.

template <class Kernel>
void run(Kernel* kernel, const std::vector<const char*>& forms) {
  uint64_t *in, *out;
  unsigned char* scratch;
  std::vector<uint64_t> results(32 * forms.size());
  cudaMalloc(&in, values.size() * 8);
  cudaMalloc(&out, results.size() * 8);
  cudaMalloc(&scratch, 32 * 128);
  cudaMemset(scratch, 0, 32 * 128);
  cudaMemcpy(in, values.data(), values.size() * 8, cudaMemcpyHostToDevice);
  Parameter parameter = {};
  for (int k = 0; k < 16; ++k) parameter.words[k] = values[k];
  kernel<<<1, 32>>>(in, out, parameter, scratch);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(results.data(), out, results.size() * 8, cudaMemcpyDeviceToHost);
  for (size_t k = 0; k < forms.size(); ++k) {
    uint64_t hash = 0;
    for (int lane = 0; lane < 32; ++lane)
      hash = (hash ^ results[32 * k + lane]) * 0x100000001b3;
    if (error == cudaSuccess)
      std::printf("%s\t%016llx\n", forms[k],
                  static_cast<unsigned long long>(hash));
    else
      std::printf("%s\t%s\n", forms[k], cudaGetErrorName(error));
  }
  cudaFree(in);
  cudaFree(out);
  cudaFree(scratch);
}
