// Several devices: whose memory, streams and errors are whose, what may cross
// between them, and kernels that wait for one another.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::is_true;
using expect::ok;

constexpr int kBlock = 256, kN = 1000, kBlocks = (kN + kBlock - 1) / kBlock;

__global__ void fill(int* x, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) x[i] = value + i;
}

__global__ void add(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) y[i] += x[i];
}

__global__ void add_to_all(int* x) { atomicAdd_system(x, 1); }

__device__ int own;
__managed__ int everybodys;

__global__ void add_to_own(int value) { own += value; }
__global__ void add_to_managed() { ++everybodys; }

// Waits until the flag is `turn`, and makes it one more.
__global__ void pass_on(int* flag, int turn) {
  volatile int* const seen = flag;
  while (*seen != turn) {
  }
  __threadfence_system();
  *seen = turn + 1;
}

// Two kernels that pass a flag to and fro.
__global__ void play(int* flag, int first, int turns) {
  volatile int* const seen = flag;
  for (int turn = first; turn < turns; turn += 2) {
    while (*seen != turn) {
    }
    __threadfence_system();
    *seen = turn + 1;
  }
}

int* array_on(int device) {
  int* x = nullptr;
  ok(cudaSetDevice(device));
  ok(cudaMalloc(&x, kN * sizeof(int)));
  ok(cudaMemset(x, 0, kN * sizeof(int)));
  ok(cudaDeviceSynchronize());
  return x;
}

std::vector<int> values(const int* x, int n = kN) {
  std::vector<int> host(n);
  ok(cudaMemcpy(host.data(), x, n * sizeof(int), cudaMemcpyDefault));
  return host;
}

// Of a call that is refused; the error is taken, so that none is left behind.
void refused(cudaError_t got, cudaError_t expected,
             expect::Where where = expect::Where::current()) {
  expect::equal(got, expected, where);
  expect::equal(cudaGetLastError(), expected, where);
}

void enable_peers() {
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    ok(cudaDeviceEnablePeerAccess(1 - device, 0));
  }
}

void disable_peers() {
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    ok(cudaDeviceDisablePeerAccess(1 - device));
  }
}

// ---- What is each thread's, and each device's ------------------------------

void threads() {
  ok(cudaSetDevice(1));
  int there = -1;
  cudaError_t left_there = cudaSuccess;
  std::thread([&] {
    ok(cudaGetDevice(&there));
    cudaSetDevice(99);
    left_there = cudaPeekAtLastError();
  }).join();
  expect::equal(there, 0);
  expect::equal(left_there, cudaErrorInvalidDevice);
  expect::equal(cudaGetLastError(), cudaSuccess);
  int here = -1;
  ok(cudaGetDevice(&here));
  expect::equal(here, 1);
  int count = 0;
  ok(cudaGetDeviceCount(&count));
  refused(cudaSetDevice(count), cudaErrorInvalidDevice);
  cudaDeviceProp second = {};
  ok(cudaGetDeviceProperties(&second, 1));
  expect::equal(second.unifiedAddressing, 1);
}

void memory() {
  int* const x[] = {array_on(0), array_on(1)};
  for (const int device : {0, 1}) {
    cudaPointerAttributes attributes = {};
    ok(cudaPointerGetAttributes(&attributes, x[device]));
    expect::equal(attributes.device, device);
    expect::equal(attributes.type, cudaMemoryTypeDevice);
  }
  ok(cudaSetDevice(0));
  ok(cudaFree(x[1]));  // Any device may be current.
  ok(cudaFree(x[0]));
}

void variables() {
  for (const int device : {0, 1}) {
    const int zero = 0;
    ok(cudaSetDevice(device));
    ok(cudaMemcpyToSymbol(own, &zero, sizeof zero));
    add_to_own<<<1, 1>>>(10 + device);
    add_to_managed<<<1, 1>>>();
    ok(cudaDeviceSynchronize());
  }
  for (const int device : {0, 1}) {
    int got = -1;
    ok(cudaSetDevice(device));
    ok(cudaMemcpyFromSymbol(&got, own, sizeof got));
    expect::equal(got, 10 + device);
  }
  expect::equal(everybodys, 2);
}

// ---- Streams and events ----------------------------------------------------

void streams() {
  int* const x = array_on(0);
  cudaStream_t stream[2] = {};
  cudaEvent_t event[2] = {};
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    ok(cudaStreamCreate(&stream[device]));
    ok(cudaEventCreate(&event[device]));
  }
  ok(cudaSetDevice(0));
  // So says the CUDA guide; driver 580 launches it on the stream's device.
  if (on_executor()) {
    fill<<<kBlocks, kBlock, 0, stream[1]>>>(x, 1);
    expect::equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  }
  refused(cudaEventRecord(event[0], stream[1]), cudaErrorInvalidResourceHandle);
  refused(cudaEventRecord(event[1]), cudaErrorInvalidResourceHandle);
  fill<<<kBlocks, kBlock, 0, stream[0]>>>(x, 5);
  ok(cudaGetLastError());
  ok(cudaEventRecord(event[0], stream[0]));
  ok(cudaStreamWaitEvent(stream[1], event[0]));  // Of any device's.
  std::vector<int> host(kN);
  ok(cudaMemcpyAsync(host.data(), x, kN * sizeof(int), cudaMemcpyDeviceToHost,
                     stream[1]));            // And copies.
  ok(cudaEventRecord(event[1], stream[1]));  // Both are device 1's.
  ok(cudaStreamSynchronize(stream[1]));
  expect::each(host, [](int i) { return 5 + i; });
  float ms = 0;
  refused(cudaEventElapsedTime(&ms, event[0], event[1]),
          cudaErrorInvalidResourceHandle);
  expect::equal(cudaEventQuery(event[1]), cudaSuccess);
  for (const int device : {0, 1}) {
    ok(cudaStreamDestroy(stream[device]));
    ok(cudaEventDestroy(event[device]));
  }
  ok(cudaFree(x));
}

// ---- Between devices -------------------------------------------------------

void peers() {
  int can = -1;
  ok(cudaDeviceCanAccessPeer(&can, 1, 1));
  expect::equal(can, 0);
  refused(cudaDeviceCanAccessPeer(&can, 0, 99), cudaErrorInvalidDevice);
  ok(cudaSetDevice(0));
  refused(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  refused(cudaDeviceEnablePeerAccess(99, 0), cudaErrorInvalidDevice);
  refused(cudaDeviceEnablePeerAccess(1, 7), cudaErrorInvalidValue);
  refused(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  ok(cudaDeviceEnablePeerAccess(1, 0));
  refused(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  ok(cudaSetDevice(1));  // It is no two-way street.
  refused(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  ok(cudaSetDevice(0));
  ok(cudaDeviceDisablePeerAccess(1));
}

void links() {
  int value = -1;
  ok(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1));
  expect::is_true(value >= 0, "0 is the best");
  ok(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  expect::equal(value, 1);
  refused(
      cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1),
      cudaErrorInvalidDevice);
}

// Boxes between devices, from memory into an array and back.
void boxes() {
  constexpr int kWidth = 16, kHeight = 4, kPitch = kWidth * sizeof(int);
  int* const there = array_on(1);
  fill<<<kBlocks, kBlock>>>(there, 7);
  ok(cudaDeviceSynchronize());
  ok(cudaSetDevice(0));
  const auto form = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  ok(cudaMallocArray(&array, &form, kWidth, kHeight));
  cudaMemcpy3DPeerParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(there, kPitch, kWidth, kHeight);
  copy.srcDevice = 1;
  copy.dstArray = array;
  copy.dstDevice = 0;
  copy.extent = make_cudaExtent(kWidth, kHeight, 1);
  ok(cudaMemcpy3DPeer(&copy));
  cudaMemcpy3DPeerParms back = {};
  back.srcArray = array;
  back.srcPos = make_cudaPos(4, 1, 0);
  back.srcDevice = 0;
  back.dstPtr = copy.srcPtr;
  back.dstDevice = 1;
  back.extent = make_cudaExtent(8, 2, 1);
  ok(cudaMemcpy3DPeerAsync(&back, nullptr));
  ok(cudaDeviceSynchronize());
  const std::vector<int> got = values(there, 2 * kWidth);
  for (int i = 0; i < 2 * kWidth; ++i) {
    const bool copied = i % kWidth < 8;
    expect::equal(got[i], 7 + i + copied * (kWidth + 4));
  }
  back.dstDevice = 99;
  refused(cudaMemcpy3DPeer(&back), cudaErrorInvalidDevice);
  ok(cudaFreeArray(array));
  ok(cudaFree(there));
}

// Copies need no peer access.
void copies() {
  constexpr size_t kBytes = kN * sizeof(int);
  int* const x[] = {array_on(0), array_on(1)};
  fill<<<kBlocks, kBlock>>>(x[1], 7);
  ok(cudaMemcpyPeer(x[0], 0, x[1], 1, kBytes));
  expect::each(values(x[0]), [](int i) { return 7 + i; });
  ok(cudaSetDevice(0));
  fill<<<kBlocks, kBlock>>>(x[0], 8);
  ok(cudaMemcpyPeerAsync(x[1], 1, x[0], 0, kBytes, nullptr));
  ok(cudaDeviceSynchronize());
  expect::each(values(x[1]), [](int i) { return 8 + i; });
  refused(cudaMemset(x[1], 0, kBytes),
          cudaErrorInvalidValue);  // But this does.
  ok(cudaDeviceEnablePeerAccess(1, 0));
  ok(cudaMemset(x[1], 0, kBytes));
  ok(cudaDeviceDisablePeerAccess(1));
  ok(cudaMemcpy(x[0], x[1], kBytes, cudaMemcpyDefault));
  expect::each(values(x[0]), [](int) { return 0; });
  refused(cudaMemcpyPeer(x[0], 0, x[1], 99, kBytes), cudaErrorInvalidDevice);
  ok(cudaFree(x[0]));
  ok(cudaFree(x[1]));
}

void kernels() {
  enable_peers();
  int* const x[] = {array_on(0), array_on(1)};
  fill<<<kBlocks, kBlock>>>(x[0], 3);  // Device 1 writes into device 0,
  ok(cudaDeviceSynchronize());
  add<<<kBlocks, kBlock>>>(x[0], x[1]);  // and reads there.
  ok(cudaDeviceSynchronize());
  expect::each(values(x[0]), [](int i) { return 3 + i; });
  expect::each(values(x[1]), [](int i) { return 3 + i; });
  ok(cudaFree(x[0]));
  ok(cudaFree(x[1]));
  disable_peers();
}

// ---- At the same time ------------------------------------------------------

// Each thread with a device of its own; all of them add to one place.
void atomics() {
  enable_peers();
  int* const sum = array_on(0);
  std::vector<std::thread> threads;
  for (const int device : {0, 1}) {
    threads.emplace_back([=] {
      ok(cudaSetDevice(device));
      for (int k = 0; k < 10; ++k) add_to_all<<<4, 64>>>(sum);
      ok(cudaGetLastError());
      ok(cudaDeviceSynchronize());
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect::equal(values(sum, 1)[0], 2 * 10 * 4 * 64);
  ok(cudaFree(sum));
  disable_peers();
}

// A GPU loads a kernel when it is first launched, and may have to wait for
// others to end: so each runs once before it has to wait.
void warm_up(int* flag) {
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    play<<<1, 1>>>(flag, 0, 0);
    ok(cudaMemset(flag, 0, sizeof(int)));
    pass_on<<<1, 1>>>(flag, 0);
    ok(cudaDeviceSynchronize());
  }
  ok(cudaMemset(flag, 0, sizeof(int)));
  ok(cudaDeviceSynchronize());
}

// Device 0 waits for device 1, whose kernel is launched later.
void waiting() {
  enable_peers();
  int* const flag = array_on(0);
  warm_up(flag);
  ok(cudaSetDevice(0));
  pass_on<<<1, 1>>>(flag, 1);
  expect::equal(cudaStreamQuery(nullptr), cudaErrorNotReady);
  cudaGetLastError();
  cudaEvent_t after = nullptr;
  ok(cudaEventCreateWithFlags(&after, cudaEventDisableTiming));
  ok(cudaEventRecord(after));
  expect::equal(cudaEventQuery(after), cudaErrorNotReady);
  cudaGetLastError();
  ok(cudaSetDevice(1));
  pass_on<<<1, 1>>>(flag, 0);
  ok(cudaEventSynchronize(after));
  expect::equal(cudaEventQuery(after), cudaSuccess);
  expect::equal(values(flag, 1)[0], 2);
  ok(cudaEventDestroy(after));
  ok(cudaFree(flag));
  disable_peers();
}

void to_and_fro() {
  constexpr int kTurns = 100;
  enable_peers();
  int* const flag = array_on(0);
  warm_up(flag);
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    play<<<1, 1>>>(flag, device, kTurns);
  }
  for (const int device : {0, 1}) {
    ok(cudaSetDevice(device));
    ok(cudaDeviceSynchronize());
  }
  expect::equal(values(flag, 1)[0], kTurns);
  ok(cudaFree(flag));
  disable_peers();
}

// A stream's work waits, by an event, for a kernel behind one that still waits
// itself.
void events_between() {
  enable_peers();
  int* const x[] = {array_on(0), array_on(1)};
  int* const flag = array_on(0);
  warm_up(flag);
  cudaStream_t stream = nullptr;
  cudaEvent_t passed = nullptr;
  ok(cudaSetDevice(0));
  ok(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming));
  pass_on<<<1, 1>>>(flag, 1);
  fill<<<kBlocks, kBlock>>>(x[0], 6);
  ok(cudaEventRecord(passed));
  ok(cudaSetDevice(1));
  ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ok(cudaStreamWaitEvent(stream, passed));
  add<<<kBlocks, kBlock, 0, stream>>>(x[0], x[1]);
  pass_on<<<1, 1>>>(flag, 0);
  ok(cudaStreamSynchronize(stream));
  expect::each(values(x[1]), [](int i) { return 6 + i; });
  for (int* const one : x) ok(cudaFree(one));
  ok(cudaStreamDestroy(stream));
  ok(cudaEventDestroy(passed));
  ok(cudaFree(flag));
  disable_peers();
}

// ---- Pools -----------------------------------------------------------------

// Its pool lets device 0 in.
void allowed_into_a_pool() {
  cudaMemPool_t pool = nullptr;
  ok(cudaDeviceGetDefaultMemPool(&pool, 1));
  cudaMemAccessDesc given = {};
  given.location = {cudaMemLocationTypeDevice, {0}};
  given.flags = cudaMemAccessFlagsProtReadWrite;
  ok(cudaMemPoolSetAccess(pool, &given, 1));
  cudaMemAccessFlags flags = {};
  ok(cudaMemPoolGetAccess(&flags, pool, &given.location));
  expect::equal(flags, cudaMemAccessFlagsProtReadWrite);

  int *x = nullptr, *const y = array_on(0);
  ok(cudaSetDevice(1));
  ok(cudaMallocAsync(&x, kN * sizeof(int), nullptr));
  ok(cudaMemsetAsync(x, 0, kN * sizeof(int), nullptr));
  ok(cudaDeviceSynchronize());
  ok(cudaSetDevice(0));
  ok(cudaMemset(y, 0, kN * sizeof(int)));
  add<<<kBlocks, kBlock>>>(x, y);
  ok(cudaDeviceSynchronize());
  ok(cudaSetDevice(1));
  ok(cudaFreeAsync(x, nullptr));
  ok(cudaDeviceSynchronize());
  ok(cudaSetDevice(0));
  ok(cudaFree(y));
  given.flags = cudaMemAccessFlagsProtNone;
  ok(cudaMemPoolSetAccess(pool, &given, 1));
}

// ---- What is wrong ---------------------------------------------------------

// Device 0 reads memory of device 1. Ends with 1 when that fails, as it must.
int read_there(const int* x) {
  int* const y = array_on(0);
  add<<<kBlocks, kBlock>>>(x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaErrorIllegalAddress ? 1 : 0;
}

int without_peer_access() { return read_there(array_on(1)); }

// Peer access is to what cudaMalloc gave; pools are allowed one by one.
int from_a_pool() {
  enable_peers();
  int* x = nullptr;
  ok(cudaSetDevice(1));
  ok(cudaMallocAsync(&x, kN * sizeof(int), nullptr));
  ok(cudaMemsetAsync(x, 0, kN * sizeof(int), nullptr));
  ok(cudaDeviceSynchronize());
  return read_there(x);
}

int nobody_passes() {
  int* const flag = array_on(0);
  pass_on<<<1, 1>>>(flag, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

// However long one waits: nobody is left.
int nobody_passes_for_ever() {
  setenv("SIMT_PATIENCE", "0", 1);
  return nobody_passes();
}

// A thread of the host is left, but it does not help.
int nobody_passes_though_a_thread_sleeps() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(30));
  }).detach();
  setenv("SIMT_PATIENCE", "0.3", 1);
  return nobody_passes();
}

// Exits without a word of its own, and without waiting.
int leaves_a_kernel() {
  int* const flag = array_on(0);
  pass_on<<<1, 1>>>(flag, 1);
  return 0;
}

// The sum is read before anybody has waited for it.
int reads_too_early() {
  int* const x = array_on(0);
  int* host = nullptr;
  cudaStream_t stream = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaMallocHost(&host, sizeof(int)));
  *host = -1;
  fill<<<kBlocks, kBlock, 0, stream>>>(x, 9);
  ok(cudaMemcpyAsync(host, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  std::printf("%d, ", *host);
  ok(cudaStreamSynchronize(stream));
  std::printf("then %d\n", *host);
  return 0;
}

int traffic() {
  enable_peers();
  int* const x[] = {array_on(0), array_on(1)};
  fill<<<kBlocks, kBlock>>>(x[0], 3);  // by device 1
  add<<<kBlocks, kBlock>>>(x[0], x[1]);
  add_to_all<<<1, 32>>>(x[0]);
  ok(cudaMemcpyPeer(x[1], 1, x[0], 0, 400));
  ok(cudaDeviceSynchronize());
  return 0;
}

int child(const std::string& which) {
  if (which == "peer") return without_peer_access();
  if (which == "pool") return from_a_pool();
  if (which == "leaves") return leaves_a_kernel();
  if (which == "livelock") return nobody_passes_for_ever();
  if (which == "patience") return nobody_passes_though_a_thread_sleeps();
  if (which == "early") return reads_too_early();
  return traffic();
}

bool holds(const std::string& text, const char* part) {
  return text.find(part) != text.npos;
}

void failures() {
  const Ended peer = run_self("peer");
  expect::equal(peer.status, 1);
  is_true(holds(peer.output, "cudaErrorIllegalAddress"), "as on a GPU");
  const Ended pool = run_self("pool");
  expect::equal(pool.status, 1);
  is_true(holds(pool.output, "cudaErrorIllegalAddress"), "here, too");
  if (!on_executor()) return;
  is_true(holds(peer.output, "no peer access: read of 4 bytes") &&
              holds(peer.output, "cudaDeviceEnablePeerAccess(1, 0)"),
          "and what to call instead");
  is_true(holds(pool.output, "cudaMemPoolSetAccess"), "here, too");
  is_true(holds(run_self("leaves").output, "1 piece of work in its streams"),
          "what never ended is told");
  for (const char* which : {"livelock", "patience"}) {
    const Ended waits = run_self(which);
    expect::equal(waits.status, 1);
    is_true(holds(waits.output, "livelock") &&
                holds(waits.output, "cudaErrorLaunchFailure"),
            "a wait in vain is told");
  }
  const bool late = std::getenv("SIMT_ORDER") != nullptr;
  is_true(holds(run_self("early").output,
                late ? "-1, then 9" : "race with the host: the host reads"),
          "what is read too early is old, or told");
}

void counters() {
  if (!on_executor()) return;
  const std::string path = std::filesystem::temp_directory_path() /
                           ("simt_devices." + std::to_string(getpid()));
  setenv("SIMT_REPORT", path.c_str(), 1);
  expect::equal(run_self("traffic").status, 0);
  unsetenv("SIMT_REPORT");
  std::ifstream file(path);
  const std::string report{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  is_true(holds(report,
                "{\"from\": 0, \"to\": 1, \"loaded\": 4000, \"stored\": 0, "
                "\"copied\": 400}"),
          "bytes from device 0 to device 1");
  is_true(holds(report,
                "{\"from\": 1, \"to\": 0, \"loaded\": 0, \"stored\": 4004, "
                "\"copied\": 0}"),
          "and back: an atomic's warp adds to one place");
  is_true(holds(report, "fill\", \"device\": 1"), "whose launch it was");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("SIMT_DEVICES", "2", 1);
  if (argc > 1 && std::string(argv[1]) != "again") return child(argv[1]);
  int count = 0, can = 0;
  ok(cudaGetDeviceCount(&count));
  expect::equal(cudaSetDevice(count), cudaErrorInvalidDevice);
  cudaGetLastError();
  if (count > 1) ok(cudaDeviceCanAccessPeer(&can, 0, 1));
  if (!can) {
    std::printf("No two devices that are peers: the rest is skipped.\n");
    return expect::report();
  }
  threads();
  memory();
  variables();
  streams();
  peers();
  links();
  copies();
  boxes();
  kernels();
  atomics();
  waiting();
  to_and_fro();
  events_between();
  allowed_into_a_pool();
  failures();
  counters();
  if (on_executor()) run_again_late();
  return expect::report();
}
