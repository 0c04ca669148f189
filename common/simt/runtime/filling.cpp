// Fills memory with a number: bytes, rows, boxes.
#include <cstring>

#include "common/simt/memory/peers.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/ranges.h"

namespace simt {
namespace {

// Rows of elements of 1, 2 or 4 bytes.
void require_fill(const cudaMemsetParams& p) {
  const size_t size = p.elementSize, width = p.width * size;
  require(size == 1 || size == 2 || size == 4, cudaErrorInvalidValue,
          "elements of ", size, " bytes");
  require(address_of(p.dst) % size == 0, cudaErrorInvalidValue, "dst = ", p.dst,
          " is no multiple of ", size);
  require(width <= p.pitch || p.height <= 1, cudaErrorInvalidValue, "rows of ",
          width, " bytes do not fit a pitch of ", p.pitch);
  if (width == 0 || p.height == 0) return;
  require_range("dst", p.dst, bytes_of_rows(p.pitch, width, p.height),
                Side::kDevice);
  require_writable(p.dst);
}

void fill(const cudaMemsetParams& p) {
  require_fill(p);
  const size_t size = p.elementSize, width = p.width * size;
  if (width == 0) return;
  StoredValue stored;
  stored.add(size == 4 ? p.value : p.value & ((1u << 8 * size) - 1), size);
  for (size_t row = 0; row < p.height; ++row) {
    char* const to = static_cast<char*>(p.dst) + row * p.pitch;
    if (size == 1) {
      std::memset(open(to), p.value, width);
    } else {
      for (size_t at = 0; at < width; at += size) {
        std::memcpy(open(to + at), &p.value, size);
      }
    }
    allocations().note_written(address_of(to), width);
    note_touched(to, width, Use::kStore, stored);
  }
}

cudaMemsetParams fill_2d_of(void* to, size_t pitch, int value, size_t width,
                            size_t height) {
  return {to, pitch, static_cast<unsigned>(value), 1, width, height};
}

void fill_2d(void* to, size_t pitch, int value, size_t width, size_t height) {
  fill(fill_2d_of(to, pitch, value, width, height));
}

void fill_3d(const cudaPitchedPtr& to, int value, cudaExtent extent) {
  require(extent.width <= to.pitch && extent.height <= to.ysize,
          cudaErrorInvalidValue, extent.height, " rows of ", extent.width,
          " bytes leave slices of ", to.ysize, " rows of ", to.pitch);
  for (size_t z = 0; z < extent.depth; ++z) {
    fill_2d(slice(to, {}, z), to.pitch, value, extent.width, extent.height);
  }
}

// Unlike a copy, it is done by the stream's device alone.
void require_reach(cudaStream_t stream, const void* to) {
  const int device = queue_of(stream).device;
  const std::optional<int> home = home_of(to);
  if (!home) return;
  require(peers().may_access(device, *home), cudaErrorInvalidValue,
          "dst = ", to, " is device ", *home, "'s, and device ", device,
          " fills it; call cudaSetDevice(", device,
          "), cudaDeviceEnablePeerAccess(", *home, ", 0) before");
}

Work fill_2d_work(cudaStream_t stream, void* to, size_t pitch, int value,
                  size_t width, size_t height) {
  if (width == 0 || height == 0) return nothing(cudaGraphNodeTypeMemset);
  require_reach(stream, to);
  Work work = {
      cudaGraphNodeTypeMemset,
      [=] { fill_2d(to, pitch, value, width, height); }, nullptr, false,
      [=] { require_fill(fill_2d_of(to, pitch, value, width, height)); }};
  work.is_left_alone = home_of(to).has_value();
  work.description = fill_2d_of(to, pitch, value, width, height);
  return work;
}

Work fill_3d_work(cudaStream_t stream, const cudaPitchedPtr& to, int value,
                  cudaExtent extent) {
  require_reach(stream, to.ptr);
  Work work = {cudaGraphNodeTypeMemset, [=] { fill_3d(to, value, extent); }};
  work.is_left_alone = home_of(to.ptr).has_value();
  return work;
}

}  // namespace

Work fill_work(const cudaMemsetParams& given) {
  Work work = {cudaGraphNodeTypeMemset, [given] { fill(given); }};
  work.check = [given] { require_fill(given); };
  work.description = given;
  return work;
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return answer(
      [&] { run_now(fill_2d_work(nullptr, to, bytes, value, bytes, 1)); });
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                            cudaStream_t stream) {
  return answer(
      [&] { issue(stream, fill_2d_work(stream, to, bytes, value, bytes, 1)); });
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                         size_t height) {
  return answer(
      [&] { run_now(fill_2d_work(nullptr, to, pitch, value, width, height)); });
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream) {
  return answer([&] {
    issue(stream, fill_2d_work(stream, to, pitch, value, width, height));
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return answer([&] { run_now(fill_3d_work(nullptr, to, value, extent)); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return answer(
      [&] { issue(stream, fill_3d_work(stream, to, value, extent)); });
}

}  // extern "C"
