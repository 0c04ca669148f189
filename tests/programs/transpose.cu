// A matrix transposed through a padded tile: rows in, rows out.
#include <cuda.h>

#include <cstdio>
#include <vector>

const int kTile = 32;
const int kRows = 8;

__global__ void transpose(const int* in, int* out, int width, int height) {
  __shared__ int tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) {
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    }
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < height && y + j < width) {
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
  }
}

int main() {
  const int width = 100, height = 75;
  std::vector<int> in(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = i * i;
  int *device_in, *device_out;
  cudaMalloc(&device_in, in.size() * sizeof(int));
  cudaMalloc(&device_out, in.size() * sizeof(int));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(int),
             cudaMemcpyHostToDevice);
  transpose<<<dim3(4, 3), dim3(kTile, kRows)>>>(device_in, device_out, width,
                                                height);
  cudaMemcpy(out.data(), device_out, in.size() * sizeof(int),
             cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      wrong += out[x * height + y] != in[y * width + x];
  }
  printf("%d x %d transposed, %d elements wrong\n", width, height, wrong);
  cudaFree(device_in);
  cudaFree(device_out);
  return wrong != 0;
}
