// Where data live: shared memory in all its forms, local arrays, constant and
// device variables, generic pointers, and every access width.

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

struct alignas(16) Particle {
  float position[3];
  short kind;
  char name[2];
};

// Several shared objects of different types side by side.
__global__ void static_kernel(float* out) {
  __shared__ char letters[37];
  __shared__ double sums[5];
  __shared__ Particle particles[8];
  __shared__ short grid[4][9];
  const int i = threadIdx.x;
  if (i < 37) letters[i] = static_cast<char>('a' + i % 26);
  if (i < 5) sums[i] = i * 0.125;
  if (i < 8) particles[i] = {{i * 1.f, i * 2.f, i * 3.f}, short(i), {'x', 'y'}};
  if (i < 36) grid[i / 9][i % 9] = static_cast<short>(-i);
  __syncthreads();
  out[i] = letters[i % 37] + sums[i % 5] + particles[i % 8].position[i % 3] +
           particles[(i + 1) % 8].kind + particles[i % 8].name[i % 2] +
           grid[i % 4][i % 9];
}

void check_static() {
  const auto got = expect::results<float>(
      64, [](float* out) { static_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) {
    return static_cast<float>('a' + i % 37 % 26 + i % 5 * 0.125 +
                              i % 8 * (i % 3 + 1.0) + (i + 1) % 8 +
                              (i % 2 ? 'y' : 'x') - (i % 4 * 9 + i % 9));
  });
}

// One dynamic array, cut into parts by hand.
__global__ void dynamic_kernel(int* out, int n) {
  extern __shared__ double pool[];
  double* doubles = pool;
  int* ints = reinterpret_cast<int*>(doubles + n);
  unsigned char* bytes = reinterpret_cast<unsigned char*>(ints + n);
  __shared__ int fixed[3];
  const int i = threadIdx.x;
  doubles[i] = i * 1.5;
  ints[i] = i * 7;
  bytes[i] = static_cast<unsigned char>(i * 5);
  if (i < 3) fixed[i] = 1000 * i;
  __syncthreads();
  const int j = n - 1 - i;
  out[i] = static_cast<int>(doubles[j] * 2) + ints[j] + bytes[j] + fixed[i % 3];
}

void check_dynamic() {
  for (int n : {1, 40, 64, 700}) {
    const auto got = expect::results<int>(
        n, [&](int* out) { dynamic_kernel<<<1, n, n * 13>>>(out, n); });
    expect::each(got, [&](int i) {
      const int j = n - 1 - i;
      return 3 * j + 7 * j + j * 5 % 256 + i % 3 * 1000;
    });
  }
}

// More than 48 KiB has to be asked for.
__global__ void large_kernel(int* out, int words) {
  extern __shared__ int large[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) large[i] = i ^ 0x5a5;
  __syncthreads();
  int wrong = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    wrong += large[words - 1 - i] != ((words - 1 - i) ^ 0x5a5);
  }
  out[threadIdx.x] = wrong == 0;
}

void check_large() {
  constexpr int kBytes = 60 * 1024;
  expect::ok(cudaFuncSetAttribute(
      large_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const auto got = expect::results<int>(
      64, [](int* out) { large_kernel<<<1, 64, kBytes>>>(out, kBytes / 4); });
  expect::each(got, [](int) { return 1; });
}

__device__ __noinline__ void swap_through(int* a, int* b) {
  const int kept = *a;
  *a = *b;
  *b = kept;
}

// One function sees shared, global, local and constant memory through
// pointers that do not say which.
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

__device__ __noinline__ int sum_of(const int* p, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}

__global__ void generic_kernel(int* out) {
  __shared__ int shared[64];
  int local[4];
  const int i = threadIdx.x;
  shared[i] = i;
  out[i] = 100 + i;
  for (int k = 0; k < 4; ++k) local[k] = i * k;
  __syncthreads();
  swap_through(&shared[i], &out[i]);
  swap_through(&local[i % 4], &shared[i]);
  __syncthreads();
  const int* places[] = {shared + (i & ~3), out + (i & ~3), local,
                         primes + i % 4};
  const int sum = sum_of(places[i % 4], 4);
  const bool spaces = __isShared(&shared[i]) && __isGlobal(out) &&
                      __isLocal(local) && !__isShared(out) &&
                      !__isGlobal(shared) && !__isLocal(shared);
  __syncthreads();
  out[i] = spaces ? sum : -1;
}

void check_generic() {
  const auto got = expect::results<int>(
      64, [](int* out) { generic_kernel<<<1, 64>>>(out); });
  const int prime[] = {2, 3, 5, 7, 11, 13, 17, 19};
  expect::each(got, [&](int i) {
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int j = (i & ~3) + k;
      const int answers[] = {j * (j % 4), j, k == i % 4 ? 100 + i : i * k,
                             prime[i % 4 + k]};
      sum += answers[i % 4];
    }
    return sum;
  });
}

// Local arrays with indices only known at run time: insertion sort.
__global__ void local_kernel(int* out, int n) {
  int values[40];
  const int i = threadIdx.x;
  for (int k = 0; k < n; ++k) values[k] = (k * 37 + i * 11) % 101;
  for (int k = 1; k < n; ++k) {
    const int value = values[k];
    int at = k;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
  int check = 0;
  for (int k = 0; k < n; ++k) check = check * 3 + values[k];
  out[i] = check;
}

int sorted_check(int i, int n) {
  std::vector<int> values(n);
  for (int k = 0; k < n; ++k) values[k] = (k * 37 + i * 11) % 101;
  std::sort(values.begin(), values.end());
  unsigned check = 0;
  for (int value : values) check = check * 3 + value;
  return static_cast<int>(check);
}

void check_local() {
  const auto got = expect::results<int>(
      70, [](int* out) { local_kernel<<<1, 70>>>(out, 40); });
  expect::each(got, [](int i) { return sorted_check(i, 40); });
}

__device__ int counter = 17;
__device__ float table[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ int zeroed[100];
__device__ int* pointer_to_counter = &counter;
__device__ const char* greeting = "hello";
__constant__ float scale = 2.0f;
__constant__ struct {
  int first;
  double second;
  unsigned char bytes[3];
} mixed = {7, 0.25, {1, 2, 255}};
__device__ long long wide = -5000000000ll;
__device__ double matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};

__global__ void variables_kernel(float* out) {
  const int i = threadIdx.x;
  if (i == 0) out[0] = counter;
  if (i == 1) out[1] = table[2] * scale;
  if (i == 2) out[2] = *pointer_to_counter + zeroed[99];
  if (i == 3) out[3] = greeting[1];
  if (i == 4) out[4] = mixed.first + mixed.second + mixed.bytes[2];
  if (i == 5) out[5] = static_cast<float>(wide / 1000000000);
  if (i == 6) out[6] = static_cast<float>(matrix[1][i % 4]);
  __syncwarp();
  if (i == 7) atomicAdd(&counter, 3);
  if (i == 8) pointer_to_counter = &zeroed[5];
}

void check_variables() {
  auto got = expect::results<float>(
      7, [](float* out) { variables_kernel<<<1, 7>>>(out); });
  const float want[] = {17, 5, 17, 'e', 262.25f, -5, 6};
  expect::each(got, [&](int i) { return want[i]; });

  // Threads 7 and 8 change variables, which stay changed.
  expect::results<float>(7,
                         [](float* out) { variables_kernel<<<1, 9>>>(out); });
  int value = 0;
  expect::ok(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  expect::equal(value, 20);
  value = 42;
  expect::ok(cudaMemcpyToSymbol(zeroed, &value, sizeof value, 5 * sizeof(int)));
  const float new_scale = -1;
  expect::ok(cudaMemcpyToSymbol(scale, &new_scale, sizeof new_scale));
  got = expect::results<float>(
      7, [](float* out) { variables_kernel<<<1, 7>>>(out); });
  expect::equal(got[0], 20.0f);
  expect::equal(got[1], -2.5f);
  expect::equal(got[2], 42.0f);

  void* address = nullptr;
  expect::ok(cudaGetSymbolAddress(&address, table));
  const float entry = 100;
  expect::ok(cudaMemcpy(static_cast<float*>(address) + 2, &entry, sizeof entry,
                        cudaMemcpyHostToDevice));
  got = expect::results<float>(
      7, [](float* out) { variables_kernel<<<1, 7>>>(out); });
  expect::equal(got[1], -100.0f);
  size_t size = 0;
  expect::ok(cudaGetSymbolSize(&size, zeroed));
  expect::equal(size, sizeof(int) * 100);
}

// Loads and stores of every width, signed and not.
template <typename T>
__global__ void width_kernel(const T* in, T* out, long long* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[n - 1 - i] = in[i];
  sums[i] = static_cast<long long>(in[i]) * 2;
}

template <typename T>
void check_width() {
  constexpr int kN = 100;
  std::vector<T> in(kN);
  for (int i = 0; i < kN; ++i) in[i] = static_cast<T>(i * 77 - 3000);
  const expect::Copy<T> device(in);
  std::vector<T> out;
  const auto sums = expect::results<long long>(kN, [&](long long* sums) {
    out = expect::results<T>(kN, [&](T* out) {
      width_kernel<<<2, 64>>>(static_cast<const T*>(device), out, sums, kN);
    });
  });
  expect::each(out, [&](int i) { return in[kN - 1 - i]; });
  expect::each(sums, [&](int i) { return static_cast<long long>(in[i]) * 2; });
}

// Vectors of 2 and 4 elements move as one access.
template <typename V>
__global__ void vector_kernel(const V* in, V* out) {
  const int i = threadIdx.x;
  V v = in[i];
  v.x = v.x + 1;
  v.y = v.y * 2;
  out[i ^ 1] = v;
}

template <typename V, typename T>
void check_vector() {
  constexpr int kLanes = sizeof(V) / sizeof(T);
  std::vector<T> in(32 * kLanes);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 3);
  const expect::Copy<T> device(in);
  const auto out = expect::results<T>(in.size(), [&](T* out) {
    vector_kernel<<<1, 32>>>(
        reinterpret_cast<const V*>(static_cast<const T*>(device)),
        reinterpret_cast<V*>(out));
  });
  expect::each(out, [&](int i) {
    const T from = in[(i / kLanes ^ 1) * kLanes + i % kLanes];
    if (i % kLanes == 0) return static_cast<T>(from + 1);
    return i % kLanes == 1 ? static_cast<T>(from * 2) : from;
  });
}

// The read-only path, the cache hints and the volatile forms load the same.
__global__ void hints_kernel(const int* in, int* out) {
  const int i = threadIdx.x;
  const volatile int* again = in;
  int sum = __ldg(in + i) + __ldcs(in + i) + __ldcg(in + i) + __ldca(in + i) +
            __ldcv(in + i) + __ldlu(in + i) + again[i];
  __stcs(out + 4 * i, sum);
  __stcg(out + 4 * i + 1, sum);
  __stwb(out + 4 * i + 2, sum);
  __stwt(out + 4 * i + 3, sum);
}

void check_hints() {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  const expect::Copy<int> device(in);
  const auto got = expect::results<int>(
      256, [&](int* out) { hints_kernel<<<1, 64>>>(device, out); });
  expect::each(got, [&](int i) { return 7 * in[i / 4]; });
}

// A kernel's parameters: structs by value, many of them, of every size.
struct Parameters {
  char letter;
  double weight;
  int values[6];
  short2 pair;
};

__global__ void parameters_kernel(double* out, char a, short b, Parameters p,
                                  float c, long long d, Parameters q, bool e) {
  const int i = threadIdx.x;
  out[i] = a + b + p.letter + p.weight + p.values[i % 6] + p.pair.y + c + d +
           q.values[5 - i % 6] + q.weight + e;
}

void check_parameters() {
  const Parameters p = {'A', 0.5, {1, 2, 3, 4, 5, 6}, {7, -8}};
  const Parameters q = {'B', 0.25, {10, 20, 30, 40, 50, 60}, {70, 80}};
  const auto got = expect::results<double>(32, [&](double* out) {
    parameters_kernel<<<1, 32>>>(out, -3, 300, p, 1.5f, 1ll << 40, q, true);
  });
  expect::each(got, [&](int i) {
    return -3 + 300 + 'A' + 0.5 + p.values[i % 6] - 8 + 1.5 +
           static_cast<double>(1ll << 40) + q.values[5 - i % 6] + 0.25 + 1;
  });
}

// A parameter whose address is taken, by functions and through generic
// pointers; each thread may change a copy of its own.
__device__ __noinline__ void double_all(int* values, int n) {
  for (int i = 0; i < n; ++i) values[i] *= 2;
}

__global__ void address_kernel(int* out, const __grid_constant__ Parameters p,
                               Parameters q) {
  const int i = threadIdx.x;
  const int* const values[] = {p.values, q.values, primes};
  if (i % 2 == 1) double_all(q.values, i % 5);
  out[i] = sum_of(values[i % 3] + i % 2, 4) + p.values[i % 6];
}

void check_parameter_addresses() {
  const Parameters p = {'A', 0.5, {1, 2, 3, 4, 5, 6}, {7, -8}};
  const Parameters q = {'B', 0.25, {10, 20, 30, 40, 50, 60}, {70, 80}};
  const auto got = expect::results<int>(
      64, [&](int* out) { address_kernel<<<1, 64>>>(out, p, q); });
  const int prime[] = {2, 3, 5, 7, 11, 13, 17, 19};
  expect::each(got, [&](int i) {
    int sum = p.values[i % 6];
    for (int k = i % 2; k < i % 2 + 4; ++k) {
      const bool doubled = i % 2 == 1 && k < i % 5;
      const int answers[] = {p.values[k], q.values[k] * (doubled ? 2 : 1),
                             prime[k]};
      sum += answers[i % 3];
    }
    return sum;
  });
}

// The window of parameters is part of global memory, that of constants is not.
__global__ void spaces_kernel(int* out, const __grid_constant__ Parameters p) {
  __shared__ int shared[1];
  int local[1];
  const void* const places[] = {out, shared, local, primes, &p};
  for (int k = 0; k < 5; ++k) {
    const void* at = places[k];
    out[k] = __isGlobal(at) + 2 * __isShared(at) + 4 * __isLocal(at) +
             8 * __isConstant(at) + 16 * __isGridConstant(at);
  }
}

void check_spaces() {
  const auto got = expect::results<int>(
      5, [&](int* out) { spaces_kernel<<<1, 1>>>(out, {}); });
  const int want[] = {1, 2, 4, 8, 17};
  expect::each(got, [&](int i) { return want[i]; });
}

// memcpy and memset between all kinds of memory, of sizes that nobody knows.
__global__ void copy_kernel(unsigned char* out, int bytes,
                            const __grid_constant__ Parameters p) {
  __shared__ unsigned char shared[32];
  unsigned char local[32];
  memset(local, 7, sizeof local);
  memset(shared, 9, bytes);
  memcpy(local + 1, primes, bytes);
  memcpy(shared + 1, local, bytes);
  memcpy(out, shared, bytes);
  memcpy(out + 32, p.values, bytes);
}

void check_copies() {
  const Parameters p = {'A', 0.5, {1, 2, 3, 4, 5, 6}, {7, -8}};
  constexpr int kBytes = 23;
  const auto got = expect::results<unsigned char>(
      64, [&](unsigned char* out) { copy_kernel<<<1, 1>>>(out, kBytes, p); });
  const int prime[] = {2, 3, 5, 7, 11, 13, 17, 19};
  std::vector<unsigned char> want(64);
  want[0] = 9;
  want[1] = 7;
  std::memcpy(&want[2], prime, kBytes - 2);
  std::memcpy(&want[32], p.values, kBytes);
  expect::each(got, [&](int i) { return want[i]; });
}

// Shared memory has addresses of 32 bits: with what is in the instruction, they
// wrap around.
__global__ void wrapping_kernel(int* out) {
  __shared__ int shared[32];
  const int i = threadIdx.x;
  shared[i] = 3 * i;
  __syncwarp();
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&shared[i]));
  asm volatile("ld.shared.u32 %0, [%1+4096];" : "=r"(out[i]) : "r"(at - 4096));
}

void check_wrapping() {
  const auto got = expect::results<int>(
      32, [](int* out) { wrapping_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int i) { return 3 * i; });
}

// Memory from the device's own heap.
struct Node {
  int value;
  Node* next;
};

__global__ void heap_kernel(int* out) {
  Node* list = nullptr;
  for (int k = 0; k < 5; ++k) {
    list = new Node{static_cast<int>(threadIdx.x) * k, list};
  }
  int sum = 0;
  while (list != nullptr) {
    Node* next = list->next;
    sum = sum * 2 + list->value;
    delete list;
    list = next;
  }
  int* array = static_cast<int*>(malloc(10 * sizeof(int)));
  for (int k = 0; k < 10; ++k) array[k] = k;
  out[threadIdx.x] = sum + array[threadIdx.x % 10];
  free(array);
}

void check_heap() {
  const auto got =
      expect::results<int>(40, [](int* out) { heap_kernel<<<1, 40>>>(out); });
  expect::each(got, [](int i) {
    int sum = 0;
    for (int k = 4; k >= 0; --k) sum = sum * 2 + i * k;
    return sum + i % 10;
  });
}

// More than the heap has, which is 8 MiB at first.
__global__ void no_heap_kernel(int* out) {
  const size_t wishes[] = {9u << 20, size_t{1} << 40};
  out[threadIdx.x] = malloc(wishes[threadIdx.x]) == nullptr;
}

void check_no_heap() {
  const auto got =
      expect::results<int>(2, [](int* out) { no_heap_kernel<<<1, 2>>>(out); });
  expect::each(got, [](int) { return 1; });
}

}  // namespace

int main() {
  check_static();
  check_dynamic();
  check_large();
  check_generic();
  check_local();
  check_variables();
  check_width<signed char>();
  check_width<unsigned char>();
  check_width<short>();
  check_width<unsigned short>();
  check_width<int>();
  check_width<unsigned>();
  check_width<long long>();
  check_width<unsigned long long>();
  check_width<float>();
  check_width<double>();
  check_vector<char2, signed char>();
  check_vector<uchar4, unsigned char>();
  check_vector<short2, short>();
  check_vector<ushort4, unsigned short>();
  check_vector<int2, int>();
  check_vector<int4, int>();
  check_vector<float2, float>();
  check_vector<float4, float>();
  check_vector<double2, double>();
  check_vector<longlong2, long long>();
  check_hints();
  check_parameters();
  check_parameter_addresses();
  check_spaces();
  check_copies();
  check_wrapping();
  check_heap();
  check_no_heap();
  return expect::report();
}
