// The bits of many texture fetches: of each kind a hash, as recorded from an
// H200. The places come from a generator; some lie just at, before and behind
// the edges of texels, and some are no numbers.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/simt/expect.h"

namespace {

using expect::ok;

constexpr int kSize = 16, kDepth = 8;

// ---- Numbers ----------------------------------------------------------------

uint64_t state = 12345;
uint32_t next() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state >> 33);
}
float uniform() { return static_cast<float>(next() & 0xffffff) / 16777216.f; }

std::vector<float3> places(int n, float from, float to) {
  std::vector<float3> all(n);
  for (float3& p : all) {
    p.x = from + (to - from) * uniform();
    p.y = from + (to - from) * uniform();
    p.z = from + (to - from) * uniform();
  }
  return all;
}

// From one texel to the next, by steps of a quarter of a weight; and halfway
// between two weights.
std::vector<float3> places_of_weights() {
  std::vector<float3> all;
  for (int i = 0; i < 1200; ++i) all.push_back({0.5f + i / 1024.f, 0, 0});
  for (int i = 0; i < 400; ++i) all.push_back({7.5f + uniform(), 0, 0});
  for (int i = 0; i < 64; ++i) {
    const float half = 3.5f + i / 256.f + 1 / 512.f;
    for (const float x :
         {std::nextafter(half, 0.f), half, std::nextafter(half, 9.f)})
      all.push_back({x, 0, 0});
  }
  return all;
}

std::vector<float3> edges() {
  std::vector<float3> all;
  for (int k = -3; k < kSize + 3; ++k) {
    const auto i = static_cast<float>(k);
    for (const float x :
         {std::nextafter(i, -99.f), i, std::nextafter(i, 99.f), i + 0.001f,
          i - 0.001f, i - 1 / 512.f, i + 1 / 512.f, i - 1 / 1024.f})
      all.push_back({x, 0, 0});
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {std::numeric_limits<float>::quiet_NaN(), infinity,
                        -infinity, 1e30f, -1e30f, 3e9f, -3e9f, 1e-40f})
    all.push_back({x, x, x});
  return all;
}

// ---- Textures ---------------------------------------------------------------

template <class T>
class Array {
 public:
  Array(const std::vector<T>& texels, int height, int depth,
        cudaChannelFormatDesc form = cudaCreateChannelDesc<T>()) {
    const bool flat = height && !depth;
    ok(cudaMalloc3DArray(
        &array_, &form,
        {kSize, static_cast<size_t>(height), static_cast<size_t>(depth)},
        flat ? cudaArrayTextureGather : 0));
    const size_t rows = std::max(height, 1);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(texels.data()),
                                      kSize * sizeof(T), kSize, rows);
    copy.dstArray = array_;
    copy.extent = {kSize, rows, static_cast<size_t>(std::max(depth, 1))};
    copy.kind = cudaMemcpyHostToDevice;
    ok(cudaMemcpy3D(&copy));
  }
  ~Array() { ok(cudaFreeArray(array_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator cudaArray_t() const { return array_; }

 private:
  cudaArray_t array_ = nullptr;
};

struct How {
  cudaTextureAddressMode beside = cudaAddressModeClamp;
  bool filters = false;
  bool normalised = false;  // coordinates
  bool fractions = false;   // texels
};

class Texture {
 public:
  Texture(cudaArray_t array, const How& how) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc d = {};
    for (auto& mode : d.addressMode) mode = how.beside;
    d.filterMode = how.filters ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode =
        how.fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = how.normalised;
    d.borderColor[0] = 0.75f;
    ok(cudaCreateTextureObject(&object_, &resource, &d, nullptr));
  }
  ~Texture() { ok(cudaDestroyTextureObject(object_)); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

template <class T>
__global__ void along_a_line(cudaTextureObject_t t, const float3* at, T* out,
                             int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<T>(t, at[i].x);
}
template <class T>
__global__ void in_a_plane(cudaTextureObject_t t, const float3* at, T* out,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<T>(t, at[i].x, at[i].y);
}
template <class T>
__global__ void in_a_box(cudaTextureObject_t t, const float3* at, T* out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3D<T>(t, at[i].x, at[i].y, at[i].z);
}
__global__ void gather(cudaTextureObject_t t, const float3* at, float4* out,
                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2Dgather<float4>(t, at[i].x, at[i].y, 0);
}

template <class T>
using Fetch = void (*)(cudaTextureObject_t, const float3*, T*, int);

// ---- Comparing --------------------------------------------------------------

// FNV-1a of the 32-bit words.
template <class T>
uint64_t hash(const std::vector<T>& values) {
  std::vector<uint32_t> words(values.size() * sizeof(T) / 4);
  std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
  uint64_t h = 0xcbf29ce484222325;
  for (const uint32_t word : words) h = (h ^ word) * 0x100000001b3;
  return h;
}

void compare(const std::string& kind, uint64_t got);

template <class T>
void check(const std::string& kind, Fetch<T> fetch, cudaArray_t array,
           const How& how, const std::vector<float3>& at) {
  const int n = static_cast<int>(at.size());
  const expect::Copy<float3> device(at);
  const Texture texture(array, how);
  compare(kind, hash(expect::results<T>(n, [&](T* out) {
            fetch<<<(n + 63) / 64, 64>>>(texture, device, out, n);
          })));
}

// ---- What is fetched --------------------------------------------------------

void check_shapes(const std::vector<float>& texels) {
  const std::vector<float> row(texels.begin(), texels.begin() + kSize);
  const std::vector<float> plane(texels.begin(),
                                 texels.begin() + kSize * kSize);
  std::vector<float> steps(kSize);
  for (int i = 0; i < kSize; ++i) steps[i] = static_cast<float>(i & 1);
  const Array<float> step(steps, 0, 0), line(row, 0, 0), flat(plane, kSize, 0),
      box(texels, kSize, kDepth);
  check("weight", along_a_line<float>, step, {cudaAddressModeClamp, true},
        places_of_weights());
  for (const auto beside : {cudaAddressModeClamp, cudaAddressModeBorder,
                            cudaAddressModeWrap, cudaAddressModeMirror}) {
    const std::string mode = std::to_string(int{beside});
    auto normalised = edges();
    check("point " + mode, along_a_line<float>, line, {beside}, normalised);
    for (float3& p : normalised) p.x /= kSize;
    for (int i = 0; i < 300; ++i)
      normalised.push_back({uniform() * 6 - 3, 0, 0});
    const How filter{beside, true}, unit{beside, true, true};
    check("point of 1 " + mode, along_a_line<float>, line,
          {beside, false, true}, normalised);
    check("line of 1 " + mode, along_a_line<float>, line, unit, normalised);
    check("line " + mode, along_a_line<float>, line, filter,
          places(400, -2, kSize + 2));
    check("plane " + mode, in_a_plane<float>, flat, filter,
          places(600, -2, kSize + 2));
    check("box " + mode, in_a_box<float>, box, filter,
          places(600, -2, kSize + 2));
    check("plane of 1 " + mode, in_a_plane<float>, flat, unit,
          places(600, -2, 2));
  }
}

template <class T>
std::vector<T> random(int n) {
  std::vector<T> all(n);
  for (T& x : all) x = static_cast<T>(next());
  all.resize(kSize * kSize);
  return all;
}

template <class T>
void check_fractions(const std::string& kind, const std::vector<T>& texels,
                     const std::vector<float3>& at) {
  const Array<T> array(texels, kSize, 0);
  for (const bool filters : {false, true})
    check(kind + (filters ? " filtered" : ""), in_a_plane<float>, array,
          {cudaAddressModeClamp, filters, false, true}, at);
}

void check_halves(const std::vector<float3>& at) {
  std::vector<__half> texels(kSize * kSize);
  for (__half& x : texels) x = __float2half(uniform() * 4 - 2);
  const Array<__half> array(texels, kSize, 0, cudaCreateChannelDescHalf());
  for (const bool filters : {false, true})
    check(filters ? "half filtered" : "half", in_a_plane<float>, array,
          {cudaAddressModeClamp, filters}, at);
}

// Channels that texels do not have, and the border's.
template <class Read, class T>
void check_missing(const std::string& kind, const std::vector<T>& texels) {
  const Array<T> array(texels, kSize, 0);
  check(kind + " missing", in_a_plane<Read>, array, {}, places(4, 0, kSize));
  check(kind + " border", in_a_plane<Read>, array, {cudaAddressModeBorder},
        {{-5, -5, 0}, {3, 3, 0}});
}

// Between levels, of which each has texels of its own; z is which is wanted.
__global__ void between_levels(cudaTextureObject_t t, const float3* at,
                               float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLod<float>(t, at[i].x, at[i].y, at[i].z);
}

void check_levels(const std::vector<float>& texels, bool filters,
                  const std::vector<float3>& at) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  cudaMipmappedArray_t& all = resource.res.mipmap.mipmap;
  const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
  ok(cudaMallocMipmappedArray(&all, &form, {kSize, kSize, 0}, 4));
  for (unsigned l = 0; l < 4; ++l) {
    cudaArray_t level = nullptr;
    ok(cudaGetMipmappedArrayLevel(&level, all, l));
    const size_t row = kSize * sizeof(float) >> l;
    ok(cudaMemcpy2DToArray(level, 0, 0, texels.data() + 256 * l, row, row,
                           kSize >> l, cudaMemcpyHostToDevice));
  }
  cudaTextureDesc d = {};
  for (auto& mode : d.addressMode) mode = cudaAddressModeWrap;
  d.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.normalizedCoords = true;
  d.mipmapLevelBias = -0.3f;
  d.minMipmapLevelClamp = 0.1f;
  d.maxMipmapLevelClamp = 2.7f;
  cudaTextureObject_t texture = 0;
  ok(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  const int n = static_cast<int>(at.size());
  const expect::Copy<float3> device(at);
  compare(filters ? "levels filtered" : "levels",
          hash(expect::results<float>(n, [&](float* out) {
            between_levels<<<(n + 63) / 64, 64>>>(texture, device, out, n);
          })));
  ok(cudaDestroyTextureObject(texture));
  ok(cudaFreeMipmappedArray(all));
}

// ---- Recorded ---------------------------------------------------------------

struct Recorded {
  const char* kind;
  uint64_t hash;
};
constexpr Recorded kRecorded[] = {
    {"weight", 0x544aa04d60b42f25},
    {"point 1", 0x35485203fa639175},
    {"point of 1 1", 0x514c8ed65f102a45},
    {"line of 1 1", 0x865902d0572bd63b},
    {"line 1", 0x3b373c58007c5557},
    {"plane 1", 0xecd2b764642947bb},
    {"box 1", 0x2843ddde49b6a45a},
    {"plane of 1 1", 0x8110e5a4d8058d59},
    {"point 3", 0x2d3b26cd8ad27a35},
    {"point of 1 3", 0x7987f8276aedd9d3},
    {"line of 1 3", 0xeb66f1bc52a25049},
    {"line 3", 0x195453cbd51a60c7},
    {"plane 3", 0x5305e591a97fe3e8},
    {"box 3", 0x82886a2035cf0160},
    {"plane of 1 3", 0x77808812db86fda3},
    {"point 0", 0x35485203fa639175},
    {"point of 1 0", 0xf542f0af8194dde7},
    {"line of 1 0", 0xb0a0e7be8566d6ff},
    {"line 0", 0x8fb0773fd802cf9f},
    {"plane 0", 0x9104d6187c6a2c13},
    {"box 0", 0x2092d181f6271540},
    {"plane of 1 0", 0xc3586fac871bcd12},
    {"point 2", 0x35485203fa639175},
    {"point of 1 2", 0x3a9a0a633167fb55},
    {"line of 1 2", 0xda5ce43b70547bff},
    {"line 2", 0xa5ab3dc0f2006b15},
    {"plane 2", 0x2e0c34a9e596aec7},
    {"box 2", 0xd80d2e233bc4ccc7},
    {"plane of 1 2", 0x02383acadfd5dbb3},
    {"u8", 0x4c992a3501e5a64b},
    {"u16", 0xccef369da8b7df3e},
    {"s16", 0x7b237fd6f52e9e7a},
    {"s8", 0x3694809c5fd595be},
    {"u8 filtered", 0x9c946d67a155bf5d},
    {"u16 filtered", 0x076ac0a27c14ad06},
    {"s16 filtered", 0x9e90778bfcfe55de},
    {"s8 filtered", 0xeb0ed97371216460},
    {"half", 0x916c6da0aebbd005},
    {"half filtered", 0x985bf023a0b3f005},
    {"float missing", 0x294a696059ea47e5},
    {"float border", 0x673d9ec2df19e4f9},
    {"integer missing", 0xeb504090e729cbeb},
    {"integer border", 0x4d6c1cef0f4af776},
    {"gather", 0x261872bf73b179c5},
    {"s8 least", 0x1a57f37b8256f2dc},
    {"s8 least filtered", 0x8594015efeb5e45e},
    {"levels", 0x94b60b8d4a452d1},
    {"levels filtered", 0xd0a7f6e5a2d22ec4},
};

void compare(const std::string& kind, uint64_t got) {
  for (const Recorded& r : kRecorded)
    if (kind == r.kind)
      return expect::is_true(got == r.hash,
                             (kind + ": the bits of an H200").c_str());
  expect::is_true(false, (kind + " was recorded").c_str());
}

}  // namespace

int main() {
  std::vector<float> texels(kSize * kSize * kDepth);
  for (float& x : texels) x = uniform() * 2 - 1;
  const int n = static_cast<int>(texels.size());
  const auto u8 = random<uint8_t>(n);
  const auto u16 = random<uint16_t>(n);
  const auto s16 = random<int16_t>(n);
  const auto s8 = random<int8_t>(n);
  check_shapes(texels);
  const auto at = places(600, 0, kSize);
  check_fractions("u8", u8, at);
  check_fractions("u16", u16, at);
  check_fractions("s16", s16, at);
  check_fractions("s8", s8, at);
  check_halves(at);
  const std::vector<float> of_levels = texels;
  texels.resize(kSize * kSize);
  check_missing<float4>("float", texels);
  check_missing<uint4>("integer", u8);
  auto most = edges();
  most.resize(178);  // of which the H200's answers are there
  const Array<float> flat(texels, kSize, 0);
  check("gather", gather, flat, {}, most);
  std::vector<int8_t> least(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i)
    least[i] = static_cast<int8_t>(i % 3 ? -128 + i % 5 : i);
  check_fractions("s8 least", least, at);
  for (const bool filters : {false, true})
    check_levels(of_levels, filters, places(1000, -1, 3));
  return expect::report();
}
