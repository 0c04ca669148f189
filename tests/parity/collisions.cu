// Reductions of one warp, in which some lanes add to the same places, or all
// add anywhere.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

// kPlaces are wanted by kEach lanes each, who are neighbours or far apart; the
// other lanes have places of their own. Places are kStride ints apart.
template <int kPlaces, int kEach, bool kNeighbours, int kStride>
__global__ void collide(int* to) {
  const int lane = threadIdx.x;
  const int own = kPlaces + lane - kPlaces * kEach;
  const int shared = kNeighbours ? lane / kEach : lane % kPlaces;
  const int place = lane < kPlaces * kEach ? shared : own;
  atomicAdd(to + place * kStride, lane);
}

template <int kPlaces, int kEach>
void in_every_way(int* to) {
  collide<kPlaces, kEach, false, 1><<<1, 32>>>(to);
  collide<kPlaces, kEach, true, 1><<<1, 32>>>(to);
  collide<kPlaces, kEach, false, 8><<<1, 32>>>(to);
  collide<kPlaces, kEach, true, 8><<<1, 32>>>(to);
  collide<kPlaces, kEach, false, 32><<<1, 32>>>(to);
}

// Anywhere in kPlaces: 32 of them fill a 128-byte line.
template <int kPlaces>
__global__ void scatter(int* to, uint32_t seed) {
  const uint32_t mixed = (threadIdx.x + 32 * seed) * 2654435761u;
  atomicAdd(to + (mixed ^ mixed >> 15) * 2246822519u % kPlaces, 1);
}

template <int kPlaces>
void scatter_often(int* to) {
  for (uint32_t seed = 0; seed < 8; ++seed)
    scatter<kPlaces><<<1, 32>>>(to, seed);
}

}  // namespace

int main() {
  const DeviceArray<int> to(32 * 32);
  CUDA_CHECK(cudaMemset(to.data(), 0, 32 * 32 * sizeof(int)));
  in_every_way<1, 2>(to.data());
  in_every_way<2, 2>(to.data());
  in_every_way<3, 2>(to.data());
  in_every_way<4, 2>(to.data());
  in_every_way<5, 2>(to.data());
  in_every_way<8, 2>(to.data());
  in_every_way<16, 2>(to.data());
  in_every_way<2, 3>(to.data());
  in_every_way<3, 3>(to.data());
  in_every_way<4, 3>(to.data());
  in_every_way<8, 3>(to.data());
  in_every_way<3, 4>(to.data());
  in_every_way<4, 8>(to.data());
  scatter_often<8>(to.data());
  scatter_often<32>(to.data());
  scatter_often<128>(to.data());
  scatter_often<256>(to.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
