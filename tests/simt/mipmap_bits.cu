// What filters make of two levels, bit for bit: of random texels at random
// places, compared with what an H100 answered.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/simt/expect.h"

namespace {

using expect::ok;

constexpr int kFetches = 40, kLevels = 4;

// The same numbers on every machine.
class Numbers {
 public:
  uint32_t bits() const { return state_; }
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) * 0x1p-24f;
  }

 private:
  uint32_t state_ = 7;
} numbers;

float texel_of(float) { return numbers.next() * 8 - 4; }
__half texel_of(__half) { return __float2half(numbers.next() * 8 - 4); }
template <class T>
T texel_of(T) {
  const uint32_t bits = numbers.bits();
  numbers.next();
  return static_cast<T>(bits);
}

__global__ void fetch_kernel(cudaTextureObject_t texture, bool has_depth,
                             const float4* at, float* out) {
  const float4 p = at[threadIdx.x];
  out[threadIdx.x] = has_depth ? tex3DLod<float>(texture, p.x, p.y, p.z, p.w)
                               : tex2DLod<float>(texture, p.x, p.y, p.w);
}

template <class T>
void fill(cudaMipmappedArray_t array, int base, bool has_depth) {
  for (int level = 0; level < kLevels; ++level) {
    const size_t size = base >> level, depth = has_depth ? size : 1;
    std::vector<T> texels(size * size * depth);
    for (T& texel : texels) texel = texel_of(T{});
    cudaArray_t one;
    ok(cudaGetMipmappedArrayLevel(&one, array, level));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr =
        make_cudaPitchedPtr(texels.data(), size * sizeof(T), size, size);
    copy.dstArray = one;
    copy.extent = {size, size, depth};
    copy.kind = cudaMemcpyHostToDevice;
    ok(cudaMemcpy3D(&copy));
  }
}

std::vector<float4> places() {
  std::vector<float4> all(kFetches);
  for (float4& one : all) {
    one.x = numbers.next();
    one.y = numbers.next();
    one.z = numbers.next();
    one.w = numbers.next() * 3.2f - .1f;
  }
  return all;
}

uint32_t digest_of(cudaTextureObject_t texture, bool has_depth) {
  const std::vector<float4> at = places();
  float4* from = nullptr;
  ok(cudaMalloc(&from, kFetches * sizeof *from));
  ok(cudaMemcpy(from, at.data(), kFetches * sizeof *from, cudaMemcpyDefault));
  const auto got = expect::results<float>(kFetches, [&](float* out) {
    fetch_kernel<<<1, kFetches>>>(texture, has_depth, from, out);
  });
  ok(cudaFree(from));
  return expect::digest(got.data(), got.size());
}

// Nearest texels of the nearest level, of two; mean texels likewise.
template <class T>
void check(bool has_depth, const cudaChannelFormatDesc& channel,
           cudaTextureReadMode mode, const uint32_t (&expected)[4]) {
  const size_t base = has_depth ? 8 : 16;
  cudaMipmappedArray_t array;
  ok(cudaMallocMipmappedArray(&array, &channel,
                              {base, base, has_depth ? base : 0}, kLevels));
  fill<T>(array, base, has_depth);
  for (int k = 0; k < 4; ++k) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    cudaTextureDesc how = {};
    for (auto& beside : how.addressMode) beside = cudaAddressModeWrap;
    how.normalizedCoords = 1;
    how.readMode = mode;
    how.filterMode = cudaTextureFilterMode(k / 2);
    how.mipmapFilterMode = cudaTextureFilterMode(k % 2);
    how.maxMipmapLevelClamp = kLevels - 1;
    cudaTextureObject_t texture;
    ok(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    expect::equal(digest_of(texture, has_depth), expected[k]);
    if (has_depth) places();  // The H100 was asked something else, too.
    ok(cudaDestroyTextureObject(texture));
  }
  ok(cudaFreeMipmappedArray(array));
}

}  // namespace

int main() {
  const auto floats = cudaCreateChannelDesc<float>();
  const auto halves = cudaCreateChannelDescHalf();
  const auto bytes = cudaCreateChannelDesc<unsigned char>();
  const auto whole = cudaReadModeElementType;
  const auto fraction = cudaReadModeNormalizedFloat;
  check<float>(true, floats, whole,
               {0x2766b1c1, 0xf5394a8b, 0x1e65d61f, 0xa755e8ae});
  check<float>(false, floats, whole,
               {0x443f863d, 0xf784d1ea, 0x76f25a62, 0xd171f25d});
  check<__half>(true, halves, whole,
                {0x7f1f67e5, 0xd6e907e5, 0x1740a7e5, 0x1ec107e5});
  check<__half>(false, halves, whole,
                {0xa59507e5, 0xc66ba7e5, 0xf6cae7e5, 0x92c387e5});
  check<uint8_t>(true, bytes, fraction,
                 {0x4d646da4, 0x1b403bc3, 0xf1d0030c, 0xbd14b1dc});
  check<uint8_t>(false, bytes, fraction,
                 {0x816c37e4, 0x7699172f, 0x1e318521, 0x2bf80577});
  check<int16_t>(true, cudaCreateChannelDesc<short>(), fraction,
                 {0xb38590a0, 0x0edce946, 0xdb12716d, 0x6bc9461a});
  return expect::report();
}
