// What the executor lacks is refused by its name, and the program fails; and
// what it has to tell of a thousand launches can be read. A GPU carries out the
// calls and says nothing, so there is nothing to see on one.

#include <cuda.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/simt/child.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

constexpr int kLaunches = 1200, kKernels = 110;

__global__ void nothing_kernel() {}

// Every thread stores something else at one place.
__global__ void race_kernel(int* x) { *x = threadIdx.x; }

__global__ void count_kernel(int* x, int n) {
  for (int i = 0; i < n; ++i) *x = *x * 3 + i;
}

__global__ void wait_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}

template <int kNumber>
__global__ void numbered_kernel(int* x) {
  *x = threadIdx.x + kNumber;
}

// Two lines before a barrier that is missing, two behind it; and the same once
// more.
__global__ void no_barriers_kernel(int* x) {
  __shared__ int tile[64], sums[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  sums[i] = x[i] + 1;
  int sum = tile[63 - i];
  sum += sums[63 - i];
  __syncthreads();
  tile[i] = sum;
  sums[i] = sum + 1;
  sum += tile[63 - i];
  sum *= sums[63 - i];
  x[i] = sum;
}

// ---- What the children do --------------------------------------------------

// Tensor maps that a GPU makes.
void lacking_maps(int* x) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  equal(cudaGetDriverEntryPointByVersion("cuMemExportToShareableHandle", &found,
                                         12000, cudaEnableDefault, &status),
        cudaErrorNotSupported);
  ok(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                      cudaEnableDefault, &status));
  const auto encode =
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  const auto made = [&](CUtensorMapDataType type,
                        CUtensorMapInterleave interleave,
                        CUtensorMapSwizzle swizzle) {
    CUtensorMap map;
    const cuuint64_t size[] = {64, 4, 4}, stride[] = {256, 1024};
    const cuuint32_t box[] = {8, 4, 4}, step[] = {1, 1, 1};
    return encode(&map, type, 3, x, size, stride, box, step, interleave,
                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  equal(made(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_INTERLEAVE_16B,
             CU_TENSOR_MAP_SWIZZLE_NONE),
        CUDA_ERROR_NOT_SUPPORTED);
  equal(made(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B),
        CUDA_ERROR_NOT_SUPPORTED);
  equal(made(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE),
        CUDA_ERROR_NOT_SUPPORTED);
}

// The calls would succeed on a GPU: they leave no error behind, and a main that
// does not look at what they return ends with 0.
int lacking() {
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof(int)));
  cudaIpcMemHandle_t handle;
  equal(cudaIpcGetMemHandle(&handle, x), cudaErrorNotSupported);
  cudaExternalMemory_t external;
  equal(cudaImportExternalMemory(&external, nullptr), cudaErrorNotSupported);
  lacking_maps(x);
  nothing_kernel<<<1, 1>>>();
  equal(cudaGetLastError(), cudaSuccess);
  return expect::report();
}

int mistakes() {
  for (uintptr_t i = 1; i <= 100; ++i) {
    cudaFree(reinterpret_cast<void*>(16 * i));
  }
  return 0;
}

int* one_int() {
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof(int)));
  return x;
}

// Takes some seconds here.
int slow() {
  setenv("SIMT_SECONDS", "1", 1);
  nothing_kernel<<<1, 1>>>();
  count_kernel<<<1, 1>>>(one_int(), 100'000'000);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// For the host, which waits for it.
int unanswered() {
  setenv("SIMT_PATIENCE", "1", 1);
  int* flag = nullptr;
  ok(cudaMallocHost(&flag, sizeof *flag));
  *flag = 0;
  wait_kernel<<<1, 1>>>(flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int same_place(const char* report) {
  setenv("SIMT_REPORT", report, 1);
  int* const x = one_int();
  for (int i = 0; i < kLaunches; ++i) race_kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}

template <int... kNumber>
int many_places(std::integer_sequence<int, kNumber...>) {
  int* const x = one_int();
  (numbered_kernel<kNumber><<<1, 32>>>(x), ...);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int no_barriers() {
  int* x = nullptr;
  ok(cudaMalloc(&x, 64 * sizeof(int)));
  ok(cudaMemset(x, 0, 64 * sizeof(int)));
  no_barriers_kernel<<<1, 64>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// ---- What is expected of them ----------------------------------------------

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++found;
  }
  return found;
}

void says(const Ended& child, const std::string& part, size_t times = 1) {
  equal(count(child.output, part), times);
  if (count(child.output, part) != times) std::cout << part << '\n';
}

void refusals() {
  const Ended child = run_self("lacking");
  equal(child.status, 1);
  says(child, "7 passed, 0 failed");
  says(child,
       "cudaIpcGetMemHandle: the CPU executor has no memory or events that "
       "processes share");
  says(child, "cudaImportExternalMemory: the CPU executor has no memory or ");
  says(child,
       "has no cuMemExportToShareableHandle among the driver API's calls");
  says(child, "has no tensor maps with an interleaved layout");
  says(child, "has no swizzle of other chunks than 16 bytes");
  says(child, "has no tensors of the type 12: flushed tf32");
}

void time_limit() {
  const Ended child = run_self("slow");
  equal(child.status, 1);
  says(child, "kernels have taken 1 s of processor time");
  says(child, "count_kernel is not done");
}

// Time that is slept through counts as what it was.
void patience() {
  const auto begin = std::chrono::steady_clock::now();
  const Ended child = run_self("unanswered");
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  equal(child.status, 1);
  says(child, "none of this block's threads has ended in 1 s");
  is_true(took.count() < 5, "a second is not ten");
}

void many_mistakes() {
  const Ended child = run_self("mistakes");
  equal(child.status, 0);  // the program was told, and may know what to do
  says(child, "is not what cudaMalloc returned", 10);
  says(child, "more than these 10 mistakes were made in such calls");
}

void findings_in_a_loop() {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("report" + std::to_string(getpid()) + ".json");
  const Ended child = run_self(path);
  equal(child.status, 1);
  says(child, "simt: race: ");
  says(child, "in 1200 launches, ");
  std::ifstream file(path);
  const std::string report{std::istreambuf_iterator<char>(file), {}};
  equal(count(report, "\"metrics\": {\"l1tex"), 2000);  // whole, and one line
  equal(count(report, "\"launches_left_out\": 200"), 1);
  says(child, "holds the first 1000 of 1200 launches");
  std::remove(path.c_str());
}

void findings_at_many_places() {
  const Ended child = run_self("many");
  equal(child.status, 1);
  says(child, "simt: race: ", 100);
  says(child, "there are findings at more places than are shown");
  says(child, "findings at 10 more places were not shown");
}

void one_finding_a_barrier() {
  const Ended child = run_self("barriers");
  equal(child.status, 1);
  says(child, "simt: race: ", 2);
  says(child, "and 1 more pair of lines, which the same barrier would order",
       2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "lacking") return lacking();
  if (task == "mistakes") return mistakes();
  if (task == "slow") return slow();
  if (task == "unanswered") return unanswered();
  if (task == "barriers") return no_barriers();
  if (task == "many") {
    return many_places(std::make_integer_sequence<int, kKernels>());
  }
  if (!task.empty()) return same_place(task.c_str());
  ok(cudaFree(nullptr));
  if (on_executor()) {
    refusals();
    time_limit();
    patience();
    many_mistakes();
    findings_in_a_loop();
    findings_at_many_places();
    one_finding_a_barrier();
  } else {
    is_true(true, "there is nothing to refuse");
  }
  return expect::report();
}
