// Conway's game of life on a torus; a glider comes back after a round trip.
#include <cuda.h>

#include <cstdio>
#include <utility>
#include <vector>

const int kSide = 20;

__global__ void generation(const unsigned char* now, unsigned char* next) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kSide || y >= kSide) return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      neighbours +=
          now[(y + dy + kSide) % kSide * kSide + (x + dx + kSide) % kSide];
    }
  }
  bool alive = now[y * kSide + x];
  next[y * kSide + x] = neighbours == 3 || (alive && neighbours == 2);
}

int main() {
  std::vector<unsigned char> start(kSide * kSide), end(start.size());
  start[1] = start[kSide + 2] = 1;
  start[2 * kSide] = start[2 * kSide + 1] = start[2 * kSide + 2] = 1;
  unsigned char *now, *next;
  cudaMalloc(&now, start.size());
  cudaMalloc(&next, start.size());
  cudaMemcpy(now, start.data(), start.size(), cudaMemcpyHostToDevice);
  for (int i = 0; i < 4 * kSide; ++i) {
    generation<<<dim3(3, 3), dim3(8, 8)>>>(now, next);
    std::swap(now, next);
  }
  cudaMemcpy(end.data(), now, end.size(), cudaMemcpyDeviceToHost);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < kSide; ++x) putchar(end[y * kSide + x] ? '#' : '.');
    putchar('\n');
  }
  cudaFree(now);
  cudaFree(next);
  return end != start;
}
