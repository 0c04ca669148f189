// Kernels that launch kernels: in which order they run, what they see of one
// another, which launches fail and how, and what else a kernel may ask of the
// runtime library. Codes are those that an H200 gave.
#include "tests/simt/expect.h"

namespace {

// ---- What a child sees, and when
// ----------------------------------------------

__global__ void square_kernel(int* values) {
  values[threadIdx.x] *= values[threadIdx.x];
}

// The launching thread knows what its block did before the barrier.
__global__ void fill_kernel(int* values) {
  int* mine = values + blockIdx.x * blockDim.x;
  mine[threadIdx.x] = blockIdx.x + threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) square_kernel<<<1, blockDim.x>>>(mine);
}

__global__ void increment_kernel(int* values) { ++values[threadIdx.x]; }

// The parent has not ended before its children have: the next kernel of the
// stream sees what they did.
void check_child() {
  const auto got = expect::results<int>(4 * 64, [](int* values) {
    fill_kernel<<<4, 64>>>(values);
    for (int block = 0; block < 4; ++block)
      increment_kernel<<<1, 64>>>(values + 64 * block);
  });
  expect::each(got, [](int k) {
    const int value = k / 64 + k % 64;
    return value * value + 1;
  });
}

// Appends a digit: 12 and then 3 is 123.
__global__ void append_kernel(unsigned long long* number, int digit) {
  *number = 10 * *number + digit;
}

// Launches of one block into its default stream run one after the other, and
// each is complete, with what it launched itself, before the next one begins.
__global__ void append_two_kernel(unsigned long long* number, int digit) {
  append_kernel<<<1, 1>>>(number, digit);
  append_kernel<<<1, 1>>>(number, digit + 1);
}
__global__ void in_order_kernel(unsigned long long* number) {
  *number = 1;
  append_kernel<<<1, 1>>>(number, 2);
  append_two_kernel<<<1, 1>>>(number, 3);
  append_kernel<<<1, 1>>>(number, 5);
}

// A child is complete when its own tail launch is.
__global__ void tail_of_child_kernel(unsigned long long* number) {
  append_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(number, 2);
  append_kernel<<<1, 1>>>(number, 1);
}
__global__ void tails_within_kernel(unsigned long long* number) {
  append_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(number, 4);
  tail_of_child_kernel<<<1, 1>>>(number);
  append_kernel<<<1, 1>>>(number, 3);
}

// A stream's work is in order, and an event hands it over to another stream.
__global__ void event_kernel(unsigned long long* number) {
  cudaStream_t one, other;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  append_kernel<<<1, 1, 0, one>>>(number, 1);
  append_kernel<<<1, 1, 0, one>>>(number, 2);
  cudaEventRecord(event, one);
  cudaStreamWaitEvent(other, event, 0);
  append_kernel<<<1, 1, 0, other>>>(number, 3);
  cudaEventDestroy(event);
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}

void check_order() {
  using Number = unsigned long long;
  const auto number = [](void (*kernel)(Number*)) {
    return expect::results<Number>(1, [&](Number* n) { kernel<<<1, 1>>>(n); })
        .front();
  };
  expect::equal(number(in_order_kernel), 12345);
  expect::equal(number(tails_within_kernel), 1234);
  expect::equal(number(event_kernel), 123);
}

// Tail launches come behind all else that a grid launches, in their order.
__global__ void reset_kernel(unsigned long long* number) { *number = 1; }
__global__ void tails_behind_kernel(unsigned long long* number) {
  append_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(number, 4);
  append_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(number, 5);
  reset_kernel<<<1, 1>>>(number);
  append_two_kernel<<<1, 1>>>(number, 2);
}

void check_tails() {
  using Number = unsigned long long;
  const auto got = expect::results<Number>(
      1, [](Number* n) { tails_behind_kernel<<<1, 1>>>(n); });
  expect::equal(got[0], 12345);
}

// ---- How many, and how deep
// -----------------------------------------------------

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }

__global__ void tree_kernel(int* count, int depth) {
  atomicAdd(count, 1);
  if (depth == 0) return;
  tree_kernel<<<1, 1>>>(count, depth - 1);
  tree_kernel<<<1, 1, 0, cudaStreamFireAndForget>>>(count, depth - 1);
}

__global__ void chain_kernel(int* deepest, int depth, int end) {
  *deepest = depth;
  if (depth < end) chain_kernel<<<1, 1>>>(deepest, depth + 1, end);
}

// Every thread launches.
__global__ void each_kernel(int* counts) {
  count_kernel<<<2, 32>>>(counts + threadIdx.x);
}

__global__ void many_kernel(int* count, int launches) {
  for (int k = 0; k < launches; ++k) count_kernel<<<1, 1>>>(count);
}

void check_many() {
  auto got =
      expect::results<int>(1, [](int* n) { tree_kernel<<<1, 1>>>(n, 6); });
  expect::equal(got[0], (1 << 7) - 1);
  got =
      expect::results<int>(1, [](int* n) { chain_kernel<<<1, 1>>>(n, 0, 20); });
  expect::equal(got[0], 20);
  got = expect::results<int>(48, [](int* n) { each_kernel<<<1, 48>>>(n); });
  expect::each(got, [](int) { return 64; });
  got = expect::results<int>(1, [](int* n) { many_kernel<<<1, 1>>>(n, 1000); });
  expect::equal(got[0], 1000);
}

// ---- Shapes and arguments
// ---------------------------------------------------------

struct Argument {
  char small;
  double large;
  short pair[2];
};

__global__ void shape_kernel(int* out, char first, Argument argument,
                             short last) {
  extern __shared__ int dynamic[];
  const int thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  const int block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  dynamic[thread] = thread;
  __syncthreads();
  out[block * threads + thread] =
      dynamic[threads - 1 - thread] + first + argument.small +
      static_cast<int>(argument.large) + argument.pair[1] + last;
}

__global__ void shaping_kernel(int* out) {
  shape_kernel<<<dim3(2, 3, 2), dim3(4, 2, 3), 24 * sizeof(int)>>>(
      out, 1, {2, 30.0, {400, 5000}}, 60);
}

template <class T>
__global__ void store_kernel(T* out, T value) {
  out[threadIdx.x] = value;
}

__global__ void one_kernel(int* out) { *out = 1; }
__global__ void two_kernel(int* out) { *out = 2; }

// Kernels of a template, and by pointer.
__global__ void choosing_kernel(int* out) {
  void (*const kernel)(int*) = threadIdx.x == 0 ? one_kernel : two_kernel;
  kernel<<<1, 1>>>(out + threadIdx.x);
  if (threadIdx.x == 0) store_kernel<<<1, 2>>>(out + 2, 3);
}

void check_shapes() {
  auto got = expect::results<int>(12 * 24,
                                  [](int* n) { shaping_kernel<<<1, 1>>>(n); });
  expect::each(got, [](int k) { return 23 - k % 24 + 1 + 2 + 30 + 5000 + 60; });
  got = expect::results<int>(4, [](int* n) { choosing_kernel<<<1, 2>>>(n); });
  expect::each(got, [](int k) { return k < 2 ? k + 1 : 3; });
}

// ---- Launches that fail
// -----------------------------------------------------------

__global__ void empty_kernel() {}
__global__ void __launch_bounds__(64) bounded_kernel() {}

__global__ void failing_kernel(int* codes, cudaStream_t foreign) {
  if (threadIdx.x == 1) {  // Each thread has a last error of its own.
    codes[0] = cudaGetLastError();
    return;
  }
  empty_kernel<<<1, 2048>>>();
  codes[1] = cudaPeekAtLastError();
  codes[2] = cudaGetLastError();
  codes[3] = cudaGetLastError();
  empty_kernel<<<0, 1>>>();
  codes[4] = cudaGetLastError();
  empty_kernel<<<1, 0>>>();
  codes[5] = cudaGetLastError();
  empty_kernel<<<dim3(1, 70000), 1>>>();
  codes[6] = cudaGetLastError();
  empty_kernel<<<1, dim3(1, 1, 128)>>>();
  codes[7] = cudaGetLastError();
  bounded_kernel<<<1, 128>>>();
  codes[8] = cudaGetLastError();
  empty_kernel<<<1, 1, 50000>>>();
  codes[9] = cudaGetLastError();
  empty_kernel<<<1, 1, 0, foreign>>>();
  codes[10] = cudaGetLastError();
  empty_kernel<<<1, 1>>>();
  codes[11] = cudaGetLastError();
}

void check_failing() {
  cudaStream_t stream;
  expect::ok(cudaStreamCreate(&stream));
  const auto got = expect::results<int>(
      12, [&](int* codes) { failing_kernel<<<1, 2>>>(codes, stream); });
  expect::ok(cudaStreamDestroy(stream));
  const int shape = cudaErrorInvalidConfiguration;
  const int expected[12] = {0,
                            shape,
                            shape,
                            0,
                            shape,
                            shape,
                            shape,
                            shape,
                            shape,
                            shape,
                            cudaErrorInvalidValue,
                            0};
  expect::each(got, [&](int k) { return expected[k]; });
}

// So many tail launches may wait.
__global__ void many_tails_kernel(int* out, int launches) {
  out[1] = out[2] = 0;
  for (int k = 0; k < launches; ++k) {
    count_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
    const cudaError_t error = cudaGetLastError();
    out[1] += error != cudaSuccess;
    if (error != cudaSuccess) out[2] = error;
  }
}

void check_pending() {
  size_t most = 0;
  expect::ok(cudaDeviceGetLimit(&most, cudaLimitDevRuntimePendingLaunchCount));
  expect::equal(most, 2048);
  const auto got = expect::results<int>(
      3, [&](int* out) { many_tails_kernel<<<1, 1>>>(out, most + 5); });
  expect::equal(got[0], most);
  expect::equal(got[1], 5);
  expect::equal(got[2], cudaErrorLaunchPendingCountExceeded);
}

// ---- What else a kernel may ask
// ---------------------------------------------------

__global__ void handles_kernel(int* codes) {
  __shared__ cudaStream_t stream;
  cudaEvent_t event;
  codes[0] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  codes[1] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  codes[2] = cudaGetLastError();
  codes[3] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  codes[4] = cudaEventRecord(event, stream);
  codes[5] = cudaStreamWaitEvent(stream, event, 0);
  codes[6] = cudaEventDestroy(event);
  codes[7] = cudaStreamDestroy(stream);
  codes[8] = cudaStreamDestroy(nullptr);
  codes[9] = cudaStreamDestroy(cudaStreamTailLaunch);
}

__global__ void questions_kernel(int* codes, int* answers) {
  codes[0] = cudaDeviceGetAttribute(answers, cudaDevAttrWarpSize, 0);
  codes[1] = cudaDeviceGetAttribute(answers + 1, cudaDevAttrWarpSize, 7);
  codes[2] = cudaGetDevice(answers + 2);
  cudaFuncAttributes attributes;
  codes[3] = cudaFuncGetAttributes(&attributes,
                                   reinterpret_cast<void*>(bounded_kernel));
  answers[3] = attributes.maxThreadsPerBlock;
  size_t limit = 0;
  codes[4] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  answers[4] = static_cast<int>(limit);
}

__global__ void texts_kernel(char* out) {
  const char* const texts[] = {cudaGetErrorString(cudaErrorInvalidValue),
                               cudaGetErrorName(cudaErrorInvalidValue)};
  for (const char* text : texts) {
    do *out++ = *text;
    while (*text++);
  }
}

void check_questions() {
  auto codes =
      expect::results<int>(10, [](int* c) { handles_kernel<<<1, 1>>>(c); });
  const int bad = cudaErrorInvalidValue;
  const int of_handles[10] = {0, bad, bad, 0, 0, 0, 0, 0, bad, bad};
  expect::each(codes, [&](int k) { return of_handles[k]; });
  codes = expect::results<int>(
      10, [](int* c) { questions_kernel<<<1, 1>>>(c, c + 5); });
  const int of_questions[10] = {
      0, cudaErrorInvalidDevice, 0, 0, 0, 32, 0, 0, 64, 2048};
  expect::each(codes, [&](int k) { return of_questions[k]; });
  const auto text =
      expect::results<char>(64, [](char* out) { texts_kernel<<<1, 1>>>(out); });
  expect::is_true(!std::strcmp(text.data(), "invalid argument"), "its text");
  expect::is_true(!std::strcmp(text.data() + 17, "cudaErrorInvalidValue"),
                  "its name");
}

// ---- Memory
// -------------------------------------------------------------------------

__global__ void use_kernel(int* array, int n) {
  for (int k = threadIdx.x; k < n; k += blockDim.x) array[k] = k;
}
__global__ void sum_kernel(int* array, int n, int* out) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += array[k];
  *out = sum;
  cudaFree(array);
}

// An array that lives from one child to the next.
__global__ void heap_kernel(int* out) {
  int* array = nullptr;
  out[1] = cudaMalloc(&array, 100 * sizeof(int));
  use_kernel<<<1, 32>>>(array, 100);
  sum_kernel<<<1, 1>>>(array, 100, out);
  void* nothing;
  out[2] = cudaMalloc(&nothing, 0);
  out[3] = cudaMalloc(&nothing, size_t{1} << 40);
  out[4] = cudaFree(nullptr);
}

__global__ void copies_kernel(int* out) {
  use_kernel<<<1, 32>>>(out + 8, 8);
  cudaMemcpyAsync(out + 16, out + 8, 8 * sizeof(int), cudaMemcpyDeviceToDevice,
                  nullptr);
  cudaMemsetAsync(out + 8, 0, 4 * sizeof(int), nullptr);
  increment_kernel<<<1, 8>>>(out + 16);
  int local = 1;
  out[0] =
      cudaMemcpyAsync(out + 8, out + 16, 4, cudaMemcpyHostToDevice, nullptr);
  out[1] = cudaMemcpyAsync(out + 8, &local, 4, cudaMemcpyDefault, nullptr);
  out[2] = cudaMemsetAsync(nullptr, 1, 4, nullptr);
}

void check_memory() {
  auto got = expect::results<int>(5, [](int* n) { heap_kernel<<<1, 1>>>(n); });
  const int heap[5] = {4950, 0, cudaErrorInvalidValue,
                       cudaErrorMemoryAllocation, 0};
  expect::each(got, [&](int k) { return heap[k]; });
  got = expect::results<int>(24, [](int* n) { copies_kernel<<<1, 1>>>(n); });
  expect::each(got, [](int k) {
    const int codes[8] = {cudaErrorInvalidMemcpyDirection,
                          cudaErrorInvalidValue, cudaErrorInvalidValue};
    if (k < 8) return codes[k];
    if (k < 12) return 0;
    return k < 16 ? k - 8 : k - 16 + 1;
  });
}

}  // namespace

int main() {
  check_child();
  check_order();
  check_tails();
  check_many();
  check_shapes();
  check_failing();
  check_pending();
  check_questions();
  check_memory();
  return expect::report();
}
