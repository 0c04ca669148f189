// What is remembered of accesses to memory, to find races between them.
//
// Every access by a run of neighbouring lanes is an Event with a number, which
// is also the time. A log holds the last events; memory is shadowed by the
// numbers of those who touched it last. All of it has a fixed size: what is
// forgotten makes the checker miss a race, never see one that is not there.
#pragma once
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
  uint32_t warp : 5, for_block : 1, site : 26;

  uint64_t begin() const { return address; }
  uint64_t end() const { return address + ((more_lanes + 1ull) << log_bytes); }
  int lane_at(uint64_t byte) const {
    return first_lane + static_cast<int>((byte - address) >> log_bytes);
  }
};
static_assert(sizeof(Event) == 16);

// The last accesses to 4 bytes by single lanes. An atomic may meet others where
// a plain store may not: it must not make the plain one forgotten.
struct [[gnu::packed, gnu::aligned(2)]] Touch {
  Time time = 0;
  uint8_t lane = 0;
  uint8_t bytes = 0;  // a bit each
};
struct Word {
  uint64_t address = 0;  // / 4, whose entry this is
  Touch weak_store, strong_store;
  Touch load[2];
};
static_assert(sizeof(Word) == 32);

// The last accesses to 128 bytes by runs of lanes.
struct Line {
  uint64_t address = 0;  // / 128
  Time store[2] = {};
  Time load[2] = {};
  Time words = 0;  // when one of its words was last entered
};

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
    if (word.address != number) word = {number, {}, {}, {}};
    return word;
  }
  // Null if nothing is known of it.
  const Word* find_word(uint64_t address) {
    const uint64_t number = address / kWordBytes;
    const Word& word = words_[number & word_mask_];
    return word.address == number ? &word : nullptr;
  }

 private:
  const uint64_t line_mask_, word_mask_;
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
  // Null if it is too long ago.
  const Event* find(Time time) {
    return now_ - time <= kRemembered ? &events_[time % kRemembered] : nullptr;
  }

 private:
  LazyArray<Event> events_;
  Time now_ = 1;
};

}  // namespace simt
