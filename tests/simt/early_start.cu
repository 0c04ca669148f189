// Kernels that may begin before the one in front of them is done (programmatic
// dependent launch): programs that wait for what they need give the same
// results everywhere, and nothing is said of them; on the executor alone, those
// that do not wait must be found.

#include <string>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

constexpr int kN = 1 << 14;
constexpr int kThreads = 256, kBlocks = kN / kThreads;
constexpr size_t kBytes = kN * sizeof(int);

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void fill_kernel(int* x, int value) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[index()] = value;
}
// y = 2 x + z, and z is nobody else's.
__global__ void waiting_kernel(const int* x, int* y, const int* z) {
  const int addend = z ? z[index()] : 0;
  cudaGridDependencySynchronize();
  y[index()] = 2 * x[index()] + addend;
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void one_waits_kernel(const int* x, int* y) {
  if (threadIdx.x == 77) cudaGridDependencySynchronize();
  __syncthreads();
  y[index()] = 2 * x[index()];
}
__global__ void lane_waits_kernel(const int* x, int* y) {
  if (threadIdx.x % 32 == 31) cudaGridDependencySynchronize();
  __syncwarp();
  y[index()] = 2 * x[index()];
}
__global__ void hurried_kernel(const int* x, int* y) {
  y[index()] = 2 * x[index()];
}
__global__ void letting_kernel(const int* x, int* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  y[index()] = 2 * x[index()];
}
__global__ void unletting_kernel(int* x, int value) { x[index()] = value; }
__global__ void one_lets_kernel(int* x, int value) {
  if (index() == 1000) cudaTriggerProgrammaticLaunchCompletion();
  x[index()] = value;
}
__global__ void too_late_kernel(const int* x, int* y) {
  const int v = x[index()];
  cudaGridDependencySynchronize();
  y[index()] = 2 * v;
}
__global__ void half_waits_kernel(const int* x, int* y) {
  if (threadIdx.x < 128) cudaGridDependencySynchronize();
  y[index()] = 2 * x[index()];
}
__global__ void trigger_then_wait_kernel(int* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  y[index()] = 1;
}
__global__ void copying_kernel(const int* x, int* y) {
  __shared__ int there[kThreads];
  const auto to =
      static_cast<unsigned>(__cvta_generic_to_shared(there + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to),
               "l"(x + index()));
  asm volatile("cp.async.wait_all;");
  cudaGridDependencySynchronize();
  y[index()] = 2 * there[threadIdx.x];
}

class Stream {
 public:
  Stream() { ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { ok(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

template <class... Parameters, class... Arguments>
void launch_early(cudaStream_t stream, void (*kernel)(Parameters...),
                  Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  ok(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

// Three arrays: the third one is 1 everywhere, and the host knows it.
struct Arrays {
  int *x = nullptr, *y = nullptr, *z = nullptr;

  Arrays() {
    for (int** one : {&x, &y, &z}) ok(cudaMalloc(one, kBytes));
    for (int* one : {x, y}) ok(cudaMemset(one, 0, kBytes));
    fill_kernel<<<kBlocks, kThreads>>>(z, 1);
    ok(cudaDeviceSynchronize());
  }
  ~Arrays() {
    for (int* one : {x, y, z}) ok(cudaFree(one));
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
};

void expect_all(const int* device, int value) {
  std::vector<int> got(kN);
  ok(cudaDeviceSynchronize());
  ok(cudaMemcpy(got.data(), device, kBytes, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int v : got) wrong += v != value;
  equal(wrong, 0);
}

void fill(cudaStream_t stream, int* x, int value) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(x, value);
}

// Every thread waits; one thread of the block, or of the warp, does.
void those_that_wait() {
  const Stream stream;
  for (cudaStream_t s : {cudaStream_t(stream), cudaStream_t(nullptr)}) {
    const Arrays a;
    fill(s, a.x, 3);
    launch_early(s, waiting_kernel, a.x, a.y, a.z);
    expect_all(a.y, 7);
    fill(s, a.x, 4);
    launch_early(s, one_waits_kernel, a.x, a.y);
    expect_all(a.y, 8);
    fill(s, a.x, 5);
    launch_early(s, lane_waits_kernel, a.x, a.y);
    expect_all(a.y, 10);
  }
}

// Each begins early, and waits for the one in front, which has waited, too.
void chain(cudaStream_t stream, const Arrays& a) {
  fill(stream, a.x, 1);
  for (int k = 0; k < 4; ++k) {
    launch_early(stream, waiting_kernel, a.x, a.y, a.z);
    launch_early(stream, waiting_kernel, a.y, a.x, a.z);
  }
}

void chains() {
  const Stream stream;
  const Arrays a;
  chain(stream, a);
  expect_all(a.x, 511);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  chain(stream, a);
  ok(cudaStreamEndCapture(stream, &graph));
  ok(cudaGraphInstantiate(&executable, graph, 0));
  for (int k = 0; k < 3; ++k) ok(cudaGraphLaunch(executable, stream));
  expect_all(a.x, 511);
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
}

// What a kernel in front has waited for, and has let nobody begin before.
void behind_who_waits() {
  const Stream stream;
  const Arrays a, others;
  fill(stream, a.x, 6);
  launch_early(stream, waiting_kernel, others.x, others.y, others.z);
  launch_early(stream, hurried_kernel, a.x, a.y);
  expect_all(a.y, 12);
}

// A kernel that lets nobody begin is done when the next one begins. CUB's merge
// sort reads so where its parts begin.
void behind_who_lets_nobody() {
  const Stream stream;
  const Arrays a, others;
  for (int k = 0; k < 3; ++k) {  // Later ones may be known by heart.
    unletting_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, k);
    launch_early(stream, too_late_kernel, a.x, a.y);
    expect_all(a.y, 2 * k);
  }
  hurried_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, a.y);
  launch_early(stream, unletting_kernel, a.x, 1);
  launch_early(stream, hurried_kernel, others.z, others.y);
  launch_early(stream, unletting_kernel, a.y, 3);
  expect_all(a.y, 3);
}

// Nothing is early behind what the host has waited for, nor without the
// attribute; and whoever needs nothing need not wait.
void without_need() {
  const Stream stream;
  const Arrays a, others;
  fill(stream, a.x, 7);
  ok(cudaStreamSynchronize(stream));
  launch_early(stream, hurried_kernel, a.x, a.y);
  expect_all(a.y, 14);
  fill(stream, a.x, 8);
  hurried_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, a.y);
  expect_all(a.y, 16);
  fill(stream, a.x, 9);
  launch_early(stream, hurried_kernel, others.z, others.y);
  expect_all(others.y, 2);
}

// ---- What must be found -----------------------------------------------------

struct Wrong {
  const char* name;
  void (*run)();
  std::vector<std::string> expected;
};

const char* const kKind = "race between kernels: ";
const std::string kRemedy =
    "may begin before the kernel in front of it is done. Call "
    "cudaGridDependencySynchronize() in each thread";

const Wrong wrong[] = {
    {"nobody waits",
     [] {
       const Arrays a;
       fill(nullptr, a.x, 1);
       launch_early(nullptr, hurried_kernel, a.x, a.y);
     },
     {kKind,
      "hurried_kernel in the default stream reads byte 0 of the "
      "65536-byte array",
      "fill_kernel at", "writes it; nothing says which comes first",
      "hurried_kernel " + kRemedy}},
    {"waits behind the load",
     [] {
       const Stream stream;
       const Arrays a;
       fill(stream, a.x, 1);
       launch_early(stream, too_late_kernel, a.x, a.y);
     },
     {kKind, "too_late_kernel in stream 1 reads byte 0"}},
    {"half of them wait",
     [] {
       const Stream stream;
       const Arrays a;
       fill(stream, a.x, 1);
       launch_early(stream, half_waits_kernel, a.x, a.y);
     },
     {kKind, "half_waits_kernel in stream 1 reads byte 512 of"}},
    {"stores to what is read",
     [] {
       const Stream stream;
       const Arrays a;
       letting_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, a.y);
       launch_early(stream, fill_kernel, a.x, 1);
     },
     {kKind, "fill_kernel in stream 1 writes byte 0", "letting_kernel at"}},
    {"one of them lets it begin",
     [] {
       const Stream stream;
       const Arrays a;
       one_lets_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, 1);
       launch_early(stream, hurried_kernel, a.x, a.y);
     },
     {kKind, "hurried_kernel in stream 1 reads byte 0"}},
    {"the one in front does not wait",
     [] {
       const Stream stream;
       const Arrays a, others;
       fill(stream, a.x, 1);
       launch_early(stream, fill_kernel, others.x, 1);
       launch_early(stream, hurried_kernel, a.x, a.y);
     },
     {kKind, "hurried_kernel in stream 1 reads byte 0"}},
    {"the one in front lets it begin, and waits then",
     [] {
       const Stream stream;
       const Arrays a, others;
       fill(stream, a.x, 1);
       launch_early(stream, trigger_then_wait_kernel, others.x);
       launch_early(stream, hurried_kernel, a.x, a.y);
     },
     {kKind, "hurried_kernel in stream 1 reads byte 0"}},
    {"a copy",
     [] {
       const Stream stream;
       const Arrays a;
       fill(stream, a.x, 1);
       launch_early(stream, copying_kernel, a.x, a.y);
     },
     {kKind, "copying_kernel in stream 1 reads byte 0"}},
    {"the second time",
     [] {
       const Stream stream;
       const Arrays a;
       fill(stream, a.x, 1);
       hurried_kernel<<<kBlocks, kThreads, 0, stream>>>(a.x, a.y);
       ok(cudaStreamSynchronize(stream));
       fill(stream, a.x, 1);
       launch_early(stream, hurried_kernel, a.x, a.y);
     },
     {kKind, "hurried_kernel in stream 1 reads byte 0"}},
    {"in a graph",
     [] {
       const Stream stream;
       const Arrays a;
       cudaGraph_t graph = nullptr;
       cudaGraphExec_t executable = nullptr;
       ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
       fill(stream, a.x, 1);
       launch_early(stream, hurried_kernel, a.x, a.y);
       ok(cudaStreamEndCapture(stream, &graph));
       ok(cudaGraphInstantiate(&executable, graph, 0));
       ok(cudaGraphLaunch(executable, stream));
     },
     {kKind, "hurried_kernel in a graph in stream 1 reads byte 0",
      "hurried_kernel " + kRemedy}},
};

int child(const std::string& name) {
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
  bool good = ended.status == 1;
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
  those_that_wait();
  chains();
  behind_who_waits();
  behind_who_lets_nobody();
  without_need();
  if (asked.empty() && on_executor() && !std::getenv("SIMT_ORDER")) {
    for (const Wrong& it : wrong) check(it);
    run_again_late();
  }
  return expect::report();
}
