// Work in several streams, and the host beside it: all that orders them, which
// must give the same results everywhere and nothing to say; and, on the
// executor alone, what does not, and must be found.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

// What nvcc --default-stream per-thread makes of these calls.
extern "C" {
extern decltype(cudaGraphLaunch) cudaGraphLaunch_ptsz;
extern cudaError_t cudaLaunchKernel_ptsz(const void*, dim3, dim3, void**,
                                         size_t, cudaStream_t);
extern decltype(cudaLaunchKernelExC) cudaLaunchKernelExC_ptsz;
extern decltype(cudaMemcpy) cudaMemcpy_ptds;
extern decltype(cudaMemset) cudaMemset_ptds;
extern decltype(cudaStreamBeginCapture) cudaStreamBeginCapture_ptsz;
extern decltype(cudaStreamEndCapture) cudaStreamEndCapture_ptsz;
extern decltype(cudaStreamGetId) cudaStreamGetId_ptsz;
extern decltype(cudaStreamIsCapturing) cudaStreamIsCapturing_ptsz;
}

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

constexpr int kN = 1 << 14;  // 16 pages
constexpr int kThreads = 256, kBlocks = kN / kThreads;
constexpr size_t kBytes = kN * sizeof(int);

__global__ void fill_kernel(int* x, int value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void advance_kernel(int* x, int factor, int addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] * factor + addend;
}
__global__ void count_kernel(int* counter) { atomicAdd(counter, 1); }
__global__ void every_other_kernel(char* x, int from, char value) {
  x[2 * (blockIdx.x * blockDim.x + threadIdx.x) + from] = value;
}
__global__ void set_kernel(int* flag) { *flag = 1; }
__global__ void announce_kernel(volatile int* flag) {
  __threadfence_system();
  *flag = 1;
}
__global__ void await_kernel(const volatile int* flag, const int* x, int* y) {
  while (*flag == 0) {
  }
  __threadfence();
  y[threadIdx.x] = x[threadIdx.x];
}
__global__ void trap_kernel() { __trap(); }
__global__ void gather_kernel(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[(i * 5) % kN];
}

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    ok(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~Stream() { ok(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { ok(cudaStreamSynchronize(stream_)); }
  void fill(int* x, int value) const {
    fill_kernel<<<kBlocks, kThreads, 0, stream_>>>(x, value);
  }
  void advance(int* x, int factor, int addend) const {
    advance_kernel<<<kBlocks, kThreads, 0, stream_>>>(x, factor, addend);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { ok(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { ok(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

void let_wait(cudaStream_t second, cudaStream_t first) {
  const Event event;
  ok(cudaEventRecord(event, first));
  ok(cudaStreamWaitEvent(second, event, 0));
}

enum class Of { kDevice, kHost, kManaged };
class Ints {
 public:
  explicit Ints(Of of = Of::kDevice, size_t bytes = kBytes) : of_(of) {
    if (of == Of::kDevice) ok(cudaMalloc(&x_, bytes));
    if (of == Of::kHost) ok(cudaMallocHost(&x_, bytes));
    if (of == Of::kManaged) ok(cudaMallocManaged(&x_, bytes));
  }
  ~Ints() { ok(of_ == Of::kHost ? cudaFreeHost(x_) : cudaFree(x_)); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  operator int*() const { return x_; }

 private:
  const Of of_;
  int* x_ = nullptr;
};

int first_of(const int* x) {
  int got = 0;
  ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
  return got;
}

void by_events() {
  const Stream a, b, c;
  const Ints x;
  a.fill(x, 1);
  for (int round = 0; round < 3; ++round) {
    let_wait(b, a);
    b.advance(x, 2, 1);
    let_wait(c, b);
    c.advance(x, 3, 0);
    let_wait(a, c);
    a.advance(x, 1, -1);
  }
  a.wait();
  equal(first_of(x), ((1 * 6 + 2) * 6 + 2) * 6 + 2);
}

void by_default_stream() {
  const Stream a(cudaStreamDefault), b(cudaStreamDefault);
  const Ints x;
  ok(cudaMemset(x, 0, kBytes));
  a.advance(x, 1, 3);
  advance_kernel<<<kBlocks, kThreads>>>(x, 2, 0);
  b.advance(x, 1, 1);
  advance_kernel<<<kBlocks, kThreads, 0, cudaStreamLegacy>>>(x, 3, 0);
  advance_kernel<<<kBlocks, kThreads, 0, cudaStreamPerThread>>>(x, 1, 2);
  equal(first_of(x), 23);
}

// An event there is work, too: to record it, or to wait for one that is done.
void by_event_in_default_stream() {
  const Stream a(cudaStreamDefault), b(cudaStreamDefault);
  const Event event;
  const Ints x;
  a.fill(x, 1);
  ok(cudaEventRecord(event, nullptr));
  b.advance(x, 2, 0);
  ok(cudaStreamWaitEvent(nullptr, event, 0));
  a.advance(x, 1, 5);
  a.wait();
  equal(first_of(x), 7);
}

// With --default-stream per-thread.
void advance_in_own(int* x, int factor, int addend) {
  void* arguments[] = {&x, &factor, &addend};
  ok(cudaLaunchKernel_ptsz(reinterpret_cast<const void*>(advance_kernel),
                           kBlocks, kThreads, arguments, 0, nullptr));
}
void fill_in_own(int* x, int value) {
  void* arguments[] = {&x, &value};
  ok(cudaLaunchKernel_ptsz(reinterpret_cast<const void*>(fill_kernel), kBlocks,
                           kThreads, arguments, 0, nullptr));
}
int first_in_own(const int* x) {
  int got = 0;
  ok(cudaMemcpy_ptds(&got, x, sizeof got, cudaMemcpyDeviceToHost));
  return got;
}

void by_own_default_stream() {
  const Ints x;
  ok(cudaMemset_ptds(x, 0, kBytes));
  advance_in_own(x, 1, 3);
  advance_kernel<<<kBlocks, kThreads>>>(x, 2, 0);
  int *p = x, factor = 1, addend = 2;
  void* arguments[] = {&p, &factor, &addend};
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  ok(cudaLaunchKernelExC_ptsz(
      &config, reinterpret_cast<const void*>(advance_kernel), arguments));
  equal(first_in_own(x), 8);
}

// Unlike the legacy one it can be captured, each thread's by itself.
void own_default_stream_in_graph() {
  const Ints x;
  ok(cudaMemset_ptds(x, 0, kBytes));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamCaptureStatus mine = {}, theirs = {};
  unsigned long long my_id = 0, their_id = 0;
  ok(cudaStreamBeginCapture_ptsz(nullptr, cudaStreamCaptureModeThreadLocal));
  advance_in_own(x, 1, 5);
  ok(cudaStreamIsCapturing(cudaStreamPerThread, &mine));
  std::thread([&] {
    ok(cudaStreamIsCapturing_ptsz(nullptr, &theirs));
    ok(cudaStreamGetId_ptsz(nullptr, &their_id));
  }).join();
  ok(cudaStreamEndCapture_ptsz(nullptr, &graph));
  equal(mine, cudaStreamCaptureStatusActive);
  equal(theirs, cudaStreamCaptureStatusNone);
  ok(cudaStreamGetId(cudaStreamPerThread, &my_id));
  is_true(my_id != their_id, "each thread's default stream is another");
  ok(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) ok(cudaGraphLaunch_ptsz(executable, nullptr));
  equal(first_in_own(x), 10);
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
}

// All ways in which the host can learn that work is done.
void by_host() {
  const Stream a, b;
  const Event event;
  const Ints x;
  a.fill(x, 0);
  a.wait();
  b.advance(x, 1, 1);
  ok(cudaEventRecord(event, b));
  ok(cudaEventSynchronize(event));
  a.advance(x, 2, 0);
  while (cudaStreamQuery(a) == cudaErrorNotReady) {
  }
  b.advance(x, 1, 1);
  ok(cudaEventRecord(event, b));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  a.advance(x, 2, 0);
  ok(cudaDeviceSynchronize());
  b.advance(x, 1, 1);
  int got = 0;  // A copy to pageable memory is done when the call returns.
  ok(cudaMemcpyAsync(&got, x, sizeof got, cudaMemcpyDeviceToHost, b));
  equal(got, 7);
  a.advance(x, 2, 0);
  a.wait();
  equal(first_of(x), 14);
}

void by_function() {
  const Stream a, b;
  const Ints x;
  std::atomic<bool> done{false};
  a.fill(x, 4);
  ok(cudaLaunchHostFunc(
      a, [](void* p) { *static_cast<std::atomic<bool>*>(p) = true; }, &done));
  while (!done) std::this_thread::yield();
  b.advance(x, 2, 0);
  b.wait();
  equal(first_of(x), 8);
}

// A function of the host, and memory that a copy has filled.
struct Look {
  int* host;
  int seen;
};
void CUDART_CB look(void* p) {
  Look& look = *static_cast<Look*>(p);
  look.seen = look.host[kN - 1];
  look.host[0] = 9;
}

// A function of the host is in its stream's order, too.
void inside_function() {
  const Stream a;
  const Ints x, host(Of::kHost);
  Look data = {host, 0};
  a.fill(x, 4);
  ok(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, a));
  ok(cudaLaunchHostFunc(a, look, &data));
  ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
  a.wait();
  equal(data.seen, 4);
  equal(first_of(x), 9);
}

// Nor is it too early where an edge of a graph leads to it.
void inside_graph() {
  const Stream a, b;
  const Ints x, host(Of::kHost);
  Look data = {host, 0};
  cudaGraph_t graph = nullptr, outer = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  a.fill(x, 4);
  let_wait(b, a);
  ok(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, b));
  let_wait(a, b);
  ok(cudaLaunchHostFunc(a, look, &data));
  ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
  ok(cudaStreamEndCapture(a, &graph));
  ok(cudaGraphCreate(&outer, 0));
  ok(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
  ok(cudaGraphAddChildGraphNode(&node, outer, &node, 1, graph));
  for (const cudaGraph_t each : {graph, outer}) {
    ok(cudaGraphInstantiate(&executable, each, 0));
    for (int round = 0; round < 2; ++round) {
      data.seen = 0;
      ok(cudaGraphLaunch(executable, a));
      a.wait();
      equal(data.seen, 4);
      equal(first_of(x), 9);
    }
    ok(cudaGraphExecDestroy(executable));
    ok(cudaGraphDestroy(each));
  }
}

// The kernel tells the host, by a flag that both can see.
void by_flag() {
  const Stream a, b;
  const Ints x, flag(Of::kHost, sizeof(int));
  *flag = 0;
  a.fill(x, 5);
  announce_kernel<<<1, 1, 0, a>>>(flag);
  const volatile int* seen = flag;
  while (*seen == 0) {
  }
  b.advance(x, 2, 0);
  b.wait();
  a.wait();
  equal(first_of(x), 10);
}

// A copy of one word sets the flag for which a kernel waits, and what was
// copied before it in its stream is there.
void by_copied_flag() {
  const Stream a, b;
  const Ints x, y, source, flag(Of::kDevice, sizeof(int));
  fill_kernel<<<kBlocks, kThreads>>>(source, 3);
  ok(cudaMemset(flag, 0, sizeof(int)));
  ok(cudaDeviceSynchronize());
  await_kernel<<<1, kThreads, 0, a>>>(flag, x, y);
  const int one = 1;
  ok(cudaMemcpyAsync(x, source, kBytes, cudaMemcpyDeviceToDevice, b));
  ok(cudaMemcpyAsync(flag, &one, sizeof one, cudaMemcpyHostToDevice, b));
  ok(cudaDeviceSynchronize());
  equal(first_of(y), 3);
}

void atomics_meet() {
  const Stream a, b;
  const Ints counter(Of::kDevice, sizeof(int));
  ok(cudaMemset(counter, 0, sizeof(int)));
  ok(cudaDeviceSynchronize());
  for (const Stream* stream : {&a, &b, &a, &b})
    count_kernel<<<4, 64, 0, *stream>>>(counter);
  ok(cudaDeviceSynchronize());
  equal(first_of(counter), 4 * 4 * 64);
}

void other_bytes() {
  const Stream a, b;
  const Ints x, host(Of::kHost);
  char* const bytes = reinterpret_cast<char*>(static_cast<int*>(x));
  every_other_kernel<<<kBlocks, kThreads, 0, a>>>(bytes, 0, 1);
  every_other_kernel<<<kBlocks, kThreads, 0, b>>>(bytes, 1, 2);
  ok(cudaDeviceSynchronize());
  equal(first_of(x), 0x02010201);
  const size_t half = kBytes / 2 + 4;  // in the middle of a page
  std::memset(host, 1, half);
  ok(cudaMemcpyAsync(x, host, half, cudaMemcpyHostToDevice, a));
  std::memset(host + half / 4, 2, kBytes - half);  // beside it
  ok(cudaMemcpyAsync(x + half / 4, host + half / 4, kBytes - half,
                     cudaMemcpyHostToDevice, b));
  ok(cudaDeviceSynchronize());
  equal(first_of(x + half / 4 - 1), 0x01010101);
  equal(first_of(x + half / 4), 0x02020202);
}

void same_value() {
  const Stream a, b;
  const Ints flag(Of::kDevice, sizeof(int));
  set_kernel<<<1, 1, 0, a>>>(flag);
  set_kernel<<<1, 1, 0, b>>>(flag);
  ok(cudaDeviceSynchronize());
  equal(first_of(flag), 1);
}

// System calls with buffers of which another part is being copied, or which
// work only reads.
void system_calls() {
  const Stream a;
  const Ints x, host(Of::kHost, 2 * kBytes);
  std::memset(host, 3, kBytes);
  ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
  const int zeros = open("/dev/zero", O_RDONLY),
            sink = open("/dev/null", O_WRONLY);
  equal(read(zeros, host + kN, kBytes), ssize_t{kBytes});
  equal(write(sink, host, kBytes), ssize_t{kBytes});
  equal(host[kN - 1], 0x03030303);
  a.wait();
  equal(read(zeros, host, kBytes), ssize_t{kBytes});
  equal(host[0], 0);
  close(zeros);
  close(sink);
}

void double_buffers() {
  const Stream copies, kernels;
  const Ints x[2], host[2] = {Ints(Of::kHost), Ints(Of::kHost)};
  const Ints sum;
  Event here[2], used[2];
  ok(cudaMemset(sum, 0, kBytes));
  ok(cudaDeviceSynchronize());
  for (int round = 0; round < 6; ++round) {
    const int k = round % 2;
    if (round >= 2) ok(cudaEventSynchronize(here[k]));
    for (int i = 0; i < kN; ++i) host[k][i] = round;
    if (round >= 2) ok(cudaStreamWaitEvent(copies, used[k], 0));
    ok(cudaMemcpyAsync(x[k], host[k], kBytes, cudaMemcpyHostToDevice, copies));
    ok(cudaEventRecord(here[k], copies));
    ok(cudaStreamWaitEvent(kernels, here[k], 0));
    gather_kernel<<<kBlocks, kThreads, 0, kernels>>>(x[k], sum);
    ok(cudaEventRecord(used[k], kernels));
  }
  kernels.wait();
  equal(first_of(sum), 5);
}

void graphs() {
  const Stream a, b;
  const Ints x, y;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  a.fill(x, 1);
  let_wait(b, a);
  a.advance(x, 2, 0);
  b.fill(y, 5);
  let_wait(a, b);
  gather_kernel<<<kBlocks, kThreads, 0, a>>>(y, x);
  ok(cudaStreamEndCapture(a, &graph));
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphLaunch(executable, a));
  ok(cudaGraphLaunch(executable, b));  // comes behind its launch before
  let_wait(a, b);
  a.advance(x, 2, 0);
  a.wait();
  equal(first_of(x), 10);
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
}

void pools() {
  const Stream a, b;
  int* x = nullptr;
  ok(cudaMallocAsync(&x, kBytes, a));
  let_wait(b, a);
  b.fill(x, 3);
  let_wait(a, b);
  a.advance(x, 2, 0);
  a.wait();
  equal(first_of(x), 6);
  let_wait(b, a);
  ok(cudaFreeAsync(x, b));
  b.wait();
}

void threads() {
  const Ints x, y;
  const auto work = [](int* p, int value) {
    fill_kernel<<<kBlocks, kThreads, 0, cudaStreamPerThread>>>(p, value);
    advance_kernel<<<kBlocks, kThreads, 0, cudaStreamPerThread>>>(p, 2, 0);
    ok(cudaStreamSynchronize(cudaStreamPerThread));
  };
  int *const of_first = x, *const of_second = y;
  std::thread first(work, of_first, 1), second(work, of_second, 2);
  first.join();
  second.join();
  const Stream a;
  gather_kernel<<<kBlocks, kThreads, 0, a>>>(y, x);
  a.wait();
  equal(first_of(x), 4);
}

void managed() {
  const Stream a;
  const Ints x(Of::kManaged), y(Of::kManaged);
  for (int round = 1; round < 4; ++round) {
    for (int i = 0; i < kN; ++i) x[i] = round;
    gather_kernel<<<kBlocks, kThreads, 0, a>>>(x, y);
    a.wait();
    int sum = 0;
    for (int i = 0; i < kN; ++i) sum += y[i];
    equal(sum, round * kN);
  }
}

// Copies within one array, of bytes beside those they write.
void within_an_array() {
  const Ints x;
  const size_t pitch = 64 * sizeof(int), width = pitch / 2, height = kN / 64;
  const auto copy_rows = [&](int* to, const int* from, size_t rows) {
    ok(cudaMemcpy2D(to, pitch, from, pitch, width, rows,
                    cudaMemcpyDeviceToDevice));
  };
  fill_kernel<<<kBlocks, kThreads>>>(x, 1);
  advance_kernel<<<1, 32>>>(x, 0, 5);
  copy_rows(x + 32, x, height);           // to the other half of the rows
  copy_rows(x, x, height);                // to where they are
  copy_rows(x + 64 + 32, x, height - 1);  // and the row below
  ok(cudaMemcpy(x + kN / 2, x, kBytes / 2, cudaMemcpyDeviceToDevice));
  equal(first_of(x + kN / 2 + 32), 5);
  equal(first_of(x + 64 + 32), 5);
  equal(first_of(x + 64), 1);
}

// ---- What nothing orders ----------------------------------------------------

struct Wrong {
  const char* name;
  void (*run)();
  std::vector<std::string> expected;
};

const Wrong wrong[] = {
    {"two copies",
     [] {
       const Stream a, b;
       const Ints x, host(Of::kHost);
       ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
       ok(cudaMemsetAsync(x, 0, kBytes, b));
     },
     {"race between streams: the memset in stream 2 writes byte 0",
      "the copy in stream 1 writes it, too"}},
    {"one byte",
     [] {
       const Stream a, b;
       const Ints x;
       a.fill(x, 1);
       ok(cudaMemsetAsync(x + kN - 1, 0, 1, b));
     },
     {"fill_kernel in stream 1 writes byte 65532"}},
    {"an atomic and a copy",
     [] {
       const Stream a, b;
       const Ints x, y;
       count_kernel<<<1, 1, 0, a>>>(x);
       ok(cudaMemcpyAsync(y, x, 4, cudaMemcpyDeviceToDevice, b));
     },
     {"count_kernel in stream 1 updates byte 0", "the copy in stream 2 reads"}},
    {"a copy that reads too early",
     [] {
       const Stream a;
       const Ints x;
       a.fill(x, 1);
       int got = 0;
       ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
     },
     {"the copy in the default stream reads it", "cudaStreamNonBlocking"}},
    {"a result that is read too early",
     [] {
       const Stream a;
       const Ints x, host(Of::kHost);
       a.fill(x, 1);
       ok(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, a));
       std::printf("%d\n", host[kN - 1]);
     },
     {"race with the host: the host reads byte 65532", "the copy in stream 1",
      "cudaStreamSynchronize"}},
    {"a source that changes too early",
     [] {
       const Stream a;
       const Ints x, host(Of::kHost);
       ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
       std::memset(host, 0, kBytes);
     },
     {"race with the host: the host writes byte 0", "the copy in stream 1"}},
    {"an edge that is missing in a capture",
     [] {
       const Stream a, b;
       const Ints x;
       cudaGraph_t graph = nullptr;
       cudaGraphExec_t executable = nullptr;
       ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
       let_wait(b, a);
       a.fill(x, 1);
       b.fill(x, 2);
       let_wait(a, b);
       ok(cudaStreamEndCapture(a, &graph));
       ok(cudaGraphInstantiate(&executable, graph, 0));
       ok(cudaGraphLaunch(executable, a));
     },
     {"in a graph in stream 1", "Add an edge"}},
    {"a function without an edge",
     [] {
       const Stream a, b;
       const Ints x, host(Of::kHost);
       Look data = {host, 0};
       cudaGraph_t graph = nullptr;
       cudaGraphExec_t executable = nullptr;
       ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
       let_wait(b, a);
       ok(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, a));
       ok(cudaLaunchHostFunc(b, look, &data));
       let_wait(a, b);
       ok(cudaStreamEndCapture(a, &graph));
       ok(cudaGraphInstantiate(&executable, graph, 0));
       ok(cudaGraphLaunch(executable, a));
     },
     {"race with the host: the host reads byte 65532",
      "the copy in a graph in stream 1", "add an edge"}},
    {"threads that do not wait",
     [] {
       const Ints x;
       const auto work = [](int* p, int value) {
         fill_kernel<<<kBlocks, kThreads, 0, cudaStreamPerThread>>>(p, value);
       };
       int* const p = x;
       std::thread(work, p, 1).join();
       std::thread(work, p, 2).join();
     },
     {"host thread 1's default stream writes",
      "host thread 2's default stream writes"}},
    {"threads whose stream 0 is their own",
     [] {
       const Ints x;
       int* const p = x;
       std::thread(fill_in_own, p, 1).join();
       std::thread(fill_in_own, p, 2).join();
     },
     {"host thread 1's default stream writes",
      "host thread 2's default stream writes"}},
    {"a copy in the stream 0 of another thread",
     [] {
       const Ints x;
       int* const p = x;
       std::thread(fill_in_own, p, 1).join();
       std::printf("%d\n", first_in_own(x));
     },
     {"fill_kernel in host thread 1's default stream writes byte 0",
      "the copy in host thread 2's default stream reads it"}},
    {"an allocation that has not begun",
     [] {
       const Stream a, b;
       int* x = nullptr;
       ok(cudaMallocAsync(&x, kBytes, a));
       b.fill(x, 1);
     },
     {"cudaMallocAsync in stream 1 allocates it"}},
    {"a staging array",
     [] {
       const Stream a;
       const Ints x, host(Of::kHost);
       for (int round = 0; round < 3; ++round) {
         host[0] = round;
         ok(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
       }
     },
     {"race with the host in the copy: in 2 launches"}},
    {"an array that is moved along",
     [] {
       const Ints x;
       ok(cudaMemcpy(x + 1, x, kBytes - 4, cudaMemcpyDeviceToDevice));
     },
     {"overlapping copy: it reads and writes byte 4 of", "in the copy"}},
    {"an array that is moved back in a graph",
     [] {
       const Stream a;
       const Ints x;
       cudaGraph_t graph = nullptr;
       cudaGraphExec_t executable = nullptr;
       ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
       ok(cudaMemcpyAsync(x, x + 2, kBytes - 8, cudaMemcpyDefault, a));
       ok(cudaStreamEndCapture(a, &graph));
       ok(cudaGraphInstantiate(&executable, graph, 0));
       ok(cudaGraphLaunch(executable, a));
     },
     {"overlapping copy: it reads and writes byte 8 of"}},
    {"rows that are moved down",
     [] {
       const Ints x;
       ok(cudaMemcpy2D(x + 64, 256, x, 256, 128, 3, cudaMemcpyDeviceToDevice));
     },
     {"overlapping copy: it reads and writes byte 256 of"}},
    {"columns that are moved by less than their width",
     [] {
       const Ints x;
       ok(cudaMemcpy2D(x + 65, 256, x, 256, 8, 2, cudaMemcpyDeviceToDevice));
     },
     {"overlapping copy: it reads and writes byte 260 of"}},
    {"memory that is freed behind the last of its uses alone",
     [] {
       const Stream a, b;
       int* x = nullptr;
       ok(cudaMallocAsync(&x, kBytes, a));
       a.fill(x, 1);
       a.advance(x, 2, 0);
       ok(cudaFreeAsync(x, b));
     },
     {"advance_kernel in stream 1 reads byte 0", "cudaFreeAsync in stream 2"}},
};

// A kernel fails, and from then on no call waits: what is read then is no race.
int read_after_failure() {
  const Stream a;
  int* x = nullptr;
  ok(cudaMallocManaged(&x, kBytes));
  a.fill(x, 7);
  trap_kernel<<<1, 1, 0, a>>>();
  is_true(cudaStreamSynchronize(a) != cudaSuccess, "the kernel fails");
  std::printf("%d was read\n", x[0]);
  return 0;
}

int child(const std::string& name) {
  if (name == "failure") return read_after_failure();
  for (const Wrong& it : wrong) {
    if (it.name != name) continue;
    it.run();
    ok(cudaDeviceSynchronize());
    return 0;  // What was found makes it another status.
  }
  return 2;
}

void check(const Wrong& it) {
  const Ended ended = run_self(it.name);
  // Whoever mends one mistake has no use for two findings.
  const size_t first = ended.output.find("nothing ");
  bool good = ended.status == 1 &&
              ended.output.find("nothing ", first + 1) == std::string::npos;
  for (const std::string& text : it.expected)
    good &= ended.output.find(text) != std::string::npos;
  expect::count(good);
  if (!good)
    std::cout << it.name << ": status " << ended.status << ", and said:\n"
              << ended.output;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string asked = argc > 1 ? argv[1] : "";
  if (argc > 1 && asked != "again") return child(asked);
  by_events();
  by_default_stream();
  by_event_in_default_stream();
  by_own_default_stream();
  own_default_stream_in_graph();
  by_host();
  by_function();
  inside_function();
  inside_graph();
  by_flag();
  by_copied_flag();
  atomics_meet();
  other_bytes();
  same_value();
  system_calls();
  double_buffers();
  graphs();
  pools();
  threads();
  managed();
  within_an_array();
  if (asked.empty() && on_executor() && !std::getenv("SIMT_ORDER")) {
    for (const Wrong& it : wrong) check(it);
    const std::string said = run_self("failure").output;
    is_true(said.find("7 was read") != said.npos, "a failure opens memory");
    is_true(said.find("race") == said.npos, "and nothing else is found");
    run_again_late();
  }
  return expect::report();
}
