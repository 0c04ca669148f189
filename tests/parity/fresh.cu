// Kernels of every day, written after the rules for what ptxas does, to see how
// far those carry. One was added since, for the `||` in largest().
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "common/harness/device_array.h"

namespace {

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Conway's game on a torus.
__global__ void life(const uint8_t* from, uint8_t* to, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        alive += from[(y + dy + side) % side * side + (x + dx + side) % side];
  const bool was = from[y * side + x];
  to[y * side + x] = alive == 3 || (was && alive == 2);
}

// Where in the text a word begins; most threads give up at once.
__global__ void find_word(const char* text, int n, const char* word, int length,
                          int* first) {
  const int i = thread();
  if (i + length > n) return;
  int k = 0;
  while (k < length && text[i + k] == word[k]) ++k;
  if (k == length) atomicMin(first, i);
}

// A dot product: strides, shuffles, one atomic a warp.
__global__ void dot(const float* x, const float* y, float* out, int n) {
  float sum = 0;
  for (int i = thread(); i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// Attraction between all points, a tile at a time.
__global__ void attract(const float4* at, float4* force, int n) {
  __shared__ float4 tile[64];
  const int i = thread();
  const float4 me = i < n ? at[i] : float4{};
  float4 sum = {};
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] =
        first + threadIdx.x < n ? at[first + threadIdx.x] : float4{};
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y;
      const float near = rsqrtf(dx * dx + dy * dy + 1e-3f);
      sum.x += dx * near * near * near * tile[k].w;
      sum.y += dy * near * near * near * tile[k].w;
    }
    __syncthreads();
  }
  if (i < n) force[i] = sum;
}

// Keeps the odd ones, each warp's at the beginning of its part.
__global__ void keep_odd(const int* x, int* kept, int* count, int n) {
  const int i = thread();
  const bool mine = i < n && x[i] % 2 != 0;
  const unsigned votes = __ballot_sync(0xffffffff, mine);
  const int lane = threadIdx.x % 32;
  if (mine) kept[i - lane + __popc(votes & ((1u << lane) - 1))] = x[i];
  if (lane == 0) count[i / 32] = __popc(votes);
}

// A letter's class by comparing: what a switch might be written as.
__global__ void classify(const char* text, uint8_t* kind, int n) {
  const int i = thread();
  if (i >= n) return;
  const char c = text[i];
  uint8_t k = 0;
  if (c >= '0' && c <= '9')
    k = 1;
  else if (c == ' ' || c == '\n')
    k = 2;
  else if ((c | 32) >= 'a' && (c | 32) <= 'z')
    k = c & 32 ? 3 : 4;
  kind[i] = k;
}

// Odd-even transposition, a block's numbers in shared memory.
__global__ void sort_block(int* x) {
  __shared__ int s[128];
  s[threadIdx.x] = x[thread()];
  for (unsigned turn = 0; turn < blockDim.x; ++turn) {
    __syncthreads();
    const unsigned low = 2 * threadIdx.x + turn % 2;
    if (low + 1 < blockDim.x && s[low] > s[low + 1]) {
      const int t = s[low];
      s[low] = s[low + 1];
      s[low + 1] = t;
    }
  }
  __syncthreads();
  x[thread()] = s[threadIdx.x];
}

// Columns' means of rows that lie behind one another.
__global__ void mean_of_columns(const float* x, float* mean, int rows,
                                int columns) {
  const int c = thread();
  if (c >= columns) return;
  double sum = 0;
  for (int r = 0; r < rows; ++r) sum += x[int64_t{r} * columns + c];
  mean[c] = static_cast<float>(sum / rows);
}

// The largest of each warp, by halves, and who had it.
__global__ void largest(const float* x, int* where, int n) {
  const int i = thread();
  float best = i < n ? x[i] : -1.f;
  int at = i;
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, best, distance);
    const int there = __shfl_xor_sync(0xffffffff, at, distance);
    if (other > best || (other == best && there < at)) {
      best = other;
      at = there;
    }
  }
  if (threadIdx.x % 32 == 0) where[i / 32] = at;
}

}  // namespace

int main() {
  constexpr int kSide = 60, kLength = 5000;
  std::vector<uint8_t> cells(kSide * kSide);
  std::vector<char> letters(kLength);
  std::vector<float> numbers(4 * kLength);
  std::vector<int> whole(kLength);
  uint32_t state = 7;
  const auto next = [&] {
    return (state = state * 1664525 + 1013904223) >> 16;
  };
  for (uint8_t& c : cells) c = next() % 3 == 0;
  for (char& c : letters) c = static_cast<char>(' ' + next() % 90);
  for (float& v : numbers) v = next() / 65536.f;
  for (int& v : whole) v = static_cast<int>(next());
  const std::vector<char> wanted = {letters[4000], letters[4001],
                                    letters[4002]};

  const DeviceArray<uint8_t> from(cells), to(kLength);
  const DeviceArray<char> text(letters), word(wanted);
  const DeviceArray<float> x(numbers), y(numbers), out(1024);
  const DeviceArray<int> ints(whole), kept(kLength), order(whole), count(1024);
  CUDA_CHECK(cudaMemset(count.data(), 0, 1024 * sizeof(int)));
  CUDA_CHECK(cudaMemset(out.data(), 0, 1024 * sizeof(float)));
  auto* points = reinterpret_cast<float4*>(y.data());

  life<<<dim3(4, 8), dim3(16, 8)>>>(from.data(), to.data(), kSide);
  find_word<<<20, 256>>>(text.data(), kLength, word.data(), 3, count.data());
  dot<<<4, 256>>>(x.data(), y.data(), out.data(), kLength);
  attract<<<5, 64>>>(reinterpret_cast<const float4*>(x.data()), points, 300);
  keep_odd<<<20, 256>>>(ints.data(), kept.data(), count.data(), kLength);
  classify<<<20, 256>>>(text.data(), to.data(), kLength);
  sort_block<<<8, 128>>>(order.data());
  mean_of_columns<<<3, 128>>>(x.data(), out.data(), 50, 300);
  largest<<<20, 256>>>(x.data(), kept.data(), kLength - 7);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
