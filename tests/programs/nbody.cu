// One step of n bodies that attract each other, in tiles of shared memory.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define TILE 64

__global__ void accelerations(const float4* bodies, float3* out, int n) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = bodies[i < n ? i : n - 1];
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += TILE) {
    int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      float dx = tile[k].x - me.x;
      float dy = tile[k].y - me.y;
      float dz = tile[k].z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float pull = tile[k].w * inverse * inverse * inverse;
      sum.x += dx * pull;
      sum.y += dy * pull;
      sum.z += dz * pull;
    }
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}

int main() {
  const int n = 200;
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i) {
    bodies[i] = make_float4(cosf(i * 0.7f), sinf(i * 1.3f), i % 10 * 0.1f,
                            1.0f + i % 3);
  }
  float4* device_bodies;
  float3* device_out;
  cudaMalloc(&device_bodies, n * sizeof(float4));
  cudaMalloc(&device_out, n * sizeof(float3));
  cudaMemcpy(device_bodies, bodies.data(), n * sizeof(float4),
             cudaMemcpyHostToDevice);
  accelerations<<<(n + TILE - 1) / TILE, TILE>>>(device_bodies, device_out, n);
  std::vector<float3> got(n);
  cudaMemcpy(got.data(), device_out, n * sizeof(float3),
             cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double x = 0, y = 0, z = 0;
    for (int j = 0; j < n; ++j) {
      double dx = (double)bodies[j].x - bodies[i].x;
      double dy = (double)bodies[j].y - bodies[i].y;
      double dz = (double)bodies[j].z - bodies[i].z;
      double square = dx * dx + dy * dy + dz * dz + 0.01;
      double pull = bodies[j].w / (square * std::sqrt(square));
      x += dx * pull;
      y += dy * pull;
      z += dz * pull;
    }
    double error = std::fabs(got[i].x - x) + std::fabs(got[i].y - y) +
                   std::fabs(got[i].z - z);
    double size = std::fabs(x) + std::fabs(y) + std::fabs(z) + 1;
    worst = std::fmax(worst, error / size);
  }
  printf("%d bodies: %s\n", n,
         worst < 1e-4 ? "as computed on the host" : "wrong");
  cudaFree(device_bodies);
  cudaFree(device_out);
  return worst >= 1e-4;
}
