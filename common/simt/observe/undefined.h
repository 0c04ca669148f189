// What is undefined in the registers and the memory of a block: what was loaded
// from memory that nobody has written, variables without a value, quotients by
// zero, and what was made of them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/simt/core/byte_set.h"
#include "common/simt/core/warp.h"

namespace simt {

// Why a lane has nothing to hand over in a shuffle.
enum class Absent : uint8_t { kNo, kNoThread, kExited, kLeftOut };

// The load that an undefined value comes from; or the shuffle with a lane that
// takes no part; or who reads a variable first; or the division.
struct Origin {
  uint64_t address = 0;  // of the first byte that was missing; or that lane
  uint32_t site = 0;
  uint16_t thread = 0;
  uint8_t moved = 0;     // so many bytes lie as they were loaded
  bool padding = false;  // beside bytes of the same word that are written
  Space space = Space::kGlobal;
  bool part = false;      // the same, of an object
  bool beside = false;    // other bits of the word have been given a value
  bool variable = false;  // it lay in a register, and had no value
  bool by_zero = false;   // it is what came of a division by zero
  Absent absent = Absent::kNo;

  // The same of a value that has been computed with.
  Origin computed() const {
    Origin origin = *this;
    origin.moved = 0;
    origin.beside = false;
    return origin;
  }
};

constexpr uint64_t kAllBits = ~0ull;

// A register with undefined bits. Of a predicate a lane has one bit.
struct Undefined {
  Place place = kNowhere;
  uint8_t width = 0;  // bytes of a lane; 0: a predicate
  uint32_t lanes = 0;
  uint64_t bits[kLanes] = {};  // of a register of 16 bytes, both halves
  Origin origin[kLanes] = {};

  uint64_t bits_of(int lane) const {
    return lanes >> lane & 1 ? bits[lane] : 0;
  }
  void add(int lane, uint64_t more, const Origin& from) {
    if (!more) return;
    if (!(lanes >> lane & 1)) origin[lane] = from;
    lanes |= 1u << lane;
    bits[lane] |= more;
  }
  // Where bit `top` is undefined, those above are: copies of a sign.
  void extend(int top) {
    for (uint64_t& lane : bits)
      if (lane >> top & 1) lane |= kAllBits << top;
  }
  // Null if the lane's are defined.
  const Origin* origin_of(int lane) const {
    return lanes >> lane & 1 ? &origin[lane] : nullptr;
  }
};

// The undefined ones among the registers of a call.
class UndefinedRegisters {
 public:
  // The condition code register CC.CF, as if it were a predicate.
  static constexpr Place kCarry = INT32_MAX;

  bool empty() const { return registers_.empty(); }
  const Undefined* find(Place place) const;
  uint32_t lanes(Place place) const {
    const Undefined* found = find(place);
    return found ? found->lanes : 0;
  }
  // The lanes of `value` are undefined as it says; other lanes stay.
  void set(const Undefined& value);
  void define(Place place, uint32_t lanes);

 private:
  void add(const Undefined& value);

  std::vector<std::unique_ptr<Undefined>> registers_;
  // They come and go: memory for the next ones.
  std::vector<std::unique_ptr<Undefined>> spare_;
};

// An undefined value that was stored: the bytes count as unwritten again.
struct Copied {
  Origin origin;
  uint8_t bits = 0;  // of the byte
};

// By address. They come in whole words mostly: one is looked for once.
class Copies {
 public:
  bool empty() const { return words_.empty(); }
  // Null: nothing is known of that byte.
  const Copied* find(uint64_t address) const;
  void set(uint64_t address, const Copied& byte) {
    words_[address / kWord][address % kWord] = byte;
  }
  // Of whole words: both are multiples of 4.
  void erase(uint64_t begin, uint64_t end);
  void clear() { words_.clear(); }

 private:
  static constexpr uint64_t kWord = 4;

  std::unordered_map<uint64_t, std::array<Copied, kWord>> words_;
};

// What a register holds of the result of a wgmma.mma_async that its warp has
// not waited for.
struct InFlight {
  uint64_t product = 0;  // so many the warp had begun before,
  uint32_t group = 0;    //   and so many groups it had closed
  int register_number = 0;
  const Instruction* by = nullptr;
  bool operator==(const InFlight&) const = default;
};

// What is undefined in a warp.
struct WarpValues {
  // By where the registers of a call lie.
  std::map<const uint8_t*, UndefinedRegisters> calls;
  // By where a register lies.
  std::map<const uint8_t*, InFlight> in_flight;
  // What its lanes hand over in a collective; those whose other operands there
  // are undefined, and why one of them is.
  Undefined exchanged;
  uint32_t unsure = 0;
  Origin why;
  std::vector<uint64_t> stack_bits;
  ByteSet stack;  // bytes of Warp::stacks that are written
  Copies stack_copies;

  void start();
  void grow(size_t stack_bytes);
};

}  // namespace simt
