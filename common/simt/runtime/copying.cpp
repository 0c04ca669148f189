// Copies memory: bytes, rows, boxes, variables, from device to device.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "common/simt/core/settings.h"
#include "common/simt/memory/peers.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/ranges.h"

namespace simt {
namespace {

// Whether it is memory of the host that CUDA may not read later on.
bool is_pageable(const void* pointer) {
  return !allocations().find(address_of(pointer));
}

bool is_memory_of_host(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  return !found || found->memory == Memory::kPinned;
}

// ---- Copies whose source and target overlap --------------------------------

// Rows of `width` bytes, each `pitch` bytes behind the one before.
struct Rows {
  uint64_t begin;
  size_t pitch, width, height;
};

// The first address of `a` that lies in one of the rows of `b`, too.
std::optional<uint64_t> common_address(const Rows& a, const Rows& b) {
  for (size_t row = 0; row < a.height; ++row) {
    const uint64_t begin = a.begin + row * a.pitch;
    const uint64_t before = begin < b.begin ? 0 : (begin - b.begin) / b.pitch;
    for (size_t k = before; k < std::min(before + 2, b.height); ++k) {
      const uint64_t other = b.begin + k * b.pitch;
      const uint64_t first = std::max(begin, other);
      if (first < std::min(begin + a.width, other + b.width)) return first;
    }
  }
  return {};
}

// CUDA moves the bytes in any order, so what was read there may be old or new.
void find_overlap(const Rows& to, const Rows& from) {
  const bool stays = to.begin == from.begin && to.pitch == from.pitch;
  if (stays || !settings::checks()) return;
  const auto address = common_address(to, from);
  if (!address) return;
  Finding f;
  f.kind = "overlapping copy";
  f.kernel = "the copy";
  f.message =
      "it reads and writes " + allocations().describe(*address) +
      ", and its bytes may be moved in any order. Copy to another array first";
  f.address = *address;
  f.count = 1;
  f.names_thread = false;
  add_findings({f});
  tell_findings();
}

// ---- What nobody has written -----------------------------------------------

// The host will read it, or knows that it will not: it is only a note. Less may
// be the padding of a struct.
constexpr size_t kLeastUnwritten = 16;

void find_unwritten(const void* to, const Rows& from) {
  if (!is_memory_of_host(to) || !settings::checks()) return;
  std::optional<WrittenBytes::Gap> gap;
  for (size_t row = 0; row < from.height && !gap; ++row)
    gap = allocations().unwritten(from.begin + row * from.pitch, from.width,
                                  kLeastUnwritten);
  if (!gap) return;
  Finding f;
  f.kind = "unwritten copy";
  f.kernel = "the copy";
  f.message = text("the host gets ", gap->end - gap->begin,
                   " bytes that nobody has written, from ",
                   allocations().describe(gap->begin),
                   " on. If it looks at them, the grid may be too small, or a "
                   "cudaMemset() is missing");
  f.address = gap->begin;
  f.count = 1;
  f.note = true;
  f.names_thread = false;
  add_findings({f});
  tell_findings();
}

// ---- What is done ----------------------------------------------------------

void note_crossing(const void* to, const void* from, size_t bytes) {
  const auto there = home_of(to), here = home_of(from);
  if (there && here) peers().note_copied(*here, *there, bytes);
}

void note_moved(const void* to, const void* from, size_t bytes) {
  allocations().note_copied(address_of(to), address_of(from), bytes);
  note_touched(from, bytes, Use::kLoad);
  note_touched(to, bytes, Use::kStore);
}

void move_bytes(void* to, const void* from, size_t bytes) {
  bytes_copied = {address_of(to), address_of(from), bytes};
  std::memmove(open(to), open(from), bytes);
  bytes_copied = {};
}

void require_copy(void* to, const void* from, size_t bytes,
                  cudaMemcpyKind kind) {
  if (bytes == 0) return;
  const Sides sides = sides_of(kind);
  require_range("dst", to, bytes, sides.to);
  require_range("src", from, bytes, sides.from);
  require_writable(to);
}

void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  require_copy(to, from, bytes, kind);
  if (bytes == 0) return;
  const Rows source = {address_of(from), bytes, bytes, 1};
  find_overlap({address_of(to), bytes, bytes, 1}, source);
  find_unwritten(to, source);
  move_bytes(to, from, bytes);
  note_moved(to, from, bytes);
  note_crossing(to, from, bytes);
}

void require_copy_2d(void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return;
  for (const size_t pitch : {to_pitch, from_pitch})
    require(width <= pitch || (height == 1 && pitch == 0),
            cudaErrorInvalidValue, "rows of ", width,
            " bytes do not fit a pitch of ", pitch);
  const Sides sides = sides_of(kind);
  require_range("dst", to, bytes_of_rows(to_pitch, width, height), sides.to);
  require_range("src", from, bytes_of_rows(from_pitch, width, height),
                sides.from);
  require_writable(to);
}

void copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch,
             size_t width, size_t height, cudaMemcpyKind kind) {
  require_copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
  if (width == 0 || height == 0) return;
  if (height == 1) to_pitch = from_pitch = width;  // Nobody looks at them.
  const Rows source = {address_of(from), from_pitch, width, height};
  find_overlap({address_of(to), to_pitch, width, height}, source);
  find_unwritten(to, source);
  for (size_t row = 0; row < height; ++row) {
    char* const row_to = static_cast<char*>(to) + row * to_pitch;
    const char* const row_from =
        static_cast<const char*>(from) + row * from_pitch;
    move_bytes(row_to, row_from, width);
    note_moved(row_to, row_from, width);
  }
  note_crossing(to, from, width * height);
}

// Within its rows and slices, as far as they are told of.
void require_box(const char* name, const cudaPitchedPtr& of, cudaPos at,
                 cudaExtent box) {
  require(box.width > of.pitch || at.x + box.width <= of.pitch,
          cudaErrorInvalidValue, name, ": ", box.width, " bytes from byte ",
          at.x, " on leave rows of ", of.pitch);
  require(of.ysize == 0 || at.y + box.height <= of.ysize, cudaErrorInvalidValue,
          name, ": ", box.height, " rows from row ", at.y,
          " on leave slices of ", of.ysize);
}

template <class Does>
void each_slice(const cudaMemcpy3DParms& p, Does does) {
  for (size_t z = 0; z < p.extent.depth; ++z) {
    does(slice(p.dstPtr, p.dstPos, z), p.dstPtr.pitch,
         slice(p.srcPtr, p.srcPos, z), p.srcPtr.pitch, p.extent.width,
         p.extent.height, p.kind);
  }
}

void require_copy_3d(const cudaMemcpy3DParms& p) {
  require_box("src", p.srcPtr, p.srcPos, p.extent);
  require_box("dst", p.dstPtr, p.dstPos, p.extent);
  each_slice(p, require_copy_2d);
}

void copy_3d(const cudaMemcpy3DParms& p) {
  require_copy_3d(p);
  each_slice(p, copy_2d);
}

// ---- Variables -------------------------------------------------------------

void* symbol_range(const void* symbol, int device, size_t bytes,
                   size_t offset) {
  const DeviceVariable variable = find_symbol(symbol, device);
  require(offset <= variable.bytes && bytes <= variable.bytes - offset,
          cudaErrorInvalidValue, bytes, " bytes at offset ", offset,
          " leave the ", variable.bytes, "-byte variable");
  return static_cast<char*>(variable.address) + offset;
}

void copy_to_symbol(const void* symbol, int device, const void* from,
                    size_t bytes, size_t offset, cudaMemcpyKind kind) {
  void* const to = symbol_range(symbol, device, bytes, offset);
  require_device_side(sides_of(kind).to);
  copy(to, from, bytes, kind);
}

void copy_from_symbol(void* to, const void* symbol, int device, size_t bytes,
                      size_t offset, cudaMemcpyKind kind) {
  const void* const from = symbol_range(symbol, device, bytes, offset);
  require_device_side(sides_of(kind).from);
  copy(to, from, bytes, kind);
}

// ---- Between devices -------------------------------------------------------

// Addresses are unified: each says itself whose it is, and a wrong number does
// no harm.
void require_home(const char* name, const void* pointer, int device) {
  require_device(device);
  const std::optional<int> home = home_of(pointer);
  if (home && *home != device)
    simt::complain(
        "cudaMemcpyPeer",
        text("note: ", name, " = ", pointer, " is not device ", device,
             "'s, but ", allocations().describe(address_of(pointer))));
}

cudaMemcpy3DParms peer_copy(const cudaMemcpy3DPeerParms* given) {
  require(given != nullptr, cudaErrorInvalidValue, "p is null");
  cudaMemcpy3DParms copy = {};
  copy.srcArray = given->srcArray;
  copy.srcPos = given->srcPos;
  copy.srcPtr = given->srcPtr;
  copy.dstArray = given->dstArray;
  copy.dstPos = given->dstPos;
  copy.dstPtr = given->dstPtr;
  copy.extent = given->extent;
  copy.kind = cudaMemcpyDefault;
  const cudaMemcpy3DParms plain = without_arrays(copy);
  require_home("dst", plain.dstPtr.ptr, given->dstDevice);
  require_home("src", plain.srcPtr.ptr, given->srcDevice);
  return copy;
}

// A copy without a stream between two devices comes behind the work of both.
Tasks tasks_of_both(const void* to, const void* from) {
  const auto there = home_of(to), here = home_of(from);
  if (!there || !here || *there == *here) return {};
  Tasks both = tasks_of(*there);
  std::ranges::copy(tasks_of(*here), std::back_inserter(both));
  return both;
}

void order_both(const void* to, const void* from) {
  const auto there = home_of(to), here = home_of(from);
  if (!there || !here || *there == *here) return;
  order_device(*there);
  order_device(*here);
}

// ---- The same as work of a stream ------------------------------------------

Work copy_of(const void* to, const void* from, std::function<void()> run,
             std::function<void()> check = nullptr) {
  Work work = {cudaGraphNodeTypeMemcpy, std::move(run), nullptr,
               is_pageable(to) || is_pageable(from), std::move(check)};
  work.is_awaited =
      is_pageable(to) || (is_memory_of_host(to) && is_memory_of_host(from));
  work.is_left_alone = home_of(to) && home_of(to) == home_of(from);
  return work;
}

Work copy_3d_work(const cudaMemcpy3DParms* given, cudaStream_t stream) {
  require(given != nullptr, cudaErrorInvalidValue, "p is null");
  if (is_empty(given->extent)) require_usable(stream);
  return copy_work(*given);
}

Work peer_work(void* to, int to_device, const void* from, int from_device,
               size_t bytes) {
  if (bytes == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_home("dst", to, to_device);
  require_home("src", from, from_device);
  return copy_work(to, from, bytes, cudaMemcpyDeviceToDevice);
}

}  // namespace

Sides sides_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {Side::kHost, Side::kHost};
    case cudaMemcpyHostToDevice:
      return {Side::kDevice, Side::kHost};
    case cudaMemcpyDeviceToHost:
      return {Side::kHost, Side::kDevice};
    case cudaMemcpyDeviceToDevice:
      return {Side::kDevice, Side::kDevice};
    case cudaMemcpyDefault:
      return {Side::kAny, Side::kAny};
  }
  throw Refused{cudaErrorInvalidMemcpyDirection,
                text("kind ", int(kind), " is no cudaMemcpyKind")};
}

void require_device_side(Side side) {
  require(side != Side::kHost, cudaErrorInvalidMemcpyDirection,
          "variables and arrays are device memory");
}

void require_rows(size_t pitch, size_t width, size_t height) {
  require(height <= 1 || width <= pitch, cudaErrorInvalidPitchValue, "rows of ",
          width, " bytes do not fit a pitch of ", pitch);
}

Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes != 0) sides_of(kind);  // or it is refused
  Work work = copy_of(
      to, from, [=] { copy(to, from, bytes, kind); },
      [=] { require_copy(to, from, bytes, kind); });
  cudaMemcpy3DParms description = {};
  description.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  description.dstPtr = {to, bytes, bytes, 1};
  description.extent = {bytes, 1, 1};
  description.kind = kind;
  work.description = description;
  work.is_nothing = bytes == 0;
  return work;
}

Work copy_2d_work(void* to, size_t to_pitch, const void* from,
                  size_t from_pitch, size_t width, size_t height,
                  cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_rows(to_pitch, width, height);
  require_rows(from_pitch, width, height);
  sides_of(kind);  // or it is refused
  return copy_of(
      to, from,
      [=] { copy_2d(to, to_pitch, from, from_pitch, width, height, kind); },
      [=] {
        require_copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
      });
}

Work to_symbol_work(const void* symbol, const void* from, size_t bytes,
                    size_t offset, cudaMemcpyKind kind) {
  if (bytes == 0) return nothing(cudaGraphNodeTypeMemcpy);
  const int device = current_device();
  symbol_range(symbol, device, bytes, offset);
  Work work = {
      cudaGraphNodeTypeMemcpy,
      [=] { copy_to_symbol(symbol, device, from, bytes, offset, kind); },
      nullptr, is_pageable(from)};
  return work;
}

Work from_symbol_work(void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind) {
  if (bytes == 0) return nothing(cudaGraphNodeTypeMemcpy);
  symbol_range(symbol, current_device(), bytes, offset);
  const int device = current_device();
  Work work = {
      cudaGraphNodeTypeMemcpy,
      [=] { copy_from_symbol(to, symbol, device, bytes, offset, kind); },
      nullptr, is_pageable(to)};
  work.is_awaited = is_pageable(to);
  return work;
}

Work copy_work(const cudaMemcpy3DParms& given) {
  if (is_empty(given.extent)) return nothing(cudaGraphNodeTypeMemcpy);
  sides_of(given.kind);
  const cudaMemcpy3DParms plain = without_arrays(given);
  Work work = copy_of(
      plain.dstPtr.ptr, plain.srcPtr.ptr, [plain] { copy_3d(plain); },
      [plain] { require_copy_3d(plain); });
  work.description = given;
  return work;
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind kind) {
  return answer([&] {
    order_both(to, from);
    run_now(copy_work(to, from, bytes, kind), tasks_of_both(to, from));
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] { issue(stream, copy_work(to, from, bytes, kind)); });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                         size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return answer([&] {
    run_now(copy_2d_work(to, to_pitch, from, from_pitch, width, height, kind));
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                              size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] {
    issue(stream,
          copy_2d_work(to, to_pitch, from, from_pitch, width, height, kind));
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from,
                               size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return answer(
      [&] { run_now(to_symbol_work(symbol, from, bytes, offset, kind)); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                    size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] {
    issue(stream, to_symbol_work(symbol, from, bytes, offset, kind));
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind kind) {
  return answer(
      [&] { run_now(from_symbol_work(to, symbol, bytes, offset, kind)); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol,
                                      size_t bytes, size_t offset,
                                      cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return answer([&] {
    issue(stream, from_symbol_work(to, symbol, bytes, offset, kind));
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* given) {
  return answer([&] { run_now(copy_3d_work(given, default_stream())); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* given,
                              cudaStream_t stream) {
  return answer([&] { issue(stream, copy_3d_work(given, stream)); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from,
                           int from_device, size_t bytes) {
  return answer([&] {
    order_both(to, from);
    run_now(peer_work(to, to_device, from, from_device, bytes),
            tasks_of_both(to, from));
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                int from_device, size_t bytes,
                                cudaStream_t stream) {
  return answer([&] {
    issue(stream, peer_work(to, to_device, from, from_device, bytes));
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* given) {
  return answer([&] {
    const cudaMemcpy3DParms copy = peer_copy(given);
    const cudaMemcpy3DParms plain = without_arrays(copy);
    const void *const to = plain.dstPtr.ptr, *const from = plain.srcPtr.ptr;
    order_both(to, from);
    run_now(copy_work(copy), tasks_of_both(to, from));
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* given,
                                  cudaStream_t stream) {
  return answer([&] { issue(stream, copy_work(peer_copy(given))); });
}

}  // extern "C"
