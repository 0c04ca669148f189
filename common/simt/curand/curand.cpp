// cuRAND's calls: what they refuse, and into which arrays they write.
#include "common/simt/curand/curand.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "common/simt/curand/numbers.h"
#include "common/simt/library/answers.h"
#include "common/simt/library/library.h"

// Work that is queued keeps the numbers that it was issued with.
struct curandGenerator_st {
  curandRngType_t type;
  bool is_host;
  int device = simt::current_device();
  cudaStream_t stream = nullptr;
  uint64_t seed = 0, offset = 0;
  std::shared_ptr<simt::curand::Numbers> numbers = nullptr;  // null: anew
};

namespace simt::curand {
namespace {

template <class Body>
curandStatus_t answer(Body body, const char* call = __builtin_FUNCTION()) {
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  const auto tell = [&](const auto& wrong) {
    complain(call, text(wrong.why, " (curandStatus_t ", int(status), ')'));
  };
  const cudaError_t error = simt::answer(refusing(status, body, tell), call);
  if (error == cudaErrorNotSupported) return CURAND_STATUS_INTERNAL_ERROR;
  return error == cudaSuccess ? status : CURAND_STATUS_LAUNCH_FAILURE;
}

struct Everything {
  std::mutex mutex;
  std::set<curandGenerator_t> generators;
};
Everything& everything() {
  static auto* one = new Everything;
  return *one;
}

curandGenerator_st& get(curandGenerator_t generator) {
  const std::lock_guard lock(everything().mutex);
  require_status(everything().generators.contains(generator),
                 CURAND_STATUS_NOT_INITIALIZED, generator,
                 " is no generator, or one that was destroyed");
  return *generator;
}

void require_type(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return;
    case CURAND_RNG_PSEUDO_MTGP32:
      throw Lacking{"generator MTGP32; take CURAND_RNG_PSEUDO_PHILOX4_32_10"};
    case CURAND_RNG_PSEUDO_MT19937:
      throw Lacking{"generator MT19937; take CURAND_RNG_PSEUDO_PHILOX4_32_10"};
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      throw Lacking{"quasi-random generators (Sobol)"};
    default:
      throw Wrong{CURAND_STATUS_TYPE_ERROR,
                  text("type ", int(type), " is none of cuRAND's")};
  }
}

std::shared_ptr<Numbers> begin(const curandGenerator_st& of) {
  if (of.type == CURAND_RNG_PSEUDO_PHILOX4_32_10)
    return std::make_shared<Interleaved<Philox, 65536, 4>>(of.seed, of.offset);
  if (of.type == CURAND_RNG_PSEUDO_MRG32K3A)
    return std::make_shared<Interleaved<Mrg32k3a, 81920, 1>>(of.seed,
                                                             of.offset);
  return std::make_shared<Interleaved<Xorwow, 4096, 1>>(of.seed, of.offset);
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type,
                      bool is_host, const char* call) {
  return answer(
      [&] {
        require_status(generator != nullptr, CURAND_STATUS_NOT_INITIALIZED,
                       "generator is null");
        require_type(type);
        *generator = new curandGenerator_st{type, is_host};
        const std::lock_guard lock(everything().mutex);
        everything().generators.insert(*generator);
      },
      call);
}

// make(numbers, to) writes `count` numbers, into the host's memory at once and
// into the device's in the generator's stream.
template <class T, class Make>
curandStatus_t generate(const char* call, curandGenerator_t handle, T* to,
                        size_t count, size_t multiple, Make make) {
  return answer(
      [&] {
        curandGenerator_st& generator = get(handle);
        require_status(count % multiple == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                       count, " numbers, and they come in pairs");
        if (count == 0) return;
        if (!generator.numbers) generator.numbers = begin(generator);
        if (generator.is_host) return make(*generator.numbers, to);
        enqueue(call, generator.device, generator.stream,
                [=, numbers = generator.numbers](const Operands& all) {
                  const int64_t n = count;
                  make(*numbers, all.write("outputPtr", to, {n, 1, n}));
                });
      },
      call);
}

// `make` of numbers that are made as doubles.
template <class T, class Map>
auto mapped(Kind kind, size_t count, Map map) {
  return [=](Numbers& numbers, T* to) {
    std::vector<double> made(count);
    numbers.fill(kind, made.data(), count);
    std::transform(made.begin(), made.end(), to,
                   [&](double x) { return static_cast<T>(map(x)); });
  };
}

template <class T>
constexpr Kind kNormalOf =
    std::is_same_v<T, float> ? Kind::kNormal : Kind::kNormalDouble;

template <class T>
curandStatus_t normal(const char* call, curandGenerator_t handle, T* to,
                      size_t count, T mean, T deviation) {
  return generate(call, handle, to, count, 2,
                  mapped<T>(kNormalOf<T>, count,
                            [=](double x) { return mean + deviation * x; }));
}

template <class T>
curandStatus_t log_normal(const char* call, curandGenerator_t handle, T* to,
                          size_t count, T mean, T deviation) {
  return generate(call, handle, to, count, 2,
                  mapped<T>(kNormalOf<T>, count, [=](double x) {
                    return std::exp(mean + deviation * x);
                  }));
}

// From now on the sequence begins anew.
template <class Change>
curandStatus_t change(const char* call, curandGenerator_t handle,
                      Change change) {
  return answer(
      [&] {
        curandGenerator_st& generator = get(handle);
        change(generator);
        generator.numbers = nullptr;
      },
      call);
}

void require_ordering(curandOrdering_t ordering) {
  switch (ordering) {
    case CURAND_ORDERING_PSEUDO_BEST:
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
      return;  // The same one.
    case CURAND_ORDERING_PSEUDO_SEEDED:
      throw Lacking{"ordering CURAND_ORDERING_PSEUDO_SEEDED"};
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
      throw Lacking{"ordering CURAND_ORDERING_PSEUDO_DYNAMIC"};
    default:
      throw Wrong{CURAND_STATUS_OUT_OF_RANGE,
                  text("ordering ", int(ordering), " is none of this type's")};
  }
}

}  // namespace
}  // namespace simt::curand

using namespace simt::curand;
using simt::require_status;

extern "C" {

curandStatus_t curandGetVersion(int* version) {
  return answer([&] {
    require_status(version != nullptr, CURAND_STATUS_OUT_OF_RANGE,
                   "version is null");
    *version = CURAND_VERSION;
  });
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  return answer([&] {
    constexpr int kParts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR,
                              CURAND_VER_PATCH};
    require_status(
        value != nullptr && type >= MAJOR_VERSION && type <= PATCH_LEVEL,
        CURAND_STATUS_OUT_OF_RANGE, "type ", int(type), ", value ", value);
    *value = kParts[type];
  });
}

// ---- Generators ------------------------------------------------------------

curandStatus_t curandCreateGenerator(curandGenerator_t* generator,
                                     curandRngType_t type) {
  return create(generator, type, false, __func__);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                         curandRngType_t type) {
  return create(generator, type, true, __func__);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return answer([&] {
    get(generator);
    const std::lock_guard lock(everything().mutex);
    everything().generators.erase(generator);
    delete generator;
  });
}

curandStatus_t curandSetStream(curandGenerator_t generator,
                               cudaStream_t stream) {
  return answer([&] {
    curandGenerator_st& state = get(generator);
    simt::require_stream(stream);
    state.stream = stream;
  });
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return change(__func__, generator,
                [&](curandGenerator_st& state) { state.seed = seed; });
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                        unsigned long long offset) {
  return change(__func__, generator,
                [&](curandGenerator_st& state) { state.offset = offset; });
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                          curandOrdering_t ordering) {
  return change(__func__, generator,
                [&](curandGenerator_st&) { require_ordering(ordering); });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return answer([&] { get(generator); });
}

// ---- Numbers ---------------------------------------------------------------

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* to,
                              size_t count) {
  return generate(
      __func__, generator, to, count, 1,
      [=](Numbers& numbers, unsigned* at) { numbers.fill(at, count); });
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to,
                                     size_t count) {
  return generate(
      __func__, generator, to, count, 1,
      [=](Numbers& numbers, float* at) { numbers.fill(at, count); });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator,
                                           double* to, size_t count) {
  return generate(__func__, generator, to, count, 1,
                  [=](Numbers& numbers, double* at) {
                    numbers.fill(Kind::kDouble, at, count);
                  });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to,
                                    size_t count, float mean, float deviation) {
  return normal(__func__, generator, to, count, mean, deviation);
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator,
                                          double* to, size_t count, double mean,
                                          double deviation) {
  return normal(__func__, generator, to, count, mean, deviation);
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to,
                                       size_t count, float mean,
                                       float deviation) {
  return log_normal(__func__, generator, to, count, mean, deviation);
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator,
                                             double* to, size_t count,
                                             double mean, double deviation) {
  return log_normal(__func__, generator, to, count, mean, deviation);
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned*,
                                     size_t, double) {
  return answer([&] {
    get(generator);
    throw simt::Lacking{"numbers of a Poisson distribution"};
  });
}

}  // extern "C"
