// What every bn_relu(), bn_relu_inference() and bn_relu_backward() must do,
// whichever file defines them, beside a reference in float64.
#include "common/bn_relu.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "common/relu_mask.h"
#include "tests/bn_relu_pytorch.h"
#include "tests/masks.h"

namespace {

using namespace contract;

using Bits16 = std::vector<uint16_t>;
using Doubles = std::vector<double>;

// ---- Elements ---------------------------------------------------------------

uint16_t encoded(Element element, float v) {
  return element == Element::kHalf
             ? std::bit_cast<uint16_t>(__float2half_rn(v))
             : std::bit_cast<uint16_t>(__float2bfloat16(v));
}
float decoded(Element element, uint16_t bits) {
  return element == Element::kHalf
             ? __half2float(std::bit_cast<__half>(bits))
             : __bfloat162float(std::bit_cast<__nv_bfloat16>(bits));
}
float rounded(Element element, float v) {
  if (element == Element::kFloat) return v;
  return decoded(element, encoded(element, v));
}
Floats rounded(Element element, Floats values) {
  for (float& v : values) v = rounded(element, v);
  return values;
}
Bits16 encoded(Element element, const Floats& values) {
  Bits16 bits;
  for (const float v : values) bits.push_back(encoded(element, v));
  return bits;
}

// Half of the distance between 1 and the next number.
double unit(Element element) {
  if (element == Element::kFloat) return 0x1p-24;
  return element == Element::kHalf ? 0x1p-11 : 0x1p-8;
}

// ---- What a call is asked ---------------------------------------------------

struct Size {
  int64_t images, channels, height, width;
  bool channels_last = false;
  Element element = Element::kFloat;
  bool relu = true, addend = false;
  float epsilon = 1e-5f;

  BnRelu what() const {
    return {images,  channels, height,  width, channels_last,
            element, relu,     epsilon, 0.1f};
  }
  int64_t of_each() const { return images * height * width; }
  int64_t n() const { return of_each() * channels; }
  int64_t channel(int64_t i) const {
    return channels_last ? i % channels : i / (height * width) % channels;
  }
};

std::string text(const Size& s) {
  const char* const names[] = {"float", "half", "bfloat16"};
  std::string line;
  for (const int64_t v : {s.images, s.channels, s.height, s.width})
    line += std::to_string(v) + " x ";
  line.resize(line.size() - 3);
  if (s.channels_last) line += ", channels last";
  line += std::string(", ") + names[static_cast<int>(s.element)];
  return line + (s.addend ? ", addend" : "") + (s.relu ? ", ReLU" : "");
}

// A number and how far from it a result may be. NaN has to be NaN, and what is
// only said not to be finite has the slack of kNotFinite.
constexpr double kNotFinite = -1;
struct Near {
  double value = 0, slack = 0;

  bool allows(double got) const {
    if (slack == kNotFinite) return !std::isfinite(got);
    if (std::isnan(value)) return std::isnan(got);
    return got == value || std::fabs(got - value) <= slack;
  }
};
using Nears = std::vector<Near>;

Judge<float> near(const Nears& expected) {
  return {.allows = [expected](int64_t i, float, float got) {
    return expected[i].allows(got);
  }};
}

Floats values_of(const Nears& expected) {
  Floats values;
  for (const Near& one : expected)
    values.push_back(static_cast<float>(one.value));
  return values;
}

// ---- Arrays of a call, of elements or of floats -----------------------------

const void* reads(Call& call, const std::string& name, Element element,
                  const Floats& values) {
  if (element == Element::kFloat) return call.reads(name, values);
  return call.reads(name, encoded(element, values));
}

// With `before`, what is there as the call begins.
void* writes(Call& call, const std::string& name, Element element,
             const Nears& expected, const Floats* before = nullptr) {
  const Floats values = values_of(expected);
  if (element == Element::kFloat)
    return before ? call.updates(name, *before, values, near(expected))
                  : call.writes(name, values, near(expected));
  const Judge<uint16_t> judge = {
      .allows =
          [=](int64_t i, uint16_t, uint16_t got) {
            return expected[i].allows(decoded(element, got));
          },
      .print = [=](uint16_t v) { return contract::text(decoded(element, v)); }};
  const Bits16 after = encoded(element, values);
  return before ? call.updates(name, encoded(element, *before), after, judge)
                : call.writes(name, after, judge);
}

float* updates(Call& call, const std::string& name, const Floats& before,
               const Nears& after) {
  return call.updates(name, before, values_of(after), near(after));
}
float* writes(Call& call, const std::string& name, const Nears& after) {
  return call.writes(name, values_of(after), near(after));
}

// Zeros, as the contract asks; what a call leaves there is its own.
float* lends(Call& call, const BnRelu& what) {
  const Floats zeros(bn_relu_scratch_floats(what));
  return call.updates("scratch", zeros, zeros,
                      {.allows = [](int64_t, float, float) { return true; }});
}

// ---- What must come out -----------------------------------------------------

struct Input {
  Floats x, addend, gamma, beta, running_mean, running_variance;
};

struct Channel {
  double mean = 0, variance = 0, range = 0;
  bool finite = true;

  double mean_slack() const {
    return 0x1p-24 * std::fabs(mean) + 0x1p-20 * range;
  }
  double variance_slack() const {
    return 0x1p-18 * range * std::sqrt(variance);
  }
  double inverse(double epsilon) const {
    return 1 / std::sqrt(variance + epsilon);
  }
  double inverse_slack(double epsilon) const {
    const double least = std::max(0., variance - variance_slack());
    const double most = 1 / std::sqrt(least + epsilon);
    return most - inverse(epsilon) + 0x1p-22 * most;
  }
};

std::vector<Channel> channels_of(const Size& size, const Floats& x) {
  std::vector<Channel> all(size.channels);
  Doubles low(size.channels, HUGE_VAL), high(size.channels, -HUGE_VAL);
  std::vector<long double> sums(size.channels), squares(size.channels);
  const auto m = static_cast<long double>(size.of_each());
  for (int64_t i = 0; i < size.n(); ++i) {
    const int64_t c = size.channel(i);
    all[c].finite = all[c].finite && std::isfinite(x[i]);
    sums[c] += x[i];
    low[c] = std::min<double>(low[c], x[i]);
    high[c] = std::max<double>(high[c], x[i]);
  }
  for (int64_t i = 0; i < size.n(); ++i) {
    const int64_t c = size.channel(i);
    squares[c] += (x[i] - sums[c] / m) * (x[i] - sums[c] / m);
  }
  for (int64_t c = 0; c < size.channels && m > 0; ++c) {
    all[c].mean = static_cast<double>(sums[c] / m);
    all[c].variance = static_cast<double>(squares[c] / m);
    all[c].range = high[c] - low[c];
  }
  return all;
}

struct Output {
  Nears y;
  Words mask, unsure;  // Bits of results that may be 0 or not.
};

// What becomes of x with these statistics, which may be off by their slack.
Output normalised(const Size& size, const Input& in,
                  const std::vector<Channel>& channels, bool are_exact) {
  Output out;
  out.mask.resize(mask_words(size.n()));
  out.unsure.resize(out.mask.size());
  const double u = unit(size.element);
  for (int64_t i = 0; i < size.n(); ++i) {
    const int64_t c = size.channel(i);
    const Channel& of = channels[c];
    const double inverse = of.inverse(size.epsilon);
    const double away = in.x[i] - of.mean;
    const double addend = size.addend ? in.addend[i] : 0;
    const double scaled = away * inverse * in.gamma[c];
    const double z = scaled + in.beta[c], v = z + addend;
    double slack = 0x1p-21 * (std::fabs(scaled) + std::fabs(in.beta[c]) +
                              std::fabs(addend));
    if (!are_exact)
      slack += std::fabs(in.gamma[c]) *
               (std::fabs(away) * of.inverse_slack(size.epsilon) +
                (inverse + of.inverse_slack(size.epsilon)) * of.mean_slack());
    slack += u * (std::fabs(z) + std::fabs(v) + 2 * slack) + 0x1p-24;
    const double value = !of.finite            ? std::nan("")
                         : size.relu && v <= 0 ? 0
                                               : v;
    out.y.push_back({value, slack});
    const uint32_t bit = 1u << (i % 32);
    if (value > 0) out.mask[i / 32] |= bit;
    if (std::fabs(v) <= slack) out.unsure[i / 32] |= bit;
  }
  return out;
}

// ---- Calls ------------------------------------------------------------------

Floats of_channels(const Size& size, float low, float high) {
  return random(size.channels, low, high);
}

// Each channel with a mean and a spread of its own.
Input random_input(const Size& size) {
  Input in;
  const Floats center = of_channels(size, -3, 3);
  const Floats spread = of_channels(size, 0.5f, 4);
  in.x = random(size.n());
  for (int64_t i = 0; i < size.n(); ++i)
    in.x[i] = center[size.channel(i)] + spread[size.channel(i)] * in.x[i];
  in.x = rounded(size.element, in.x);
  in.addend = rounded(size.element, random(size.n(), -2, 2));
  in.gamma = of_channels(size, -2, 2);
  in.beta = of_channels(size, -1, 1);
  in.running_mean = of_channels(size, -3, 3);
  in.running_variance = of_channels(size, 0.5f, 3);
  return in;
}

// Running statistics after a call with that momentum.
Nears moved(const Floats& before, const Nears& now, float momentum) {
  Nears after;
  for (size_t c = 0; c < before.size(); ++c) {
    const double value = before[c] + momentum * (now[c].value - before[c]);
    if (now[c].slack == kNotFinite) {
      after.push_back({0, kNotFinite});
      continue;
    }
    after.push_back(
        {value, momentum * now[c].slack + 0x1p-22 * (std::fabs(before[c]) +
                                                     std::fabs(now[c].value))});
  }
  return after;
}

Near finite_or(const Channel& of, double value, double slack) {
  return of.finite ? Near{value, slack} : Near{0, kNotFinite};
}

// What a forward call leaves of the channels.
struct Statistics {
  Nears means, unbiased, inverses;
};

Statistics statistics_of(const Size& size,
                         const std::vector<Channel>& channels) {
  Statistics found;
  for (const Channel& of : channels) {
    const auto m = static_cast<double>(size.of_each());
    const double factor = m > 1 ? m / (m - 1) : 0;
    found.means.push_back(finite_or(of, of.mean, of.mean_slack()));
    found.unbiased.push_back(
        finite_or(of, of.variance * factor, of.variance_slack() * factor));
    found.inverses.push_back(finite_or(of, of.inverse(size.epsilon),
                                       of.inverse_slack(size.epsilon)));
  }
  return found;
}

// Those that inference takes as they are.
std::vector<Channel> running_channels(const Input& in) {
  std::vector<Channel> channels(in.running_mean.size());
  for (size_t c = 0; c < channels.size(); ++c)
    channels[c] = {in.running_mean[c], in.running_variance[c]};
  return channels;
}

Call forward(const Size& size, const Input& in, Offsets offsets = {},
             bool in_place = false) {
  const std::vector<Channel> channels = channels_of(size, in.x);
  const auto& [means, unbiased, inverses] = statistics_of(size, channels);
  const Output out = normalised(size, in, channels, false);
  const BnRelu what = size.what();
  const float momentum = size.n() > 0 ? what.momentum : 0;

  Call call(text(size) + (in_place ? ", in place" : ""), std::move(offsets));
  BnReluForward at = {};
  at.x = reads(call, "x", size.element, in.x);
  at.y =
      writes(call, "y", size.element, out.y, in_place ? &in.addend : nullptr);
  if (size.addend)
    at.addend =
        in_place ? at.y : reads(call, "addend", size.element, in.addend);
  at.gamma = call.reads("gamma", in.gamma);
  at.beta = call.reads("beta", in.beta);
  at.running_mean = updates(call, "running mean", in.running_mean,
                            moved(in.running_mean, means, momentum));
  at.running_variance = updates(call, "running variance", in.running_variance,
                                moved(in.running_variance, unbiased, momentum));
  at.mean = writes(call, "mean", means);
  at.inverse_deviation = writes(call, "inverse deviation", inverses);
  if (size.relu)
    at.mask = call.writes<uint32_t>(
        "mask", out.mask,
        {.allows = [unsure = out.unsure](int64_t w, uint32_t expected,
                                         uint32_t got) {
          return ((expected ^ got) & ~unsure[w]) == 0;
        }});
  float* const scratch = lends(call, what);
  call.is([=](cudaStream_t stream) { bn_relu(what, at, scratch, stream); });
  return call;
}

Call inference(const Size& size, const Input& in, Offsets offsets = {}) {
  Call call(text(size), std::move(offsets));
  BnReluInference at = {};
  at.x = reads(call, "x", size.element, in.x);
  at.y = writes(call, "y", size.element,
                normalised(size, in, running_channels(in), true).y);
  if (size.addend) at.addend = reads(call, "addend", size.element, in.addend);
  at.gamma = call.reads("gamma", in.gamma);
  at.beta = call.reads("beta", in.beta);
  at.running_mean = call.reads("running mean", in.running_mean);
  at.running_variance = call.reads("running variance", in.running_variance);
  const BnRelu what = size.what();
  call.is([=](cudaStream_t stream) { bn_relu_inference(what, at, stream); });
  return call;
}

struct Slopes {
  Floats dy, x, gamma, mean, inverse;
  Words mask;
};

Slopes random_slopes(const Size& size) {
  const Input in = random_input(size);
  Slopes out = {.dy = rounded(size.element, random(size.n(), -2, 2)),
                .x = in.x,
                .gamma = in.gamma,
                .mean = {},
                .inverse = {},
                .mask = random_mask(size.n())};
  for (const Channel& of : channels_of(size, in.x)) {
    out.mean.push_back(static_cast<float>(of.mean));
    out.inverse.push_back(static_cast<float>(of.inverse(size.epsilon)));
  }
  return out;
}

bool passes(const Size& size, const Slopes& in, int64_t i) {
  return !size.relu || (in.mask[i / 32] >> (i % 32) & 1);
}

struct Gradients {
  Nears dx, gamma, beta;
};

// Of these statistics, which in.mean and in.inverse may have been rounded from.
Gradients gradients_of(const Size& size, const Slopes& in, const Doubles& mean,
                       const Doubles& inverse) {
  const double m = std::max<double>(1, static_cast<double>(size.of_each()));
  Doubles g(size.channels), g_x(size.channels);  // Sums, and of magnitudes:
  Doubles all_g(size.channels), all_g_x(size.channels);
  const auto slope = [&](int64_t i) -> double {
    return passes(size, in, i) ? in.dy[i] : 0;
  };
  const auto away = [&](int64_t i, int64_t c) {
    return (in.x[i] - mean[c]) * inverse[c];
  };
  for (int64_t i = 0; i < size.n(); ++i) {
    const int64_t c = size.channel(i);
    g[c] += slope(i);
    g_x[c] += slope(i) * away(i, c);
    all_g[c] += std::fabs(slope(i));
    all_g_x[c] += std::fabs(slope(i) * away(i, c));
  }
  Gradients out;
  for (int64_t c = 0; c < size.channels; ++c) {
    out.beta.push_back({g[c], 0x1p-18 * all_g[c]});
    out.gamma.push_back({g_x[c], 0x1p-18 * all_g_x[c]});
  }
  for (int64_t i = 0; i < size.n(); ++i) {
    const int64_t c = size.channel(i);
    const double scale = in.gamma[c] * inverse[c];
    const double far = std::fabs(away(i, c));
    const double value =
        scale * (slope(i) - g[c] / m - away(i, c) * g_x[c] / m);
    const double all =
        std::fabs(slope(i)) + (std::fabs(g[c]) + far * std::fabs(g_x[c])) / m;
    const double sums = (out.beta[c].slack + far * out.gamma[c].slack) / m;
    out.dx.push_back({value, std::fabs(scale) * (0x1p-21 * all + sums) +
                                 unit(size.element) * std::fabs(value) +
                                 0x1p-24});
  }
  return out;
}

Gradients gradients_of(const Size& size, const Slopes& in) {
  return gradients_of(size, in, {in.mean.begin(), in.mean.end()},
                      {in.inverse.begin(), in.inverse.end()});
}

// d_addend is dy, bit for bit, or +0.
void* writes_slopes(Call& call, const Size& size, const Slopes& in,
                    bool in_place) {
  Floats after = in.dy;
  for (int64_t i = 0; i < size.n(); ++i)
    if (!passes(size, in, i)) after[i] = 0;
  const std::string name = in_place ? "dy and d_addend" : "d_addend";
  if (size.element == Element::kFloat)
    return in_place ? call.updates(name, in.dy, after, kMoved)
                    : call.writes(name, after, kMoved);
  const Bits16 bits = encoded(size.element, after);
  return in_place ? call.updates(name, encoded(size.element, in.dy), bits)
                  : call.writes(name, bits);
}

Call backward(const Size& size, const Slopes& in, Offsets offsets = {},
              bool in_place = false) {
  const Gradients out = gradients_of(size, in);
  Call call(text(size) + (in_place ? ", in place" : ""), std::move(offsets));
  BnReluBackward at = {};
  if (in_place)
    at.dy = at.d_addend = writes_slopes(call, size, in, true);
  else
    at.dy = reads(call, "dy", size.element, in.dy);
  at.dx = writes(call, "dx", size.element, out.dx);
  at.x = reads(call, "x", size.element, in.x);
  if (size.addend && !in_place)
    at.d_addend = writes_slopes(call, size, in, false);
  if (size.relu) at.mask = call.reads("mask", in.mask);
  at.gamma = call.reads("gamma", in.gamma);
  at.mean = call.reads("mean", in.mean);
  at.inverse_deviation = call.reads("inverse deviation", in.inverse);
  at.d_gamma = writes(call, "d_gamma", out.gamma);
  at.d_beta = writes(call, "d_beta", out.beta);
  const BnRelu what = size.what();
  float* const scratch = lends(call, what);
  call.is([=](cudaStream_t stream) {
    bn_relu_backward(what, at, scratch, stream);
  });
  return call;
}

// ---- Sizes ------------------------------------------------------------------

// Nothing, one of everything, a warp's and a pack's end, long and short rows,
// many channels and few; each in another type, layout and fusion.
std::vector<Size> sizes() {
  std::vector<Size> all;
  const int64_t shapes[][4] = {
      {0, 3, 2, 2},   {2, 0, 2, 2},   {2, 3, 0, 2},   {1, 1, 1, 1},
      {2, 1, 1, 1},   {1, 5, 1, 1},   {2, 3, 1, 1},   {1, 1, 5, 7},
      {1, 2, 4, 4},   {2, 2, 4, 8},   {3, 4, 1, 3},   {2, 8, 3, 3},
      {1, 31, 1, 2},  {2, 32, 2, 2},  {2, 33, 1, 5},  {5, 3, 7, 7},
      {2, 4, 14, 14}, {1, 6, 16, 16}, {3, 70, 2, 3},  {40, 12, 1, 1},
      {64, 8, 1, 1},  {7, 100, 1, 1}, {1, 1, 1, 999}, {2, 1, 33, 65},
      {1, 2, 64, 64}, {1, 300, 3, 4}, {300, 4, 1, 1}, {9, 5, 13, 17},
      {3, 64, 7, 11}, {5, 32, 5, 17}};
  int k = 0;
  for (const auto& [images, channels, height, width] : shapes) {
    for (const bool last : {false, true}) {
      Size size = {images, channels, height, width, last};
      size.element = static_cast<Element>(k % 3);
      size.relu = k / 3 % 3 > 0;
      size.addend = k / 3 % 3 == 2;
      all.push_back(size);
      k += 1;
    }
  }
  return all;
}

// More channels than half of the SMs are for in chapter 16, so more rows than
// its threads keep, and a row that is one of few in its turn.
Size many_channels() {
  cudaDeviceProp gpu;
  CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  const int64_t channels = 32 * (gpu.multiProcessorCount / 2 + 1);
  return {5, channels, 1, 103, true, Element::kFloat, true, true};
}

// More rows of halves than chapter 16's threads keep, so that a block takes
// whole lines of them.
Size more_rows_than_kept() {
  cudaDeviceProp gpu;
  CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  const int64_t kept = int64_t{gpu.multiProcessorCount} * 512 * 8 * 8 / 128;
  return {1, 128, 1, kept + 77, true, Element::kHalf, true, true};
}

// A tile and more for each block that the GPU has room for, even where chapter
// 16's threads have four packs each; and an end in the middle of a pack.
Size many_tiles(Element element) {
  cudaDeviceProp gpu;
  CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  const int64_t tile = 4 * 256 * (element == Element::kFloat ? 4 : 8);
  const int64_t elements = int64_t{gpu.multiProcessorCount} * 4 * tile;
  return {1, 7, 1, elements / 7 + 50, false, element, true, true};
}

// Of about n elements: one that packs fit, and one that they do not.
Size size_of(int64_t n) {
  if (n % 2 == 0) return {2, 32, 1, n / 64, true, Element::kHalf, true, true};
  return {3, 5, 1, n / 15, false, Element::kFloat, true, true};
}

Contract<Size> contract_of(std::string name,
                           std::function<Call(Size, Offsets)> random) {
  Contract<Size> one = {std::move(name), sizes(), size_of, std::move(random)};
  if (simt::make_read_only) one.length = 30'003;  // There it takes long.
  return one;
}

const Contract<Size> kForward =
    contract_of("bn_relu", [](Size size, Offsets offsets) {
      return forward(size, random_input(size), std::move(offsets));
    });
const Contract<Size> kBackward =
    contract_of("bn_relu_backward", [](Size size, Offsets offsets) {
      return backward(size, random_slopes(size), std::move(offsets));
    });
const Contract<Size> kInference =
    contract_of("bn_relu_inference", [](Size size, Offsets offsets) {
      return inference(size, random_input(size), std::move(offsets));
    });

void check_every_shape(const Contract<Size>& contract) {
  // So that few tiles have to take turns already, where there is no GPU.
  const Setting sms("SIMT_SMS", "4");
  check_every_size(contract);
  run_and_check(contract.random(many_channels(), {}));
  run_and_check(contract.random(more_rows_than_kept(), {}));
  run_and_check(contract.random(many_tiles(Element::kFloat), {}));
  run_and_check(contract.random(many_tiles(Element::kHalf), {}));
}

// In each type and layout, and with channels last in a word of the mask.
template <class Check>
void in_every_way(Size size, Check check) {
  const int64_t channels = size.channels;
  for (const Element element :
       {Element::kFloat, Element::kHalf, Element::kBfloat16}) {
    size.element = element;
    for (const int64_t last : {int64_t{0}, channels, int64_t{32}}) {
      size.channels_last = last > 0;
      size.channels = last > 0 ? last : channels;
      check(size);
    }
  }
}

// ---- Calls whose results are looked at together -----------------------------

template <class T>
std::vector<T> as_elements(const Size& size, const Floats& values) {
  if constexpr (std::same_as<T, float>)
    return values;
  else
    return encoded(size.element, values);
}

// One forward call, and what is in its arrays.
template <class T = float>
struct Step {
  Step(const Size& size, const Input& in)
      : x(as_elements<T>(size, in.x)),
        addend(as_elements<T>(size, in.addend)),
        gamma(in.gamma),
        beta(in.beta),
        running_mean(in.running_mean),
        running_variance(in.running_variance),
        mean(size.channels),
        inverse(size.channels),
        y(size.n()),
        mask(mask_words(size.n())),
        scratch(Floats(bn_relu_scratch_floats(size.what()))),
        what(size.what()),
        at{x.data(),
           size.addend ? addend.data() : nullptr,
           gamma.data(),
           beta.data(),
           running_mean.data(),
           running_variance.data(),
           mean.data(),
           inverse.data(),
           y.data(),
           mask.data()} {}
  void run() const {
    CUDA_CHECK(cudaDeviceSynchronize());
    const Stream stream;
    bn_relu(what, at, scratch.data(), stream);
    stream.finish();
  }

  DeviceArray<T> x, addend;
  DeviceArray<float> gamma, beta, running_mean, running_variance;
  DeviceArray<float> mean, inverse;
  DeviceArray<T> y;
  DeviceArray<uint32_t> mask;
  DeviceArray<float> scratch;
  BnRelu what;
  BnReluForward at;
};

// ---- Beside PyTorch ---------------------------------------------------------

// As tests/bn_relu_pytorch.py draws them, and in the same order.
class NumbersOfSeed {
 public:
  explicit NumbersOfSeed(uint32_t seed) : state_(seed) {}

  // Whole numbers from -512 to 511, of each what `of` makes of it.
  template <class Of>
  Floats draw(int64_t n, Of of) {
    Floats values(n);
    for (float& v : values) {
      state_ = state_ * 1664525 + 1013904223;
      v = of(static_cast<float>(state_ >> 22) - 512);
    }
    return values;
  }

 private:
  uint32_t state_;
};

// What inference and then a step of training leave.
struct Results {
  Floats inferred, y, running_mean, running_variance, dx, d_gamma, d_beta;
};

// What was asked of PyTorch, and what it answered.
struct Asked {
  Size size;
  Input in;
  Floats dy;
  Words mask;
  Results theirs;
};

Floats from_digits(Element element, std::string_view digits) {
  const size_t each = element == Element::kFloat ? 8 : 4;
  Floats values;
  for (; !digits.empty(); digits.remove_prefix(each)) {
    uint32_t bits = 0;
    std::from_chars(digits.data(), digits.data() + each, bits, 16);
    values.push_back(each == 8 ? std::bit_cast<float>(bits)
                               : decoded(element, static_cast<uint16_t>(bits)));
  }
  return values;
}

Asked asked(uint32_t seed, const OfPyTorch& of) {
  Asked all;
  all.size = {of.images,        of.channels, of.height, of.width,
              of.channels_last, of.element,  of.relu,   of.addend};
  const int64_t n = all.size.n(), channels = of.channels;
  NumbersOfSeed numbers(seed);
  all.in.x = numbers.draw(n, [](float k) { return k / 128 + 1; });
  all.in.addend = numbers.draw(n, [](float k) { return k / 256; });
  all.dy = numbers.draw(n, [](float k) { return (2 * k + 1) / 512; });
  all.in.gamma = numbers.draw(channels, [](float k) { return k / 256; });
  all.in.beta = numbers.draw(channels, [](float k) { return k / 512; });
  all.in.running_mean = numbers.draw(channels, [](float k) { return k / 256; });
  all.in.running_variance =
      numbers.draw(channels, [](float k) { return (k + 576) / 256; });
  const auto floats = [](const char* digits) {
    return from_digits(Element::kFloat, digits);
  };
  for (const float word : floats(of.passes))
    all.mask.push_back(std::bit_cast<uint32_t>(word));
  all.theirs = {from_digits(of.element, of.inferred),
                from_digits(of.element, of.y),
                floats(of.running_mean),
                floats(of.running_variance),
                from_digits(of.element, of.dx),
                floats(of.d_gamma),
                floats(of.d_beta)};
  return all;
}

template <class T>
Floats as_floats(Element element, const std::vector<T>& values) {
  Floats found;
  for (const T v : values) {
    if constexpr (std::same_as<T, float>)
      found.push_back(v);
    else
      found.push_back(decoded(element, v));
  }
  return found;
}

// Backward goes by PyTorch's bits: another one would move a whole channel.
template <class T>
Results results_of(const Asked& of) {
  const Size& size = of.size;
  const Step<T> step(size, of.in);
  const BnReluForward& at = step.at;
  const DeviceArray<T> inferred(size.n()), dx(size.n()), d_addend(size.n()),
      dy(as_elements<T>(size, of.dy));
  const DeviceArray<uint32_t> mask(of.mask);
  const DeviceArray<float> d_gamma(size.channels), d_beta(size.channels);
  bn_relu_inference(step.what,
                    {at.x, at.addend, at.gamma, at.beta, at.running_mean,
                     at.running_variance, inferred.data()},
                    nullptr);
  step.run();
  bn_relu_backward(
      step.what,
      {dy.data(), mask.data(), at.x, at.gamma, at.mean, at.inverse_deviation,
       dx.data(), d_addend.data(), d_gamma.data(), d_beta.data()},
      step.scratch.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto floats = [&](const DeviceArray<T>& values) {
    return as_floats(size.element, values.to_host());
  };
  Floats selected = of.dy;
  for (int64_t i = 0; i < size.n(); ++i)
    if (!contract::bit(of.mask, i)) selected[i] = 0;
  CHECK(floats(d_addend) == selected);
  return {floats(inferred),
          floats(step.y),
          step.running_mean.to_host(),
          step.running_variance.to_host(),
          floats(dx),
          d_gamma.to_host(),
          d_beta.to_host()};
}

double worst_error(const Nears& exact, const Floats& values) {
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::fabs(values[i] - exact[i].value));
  return worst;
}

// Both add up in float and round the result to its type, in another order: none
// of them should be closer, but of few numbers one has more luck. So twice the
// error of PyTorch's is allowed, besides a rounding of the largest number and a
// 64th of the contract's slack: of a float's sum, a rounding of its terms. What
// PyTorch left has to keep the contract, else it would allow too much.
void check_beside(const std::string& what, Element element, const Nears& exact,
                  const Floats& ours, const Floats& theirs) {
  REQUIRE(ours.size() == exact.size());
  REQUIRE(theirs.size() == exact.size());
  double largest = 0, slack = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    INFO(what, "[", i, "] of PyTorch: ", theirs[i]);
    REQUIRE(exact[i].allows(theirs[i]));
    largest = std::max(largest, std::fabs(exact[i].value));
    slack = std::max(slack, exact[i].slack);
  }
  const double their_error = worst_error(exact, theirs);
  INFO(what, ": PyTorch is off by ", their_error);
  CHECK(worst_error(exact, ours) <=
        2 * their_error + unit(element) * largest + slack / 64);
}

// The loss that has dy as its slope at y, in float64.
double loss_of(const Size& size, const Input& in, const Floats& dy,
               const Doubles& x) {
  double loss = 0;
  for (int64_t c = 0; c < size.channels; ++c) {
    double sum = 0, squares = 0;
    const auto m = static_cast<double>(size.of_each());
    for (int64_t i = 0; i < size.n(); ++i)
      if (size.channel(i) == c) sum += x[i];
    for (int64_t i = 0; i < size.n(); ++i)
      if (size.channel(i) == c) squares += (x[i] - sum / m) * (x[i] - sum / m);
    const double inverse = 1 / std::sqrt(squares / m + size.epsilon);
    for (int64_t i = 0; i < size.n(); ++i) {
      if (size.channel(i) != c) continue;
      const double v = (x[i] - sum / m) * inverse * in.gamma[c] + in.beta[c] +
                       (size.addend ? in.addend[i] : 0);
      loss += dy[i] * (size.relu ? std::max(v, 0.) : v);
    }
  }
  return loss;
}

// Sums of the first m elements of `period`, which repeat for ever.
class Prefixes {
 public:
  template <class Term>
  Prefixes(const Floats& period, Term term) : sums_(1) {
    for (const float v : period) sums_.push_back(sums_.back() + term(v));
  }
  double between(int64_t begin, int64_t end) const {
    return up_to(end) - up_to(begin);
  }

 private:
  double up_to(int64_t m) const {
    return static_cast<double>(m / kPeriod) * sums_.back() + sums_[m % kPeriod];
  }
  Doubles sums_;
};

// The statistics of images that the host never holds whole.
std::vector<Channel> channels_of_period(const Size& size,
                                        const Floats& period) {
  const Prefixes first(period, [](double v) { return v; });
  const Prefixes second(period, [](double v) { return v * v; });
  const int64_t row = size.height * size.width;
  std::vector<Channel> all(size.channels);
  for (int64_t r = 0; r < size.images * size.channels; ++r) {
    Channel& of = all[r % size.channels];
    of.mean += first.between(r * row, (r + 1) * row);
    of.variance += second.between(r * row, (r + 1) * row);
  }
  const auto m = static_cast<double>(size.of_each());
  for (Channel& of : all) {
    of.mean /= m;
    of.variance = of.variance / m - of.mean * of.mean;
  }
  return all;
}

// One bn_relu() of halves that repeat `period`.
void check_large(const Size& size, const Floats& period) {
  const int64_t n = size.n();
  const DeviceArray<uint16_t> x(n), y(n);
  fill(x.data(), n, encoded(size.element, period));
  const DeviceArray<uint32_t> mask(mask_words(n));
  const Floats ones(size.channels, 1.f), zeros(size.channels);
  const DeviceArray<float> gamma(ones), beta(zeros), running_mean(zeros),
      running_variance(ones), mean(zeros), inverse(zeros),
      scratch(Floats(bn_relu_scratch_floats(size.what())));
  bn_relu(size.what(),
          {x.data(), nullptr, gamma.data(), beta.data(), running_mean.data(),
           running_variance.data(), mean.data(), inverse.data(), y.data(),
           mask.data()},
          scratch.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());

  const std::vector<Channel> channels = channels_of_period(size, period);
  const Words words = mask.to_host();
  each(y.data(), n, [&](int64_t i, int64_t phase, uint16_t bits) {
    const Channel& of = channels[size.channel(i)];
    const double v = (period[phase] - of.mean) * of.inverse(size.epsilon);
    const float got = decoded(size.element, bits);
    if (std::fabs(got - std::max(v, 0.)) > 4e-3)
      FAIL(text(size), ": y[", i, "] expected ", v, ", got ", got);
    if ((got > 0) != (words[i / 32] >> (i % 32) & 1))
      FAIL(text(size), ": the bit of y[", i, "] = ", got, " is the other");
  });
}

}  // namespace

void checked_call(const Case& one) {
  const int64_t channels = 64;
  Size size = {1, channels, 1, one.n / channels};
  const Offsets offsets(4, one.offset);
  run_and_check(forward(size, random_input(size), offsets));
  run_and_check(backward(size, random_slopes(size), offsets));
}

TEST_CASE("bn_relu handles every shape") { check_every_shape(kForward); }
TEST_CASE("bn_relu_backward handles every shape") {
  check_every_shape(kBackward);
}
TEST_CASE("bn_relu joins what more blocks than a warp has lanes found" *
          doctest::skip()) {
  const Size many_rows = {3, 32, 1, 705, true, Element::kFloat, true, true};
  run_and_check(kForward.random(many_rows, {}));
  run_and_check(kBackward.random(many_rows, {}));
}
TEST_CASE("bn_relu_inference handles every shape") {
  check_every_size(kInference);
}

TEST_CASE("bn_relu handles every pair of offsets") {
  check_every_offset(kForward);
}
TEST_CASE("bn_relu_backward handles every pair of offsets") {
  check_every_offset(kBackward);
}
TEST_CASE("bn_relu_inference handles every pair of offsets") {
  check_every_offset(kInference);
}

// A sum of squares less the squared mean has no digit left here.
TEST_CASE("bn_relu finds the variance of numbers far from 0") {
  for (const bool last : {false, true}) {
    for (const Size& size :
         {Size{4, 32, 8, 8, last}, Size{16, 3, 7, 7, last}}) {
      Input in = random_input(size);
      for (float& v : in.x) v = 4096 + v / 16;
      run_and_check(forward(size, in));
    }
  }
}

TEST_CASE("bn_relu is not misled by one number far from the others") {
  for (const bool last : {false, true}) {
    const Size size = {2, last ? 32 : 8, 16, 16, last};
    for (const int64_t odd : {int64_t{0}, size.n() / 2, size.n() - 1}) {
      Input in = random_input(size);
      in.x[odd] = 30'000;
      run_and_check(forward(size, in));
    }
  }
}

TEST_CASE("bn_relu adds epsilon where all numbers are equal") {
  in_every_way({2, 4, 8, 8}, [](Size size) {
    size.epsilon = 0.25f;
    Input in = random_input(size);
    in.x.assign(in.x.size(), 3.f);
    run_and_check(forward(size, in));
  });
}

TEST_CASE("bn_relu keeps a NaN or an infinity to its channel") {
  in_every_way({2, 6, 4, 8}, [](Size size) {
    for (const float special : {kNan, kInf, -kInf}) {
      for (const int64_t place : {int64_t{0}, size.n() / 2 + 1}) {
        Input in = random_input(size);
        in.x[place] = special;
        run_and_check(forward(size, in));
      }
    }
  });
}

TEST_CASE("bn_relu passes a NaN of the addend through, and its bit is 0") {
  in_every_way({2, 4, 3, 8}, [](Size size) {
    size.addend = true;
    Input in = random_input(size);
    in.addend =
        rounded(size.element, with(Floats{kNan, kInf, -kInf}, in.addend));
    run_and_check(forward(size, in));
  });
}

TEST_CASE("bn_relu reads an addend that lies where y will be") {
  in_every_way({3, 8, 5, 8}, [](Size size) {
    size.addend = true;
    for (const int64_t offset : {0, 1})
      run_and_check(forward(size, random_input(size), {0, offset}, true));
  });
}

TEST_CASE("bn_relu sets a bit exactly where y is positive, and +0 elsewhere") {
  for (const Size& size :
       {Size{2, 4, 16, 16}, Size{3, 5, 7, 9, true}, Size{3, 32, 5, 7, true}}) {
    Input in = random_input(size);
    in.beta.assign(size.channels, -0.f);
    in.gamma[0] = 0;  // Its results are 0, of either sign before ReLU.
    const Step<> step(size, in);
    step.run();
    const Floats y = step.y.to_host();
    const Words mask = step.mask.to_host();
    for (int64_t i = 0; i < 32 * std::ssize(mask); ++i) {
      const bool bit = mask[i / 32] >> (i % 32) & 1;
      INFO(text(size), ", element ", i);
      REQUIRE(bit == (i < size.n() && y[i] > 0));
      if (i < size.n()) REQUIRE(!std::signbit(y[i]));
    }
  }
}

TEST_CASE("bn_relu tells by y as it was rounded whether it is positive") {
  Size size = {2, 4, 8, 8};
  size.element = Element::kHalf;
  Input in = random_input(size);
  in.gamma.assign(size.channels, 1e-9f);  // No half is so small.
  in.beta.assign(size.channels, 0.f);
  const Step<uint16_t> step(size, in);
  step.run();
  CHECK(step.y.to_host() == Bits16(size.n()));
  CHECK(step.mask.to_host() == Words(mask_words(size.n())));
}

TEST_CASE("bn_relu moves the running statistics with every call") {
  for (const Size& size : {Size{2, 3, 4, 4}, Size{5, 32, 4, 8, true}}) {
    const Input in = random_input(size);
    const Step<> step(size, in);
    const std::vector<Channel> channels = channels_of(size, in.x);
    Doubles mean(in.running_mean.begin(), in.running_mean.end());
    Doubles variance(in.running_variance.begin(), in.running_variance.end());
    for (int call = 0; call < 5; ++call) {
      step.run();
      const Floats got_mean = step.running_mean.to_host();
      const Floats got_variance = step.running_variance.to_host();
      const double m = static_cast<double>(size.of_each());
      for (int64_t c = 0; c < size.channels; ++c) {
        mean[c] += 0.1 * (channels[c].mean - mean[c]);
        variance[c] += 0.1 * (channels[c].variance * m / (m - 1) - variance[c]);
        CHECK(std::fabs(got_mean[c] - mean[c]) < 1e-5);
        CHECK(std::fabs(got_variance[c] - variance[c]) < 1e-5);
      }
    }
  }
}

TEST_CASE("bn_relu gives the same bits in every run") {
  for (const Size& size : {Size{12, 2, 32, 32}, Size{8, 6, 16, 16, true},
                           Size{4, 64, 4, 4}, Size{2, 64, 8, 16, true}}) {
    const Input in = random_input(size);
    const Step<> one(size, in), two(size, in);
    one.run();
    for (int run = 0; run < 3; ++run) {
      two.run();
      CHECK(one.y.to_host() == two.y.to_host());
      CHECK(one.mean.to_host() == two.mean.to_host());
      CHECK(one.inverse.to_host() == two.inverse.to_host());
    }
  }
}

TEST_CASE("bn_relu shares scratch between shapes, one after the other") {
  const Size large = {8, 2, 32, 32}, small = {2, 100, 4, 4};
  const Size last = {2, 64, 16, 16, true}, few = {5, 64, 4, 8, true};
  int64_t most = 0;
  for (const Size& size : {large, small, last, few})
    most = std::max(most, bn_relu_scratch_floats(size.what()));
  const DeviceArray<float> shared((Floats(most)));
  for (const Size& size : {large, small, last, large, few, last}) {
    const Input in = random_input(size);
    const Step<> mine(size, in), other(size, in);
    mine.run();
    bn_relu(other.what, other.at, shared.data(), nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(mine.y.to_host() == other.y.to_host());
  }
}

TEST_CASE("bn_relu_backward obeys each bit") {
  const Size size = {1, 1, 1, 65};
  for (int64_t i = 0; i < 65; ++i) {
    for (const bool one : {true, false}) {
      Slopes in = random_slopes(size);
      in.mask = one ? Words{0, 0, 0} : Words{~0u, ~0u, 1};
      in.mask[i / 32] ^= 1u << (i % 32);
      run_and_check(backward(size, in));
    }
  }
}

TEST_CASE("bn_relu_backward gives 0 where the bit is 0, whatever dy is") {
  in_every_way({2, 4, 8, 8}, [](Size size) {
    size.addend = true;
    Slopes in = random_slopes(size);
    const Floats special = {kInf, -kInf, kNan, -0.f};
    const Floats any = with(special, in.dy);
    for (int64_t i = 0; i < size.n(); ++i)
      if (!passes(size, in, i)) in.dy[i] = rounded(size.element, any[i]);
    for (const int64_t offset : {0, 1})
      run_and_check(backward(size, in, Offsets(4, offset)));
  });
}

TEST_CASE("bn_relu_backward reads a dy that lies where d_addend will be") {
  in_every_way({3, 8, 5, 8}, [](Size size) {
    size.addend = true;
    for (const int64_t offset : {0, 1})
      run_and_check(backward(size, random_slopes(size), {offset}, true));
  });
}

TEST_CASE("bn_relu_backward finds what small steps of x do to the loss") {
  for (const bool last : {false, true}) {
    for (const bool relu : {false, true}) {
      Size size = {2, 3, 3, 4, last};
      size.relu = relu;
      size.addend = true;
      const Input in = random_input(size);
      const Floats dy = random(size.n());
      const Step<> step(size, in);
      step.run();
      const Floats mean = step.mean.to_host(), inverse = step.inverse.to_host();
      const Slopes at = {dy,   in.x,    in.gamma,
                         mean, inverse, relu ? step.mask.to_host() : Words{}};
      run_and_check(backward(size, at));

      // The reference's own gradients, which the call above has met.
      const Gradients found = gradients_of(size, at);
      Doubles x(in.x.begin(), in.x.end());
      for (int64_t i = 0; i < size.n(); ++i) {
        constexpr double kStep = 1e-5;
        const double here = x[i];
        x[i] = here + kStep;
        const double more = loss_of(size, in, dy, x);
        x[i] = here - kStep;
        const double less = loss_of(size, in, dy, x);
        x[i] = here;
        const double slope = (more - less) / (2 * kStep);
        CHECK(std::fabs(slope - found.dx[i].value) < 1e-4);
      }
    }
  }
}

TEST_CASE("bn_relu is as close to float64 as PyTorch is") {
  uint32_t seed = 0;
  for (const OfPyTorch& recorded : kOfPyTorch) {
    const Asked of = asked(++seed, recorded);
    const auto& [size, in, dy, mask, theirs] = of;
    const Results ours = size.element == Element::kFloat
                             ? results_of<float>(of)
                             : results_of<uint16_t>(of);
    const std::vector<Channel> channels = channels_of(size, in.x);
    const auto& [means, unbiased, inverses] = statistics_of(size, channels);
    Doubles mean, inverse;
    for (const Channel& one : channels) {
      mean.push_back(one.mean);
      inverse.push_back(one.inverse(size.epsilon));
    }
    const Slopes given = {dy, in.x, in.gamma, {}, {}, mask};
    const Gradients slopes = gradients_of(size, given, mean, inverse);
    const float momentum = size.what().momentum;
    INFO(text(size));
    const auto check = [&](const char* name, Floats Results::*array,
                           const Nears& exact, Element element) {
      check_beside(name, element, exact, ours.*array, theirs.*array);
    };
    check("inferred y", &Results::inferred,
          normalised(size, in, running_channels(in), true).y, size.element);
    check("y", &Results::y, normalised(size, in, channels, false).y,
          size.element);
    check("dx", &Results::dx, slopes.dx, size.element);
    constexpr Element kStatistics = Element::kFloat;
    check("running mean", &Results::running_mean,
          moved(in.running_mean, means, momentum), kStatistics);
    check("running variance", &Results::running_variance,
          moved(in.running_variance, unbiased, momentum), kStatistics);
    check("d_gamma", &Results::d_gamma, slopes.gamma, kStatistics);
    check("d_beta", &Results::d_beta, slopes.beta, kStatistics);
  }
}

TEST_CASE("bn_relu serves two streams at once") { check_two_streams(kForward); }
TEST_CASE("bn_relu_backward serves two streams at once") {
  check_two_streams(kBackward);
}
TEST_CASE("bn_relu gives back what it takes") { check_gives_back(kForward); }
TEST_CASE("bn_relu_backward gives back what it takes") {
  check_gives_back(kBackward);
}
TEST_CASE("bn_relu queues its work on the stream and returns") {
  check_queueing(kForward);
}
TEST_CASE("bn_relu_backward queues its work on the stream and returns") {
  check_queueing(kBackward);
}
TEST_CASE("bn_relu_inference queues its work on the stream and returns") {
  check_queueing(kInference);
}
TEST_CASE("bn_relu leaves its work to the GPU") { check_gpu_works(kForward); }
TEST_CASE("bn_relu_backward leaves its work to the GPU") {
  check_gpu_works(kBackward);
}
TEST_CASE("bn_relu never writes to its inputs") {
  check_inputs_are_read_only(kForward);
}
TEST_CASE("bn_relu_backward never writes to its inputs") {
  check_inputs_are_read_only(kBackward);
}
TEST_CASE("bn_relu_inference never writes to its inputs") {
  check_inputs_are_read_only(kInference);
}

TEST_CASE("bn_relu handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const Floats period = rounded(Element::kHalf, random(kPeriod));
  const int64_t row = (int64_t{1} << 31) / 15 + 3;
  for (const Size& shape : {Size{3, 5, 1, row}, Size{1, 1, 1, 15 * row}}) {
    Size size = shape;
    size.element = Element::kHalf;
    if (has_memory(5 * size.n())) check_large(size, period);
  }
}
