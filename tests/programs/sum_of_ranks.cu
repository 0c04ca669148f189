// A rank for each device, which adds up its own numbers and then meets the
// others in NCCL's all-reduce. The ranks are processes, on one machine or
// several:
//
//   for r in 0 1; do RANK=$r RANKS=2 ./run ranks & done; wait
//   mpirun -np 2 ./run ranks
//
// The argument is a file that all of them can see, in which rank 0 leaves what
// the others join by. Without it the ranks are threads of this process.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "chapters/17_sum_all/own_sum.h"
#include "common/check.h"

namespace {

void must(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(result));
  std::exit(EXIT_FAILURE);
}

// The first of these that whoever started us has set.
int setting(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  std::fprintf(stderr, "Say which rank this is: RANK=0 RANKS=2 ./run file\n");
  std::exit(EXIT_FAILURE);
}

int devices_there() {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

// Rank r has r + 1 times 1000 + r numbers. Whether it gets the sum of all.
bool sum_of(int rank, int ranks, const ncclUniqueId& id) {
  CUDA_CHECK(cudaSetDevice(rank % devices_there()));
  const int64_t n = 1000 + rank;
  const std::vector<float> numbers(n, rank + 1.f);
  float *x = nullptr, *sums = nullptr;
  own::Word* words = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof *x));
  CUDA_CHECK(cudaMalloc(&sums, 2 * sizeof *sums));
  CUDA_CHECK(cudaMalloc(&words, own::kMostBlocks * sizeof *words));
  CUDA_CHECK(cudaMemset(words, 0, own::kMostBlocks * sizeof *words));
  CUDA_CHECK(
      cudaMemcpy(x, numbers.data(), n * sizeof *x, cudaMemcpyHostToDevice));

  ncclComm_t comm = nullptr;
  must(ncclCommInitRank(&comm, ranks, id, rank));
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(own::sum(x, n, sums, words, stream));
  must(ncclAllReduce(sums, sums + 1, 1, ncclFloat, ncclSum, comm, stream));
  float got = 0.f, expected = 0.f;
  CUDA_CHECK(
      cudaMemcpyAsync(&got, sums + 1, sizeof got, cudaMemcpyDefault, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));

  must(ncclCommDestroy(comm));
  CUDA_CHECK(cudaStreamDestroy(stream));
  for (void* p : {static_cast<void*>(x), static_cast<void*>(sums),
                  static_cast<void*>(words)})
    CUDA_CHECK(cudaFree(p));
  for (int r = 0; r < ranks; ++r) expected += (r + 1.f) * (1000 + r);
  return got == expected;
}

// Rank 0 writes the file whole, under another name first; the others wait for
// it for a minute.
ncclUniqueId id_in(const std::string& path, int rank) {
  ncclUniqueId id;
  if (rank == 0) {
    must(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary)
        .write(id.internal, sizeof id.internal);
    if (std::rename((path + ".new").c_str(), path.c_str()) == 0) return id;
  }
  for (int tries = 0; rank > 0 && tries < 6000; ++tries, usleep(10'000)) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof id.internal)) return id;
  }
  std::fprintf(stderr, "Rank %d: %s cannot be %s.\n", rank, path.c_str(),
               rank == 0 ? "written" : "found");
  std::exit(EXIT_FAILURE);
}

bool as_process(const std::string& path) {
  const int rank = setting({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  const int ranks = setting({"RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  const bool right = sum_of(rank, ranks, id_in(path, rank));
  if (rank == 0) std::remove(path.c_str());
  return right;
}

bool as_threads() {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  const int ranks = devices_there();
  std::atomic<bool> right = true;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      if (!sum_of(rank, ranks, id)) right = false;
    });
  for (std::thread& thread : threads) thread.join();
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("SIMT_DEVICES", "8", /*overwrite=*/0);  // Without GPUs.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  const bool right = argc > 1 ? as_process(argv[1]) : as_threads();
  std::puts(right ? "Every rank has the sum." : "A rank has another sum.");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
