// The driver API: arrays, mipmapped ones, textures and surfaces, and copies of
// boxes. What a texture reads is texture.cu's; here it is how one is described.
#include <algorithm>

#include "tests/simt/driver_calls.h"

namespace {

using driver_calls::ok;
using expect::each;
using expect::equal;
using expect::ok;

constexpr int kWidth = 8, kHeight = 4, kDepth = 2;
constexpr int kRow = kWidth * sizeof(float);

__global__ void sample_kernel(cudaTextureObject_t texture, float* y, float dx) {
  const int i = threadIdx.x;
  y[i] = tex2D<float>(texture, i % kWidth + dx, i / kWidth + 0.5f);
}

__global__ void sample_box_kernel(cudaTextureObject_t texture, float* y) {
  const int i = threadIdx.x;
  y[i] = tex3D<float>(texture, i % kWidth + 0.5f, i / kWidth % kHeight + 0.5f,
                      i / kWidth / kHeight + 0.5f);
}

__global__ void fetch_kernel(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

__global__ void level_kernel(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, threadIdx.x);
}

__global__ void double_row_kernel(cudaSurfaceObject_t surface) {
  float x;
  surf2Dread(&x, surface, threadIdx.x * sizeof(float), 1);
  surf2Dwrite(2 * x, surface, threadIdx.x * sizeof(float), 2);
}

std::vector<float> squares(int count) {
  std::vector<float> all(count);
  for (int i = 0; i < count; ++i) all[i] = float(i * i);
  return all;
}

std::vector<float> on_host(const float* from, int count) {
  std::vector<float> all(count);
  ok(cudaMemcpy(all.data(), from, count * sizeof(float), cudaMemcpyDefault));
  return all;
}

float* floats(int count) {
  float* all = nullptr;
  ok(cudaMalloc(&all, count * sizeof(float)));
  return all;
}

CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUtexObject texture_of(const CUDA_RESOURCE_DESC& resource,
                       CUfilter_mode filter = CU_TR_FILTER_MODE_POINT,
                       unsigned flags = 0) {
  CUDA_TEXTURE_DESC how = {};
  std::fill_n(how.addressMode, 3, CU_TR_ADDRESS_MODE_CLAMP);
  how.filterMode = filter;
  how.flags = flags;
  how.maxMipmapLevelClamp = 10;
  CUtexObject texture = 0;
  ok(CALL(TexObjectCreate)(&texture, &resource, &how, nullptr));
  return texture;
}

CUDA_MEMCPY2D rows_to(CUarray to, const void* from) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = to;
  copy.srcPitch = copy.WidthInBytes = kRow;
  copy.Height = kHeight;
  return copy;
}

// ---- Arrays and textures ----------------------------------------------------

void filtered() {
  const CUDA_ARRAY_DESCRIPTOR wanted = {kWidth, kHeight, CU_AD_FORMAT_FLOAT, 1};
  CUDA_ARRAY_DESCRIPTOR told = {};
  CUarray array = nullptr;
  ok(CALL(ArrayCreate)(&array, &wanted));
  ok(CALL(ArrayGetDescriptor)(&told, array));
  equal(told.Width, wanted.Width);
  equal(told.Height, wanted.Height);
  equal(told.Format, CU_AD_FORMAT_FLOAT);
  equal(told.NumChannels, 1);
  const auto x = squares(kWidth * kHeight);
  const CUDA_MEMCPY2D copy = rows_to(array, x.data());
  ok(CALL(Memcpy2D)(&copy));
  const CUtexObject texture =
      texture_of(resource_of(array), CU_TR_FILTER_MODE_LINEAR);
  float* const y = floats(kWidth * kHeight);
  sample_kernel<<<1, kWidth * kHeight>>>(texture, y, 1);
  each(on_host(y, kWidth * kHeight), [&](int i) {
    return i % kWidth == kWidth - 1 ? x[i] : (x[i] + x[i + 1]) / 2;
  });
  ok(CALL(TexObjectDestroy)(texture));
  CUDA_MEMCPY2D wide = copy;
  wide.dstXInBytes = 4;
  equal(CALL(Memcpy2D)(&wide), CUDA_ERROR_INVALID_VALUE);
  ok(CALL(ArrayDestroy)(array));
}

// Small integers are fractions, if nobody says otherwise.
void fractions() {
  const CUDA_ARRAY_DESCRIPTOR wanted = {kWidth, kHeight,
                                        CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array = nullptr;
  ok(CALL(ArrayCreate)(&array, &wanted));
  const std::vector<uint8_t> x(kWidth * kHeight, 51);
  CUDA_MEMCPY2D copy = rows_to(array, x.data());
  copy.srcPitch = copy.WidthInBytes = kWidth;
  ok(CALL(Memcpy2DAsync)(&copy, nullptr));
  float* const y = floats(kWidth * kHeight);
  sample_kernel<<<1, kWidth * kHeight>>>(texture_of(resource_of(array)), y, 0);
  each(on_host(y, kWidth * kHeight), [](int) { return 0.2f; });
  const CUDA_ARRAY_DESCRIPTOR odd = {kWidth, kHeight, CU_AD_FORMAT_FLOAT, 3};
  equal(CALL(ArrayCreate)(&array, &odd), CUDA_ERROR_INVALID_VALUE);
}

void surface() {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {
      kWidth, kHeight, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUDA_ARRAY3D_DESCRIPTOR told = {};
  CUarray array = nullptr;
  ok(CALL(Array3DCreate)(&array, &wanted));
  ok(CALL(Array3DGetDescriptor)(&told, array));
  equal(told.Flags, unsigned(CUDA_ARRAY3D_SURFACE_LDST));
  equal(told.Depth, 0);
  const auto x = squares(kWidth * kHeight);
  const CUDA_MEMCPY2D there = rows_to(array, x.data());
  ok(CALL(Memcpy2D)(&there));
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC resource = resource_of(array);
  ok(CALL(SurfObjectCreate)(&surface, &resource));
  double_row_kernel<<<1, kWidth>>>(surface);
  std::vector<float> y(kWidth);
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.srcY = 2;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = y.data();
  back.WidthInBytes = kRow;
  back.Height = 1;
  ok(CALL(Memcpy2D)(&back));
  each(y, [&](int i) { return 2 * x[kWidth + i]; });
  equal(CALL(MemcpyAtoH)(y.data(), array, 2 * kRow, kRow),
        CUDA_ERROR_INVALID_VALUE);
  ok(CALL(SurfObjectDestroy)(surface));
  ok(CALL(ArrayDestroy)(array));
}

void box() {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {
      kWidth, kHeight, kDepth, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray array = nullptr;
  ok(CALL(Array3DCreate)(&array, &wanted));
  const auto x = squares(kWidth * kHeight * kDepth);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = x.data();
  copy.srcPitch = copy.WidthInBytes = kRow;
  copy.srcHeight = copy.Height = kHeight;
  copy.Depth = kDepth;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  ok(CALL(Memcpy3D)(&copy));
  float* const y = floats(int(x.size()));
  sample_box_kernel<<<1, unsigned(x.size())>>>(texture_of(resource_of(array)),
                                               y);
  each(on_host(y, int(x.size())), [&](int i) { return x[i]; });
  copy.dstZ = 1;
  equal(CALL(Memcpy3D)(&copy), CUDA_ERROR_INVALID_VALUE);
}

// Rows in memory, and memory without rows.
void memory() {
  CUdeviceptr rows = 0;
  size_t pitch = 0;
  ok(CALL(MemAllocPitch)(&rows, &pitch, kRow, kHeight, 4));
  ok(CALL(MemsetD2D32Async)(rows, pitch, 0x40200000, kWidth, kHeight, nullptr));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {rows, CU_AD_FORMAT_FLOAT, 1, kWidth, kHeight, pitch};
  float* const y = floats(kWidth * kHeight);
  sample_kernel<<<1, kWidth * kHeight>>>(texture_of(resource), y, 0);
  each(on_host(y, kWidth * kHeight), [](int) { return 2.5f; });
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {rows, CU_AD_FORMAT_FLOAT, 1, kRow};
  fetch_kernel<<<1, kWidth>>>(texture_of(resource), y);
  each(on_host(y, kWidth), [](int) { return 2.5f; });
}

void levels() {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  ok(CALL(MipmappedArrayCreate)(&array, &wanted, 3));
  for (unsigned k = 0; k < 3; ++k) {
    CUarray level = nullptr;
    ok(CALL(MipmappedArrayGetLevel)(&level, array, k));
    const std::vector<float> x(16, float(k + 1));
    CUDA_MEMCPY2D copy = rows_to(level, x.data());
    copy.srcPitch = copy.WidthInBytes = (4 >> k) * sizeof(float);
    copy.Height = 4 >> k;
    ok(CALL(Memcpy2D)(&copy));
  }
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  float* const y = floats(3);
  level_kernel<<<1, 3>>>(texture_of(resource, CU_TR_FILTER_MODE_POINT,
                                    CU_TRSF_NORMALIZED_COORDINATES),
                         y);
  each(on_host(y, 3), [](int i) { return i + 1; });
  ok(CALL(MipmappedArrayDestroy)(array));
}

// ---- Bytes of arrays, and the rest ------------------------------------------

void bytes() {
  const CUDA_ARRAY_DESCRIPTOR wanted = {32, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4};
  CUarray array = nullptr;
  ok(CALL(ArrayCreate)(&array, &wanted));
  std::vector<uint8_t> x(64), y(64);
  for (int i = 0; i < 64; ++i) x[i] = uint8_t(3 * i);
  CUdeviceptr memory = 0;
  ok(CALL(MemAlloc)(&memory, 64));
  ok(CALL(MemcpyHtoA)(array, 8, x.data(), 64));
  ok(CALL(MemcpyAtoD)(memory, array, 8, 64));
  ok(CALL(MemcpyDtoA)(array, 16, memory, 32));
  ok(CALL(MemcpyAtoH)(y.data(), array, 8, 64));
  each(y, [&](int i) { return i < 8 || i >= 40 ? x[i] : x[i - 8]; });
  equal(CALL(MemcpyAtoH)(y.data(), array, 100, 64), CUDA_ERROR_INVALID_VALUE);
}

void peers() {
  CUcontext context = nullptr;
  CUdeviceptr x = 0;
  ok(CALL(CtxGetCurrent)(&context));
  ok(CALL(MemAlloc)(&x, 64));
  ok(CALL(MemsetD32)(x, 7, 8));
  ok(CALL(MemcpyPeer)(x + 32, context, x, context, 32));
  std::vector<int> y(16);
  ok(CALL(MemcpyDtoH)(y.data(), x, 64));
  each(y, [](int) { return 7; });
}

}  // namespace

int main() {
  driver_calls::begin();
  filtered();
  fractions();
  surface();
  box();
  memory();
  levels();
  bytes();
  peers();
  return expect::report();
}
