// finds: nothing
// Bytes are counted up by cuda::atomic_ref, which swaps the word around each.
// Those around a counter are left alone.
#include <cstdio>
#include <cuda/atomic>

constexpr int kLetters = 26;

struct Seen {
  bool any;
  unsigned char first;  // Beside an atomic, and written plainly.
};

__global__ void count(const char* text, int n, unsigned char* counts,
                      Seen* seen) {
  using Counter = cuda::atomic_ref<unsigned char, cuda::thread_scope_device>;
  using Flag = cuda::atomic_ref<bool, cuda::thread_scope_device>;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) seen->first = text[0];
  if (i >= n) return;
  Counter(counts[text[i] - 'a']).fetch_add(1);
  Flag any(seen->any);
  if (!any.load(cuda::memory_order_relaxed)) any.store(true);
}

int main() {
  const char words[] = "jackdawslovemybigsphinxofquartz";
  const int n = sizeof words - 1;
  char* text;
  unsigned char *counts, got[kLetters];
  Seen *seen, found;
  cudaMalloc(&text, n);
  cudaMalloc(&counts, kLetters);
  cudaMemset(counts, 0, kLetters);
  cudaMalloc(&seen, sizeof(Seen));
  cudaMemset(&seen->any, 0, 1);
  cudaMemcpy(text, words, n, cudaMemcpyHostToDevice);
  count<<<1, 64>>>(text, n, counts, seen);
  cudaMemcpy(got, counts, kLetters, cudaMemcpyDeviceToHost);
  cudaMemcpy(&found, seen, sizeof(Seen), cudaMemcpyDeviceToHost);
  printf("%d times o, %d, begins with %c\n", got['o' - 'a'], found.any,
         found.first);
  return cudaDeviceSynchronize() != cudaSuccess;
}
