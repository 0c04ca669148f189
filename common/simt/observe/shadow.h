// What is remembered of accesses to memory, to find races between them.
//
// Every access by a run of neighbouring lanes is an Event with a number, which
// is also the time. A log holds the last events; memory is shadowed by the
// numbers of those who touched it last. All of it has a fixed size: what is
// forgotten makes the checker miss a race, never see one that is not there.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "common/simt/core/code.h"

namespace simt {

using Time = uint32_t;  // 0: never

// Some lanes of one warp, one instruction, addresses one behind the other; or
// a single lane, if `lanes` is 1.
struct Event {
  uint64_t address : 48, log_bytes : 3, first_lane : 5, more_lanes : 5;
  uint64_t strength : 2, stores : 1;
  uint32_t block;
  // Nobody had written where it stores.
  uint32_t warp : 5, fresh : 1, site : 26;

  uint64_t begin() const { return address; }
  uint64_t end() const { return address + ((more_lanes + 1ull) << log_bytes); }
  int lane_at(uint64_t byte) const {
    return first_lane + static_cast<int>((byte - address) >> log_bytes);
  }
};
static_assert(sizeof(Event) == 16);

// A lane's access to some of 4 bytes.
struct Touch {
  static constexpr uint8_t kWhole = 15;
  Time time = 0;
  uint8_t lane = 0;
  uint8_t bytes = 0;  // a bit each
};

// A bit for each byte of a word from `begin` on, up to `end`.
inline uint8_t bytes_of_word(uint64_t begin, uint64_t end) {
  return static_cast<uint8_t>(((1u << (end - begin)) - 1) << begin % 4);
}

// The words that an access lies in: where it begins there, and its bytes.
template <class F>
void each_word(uint64_t begin, uint64_t end, const F& f) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t next = std::min(end, at / 4 * 4 + 4);
    f(at, bytes_of_word(at, next));
    at = next;
  }
}

// The last accesses to 4 bytes by single lanes. An atomic may meet others where
// a plain store may not: it must not make the plain one forgotten, nor those of
// other threads. Of plain stores to some of the bytes, those before the last
// one lie where atomics would: a word has one kind or the other.
class Word {
 public:
  enum Slot { kWeakStore, kStrongStore, kLoad = 3, kSlots = 5 };  // 1, 2, 2

  uint32_t tag = 0;  // of the address, whose entry this is

  Touch at(int slot) const {
    const uint8_t who = who_[slot];
    return {time_[slot], static_cast<uint8_t>(who >> 3), kBytes[who & 7]};
  }
  // Whether that one was no weak access: the log knows it, too, but it is large
  // and seldom in the cache.
  bool is_strong(int slot) const { return strong_ >> slot & 1; }
  void enter(int slot, const Touch& touch, bool strong) {
    time_[slot] = touch.time;
    strong_ = static_cast<uint8_t>((strong_ & ~(1 << slot)) | strong << slot);
    who_[slot] = touch.lane << 3 | kExtents[touch.bytes];
  }

 private:
  // Of aligned accesses there are only these, and the number of each.
  static constexpr uint8_t kBytes[8] = {1, 2, 4, 8, 3, 12, 15};
  static constexpr uint8_t kExtents[16] = {0, 0, 1, 4, 2, 0, 0, 0,
                                           3, 0, 0, 0, 5, 0, 0, 6};
  Time time_[kSlots] = {};
  uint8_t who_[kSlots] = {};
  uint8_t strong_ = 0;  // a bit for each slot
};
static_assert(sizeof(Word) == 32);

// The last accesses to 128 bytes by runs of lanes.
struct Line {
  uint64_t address = 0;  // / 128
  Time store[3] = {};
  Time load[2] = {};
  Time words = 0;  // when one of its words was last entered
};
static_assert(sizeof(Line) == 32);

// Pages that nobody touches cost nothing.
template <class T>
class LazyArray {
 public:
  explicit LazyArray(size_t n)
      : data_(static_cast<T*>(std::calloc(n, sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  T& operator[](size_t k) { return data_.get()[k]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
};

// The shadow of a memory: exact if it has as many entries as the memory has
// words; else entries that fall together replace one another.
class Shadow {
 public:
  static constexpr uint64_t kLineBytes = 128, kWordBytes = 4;

  Shadow(size_t lines, size_t words)  // powers of two
      : line_mask_(lines - 1),
        word_mask_(words - 1),
        word_bits_(std::countr_zero(words)),
        lines_(lines),
        words_(words) {}

  Line& line(uint64_t address) {
    const uint64_t number = address / kLineBytes;
    Line& line = lines_[number & line_mask_];
    if (line.address != number) line = {number, {}, {}, 0};
    return line;
  }
  Word& word(uint64_t address) {
    const uint64_t number = address / kWordBytes;
    Word& word = words_[number & word_mask_];
    const auto tag = static_cast<uint32_t>(number >> word_bits_);
    if (word.tag != tag) {
      word = {};
      word.tag = tag;
    }
    return word;
  }
  // Both will be asked for soon.
  void prefetch(uint64_t address) {
    __builtin_prefetch(&lines_[address / kLineBytes & line_mask_]);
    __builtin_prefetch(&words_[address / kWordBytes & word_mask_]);
  }
  // Null if nothing is known of it.
  const Word* find_word(uint64_t address) {
    const uint64_t number = address / kWordBytes;
    const Word& word = words_[number & word_mask_];
    return word.tag == number >> word_bits_ ? &word : nullptr;
  }

 private:
  const uint64_t line_mask_, word_mask_;
  const int word_bits_;
  LazyArray<Line> lines_;
  LazyArray<Word> words_;
};

class EventLog {
 public:
  static constexpr Time kRemembered = 1u << 18;
  static constexpr Time kEnd = ~0u - kRemembered;  // no times beyond it

  EventLog() : events_(kRemembered) {}
  Time now() const { return now_; }
  bool full() const { return now_ >= kEnd; }
  Time add(const Event& event) {
    events_[now_ % kRemembered] = event;
    return now_++;
  }
  bool remembers(Time time) const { return now_ - time <= kRemembered; }
  const Event* find(Time time) {  // Null if it is too long ago.
    return remembers(time) ? &events_[time % kRemembered] : nullptr;
  }

 private:
  LazyArray<Event> events_;
  Time now_ = 1;
};

}  // namespace simt
