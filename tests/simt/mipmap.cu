// Textures of several levels, and of the six faces of a cube.
#include <algorithm>
#include <cmath>

#include "tests/simt/expect.h"

namespace {

using expect::ok;

const cudaChannelFormatDesc kFloats = cudaCreateChannelDesc<float>();

cudaTextureDesc description(cudaTextureFilterMode filter) {
  cudaTextureDesc d = {};
  for (auto& mode : d.addressMode) mode = cudaAddressModeClamp;
  d.filterMode = d.mipmapFilterMode = filter;
  d.readMode = cudaReadModeElementType;
  d.normalizedCoords = 1;
  d.maxMipmapLevelClamp = 15;
  return d;
}

class Texture {
 public:
  Texture(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
    ok(cudaCreateTextureObject(&object_, &resource, &how, nullptr));
  }
  ~Texture() { ok(cudaDestroyTextureObject(object_)); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc d = {};
  d.resType = cudaResourceTypeArray;
  d.res.array.array = array;
  return d;
}

void fill(cudaArray_t array, cudaExtent extent,
          const std::vector<float>& texels) {
  cudaMemcpy3DParms copy = {};
  const size_t rows = extent.height ? extent.height : 1;
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(texels.data()),
                                    extent.width * 4, extent.width, rows);
  copy.dstArray = array;
  copy.extent = {extent.width, rows, extent.depth ? extent.depth : 1};
  copy.kind = cudaMemcpyHostToDevice;
  ok(cudaMemcpy3D(&copy));
}

// ---- Cubes
// --------------------------------------------------------------------

constexpr int kN = 8, kFaces = 6, kFace = kN * kN;

// The direction to a place of a face, by the table of the CUDA Programming
// Guide; s and t from -1 to 1.
__host__ __device__ float3 direction(int face, float s, float t) {
  switch (face) {
    case 0:
      return {1, -t, -s};
    case 1:
      return {-1, -t, s};
    case 2:
      return {s, 1, t};
    case 3:
      return {s, -1, -t};
    case 4:
      return {s, -t, 1};
    default:
      return {-s, -t, -1};
  }
}

// `beyond`: how far behind a texel's centre, in texels.
__global__ void cube_kernel(cudaTextureObject_t cube, float beyond,
                            float* out) {
  const int i = threadIdx.x % kFace, face = blockIdx.x;
  const float s = 2 * ((i % kN + 0.5f + beyond) / kN) - 1;
  const float t = 2 * ((i / kN + 0.5f) / kN) - 1;
  const float3 at = direction(face, s, t);
  // How long the vector is does not matter.
  out[face * kFace + i] = texCubemap<float>(cube, 2 * at.x, 2 * at.y, 2 * at.z);
}

__global__ void cubes_kernel(cudaTextureObject_t cubes, float* out) {
  const int i = threadIdx.x, face = blockIdx.x, cube = blockIdx.y;
  const float3 at = direction(face, 2 * ((i % kN + 0.5f) / kN) - 1,
                              2 * ((i / kN + 0.5f) / kN) - 1);
  out[(cube * kFaces + face) * kFace + i] =
      texCubemapLayered<float>(cubes, at.x, at.y, at.z, cube);
}

// At the edge of a row: the quotient 1.1/2.2 is a float below a half, and stays
// there; 2.1/2.8 is rounded to three quarters.
__global__ void edge_kernel(cudaTextureObject_t cube, float* out) {
  out[0] = texCubemap<float>(cube, -2.2f, -1.0999999f, -0.05f);
  out[1] = texCubemap<float>(cube, 2.8f, -2.1f, -0.05f);
}

__global__ void paint_kernel(cudaSurfaceObject_t cube) {
  const int i = threadIdx.x, face = blockIdx.x;
  const float old = surfCubemapread<float>(cube, i % kN * 4, i / kN, face);
  surfCubemapwrite(old + 0.25f, cube, i % kN * 4, i / kN, face);
}

std::vector<float> numbered(size_t n) {
  std::vector<float> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = static_cast<float>(4 * i);
  return all;
}

void check_cube() {
  const cudaExtent extent{kN, kN, kFaces};
  cudaArray_t array = nullptr;
  ok(cudaMalloc3DArray(&array, &kFloats, extent,
                       cudaArrayCubemap | cudaArraySurfaceLoadStore));
  fill(array, extent, numbered(kFaces * kFace));
  const auto read = [&](cudaTextureFilterMode filter, float beyond,
                        int normalised = 1) {
    cudaTextureDesc how = description(filter);
    how.normalizedCoords = normalised;
    const Texture texture(of_array(array), how);
    return expect::results<float>(kFaces * kFace, [&](float* out) {
      cube_kernel<<<kFaces, kFace>>>(texture, beyond, out);
    });
  };
  expect::each(read(cudaFilterModePoint, 0), [](int i) { return 4 * i; });
  expect::each(read(cudaFilterModePoint, 0.25f), [](int i) { return 4 * i; });
  expect::each(read(cudaFilterModePoint, 0, 0), [](int i) { return 4 * i; });
  const Texture nearest(of_array(array), description(cudaFilterModePoint));
  const auto edges = expect::results<float>(
      2, [&](float* out) { edge_kernel<<<1, 1>>>(nearest, out); });
  expect::equal(edges[0], 4 * (kFace + 5 * kN + 3));
  expect::equal(edges[1], 4 * (7 * kN + 4));
  cudaSurfaceObject_t surface = 0;
  const cudaResourceDesc resource = of_array(array);
  ok(cudaCreateSurfaceObject(&surface, &resource));
  paint_kernel<<<kFaces, kFace>>>(surface);
  ok(cudaDeviceSynchronize());
  ok(cudaDestroySurfaceObject(surface));
  expect::each(read(cudaFilterModePoint, 0),
               [](int i) { return 4 * i + 0.25f; });
  ok(cudaFreeArray(array));
}

// Within a face, between texels.
__global__ void between_kernel(cudaTextureObject_t cube, float* out) {
  const int i = threadIdx.x, face = blockIdx.x;
  const float3 at = direction(face, 2 * ((i + 1.f) / kN) - 1, 0.125f);
  out[face * (kN - 1) + i] = texCubemap<float>(cube, at.x, at.y, at.z);
}

void check_filtered_cube() {
  const cudaExtent extent{kN, kN, kFaces};
  cudaArray_t array = nullptr;
  ok(cudaMalloc3DArray(&array, &kFloats, extent, cudaArrayCubemap));
  fill(array, extent, numbered(kFaces * kFace));
  const Texture texture(of_array(array), description(cudaFilterModeLinear));
  const auto got = expect::results<float>(kFaces * (kN - 1), [&](float* out) {
    between_kernel<<<kFaces, kN - 1>>>(texture, out);
  });
  expect::each(got, [](int i) {
    const int face = i / (kN - 1), x = i % (kN - 1);
    return 4 * (face * kFace + kN / 2 * kN + x) + 2;
  });
  ok(cudaFreeArray(array));
}

void check_cubes() {
  constexpr int kCubes = 3;
  const cudaExtent extent{kN, kN, kFaces * kCubes};
  cudaArray_t array = nullptr;
  ok(cudaMalloc3DArray(&array, &kFloats, extent,
                       cudaArrayCubemap | cudaArrayLayered));
  fill(array, extent, numbered(kFaces * kFace * kCubes));
  const Texture texture(of_array(array), description(cudaFilterModePoint));
  const auto got =
      expect::results<float>(kFaces * kFace * kCubes, [&](float* out) {
        cubes_kernel<<<dim3(kFaces, kCubes), kFace>>>(texture, out);
      });
  expect::each(got, [](int i) { return 4 * i; });
  ok(cudaFreeArray(array));
}

void check_bad_cubes() {
  const auto refused = [](cudaExtent extent, unsigned flags) {
    cudaArray_t array = nullptr;
    expect::equal(cudaMalloc3DArray(&array, &kFloats, extent, flags),
                  cudaErrorInvalidValue);
    cudaGetLastError();
  };
  refused({kN, kN, 5}, cudaArrayCubemap);
  refused({kN, 2 * kN, 6}, cudaArrayCubemap);
  refused({kN, kN, 13}, cudaArrayCubemap | cudaArrayLayered);
}

// ---- Levels
// -------------------------------------------------------------------

class Levels {
 public:
  Levels(cudaExtent extent, unsigned count, unsigned flags = 0)
      : extent_(extent) {
    ok(cudaMallocMipmappedArray(&array_, &kFloats, extent, count, flags));
  }
  ~Levels() { ok(cudaFreeMipmappedArray(array_)); }
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;

  cudaArray_t level(unsigned number) const {
    cudaArray_t level = nullptr;
    ok(cudaGetMipmappedArrayLevel(&level, array_, number));
    return level;
  }
  cudaExtent extent(unsigned number) const {
    cudaChannelFormatDesc form;
    cudaExtent extent;
    unsigned flags;
    ok(cudaArrayGetInfo(&form, &extent, &flags, level(number)));
    return extent;
  }
  // Each texel of a level is 1000 times the level's number, and `step` times
  // its own.
  void number(unsigned count, float step) const {
    for (unsigned k = 0; k < count; ++k) {
      const cudaExtent e = extent(k);
      std::vector<float> texels(e.width * std::max<size_t>(e.height, 1) *
                                std::max<size_t>(e.depth, 1));
      for (size_t i = 0; i < texels.size(); ++i)
        texels[i] = 1000.f * k + step * i;
      fill(level(k), e, texels);
    }
  }
  cudaResourceDesc resource() const {
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeMipmappedArray;
    d.res.mipmap.mipmap = array_;
    return d;
  }
  operator cudaMipmappedArray_t() const { return array_; }

 private:
  cudaExtent extent_;
  cudaMipmappedArray_t array_ = nullptr;
};

void check_sizes() {
  const Levels levels({16, 4, 0}, 99);
  const size_t widths[] = {16, 8, 4, 2, 1}, heights[] = {4, 2, 1, 1, 1};
  for (unsigned k = 0; k < 5; ++k) {
    expect::equal(levels.extent(k).width, widths[k]);
    expect::equal(levels.extent(k).height, heights[k]);
    expect::equal(levels.extent(k).depth, 0u);
  }
  cudaArray_t level = nullptr;
  expect::is_true(cudaGetMipmappedArrayLevel(&level, levels, 5) != cudaSuccess,
                  "there are five levels");
  cudaGetLastError();
}

// Each texel of a level.
__global__ void level_kernel(cudaTextureObject_t texture, float level, int w,
                             int h, float* out) {
  const int i = threadIdx.x;
  out[i] =
      tex2DLod<float>(texture, (i % w + 0.5f) / w, (i / w + 0.5f) / h, level);
}

void check_levels() {
  const Levels levels({8, 8, 0}, 4);
  levels.number(4, 1);
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const Texture texture(levels.resource(), description(filter));
    for (int k = 0; k < 4; ++k) {
      const int n = 8 >> k;
      const auto got = expect::results<float>(n * n, [&](float* out) {
        level_kernel<<<1, n * n>>>(texture, k, n, n, out);
      });
      expect::each(got, [&](int i) { return 1000 * k + i; });
    }
  }
}

__global__ void levels_kernel(cudaTextureObject_t texture, float first,
                              float step, float* out) {
  out[threadIdx.x] =
      tex2DLod<float>(texture, 0.5f, 0.5f, first + step * threadIdx.x);
}

// From level -1 on, in steps of a quarter.
std::vector<float> by_quarters(const Levels& levels,
                               const cudaTextureDesc& how) {
  const Texture texture(levels.resource(), how);
  return expect::results<float>(24, [&](float* out) {
    levels_kernel<<<1, 24>>>(texture, -1.f + 1 / 16.f, 0.25f, out);
  });
}
float quarter(int i) { return -1.f + 1 / 16.f + 0.25f * i; }

void check_between_levels() {
  const Levels levels({8, 8, 0}, 4);
  levels.number(4, 0);
  const auto clamped = [](float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
  };
  cudaTextureDesc how = description(cudaFilterModePoint);
  expect::each(by_quarters(levels, how), [&](int i) {
    return 1000 * std::floor(clamped(quarter(i), 0, 3) + 0.5f);
  });
  how.mipmapFilterMode = cudaFilterModeLinear;
  expect::each(by_quarters(levels, how),
               [&](int i) { return 1000 * clamped(quarter(i), 0, 3); });
  how.minMipmapLevelClamp = 0.5f;
  how.maxMipmapLevelClamp = 2;
  expect::each(by_quarters(levels, how),
               [&](int i) { return 1000 * clamped(quarter(i), 0.5f, 2); });
  how.minMipmapLevelClamp = 0;
  how.maxMipmapLevelClamp = 3;
  how.mipmapLevelBias = 0.5f;
  expect::each(by_quarters(levels, how),
               [&](int i) { return 1000 * clamped(quarter(i) + 0.5f, 0, 3); });
  // As it begins, zero: there is one level.
  how = description(cudaFilterModePoint);
  how.maxMipmapLevelClamp = 0;
  expect::each(by_quarters(levels, how), [](int) { return 0; });
}

// Steps of 1, 2, 4 and 8 texels along x, along y, along both.
__global__ void steps_kernel(cudaTextureObject_t texture, float* out) {
  const float step = (1 << threadIdx.x) / 8.f;
  const float2 x{step, 0}, y{0, step}, none{0, 0};
  out[threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, x, none);
  out[4 + threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, none, y);
  out[8 + threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, y, x);
}

void check_derivatives() {
  const Levels levels({8, 8, 0}, 4);
  levels.number(4, 0);
  const Texture texture(levels.resource(), description(cudaFilterModePoint));
  const auto got = expect::results<float>(
      12, [&](float* out) { steps_kernel<<<1, 4>>>(texture, out); });
  expect::each(got, [](int i) { return 1000 * (i % 4); });
}

__global__ void shapes_kernel(cudaTextureObject_t line, cudaTextureObject_t box,
                              cudaTextureObject_t stack,
                              cudaTextureObject_t cube, float* out) {
  out[0] = tex1DLod<float>(line, 0.9f, 1);
  out[1] = tex3DLod<float>(box, 0.9f, 0.9f, 0.9f, 1);
  out[2] = tex2DLayeredLod<float>(stack, 0.9f, 0.9f, 2, 1);
  out[3] = texCubemapLod<float>(cube, 0, 0, -1, 2);
  out[4] = tex1DGrad<float>(line, 0.9f, 0.25f, 0);
  out[5] = tex3DGrad<float>(box, 0.9f, 0.9f, 0.9f, make_float4(0, 0.5f, 0, 0),
                            make_float4(0, 0, 0, 0));
}

void check_shapes() {
  const Levels line({8, 0, 0}, 4), box({4, 4, 4}, 3);
  const Levels stack({4, 4, 3}, 3, cudaArrayLayered);
  const Levels cube({4, 4, 6}, 3, cudaArrayCubemap);
  for (const Levels* one : {&line, &box, &stack, &cube}) one->number(3, 1);
  const cudaTextureDesc how = description(cudaFilterModePoint);
  const Texture a(line.resource(), how), b(box.resource(), how),
      c(stack.resource(), how), d(cube.resource(), how);
  const auto got = expect::results<float>(
      6, [&](float* out) { shapes_kernel<<<1, 1>>>(a, b, c, d, out); });
  const float want[] = {1003, 1007, 1011, 2005, 1003, 1007};
  expect::each(got, [&](int i) { return want[i]; });
}

// Each level is made of the one before, as programs do: through a surface.
__global__ void reduce_kernel(cudaTextureObject_t from, cudaSurfaceObject_t to,
                              int n) {
  const int x = threadIdx.x % n, y = threadIdx.x / n;
  const float u = (x + 0.5f) / n, v = (y + 0.5f) / n;
  surf2Dwrite(tex2D<float>(from, u, v), to, x * 4, y);
}

void check_reduction() {
  const Levels levels({8, 8, 0}, 4, cudaArraySurfaceLoadStore);
  std::vector<float> texels(64);
  for (int i = 0; i < 64; ++i) texels[i] = static_cast<float>(4 * i);
  fill(levels.level(0), {8, 8, 0}, texels);
  for (int k = 1; k < 4; ++k) {
    const int n = 8 >> k;
    const Texture from(of_array(levels.level(k - 1)),
                       description(cudaFilterModeLinear));
    const cudaResourceDesc resource = of_array(levels.level(k));
    cudaSurfaceObject_t to = 0;
    ok(cudaCreateSurfaceObject(&to, &resource));
    reduce_kernel<<<1, n * n>>>(from, to, n);
    ok(cudaDeviceSynchronize());
    ok(cudaDestroySurfaceObject(to));
  }
  const Texture texture(levels.resource(), description(cudaFilterModePoint));
  const auto got = expect::results<float>(
      1, [&](float* out) { level_kernel<<<1, 1>>>(texture, 3, 1, 1, out); });
  expect::equal(got[0], 4 * 31.5f);
}

// What only arrays and textures of a special kind can tell.
void check_plain_ones() {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t levels = nullptr;
  ok(cudaMallocArray(&array, &kFloats, 16, 16));
  ok(cudaMallocMipmappedArray(&levels, &kFloats, {16, 16, 0}, 3));
  const cudaResourceDesc resource = of_array(array);
  const cudaTextureDesc plain = {};
  cudaTextureObject_t texture = 0;
  ok(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
  const auto refused = [](cudaError_t error) {
    expect::equal(error, cudaErrorInvalidValue);
  };
  cudaArray_t plane = nullptr;
  refused(cudaArrayGetPlane(&plane, array, 0));
  cudaArraySparseProperties sparse = {};
  refused(cudaArrayGetSparseProperties(&sparse, array));
  refused(cudaMipmappedArrayGetSparseProperties(&sparse, levels));
  cudaArrayMemoryRequirements wanted = {};
  refused(cudaArrayGetMemoryRequirements(&wanted, array, 0));
  refused(cudaMipmappedArrayGetMemoryRequirements(&wanted, levels, 0));
  cudaResourceViewDesc view = {};
  ok(cudaGetTextureObjectResourceViewDesc(&view, texture));
  size_t width = 0;
  const auto vectors = cudaCreateChannelDesc<float4>();
  ok(cudaDeviceGetTexture1DLinearMaxWidth(&width, &vectors, 0));
  expect::equal(width, size_t{1} << 28);
  ok(cudaDeviceGetTexture1DLinearMaxWidth(&width, &kFloats, 0));
  expect::equal(width, size_t{1} << 30);
  refused(cudaDeviceGetTexture1DLinearMaxWidth(&width, nullptr, 0));
  cudaGetLastError();
  ok(cudaDestroyTextureObject(texture));
  ok(cudaFreeMipmappedArray(levels));
  ok(cudaFreeArray(array));
}

}  // namespace

int main() {
  check_cube();
  check_filtered_cube();
  check_cubes();
  check_bad_cubes();
  check_sizes();
  check_levels();
  check_between_levels();
  check_derivatives();
  check_shapes();
  check_reduction();
  check_plain_ones();
  return expect::report();
}
