// What every course computes: products, transposes, histograms, scans,
// stencils.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "common/harness/device_array.h"

namespace {

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = thread();
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

template <int kTile>
__global__ void transpose(const float* x, float* y, int n) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (column < n && row < n) y[column * n + row] = x[row * n + column];
}

template <int kPadding>
__global__ void transpose_tiled(const float* x, float* y, int n) {
  __shared__ float tile[32][32 + kPadding];
  int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + column];
  __syncthreads();
  column = blockIdx.y * 32 + threadIdx.x;
  const int first = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    y[(first + k) * n + column] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void histogram(const uint8_t* x, int* bins, int n) {
  const int i = thread();
  if (i < n) atomicAdd(bins + x[i], 1);
}

__global__ void histogram_shared(const uint8_t* x, int* bins, int n) {
  __shared__ int mine[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = thread(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(mine + x[i], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    if (mine[k] > 0) atomicAdd(bins + k, mine[k]);
}

// Kogge and Stone's scan of a block.
__global__ void scan(const float* x, float* y, int n) {
  __shared__ float s[256];
  const int i = thread();
  s[threadIdx.x] = i < n ? x[i] : 0;
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();
    float v = 0;
    if (threadIdx.x >= distance) v = s[threadIdx.x] + s[threadIdx.x - distance];
    __syncthreads();
    if (threadIdx.x >= distance) s[threadIdx.x] = v;
  }
  if (i < n) y[i] = s[threadIdx.x];
}

// Brent and Kung's.
__global__ void scan_tree(const float* x, float* y) {
  __shared__ float s[512];
  s[threadIdx.x] = x[threadIdx.x];
  s[threadIdx.x + blockDim.x] = x[threadIdx.x + blockDim.x];
  for (unsigned step = 1; step <= blockDim.x; step *= 2) {
    __syncthreads();
    const unsigned i = (threadIdx.x + 1) * 2 * step - 1;
    if (i < 512) s[i] += s[i - step];
  }
  for (unsigned step = 128; step > 0; step /= 2) {
    __syncthreads();
    const unsigned i = (threadIdx.x + 1) * 2 * step - 1;
    if (i + step < 512) s[i + step] += s[i];
  }
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
  y[threadIdx.x + blockDim.x] = s[threadIdx.x + blockDim.x];
}

__global__ void spmv_ell(const float* values, const int* columns,
                         const float* x, float* y, int rows, int width) {
  const int row = thread();
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    const int column = columns[k * rows + row];
    if (column >= 0) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

__global__ void stencil(const float* x, float* y, int n) {
  const int i = thread();
  if (i > 0 && i < n - 1) y[i] = .25f * x[i - 1] + .5f * x[i] + .25f * x[i + 1];
}

template <int kRadius>
__global__ void stencil_tiled(const float* x, float* y, int n) {
  __shared__ float s[128 + 2 * kRadius];
  const int i = thread();
  s[threadIdx.x + kRadius] = i < n ? x[i] : 0;
  if (threadIdx.x < kRadius) {
    s[threadIdx.x] = i >= kRadius ? x[i - kRadius] : 0;
    s[threadIdx.x + 128 + kRadius] = i + 128 < n ? x[i + 128] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) sum += s[threadIdx.x + kRadius + k];
  if (i < n) y[i] = sum;
}

__global__ void blur(const uint8_t* x, uint8_t* y, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  int sum = 0, count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int c = column + dx, r = row + dy;
      if (c >= 0 && c < width && r >= 0 && r < height) {
        sum += x[r * width + c];
        ++count;
      }
    }
  y[row * width + column] = sum / count;
}

__global__ void grey(const uint8_t* rgb, uint8_t* y, int pixels) {
  const int i = thread();
  if (i < pixels)
    y[i] = .21f * rgb[3 * i] + .71f * rgb[3 * i + 1] + .07f * rgb[3 * i + 2];
}

__global__ void softmax_row(const float* x, float* y, int width) {
  __shared__ float s[128];
  const float* row = x + blockIdx.x * width;
  float most = -1e30f;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    most = fmaxf(most, row[k]);
  s[threadIdx.x] = most;
  for (int distance = 64; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + distance]);
  }
  __syncthreads();
  most = s[0];
  __syncthreads();
  float sum = 0;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    sum += __expf(row[k] - most);
  s[threadIdx.x] = sum;
  for (int distance = 64; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) s[threadIdx.x] += s[threadIdx.x + distance];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    y[blockIdx.x * width + k] = __expf(row[k] - most) / s[0];
}

__global__ void bitonic(int* x) {
  __shared__ int s[256];
  const unsigned i = threadIdx.x;
  s[i] = x[i];
  for (unsigned size = 2; size <= 256; size *= 2)
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned other = i ^ distance;
      if (other > i) {
        const bool up = (i & size) == 0;
        if ((s[i] > s[other]) == up) {
          const int t = s[i];
          s[i] = s[other];
          s[other] = t;
        }
      }
    }
  __syncthreads();
  x[i] = s[i];
}

}  // namespace

int main() {
  constexpr int kSide = 64;
  constexpr int kElements = 1 << 14;
  std::vector<uint8_t> bytes(kElements);
  uint32_t state = 1;
  for (uint8_t& b : bytes) b = (state = state * 1664525 + 1013904223) >> 24;
  std::vector<float> numbers(bytes.begin(), bytes.end());
  std::vector<int> columns(kElements);
  for (int k = 0; k < kElements; ++k)
    columns[k] = bytes[k] % 5 == 0 ? -1 : bytes[k];
  const DeviceArray<uint8_t> image(bytes), blurred(kElements);
  const DeviceArray<float> x(numbers), y(numbers), z(numbers);
  const DeviceArray<int> where(columns), bins(256);
  CUDA_CHECK(cudaMemset(bins.data(), 0, 256 * sizeof(int)));
  const float* from = x.data();
  float* to = y.data();

  saxpy<<<4, 256>>>(2, from, to, 1000);
  matmul<<<dim3(4, 4), dim3(16, 16)>>>(from, z.data(), to, kSide);
  matmul<<<dim3(2, 8), dim3(32, 8)>>>(from, z.data(), to, kSide - 3);
  transpose<16><<<dim3(4, 4), dim3(16, 16)>>>(from, to, kSide);
  transpose<32><<<dim3(2, 2), dim3(32, 32)>>>(from, to, kSide - 5);
  transpose_tiled<0><<<dim3(2, 2), dim3(32, 8)>>>(from, to, kSide);
  transpose_tiled<1><<<dim3(2, 2), dim3(32, 8)>>>(from, to, kSide);
  histogram<<<4, 256>>>(image.data(), bins.data(), 1000);
  histogram_shared<<<4, 128>>>(image.data(), bins.data(), 3000);
  scan<<<4, 256>>>(from, to, 1000);
  scan_tree<<<1, 256>>>(from, to);
  spmv_ell<<<4, 64>>>(from, where.data(), z.data(), to, 250, 12);
  stencil<<<8, 128>>>(from, to, 1000);
  stencil_tiled<1><<<8, 128>>>(from, to, 1000);
  stencil_tiled<4><<<8, 128>>>(from, to, 1000);
  blur<<<dim3(4, 4), dim3(16, 16)>>>(image.data(), blurred.data(), 60, 50);
  grey<<<4, 256>>>(image.data(), blurred.data(), 1000);
  softmax_row<<<8, 128>>>(from, to, 500);
  bitonic<<<1, 256>>>(where.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
