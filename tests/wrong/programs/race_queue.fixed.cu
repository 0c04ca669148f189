// finds: nothing
//
// As race_queue.cu, with a fence between a piece and its flag.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int kRoom = 64, kSmall = 32;

struct Piece {
  int first, last;
};
struct Queue {
  Piece pieces[kRoom];
  int ready[kRoom];
  int taken, put, left;
};

__device__ Queue queue;

__device__ void put(Piece piece) {
  const int at = atomicAdd(&queue.put, 1);
  queue.pieces[at] = piece;
  __threadfence();
  *static_cast<volatile int*>(&queue.ready[at]) = 1;
}

__device__ bool take(Piece* piece) {
  const int at = atomicAdd(&queue.taken, 1);
  while (*static_cast<volatile int*>(&queue.ready[at]) == 0)
    if (*static_cast<volatile int*>(&queue.left) == 0) return false;
  __threadfence();
  *piece = queue.pieces[at];
  return true;
}

__global__ void begin_kernel(int n) {
  queue.left = n;
  put({0, n});
}

__global__ void work_kernel() {
  Piece piece;
  while (take(&piece)) {
    const int n = piece.last - piece.first;
    if (n <= kSmall) {
      atomicSub(&queue.left, n);
    } else {
      put({piece.first, piece.first + n / 2});
      put({piece.first + n / 2, piece.last});
    }
  }
}

int main() {
  setenv("SIMT_ORDER", "turns", 1);
  begin_kernel<<<1, 1>>>(512);
  work_kernel<<<4, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
