// Textures and surfaces: they go another way than loads and stores, beside
// which they stand here.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

constexpr int kWidth = 64, kHeight = 16;

__global__ void fetched(cudaTextureObject_t t, float* y, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tex1Dfetch<float>(t, i * step % (kWidth * kHeight));
}

__global__ void filtered(cudaTextureObject_t t, float* y, float step) {
  const int x = threadIdx.x, r = blockIdx.x;
  y[r * kWidth + x] = tex2D<float>(t, x * step, r + 0.25f);
}

// Of a sum, a part comes as a texture and a part as a load.
__global__ void beside(cudaTextureObject_t t, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tex1Dfetch<float>(t, i) + x[2 * i % (kWidth * kHeight)];
}

__global__ void drawn(cudaSurfaceObject_t s, const float* x) {
  const int i = threadIdx.x, r = blockIdx.x;
  const float left = surf2Dread<float>(s, i * 4, r, cudaBoundaryModeClamp);
  surf2Dwrite(left + x[r * kWidth + i], s, i * 4, r);
}

}  // namespace

int main() {
  constexpr int kAll = kWidth * kHeight;
  const DeviceArray<float> in(kAll), out(kAll);
  CUDA_CHECK(cudaMemset(in.data(), 0, kAll * sizeof(float)));
  const auto form = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CUDA_CHECK(cudaMallocArray(&array, &form, kWidth, kHeight,
                             cudaArraySurfaceLoadStore));
  CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, in.data(), kWidth * 4, kWidth * 4,
                                 kHeight, cudaMemcpyDeviceToDevice));
  cudaResourceDesc linear = {}, image = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {in.data(), form, kAll * sizeof(float)};
  image.resType = cudaResourceTypeArray;
  image.res.array.array = array;
  cudaTextureDesc how = {};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  cudaTextureObject_t numbers = 0, picture = 0;
  cudaSurfaceObject_t canvas = 0;
  CUDA_CHECK(cudaCreateTextureObject(&numbers, &linear, &how, nullptr));
  how.filterMode = cudaFilterModeLinear;
  CUDA_CHECK(cudaCreateTextureObject(&picture, &image, &how, nullptr));
  CUDA_CHECK(cudaCreateSurfaceObject(&canvas, &image));
  for (const int step : {1, 2, 33})
    fetched<<<kHeight, kWidth>>>(numbers, out.data(), step);
  for (const float step : {0.5f, 1.f, 3.f})
    filtered<<<kHeight, kWidth>>>(picture, out.data(), step);
  beside<<<kHeight, kWidth>>>(numbers, in.data(), out.data());
  drawn<<<kHeight, kWidth>>>(canvas, in.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
