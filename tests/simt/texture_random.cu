// Textures of random kinds, sizes, texels and settings, read at random places:
// of each kind a hash of what an H100 answered. And the levels that it took for
// random derivatives.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/simt/expect.h"

namespace {

using expect::ok;

constexpr int kTextures = 60, kFetches = 64, kLayers = 3, kLevels = 3;

// ---- Numbers ----------------------------------------------------------------

// The same on every machine.
class Numbers {
 public:
  explicit Numbers(int seed) : state_(seed * 7919ull + 13) { next(); }
  uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);
  }
  int below(int n) { return static_cast<int>(next() % n); }
  bool chance(int percent) { return below(100) < percent; }
  // From -n to n, by steps of that size.
  float around(float n, float step) {
    const int steps = static_cast<int>(n / step);
    return static_cast<float>(below(2 * steps + 1) - steps) * step;
  }

 private:
  uint64_t state_;
};

// Along an axis of so many texels: near them, at their edges, far away, and
// what is no number.
float coordinate(Numbers& numbers, int texels) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kOdd[] = {NAN,  kInfinity, -kInfinity, 1e30f,
                            -0.f, 1e-40f,    -1e30f,     -1e-30f};
  const auto n = static_cast<float>(texels);
  switch (numbers.below(8)) {
    case 0:
      return kOdd[numbers.below(8)];
    case 1:
      return numbers.around(10000, 1);
    case 2:
      return static_cast<float>(numbers.next()) * 0x1p-31f * n;
    case 3:
      return std::abs(numbers.around(n, 1));
    default:
      return numbers.around(3 * n, 1 / 64.f);
  }
}

// ---- Textures ---------------------------------------------------------------

enum Kind {
  kLine,
  kPlane,
  kBox,
  kLines,
  kPlanes,
  kCube,
  kCubes,
  kPitch,
  kGather,
  kLineLevels,
  kPlaneLevels,
  kBoxLevels,
  kPlanesLevels,
  kKinds
};
bool has_levels(Kind kind) { return kind >= kLineLevels; }
bool is_cube(Kind kind) { return kind == kCube || kind == kCubes; }
bool has_layers(Kind kind) {
  return kind == kLines || kind == kPlanes || kind == kPlanesLevels ||
         kind == kCubes;
}
int dimensions(Kind kind) {
  if (kind == kLine || kind == kLines || kind == kLineLevels) return 1;
  return kind == kBox || kind == kBoxLevels ? 3 : 2;
}

struct Settings {
  Kind kind;
  int size[3];
  int channels, bytes;
  char type;  // of a texel's channels: s, u or f
  cudaTextureDesc how;

  bool fractions() const { return how.readMode == cudaReadModeNormalizedFloat; }
  bool floats() const { return type == 'f' || fractions(); }
};

// Colours that a border of fractions cannot have are another test's.
float border(Numbers& numbers, const Settings& s) {
  if (s.fractions()) return static_cast<float>(numbers.below(3) - 1);
  return numbers.around(4, 1 / 250.f);
}

Settings settings(Numbers& numbers, Kind kind) {
  Settings s = {kind};
  for (int k = 0; k < 3; ++k) s.size[k] = 4 + numbers.below(k < 2 ? 29 : 6);
  if (is_cube(kind)) s.size[1] = s.size[0];
  s.channels = 1 << numbers.below(3);
  s.type = "sssuuuff"[numbers.below(8)];
  s.bytes = s.type == 'f' ? 2 << numbers.below(2) : 1 << numbers.below(3);
  s.how = {};
  const bool can_be = s.type != 'f' && s.bytes < 4;
  s.how.readMode = can_be && numbers.chance(60) ? cudaReadModeNormalizedFloat
                                                : cudaReadModeElementType;
  s.how.normalizedCoords = has_levels(kind) || numbers.chance(60);
  for (auto& mode : s.how.addressMode)
    mode = cudaTextureAddressMode(numbers.below(4));
  if (s.floats() && !is_cube(kind) && numbers.chance(60))
    s.how.filterMode = cudaFilterModeLinear;
  if (s.floats() && has_levels(kind) && numbers.chance(60))
    s.how.mipmapFilterMode = cudaFilterModeLinear;
  for (float& colour : s.how.borderColor) colour = border(numbers, s);
  s.how.mipmapLevelBias = numbers.chance(30) ? numbers.around(2, 1 / 16.f) : 0;
  s.how.minMipmapLevelClamp = numbers.chance(30) ? 0.625f : 0;
  s.how.maxMipmapLevelClamp = numbers.chance(70) ? kLevels : 1.25f;
  return s;
}

std::vector<uint8_t> texels(Numbers& numbers, const Settings& s, size_t n) {
  std::vector<uint8_t> all(n * s.channels * s.bytes);
  for (size_t at = 0; at < all.size(); at += s.bytes) {
    const float x =
        numbers.around(80, 1 / 128.f) * (numbers.chance(5) ? 1e-3f : 1);
    const __half half = __float2half(x);
    const uint32_t bits = numbers.next() * 2654435761u;
    const void* from = s.type != 'f'  ? static_cast<const void*>(&bits)
                       : s.bytes == 2 ? static_cast<const void*>(&half)
                                      : static_cast<const void*>(&x);
    std::memcpy(&all[at], from, s.bytes);
  }
  return all;
}

cudaChannelFormatDesc channels(const Settings& s) {
  const auto bits = [&](int channel) {
    return channel < s.channels ? 8 * s.bytes : 0;
  };
  return cudaCreateChannelDesc(bits(0), bits(1), bits(2), bits(3),
                               s.type == 'f'   ? cudaChannelFormatKindFloat
                               : s.type == 's' ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned);
}

// What CUDA wants of each kind: no height, or no depth, or layers.
cudaExtent extent(const Settings& s) {
  cudaExtent e = {size_t(s.size[0]), size_t(s.size[1]), size_t(s.size[2])};
  const int given = dimensions(s.kind);
  if (given < 2) e.height = 0;
  if (given < 3) e.depth = has_layers(s.kind) ? kLayers : 0;
  if (is_cube(s.kind)) e.depth = has_layers(s.kind) ? 6 * kLayers : 6;
  return e;
}

unsigned flags(Kind kind) {
  return (has_layers(kind) ? cudaArrayLayered : 0) |
         (is_cube(kind) ? cudaArrayCubemap : 0) |
         (kind == kGather ? cudaArrayTextureGather : 0);
}

void fill(cudaArray_t array, const cudaExtent& e,
          const std::vector<uint8_t>& from) {
  cudaMemcpy3DParms copy = {};
  copy.dstArray = array;
  copy.extent = {e.width, std::max<size_t>(e.height, 1),
                 std::max<size_t>(e.depth, 1)};
  const size_t row = from.size() / copy.extent.height / copy.extent.depth;
  copy.srcPtr = make_cudaPitchedPtr(const_cast<uint8_t*>(from.data()), row,
                                    e.width, copy.extent.height);
  copy.kind = cudaMemcpyHostToDevice;
  ok(cudaMemcpy3D(&copy));
}

size_t count(const cudaExtent& e) {
  return e.width * std::max<size_t>(e.height, 1) * std::max<size_t>(e.depth, 1);
}

// An array, levels of arrays, or rows in memory.
class Resource {
 public:
  Resource(Numbers& numbers, const Settings& s) {
    const cudaChannelFormatDesc form = channels(s);
    const cudaExtent e = extent(s);
    if (s.kind == kPitch) {
      auto& rows = of_.res.pitch2D;
      const size_t row = e.width * s.channels * s.bytes;
      of_.resType = cudaResourceTypePitch2D;
      rows.desc = form;
      rows.width = e.width;
      rows.height = e.height;
      ok(cudaMallocPitch(&rows.devPtr, &rows.pitchInBytes, row, e.height));
      ok(cudaMemcpy2D(rows.devPtr, rows.pitchInBytes,
                      texels(numbers, s, count(e)).data(), row, row, e.height,
                      cudaMemcpyHostToDevice));
    } else if (has_levels(s.kind)) {
      of_.resType = cudaResourceTypeMipmappedArray;
      auto& all = of_.res.mipmap.mipmap;
      ok(cudaMallocMipmappedArray(&all, &form, e, kLevels, flags(s.kind)));
      for (int k = 0; k < kLevels; ++k) {
        cudaArray_t level = nullptr;
        ok(cudaGetMipmappedArrayLevel(&level, all, k));
        const cudaExtent part = {e.width >> k, e.height >> k,
                                 has_layers(s.kind) ? e.depth : e.depth >> k};
        fill(level, part, texels(numbers, s, count(part)));
      }
    } else {
      of_.resType = cudaResourceTypeArray;
      ok(cudaMalloc3DArray(&of_.res.array.array, &form, e, flags(s.kind)));
      fill(of_.res.array.array, e, texels(numbers, s, count(e)));
    }
  }
  ~Resource() {
    if (of_.resType == cudaResourceTypePitch2D)
      ok(cudaFree(of_.res.pitch2D.devPtr));
    else if (of_.resType == cudaResourceTypeArray)
      ok(cudaFreeArray(of_.res.array.array));
    else
      ok(cudaFreeMipmappedArray(of_.res.mipmap.mipmap));
  }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  const cudaResourceDesc* get() const { return &of_; }

 private:
  cudaResourceDesc of_ = {};
};

// ---- Fetches ----------------------------------------------------------------

struct Wish {
  float x, y, z, level;
  int layer;
};

std::vector<Wish> wishes(Numbers& numbers, const Settings& s) {
  std::vector<Wish> all(kFetches);
  for (Wish& wish : all) {
    float at[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = is_cube(s.kind) ? numbers.around(2, 1 / 509.f)
                              : coordinate(numbers, s.size[k]);
      if (s.how.normalizedCoords && !is_cube(s.kind))
        at[k] /= static_cast<float>(s.size[k]);
    }
    wish = {at[0], at[1], at[2], numbers.around(4, 1 / 32.f),
            numbers.below(kLayers + 3) - 1};
  }
  return all;
}

template <class T>
__device__ T fetch(cudaTextureObject_t t, Kind kind, const Wish& w) {
  switch (kind) {
    case kLine:
      return tex1D<T>(t, w.x);
    case kPlane:
    case kPitch:
      return tex2D<T>(t, w.x, w.y);
    case kBox:
      return tex3D<T>(t, w.x, w.y, w.z);
    case kLines:
      return tex1DLayered<T>(t, w.x, w.layer);
    case kPlanes:
      return tex2DLayered<T>(t, w.x, w.y, w.layer);
    case kCube:
      return texCubemap<T>(t, w.x, w.y, w.z);
    case kCubes:
      return texCubemapLayered<T>(t, w.x, w.y, w.z, w.layer);
    case kGather:
      return w.layer % 2 ? tex2Dgather<T>(t, w.x, w.y, 2)
                         : tex2Dgather<T>(t, w.x, w.y, 0);
    case kLineLevels:
      return tex1DLod<T>(t, w.x, w.level);
    case kPlaneLevels:
      return w.layer < 0 ? tex2D<T>(t, w.x, w.y)
                         : tex2DLod<T>(t, w.x, w.y, w.level);
    case kBoxLevels:
      return tex3DLod<T>(t, w.x, w.y, w.z, w.level);
    default:
      return tex2DLayeredLod<T>(t, w.x, w.y, w.layer, w.level);
  }
}

template <class T>
__global__ void fetch_kernel(cudaTextureObject_t t, Kind kind,
                             const Wish* wishes, T* out) {
  out[threadIdx.x] = fetch<T>(t, kind, wishes[threadIdx.x]);
}

template <class T>
uint32_t read(uint32_t so_far, cudaTextureObject_t texture, Kind kind,
              const Wish* wishes) {
  for (const T& v : expect::results<T>(kFetches, [&](T* out) {
         fetch_kernel<T><<<1, kFetches>>>(texture, kind, wishes, out);
       }))
    so_far = expect::digest(&v.x, 4, so_far);
  return so_far;
}

uint32_t digest_of(Kind kind) {
  uint32_t so_far = 2166136261;
  for (int seed = 0; seed < kTextures; ++seed) {
    Numbers numbers(kTextures * kind + seed);
    const Settings s = settings(numbers, kind);
    const Resource resource(numbers, s);
    const expect::Copy<Wish> wished(wishes(numbers, s));
    cudaTextureObject_t texture = 0;
    ok(cudaCreateTextureObject(&texture, resource.get(), &s.how, nullptr));
    so_far = s.floats()      ? read<float4>(so_far, texture, kind, wished)
             : s.type == 's' ? read<int4>(so_far, texture, kind, wished)
                             : read<uint4>(so_far, texture, kind, wished);
    ok(cudaDestroyTextureObject(texture));
  }
  return so_far;
}

// ---- Derivatives ------------------------------------------------------------

constexpr int kSteps = 40, kWidth = 64, kHeight = 20, kAllLevels = 6;

__global__ void level_kernel(cudaTextureObject_t t, const float4* steps,
                             float* out) {
  const float4 s = steps[threadIdx.x];
  out[threadIdx.x] = tex2DGrad<float>(t, 0.5f, 0.5f, {s.x, s.y}, {s.z, s.w});
}

// Each level's texels say which it is, in 256ths.
std::vector<float> levels_taken() {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  cudaMipmappedArray_t& all = resource.res.mipmap.mipmap;
  const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
  ok(cudaMallocMipmappedArray(&all, &form, {kWidth, kHeight, 0}, kAllLevels));
  for (int k = 0; k < kAllLevels; ++k) {
    cudaArray_t level = nullptr;
    ok(cudaGetMipmappedArrayLevel(&level, all, k));
    const size_t width = kWidth >> k, height = std::max(kHeight >> k, 1);
    const std::vector<float> texels(width * height, 256.f * k);
    ok(cudaMemcpy2DToArray(level, 0, 0, texels.data(), width * sizeof(float),
                           width * sizeof(float), height,
                           cudaMemcpyHostToDevice));
  }
  cudaTextureDesc how = {};
  how.normalizedCoords = 1;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = kAllLevels;
  cudaTextureObject_t texture = 0;
  ok(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  Numbers numbers(1);
  std::vector<float4> steps(kSteps);
  for (float4& s : steps) {
    const auto step = [&] { return numbers.around(1, 0x1p-12f) / 4; };
    s = {step(), step(), step(), step()};
    if (numbers.chance(25)) s.z = s.w = 0;
  }
  const expect::Copy<float4> asked(steps);
  const auto taken = expect::results<float>(kSteps, [&](float* out) {
    level_kernel<<<1, kSteps>>>(texture, asked, out);
  });
  ok(cudaDestroyTextureObject(texture));
  ok(cudaFreeMipmappedArray(all));
  return taken;
}

}  // namespace

int main() {
  constexpr uint32_t kRecorded[kKinds] = {
      0xa35bd002, 0x9d27d30a, 0xb0ab2e46, 0xb64dfab4, 0x2d3e7ac2,
      0x163e03b6, 0xd35208bd, 0xf98a9b79, 0x36548e3a, 0xebd181b4,
      0x075038ff, 0x97dff994, 0xfd57319c};
  constexpr float kTaken[kSteps] = {
      941, 1078, 485,  1017, 995,  961, 1054, 1016, 939, 612,
      900, 596,  1037, 1039, 983,  527, 1074, 926,  316, 917,
      788, 446,  1037, 689,  899,  746, 1004, 913,  948, 1081,
      669, 828,  919,  689,  1046, 958, 974,  882,  934, 926};
  for (int kind = 0; kind < kKinds; ++kind)
    expect::equal(digest_of(Kind(kind)), kRecorded[kind]);
  const std::vector<float> taken = levels_taken();
  for (int k = 0; k < kSteps; ++k)
    expect::is_true(std::abs(taken[k] - kTaken[k]) <= 2, "a GPU's level");
  return expect::report();
}
