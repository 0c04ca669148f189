// Device memory that frees itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/check.h"

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t n) : n_(n) {
    if (n < 0 || n > PTRDIFF_MAX / static_cast<int64_t>(sizeof(T))) {
      std::fprintf(stderr, "There is no array of %lld elements of %zu bytes.\n",
                   static_cast<long long>(n), sizeof(T));
      std::exit(EXIT_FAILURE);
    }
    void* p = nullptr;
    CUDA_CHECK(cudaMalloc(&p, bytes()));
    data_.reset(static_cast<T*>(p));
  }
  explicit DeviceArray(const std::vector<T>& host)
      : DeviceArray(static_cast<int64_t>(host.size())) {
    CUDA_CHECK(
        cudaMemcpy(data(), host.data(), bytes(), cudaMemcpyHostToDevice));
  }

  T* data() const { return data_.get(); }
  int64_t size() const { return n_; }

  std::vector<T> to_host() const {
    std::vector<T> host(n_);
    CUDA_CHECK(
        cudaMemcpy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  struct Free {
    void operator()(T* p) const { cudaFree(p); }
  };

  size_t bytes() const { return n_ * sizeof(T); }

  int64_t n_;
  std::unique_ptr<T, Free> data_;
};
