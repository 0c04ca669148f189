// What every contract asks for, checked of any of them. A suite says what a
// call of its contract is given and must leave; what only its own numbers show,
// it checks by itself.
#pragma once

#include <array>
#include <concepts>
#include <utility>

#include "common/harness/checked_call.h"
#include "tests/contract.h"

namespace contract {

// Around and in memory that a call must leave alone: far from any result.
constexpr uint8_t kAround = 0xf1;
constexpr uint8_t kLent = 0x7f;  // Spoils a sum, and is no index.

template <class T>
T of_bytes(uint8_t byte) {
  std::array<uint8_t, sizeof(T)> bytes;
  bytes.fill(byte);
  return std::bit_cast<T>(bytes);
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <std::integral T>
std::string text(T v) {
  return std::to_string(v);
}

// Whether the i-th result is right, where not only one is; and how to print it.
template <class T>
struct Judge {
  std::function<bool(int64_t i, T expected, T got)> allows =
      [](int64_t, T expected, T got) {
        if constexpr (std::same_as<T, float>) return same(expected, got);
        return same_bytes(expected, got);
      };
  std::function<std::string(T)> print = [](T v) { return text(v); };
};

// What is only moved keeps every bit, those of a NaN too.
inline const Judge<float> kMoved = {
    .allows = [](int64_t, float expected, float got) {
      return same_bytes(expected, got);
    }};

// An array of a call, whatever its elements are.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void prepare() = 0;
  virtual void blank() const = 0;  // Other inputs: zeros.
  virtual void close() const = 0;
  virtual bool untouched() const = 0;  // Since prepare().
  virtual std::string trouble() const = 0;
};

enum class Use { kGiven, kWritten, kLent };

// Device memory of its own, which ends after the last element of an array that
// is only read; words that must stay as they are stand around any other.
template <class T>
class Array : public Memory {
 public:
  Array(Use use, std::string name, int64_t offset, const std::vector<T>& before,
        std::vector<T> after, Judge<T> judge)
      : use_(use),
        name_(std::move(name)),
        begin_((use == Use::kGiven ? 0 : kGuards) + offset),
        end_(begin_ + std::ssize(before)),
        before_(end_ + (use == Use::kGiven ? 0 : kGuards),
                of_bytes<T>(kAround)),
        after_(std::move(after)),
        judge_(std::move(judge)),
        device_(std::ssize(before_)) {
    std::copy(before.begin(), before.end(), before_.begin() + begin_);
  }

  T* data() const { return device_.data() + begin_; }

  void prepare() override {
    CUDA_CHECK(cudaMemcpy(device_.data(), before_.data(),
                          before_.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  void blank() const override {
    if (use_ == Use::kGiven)
      CUDA_CHECK(cudaMemset(device_.data(), 0, before_.size() * sizeof(T)));
  }
  void close() const override {
    if (use_ == Use::kGiven) simt::make_read_only(device_.data());
  }
  bool untouched() const override {
    const std::vector<T> now = device_.to_host();
    return std::memcmp(now.data(), before_.data(), now.size() * sizeof(T)) == 0;
  }
  std::string trouble() const override {
    const std::vector<T> now = device_.to_host();
    std::string lines;
    int64_t wrong = 0;
    for (int64_t i = 0; i < std::ssize(now); ++i) {
      if (!is_right(i, now[i]) && ++wrong <= kShown) lines += line(i, now[i]);
    }
    return wrong ? std::to_string(wrong) + " wrong" + lines : "";
  }

 private:
  static constexpr int64_t kGuards = 256 / sizeof(T);
  static constexpr int kShown = 5;

  bool is_result(int64_t i) const {
    return use_ != Use::kGiven && begin_ <= i && i < end_;
  }
  bool is_right(int64_t i, const T& got) const {
    if (!is_result(i)) return same_bytes(before_[i], got);
    return use_ == Use::kLent ||
           judge_.allows(i - begin_, after_[i - begin_], got);
  }
  std::string line(int64_t i, const T& got) const {
    return "\n  " + name_ + "[" + std::to_string(i - begin_) + "] expected " +
           (is_result(i) ? judge_.print(after_[i - begin_])
                         : "to be left alone") +
           ", got " + judge_.print(got) +
           (is_result(i) && same_bytes(got, before_[i]) ? ", as before the call"
                                                        : "");
  }

  const Use use_;
  const std::string name_;
  const int64_t begin_, end_;
  std::vector<T> before_;  // The guards, too.
  const std::vector<T> after_;
  const Judge<T> judge_;
  const DeviceArray<T> device_;
};

// How many elements past a 256-byte boundary the arrays of a call start, in
// the order in which the call names them; 0 for those after the last.
using Offsets = std::vector<int64_t>;

// One call: its arrays, each in memory of its own, and what must be in them
// afterwards.
class Call {
 public:
  Call(std::string size, Offsets offsets)
      : what_(std::move(size)), offsets_(std::move(offsets)) {}

  template <class T>
  const T* reads(const std::string& name, const std::vector<T>& values) {
    return add<T>(Use::kGiven, name, values, {});
  }
  template <class T>
  T* writes(const std::string& name, const std::vector<T>& expected,
            Judge<T> judge = {}) {
    const std::vector<T> before(expected.size(), of_bytes<T>(kAround));
    return add<T>(Use::kWritten, name, before, expected, std::move(judge));
  }
  template <class T>
  T* updates(const std::string& name, const std::vector<T>& before,
             const std::vector<T>& expected, Judge<T> judge = {}) {
    return add<T>(Use::kWritten, name, before, expected, std::move(judge));
  }
  template <class T>
  T* borrows(const std::string& name, int64_t n) {
    const std::vector<T> before(n, of_bytes<T>(kLent));
    return add<T>(Use::kLent, name, before, {});
  }
  void is(std::function<void(cudaStream_t)> launch) {
    launch_ = std::move(launch);
  }

  void prepare() const {
    for (const auto& array : arrays_) array->prepare();
  }
  void launch(cudaStream_t stream) const { launch_(stream); }
  void blank() const {
    for (const auto& array : arrays_) array->blank();
  }
  void close() const {
    for (const auto& array : arrays_) array->close();
  }
  bool untouched() const {
    return std::all_of(arrays_.begin(), arrays_.end(),
                       [](const auto& array) { return array->untouched(); });
  }
  // The first array that is not as it must be, or nothing.
  std::string trouble() const {
    for (const auto& array : arrays_) {
      const std::string found = array->trouble();
      if (!found.empty()) return what_ + ": " + found;
    }
    return "";
  }

 private:
  template <class T>
  T* add(Use use, const std::string& name, const std::vector<T>& before,
         const std::vector<T>& after, Judge<T> judge = {}) {
    const size_t k = arrays_.size();
    const int64_t offset = k < offsets_.size() ? offsets_[k] : 0;
    if (offset > 0)
      what_ += ", " + name + " at offset " + std::to_string(offset);
    auto array = std::make_unique<Array<T>>(use, name, offset, before, after,
                                            std::move(judge));
    T* data = array->data();
    arrays_.push_back(std::move(array));
    return data;
  }

  std::string what_;
  Offsets offsets_;
  std::vector<std::unique_ptr<Memory>> arrays_;
  std::function<void(cudaStream_t)> launch_;
};

class Calls {
 public:
  Calls() = default;
  explicit Calls(Call one) { add(std::move(one)); }
  void add(Call call) { calls_.push_back(std::move(call)); }

  void prepare() const {
    for (const Call& call : calls_) call.prepare();
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) call.launch(stream);
  }
  void blank() const {
    for (const Call& call : calls_) call.blank();
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  void close() const {
    for (const Call& call : calls_) call.close();
  }
  bool untouched() const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const Call& call) { return call.untouched(); });
  }
  // Tells of the first call that left something wrong.
  void check() const {
    for (const Call& call : calls_) {
      const std::string trouble = call.trouble();
      if (trouble.empty()) continue;
      FAIL_CHECK(trouble);
      return;
    }
  }

 private:
  std::vector<Call> calls_;
};

inline void run_and_check(const Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

inline void run_and_check(Call call) { run_and_check(Calls(std::move(call))); }

// The same call where packs can be used and where they cannot: make(offsets).
template <class Make>
void check_both_ways(Make make) {
  run_and_check(make(Offsets{}));
  run_and_check(make(Offsets{1, 1, 1, 1}));
}

// A function of a contract, as far as all are alike. A Size is a number of
// elements, or more where one number does not tell.
template <class Size = int64_t>
struct Contract {
  std::string name;
  std::vector<Size> sizes;                    // Where something may end.
  std::function<Size(int64_t)> size_of;       // Of about so many elements.
  std::function<Call(Size, Offsets)> random;  // A call on random elements.
  int64_t pack = 4;            // A thread may take so many elements at once.
  int64_t length = 1'000'003;  // So many are long.

  Call long_one(Offsets offsets = {}) const {
    return random(size_of(length), std::move(offsets));
  }
};

// Where a pack, a warp, a block or a tile ends.
inline const std::vector<int64_t> kLengths = {
    0,    1,    2,    3,    4,    5,    7,    8,    9,    15,
    16,   17,   31,   32,   33,   63,   64,   65,   127,  128,
    129,  255,  256,  257,  511,  512,  513,  999,  1023, 1024,
    1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193};

// An array of n elements is all there is to say.
inline Contract<> of_length(std::string name,
                            std::function<Call(int64_t, Offsets)> random,
                            int64_t pack = 4) {
  return {std::move(name), lengths(kLengths), [](int64_t n) { return n; },
          std::move(random), pack};
}

// One call of a size, with all of its arrays off by as much.
template <class Size>
void run_and_check(const Contract<Size>& contract, Size size, int64_t offset) {
  run_and_check(contract.random(size, Offsets(4, offset)));
}

inline std::string length(int64_t n) { return "n = " + std::to_string(n); }

template <class Size>
void check_every_size(const Contract<Size>& contract) {
  for (const Size& size : contract.sizes)
    run_and_check(contract.random(size, {}));
  run_and_check(contract.long_one());
}

// All pairs of the first two arrays' offsets; any of the others'.
template <class Size>
void check_every_offset(const Contract<Size>& contract) {
  const int64_t most = std::max<int64_t>(8, contract.pack);
  std::mt19937 bits(seed() + 5);
  const auto any = [&] { return static_cast<int64_t>(bits() % most); };
  const int64_t sizes = std::ssize(contract.sizes);
  int64_t which = 0;
  for (int64_t first = 0; first < most; ++first) {
    for (int64_t second = 0; second < most; ++second) {
      Calls calls;
      for (int k = 0; k < 4; ++k) {
        const Size& size = contract.sizes[which++ % sizes];
        calls.add(contract.random(size, {first, second, any(), any()}));
      }
      run_and_check(calls);
    }
  }
  for (const Offsets& offsets : {Offsets{1, 1, 1, 1}, Offsets{0, 3, 1},
                                 Offsets{2, 0, 4}, Offsets{8, 16, 8}})
    run_and_check(contract.long_one(offsets));
}

// For a while, the executor looks for no races, which shorter arrays have
// shown.
struct Hurry {
  const Setting setting{"SIMT_CHECKS", "off"};
};

// A grid may be capped, and a thread may have a pack.
template <class Size>
void check_more_than_a_grid(const Contract<Size>& contract) {
  const SmallGpu gpu;
  const Hurry hurry;
  for (const auto& [each, offset] :
       {std::pair{contract.pack, int64_t{0}}, {1, 1}}) {
    const int64_t n = gpu.more_than_a_grid(each);
    run_and_check(contract.random(contract.size_of(n), {offset, offset}));
  }
}

template <class Size>
void check_two_streams(const Contract<Size>& contract) {
  Calls of_one, of_two;
  const Size size = contract.size_of(65'537);
  for (int64_t offset = 0; offset < 4; ++offset) {
    of_one.add(contract.random(size, {0, offset}));
    of_two.add(contract.random(size, {offset, 0}));
  }
  check_side_by_side(of_one, of_two);
}

template <class Size>
Call one_call(const Contract<Size>& contract, int64_t n) {
  return contract.random(contract.size_of(n), {1, 1, 1, 1});
}

// Calls that are made again and again before somebody looks. What is updated in
// place is another number after each of them, so one more is checked.
struct Repeated : Calls {
  using Calls::Calls;
  void check() const { run_and_check(*this); }
};

template <class Size>
void check_gives_back(const Contract<Size>& contract) {
  const Repeated calls(one_call(contract, 20'001));
  check_gives_back(calls, contract.name + "()");
}

template <class Size>
void check_queueing(const Contract<Size>& contract) {
  const Calls calls(one_call(contract, contract.length));
  check_queueing(calls, contract.name + "()");
}

template <class Size>
void check_gpu_works(const Contract<Size>& contract) {
  const Calls calls(one_call(contract, 5000));
  check_gpu_works(calls, contract.name + "()");
}

template <class Size>
void check_inputs_are_read_only(const Contract<Size>& contract) {
  if (is_left_to_the_executor()) return;
  Calls calls;
  for (const Size& size : contract.sizes) {
    calls.add(contract.random(size, {}));
    calls.add(contract.random(size, {1, 1, 1, 1}));
  }
  check_inputs_are_read_only(calls);
}

}  // namespace contract
