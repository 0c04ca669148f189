// NCCL's calls, by the executor's stand-in or, on GPUs, by NCCL itself: what
// each rank gets, in groups and in threads, and what is refused.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <nccl.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::is_true;
using expect::ok;

constexpr int kN = 1000;

void fine(ncclResult_t result, expect::Where where = expect::Where::current()) {
  if (result == ncclSuccess) return;
  std::cerr << where.file_name() << ':' << where.line() << ": "
            << ncclGetErrorString(result) << ": " << ncclGetLastError(nullptr)
            << "\n0 passed, 1 failed\n";
  std::exit(1);
}

// A communicator of all devices in one thread, with a stream and two arrays of
// bytes on each.
struct Team {
  int size = 0;
  std::vector<ncclComm_t> comm;
  std::vector<cudaStream_t> stream;
  std::vector<char*> from, to;

  explicit Team(size_t bytes) {
    ok(cudaGetDeviceCount(&size));
    comm.resize(size);
    stream.resize(size);
    from.resize(size);
    to.resize(size);
    fine(ncclCommInitAll(comm.data(), size, nullptr));
    for (int rank = 0; rank < size; ++rank) {
      ok(cudaSetDevice(rank));
      ok(cudaStreamCreate(&stream[rank]));
      ok(cudaMalloc(&from[rank], bytes));
      ok(cudaMalloc(&to[rank], bytes));
      ok(cudaMemset(to[rank], 0, bytes));
    }
  }
  ~Team() {
    for (int rank = 0; rank < size; ++rank) {
      ok(cudaSetDevice(rank));
      ok(cudaFree(from[rank]));
      ok(cudaFree(to[rank]));
      fine(ncclCommDestroy(comm[rank]));
      ok(cudaStreamDestroy(stream[rank]));
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Element i of a rank's array becomes value(rank, i).
  template <class T, class Value>
  void give(int count, Value value) {
    for (int rank = 0; rank < size; ++rank) {
      std::vector<T> host;
      for (int i = 0; i < count; ++i) host.push_back(T(value(rank, i)));
      ok(cudaSetDevice(rank));
      ok(cudaMemcpy(from[rank], host.data(), count * sizeof(T),
                    cudaMemcpyHostToDevice));
    }
  }
  template <class T>
  std::vector<T> got(int rank, int count) const {
    std::vector<T> host(count);
    ok(cudaSetDevice(rank));
    ok(cudaStreamSynchronize(stream[rank]));
    ok(cudaMemcpy(host.data(), to[rank], count * sizeof(T),
                  cudaMemcpyDeviceToHost));
    return host;
  }
  // The same call for each rank, begun together.
  void together(const std::function<ncclResult_t(int rank)>& call) const {
    fine(ncclGroupStart());
    for (int rank = 0; rank < size; ++rank) fine(call(rank));
    fine(ncclGroupEnd());
  }
};

// Of what even 8 bits hold exactly, and so do the sums on the way.
template <class T>
void sums_of(ncclDataType_t type) {
  Team team(kN * sizeof(T));
  const int ranks = team.size;
  team.give<T>(kN, [](int rank, int i) { return float((rank + i) % 2); });
  team.together([&](int rank) {
    return ncclAllReduce(team.from[rank], team.to[rank], kN, type, ncclSum,
                         team.comm[rank], team.stream[rank]);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<T> got = team.got<T>(rank, kN);
    size_t right = 0;
    for (int i = 0; i < kN; ++i) right += float(got[i]) == (ranks + i % 2) / 2;
    expect::equal(right, size_t{kN});
  }
}

void types() {
  sums_of<signed char>(ncclInt8);
  sums_of<unsigned char>(ncclUint8);
  sums_of<int>(ncclInt32);
  sums_of<unsigned>(ncclUint32);
  sums_of<long long>(ncclInt64);
  sums_of<unsigned long long>(ncclUint64);
  sums_of<__half>(ncclFloat16);
  sums_of<float>(ncclFloat32);
  sums_of<double>(ncclFloat64);
  sums_of<__nv_bfloat16>(ncclBfloat16);
  sums_of<__nv_fp8_e4m3>(ncclFloat8e4m3);
  sums_of<__nv_fp8_e5m2>(ncclFloat8e5m2);
}

void operations() {
  Team team(kN * sizeof(float));
  const int ranks = team.size;
  struct {
    ncclRedOp_t op;
    std::function<double(int i)> result;
  } const all[] = {
      {ncclProd, [&](int i) { return std::pow(2. + i % 2, ranks); }},
      {ncclMin, [](int i) { return 2. + i % 2; }},
      {ncclMax, [](int i) { return 2. + i % 2; }},
      {ncclAvg, [](int i) { return 2. + i % 2; }},
  };
  team.give<float>(kN, [](int, int i) { return 2 + i % 2; });
  for (const auto& [op, result] : all) {
    team.together([&, op = op](int rank) {
      return ncclAllReduce(team.from[rank], team.to[rank], kN, ncclFloat, op,
                           team.comm[rank], team.stream[rank]);
    });
    for (int rank = 0; rank < ranks; ++rank)
      expect::each(team.got<float>(rank, kN), result);
  }
}

// One element is rank, the next rank + 1, ...
void give_ramps(Team& team, int count) {
  team.give<float>(count, [](int rank, int i) { return 100 * rank + i; });
}

void collectives() {
  Team team(8 * kN * sizeof(float));
  const int ranks = team.size, last = ranks - 1;
  const auto sum_at = [&](int i) {
    return 100 * ranks * (ranks - 1) / 2 + ranks * i;
  };
  give_ramps(team, ranks * kN);
  team.together([&](int rank) {
    return ncclReduce(team.from[rank], team.to[rank], kN, ncclFloat, ncclSum,
                      last, team.comm[rank], team.stream[rank]);
  });
  expect::each(team.got<float>(last, kN), sum_at);
  team.together([&](int rank) {
    return ncclBroadcast(team.from[rank], team.to[rank], kN, ncclFloat, last,
                         team.comm[rank], team.stream[rank]);
  });
  for (int rank = 0; rank < ranks; ++rank)
    expect::each(team.got<float>(rank, kN),
                 [&](int i) { return 100 * last + i; });
  team.together([&](int rank) {
    return ncclAllGather(team.from[rank], team.to[rank], kN, ncclFloat,
                         team.comm[rank], team.stream[rank]);
  });
  for (int rank = 0; rank < ranks; ++rank)
    expect::each(team.got<float>(rank, ranks * kN),
                 [](int i) { return 100 * (i / kN) + i % kN; });
  team.together([&](int rank) {
    return ncclReduceScatter(team.from[rank], team.to[rank], kN, ncclFloat,
                             ncclSum, team.comm[rank], team.stream[rank]);
  });
  for (int rank = 0; rank < ranks; ++rank)
    expect::each(team.got<float>(rank, kN),
                 [&](int i) { return sum_at(rank * kN + i); });
}

// In place, of nothing, and several in one stream.
void corners() {
  Team team(kN * sizeof(float));
  const int ranks = team.size;
  give_ramps(team, kN);
  team.together([&](int rank) {
    return ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum,
                         team.comm[rank], team.stream[rank]);
  });
  for (int k = 0; k < 3; ++k)
    team.together([&](int rank) {
      return ncclAllReduce(team.from[rank], team.from[rank], kN, ncclFloat,
                           ncclMax, team.comm[rank], team.stream[rank]);
    });
  team.together([&](int rank) {
    return ncclBcast(team.from[rank], kN, ncclFloat, 0, team.comm[rank],
                     team.stream[rank]);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    std::swap(team.from[rank], team.to[rank]);
    expect::each(team.got<float>(rank, kN),
                 [&](int i) { return 100 * (ranks - 1) + i; });
  }
}

// Each sends to the next and gets from the one before: round in a ring.
void ring() {
  Team team(kN * sizeof(float));
  const int ranks = team.size;
  give_ramps(team, kN);
  fine(ncclGroupStart());
  for (int rank = 0; rank < ranks; ++rank) {
    fine(ncclSend(team.from[rank], kN, ncclFloat, (rank + 1) % ranks,
                  team.comm[rank], team.stream[rank]));
    fine(ncclRecv(team.to[rank], kN, ncclFloat, (rank + ranks - 1) % ranks,
                  team.comm[rank], team.stream[rank]));
  }
  fine(ncclGroupEnd());
  for (int rank = 0; rank < ranks; ++rank)
    expect::each(team.got<float>(rank, kN),
                 [&](int i) { return 100 * ((rank + ranks - 1) % ranks) + i; });
}

// A call for all ranks, recorded from their streams, and done twice.
void recorded() {
  Team team(kN * sizeof(float));
  give_ramps(team, kN);
  std::vector<cudaEvent_t> event(team.size);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  for (int rank = 0; rank < team.size; ++rank) {
    ok(cudaSetDevice(rank));
    ok(cudaEventCreateWithFlags(&event[rank], cudaEventDisableTiming));
  }
  ok(cudaSetDevice(0));
  ok(cudaStreamBeginCapture(team.stream[0], cudaStreamCaptureModeThreadLocal));
  ok(cudaEventRecord(event[0], team.stream[0]));
  for (int rank = 1; rank < team.size; ++rank)
    ok(cudaStreamWaitEvent(team.stream[rank], event[0]));
  team.together([&](int rank) {
    return ncclAllReduce(team.from[rank], team.from[rank], kN, ncclFloat,
                         ncclSum, team.comm[rank], team.stream[rank]);
  });
  for (int rank = 1; rank < team.size; ++rank) {
    ok(cudaEventRecord(event[rank], team.stream[rank]));
    ok(cudaStreamWaitEvent(team.stream[0], event[rank]));
  }
  ok(cudaStreamEndCapture(team.stream[0], &graph));
  ok(cudaGraphInstantiate(&executable, graph));
  for (int time = 0; time < 2; ++time)
    ok(cudaGraphLaunch(executable, team.stream[0]));
  ok(cudaStreamSynchronize(team.stream[0]));
  const int ranks = team.size, sum = 100 * ranks * (ranks - 1) / 2;
  for (int rank = 0; rank < ranks; ++rank) {
    std::swap(team.from[rank], team.to[rank]);
    expect::each(team.got<float>(rank, kN),
                 [&](int i) { return ranks * (sum + ranks * i); });
    ok(cudaEventDestroy(event[rank]));
  }
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
}

// A thread for each rank, and what each knows of itself.
void threads() {
  int ranks = 0;
  ok(cudaGetDeviceCount(&ranks));
  ncclUniqueId id;
  fine(ncclGetUniqueId(&id));
  std::vector<float> sums(ranks);
  std::vector<int> right(ranks);
  std::vector<std::thread> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.emplace_back([&, rank] {
      ok(cudaSetDevice(rank));
      ncclComm_t comm = nullptr;
      fine(ncclCommInitRank(&comm, ranks, id, rank));
      int count = 0, user = -1, device = -1;
      ncclResult_t state = ncclInternalError;
      fine(ncclCommCount(comm, &count));
      fine(ncclCommUserRank(comm, &user));
      fine(ncclCommCuDevice(comm, &device));
      fine(ncclCommGetAsyncError(comm, &state));
      right[rank] = count == ranks && user == rank && device == rank &&
                    state == ncclSuccess;
      float* x = nullptr;
      const float mine = rank + 1.f;
      ok(cudaMalloc(&x, sizeof *x));
      ok(cudaMemcpy(x, &mine, sizeof *x, cudaMemcpyHostToDevice));
      for (int k = 0; k < 10; ++k)
        fine(ncclAllReduce(x, x, 1, ncclFloat, k ? ncclMax : ncclSum, comm,
                           nullptr));
      ok(cudaMemcpy(&sums[rank], x, sizeof *x, cudaMemcpyDeviceToHost));
      ok(cudaFree(x));
      fine(ncclCommDestroy(comm));
    });
  for (std::thread& one : all) one.join();
  expect::each(sums, [&](int) { return ranks * (ranks + 1) / 2; });
  expect::each(right, [](int) { return 1; });
}

// ---- A process for each rank -----------------------------------------------

// Rank 0 leaves the id in a file that is whole as soon as it has its name.
ncclUniqueId id_in(const std::string& path, int rank) {
  ncclUniqueId id = {};
  if (rank == 0) {
    fine(ncclGetUniqueId(&id));
    std::ofstream(path + ".new").write(id.internal, sizeof id.internal);
    std::filesystem::rename(path + ".new", path);
    return id;
  }
  std::ifstream file;
  while (!file.read(id.internal, sizeof id.internal)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    file = std::ifstream(path);
  }
  return id;
}

// Rank `rank` of two. Whether all that it gets is right.
int as_process(int rank, const std::string& path, bool leaves_early) {
  ok(cudaSetDevice(rank));
  ncclComm_t comm = nullptr;
  fine(ncclCommInitRank(&comm, 2, id_in(path, rank), rank));
  if (leaves_early && rank == 1) std::_Exit(0);
  std::vector<float> host(2 * kN);
  for (int i = 0; i < 2 * kN; ++i) host[i] = 100 * rank + i;
  const size_t bytes = host.size() * sizeof(float);
  float *from = nullptr, *to = nullptr;
  ok(cudaMalloc(&from, bytes));
  ok(cudaMalloc(&to, bytes));
  ok(cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice));
  const auto got = [&](int count, auto expected) {
    ok(cudaStreamSynchronize(nullptr));
    ok(cudaMemcpy(host.data(), to, bytes, cudaMemcpyDeviceToHost));
    expect::each(std::vector<float>(host.begin(), host.begin() + count),
                 expected);
  };
  fine(ncclAllReduce(from, to, kN, ncclFloat, ncclSum, comm, nullptr));
  if (leaves_early) return cudaStreamSynchronize(nullptr) ? 3 : 0;
  got(kN, [](int i) { return 100 + 2 * i; });
  fine(ncclAllGather(from, to, kN, ncclFloat, comm, nullptr));
  got(2 * kN, [](int i) { return 100 * (i / kN) + i % kN; });
  fine(ncclReduceScatter(from, to, kN, ncclFloat, ncclMax, comm, nullptr));
  got(kN, [&](int i) { return 100 + rank * kN + i; });
  fine(ncclReduce(from, to, kN, ncclFloat, ncclMin, 1, comm, nullptr));
  got(kN, [&](int i) { return rank == 1 ? i : 100 + i; });
  fine(ncclBroadcast(from, to, kN, ncclFloat, 1, comm, nullptr));
  got(kN, [](int i) { return 100 + i; });
  fine(ncclGroupStart());
  fine(ncclSend(from, kN, ncclFloat, 1 - rank, comm, nullptr));
  fine(ncclRecv(to, kN, ncclFloat, 1 - rank, comm, nullptr));
  fine(ncclGroupEnd());
  got(kN, [&](int i) { return 100 * (1 - rank) + i; });
  fine(ncclCommDestroy(comm));
  return expect::report();
}

std::vector<Ended> two_processes(const std::string& how) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("simt_nccl." + std::to_string(getpid()));
  std::vector<Ended> ended(2);
  std::vector<std::thread> threads;
  for (const int rank : {0, 1})
    threads.emplace_back([&, rank] {
      ended[rank] = run_self(how + std::to_string(rank) + path);
    });
  for (std::thread& one : threads) one.join();
  std::filesystem::remove(path);
  return ended;
}

void processes() {
  int devices = 0;
  ok(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    std::cout << "Two processes need two devices: they are left out.\n";
    return;
  }
  for (const Ended& ended : two_processes("P")) {
    expect::equal(ended.status, 0);
    if (ended.status != 0) std::cout << ended.output;
  }
  if (!on_executor()) return;
  const Ended left = two_processes("L")[0];
  is_true(left.status != 0, "no rank is missed without a word");
  is_true(
      left.output.find("rank 1, whose process has ended") != std::string::npos,
      "a rank that ended is told");
}

// ---- What is wrong ---------------------------------------------------------

void refusals() {
  Team team(kN * sizeof(float));
  give_ramps(team, kN);
  const auto sum = [&](ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm) {
    return ncclAllReduce(team.from[0], team.to[0], kN, type, op, comm,
                         team.stream[0]);
  };
  expect::equal(sum(ncclNumTypes, ncclSum, team.comm[0]), ncclInvalidArgument);
  expect::equal(sum(ncclFloat, ncclNumOps, team.comm[0]), ncclInvalidArgument);
  expect::equal(sum(ncclFloat, ncclSum, nullptr), ncclInvalidArgument);
  is_true(std::strlen(ncclGetLastError(nullptr)) > 0, "it says what was wrong");
  expect::equal(ncclReduce(team.from[0], team.to[0], kN, ncclFloat, ncclSum,
                           team.size, team.comm[0], team.stream[0]),
                ncclInvalidArgument);
  expect::equal(ncclGroupEnd(), ncclInvalidUsage);
  ncclComm_t comm = nullptr;
  ncclUniqueId id;
  fine(ncclGetUniqueId(&id));
  expect::equal(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  expect::equal(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  const int twice[] = {0, 0}, missing[] = {99};
  ncclComm_t both[2] = {};
  expect::equal(ncclCommInitAll(both, 2, twice), ncclInvalidUsage);
  expect::equal(ncclCommInitAll(both, 1, missing), ncclInvalidArgument);
  fine(ncclGroupStart());
  sum(ncclNumTypes, ncclSum, team.comm[0]);
  expect::equal(ncclGroupEnd(), ncclInvalidArgument);
}

// What on a GPU would never end or be wrong: only here is it told.
int child(const std::string& which) {
  Team team(kN * sizeof(float));
  if (which != "unwritten") give_ramps(team, kN);
  const auto sum = [&](int rank, int count, ncclRedOp_t op) {
    return ncclAllReduce(team.from[rank], team.to[rank], count, ncclFloat, op,
                         team.comm[rank], team.stream[rank]);
  };
  const bool grouped = which != "ungrouped";
  if (grouped) fine(ncclGroupStart());
  if (which != "send") sum(0, kN, ncclSum);
  if (which == "unwritten" || !grouped) sum(1, kN, ncclSum);
  if (which == "count") sum(1, kN - 1, ncclSum);
  if (which == "operation") sum(1, kN, ncclMax);
  if (which == "other")
    ncclBroadcast(team.from[1], team.to[1], kN, ncclFloat, 0, team.comm[1],
                  team.stream[1]);
  if (which == "send")
    ncclSend(team.from[1], kN, ncclFloat, 0, team.comm[1], team.stream[1]);
  const ncclResult_t result = grouped ? ncclGroupEnd() : ncclSuccess;
  for (const int rank : {0, 1}) {
    ok(cudaSetDevice(rank));
    const cudaError_t error = cudaStreamSynchronize(team.stream[rank]);
    if (result != ncclSuccess || error != cudaSuccess) std::_Exit(3);
  }
  return 0;
}

int waits_for_nobody() {
  setenv("SIMT_PATIENCE", "0.3", 1);
  ncclComm_t comm = nullptr;
  ncclUniqueId id;
  fine(ncclGetUniqueId(&id));
  return ncclCommInitRank(&comm, 2, id, 0) == ncclSystemError ? 3 : 0;
}

void failures() {
  if (!on_executor()) return;
  struct {
    const char* which;
    int status;
    const char* words;
  } const all[] = {
      {"skips", 3, "rank 0 waits in vain for rank 1, which never called it"},
      {"count", 3, "ncclAllReduce of 999 ncclFloat32, ncclSum on rank 1"},
      {"operation", 3, "ncclAllReduce of 1000 ncclFloat32, ncclMax on rank 1"},
      {"other", 3, "ncclBroadcast of 1000 ncclFloat32, root 0 on rank 1"},
      {"send", 3, "rank 1 waits in vain for rank 0 to receive it"},
      {"ungrouped", 1, "put all of them between ncclGroupStart()"},
      {"unwritten", 1, "that nobody has written in full"},
      {"init", 3, "waits in vain for rank 1"},
  };
  for (const auto& [which, status, words] : all) {
    const Ended ended = run_self(which);
    expect::equal(ended.status, status);
    is_true(ended.output.find(words) != std::string::npos, words);
    if (ended.output.find(words) == std::string::npos)
      std::cout << ended.output;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool alone = argc > 1 && std::string(argv[1]) != "again";
  setenv("SIMT_DEVICES", alone ? "2" : "3", 1);
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  if (alone && std::string(argv[1]) == "init") return waits_for_nobody();
  if (alone && std::strchr("PL", *argv[1]))
    return as_process(argv[1][1] - '0', argv[1] + 2, *argv[1] == 'L');
  if (alone) return child(argv[1]);
  types();
  operations();
  collectives();
  corners();
  ring();
  recorded();
  threads();
  processes();
  refusals();
  failures();
  if (on_executor()) run_again_late();
  return expect::report();
}
