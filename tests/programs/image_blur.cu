// A colour picture blurred by averaging, in two dimensions.
#include <cuda.h>

#include <cstdio>
#include <vector>

const int kRadius = 2;

__global__ void blur(const uchar3* in, uchar3* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int red = 0, green = 0, blue = 0, pixels = 0;
  for (int j = -kRadius; j <= kRadius; ++j) {
    for (int i = -kRadius; i <= kRadius; ++i) {
      int u = x + i, v = y + j;
      if (u < 0 || u >= width || v < 0 || v >= height) continue;
      uchar3 pixel = in[v * width + u];
      red += pixel.x;
      green += pixel.y;
      blue += pixel.z;
      ++pixels;
    }
  }
  out[y * width + x] = make_uchar3(red / pixels, green / pixels, blue / pixels);
}

int main() {
  const int width = 61, height = 47;
  std::vector<uchar3> in(width * height), out(in.size());
  for (int i = 0; i < width * height; ++i) {
    in[i] = make_uchar3(i % 256, i * 7 % 256, i / width * 5 % 256);
  }
  uchar3 *device_in, *device_out;
  cudaMalloc(&device_in, in.size() * sizeof(uchar3));
  cudaMalloc(&device_out, in.size() * sizeof(uchar3));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(uchar3),
             cudaMemcpyHostToDevice);
  dim3 block(16, 12);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  blur<<<grid, block>>>(device_in, device_out, width, height);
  cudaMemcpy(out.data(), device_out, in.size() * sizeof(uchar3),
             cudaMemcpyDeviceToHost);
  int wrong = 0;
  unsigned check = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int sum[3] = {}, pixels = 0;
      for (int v = y - kRadius; v <= y + kRadius; ++v) {
        for (int u = x - kRadius; u <= x + kRadius; ++u) {
          if (u < 0 || u >= width || v < 0 || v >= height) continue;
          sum[0] += in[v * width + u].x;
          sum[1] += in[v * width + u].y;
          sum[2] += in[v * width + u].z;
          ++pixels;
        }
      }
      uchar3 got = out[y * width + x];
      wrong += got.x != sum[0] / pixels || got.y != sum[1] / pixels ||
               got.z != sum[2] / pixels;
      check = check * 31 + got.x + got.y * 3 + got.z * 5;
    }
  }
  printf("checksum %08x, %d pixels wrong\n", check, wrong);
  cudaFree(device_in);
  cudaFree(device_out);
  return wrong != 0;
}
