// Clusters: what their blocks are told, their barrier, and how they read, write
// and update each other's shared memory.
#include <cooperative_groups.h>

#include <cuda/barrier>

#include "tests/simt/expect.h"
#include "tests/simt/mbarrier.h"

namespace cg = cooperative_groups;

namespace {

// Where the block of this rank has what this one has at p.
__device__ uint32_t mapped(const void* p, uint32_t rank) {
  uint32_t at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(shared_address(p)), "r"(rank));
  return at;
}

struct Launch {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};

  Launch(dim3 grid, dim3 block, dim3 cluster, size_t bytes = 0) {
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  }
  // Not before: the launch is copied where it is made.
  template <class... Parameters, class... Arguments>
  cudaError_t of(void (*kernel)(Parameters...), Arguments... arguments) {
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
  }
};

// ---- What blocks are told ---------------------------------------------------

constexpr int kFacts = 19;

__device__ void tell(int* out) {
  int fact[kFacts];
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(fact[0]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(fact[1]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(fact[2]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(fact[3]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(fact[4]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(fact[5]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(fact[6]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(fact[7]));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(fact[8]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(fact[9]));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(fact[10]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(fact[11]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(fact[12]));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(fact[13]));
  asm("{\n"
      ".reg .pred p;\n"
      "mov.pred p, %%is_explicit_cluster;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(fact[14]));
  const auto cluster = cg::this_cluster();
  fact[15] = static_cast<int>(cluster.block_rank());
  fact[16] = static_cast<int>(cluster.num_blocks());
  fact[17] = static_cast<int>(cluster.thread_rank());
  fact[18] = static_cast<int>(cluster.num_threads());
  for (int k = 0; k < kFacts; ++k) out[k] = fact[k];
}

__device__ int block_number() {
  return static_cast<int>(blockIdx.x +
                          gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}

__global__ void facts_kernel(int* out) {
  if (threadIdx.x == 1) tell(out + block_number() * kFacts);
}

__global__ void __cluster_dims__(2, 1, 2) own_facts_kernel(int* out) {
  if (threadIdx.x == 1) tell(out + block_number() * kFacts);
}

void check_facts(const std::vector<int>& got, dim3 grid, dim3 size,
                 bool is_explicit) {
  const dim3 all(grid.x / size.x, grid.y / size.y, grid.z / size.z);
  const int blocks = static_cast<int>(size.x * size.y * size.z);
  expect::each(got, [&](int i) {
    const uint32_t b = i / kFacts;
    const dim3 at(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
    const dim3 in(at.x % size.x, at.y % size.y, at.z % size.z);
    const int rank = static_cast<int>(in.x + size.x * (in.y + size.y * in.z));
    const int facts[kFacts] = {rank,
                               blocks,
                               static_cast<int>(in.x),
                               static_cast<int>(in.y),
                               static_cast<int>(in.z),
                               static_cast<int>(size.x),
                               static_cast<int>(size.y),
                               static_cast<int>(size.z),
                               static_cast<int>(at.x / size.x),
                               static_cast<int>(at.y / size.y),
                               static_cast<int>(at.z / size.z),
                               static_cast<int>(all.x),
                               static_cast<int>(all.y),
                               static_cast<int>(all.z),
                               is_explicit,
                               rank,
                               blocks,
                               rank * 32 + 1,
                               blocks * 32};
    return facts[i % kFacts];
  });
}

void check_facts() {
  const auto of = [](dim3 grid, auto launch) {
    return expect::results<int>(grid.x * grid.y * grid.z * kFacts, launch);
  };
  const dim3 grid(4, 3, 2);
  check_facts(of(grid, [&](int* out) { facts_kernel<<<grid, 32>>>(out); }),
              grid, {1, 1, 1}, false);
  for (const dim3 size : {dim3(1, 1, 1), dim3(2, 1, 1), dim3(1, 3, 1),
                          dim3(4, 1, 2), dim3(2, 1, 2)})
    check_facts(of(grid,
                   [&](int* out) {
                     expect::ok(Launch(grid, 32, size).of(facts_kernel, out));
                   }),
                grid, size, true);
  check_facts(of(grid, [&](int* out) { own_facts_kernel<<<grid, 32>>>(out); }),
              grid, {2, 1, 2}, true);
}

// ---- Blocks and clusters of the kernel's own size ---------------------------

#ifdef __block_size__
__global__ void __block_size__((8, 2, 2)) sized_kernel(int* out) {
  if (threadIdx.x == 1 && threadIdx.y + threadIdx.z == 0)
    tell(out + block_number() * kFacts);
}

__global__ void __block_size__((32, 1, 1), (2, 1, 3))
    sized_clusters_kernel(int* out) {
  if (threadIdx.x == 1) tell(out + block_number() * kFacts);
}

void check_sized() {
  const dim3 grid(4, 3, 2), clusters(2, 3, 1), blocks(4, 3, 3);
  for (const dim3 block : {dim3(1), dim3(8, 2, 2)})
    check_facts(
        expect::results<int>(
            24 * kFacts, [&](int* out) { sized_kernel<<<grid, block>>>(out); }),
        grid, {1, 1, 1}, true);
  for (const int block : {1, 32})
    check_facts(
        expect::results<int>(
            36 * kFacts,
            [&](int* out) { sized_clusters_kernel<<<clusters, block>>>(out); }),
        blocks, {2, 1, 3}, true);
  int* out = nullptr;
  void* arguments[] = {&out};
  for (const dim3 block :
       {dim3(32), dim3(8, 2, 1), dim3(8, 4), dim3(2), dim3(64)})
    expect::equal(cudaLaunchKernel(sized_kernel, grid, block, arguments),
                  cudaErrorInvalidValue);
  expect::equal(Launch(4, 32, 4).of(sized_clusters_kernel, out),
                cudaErrorInvalidClusterSize);
  cudaGetLastError();
  cudaFuncAttributes facts;
  expect::ok(cudaFuncGetAttributes(&facts, sized_clusters_kernel));
  expect::equal(facts.maxThreadsPerBlock, 1024);
  expect::equal(facts.requiredClusterDepth, 3);
}
#endif

// ---- Each other's shared memory ---------------------------------------------

// Each block passes what it holds to the next, round and round, through
// generic addresses.
__global__ void ring_kernel(int* out, int rounds) {
  __shared__ int held[2][64];
  const auto cluster = cg::this_cluster();
  const unsigned n = cluster.num_blocks(), rank = cluster.block_rank();
  held[0][threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    cluster.sync();
    int* next = cluster.map_shared_rank(held[(r + 1) % 2], (rank + 1) % n);
    next[threadIdx.x] = held[r % 2][threadIdx.x];
  }
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = held[rounds % 2][threadIdx.x];
}

// Lanes of a warp read from as many blocks as there are; the result is the same
// by .shared::cluster and by generic addresses, also of a block's own.
__global__ void __cluster_dims__(4, 1, 1) mixed_kernel(int* out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[32];
  const int i = threadIdx.x;
  fixed[i] = blockIdx.x * 100 + i;
  dynamic[i] = fixed[i] + 50;
  const auto cluster = cg::this_cluster();
  cluster.sync();
  int one, four[4];
  asm volatile("ld.shared::cluster.b32 %0, [%1];"
               : "=r"(one)
               : "r"(mapped(&fixed[i], i % 4)));
  asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3])
               : "r"(mapped(&dynamic[i / 4 * 4], i / 8)));
  const int generic = *cluster.map_shared_rank(&fixed[i], i % 4);
  int own;
  asm volatile("ld.shared.b32 %0, [%1];"
               : "=r"(own)
               : "r"(mapped(&fixed[i], cluster.block_rank())));
  out[blockIdx.x * 32 + i] =
      one * (one == generic) + four[i % 4] * 1000 + (own != fixed[i]) * 5;
  cluster.sync();
}

// What addresses are: whose, in which space, and what comes back of them.
__global__ void __cluster_dims__(3, 1, 1) address_kernel(int* out) {
  __shared__ int word;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  int bits = 0;
  for (unsigned k = 0; k < 3; ++k) {
    int* there = cluster.map_shared_rank(&word, k);
    uint32_t whose;
    asm("getctarank.shared::cluster.u32 %0, %1;"
        : "=r"(whose)
        : "r"(mapped(&word, k)));
    uint32_t in_block, in_cluster;
    asm("{\n"
        ".reg .pred p, q;\n"
        "isspacep.shared::cta p, %2;\n"
        "isspacep.shared::cluster q, %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "selp.u32 %1, 1, 0, q;\n"
        "}"
        : "=r"(in_block), "=r"(in_cluster)
        : "l"(there));
    const bool good = cluster.query_shared_rank(there) == k && whose == k &&
                      in_block == (k == rank) && in_cluster == 1 &&
                      (there == &word) == (k == rank) &&
                      __cvta_generic_to_shared(there) == mapped(&word, k);
    bits |= good << k;
  }
  uint32_t of_global;
  asm("{\n"
      ".reg .pred p;\n"
      "isspacep.shared::cluster p, %1;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(of_global)
      : "l"(out));
  out[blockIdx.x * 32 + threadIdx.x] = bits + of_global * 8;
}

// A block hands its own pointers to another one, who reads through them.
__global__ void __cluster_dims__(2, 1, 1) handed_kernel(int* out) {
  __shared__ int word[32];
  __shared__ int* pointer;
  const auto cluster = cg::this_cluster();
  const unsigned other = cluster.block_rank() ^ 1;
  word[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&pointer, other) = word;
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = pointer[threadIdx.x ^ 1];
  cluster.sync();
}

void check_memory() {
  for (const int size : {1, 2, 8})
    for (const int rounds : {1, 6}) {
      expect::each(
          expect::results<int>(
              16 * 64,
              [&](int* out) {
                expect::ok(Launch(16, 64, size).of(ring_kernel, out, rounds));
              }),
          [&](int i) {
            const int block = i / 64, first = block / size * size;
            const int from =
                first + ((block - first - rounds) % size + size) % size;
            return from * 1000 + i % 64;
          });
    }
  expect::each(
      expect::results<int>(
          8 * 32, [](int* out) { mixed_kernel<<<8, 32, 32 * 4>>>(out); }),
      [](int i) {
        const int first = i / 128 * 4, lane = i % 32;
        return (first + lane % 4) * 100 + lane +
               ((first + lane / 8) * 100 + lane + 50) * 1000;
      });
  expect::each(expect::results<int>(
                   6 * 32, [](int* out) { address_kernel<<<6, 32>>>(out); }),
               [](int) { return 7; });
  expect::each(expect::results<int>(
                   2 * 32, [](int* out) { handed_kernel<<<2, 32>>>(out); }),
               [](int i) { return (1 - i / 32) * 100 + (i % 32 ^ 1); });
}

// ---- Atomics ----------------------------------------------------------------

// The histogram of the CUDA Programming Guide: its bins lie in all blocks.
__global__ void histogram_kernel(int* bins, int bins_per_block, const int* x,
                                 int n) {
  extern __shared__ int mine[];
  const auto cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  for (unsigned k = threadIdx.x; k < unsigned(bins_per_block); k += blockDim.x)
    mine[k] = 0;
  cluster.sync();
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < unsigned(n);
       i += step) {
    int* theirs = cluster.map_shared_rank(mine, x[i] / bins_per_block);
    atomicAdd(theirs + x[i] % bins_per_block, 1);
  }
  cluster.sync();
  for (int k = threadIdx.x; k < bins_per_block; k += blockDim.x)
    atomicAdd(&bins[rank * bins_per_block + k], mine[k]);
}

__global__ void __cluster_dims__(2, 1, 1) atomics_kernel(uint32_t* out) {
  __shared__ uint32_t word[6];
  __shared__ float sum;
  const auto cluster = cg::this_cluster();
  const uint32_t i = threadIdx.x, rank = cluster.block_rank();
  if (i < 6) word[i] = i == 3 ? ~0u : 0;
  if (i == 0) sum = 0;
  cluster.sync();
  const uint32_t mine = rank * 32 + i;
  uint32_t old;
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(mapped(&word[0], 0)), "r"(1)
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.or.b32 [%0], %1;" ::"r"(
                   mapped(&word[1], 1)),
               "r"(1 << i)
               : "memory");
  asm volatile(
      "red.shared::cluster.max.u32 [%0], %1;" ::"r"(mapped(&word[2], rank ^ 1)),
      "r"(mine)
      : "memory");
  atomicMin(cluster.map_shared_rank(&word[3], rank ^ 1), mine);
  atomicCAS(cluster.map_shared_rank(&word[4], rank ^ 1), 0, 7);
  atomicAdd(cluster.map_shared_rank(&sum, i % 2), 0.5f);
  cluster.sync();
  if (i < 6) out[rank * 8 + i] = word[i];
  if (i == 6) out[rank * 8 + i] = static_cast<uint32_t>(sum);
  if (i == 7) out[rank * 8 + i] = old < 64;
}

void check_atomics() {
  const int n = 2000, bins = 96;
  std::vector<int> x(n), wanted(bins);
  for (int i = 0; i < n; ++i) ++wanted[x[i] = (i * 37 + i / 5) % bins];
  const expect::Copy<int> copy(x);
  const int* const values = copy;
  for (const int size : {1, 2, 4}) {
    const int each = bins / size;
    expect::each(
        expect::results<int>(bins,
                             [&](int* out) {
                               expect::ok(Launch(8, 64, size, each * 4)
                                              .of(histogram_kernel, out, each,
                                                  values, n));
                             }),
        [&](int i) { return wanted[i]; });
  }
  const uint32_t expected[2][8] = {{64, 0, 63, 32, 7, 0, 16, 1},
                                   {0, ~0u, 31, 0, 7, 0, 16, 1}};
  expect::each(expect::results<uint32_t>(
                   16, [](uint32_t* out) { atomics_kernel<<<2, 32>>>(out); }),
               [&](int i) { return expected[i / 8][i % 8]; });
}

// ---- The barrier ------------------------------------------------------------

// Work between arriving and waiting; warps and blocks come at different times;
// a thread that has ended is waited for no more.
__global__ void __cluster_dims__(4, 1, 1) split_kernel(int* out) {
  __shared__ int given, taken;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) given = taken = 0;
  if (rank == 2 && threadIdx.x >= 32) return;
  cluster.sync();
  int sum = 0;
  for (int k = 0; k < 5; ++k) {
    if (threadIdx.x == 0) {
      const unsigned to = (rank + k) % 4;
      *cluster.map_shared_rank(k % 2 ? &taken : &given, to) = rank * 10 + k;
    }
    auto token = cluster.barrier_arrive();
    sum = sum * 3 + k;
    cluster.barrier_wait(std::move(token));
    sum += k % 2 ? taken : given;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
  cluster.sync();
}

// Nobody hands anything over, and still nobody goes on before all have come.
__global__ void __cluster_dims__(2, 1, 1) relaxed_kernel(int* out) {
  __shared__ int word;
  asm volatile(
      "barrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.aligned;" ::
          : "memory");
  if (threadIdx.x == 0) {
    uint32_t other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(other));
    asm volatile(
        "st.shared::cluster.b32 [%0], %1;" ::"r"(mapped(&word, other ^ 1)),
        "r"(other + 5)
        : "memory");
  }
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
  out[blockIdx.x * 64 + threadIdx.x] = word;
}

void check_barrier() {
  expect::each(
      expect::results<int>(8, [](int* out) { split_kernel<<<8, 64>>>(out); }),
      [](int i) {
        int sum = 0;
        for (int k = 0; k < 5; ++k)
          sum = sum * 3 + k + ((i - k) % 4 + 4) % 4 * 10 + k;
        return sum;
      });
  expect::each(expect::results<int>(
                   128, [](int* out) { relaxed_kernel<<<2, 64>>>(out); }),
               [](int i) { return 6 - i / 64; });
}

// ---- Barriers in another block's shared memory ------------------------------

// Each block is handed numbers by the next one, who arrives at its mbarrier.
__global__ void __cluster_dims__(4, 1, 1) told_kernel(int* out) {
  __shared__ uint64_t full;
  __shared__ int word[32];
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), to = (rank + 1) % 4;
  if (threadIdx.x == 0)
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_address(&full))
        : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  cluster.sync();
  if (threadIdx.x < 32) {
    *cluster.map_shared_rank(&word[threadIdx.x], to) = rank * 100 + threadIdx.x;
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
            mapped(&full, to))
        : "memory");
  }
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(&full))
        : "memory");
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = word[(threadIdx.x + 1) % 32];
  cluster.sync();
}

void check_told() {
  expect::each(
      expect::results<int>(8 * 64,
                           [](int* out) { told_kernel<<<8, 64>>>(out); }),
      [](int i) { return (i / 64 + 3) % 4 * 100 + (i % 64 + 1) % 32; });
}

// Each thread sends numbers to the next block, whose mbarrier counts the bytes.
__global__ void __cluster_dims__(2, 1, 1) sent_kernel(int* out) {
  __shared__ alignas(16) int one[32], four[128];
  __shared__ unsigned long long two[64];
  __shared__ unsigned sum, least;
  __shared__ uint64_t full;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), to = rank ^ 1;
  const int i = threadIdx.x;
  if (i == 0) {
    sum = 5;
    least = 1000;
    for_copies::init(&full, 1);
    for_copies::arrive_and_expect(&full, 32 * (4 + 16 + 16 + 4 + 4));
  }
  cluster.sync();
  const uint32_t bar = mapped(&full, to);
  const int value = i + 100 * rank;
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], "
      "%1, [%2];" ::"r"(mapped(&one[i], to)),
      "r"(value), "r"(bar)
      : "memory");
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%0], "
      "{%1, %2}, [%3];" ::"r"(mapped(&two[2 * i], to)),
      "l"(value * 0x100000001ull), "l"(~0ull), "r"(bar)
      : "memory");
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], "
      "{%1, %1, %2, %1}, [%3];" ::"r"(mapped(&four[4 * i], to)),
      "r"(value), "r"(-value), "r"(bar)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
      ".add.u32 [%0], %1, [%2];" ::"r"(mapped(&sum, to)),
      "r"(value), "r"(bar)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
      ".min.u32 [%0], %1, [%2];" ::"r"(mapped(&least, to)),
      "r"(value + 7), "r"(bar)
      : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(&full))
        : "memory");
  const int j = 31 - i;
  const bool same = two[2 * j] == one[j] * 0x100000001ull &&
                    two[2 * j + 1] == ~0ull && four[4 * j] == one[j] &&
                    four[4 * j + 1] == one[j] && four[4 * j + 2] == -one[j] &&
                    four[4 * j + 3] == one[j];
  out[blockIdx.x * 32 + i] = same ? one[j] : -1;
  if (i == 0) {
    out[64 + blockIdx.x] = sum;
    out[66 + blockIdx.x] = least;
  }
  cluster.sync();
}

void check_sent() {
  const auto got =
      expect::results<int>(68, [](int* out) { sent_kernel<<<2, 32>>>(out); });
  expect::each(got, [](int k) {
    const int from = k < 64 ? 1 - k / 32 : 1 - k % 2;
    if (k < 64) return 31 - k % 32 + 100 * from;
    return k < 66 ? 5 + 496 + 3200 * from : 7 + 100 * from;
  });
}

// ---- What is refused --------------------------------------------------------

template <class F>
void refused(F launch, expect::Where where = expect::Where::current()) {
  expect::is_true(launch() != cudaSuccess, "the launch is refused", where);
  cudaGetLastError();
  expect::ok(cudaDeviceSynchronize(), where);
}

void check_sizes() {
  expect::results<int>(32 * kFacts, [](int* out) {
    const auto launch = [&](dim3 grid, dim3 size) {
      return Launch(grid, 32, size).of(facts_kernel, out);
    };
    refused([&] { return launch(9, 2); });
    refused([&] { return launch({2, 3, 1}, {1, 2, 1}); });
    refused([&] { return launch(16, 16); });
    refused([&] { return launch(32, 32); });
    refused([&] { return Launch(8, 32, 4).of(own_facts_kernel, out); });
    expect::ok(launch(16, 8));
    expect::ok(cudaFuncSetAttribute(
        facts_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    expect::ok(launch(16, 16));
    refused([&] { return launch(32, 32); });
  });
  int most = 0;
  Launch plain(16, 32, 1);
  expect::ok(
      cudaOccupancyMaxPotentialClusterSize(&most, ring_kernel, &plain.config));
  expect::equal(most, 8);
  plain.config.dynamicSmemBytes = 200000;
  expect::ok(
      cudaOccupancyMaxPotentialClusterSize(&most, ring_kernel, &plain.config));
  expect::equal(most, 0);
  plain.config.dynamicSmemBytes = 0;
  refused([&] {
    return cudaOccupancyMaxPotentialClusterSize(&most, own_facts_kernel,
                                                &plain.config);
  });
  plain.config.gridDim = {8, 1, 2};
  expect::ok(cudaOccupancyMaxPotentialClusterSize(&most, own_facts_kernel,
                                                  &plain.config));
  expect::equal(most, 8);
  int possible = 0;
  expect::ok(cudaDeviceGetAttribute(&possible, cudaDevAttrClusterLaunch, 0));
  expect::equal(possible, 1);
}

// Some clusters fit, and no more than their blocks would without clusters.
void check_at_once() {
  int multiprocessors = 0, blocks = 0, clusters = 0;
  expect::ok(cudaDeviceGetAttribute(&multiprocessors,
                                    cudaDevAttrMultiProcessorCount, 0));
  for (const unsigned size : {1, 2, 4, 8}) {
    Launch launch(16 * size, 256, size);
    launch.config.attrs = &launch.attribute;
    launch.config.numAttrs = 1;
    expect::ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, ring_kernel, 256, 0));
    expect::ok(
        cudaOccupancyMaxActiveClusters(&clusters, ring_kernel, &launch.config));
    expect::is_true(clusters > 0, "one fits");
    expect::is_true(clusters * int(size) <= blocks * multiprocessors,
                    "no more than their blocks would");
  }
  // Of blocks that are too large none fits, unless their clusters are, too.
  Launch large(8, 1025, 8), larger(9, 1025, 9);
  for (Launch* one : {&large, &larger}) {
    one->config.attrs = &one->attribute;
    one->config.numAttrs = 1;
  }
  expect::ok(
      cudaOccupancyMaxActiveClusters(&clusters, ring_kernel, &large.config));
  expect::equal(clusters, 0);
  expect::equal(
      cudaOccupancyMaxActiveClusters(&clusters, ring_kernel, &larger.config),
      cudaErrorInvalidClusterSize);
  cudaGetLastError();
}

}  // namespace

int main() {
  check_facts();
#ifdef __block_size__
  check_sized();
#endif
  check_memory();
  check_atomics();
  check_barrier();
  check_told();
  check_sent();
  check_sizes();
  check_at_once();
  return expect::report();
}
