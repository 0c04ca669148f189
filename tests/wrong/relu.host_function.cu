// Wrong on purpose: the host works out the answer when the stream asks for it.

#include <mutex>
#include <vector>

#include "common/check.h"
#include "common/relu.h"

namespace {

struct Page {
  float* values = nullptr;
  int64_t n = 0, room = 0;
};

std::mutex mutex;
std::vector<Page*> unused;

Page* take(int64_t n) {
  const std::lock_guard lock(mutex);
  for (Page*& page : unused) {
    if (page->room < n) continue;
    std::swap(page, unused.back());
    Page* const taken = unused.back();
    unused.pop_back();
    taken->n = n;
    return taken;
  }
  auto* const page = new Page{nullptr, n, n};
  CUDA_CHECK(cudaMallocHost(&page->values, n * sizeof(float)));
  return page;
}

void rectify(void* given) {
  const auto* page = static_cast<Page*>(given);
  for (int64_t i = 0; i < page->n; ++i)
    if (page->values[i] <= 0.f) page->values[i] = 0.f;
}

void give_back(void* page) {
  const std::lock_guard lock(mutex);
  unused.push_back(static_cast<Page*>(page));
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;

  Page* const page = take(n);
  const size_t bytes = n * sizeof(float);
  CUDA_CHECK(
      cudaMemcpyAsync(page->values, x, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaLaunchHostFunc(stream, rectify, page));
  CUDA_CHECK(
      cudaMemcpyAsync(y, page->values, bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaLaunchHostFunc(stream, give_back, page));
}
