// cuRAND's host calls, by the executor's stand-in or, on GPUs, by cuRAND
// itself: which numbers come, in which order, and what is refused. The numbers
// of <curand_kernel.h>, which kernels call, are what they are compared with.

#include <curand.h>
#if __has_include( \
    <curand_kernel.h>)  // Not all packages of the toolkit have it.
#include <curand_kernel.h>
#endif

#include <cmath>
#include <functional>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::is_true;
using expect::ok;
using expect::results;

constexpr unsigned long long kSeed = 1234;

void fine(curandStatus_t status,
          expect::Where where = expect::Where::current()) {
  expect::equal(status, CURAND_STATUS_SUCCESS, where);
}

// A generator of one type, with a seed and an offset.
struct Generator {
  curandGenerator_t handle = nullptr;
  explicit Generator(curandRngType_t type, unsigned long long offset = 0,
                     unsigned long long seed = kSeed) {
    fine(curandCreateGenerator(&handle, type));
    fine(curandSetPseudoRandomGeneratorSeed(handle, seed));
    if (offset) fine(curandSetGeneratorOffset(handle, offset));
  }
  ~Generator() { fine(curandDestroyGenerator(handle)); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  operator curandGenerator_t() const { return handle; }

  std::vector<unsigned> bits(size_t n) const {
    return results<unsigned>(
        n, [&](unsigned* to) { fine(curandGenerate(handle, to, n)); });
  }
};

// ---- The same numbers as a kernel gets -------------------------------------
#if __has_include(<curand_kernel.h>)

// How many parts a sequence is dealt from, and how many a turn deals.
template <class State>
constexpr int kParts = 4096;
template <>
constexpr int kParts<curandStateMRG32k3a_t> = 81920;
template <>
constexpr int kParts<curandStatePhilox4_32_10_t> = 65536;
template <class State>
constexpr int kOfTurn =
    std::is_same_v<State, curandStatePhilox4_32_10_t> ? 4 : 1;

// Number at[i] of the order, for each i.
template <class State>
__global__ void numbers_kernel(const unsigned* at, unsigned* to, int n,
                               unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned turn = at[i] / kOfTurn<State>;
  State state;
  curand_init(seed, turn % kParts<State>,
              turn / kParts<State> * kOfTurn<State> + at[i] % kOfTurn<State>,
              &state);
  to[i] = curand(&state);
}

template <class State>
void as_in_a_kernel(curandRngType_t type) {
  const unsigned most = 200000;
  std::vector<unsigned> at;
  for (unsigned k = 0; k < 32; ++k) at.push_back(k);
  for (unsigned k = 0; k < 32; ++k) at.push_back(4090 + 3061 * k % most);
  const expect::Copy<unsigned> places(at);
  for (const unsigned long long seed : {0ull, 0xfedcba9876543210ull}) {
    const auto want = results<unsigned>(at.size(), [&](unsigned* to) {
      numbers_kernel<State><<<1, 64>>>(places, to, 64, seed);
    });
    const auto got = Generator(type, 0, seed).bits(most);
    expect::each(want, [&](int i) { return got[at[i]]; });
  }
}

void as_in_kernels() {
  as_in_a_kernel<curandStateXORWOW_t>(CURAND_RNG_PSEUDO_XORWOW);
  as_in_a_kernel<curandStatePhilox4_32_10_t>(CURAND_RNG_PSEUDO_PHILOX4_32_10);
  as_in_a_kernel<curandStateMRG32k3a_t>(CURAND_RNG_PSEUDO_MRG32K3A);
}
#else
void as_in_kernels() {}
#endif

// What an H200 gave.
void recorded() {
  const struct {
    curandRngType_t type;
    unsigned first[3];
  } all[] = {
      {CURAND_RNG_PSEUDO_DEFAULT, {0x253d5e15, 0xd1f7605a, 0x8ce6f6f8}},
      {CURAND_RNG_PSEUDO_XORWOW, {0x253d5e15, 0xd1f7605a, 0x8ce6f6f8}},
      {CURAND_RNG_PSEUDO_MRG32K3A, {0xc96891f0, 0x26f0d612, 0xef269080}},
      {CURAND_RNG_PSEUDO_PHILOX4_32_10, {0x2090b348, 0xda7cf0ab, 0x4401906f}},
  };
  for (const auto& one : all)
    expect::each(Generator(one.type).bits(3),
                 [&](int i) { return one.first[i]; });
}

// ---- Calls in a row, offsets, hosts ----------------------------------------

const curandRngType_t kTypes[] = {CURAND_RNG_PSEUDO_XORWOW,
                                  CURAND_RNG_PSEUDO_MRG32K3A,
                                  CURAND_RNG_PSEUDO_PHILOX4_32_10};

void in_a_row() {
  for (const curandRngType_t type : kTypes) {
    const size_t n = 100000;
    const auto whole = Generator(type).bits(n);
    const Generator again(type);
    size_t at = 0;
    for (const size_t part :
         {size_t{1000}, size_t{3001}, size_t{7}, n - 4008}) {
      const auto got = again.bits(part);
      expect::each(got, [&](int i) { return whole[at + i]; });
      at += part;
    }
    for (const unsigned long long offset : {1, 5003, 90001})
      expect::each(Generator(type, offset).bits(n - offset),
                   [&](int i) { return whole[offset + i]; });
    fine(curandSetGeneratorOffset(again, 0));
    expect::each(again.bits(100), [&](int i) { return whole[i]; });
    curandGenerator_t host = nullptr;
    std::vector<unsigned> got(n);
    fine(curandCreateGeneratorHost(&host, type));
    fine(curandSetPseudoRandomGeneratorSeed(host, kSeed));
    fine(curandGenerate(host, got.data(), n));
    expect::each(got, [&](int i) { return whole[i]; });
    fine(curandDestroyGenerator(host));
  }
}

void orders() {
  const auto want = Generator(CURAND_RNG_PSEUDO_XORWOW).bits(10000);
  for (const curandOrdering_t order :
       {CURAND_ORDERING_PSEUDO_BEST, CURAND_ORDERING_PSEUDO_DEFAULT,
        CURAND_ORDERING_PSEUDO_LEGACY}) {
    const Generator generator(CURAND_RNG_PSEUDO_XORWOW);
    fine(curandSetGeneratorOrdering(generator, order));
    expect::each(generator.bits(10000), [&](int i) { return want[i]; });
  }
}

// ---- Distributions ---------------------------------------------------------

void uniform() {
  const size_t n = 50000;
  for (const curandRngType_t type : kTypes) {
    const auto bits = Generator(type).bits(n);
    const Generator generator(type), of_doubles(type);
    const auto floats = results<float>(
        n, [&](float* to) { fine(curandGenerateUniform(generator, to, n)); });
    if (type != CURAND_RNG_PSEUDO_MRG32K3A)
      expect::each(floats,
                   [&](int i) { return bits[i] * 0x1p-32f + 0x1p-33f; });
    const auto doubles = results<double>(n, [&](double* to) {
      fine(curandGenerateUniformDouble(of_doubles, to, n));
    });
    double sum = 0, sum_of_doubles = 0;
    size_t outside = 0;
    for (size_t i = 0; i < n; ++i) {
      sum += floats[i];
      sum_of_doubles += doubles[i];
      outside += !(floats[i] > 0 && floats[i] <= 1 && doubles[i] > 0 &&
                   doubles[i] <= 1);
    }
    expect::equal(outside, size_t{0});
    is_true(std::abs(sum / n - .5) < .01, "the mean of floats is a half");
    is_true(std::abs(sum_of_doubles / n - .5) < .01, "that of doubles, too");
  }
}

// An offset counts what is generated, whatever it is made of.
void normal_from_an_offset() {
  const Generator whole(CURAND_RNG_PSEUDO_PHILOX4_32_10);
  const auto want = results<float>(1000, [&](float* to) {
    fine(curandGenerateNormal(whole, to, 1000, 0, 1));
  });
  for (const unsigned long long offset : {1, 2, 3, 4}) {
    const Generator generator(CURAND_RNG_PSEUDO_PHILOX4_32_10, offset);
    const auto got = results<float>(100, [&](float* to) {
      fine(curandGenerateNormal(generator, to, 100, 0, 1));
    });
    expect::each(got, [&](int i) { return want[offset + i]; });
  }
}

// Of XORWOW, whose turns make pairs of two numbers of the same part.
void normal() {
  const int n = 20000;
  const auto bits = Generator(CURAND_RNG_PSEUDO_XORWOW).bits(8 * 4096);
  const Generator generator(CURAND_RNG_PSEUDO_XORWOW);
  const auto got = results<float>(n, [&](float* to) {
    fine(curandGenerateNormal(generator, to, n, 1, 2));
  });
  size_t wrong = 0;
  for (int i = 0; i < n; ++i) {
    const int part = i / 2 % 4096, turn = i / 2 / 4096;
    const float u = bits[part + 2 * turn * 4096] * 0x1p-32f + 0x1p-33f;
    const double angle =
        2 * M_PI * (bits[part + (2 * turn + 1) * 4096] * 0x1p-32 + 0x1p-33);
    const double radius = std::sqrt(-2 * std::log(double(u)));
    const double want = radius * (i % 2 ? std::cos(angle) : std::sin(angle));
    wrong += !(std::abs(got[i] - (1 + 2 * want)) < 1e-5);
  }
  expect::equal(wrong, size_t{0});
}

template <class T>
void require_moments(const std::vector<T>& all, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (const T x : all) {
    sum += x;
    squares += (x - mean) * (x - mean);
  }
  is_true(std::abs(sum / all.size() - mean) < .05 * deviation, "the mean");
  is_true(std::abs(std::sqrt(squares / all.size()) / deviation - 1) < .05,
          "the standard deviation");
}

void moments() {
  const size_t n = 20000;
  for (const curandRngType_t type : kTypes) {
    const Generator a(type), b(type), c(type), d(type);
    const auto floats = results<float>(
        n, [&](float* to) { fine(curandGenerateNormal(a, to, n, 3, 2)); });
    require_moments(floats, 3, 2);
    const auto doubles = results<double>(n, [&](double* to) {
      fine(curandGenerateNormalDouble(b, to, n, 3, 2));
    });
    require_moments(doubles, 3, 2);
    const auto logs = results<float>(
        n, [&](float* to) { fine(curandGenerateLogNormal(c, to, n, 3, 2)); });
    expect::equal(logs.size(), n);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i)
      wrong += !(std::abs(std::log(logs[i]) - floats[i]) < 1e-4);
    expect::equal(wrong, size_t{0});
    const auto double_logs = results<double>(n, [&](double* to) {
      fine(curandGenerateLogNormalDouble(d, to, n, 3, 2));
    });
    wrong = 0;
    for (size_t i = 0; i < n; ++i)
      wrong += !(std::abs(std::log(double_logs[i]) - doubles[i]) < 1e-12);
    expect::equal(wrong, size_t{0});
  }
}

// ---- Streams, graphs, statuses ---------------------------------------------

void streams() {
  const auto want = Generator(CURAND_RNG_PSEUDO_PHILOX4_32_10).bits(200);
  const Generator generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
  cudaStream_t stream = nullptr;
  unsigned* device = nullptr;
  std::vector<unsigned> got(200);
  ok(cudaStreamCreate(&stream));
  ok(cudaMalloc(&device, 800));
  fine(curandSetStream(generator, stream));
  fine(curandGenerate(generator, device, 100));
  fine(curandGenerate(generator, device + 100, 100));
  // A seed of later on changes nothing of what was asked for before.
  fine(curandSetPseudoRandomGeneratorSeed(generator, 7));
  ok(cudaMemcpyAsync(got.data(), device, 800, cudaMemcpyDeviceToHost, stream));
  ok(cudaStreamSynchronize(stream));
  expect::each(got, [&](int i) { return want[i]; });
  ok(cudaFree(device));
  ok(cudaStreamDestroy(stream));
}

void statuses() {
  const Generator generator(CURAND_RNG_PSEUDO_XORWOW);
  curandGenerator_t none = nullptr;
  unsigned* to = nullptr;
  ok(cudaMalloc(&to, 4096));
  float* const floats = reinterpret_cast<float*>(to);
  expect::equal(curandCreateGenerator(&none, curandRngType_t(7)),
                CURAND_STATUS_TYPE_ERROR);
  expect::equal(curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_DEFAULT),
                CURAND_STATUS_NOT_INITIALIZED);
  expect::equal(curandGenerate(nullptr, to, 4), CURAND_STATUS_NOT_INITIALIZED);
  expect::equal(curandDestroyGenerator(nullptr), CURAND_STATUS_NOT_INITIALIZED);
  expect::equal(curandGenerateNormal(generator, floats, 3, 0, 1),
                CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  expect::equal(curandGenerateLogNormal(generator, floats, 3, 0, 1),
                CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  expect::equal(curandSetGeneratorOrdering(generator, curandOrdering_t(7)),
                CURAND_STATUS_OUT_OF_RANGE);
  expect::equal(
      curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT),
      CURAND_STATUS_OUT_OF_RANGE);
  fine(curandGenerate(generator, to, 0));
  fine(curandGenerate(generator, nullptr, 0));
  fine(curandGenerateSeeds(generator));
  int version = 0;
  fine(curandGetVersion(&version));
  is_true(version >= 10000, "there is a version");
  ok(cudaFree(to));
}

// ---- What the executor names -----------------------------------------------

int child(const std::string& which) {
  unsigned* to = nullptr;
  ok(cudaMalloc(&to, 400));
  curandGenerator_t generator = nullptr;
  if (which == "type") {
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MT19937);
    return 0;
  }
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  if (which == "outside") curandGenerate(generator, to, 101);
  if (which == "poisson") curandGeneratePoisson(generator, to, 100, 3);
  if (which == "order")
    curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DYNAMIC);
  cudaDeviceSynchronize();
  return 0;
}

void mistakes() {
  const struct {
    const char *which, *said;
  } all[] = {{"outside", "out of bounds: element (100, 0) of outputPtr"},
             {"type", "has no generator MT19937"},
             {"order", "has no ordering CURAND_ORDERING_PSEUDO_DYNAMIC"},
             {"poisson", "has no numbers of a Poisson distribution"}};
  for (const auto& one : all) {
    const Ended ended = run_self(one.which);
    const bool told = ended.output.find(one.said) != std::string::npos;
    is_true(told && ended.status != 0, one.said);
    if (!told) std::cout << ended.output;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "again")) return child(argv[1]);
  as_in_kernels();
  recorded();
  in_a_row();
  orders();
  uniform();
  normal();
  normal_from_an_offset();
  moments();
  streams();
  statuses();
  if (on_executor() && argc == 1) {
    mistakes();
    run_again_late();
  }
  return expect::report();
}
