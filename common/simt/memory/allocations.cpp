// The arena of device memory: handing out, taking back, describing.
#include "common/simt/memory/allocations.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sstream>

#include "common/simt/core/access.h"
#include "common/simt/core/device.h"
#include "common/simt/core/names.h"
#include "common/simt/core/program.h"
#include "common/simt/core/settings.h"

namespace simt {
namespace {

constexpr uint64_t kMiB = 1ull << 20;
constexpr uint64_t kGiB = 1ull << 30;
constexpr uint64_t kAlignment = 256;  // what cudaMalloc promises

// Far from where programs, libraries and sanitizers live.
constexpr uint64_t kArenaAddress = 0x3000'0000'0000;
constexpr uint64_t kOpenAddress = 0x3800'0000'0000;  // the executor's mapping
constexpr uint64_t kArenaBytes = 1ull << 40;
constexpr uint64_t kSmallestArena = 4 * kGiB;

// Freed memory is given back to the machine at once; what quarantine holds is
// addresses, so it can afford to be long.
constexpr uint64_t kQuarantineBytes = 16 * kGiB;
constexpr size_t kQuarantineBlocks = 1 << 16;

// Fresh memory is filled with 0xff, a NaN in every float format, so that an
// element nobody wrote does not pass for a lucky zero. Filling costs time and
// commits pages; what kernels forget is nearly always at one of the two ends,
// so only that much of each end is filled.
constexpr int kPoison = 0xff;
constexpr uint64_t kPoisonedEnd = 8 * kMiB;

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

uint64_t round_down(uint64_t value, uint64_t to) { return value / to * to; }

uint64_t page_bytes() {
  static const uint64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// A wrong stride leaves a large array by more than a small one.
uint64_t red_zone(uint64_t bytes) {
  return round_up(std::clamp(bytes / 4, kAlignment, kMiB), kAlignment);
}

// An arena of addresses; memory comes when they are touched.
struct Reserved {
  uint64_t begin = 0;  // 0: the machine has no room for so many addresses
  uint64_t open = 0;   // where the executor finds the same memory
  int file = -1;
};

// A file in memory that nobody else sees, or -1 where files are kept small.
int memory_file(uint64_t bytes) {
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);  // To exceed it would be a signal.
  if (limit.rlim_cur < bytes) return -1;
  const int file = memfd_create("simt device memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, bytes) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

uint64_t map(uint64_t wish, uint64_t bytes, int protection, int flags, int file,
             uint64_t offset = 0) {
  void* at = mmap(pointer(wish), bytes, protection, flags | MAP_NORESERVE, file,
                  off_t(offset));
  if (at == MAP_FAILED) return 0;
  madvise(at, bytes, MADV_DONTDUMP);  // A core file would be a terabyte.
  return reinterpret_cast<uint64_t>(at);
}

// One mapping, open to everybody, is what remains without a file.
Reserved reserve_arena(uint64_t bytes) {
  constexpr int open = PROT_READ | PROT_WRITE;
  const int file = memory_file(bytes);
  if (file < 0) {
    const uint64_t begin =
        map(kArenaAddress, bytes, open, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return {begin, begin, -1};
  }
  Reserved two = {map(kArenaAddress, bytes, PROT_NONE, MAP_SHARED, file),
                  map(kOpenAddress, bytes, open, MAP_SHARED, file), file};
  if (two.begin && two.open) return two;
  close(file);
  if (two.begin) munmap(pointer(two.begin), bytes);
  if (two.open) munmap(pointer(two.open), bytes);
  return {};
}

// To ask for nothing at all of pages fails where there are none.
bool is_mapped(uint64_t begin, uint64_t end) {
  begin = round_down(begin, page_bytes());
  return msync(pointer(begin), end - begin, MS_ASYNC) == 0;
}

std::string text_of(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// What is in no program's memory: the top bits say what it points to.
std::string describe_window(uint64_t address) {
  const uint64_t end = (address + page_bytes()) & kWindowMask;
  const uint64_t window = address & kWindowMask;
  const bool before = end != window;
  const char* name = "no memory at all";
  if (!before && (address - window) >> 32) return name;
  switch (before ? end : window) {
    case 0:
      name = "a null pointer";
      break;
    case kSharedWindow:
      name = "shared memory";
      break;
    case kLocalWindow:
      name = "a thread's local memory";
      break;
    case kFunctionWindow:
      name = "a device function";
      break;
    case kParamWindow:
      name = "a kernel's parameters";
      break;
    default:
      return name;
  }
  return before ? text_of(end - address) + " before " + name : name;
}

bool is_compilers(const Allocation& a) {
  return a.is_variable() && a.name[0] == '$';
}

}  // namespace

std::string name_of(const Allocation& a) {
  std::ostringstream out;
  if (a.is_variable()) {
    out << "the " << a.bytes() << "-byte variable " << variable_name(a.name);
  } else {
    out << "the " << a.bytes() << "-byte array from " << a.name
        << " (allocation " << a.number << ")";
  }
  if (device_count() > 1 && a.is_device_only())
    out << " of device " << a.device;
  return out.str();
}

Allocations::Allocations(uint64_t device_bytes) : device_bytes_(device_bytes) {
  // A machine that limits addresses gets a smaller arena.
  Reserved arena;
  uint64_t bytes = 2 * kArenaBytes;
  while (arena.begin == 0 && (bytes /= 2) >= kSmallestArena) {
    arena = reserve_arena(bytes);
  }
  if (arena.begin == 0) throw std::bad_alloc();
  arena_begin_ = arena.begin;
  arena_end_ = arena_begin_ + bytes;
  distance_ = arena.open - arena.begin;
  file_ = arena.file;
  // A red zone before the first.
  holes_[arena_begin_ + kMiB] = arena_end_;
  if (settings::checks()) keep_written();
}

void Allocations::keep_written() {
  if (checks_) return;  // At all launches but perhaps one.
  const std::unique_lock lock(mutex_);
  if (checks_) return;
  if (!written_.has_room()) written_ = WrittenBytes(arena_end_ - arena_begin_);
  for (const auto& [begin, block] : blocks_)
    written_.insert(begin - arena_begin_, block.end - arena_begin_);
  checks_ = true;
}

uint64_t Allocations::allocate(uint64_t bytes, Memory memory, const char* name,
                               int device, uint64_t pool) {
  const std::unique_lock lock(mutex_);
  OfDevice& of = of_[device];
  const bool counts = memory != Memory::kPinned;
  if (counts && bytes > device_bytes_ - of.in_use) return 0;
  if (bytes > arena_end_ - arena_begin_) return 0;
  const bool heap = memory == Memory::kHeap;
  if (heap && !is_inside(of.heap_in_use, bytes, 0, of.heap_limit)) {
    of.heap_was_full = true;
    return 0;
  }
  const bool shared = memory == Memory::kManaged || memory == Memory::kPinned;
  // What the host may touch has its pages to itself, and so has a variable,
  // because it may turn out to be managed.
  const bool fresh = Allocation{.memory = memory}.is_plain();
  const bool pages = !fresh || memory == Memory::kPhysical;
  const uint64_t alignment = pages ? page_bytes() : kAlignment;
  const uint64_t whole = round_up(bytes + red_zone(bytes), alignment);
  const uint64_t begin = take(whole, alignment);
  if (begin == 0) return 0;
  const uint64_t end = begin + bytes;
  if (shared && !let_host_in(begin, end, true)) {
    give_back(begin, begin + whole);
    return 0;
  }
  if (shared) host_has_some_ = true;
  // Memory of the host's begins as zeros, on a GPU, too (measured on an H200).
  if (shared)
    drop_pages(begin, begin + whole);
  else
    poison(begin, end);
  if (checks_ && fresh)
    written_.erase(begin - arena_begin_, end - arena_begin_);
  else
    note_written(begin, bytes);
  if (counts) of.in_use += bytes;
  if (heap) of.heap_in_use += bytes;
  blocks_[begin] = {{.begin = begin,
                     .end = end,
                     .memory = memory,
                     .device = device,
                     .number = ++count_,
                     .pool = pool,
                     .name = name},
                    begin + whole};
  return begin;
}

bool Allocations::release(uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  Block& block = found->second;
  if (block.freed || block.adopted || block.mapped) return false;
  retire(block);
  return true;
}

void Allocations::retire(Block& block) {
  OfDevice& of = of_[block.device];
  if (block.memory != Memory::kPinned) of.in_use -= block.bytes();
  if (block.memory == Memory::kHeap) of.heap_in_use -= block.bytes();
  block.freed = true;
  if (!block.is_device_only()) let_host_in(block.begin, block.end, false);
  drop_pages(block.begin, block.end);
  if (!block.kept) quarantine(block);
  ++version_;
}

void Allocations::keep(uint64_t address) {
  const std::unique_lock lock(mutex_);
  Block& block = blocks_.at(address);
  block.kept = true;
  retire(block);
}

bool Allocations::occupy(uint64_t address) {
  const std::unique_lock lock(mutex_);
  Block& block = blocks_.at(address);
  OfDevice& of = of_[block.device];
  if (!block.freed || block.bytes() > device_bytes_ - of.in_use) return false;
  of.in_use += block.bytes();
  block.freed = false;
  poison(block.begin, block.end);
  if (checks_)
    written_.erase(block.begin - arena_begin_, block.end - arena_begin_);
  ++version_;
  return true;
}

void Allocations::abandon(uint64_t address) {
  const std::unique_lock lock(mutex_);
  Block& block = blocks_.at(address);
  block.kept = false;
  if (block.freed) quarantine(block);
}

// Behind them nobody's addresses, which end an array that fills them.
uint64_t Allocations::reserve(uint64_t bytes, uint64_t unit) {
  const std::unique_lock lock(mutex_);
  return take(bytes + unit, unit);
}

void Allocations::unreserve(uint64_t begin, uint64_t bytes, uint64_t unit) {
  const std::unique_lock lock(mutex_);
  give_back(begin, begin + bytes + unit);
}

bool Allocations::show(uint64_t at, uint64_t shown, uint64_t bytes) {
  if (file_ < 0) return false;
  const std::unique_lock lock(mutex_);
  const uint64_t offset = shown - arena_begin_;
  constexpr int kHow = MAP_SHARED | MAP_FIXED;
  ++version_;
  return map(at, bytes, PROT_NONE, kHow, file_, offset) &&
         map(at + distance_, bytes, PROT_READ | PROT_WRITE, kHow, file_,
             offset);
}

void Allocations::set_mapped(uint64_t begin, uint64_t end,
                             std::vector<Allocation> parts) {
  const std::unique_lock lock(mutex_);
  blocks_.erase(blocks_.lower_bound(begin), blocks_.lower_bound(end));
  for (Allocation& part : parts) {
    part.mapped = true;
    part.number = ++count_;
    blocks_[part.begin] = {part, part.end};
  }
  ++version_;
}

void Allocations::release_all(int device) {
  for (const Allocation& one : unfreed())
    if (one.device == device) release(one.begin);
}

void Allocations::make_managed(uint64_t begin) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end()) return;
  found->second.memory = Memory::kManagedVariable;
  host_has_some_ = true;
  let_host_in(begin, found->second.end, true);
}

bool Allocations::is_host_memory(uint64_t begin, uint64_t bytes) const {
  const uint64_t end = begin + bytes;
  const bool apart = end <= arena_begin_ || begin >= arena_end_;
  return begin < end && apart && is_mapped(begin, end);
}

bool Allocations::adopt(uint64_t begin, uint64_t bytes, const char* name,
                        int device) {
  const std::unique_lock lock(mutex_);
  const auto next = blocks_.upper_bound(begin + bytes - 1);
  if (next != blocks_.begin() && std::prev(next)->second.end > begin) {
    return false;
  }
  const uint64_t end = begin + bytes;
  blocks_[begin] = {{.begin = begin,
                     .end = end,
                     .memory = Memory::kPinned,
                     .adopted = true,
                     .device = device,
                     .number = ++count_,
                     .name = name},
                    end};
  return true;
}

bool Allocations::disown(uint64_t begin) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end() || !found->second.adopted) return false;
  blocks_.erase(found);
  ++version_;
  return true;
}

void Allocations::make_read_only(uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin() || !std::prev(next)->second.contains(address))
    return;
  std::prev(next)->second.read_only = true;
  ++version_;
}

std::optional<Allocation> Allocations::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Block* block = at(address);
  if (block == nullptr) return std::nullopt;
  return *block;
}

// A copy of what nobody has written is no more written than that.
void Allocations::note_copied(uint64_t to, uint64_t from, uint64_t bytes) {
  if (!checks_ || !in_arena(to)) return;
  const uint64_t begin = to - arena_begin_, source = from - arena_begin_;
  if (!in_arena(from) || written_.contains(source, source + bytes))
    return written_.insert(begin, begin + bytes);
  for (uint64_t k = 0; k < bytes; ++k) {
    const uint64_t at = from < to ? bytes - 1 - k : k;  // as memmove does
    if (written_.contains(source + at))
      written_.insert(begin + at, begin + at + 1);
    else
      written_.erase(begin + at, begin + at + 1);
  }
}

void Allocations::note_written(uint64_t begin, uint64_t bytes) {
  if (!checks_ || !in_arena(begin)) return;
  written_.insert(begin - arena_begin_, begin - arena_begin_ + bytes);
}

bool Allocations::is_written(uint64_t begin, uint64_t bytes) const {
  if (!checks_ || !in_arena(begin)) return true;
  const uint64_t at = begin - arena_begin_;
  return written_.contains(at, at + bytes);
}

std::optional<WrittenBytes::Gap> Allocations::unwritten(uint64_t begin,
                                                        uint64_t bytes,
                                                        uint64_t least) const {
  if (is_written(begin, bytes)) return {};
  const uint64_t at = begin - arena_begin_;
  auto gap = written_.gap(at, at + bytes, least);
  if (gap) *gap = {gap->begin + arena_begin_, gap->end + arena_begin_};
  return gap;
}

uint64_t Allocations::newest() const {
  const std::shared_lock lock(mutex_);
  return count_;
}

std::vector<Allocation> Allocations::unfreed() const {
  const std::shared_lock lock(mutex_);
  std::vector<Allocation> found;
  for (const auto& [begin, block] : blocks_) {
    if (!block.freed && block.is_from_api()) found.push_back(block);
  }
  std::ranges::sort(found, {}, &Allocation::number);
  return found;
}

uint64_t Allocations::device_bytes_in_use(int device) const {
  const std::shared_lock lock(mutex_);
  return of_[device].in_use;
}

std::string Allocations::describe(uint64_t address) const {
  if (address == 0) return "a null pointer";
  if (address < page_bytes()) return text_of(address) + " past a null pointer";
  if (address & kWindowMask || (address + page_bytes()) & kWindowMask)
    return describe_window(address);
  const std::shared_lock lock(mutex_);
  if (const Block* block = at(address)) {
    std::ostringstream out;
    out << "byte " << address - block->begin << " of " << name_of(*block)
        << (!block->freed ? ""
            : block->kept ? ", which its graph has not allocated, or was freed"
                          : ", which was freed");
    return out.str();
  }
  if (in_arena(address)) return describe_gap(address);
  return is_mapped(address, address + 1) ? "memory of the host program"
                                         : "no memory at all";
}

// Between allocations: the nearer neighbour is the one that was left. Nobody
// leaves what the compiler made for itself, printf's formats.
std::string Allocations::describe_gap(uint64_t address) const {
  std::ostringstream out;
  const auto is_meant = [&](const auto& one) {
    return in_arena(one.first) && !is_compilers(one.second);
  };
  const auto next = blocks_.upper_bound(address);
  const auto up = std::find_if(next, blocks_.end(), is_meant);
  const auto down =
      std::find_if(std::make_reverse_iterator(next), blocks_.rend(), is_meant);
  const Block* after = up != blocks_.end() ? &up->second : nullptr;
  const Block* before = down != blocks_.rend() ? &down->second : nullptr;
  if (before && (!after || address - before->end <= after->begin - address)) {
    const uint64_t past = address - before->end;
    out << (past == 0 ? "just" : text_of(past)) << " past the end of "
        << name_of(*before) << (before->freed ? ", which was freed" : "");
  } else if (after) {
    out << text_of(after->begin - address) << " before " << name_of(*after)
        << (after->freed ? ", which was freed" : "");
  } else {
    out << "device memory that was never allocated";
  }
  return out.str();
}

const Allocations::Block* Allocations::at(uint64_t address) const {
  const auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const Block& block = std::prev(next)->second;
  return block.contains(address) ? &block : nullptr;
}

// First fit: what the program frees is used again from the lowest address on.
uint64_t Allocations::take(uint64_t bytes, uint64_t alignment) {
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const auto [begin, end] = *hole;
    const uint64_t from = round_up(begin, alignment);
    if (from > end || end - from < bytes) continue;
    holes_.erase(hole);
    if (begin < from) holes_[begin] = from;
    if (from + bytes < end) holes_[from + bytes] = end;
    return from;
  }
  return 0;
}

// Opens or closes the addresses that the program sees, by whole pages.
bool Allocations::let_host_in(uint64_t begin, uint64_t end, bool in) {
  if (distance_ == 0) return true;
  begin = round_down(begin, page_bytes());
  end = round_up(end, page_bytes());
  return mprotect(pointer(begin), end - begin,
                  in ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

void Allocations::poison(uint64_t begin, uint64_t end) {
  const uint64_t head = std::min(end, begin + kPoisonedEnd);
  const uint64_t tail = std::max(head, end - kPoisonedEnd);
  std::memset(open(begin), kPoison, head - begin);
  std::memset(open(tail), kPoison, end - tail);
}

// Whole pages only: the first and the last may be shared with a neighbour.
void Allocations::drop_pages(uint64_t begin, uint64_t end) {
  begin = round_up(begin, page_bytes());
  end = round_down(end, page_bytes());
  if (begin >= end) return;
  madvise(open(begin), end - begin, distance_ ? MADV_REMOVE : MADV_DONTNEED);
}

void Allocations::give_back(uint64_t begin, uint64_t end) {
  auto next = holes_.lower_bound(begin);
  if (next != holes_.end() && next->first == end) {
    end = next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin() && std::prev(next)->second == begin) {
    std::prev(next)->second = end;
  } else {
    holes_[begin] = end;
  }
}

// The block just freed always stays, however large it is.
void Allocations::quarantine(Block& block) {
  quarantined_.push_back(block.begin);
  quarantined_bytes_ += block.reserved_end - block.begin;
  while (quarantined_.size() > 1 && (quarantined_bytes_ > kQuarantineBytes ||
                                     quarantined_.size() > kQuarantineBlocks)) {
    const auto oldest = blocks_.find(quarantined_.front());
    quarantined_.pop_front();
    const uint64_t begin = oldest->first;
    const uint64_t end = oldest->second.reserved_end;
    quarantined_bytes_ -= end - begin;
    blocks_.erase(oldest);
    give_back(begin, end);
  }
}

Allocations& allocations() {
  static auto* all = new Allocations(model_device().global_bytes);
  return *all;
}

}  // namespace simt
