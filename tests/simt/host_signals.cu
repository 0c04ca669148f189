// Kernels that wait for the host: their launch returns, and the host changes
// the memory that they look at, in the middle of its own work.

#include <atomic>
#include <thread>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

// In memory that both may use: 0 at first.
struct Flags {
  volatile int to_kernel, to_host;
};

enum class From { kManaged, kPinned, kRegistered };

class Shared {
 public:
  explicit Shared(From from) : from_(from) {
    void* at = &own_;
    if (from == From::kManaged) ok(cudaMallocManaged(&at, sizeof(Flags)));
    if (from == From::kPinned) ok(cudaMallocHost(&at, sizeof(Flags)));
    if (from == From::kRegistered)
      ok(cudaHostRegister(at, sizeof(Flags), cudaHostRegisterMapped));
    flags = static_cast<Flags*>(at);
    flags->to_kernel = flags->to_host = 0;
  }
  ~Shared() {
    if (from_ == From::kManaged) ok(cudaFree(flags));
    if (from_ == From::kPinned) ok(cudaFreeHost(flags));
    if (from_ == From::kRegistered) ok(cudaHostUnregister(&own_));
  }
  Flags* flags = nullptr;

 private:
  const From from_;
  alignas(4096) Flags own_{};
};

__global__ void wait_kernel(const Flags* flags, int* x, int value) {
  while (flags->to_kernel == 0) {
  }
  *x = value;
}

// Answers each number with the same one, until it is the last.
__global__ void answer_kernel(Flags* flags, int last) {
  for (int k = 1; k <= last; ++k) {
    while (flags->to_kernel < k) {
    }
    __threadfence_system();
    flags->to_host = k;
  }
}

__global__ void add_kernel(int* x) { *x += 1; }

struct Device {
  int* x = nullptr;
  Device() {
    ok(cudaMalloc(&x, sizeof *x));
    ok(cudaMemset(x, 0, sizeof *x));
    ok(cudaDeviceSynchronize());  // For streams that do not wait for it.
  }
  ~Device() { ok(cudaFree(x)); }
  int value() const {
    int value = 0;
    ok(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
};

// Work behind it in its stream waits, too.
void check_latch(From from) {
  const Shared shared(from);
  const Device device;
  cudaStream_t stream;
  cudaEvent_t event;
  ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ok(cudaEventCreate(&event));
  wait_kernel<<<1, 1, 0, stream>>>(shared.flags, device.x, 5);
  add_kernel<<<1, 1, 0, stream>>>(device.x);
  ok(cudaEventRecord(event, stream));
  equal(cudaEventQuery(event), cudaErrorNotReady);
  equal(cudaStreamQuery(stream), cudaErrorNotReady);
  ok(cudaGetLastError());  // That is no error.
  shared.flags->to_kernel = 1;
  ok(cudaEventSynchronize(event));
  equal(cudaStreamQuery(stream), cudaSuccess);
  equal(device.value(), 6);
  ok(cudaEventDestroy(event));
  ok(cudaStreamDestroy(stream));
}

// The host waits without any call.
void check_conversation(From from) {
  constexpr int kTimes = 50;
  const Shared shared(from);
  answer_kernel<<<1, 1>>>(shared.flags, kTimes);
  ok(cudaGetLastError());
  for (int k = 1; k <= kTimes; ++k) {
    shared.flags->to_kernel = k;
    while (shared.flags->to_host < k) std::this_thread::yield();
  }
  ok(cudaDeviceSynchronize());
  equal(int{shared.flags->to_host}, kTimes);
}

// Another thread opens the latch while this one waits in a call.
void check_other_thread() {
  const Shared shared(From::kPinned);
  const Device device;
  wait_kernel<<<1, 1>>>(shared.flags, device.x, 7);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    shared.flags->to_kernel = 1;
  });
  ok(cudaDeviceSynchronize());
  opener.join();
  equal(device.value(), 7);
}

// Two streams, of which one waits and the other goes on.
void check_streams() {
  const Shared shared(From::kManaged);
  const Device first, second;
  cudaStream_t waits, goes_on;
  for (cudaStream_t* stream : {&waits, &goes_on})
    ok(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  wait_kernel<<<1, 1, 0, waits>>>(shared.flags, first.x, 1);
  for (int k = 0; k < 10; ++k) add_kernel<<<1, 1, 0, goes_on>>>(second.x);
  ok(cudaStreamSynchronize(goes_on));
  equal(cudaStreamQuery(waits), cudaErrorNotReady);
  shared.flags->to_kernel = 1;
  ok(cudaStreamSynchronize(waits));
  equal(first.value(), 1);
  equal(second.value(), 10);
  for (const cudaStream_t stream : {waits, goes_on})
    ok(cudaStreamDestroy(stream));
}

__global__ void open_kernel(Flags* flags) { flags->to_kernel = 1; }

// Many streams wait for what a graph does in another one.
void check_graph_beside() {
  constexpr int kStreams = 16;
  const Shared shared(From::kPinned);
  const Device device;
  cudaStream_t streams[kStreams + 1];
  for (cudaStream_t& stream : streams)
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const cudaStream_t last = streams[kStreams];
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  ok(cudaStreamBeginCapture(last, cudaStreamCaptureModeGlobal));
  open_kernel<<<1, 1, 0, last>>>(shared.flags);
  ok(cudaStreamEndCapture(last, &graph));
  ok(cudaGraphInstantiate(&run, graph, 0));
  for (int k = 0; k < kStreams; ++k)
    wait_kernel<<<1, 1, 0, streams[k]>>>(shared.flags, device.x, 3);
  ok(cudaGraphLaunch(run, last));
  ok(cudaDeviceSynchronize());
  equal(device.value(), 3);
  ok(cudaGraphExecDestroy(run));
  ok(cudaGraphDestroy(graph));
  for (const cudaStream_t stream : streams) ok(cudaStreamDestroy(stream));
}

// A graph's function waits for what the host does after the launch.
void check_function_of_graph() {
  const Shared shared(From::kPinned);
  const Device device;
  const auto wait = [](void* flags) {
    while (static_cast<Flags*>(flags)->to_kernel == 0)
      std::this_thread::yield();
  };
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ok(cudaLaunchHostFunc(stream, wait, shared.flags));
  add_kernel<<<1, 1, 0, stream>>>(device.x);
  ok(cudaStreamEndCapture(stream, &graph));
  ok(cudaGraphInstantiate(&run, graph, 0));
  ok(cudaGraphLaunch(run, stream));
  equal(cudaStreamQuery(stream), cudaErrorNotReady);
  shared.flags->to_kernel = 1;
  ok(cudaStreamSynchronize(stream));
  equal(device.value(), 1);
  ok(cudaGraphExecDestroy(run));
  ok(cudaGraphDestroy(graph));
  ok(cudaStreamDestroy(stream));
}

// A function in a stream may not touch the device, and may not wait for it.
void check_function_that_calls() {
  struct Codes {
    bool executor;
    cudaError_t wait, query, allocate, last, last_again, count;
  } codes = {on_executor()};
  const auto call = [](void* given) {
    auto* codes = static_cast<Codes*>(given);
    int* x = nullptr;
    int n = 0;
    if (codes->executor) codes->wait = cudaDeviceSynchronize();
    codes->query = cudaStreamQuery(nullptr);
    codes->allocate = cudaMalloc(&x, sizeof *x);
    codes->last = cudaGetLastError();
    codes->last_again = cudaGetLastError();
    codes->count = cudaGetDeviceCount(&n);
  };
  ok(cudaLaunchHostFunc(nullptr, call, &codes));
  ok(cudaDeviceSynchronize());
  if (codes.executor) equal(codes.wait, cudaErrorNotPermitted);
  equal(codes.query, cudaErrorNotPermitted);
  equal(codes.allocate, cudaErrorNotPermitted);
  equal(codes.last, cudaErrorNotPermitted);
  equal(codes.last_again, cudaSuccess);
  equal(codes.count, cudaSuccess);
  ok(cudaGetLastError());
}

}  // namespace

int main() {
  check_function_of_graph();
  check_graph_beside();  // Its node is about as new as its streams.
  for (const From from : {From::kManaged, From::kPinned, From::kRegistered}) {
    check_latch(from);
    check_conversation(from);
  }
  check_other_thread();
  check_streams();
  check_function_that_calls();
  return expect::report();
}
