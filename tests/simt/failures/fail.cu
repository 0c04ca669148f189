// Programs that must fail: each is a run of this one, which has to end with a
// CUDA error and never hang. On the executor the message must name the kernel,
// the block, a thread and the source line; some mistakes only it can see, for
// a GPU runs on or waits forever.

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cassert>
#include <cuda/barrier>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace cg = cooperative_groups;

namespace {

constexpr bool kAnywhere = true;
constexpr bool kExecutorOnly = false;

struct Case {
  const char* name;
  void (*launch)(int* p);
  bool anywhere;
  std::vector<std::string> expected;
};

// "fail.cu:<line>": the line of a mistake, some lines below this call.
std::string line(int number) { return "fail.cu:" + std::to_string(number); }

constexpr int kAssertLine = __LINE__ + 2;
__global__ void assert_kernel(int* p) {
  assert(threadIdx.x + 10 * blockIdx.x < 13 && "thirteen");
  p[threadIdx.x] = 1;
}

constexpr int kTrapLine = __LINE__ + 2;
__global__ void trap_kernel(int* p) {
  if (p[threadIdx.x] == 0 && threadIdx.x == 33) __trap();
}

constexpr int kBreakLine = __LINE__ + 2;
__global__ void break_kernel(int* p) {
  if (p[threadIdx.x] == 0 && threadIdx.x == 33) asm volatile("brkpt;");
}

constexpr int kNullLine = __LINE__ + 2;
__global__ void null_kernel(int* p, const int* null) {
  if (threadIdx.x == 7) p[0] = *null;
}

__device__ const char kWantsOne[] = "%d\n";
constexpr int kNoArgumentLine = __LINE__ + 1;
__global__ void no_argument_kernel() { printf(kWantsOne); }

constexpr int kMisalignedLine = __LINE__ + 2;
__global__ void misaligned_kernel(char* p) {
  if (threadIdx.x == 3) *reinterpret_cast<int*>(p + threadIdx.x) = 1;
}

constexpr int kMisalignedVectorLine = __LINE__ + 2;
__global__ void misaligned_vector_kernel(float* p) {
  reinterpret_cast<float4*>(p + 1)[threadIdx.x] = float4{1, 2, 3, 4};
}

// ---- Matrices ----

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// In one line each: of a statement in several, nvcc 13.0 names the last, and
// nvcc 13.5 the first.
#define LOAD_ROW "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
#define MULTIPLY                                                     \
  "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, " \
  "{%4,%5}, {%6}, {%7,%7,%7,%7};"
#define FOUR_OF(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])

constexpr int kLoadRowLine = __LINE__ + 3;
__device__ uint32_t load_row(uint32_t address) {
  uint32_t r;
  asm volatile(LOAD_ROW : "=r"(r) : "r"(address) : "memory");
  return r;
}

constexpr int kMultiplyLine = __LINE__ + 3;
__device__ float multiply(uint32_t a, uint32_t b) {
  float d[4];
  asm volatile(MULTIPLY : FOUR_OF(d) : "r"(a), "r"(a), "r"(b), "f"(0.f));
  return d[0];
}

__global__ void half_warp_kernel(int* p) {
  if (threadIdx.x < 16) p[threadIdx.x] = multiply(0x3c003c00, 0x3c003c00) > 0;
}

__global__ void short_warp_kernel(int* p) {
  p[threadIdx.x] = multiply(0x3c003c00, 0x3c003c00) > 0;
}

__global__ void crooked_row_kernel(int* p) {
  __shared__ __align__(16) int box[64];
  box[threadIdx.x] = box[threadIdx.x + 32] = 0;
  __syncwarp();
  p[threadIdx.x] =
      load_row(shared_address(box) + 16 * threadIdx.x + 8 * (threadIdx.x == 5));
}

__global__ void far_row_kernel(int* p) {
  __shared__ __align__(16) int box[28];
  if (threadIdx.x < 28) box[threadIdx.x] = 0;
  __syncwarp();
  p[threadIdx.x] = load_row(shared_address(box) + 16 * threadIdx.x);
}

constexpr int kMatrixRaceLine = __LINE__ + 3;
__global__ void matrix_race_kernel(int* p) {
  __shared__ __align__(16) int box[32];
  box[31 - threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = load_row(shared_address(box) + threadIdx.x % 8 * 16);
}

constexpr int kRowWrittenLine = __LINE__ + 7;
__global__ void row_written_kernel(int* p) {
  __shared__ __align__(16) int box[32];
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(
                   shared_address(box) + threadIdx.x % 8 * 16),
               "r"(threadIdx.x)
               : "memory");
  p[threadIdx.x] = box[31 - threadIdx.x];
}

// Row 3 of A and column 3 of the result.
constexpr int kUnwrittenRowLine = __LINE__ + 7;
__global__ void unwritten_row_kernel(int* p) {
  __shared__ __align__(16) uint32_t box[32];
  if (threadIdx.x / 4 != 3) box[threadIdx.x] = 0;
  __syncwarp();
  const float d =
      multiply(load_row(shared_address(box) + threadIdx.x % 8 * 16), 0);
  if (d > 0) p[threadIdx.x] = 1;
}

__global__ void far_tile_kernel(const half* a, int* p) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half,
                         nvcuda::wmma::row_major>
      f;
  nvcuda::wmma::load_matrix_sync(f, a, 16);
  p[threadIdx.x] = __half2int_rn(f.x[0]);
}

constexpr int kFarLine = __LINE__ + 1;
__global__ void far_kernel(int* p) { p[(1ll << 40) + threadIdx.x] = 1; }

constexpr int kBehindLine = __LINE__ + 2;
__global__ void behind_kernel(int* p, int n) {
  if (threadIdx.x <= n) p[threadIdx.x] = 1;
}

constexpr int kBeforeLine = __LINE__ + 2;
__global__ void before_kernel(int* p) {
  p[threadIdx.x + 1] = p[static_cast<int>(threadIdx.x) - 1];
}

constexpr int kFreedLine = __LINE__ + 1;
__global__ void freed_kernel(int* p) { p[threadIdx.x] += 1; }

constexpr int kHostLine = __LINE__ + 2;
__global__ void host_kernel(int* p, const int* host) {
  p[threadIdx.x] = host[threadIdx.x];
}

constexpr int kSharedLine = __LINE__ + 4;
__global__ void shared_kernel(int* p, int n) {
  extern __shared__ int box[];
  for (int i = 0; i <= n; ++i) {
    box[i * blockDim.x + threadIdx.x] = i;
  }
  p[threadIdx.x] = box[threadIdx.x];
}

constexpr int kBarrierLine = __LINE__ + 4;
__global__ void barrier_kernel(volatile int* p) {
  // A warp waits at the barrier, the other for a word from behind it.
  if (threadIdx.x < 32) {
    __syncthreads();
    p[0] = 1;
  } else {
    while (p[0] == 0) {
    }
  }
}

constexpr int kTwoBarriersLine = __LINE__ + 3;
__global__ void two_barriers_kernel(int* p) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  }
  p[threadIdx.x] = 1;
}

constexpr int kAbsentLine = __LINE__ + 4;
__global__ void absent_kernel(volatile int* p) {
  // Half the warp shuffles with all, the other half waits for its result.
  if (threadIdx.x % 32 < 16) {
    p[1] = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x), 0);
    p[0] = 1;
  } else {
    while (p[0] == 0) {
    }
  }
}

constexpr int kGoneLine = __LINE__ + 3;
__global__ void gone_kernel(int* p) {
  if (threadIdx.x >= 20) return;
  p[threadIdx.x] = __shfl_down_sync(0xffffffff, p[threadIdx.x], 1);
}

constexpr int kExcludedLine = __LINE__ + 2;
__global__ void excluded_kernel(unsigned* p) {
  p[threadIdx.x] = __ballot_sync(0x0000ffff, p[threadIdx.x] == 0);
}

constexpr int kEndlessLine = __LINE__ + 3;
__global__ void endless_kernel(volatile int* p) {
  // Nobody will ever change it.
  while (p[threadIdx.x] == 0) {
  }
}

constexpr int kLocalLine = __LINE__ + 4;
__global__ void local_kernel(int* p, int n) {
  int mine[4] = {p[0], p[1], p[2], p[3]};
  for (int i = 0; i <= n; ++i) {
    mine[i] += i;
  }
  p[threadIdx.x] = mine[p[0]];
}

constexpr int kDeepLine = __LINE__ + 3;
__device__ __noinline__ int deep(volatile int* p, int n) {
  const int kept = p[n & 63];
  return deep(p, n + 1) * kept + p[0];
}
__global__ void deep_kernel(int* p) { p[0] = deep(p, threadIdx.x); }

constexpr int kAllocaLine = __LINE__ + 2;
__global__ void alloca_kernel(int* p, int n) {
  int* const room = static_cast<int*>(alloca(n * sizeof(int)));
  for (int k = 0; k < n; k += 1000) room[k] = p[k & 63];
  p[threadIdx.x] = room[n / 2000 * 1000];
}

// The system's part of shared memory, which large tiles use, is not theirs.
constexpr int kBesideTileLine = __LINE__ + 4;
__global__ void beside_tile_kernel(int* p, int n) {
  extern __shared__ int values[];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  values[n + threadIdx.x] = 1;
  tile.sync();
  p[threadIdx.x] = values[threadIdx.x];
}

constexpr int kLoopLine = __LINE__ + 4;
__global__ void loop_kernel(unsigned* p) {
  // Lanes leave the loop one by one, and the mask still names them all.
  for (unsigned i = 0; i < threadIdx.x; ++i) {
    p[threadIdx.x] += __ballot_sync(0xffffffff, p[i] == 0);
  }
  __syncthreads();
  p[threadIdx.x] += p[threadIdx.x ^ 1];
}

constexpr int kBesideLine = __LINE__ + 5;
__global__ void beside_kernel(int* p) {
  // Lane 7 asks lane 8, which the mask leaves out.
  const int lane = threadIdx.x;
  if (lane < 8) {
    p[lane] = __shfl_down_sync(0xff, lane, 1);
  }
}

// Half of the lanes come to one barrier, half to another, by one instruction.
constexpr int kMixedNumbersLine = __LINE__ + 3;
__global__ void mixed_numbers_kernel() {
  const int number = 3 + threadIdx.x % 2;
  asm volatile("barrier.sync %0, 32;" ::"r"(number) : "memory");
}

// The barrier of a cluster: used out of turn, which is undefined; and with an
// arrival that hands nothing over.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTER_BARRIER(how) \
  asm volatile("barrier.cluster." how ";" ::: "memory")
#else
#define CLUSTER_BARRIER(how)
#endif

constexpr int kArrivesAgainLine = __LINE__ + 3;
__global__ void arrives_again_kernel(int* p) {
  CLUSTER_BARRIER("arrive");
  if (p[0] == 0) CLUSTER_BARRIER("arrive");
  CLUSTER_BARRIER("wait");
}

constexpr int kWaitsAloneLine = __LINE__ + 2;
__global__ void waits_alone_kernel(int* p) {
  if (threadIdx.x != 5) CLUSTER_BARRIER("arrive");
  CLUSTER_BARRIER("wait");
  p[threadIdx.x] = 1;
}

constexpr int kAbsentFromClusterLine = __LINE__ + 5;
__global__ void absent_from_cluster_kernel(int* p) {
  // The second warp waits at the block's barrier instead.
  if (threadIdx.x < 32) {
    CLUSTER_BARRIER("arrive");
    CLUSTER_BARRIER("wait");
  } else {
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}

constexpr int kRelaxedLine = __LINE__ + 6;
__global__ void relaxed_kernel(int* p) {
  __shared__ int box[64];
  box[threadIdx.x] = 1;
  CLUSTER_BARRIER("arrive.relaxed");
  CLUSTER_BARRIER("wait");
  p[threadIdx.x] = box[63 - threadIdx.x];
}

// Behind the arrival, and before the wait, nothing is ordered.
constexpr int kTooLateLine = __LINE__ + 6;
__global__ void too_late_kernel(int* p) {
  __shared__ int box[64];
  CLUSTER_BARRIER("arrive");
  box[threadIdx.x] = 1;
  CLUSTER_BARRIER("wait");
  p[threadIdx.x] = box[63 - threadIdx.x];
}
// Thread 40 keeps what it loads, and nothing orders it and thread 0's store.
constexpr int kKeptLine = __LINE__ + 7;
__global__ void kept_kernel(int* p, int turns) {
  __shared__ int tile[64];
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    tile[threadIdx.x] = turn;
    __syncthreads();
    if (threadIdx.x == 0) tile[0] += tile[63];
    asm volatile("" ::: "memory");  // So that the load is done behind it.
    if (threadIdx.x == 40) sum += tile[0];
    __syncthreads();
  }
  p[threadIdx.x] = sum;
}

// Loops without end, each with something that changes for ever. A GPU would go
// on until somebody ends the program.
__global__ void still_kernel(int* p, int step) {
  for (int i = 0; i < 10 && p[1] == 0; i += step) p[2] = i;
}

// As nvcc may write it where a function of the host's is called.
__global__ void idle_kernel(int* p) {
  asm volatile("{\n again: bra again;\n}");
  *p = 1;
}

__global__ void counting_kernel(int* p, int step) {
  int turns = 0;
  for (int i = 0; i < 10; i += step) turns = turns * 3 + i;
  p[0] = turns;
}

__global__ void storing_kernel(volatile int* p, int step) {
  for (int i = 0, turns = 0; i < 10; i += step) p[0] = ++turns;
}

__global__ void atomic_kernel(int* p, int step) {
  for (int i = 0; i < 10; i += step) atomicAdd(p, 1);
}

__global__ void sleeping_kernel(int* p, int step) {
  int turns = 0;
  for (int i = 0; i < 10; i += step, ++turns) __nanosleep(1000);
  p[0] = turns;
}

// The library's barrier looks at a clock between two looks at its mbarrier. No
// time helps.
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void absent_kernel(int* p, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  if (threadIdx.x < n + 32) all.arrive_and_wait();
  p[threadIdx.x] = 1;
}

__device__ __noinline__ int next(int turns, int* p) {
  return turns * 3 + (p[1] == 0);
}
__global__ void calling_kernel(int* p, int step) {
  int turns = 0;
  for (int i = 0; i < 10; i += step) turns = next(turns, p);
  p[0] = turns;
}

__global__ void meeting_kernel(int* p, int step) {
  int turns = 0;
  for (int i = 0; i < 10; i += step) turns += __syncthreads_count(turns % 3);
  p[threadIdx.x] = turns;
}

__global__ void voting_kernel(int* p, int step) {
  int turns = 0;
  for (int i = 0; i < 10; i += step)
    turns += turns + __shfl_xor_sync(0xffffffff, turns, 1) + 1;
  p[threadIdx.x] = turns;
}

__global__ void parting_kernel(volatile int* p, int step) {
  int turns = threadIdx.x;
  for (int i = 0; i < 10; i += step) {
    if (turns % 5 == 1) {
      turns = turns * 7 + p[0];
    } else {
      turns += 3 + p[1];
    }
  }
  p[threadIdx.x] = turns;
}

__global__ void one_lane_kernel(int* p, int step) {
  int turns = 0;
  if (threadIdx.x == 40)
    for (int i = 0; i < 10; i += step) turns += turns + 1;
  p[threadIdx.x] = turns;
}

__global__ void one_block_kernel(int* p, int step) {
  int turns = 0;
  if (blockIdx.x == 2)
    for (int i = 0; i < 10; i += step) atomicAdd(p, ++turns);
  atomicAdd(p + 1, 1);
}

__global__ void looking_kernel(volatile int* p, int) {
  int looks = 0;
  while (p[0] == 0) p[1 + threadIdx.x % 2] = ++looks;
}

__global__ void absent_block_kernel(int* p, int) {
  int looks = 0;
  if (blockIdx.x == 7) return;
  if (threadIdx.x == 0) {
    atomicAdd(p, 1);
    while (atomicAdd(p, 0) < static_cast<int>(gridDim.x)) ++looks;
  }
  __syncthreads();
  if (threadIdx.x == 1) atomicAdd(p + 1, looks);
}

__global__ void tennis_kernel(int* p, int) {
  volatile int* seen = p;
  for (int turn = blockIdx.x;; turn += 2) {
    while (*seen != turn) {
    }
    atomicExch(p, turn + 1);
  }
}

__global__ void unlocked_kernel(int* p, int) {
  // The lock is taken and never given back.
  while (atomicCAS(p, 0, 1) != 0) {
  }
  atomicAdd(p + 1, 1);
}

__global__ void lost_wait_kernel(int* p, int) {
  // Each of two blocks waits for the other one to begin.
  volatile int* seen = p;
  while (seen[1 - blockIdx.x] == 0) __nanosleep(100);
  seen[blockIdx.x] = 1;
}

__global__ void crowd_kernel(int* p, int) {
  // A barrier of more blocks than any GPU holds at a time.
  atomicAdd(p, 1);
  while (atomicAdd(p, 0) < static_cast<int>(gridDim.x)) {
  }
}

__global__ void host_wait_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void plain_kernel(int* p) { p[0] = 1; }

// ---- Copies and barriers in shared memory ----

// Takes `taken` of 16 bytes, from `skip` bytes behind where a copy may begin.
__global__ void copy_kernel(const char* p, int skip, int taken) {
  __shared__ alignas(16) char box[512];
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
      "cp.async.wait_all;" ::"r"(shared_address(box + 16 * threadIdx.x)),
      "l"(p + skip), "r"(taken)
      : "memory");
}

// As many bytes as a bulk copy may not have, or to where it may not go.
__global__ void bulk_kernel(char* p, int skip, int bytes) {
  __shared__ alignas(16) char box[512];
  box[threadIdx.x] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::"l"(p + skip),
      "r"(shared_address(box)), "r"(bytes)
      : "memory");
}

__global__ void arrivals_kernel(int count, int arrivals, int bytes) {
  __shared__ unsigned long long barrier;
  const unsigned at = shared_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count)
               : "memory");
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at),
      "r"(bytes)
      : "memory");
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(at),
               "r"(arrivals)
               : "memory");
}

// ---- Clusters ----

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CLUSTERS __cluster_dims__(2, 1, 1)
__device__ void meet() {
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
__device__ uint32_t mapped(const void* p, uint32_t rank) {
  uint32_t at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(shared_address(p)), "r"(rank));
  return at;
}
#define LOAD_FROM_CLUSTER "ld.shared::cluster.b32 %0, [%1];"
__device__ uint32_t load_from_cluster(uint32_t at) {
  uint32_t value;
  asm volatile(LOAD_FROM_CLUSTER : "=r"(value) : "r"(at) : "memory");
  return value;
}
#else
#define CLUSTERS
__device__ void meet() {}
__device__ uint32_t mapped(const void* p, uint32_t) {
  return shared_address(p);
}
__device__ uint32_t load_from_cluster(uint32_t) { return 0; }
#endif
constexpr int kGoneBlockLine = __LINE__ - 11;
// In the order in which blocks run the second is done before the first goes on.
__global__ void CLUSTERS gone_block_kernel(int* p) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 1;
  meet();
  if (blockIdx.x == 0) p[0] = load_from_cluster(mapped(&word, 1));
}

__global__ void CLUSTERS sent_kernel(int* p) {
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t bar;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(&bar)))
               : "memory");
  asm volatile(
      "st.async.mbarrier::complete_tx::bytes.b32 [%0], 5, [%1];" ::"l"(p),
      "l"(&bar)
      : "memory");
#endif
}

constexpr int kRankLine = kGoneBlockLine;
__global__ void CLUSTERS wrong_rank_kernel(int* p) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 1;
  meet();
  if (blockIdx.x == 0) p[0] = load_from_cluster(mapped(&word, 2));
  meet();
}

constexpr int kReachLine = __LINE__ + 7;
__global__ void CLUSTERS not_reached_kernel(int* p) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 1;
  meet();
  const uint32_t at = mapped(&word, blockIdx.x ^ 1);
  uint32_t value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  p[blockIdx.x] = value;
  meet();
}

// ---- Tensors ----

// Of an array of 16 x `rows` integers, in boxes of 8 x 4.
CUtensorMap tensor_map(int* p, cuuint64_t rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  expect::ok(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
  CUtensorMap map;
  const cuuint64_t size[] = {16, rows}, stride[] = {64};
  const cuuint32_t box[] = {8, 4}, step[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

__global__ void tensor_kernel(const __grid_constant__ CUtensorMap map, int skip,
                              int row, int column = 0) {
  __shared__ alignas(128) char box[512];
  for (int i = 0; i < 512; ++i) box[i] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
      "[%0, {%3, %2}], [%1];\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::"l"(&map),
      "r"(shared_address(box + skip)), "r"(row), "r"(column)
      : "memory");
}

__global__ void line_kernel(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) char box[128];
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {0}], "
      "[%1];" ::"l"(&map),
      "r"(shared_address(box))
      : "memory");
}

__global__ void count_box_kernel(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) char box[128];
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group "
      "[%0, {0, 0}], [%1];" ::"l"(&map),
      "r"(shared_address(box))
      : "memory");
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// Rank 2 is none of a cluster of two blocks.
__global__ void CLUSTERS multicast_kernel(const int* p) {
  __shared__ alignas(16) int box[4];
  __shared__ unsigned long long barrier;
  const uint16_t ranks = 5;
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1], 16, [%2], %3;" ::"r"(
            shared_address(box)),
        "l"(p), "r"(shared_address(&barrier)), "h"(ranks)
        : "memory");
  meet();
}
#else
__global__ void multicast_kernel(const int*) {}
#endif

// ---- Textures and surfaces ----

constexpr int kSampleLine = __LINE__ + 2;
__global__ void sample_kernel(int* p, cudaTextureObject_t texture) {
  p[threadIdx.x] = tex2D<int>(texture, threadIdx.x, 0);
}

constexpr int kSurfaceLine = __LINE__ + 2;
__global__ void surface_kernel(cudaSurfaceObject_t surface, int step) {
  surf2Dwrite(1, surface, threadIdx.x * step, 0);
}

// Of an array of 16 x `height` integers.
struct Drawn {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;

  explicit Drawn(size_t height) {
    const auto form = cudaCreateChannelDesc<int>();
    cudaMallocArray(&array, &form, 16, height, cudaArraySurfaceLoadStore);
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeArray;
    d.res.array.array = array;
    const cudaTextureDesc how = {};
    cudaCreateTextureObject(&texture, &d, &how, nullptr);
    cudaCreateSurfaceObject(&surface, &d);
  }
};

// A name that is not mangled, and would be "short" if it were.
extern "C" __global__ void s(int* p) { p[threadIdx.x] = 1; }
template <void (*kernel)(int*, int), int blocks = 1>
void launch_endless(int* p) {
  kernel<<<blocks, 64>>>(p, 0);
}
template <void (*kernel)(volatile int*, int), int blocks = 1>
void launch_endless(int* p) {
  kernel<<<blocks, 64>>>(p, 0);
}

const int host_memory[64] = {};

const Case cases[] = {
    {"assert",
     [](int* p) { assert_kernel<<<2, 64>>>(p); },
     kAnywhere,
     {"thirteen", line(kAssertLine), "assert_kernel"}},
    {"trap",
     [](int* p) { trap_kernel<<<1, 64>>>(p); },
     kAnywhere,
     {"trap_kernel", "thread (33,0,0)", line(kTrapLine)}},
    {"breakpoint",
     [](int* p) { break_kernel<<<1, 64>>>(p); },
     kAnywhere,
     {"break_kernel", "no debugger", line(kBreakLine)}},
    {"null",
     [](int* p) { null_kernel<<<1, 64>>>(p, nullptr); },
     kAnywhere,
     {"null_kernel", "a null pointer", "thread (7,0,0)", line(kNullLine)}},
    {"no argument",
     [](int*) { no_argument_kernel<<<1, 1>>>(); },
     kExecutorOnly,
     {"printf was given no argument", line(kNoArgumentLine)}},
    {"misaligned",
     [](int* p) { misaligned_kernel<<<1, 64>>>(reinterpret_cast<char*>(p)); },
     kAnywhere,
     {"misaligned", "misaligned_kernel", "thread (3,0,0)",
      line(kMisalignedLine)}},
    {"misaligned vector",
     [](int* p) {
       misaligned_vector_kernel<<<1, 4>>>(reinterpret_cast<float*>(p));
     },
     kAnywhere,
     {"misaligned", "16", line(kMisalignedVectorLine)}},
    {"far",
     [](int* p) { far_kernel<<<1, 64>>>(p); },
     kAnywhere,
     {"far_kernel", "thread (0,0,0)", line(kFarLine)}},
    {"block too large",
     [](int* p) { plain_kernel<<<1, 1025>>>(p); },
     kAnywhere,
     {"plain_kernel", "exceeds (1024, 1024, 64)"}},
    {"empty grid",
     [](int* p) { plain_kernel<<<0, 32>>>(p); },
     kAnywhere,
     {"plain_kernel", "is empty"}},
    {"too much shared memory",
     [](int* p) { plain_kernel<<<1, 32, 1 << 20>>>(p); },
     kAnywhere,
     {"cudaErrorInvalidValue"}},
    {"behind",
     [](int* p) { behind_kernel<<<1, 128>>>(p, 64); },
     kExecutorOnly,
     {"out of bounds", "behind_kernel", "thread (64,0,0)", "256-byte array",
      line(kBehindLine)}},
    {"before",
     [](int* p) { before_kernel<<<1, 16>>>(p); },
     kExecutorOnly,
     {"out of bounds", "before_kernel", "thread (0,0,0)", line(kBeforeLine)}},
    {"freed",
     [](int* p) {
       expect::ok(cudaFree(p));
       freed_kernel<<<1, 16>>>(p);
     },
     kExecutorOnly,
     {"freed_kernel", "thread (0,0,0)", line(kFreedLine)}},
    {"host pointer",
     [](int* p) { host_kernel<<<1, 32>>>(p, host_memory); },
     kExecutorOnly,
     {"host", "host_kernel", "thread (0,0,0)", line(kHostLine)}},
    {"shared memory",
     [](int* p) { shared_kernel<<<1, 64, 1024>>>(p, 4); },
     kExecutorOnly,
     {"out of bounds", "shared_kernel", "thread (0,0,0)", line(kSharedLine)}},
    {"part of a block at a barrier",
     [](int* p) { barrier_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"barrier_kernel", "(0,0,0) to (31,0,0)", line(kBarrierLine)}},
    {"two barriers",
     [](int* p) { two_barriers_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"deadlock", "two_barriers_kernel", line(kTwoBarriersLine),
      line(kTwoBarriersLine + 2)}},
    {"lanes that wait elsewhere",
     [](int* p) { absent_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"absent_kernel", line(kAbsentLine)}},
    {"lanes that are gone",
     [](int* p) { gone_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"gone_kernel", line(kGoneLine)}},
    {"mask without the caller",
     [](int* p) { excluded_kernel<<<1, 32>>>(reinterpret_cast<unsigned*>(p)); },
     kExecutorOnly,
     {"excluded_kernel", "thread (16,0,0)", line(kExcludedLine)}},
    {"local memory",
     [](int* p) { local_kernel<<<1, 32>>>(p, 1 << 20); },
     kExecutorOnly,
     {"out of bounds", "local_kernel", "local", line(kLocalLine)}},
    {"endless recursion",
     [](int* p) { deep_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"stack overflow", "one more of deep they", "deep_kernel",
      line(kDeepLine)}},
    {"alloca of more than there is",
     [](int* p) { alloca_kernel<<<1, 32>>>(p, 150000); },
     kExecutorOnly,
     {"stack overflow", "alloca asks for 600000 bytes", "alloca_kernel",
      line(kAllocaLine)}},
    {"beside shared memory, with large tiles",
     [](int* p) { beside_tile_kernel<<<1, 64, 256>>>(p, 256); },
     kExecutorOnly,
     {"out of bounds", "256 bytes of shared memory", "thread (32,0,0)",
      line(kBesideTileLine)}},
    {"sent to global memory",
     [](int* p) { sent_kernel<<<2, 1>>>(p); },
     kExecutorOnly,
     {"bad copy", "shared memory of the cluster", "sent_kernel"}},
    {"lanes that left a loop",
     [](int* p) { loop_kernel<<<1, 32>>>(reinterpret_cast<unsigned*>(p)); },
     kExecutorOnly,
     {"missing lanes", "loop_kernel", line(kLoopLine)}},
    {"a lane that the mask leaves out",
     [](int* p) { beside_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"missing lane", "lane 8, which the mask leaves out", "beside_kernel",
      "thread (7,0,0)", line(kBesideLine)}},
    {"endless loop",
     [](int* p) { endless_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"livelock", "endless_kernel", line(kEndlessLine)}},
    {"two barriers at once",
     [](int*) { mixed_numbers_kernel<<<1, 64>>>(); },
     kAnywhere,
     {"bad barrier", "numbers, 3 and 4", "thread (1,0,0)",
      line(kMixedNumbersLine)}},
    {"arrives again",
     [](int* p) { arrives_again_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"bad barrier", "arrives again", line(kArrivesAgainLine)}},
    {"waits alone",
     [](int* p) { waits_alone_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"bad barrier", "thread (5,0,0)", line(kWaitsAloneLine + 1)}},
    {"absent from the cluster",
     [](int* p) { absent_from_cluster_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"deadlock", line(kAbsentFromClusterLine),
      line(kAbsentFromClusterLine + 2)}},
    {"relaxed arrival",
     [](int* p) { relaxed_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"race", line(kRelaxedLine)}},
    {"too late for the cluster",
     [](int* p) { too_late_kernel<<<1, 64>>>(p); },
     kExecutorOnly,
     {"race", line(kTooLateLine)}},
    {"a choice of what races",
     [](int* p) { kept_kernel<<<1, 64>>>(p, 5); },
     kExecutorOnly,
     {"race", "thread (40,0,0)", line(kKeptLine), line(kKeptLine + 2)}},
    {"in circles",
     launch_endless<still_kernel>,
     kExecutorOnly,
     {"livelock", "still_kernel"}},
    {"an empty loop",
     [](int* p) { idle_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"livelock", "idle_kernel", "The loop is empty", "volatile", "#20013-D"}},
    {"counting",
     launch_endless<counting_kernel>,
     kExecutorOnly,
     {"time limit", "counting_kernel", "SIMT_PATIENCE"}},
    {"storing",
     launch_endless<storing_kernel>,
     kExecutorOnly,
     {"time limit", "storing_kernel"}},
    {"atomics",
     launch_endless<atomic_kernel>,
     kExecutorOnly,
     {"time limit", "atomic_kernel"}},
    {"sleeping",
     launch_endless<sleeping_kernel>,
     kExecutorOnly,
     {"time limit", "sleeping_kernel"}},
    {"absent",
     launch_endless<absent_kernel>,
     kExecutorOnly,
     {"deadlock", "absent_kernel", "wait at the mbarrier"}},
    {"calling",
     launch_endless<calling_kernel>,
     kExecutorOnly,
     {"time limit", "calling_kernel"}},
    {"meeting",
     launch_endless<meeting_kernel>,
     kExecutorOnly,
     {"meeting_kernel"}},
    {"voting",
     launch_endless<voting_kernel>,
     kExecutorOnly,
     {"time limit", "voting_kernel"}},
    {"parting",
     launch_endless<parting_kernel, 50>,
     kExecutorOnly,
     {"time limit", "parting_kernel"}},
    {"one lane",
     launch_endless<one_lane_kernel>,
     kExecutorOnly,
     {"time limit", "one_lane_kernel", "thread (40,0,0)"}},
    {"one block",
     launch_endless<one_block_kernel, 200>,
     kExecutorOnly,
     {"time limit", "one_block_kernel", "block (2,0,0)"}},
    {"looking",
     launch_endless<looking_kernel, 20>,
     kExecutorOnly,
     {"time limit", "looking_kernel"}},
    {"absent block",
     launch_endless<absent_block_kernel, 200>,
     kExecutorOnly,
     {"time limit", "absent_block_kernel"}},
    {"tennis",
     launch_endless<tennis_kernel, 2>,
     kExecutorOnly,
     {"time limit", "tennis_kernel"}},
    {"crowd",
     [](int* p) { crowd_kernel<<<6000, 1>>>(p, 0); },
     kExecutorOnly,
     {"livelock", "crowd_kernel", "blocks cannot begin"}},
    {"host that never comes",
     [](int*) {
       int* flag = nullptr;
       expect::ok(cudaMallocHost(&flag, sizeof *flag));
       *flag = 0;
       host_wait_kernel<<<1, 32>>>(flag);
     },
     kExecutorOnly,
     {"time limit", "host_wait_kernel", "the host may change"}},
    {"unlocked",
     launch_endless<unlocked_kernel, 3>,
     kExecutorOnly,
     {"livelock", "unlocked_kernel"}},
    {"lost wait",
     launch_endless<lost_wait_kernel, 2>,
     kExecutorOnly,
     {"livelock", "lost_wait_kernel"}},
    {"a product by half a warp",
     [](int* p) { half_warp_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"missing lane", "half_warp_kernel", "0x0000ffff", line(kMultiplyLine)}},
    {"a product by a short warp",
     [](int* p) { short_warp_kernel<<<1, 16>>>(p); },
     kExecutorOnly,
     {"missing lane", "short_warp_kernel", "the block ends"}},
    {"a crooked row",
     [](int* p) { crooked_row_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"misaligned access", "crooked_row_kernel", "thread (5,0,0)",
      line(kLoadRowLine)}},
    {"a row outside",
     [](int* p) { far_row_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"out of bounds", "far_row_kernel", "thread (7,0,0)", line(kLoadRowLine)}},
    {"a race with a row",
     [](int* p) { matrix_race_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"race", line(kMatrixRaceLine), line(kLoadRowLine)}},
    {"a race with a row that is stored",
     [](int* p) { row_written_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"race", "the write by", line(kRowWrittenLine)}},
    {"a row that nobody wrote",
     [](int* p) { unwritten_row_kernel<<<1, 32>>>(p); },
     kExecutorOnly,
     {"uninitialised read", "unwritten_row_kernel", "decides the branch",
      line(kUnwrittenRowLine)}},
    {"a tile outside",
     [](int* p) {
       far_tile_kernel<<<1, 32>>>(reinterpret_cast<const half*>(p), p);
     },
     kExecutorOnly,
     {"out of bounds", "far_tile_kernel", "256-byte array"}},
    {"misaligned copy",
     [](int* p) { copy_kernel<<<1, 32>>>(reinterpret_cast<char*>(p), 4, 16); },
     kExecutorOnly,  // PTX leaves it undefined; an H200 says nothing.
     {"misaligned", "16", "copy_kernel"}},
    {"copy of too much",
     [](int* p) { copy_kernel<<<1, 32>>>(reinterpret_cast<char*>(p), 0, 17); },
     kExecutorOnly,
     {"bad copy", "copy_kernel", "takes 17"}},
    {"copy from outside",
     [](int* p) { copy_kernel<<<1, 32>>>(reinterpret_cast<char*>(p), 256, 8); },
     kExecutorOnly,
     {"out of bounds", "read of 8 bytes", "copy_kernel"}},
    {"misaligned bulk copy",
     [](int* p) { bulk_kernel<<<1, 1>>>(reinterpret_cast<char*>(p), 8, 64); },
     kAnywhere,
     {"misaligned", "bulk_kernel"}},
    {"odd bulk copy",
     [](int* p) { bulk_kernel<<<1, 1>>>(reinterpret_cast<char*>(p), 0, 40); },
     kExecutorOnly,
     {"bad copy", "40 bytes", "bulk_kernel"}},
    {"more arrivals than a barrier waits for",
     [](int*) { arrivals_kernel<<<1, 1>>>(4, 5, 0); },
     kExecutorOnly,
     {"bad barrier", "5 times", "waits for 4", "arrivals_kernel"}},
    {"more bytes than a barrier can wait for",
     [](int*) { arrivals_kernel<<<1, 1>>>(4, 1, 1 << 20); },
     kAnywhere,
     {"bad barrier", "1048576 bytes", "arrivals_kernel"}},
    {"barrier for nobody",
     [](int*) { arrivals_kernel<<<1, 1>>>(0, 1, 0); },
     kExecutorOnly,
     {"bad barrier", "1 to 1048575 arrivals", "arrivals_kernel"}},
    {"gone block",
     [](int* p) { gone_block_kernel<<<2, 32>>>(p); },
     kExecutorOnly,
     {"block ended", line(kGoneBlockLine), "which has ended"}},
    {"wrong rank",
     [](int* p) { wrong_rank_kernel<<<2, 32>>>(p); },
     kExecutorOnly,
     {"out of bounds", line(kRankLine), "none of rank"}},
    {"out of reach",
     [](int* p) { not_reached_kernel<<<2, 32>>>(p); },
     kExecutorOnly,
     {"out of bounds", line(kReachLine), ".shared does not reach"}},
    {"misaligned box",
     [](int* p) { tensor_kernel<<<1, 1>>>(tensor_map(p, 4), 16, 0); },
     kExecutorOnly,
     {"misaligned", "no multiple of 128", "tensor_kernel"}},
    {"tensor larger than its array",
     [](int* p) { tensor_kernel<<<1, 1>>>(tensor_map(p, 1 << 20), 0, 4); },
     kExecutorOnly,
     {"out of bounds", "write of 32 bytes", "tensor_kernel"}},
    {"freed tensor",
     [](int*) {
       int* gone = nullptr;
       expect::ok(cudaMalloc(&gone, 4096));
       const CUtensorMap map = tensor_map(gone, 4);
       expect::ok(cudaFree(gone));
       tensor_kernel<<<1, 1>>>(map, 0, 0);
     },
     kExecutorOnly,
     {"use after free", "tensor_kernel"}},
    {"no tensor map",
     [](int*) { tensor_kernel<<<1, 1>>>(CUtensorMap{}, 0, 0); },
     kExecutorOnly,
     {"bad copy", "no tensor map", "tensor_kernel"}},
    {"tensor of other dimensions",
     [](int* p) { line_kernel<<<1, 1>>>(tensor_map(p, 4)); },
     kExecutorOnly,
     {"bad copy", "2 dimensions", "is for 1", "line_kernel"}},
    {"tensor whose elements are not reduced so",
     [](int* p) { count_box_kernel<<<1, 1>>>(tensor_map(p, 4)); },
     kAnywhere,
     {"illegal instruction", "no such reduction", "a signed integer of 32 bits",
      "count_box_kernel"}},
    {"box stored from before its tensor",
     [](int* p) { tensor_kernel<<<1, 1>>>(tensor_map(p, 4), 0, -1); },
     kAnywhere,
     {"illegal instruction", "begins at coordinate -1", "tensor_kernel"}},
    {"box between two times 16 bytes",
     [](int* p) { tensor_kernel<<<1, 1>>>(tensor_map(p, 4), 0, 0, 1); },
     kAnywhere,
     {"illegal instruction", "begins at element 1", "tensor_kernel"}},
    {"multicast to nobody",
     [](int* p) { multicast_kernel<<<2, 32>>>(p); },
     kExecutorOnly,
     {"bad copy", "names rank 2", "has 2 blocks", "multicast_kernel"}},
    {"texture of another shape",
     [](int* p) { sample_kernel<<<1, 32>>>(p, Drawn(0).texture); },
     kExecutorOnly,
     {"bad image", "this one is 1D", line(kSampleLine)}},
    {"no texture",
     [](int* p) { sample_kernel<<<1, 32>>>(p, 0x1234); },
     kExecutorOnly,
     {"bad image", "4660 is no texture object", line(kSampleLine)}},
    {"surface for a texture",
     [](int* p) { sample_kernel<<<1, 32>>>(p, Drawn(4).surface); },
     kExecutorOnly,
     {"bad image", "one of the other kind", line(kSampleLine)}},
    {"texture of a freed array",
     [](int* p) {
       const Drawn drawn(4);
       cudaFreeArray(drawn.array);
       sample_kernel<<<1, 32>>>(p, drawn.texture);
     },
     kExecutorOnly,
     {"use after free", line(kSampleLine)}},
    {"beside a surface",
     [](int*) { surface_kernel<<<1, 32>>>(Drawn(4).surface, 4); },
     kAnywhere,
     {"out of bounds", "byte 64 of row 0", line(kSurfaceLine)}},
    {"within a texel",
     [](int*) { surface_kernel<<<1, 16>>>(Drawn(4).surface, 2); },
     kExecutorOnly,
     {"misaligned access", "no multiple of the 4 bytes", line(kSurfaceLine)}},
    {"plain name",
     [](int* p) { s<<<1, 128>>>(p); },
     kExecutorOnly,
     {"out of bounds", "in s at"}},
};

int child(const std::string& name) {
  // Half of the cases use it up.
  setenv("SIMT_PATIENCE", "0.1", 1);
  for (const Case& it : cases) {
    if (it.name != name) continue;
    int* p = nullptr;
    expect::ok(cudaMalloc(&p, 64 * sizeof(int)));
    expect::ok(cudaMemset(p, 0, 64 * sizeof(int)));
    it.launch(p);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    std::cout << cudaGetErrorName(error) << std::endl;
    return error != cudaSuccess;
  }
  return 2;
}

void check(const Case& it, bool executor) {
  const Ended ended = run_self(it.name);
  bool good = ended.status == 1;
  if (!good) {
    std::cout << it.name << ": status " << ended.status << ", not 1\n";
  }
  for (const std::string& text : it.expected) {
    const bool there = ended.output.find(text) != std::string::npos;
    if (there || !executor) continue;
    good = false;
    std::cout << it.name << ": the message lacks '" << text << "'\n";
  }
  if (!good) std::cout << "  it was:\n" << ended.output;
  expect::count(good);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return child(argv[1]);
  const bool executor = on_executor();
  for (const Case& it : cases) {
    if (executor || it.anywhere) check(it, executor);
  }
  return expect::report();
}
