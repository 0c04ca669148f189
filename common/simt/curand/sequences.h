// The sequences of numbers that cuRAND's generators are made of, as its
// documents describe them: from any seed and any place in them.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace simt::curand {

// A linear map of bits: what it makes of each of 160.
struct BitMap {
  using Bits = std::array<uint32_t, 5>;
  std::array<Bits, 160> of;

  Bits operator()(const Bits& bits) const {
    Bits sum = {};
    for (int word = 0; word < 5; ++word)
      for (uint32_t left = bits[word]; left != 0; left &= left - 1)
        for (int k = 0; k < 5; ++k)
          sum[k] ^= of[32 * word + std::countr_zero(left)][k];
    return sum;
  }
  // This one after the other one.
  BitMap after(const BitMap& other) const {
    BitMap both;
    for (int bit = 0; bit < 160; ++bit) both.of[bit] = (*this)(other.of[bit]);
    return both;
  }
};

// Marsaglia's xorwow: a linear generator of 160 bits, and a counter.
class Xorwow {
 public:
  explicit Xorwow(uint64_t seed) {
    const uint32_t low = (uint32_t(seed) ^ 0xaad26b49u) * 0x4182bed5u;
    const uint32_t high = (uint32_t(seed >> 32) ^ 0xf7dcefddu) * 0x9a7cab1bu;
    bits_ = {123456789u + low, 362436069u ^ low, 521288629u + high,
             88675123u ^ high, 5783321u + low};
    counter_ = 6615241u + low + high;
  }
  uint32_t next() {
    bits_ = step(bits_);
    counter_ += kStep;
    return bits_[4] + counter_;
  }
  void skip(uint64_t count) {
    BitMap power = one_step();
    counter_ += uint32_t(count) * kStep;
    for (uint64_t left = count; left != 0; left >>= 1) {
      if (left & 1) bits_ = power(bits_);
      if (left > 1) power = power.after(power);
    }
  }
  // 2^67 numbers further on.
  void skip_sequence() {
    static const BitMap jump = [] {
      BitMap power = one_step();
      for (int k = 0; k < 67; ++k) power = power.after(power);
      return power;
    }();
    bits_ = jump(bits_);
  }

 private:
  static constexpr uint32_t kStep = 362437;

  static BitMap::Bits step(const BitMap::Bits& v) {
    const uint32_t t = v[0] ^ (v[0] >> 2);
    return {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
  }
  static BitMap one_step() {
    BitMap map;
    for (int bit = 0; bit < 160; ++bit) {
      BitMap::Bits one = {};
      one[bit / 32] = 1u << bit % 32;
      map.of[bit] = step(one);
    }
    return map;
  }

  BitMap::Bits bits_;
  uint32_t counter_;
};

// L'Ecuyer's MRG32k3a: two recurrences of three numbers, modulo two primes.
class Mrg32k3a {
 public:
  explicit Mrg32k3a(uint64_t seed) {
    if (seed == 0) return;
    const uint64_t low = uint32_t(seed) ^ 0x55555555u;
    const uint64_t high = uint32_t(seed >> 32) ^ 0xaaaaaaaau;
    for (int k = 0; k < 3; ++k) {
      first_[k] = first_[k] * (k == 1 ? high : low) % kFirst;
      second_[k] = second_[k] * (k == 1 ? low : high) % kSecond;
    }
  }
  // From 1 to the larger prime.
  uint32_t next() {
    const uint64_t one =
        (1403580 * first_[1] + 810728 * (kFirst - first_[0])) % kFirst;
    const uint64_t other =
        (527612 * second_[2] + 1370589 * (kSecond - second_[0])) % kSecond;
    first_ = {first_[1], first_[2], one};
    second_ = {second_[1], second_[2], other};
    return one > other ? one - other : one - other + kFirst;
  }
  void skip(uint64_t count) {
    advance(first_, kFirstStep, kFirst, count);
    advance(second_, kSecondStep, kSecond, count);
  }
  // 2^76 numbers further on.
  void skip_sequence() {
    static const Table first = doubled(kFirstStep, kFirst, 76);
    static const Table second = doubled(kSecondStep, kSecond, 76);
    first_ = times(first, first_, kFirst);
    second_ = times(second, second_, kSecond);
  }

 private:
  using Numbers = std::array<uint64_t, 3>;
  using Table = std::array<Numbers, 3>;
  static constexpr uint64_t kFirst = 4294967087, kSecond = 4294944443;
  static constexpr Table kFirstStep = {
      {{0, 1, 0}, {0, 0, 1}, {kFirst - 810728, 1403580, 0}}};
  static constexpr Table kSecondStep = {
      {{0, 1, 0}, {0, 0, 1}, {kSecond - 1370589, 0, 527612}}};

  static Numbers times(const Table& table, const Numbers& x, uint64_t prime) {
    Numbers sum = {};
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 3; ++k)
        sum[row] = (sum[row] + table[row][k] * x[k] % prime) % prime;
    return sum;
  }
  static Table times(const Table& a, const Table& b, uint64_t prime) {
    Table product = {};
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)
        for (int k = 0; k < 3; ++k)
          product[row][column] =
              (product[row][column] + a[row][k] * b[k][column] % prime) % prime;
    return product;
  }
  static Table doubled(Table step, uint64_t prime, int doublings) {
    for (int k = 0; k < doublings; ++k) step = times(step, step, prime);
    return step;
  }
  static void advance(Numbers& x, Table step, uint64_t prime, uint64_t count) {
    for (; count != 0; count >>= 1, step = times(step, step, prime))
      if (count & 1) x = times(step, x, prime);
  }

  Numbers first_ = {12345, 12345, 12345}, second_ = first_;
};

// Philox-4x32-10 of Salmon and others, which scrambles a counter with a key.
class Philox {
 public:
  using Four = std::array<uint32_t, 4>;

  explicit Philox(uint64_t seed) : key_(seed) {}
  Four next() {
    Four x = {uint32_t(count_), uint32_t(count_ >> 32), uint32_t(sequence_),
              uint32_t(sequence_ >> 32)};
    ++count_;
    uint32_t low = key_, high = key_ >> 32;
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xd2511f53} * x[0];
      const uint64_t b = uint64_t{0xcd9e8d57} * x[2];
      x = {uint32_t(b >> 32) ^ x[1] ^ low, uint32_t(b),
           uint32_t(a >> 32) ^ x[3] ^ high, uint32_t(a)};
      low += 0x9e3779b9;
      high += 0xbb67ae85;
    }
    return x;
  }
  void skip(uint64_t count) { count_ += count; }
  void skip_sequence() { ++sequence_; }

 private:
  uint64_t key_, sequence_ = 0, count_ = 0;
};

}  // namespace simt::curand
