// Memory: allocating, freeing, copying, filling. Every range is checked against
// the allocation it claims to be in before a byte moves.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "common/simt/core/device.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr size_t kPitchAlignment = 512;

// Which memory a pointer must be. Managed and pinned memory is either.
enum class Side { kAny, kHost, kDevice };

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// Device memory is closed to us too, but for these ways in.
char* open(void* pointer) {
  return static_cast<char*>(allocations().open(address_of(pointer)));
}
const char* open(const void* pointer) {
  return static_cast<const char*>(allocations().look_at(address_of(pointer)));
}

// [pointer, pointer + bytes) is one side's memory and inside one allocation.
// Host memory that CUDA did not hand out has no known end.
void require_range(const char* name, const void* pointer, size_t bytes,
                   Side side) {
  const uint64_t address = address_of(pointer);
  const auto found = allocations().find(address);
  const auto refuse = [&](const auto&... why) {
    throw Refused{cudaErrorInvalidValue,
                  text(name, " = ", pointer, ' ', why...)};
  };
  if (pointer == nullptr) refuse("is null");
  if (!found) {
    const bool host = !allocations().in_arena(address);
    if (host && side != Side::kDevice) return;
    refuse("is not device memory, but ", allocations().describe(address));
  }
  if (found->freed) refuse("is ", allocations().describe(address));
  if (side == Side::kHost && found->is_device_only()) {
    refuse("is not host memory, but ", allocations().describe(address));
  }
  if (bytes > found->end - address) {
    refuse("is ", allocations().describe(address), "; ", bytes,
           " bytes from there leave it by ", bytes - (found->end - address));
  }
}

void require_writable(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  require(!found || !found->read_only, cudaErrorInvalidValue, "dst = ", pointer,
          " is an input, which stays as it is: ",
          allocations().describe(address_of(pointer)));
}

// The device whose memory it is, if it is no memory of the host's.
std::optional<int> home_of(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  if (!found || !found->is_device_only()) return std::nullopt;
  return found->device;
}

void note_crossing(const void* to, const void* from, size_t bytes) {
  const auto there = home_of(to), here = home_of(from);
  if (there && here) peers().note_copied(*here, *there, bytes);
}

void note_moved(const void* to, const void* from, size_t bytes) {
  allocations().note_copied(address_of(to), address_of(from), bytes);
  note_touched(from, bytes, Use::kLoad);
  note_touched(to, bytes, Use::kStore);
}

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

// What cudaHostAlloc and cudaHostRegister were asked for, if it was anything,
// by the numbers of the allocations.
struct HostFlags {
  std::mutex mutex;
  std::map<uint64_t, unsigned> of;
};
HostFlags& host_flags() {
  static auto* all = new HostFlags;
  return *all;
}
void keep_host_flags(const void* pointer, unsigned flags) {
  const auto found = allocations().find(address_of(pointer));
  if (!found || flags == 0) return;
  const std::lock_guard lock(host_flags().mutex);
  host_flags().of[found->number] = flags;
}

// Whether it is memory of the host that CUDA may not read later on.
bool is_pageable(const void* pointer) {
  return !allocations().find(address_of(pointer));
}

bool is_memory_of_host(const void* pointer) {
  const auto found = allocations().find(address_of(pointer));
  return !found || found->memory == Memory::kPinned;
}

struct Sides {
  Side to, from;
};
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
  find_overlap({address_of(to), bytes, bytes, 1},
               {address_of(from), bytes, bytes, 1});
  std::memmove(open(to), open(from), bytes);
  note_moved(to, from, bytes);
  note_crossing(to, from, bytes);
}

// What is too large stays so: no size wraps around.
using Wide = unsigned __int128;
size_t bounded(Wide bytes) { return bytes >> 64 ? SIZE_MAX : size_t(bytes); }

// Rows of `width` bytes, `pitch` bytes apart.
size_t extent(size_t pitch, size_t width, size_t height) {
  return bounded(Wide(height - 1) * pitch + width);
}

size_t pitch_of(size_t width) {
  return bounded((Wide(width) + kPitchAlignment - 1) / kPitchAlignment *
                 kPitchAlignment);
}

void require_copy_2d(void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue,
          "rows of ", width, " bytes do not fit pitches of ", to_pitch, " and ",
          from_pitch);
  if (width == 0 || height == 0) return;
  require_range("dst", to, extent(to_pitch, width, height), sides.to);
  require_range("src", from, extent(from_pitch, width, height), sides.from);
  require_writable(to);
}

void copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch,
             size_t width, size_t height, cudaMemcpyKind kind) {
  require_copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
  if (width == 0 || height == 0) return;
  find_overlap({address_of(to), to_pitch, width, height},
               {address_of(from), from_pitch, width, height});
  for (size_t row = 0; row < height; ++row) {
    char* const row_to = static_cast<char*>(to) + row * to_pitch;
    const char* const row_from =
        static_cast<const char*>(from) + row * from_pitch;
    std::memmove(open(row_to), open(row_from), width);
    note_moved(row_to, row_from, width);
  }
  note_crossing(to, from, width * height);
}

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
  require_range("dst", p.dst, extent(p.pitch, width, p.height), Side::kDevice);
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
  require(width <= pitch || height <= 1, cudaErrorInvalidValue, "rows of ",
          width, " bytes do not fit a pitch of ", pitch);
  return {to, pitch, static_cast<unsigned>(value), 1, width, height};
}

void fill_2d(void* to, size_t pitch, int value, size_t width, size_t height) {
  fill(fill_2d_of(to, pitch, value, width, height));
}

// Where a slice of a box begins.
char* slice(const cudaPitchedPtr& of, cudaPos at, size_t z) {
  return static_cast<char*>(of.ptr) +
         ((at.z + z) * of.ysize + at.y) * of.pitch + at.x;
}

// Within its rows and slices, as far as they are told of.
void require_box(const char* name, const cudaPitchedPtr& of, cudaPos at,
                 cudaExtent box) {
  require(box.width > of.pitch || at.x + box.width <= of.pitch,
          cudaErrorInvalidValue, name, ": ", box.width, " bytes from byte ",
          at.x, " on leave rows of ", of.pitch);
  if (of.ysize == 0) return;
  const bool too_high = box.depth > 1 && box.height > of.ysize;
  require(at.y + box.height <= of.ysize,
          too_high ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue, name,
          ": ", box.height, " rows from row ", at.y, " on leave slices of ",
          of.ysize);
}

void copy_3d(const cudaMemcpy3DParms& p) {
  const cudaExtent box = p.extent;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  require_box("src", p.srcPtr, p.srcPos, box);
  require_box("dst", p.dstPtr, p.dstPos, box);
  for (size_t z = 0; z < p.extent.depth; ++z) {
    copy_2d(slice(p.dstPtr, p.dstPos, z), p.dstPtr.pitch,
            slice(p.srcPtr, p.srcPos, z), p.srcPtr.pitch, p.extent.width,
            p.extent.height, p.kind);
  }
}

void fill_3d(const cudaPitchedPtr& to, int value, cudaExtent extent) {
  require(extent.width <= to.pitch && extent.height <= to.ysize,
          cudaErrorInvalidValue, extent.height, " rows of ", extent.width,
          " bytes leave slices of ", to.ysize, " rows of ", to.pitch);
  for (size_t z = 0; z < extent.depth; ++z) {
    fill_2d(slice(to, {}, z), to.pitch, value, extent.width, extent.height);
  }
}

template <class Pointer>
void require_result(Pointer* result) {
  require(result != nullptr, cudaErrorInvalidValue,
          "the pointer to the result is null");
}

// `waits`: for all that its device has to do, which may still use it.
void free(void* pointer, bool pinned, bool waits) {
  if (pointer == nullptr) return;
  const uint64_t address = address_of(pointer);
  const auto found = allocations().find(address);
  if (waits && found) await_device(found->device);
  if (found) note_freed(found->begin, found->end);
  const bool ours = found && !found->freed && found->begin == address &&
                    !found->is_variable() && found->memory != Memory::kHeap &&
                    (found->memory == Memory::kPinned) == pinned &&
                    allocations().release(address);
  require(ours, cudaErrorInvalidValue, pointer, " is not what ",
          pinned ? "cudaMallocHost" : "cudaMalloc", " returned, but ",
          allocations().describe(address));
  if (found->kept) note_graph_memory_freed(*found);
  if (found->pool) note_returned(found->pool, found->bytes());
}

void* symbol_range(const void* symbol, int device, size_t bytes,
                   size_t offset) {
  const DeviceVariable variable = find_symbol(symbol, device);
  if (bytes == 0) return variable.address;
  require(offset <= variable.bytes && bytes <= variable.bytes - offset,
          cudaErrorInvalidValue, bytes, " bytes at offset ", offset,
          " leave the ", variable.bytes, "-byte variable");
  return static_cast<char*>(variable.address) + offset;
}

void copy_to_symbol(const void* symbol, int device, const void* from,
                    size_t bytes, size_t offset, cudaMemcpyKind kind) {
  require(sides_of(kind).to != Side::kHost, cudaErrorInvalidMemcpyDirection,
          "a variable is device memory");
  copy(symbol_range(symbol, device, bytes, offset), from, bytes, kind);
}

void copy_from_symbol(void* to, const void* symbol, int device, size_t bytes,
                      size_t offset, cudaMemcpyKind kind) {
  require(sides_of(kind).from != Side::kHost, cudaErrorInvalidMemcpyDirection,
          "a variable is device memory");
  copy(to, symbol_range(symbol, device, bytes, offset), bytes, kind);
}

// A call without a stream uses the default one, and waits for it.
void require_synchronous() {
  require_waitable(default_stream());
  require_safe();
}

Work copy_of(const void* to, const void* from, std::function<void()> run,
             std::function<void()> check = nullptr) {
  Work work = {cudaGraphNodeTypeMemcpy, std::move(run), nullptr,
               is_pageable(to) || is_pageable(from), std::move(check)};
  work.is_awaited =
      is_pageable(to) || (is_memory_of_host(to) && is_memory_of_host(from));
  work.is_left_alone = home_of(to) && home_of(to) == home_of(from);
  return work;
}

Work copy_3d_work(const cudaMemcpy3DParms* given) {
  require(given != nullptr, cudaErrorInvalidValue, "p is null");
  return copy_work(*given);
}

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

Work peer_work(void* to, int to_device, const void* from, int from_device,
               size_t bytes) {
  require_home("dst", to, to_device);
  require_home("src", from, from_device);
  return copy_work(to, from, bytes, cudaMemcpyDeviceToDevice);
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

void free_in_stream(void* pointer) {
  if (const auto found = allocations().find(address_of(pointer)))
    note_touched(pointer, found->end - address_of(pointer), Use::kStore, {},
                 "frees");
  free(pointer, false, false);
}

void* allocate(size_t bytes, Memory memory, const char* name) {
  return allocate(bytes, memory, name, current_device(), 0);
}

void* allocate(size_t bytes, Memory memory, const char* name, int device,
               uint64_t pool) {
  if (bytes == 0) return nullptr;
  const uint64_t address =
      allocations().allocate(bytes, memory, name, device, pool);
  require(address != 0, cudaErrorMemoryAllocation, bytes,
          " bytes do not fit the memory of ", model_device().name,
          device ? text(", device ", device) : "", ": ",
          allocations().device_bytes_in_use(device), " of ",
          allocations().device_bytes(), " are in use");
  if (memory != Memory::kPool) order_device(device);
  return reinterpret_cast<void*>(address);
}

void run_now(const Work& work, const Tasks& after) {
  require_synchronous();
  do_now(work, after);
}

Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
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
  return copy_of(
      to, from,
      [=] { copy_2d(to, to_pitch, from, from_pitch, width, height, kind); },
      [=] {
        require_copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
      });
}

Work to_symbol_work(const void* symbol, const void* from, size_t bytes,
                    size_t offset, cudaMemcpyKind kind) {
  const int device = current_device();
  Work work = {
      cudaGraphNodeTypeMemcpy,
      [=] { copy_to_symbol(symbol, device, from, bytes, offset, kind); },
      nullptr, is_pageable(from),
      [=] { symbol_range(symbol, device, bytes, offset); }};
  return work;
}

Work from_symbol_work(void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind) {
  const int device = current_device();
  Work work = {
      cudaGraphNodeTypeMemcpy,
      [=] { copy_from_symbol(to, symbol, device, bytes, offset, kind); },
      nullptr, is_pageable(to),
      [=] { symbol_range(symbol, device, bytes, offset); }};
  work.is_awaited = is_pageable(to);
  return work;
}

Work copy_work(const cudaMemcpy3DParms& given) {
  const cudaMemcpy3DParms plain = without_arrays(given);
  Work work =
      copy_of(plain.dstPtr.ptr, plain.srcPtr.ptr, [plain] { copy_3d(plain); });
  work.description = given;
  return work;
}

Work fill_work(const cudaMemsetParams& given) {
  Work work = {cudaGraphNodeTypeMemset, [given] { fill(given); }};
  work.check = [given] { require_fill(given); };
  work.description = given;
  return work;
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Allocating and freeing ------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return answer([&] {
    require_safe();
    require_result(pointer);
    *pointer = nullptr;  // also where there is no room
    *pointer = allocate(bytes, Memory::kDevice, "cudaMalloc");
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                            size_t height) {
  return answer([&] {
    require_safe();
    require_result(pointer);
    require_result(pitch);
    *pitch = height == 0 ? 0 : pitch_of(width);
    *pointer = allocate(bounded(Wide(*pitch) * height), Memory::kDevice,
                        "cudaMallocPitch");
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return answer([&] {
    require_safe();
    require_result(pitched);
    const bool empty = extent.height == 0 || extent.depth == 0;
    const size_t pitch = empty ? 0 : pitch_of(extent.width);
    const size_t slice = bounded(Wide(pitch) * extent.height);
    void* pointer = allocate(bounded(Wide(slice) * extent.depth),
                             Memory::kDevice, "cudaMalloc3D");
    *pitched = {pointer, pitch, extent.width, extent.height};
  });
}

cudaError_t cudaFree(void* pointer) {
  return answer([&] {
    require_safe();
    simt::free(pointer, false, true);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return answer([&] {
    require_stream(stream);
    if (pointer == nullptr) return;
    if (is_capturing(stream)) return issue(stream, release_work(pointer));
    const Queue queue = queue_of(stream);
    const auto operation = begin_operation(queue, {"cudaFreeAsync"});
    perform(queue, as_operation(operation, [=] { free_in_stream(pointer); }));
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return answer([&] {
    require_safe();
    require_result(pointer);
    *pointer = allocate(bytes, Memory::kPinned, "cudaMallocHost");
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return answer([&] {
    require_safe();
    require_result(pointer);
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped |
                               cudaHostAllocWriteCombined;
    require((flags & ~known) == 0, cudaErrorInvalidValue, "unknown flags ",
            flags);
    *pointer = allocate(bytes, Memory::kPinned, "cudaHostAlloc");
    keep_host_flags(*pointer, flags);
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return answer([&] {
    require_result(flags);
    const auto found = allocations().find(address_of(pointer));
    require(found && !found->freed &&
                (found->adopted || found->memory == Memory::kPinned),
            cudaErrorInvalidValue, pointer, " is not pinned, but ",
            allocations().describe(address_of(pointer)));
    const std::lock_guard lock(host_flags().mutex);
    const auto asked = host_flags().of.find(found->number);
    *flags = cudaHostAllocMapped;  // All of it is.
    if (asked != host_flags().of.end()) *flags |= asked->second;
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return answer([&] {
    require_safe();
    simt::free(pointer, true, true);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer([&] {
    require_safe();
    constexpr unsigned known = cudaHostRegisterPortable |
                               cudaHostRegisterMapped |
                               cudaHostRegisterReadOnly;
    require((flags & cudaHostRegisterIoMemory) == 0, cudaErrorInvalidValue,
            "it is no memory of another device");
    require((flags & ~known) == 0, cudaErrorInvalidValue, "unknown flags ",
            flags);
    require(pointer != nullptr && bytes != 0, cudaErrorInvalidValue,
            "nothing to register");
    require(!allocations().in_arena(address_of(pointer)), cudaErrorInvalidValue,
            "this is ", allocations().describe(address_of(pointer)));
    require(allocations().is_host_memory(address_of(pointer), bytes),
            cudaErrorInvalidValue, bytes, " bytes at ", pointer,
            " are not all memory of the host program");
    require(allocations().adopt(address_of(pointer), bytes, "cudaHostRegister",
                                current_device()),
            cudaErrorHostMemoryAlreadyRegistered,
            "part of the range is registered already");
    keep_host_flags(pointer, flags & cudaHostRegisterPortable);
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return answer([&] {
    const auto found = allocations().find(address_of(pointer));
    require(allocations().disown(address_of(pointer)),
            found || pointer == nullptr ? cudaErrorInvalidValue
                                        : cudaErrorHostMemoryNotRegistered,
            pointer, " is not the beginning of a registered range");
  });
}

// The device sees host memory at the host's own address.
cudaError_t cudaHostGetDevicePointer(void** device, void* host,
                                     unsigned flags) {
  return answer([&] {
    require_result(device);
    require(flags == 0, cudaErrorInvalidValue, "flags are ", flags, ", not 0");
    const auto found = allocations().find(address_of(host));
    require(found && !found->freed && !found->is_device_only(),
            cudaErrorInvalidValue, host, " is not pinned host memory, but ",
            allocations().describe(address_of(host)));
    *device = host;
  });
}

// ---- Copying ---------------------------------------------------------------

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
  return answer([&] { run_now(copy_3d_work(given)); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* given,
                              cudaStream_t stream) {
  return answer([&] { issue(stream, copy_3d_work(given)); });
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

// ---- Filling ---------------------------------------------------------------

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

// ---- Asking ----------------------------------------------------------------

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer([&] {
    require_result(address);
    *address = find_symbol(symbol, current_device()).address;
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return answer([&] {
    require_result(bytes);
    *bytes = find_symbol(symbol, current_device()).bytes;
  });
}

// The model device's memory, so that programs that size themselves by it do the
// same everywhere. This machine may have less.
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return answer([&] {
    const uint64_t all = allocations().device_bytes();
    if (total) *total = all;
    if (free_bytes)
      *free_bytes = all - allocations().device_bytes_in_use(current_device());
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer) {
  return answer_apart([&] {
    require_result(attributes);
    void* const here = const_cast<void*>(pointer);
    const auto found = allocations().find(address_of(pointer));
    *attributes = {};
    attributes->device = cudaInvalidDeviceId;
    attributes->type = cudaMemoryTypeUnregistered;
    if (!found || found->freed) {
      attributes->hostPointer = here;
      return;
    }
    attributes->device = found->device;
    attributes->devicePointer = here;
    if (!found->is_device_only()) attributes->hostPointer = here;
    attributes->type = found->is_managed()       ? cudaMemoryTypeManaged
                       : found->is_device_only() ? cudaMemoryTypeDevice
                                                 : cudaMemoryTypeHost;
  });
}

}  // extern "C"
