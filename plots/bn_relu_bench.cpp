// How BatchNorm, addition and ReLU are measured, forward and backward:
// whichever bn_relu() and bn_relu_backward() they are linked with, beside a
// copy.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "common/harness/bench.h"
#include "common/relu_mask.h"
#include "plots/bn_relu_shapes.h"

namespace {

constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

// So many arrays of n floats, and a bit per element.
int64_t bytes_of(int64_t n, int arrays) {
  return arrays * n * kFloat +
         mask_words(n) * static_cast<int64_t>(sizeof(uint32_t));
}

const std::vector<float>& dy_values() {
  static const std::vector<float> values = [] {
    std::vector<float> dy(random_floats().size());
    std::mt19937 random(2027);
    for (float& v : dy) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
    return dy;
  }();
  return values;
}

double x_at(int64_t i) {
  return random_floats()[i % std::ssize(random_floats())];
}
double dy_at(int64_t i) { return dy_values()[i % std::ssize(dy_values())]; }

// The mask backward gets: that of x itself.
double g_at(int64_t i) { return x_at(i) > 0 ? dy_at(i) : 0; }

// The mask of x from its beginning on, until the same words come again. A slot
// begins with a word.
const std::vector<uint32_t>& words_of_x() {
  static const std::vector<uint32_t> words = [] {
    std::vector<uint32_t> bits(random_floats().size());
    for (int64_t i = 0; i < 32 * std::ssize(bits); ++i)
      bits[i / 32] |= uint32_t{x_at(i) > 0} << (i % 32);
    return bits;
  }();
  return words;
}

// The sums of a term of the first m elements, which repeat for ever.
class Prefixes {
 public:
  explicit Prefixes(double (*term)(int64_t)) {
    double sum = 0;
    for (int64_t i = 0; i < std::ssize(random_floats()); ++i) {
      sums_.push_back(sum);
      sum += term(i);
    }
    period_ = sum;
  }
  double operator()(int64_t m) const {
    const auto length = static_cast<int64_t>(sums_.size());
    return static_cast<double>(m / length) * period_ + sums_[m % length];
  }

 private:
  std::vector<double> sums_;
  double period_ = 0;
};

// The means of a term over each channel of images that begin at `start`.
std::vector<double> means(const BnRelu& what, int64_t start,
                          const Prefixes& sums) {
  std::vector<double> found(what.channels);
  const int64_t row = what.height * what.width;
  for (int64_t r = 0; r < what.images * what.channels; ++r)
    found[r % what.channels] +=
        sums(start + (r + 1) * row) - sums(start + r * row);
  for (double& mean : found) mean /= static_cast<double>(what.images * row);
  return found;
}

struct Channels {
  std::vector<double> mean, inverse;
};

Channels channels_of(const BnRelu& what, int64_t start) {
  static const Prefixes first(x_at);
  static const Prefixes second([](int64_t i) { return x_at(i) * x_at(i); });
  Channels all = {means(what, start, first), means(what, start, second)};
  for (int64_t c = 0; c < what.channels; ++c) {
    const double variance = all.inverse[c] - all.mean[c] * all.mean[c];
    all.inverse[c] = 1 / std::sqrt(variance + what.epsilon);
  }
  return all;
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// The whole of a small array, and of a large one some places.
template <class T, class See>
void each(const T* values, int64_t n, See see) {
  constexpr int64_t kPart = 1 << 11, kPlaces = 16;
  const int64_t step = n <= kPart * kPlaces ? kPart : n / kPlaces / 32 * 32;
  std::vector<T> part(kPart);
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t count = std::min(kPart, n - begin);
    CUDA_CHECK(cudaMemcpy(part.data(), values + begin, count * sizeof(T),
                          cudaMemcpyDeviceToHost));
    for (int64_t k = 0; k < count; ++k) see(begin + k, part[k]);
  }
}

void expect(bool right, int64_t n, int64_t i) {
  if (right) return;
  std::fprintf(stderr,
               "Wrong while measuring: n = %lld, element %lld. Nothing is "
               "timed that is wrong.\n",
               static_cast<long long>(n), static_cast<long long>(i));
  std::exit(EXIT_FAILURE);
}

bool is_near(double expected, double got) {
  return std::fabs(expected - got) <= 1e-4 * (1 + std::fabs(expected));
}

float gamma_of(int64_t c) { return 0.5f + static_cast<float>(c % 8) / 8; }
float beta_of(int64_t c) { return 0.25f - static_cast<float>(c % 4) / 8; }

std::vector<float> of_channels(const BnRelu& what, float (*f)(int64_t)) {
  std::vector<float> values;
  for (int64_t c = 0; c < what.channels; ++c) values.push_back(f(c));
  return values;
}

// Arrays that both directions have. x begins `offset` floats too far.
class Images : public Work {
 protected:
  Images(int64_t n, int64_t slots, int64_t offset, bool adds)
      : n_(n),
        adds_(adds),
        what_(images_of(n)),
        x_(n, slots, offset),
        other_(n, slots, offset),
        out_(n, slots, offset),
        second_(adds ? n : 1, slots, adds ? offset : 0),
        mask_(mask_words(n), slots),
        gamma_(what_.channels, slots),
        of_channels_(4 * what_.channels, slots),
        scratch_(bn_relu_scratch_floats(what_), slots) {
    x_.fill(random_floats());
    gamma_.fill(padded(of_channels(what_, gamma_of)));
    scratch_.fill({0.f});
  }
  // A slot of an array of channels begins at a line of 256 bytes.
  static std::vector<float> padded(std::vector<float> values) {
    values.resize((values.size() + 63) / 64 * 64);
    return values;
  }
  float* channels(int64_t slot, int which) const {
    return of_channels_[slot] + which * what_.channels;
  }
  void set_channels(int64_t slot, int which, const std::vector<float>& values) {
    CUDA_CHECK(cudaMemcpy(channels(slot, which), values.data(),
                          values.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
  }
  int64_t channel(int64_t i) const { return i / what_.width % what_.channels; }

  int64_t n_;
  bool adds_;
  BnRelu what_;
  Slots<float> x_, other_, out_, second_;
  Slots<uint32_t> mask_;
  Slots<float> gamma_, of_channels_, scratch_;
};

// The addend is `other_`.
class Forward : public Images {
 public:
  Forward(int64_t n, int64_t slots, int64_t offset, bool adds)
      : Images(n, slots, offset, adds),
        beta_(what_.channels, slots),
        running_(2 * what_.channels, slots) {
    other_.fill(dy_values());
    beta_.fill(padded(of_channels(what_, beta_of)));
    running_.fill({0.f});
  }
  void call(int64_t slot, cudaStream_t stream) override {
    bn_relu(what_,
            {x_[slot], adds_ ? other_[slot] : nullptr, gamma_[slot],
             beta_[slot], running_[slot], running_[slot] + what_.channels,
             channels(slot, 0), channels(slot, 1), out_[slot], mask_[slot]},
            scratch_[slot], stream);
  }
  void poison() override {
    out_.poison();
    mask_.poison();
  }
  void check(int64_t slot) override {
    const int64_t start = x_.start(slot);
    const Channels of = channels_of(what_, start);
    std::vector<uint32_t> bits(mask_words(n_));
    std::vector<bool> seen(mask_words(n_));
    each(out_[slot], n_, [&](int64_t i, float got) {
      const int64_t c = channel(i);
      const double v =
          (x_at(start + i) - of.mean[c]) * of.inverse[c] * gamma_of(c) +
          beta_of(c) + (adds_ ? dy_at(start + i) : 0);
      expect(is_near(std::max(v, 0.), got), n_, i);
      bits[i / 32] |= uint32_t{got > 0} << (i % 32);
      seen[i / 32] = true;
    });
    each(mask_[slot], mask_words(n_), [&](int64_t w, uint32_t got) {
      expect(!seen[w] || got == bits[w], n_, 32 * w);
    });
  }

 private:
  Slots<float> beta_, running_;
};

// dy is `other_`, and d_addend `second_`.
class Backward : public Images {
 public:
  Backward(int64_t n, int64_t slots, int64_t offset, bool adds)
      : Images(n, slots, offset, adds) {
    other_.fill(dy_values());
    for (int64_t slot = 0; slot < slots; ++slot) prepare(slot);
  }
  void call(int64_t slot, cudaStream_t stream) override {
    bn_relu_backward(
        what_,
        {other_[slot], mask_[slot], x_[slot], gamma_[slot], channels(slot, 0),
         channels(slot, 1), out_[slot], adds_ ? second_[slot] : nullptr,
         channels(slot, 2), channels(slot, 3)},
        scratch_[slot], stream);
  }
  void poison() override {
    out_.poison();
    second_.poison();
  }
  void check(int64_t slot) override {
    static const Prefixes sums_g(g_at);
    static const Prefixes sums_gx([](int64_t i) { return g_at(i) * x_at(i); });
    const int64_t start = x_.start(slot);
    const Channels of = channels_of(what_, start);
    const std::vector<double> g = means(what_, start, sums_g);
    const std::vector<double> gx = means(what_, start, sums_gx);
    each(out_[slot], n_, [&](int64_t i, float got) {
      const int64_t c = channel(i);
      const double away = (x_at(start + i) - of.mean[c]) * of.inverse[c];
      const double slope = (gx[c] - of.mean[c] * g[c]) * of.inverse[c];
      const double dx =
          gamma_of(c) * of.inverse[c] * (g_at(start + i) - g[c] - away * slope);
      expect(is_near(dx, got), n_, i);
    });
    if (!adds_) return;
    each(second_[slot], n_,
         [&](int64_t i, float got) { expect(got == g_at(start + i), n_, i); });
  }

 private:
  void prepare(int64_t slot) {
    const int64_t start = x_.start(slot);
    const Channels of = channels_of(what_, start);
    set_channels(slot, 0, floats(of.mean));
    set_channels(slot, 1, floats(of.inverse));
    const auto length = static_cast<int64_t>(words_of_x().size());
    std::vector<uint32_t> words(mask_words(n_));
    for (int64_t w = 0; w < std::ssize(words); ++w)
      words[w] = words_of_x()[(start / 32 + w) % length];
    CUDA_CHECK(cudaMemcpy(mask_[slot], words.data(),
                          words.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice));
  }
};

template <class Direction>
void add(const char* series, int64_t n, int arrays, bool adds,
         int64_t offset = 0) {
  add_benchmark(series, n, bytes_of(n, arrays), [=](int64_t slots) {
    return std::make_unique<Direction>(n, slots, offset, adds);
  });
}

}  // namespace

void add_benchmarks() {
  const std::vector<int64_t> sizes = bench_sizes(5 * sizeof(float));
  for (const int64_t n : sizes) {
    add_copy(n, bytes_of(n, 2));
    add<Forward>("bn_relu", n, 2, false);
  }
  for (const int64_t n : sizes) add<Backward>("bn_relu backward", n, 3, false);
  // What reading x once more costs at least.
  for (const int64_t n : sizes)
    add_copy(n, bytes_of(n, 3), "bn_relu copy of 12 bytes an element");
  for (const int64_t n : sizes) {
    if (n < 1 << 20) continue;
    add<Forward>("bn_relu with an addend", n, 3, true);
    add<Backward>("bn_relu with an addend backward", n, 4, true);
    add<Forward>("bn_relu misaligned by one element", n, 2, false, 1);
  }
}
