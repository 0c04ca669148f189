// The same launch again, as benchmarks do it: the executor leaves it out where
// nothing has changed since. So here something changes, each time in another
// way, and the launch must see it; or undo what was done to its results.

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/simt/expect.h"

namespace {

constexpr int kThreads = 256;
constexpr int kCount = (1 << 17) + 3;
constexpr int kBlocks = (kCount + kThreads - 1) / kThreads;
constexpr size_t kBytes = kCount * sizeof(int);

__constant__ int added_constant;
__device__ int added_variable;

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void twice(const int* x, int* y, int n) {
  const int i = place();
  if (i < n) y[i] = 2 * x[i] + added_constant + added_variable;
}

__global__ void add_constant(const int* x, int* y, int n) {
  if (place() < n) y[place()] = x[place()] + added_constant;
}

// Large ones and a small one that change an array.
__global__ void set(int* x, int value, int n) {
  if (place() < n) x[place()] = value;
}
__global__ void set_one(int* x, int i, int value) { x[i] = value; }
__global__ void increase(int* x, int n) {
  if (place() < n) x[place()] += 1;
}
__global__ void count(int* x, int n) {
  if (place() < n) atomicAdd(x + place() % 7, 1);
}

// Their blocks meet: in counters, and where the last one finishes for all.
__global__ void count_values(const int* x, int* counts, int n) {
  if (place() < n) atomicAdd(counts + x[place()] % 7, 1);
}
__global__ void draw_tickets(int* tickets, int* next, int n) {
  if (place() < n) tickets[place()] = atomicAdd(next, 1);
}
__global__ void add_up(const int* x, int* sum, int* result, unsigned* arrived,
                       int n) {
  __shared__ bool last;
  if (place() < n) atomicAdd(sum, x[place()]);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  *result = *static_cast<volatile int*>(sum);
  *sum = 0;
}

__global__ void read_texels(cudaTextureObject_t texels, int side, int* y,
                            int n) {
  const int i = place();
  if (i < n) y[i] = tex2D<int>(texels, i % side, i / side);
}
__global__ void read_linear(cudaTextureObject_t x, int* y, int n) {
  if (place() < n) y[place()] = tex1Dfetch<int>(x, place());
}
__global__ void store_texel(cudaSurfaceObject_t surface, int value) {
  surf2Dwrite(value, surface, 0, 0);
}

class Array {
 public:
  Array() { expect::ok(cudaMalloc(&at_, kBytes)); }
  ~Array() { expect::ok(cudaFree(at_)); }
  int* at() const { return at_; }
  void fill(int value) const {
    const std::vector<int> values(kCount, value);
    expect::ok(cudaMemcpy(at_, values.data(), kBytes, cudaMemcpyHostToDevice));
  }
  std::vector<int> values() const {
    std::vector<int> got(kCount);
    expect::ok(cudaMemcpy(got.data(), at_, kBytes, cudaMemcpyDeviceToHost));
    return got;
  }

 private:
  int* at_ = nullptr;
};

void launch(const int* x, int* y, int n = kCount) {
  twice<<<kBlocks, kThreads>>>(x, y, n);
  expect::ok(cudaGetLastError());
}

// x is full of 5 and y of 10, by a launch that has been repeated; after
// `change`, another one must make of y what `expected` says. Where x is filled
// each time, only its values tell that it is what it was.
template <class Change, class Expected>
void check_after(Change change, Expected expected) {
  for (const bool refills : {false, true}) {
    const Array x, y;
    x.fill(5);
    for (int k = 0; k < 4; ++k) {
      if (refills) x.fill(5);
      launch(x.at(), y.at());
    }
    change(x, y);
    launch(x.at(), y.at());
    expect::each(y.values(), expected);
  }
}
template <class Change>
void check_after(Change change, int expected) {
  check_after(change, [=](int) { return expected; });
}

void check_copies_and_fills() {
  check_after([](const Array& x, const Array&) { x.fill(7); }, 14);
  check_after([](const Array&, const Array& y) { y.fill(7); }, 10);
  check_after([](const Array& x,
                 const Array&) { expect::ok(cudaMemset(x.at() + 100, 0, 4)); },
              [](int i) { return i == 100 ? 0 : 10; });
  check_after(
      [](const Array&, const Array& y) {
        expect::ok(cudaMemset(y.at() + kCount - 1, 0, 4));
      },
      10);
  check_after(
      [](const Array& x, const Array& y) {
        expect::ok(
            cudaMemcpy(x.at(), y.at(), kBytes, cudaMemcpyDeviceToDevice));
      },
      20);
}

void check_variables() {
  const int one = 1, none = 0;
  const auto change = [](const auto& variable, const int& value) {
    expect::ok(cudaMemcpyToSymbol(variable, &value, sizeof value));
  };
  check_after([&](const Array&, const Array&) { change(added_constant, one); },
              11);
  check_after([&](const Array&, const Array&) { change(added_constant, none); },
              10);
  check_after([&](const Array&, const Array&) { change(added_variable, one); },
              11);
  change(added_variable, none);
}

// Nothing else changes, and only values tell.
void check_constant() {
  const Array x, y;
  for (const int added : {0, 0, 0, 0, 1, 1, 0, 2}) {
    x.fill(5);
    expect::ok(cudaMemcpyToSymbol(added_constant, &added, sizeof added));
    add_constant<<<kBlocks, kThreads>>>(x.at(), y.at(), kCount);
    expect::each(y.values(), [=](int) { return 5 + added; });
  }
  const int none = 0;
  expect::ok(cudaMemcpyToSymbol(added_constant, &none, sizeof none));
}

void check_kernels() {
  check_after(
      [](const Array& x, const Array&) {
        set<<<kBlocks, kThreads>>>(x.at(), 3, kCount);
      },
      6);
  check_after(
      [](const Array&, const Array& y) {
        set<<<kBlocks, kThreads>>>(y.at(), 3, kCount);
      },
      10);
  check_after(
      [](const Array& x, const Array&) { set_one<<<1, 1>>>(x.at(), 77, 1); },
      [](int i) { return i == 77 ? 2 : 10; });
  check_after(
      [](const Array&, const Array& y) { set_one<<<1, 1>>>(y.at(), 77, 1); },
      10);
  check_after(
      [](const Array& x, const Array&) {
        increase<<<kBlocks, kThreads>>>(x.at(), kCount);
      },
      12);
  check_after([](const Array& x,
                 const Array&) { count<<<kBlocks, kThreads>>>(x.at(), 7); },
              [](int i) { return i < 7 ? 12 : 10; });
  check_after(  // What is kept of each must go, and come back.
      [](const Array& x, const Array& y) {
        for (int k = 0; k < 20; ++k) {
          set<<<kBlocks, kThreads>>>(x.at(), k, kCount);
          launch(x.at(), y.at());
        }
        set<<<kBlocks, kThreads>>>(x.at(), 4, kCount);
      },
      8);
}

// It is the same kernel, and another launch: half of the elements, or of the
// blocks.
void check_arguments() {
  const auto refill = [](const Array& y) {
    set<<<kBlocks, kThreads>>>(y.at(), 1, kCount);
  };
  check_after(
      [&](const Array& x, const Array& y) {
        refill(y);
        launch(x.at(), y.at(), kCount / 2);
      },
      10);
  check_after(
      [&](const Array& x, const Array& y) {
        refill(y);
        twice<<<kBlocks / 2 + 1, kThreads>>>(x.at(), y.at(), kCount);
      },
      10);
}

// A cluster of one block is a cluster, too.
__global__ void ask_for_cluster(int* y, int n) {
  int explicitly;
  asm volatile(
      "{.reg .pred p; mov.pred p, %%is_explicit_cluster;"
      " selp.s32 %0, 1, 0, p;}"
      : "=r"(explicitly));
  if (place() < n) y[place()] = explicitly;
}

void check_clusters() {
  const Array y;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {1, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.attrs = &cluster;
  for (const unsigned clusters : {0, 0, 1, 1, 0, 1}) {
    config.numAttrs = clusters;
    expect::ok(cudaLaunchKernelEx(&config, ask_for_cluster, y.at(), kCount));
    expect::each(y.values(), [=](int) { return int(clusters); });
  }
}

// Other arrays, where the old ones were.
void check_new_arrays() {
  for (int value = 1; value <= 3; ++value) {
    const Array x, y;
    x.fill(value);
    launch(x.at(), y.at());
    expect::each(y.values(), [=](int) { return 2 * value; });
  }
}

// Each of two launches makes what the other one reads.
void check_to_and_fro() {
  const Array x, y;
  x.fill(1);
  for (int k = 0; k < 4; ++k) {
    launch(x.at(), y.at());
    launch(y.at(), x.at());
  }
  expect::each(x.values(), [](int) { return 256; });
}

// A benchmark of several kernels, one of which changes what it reads.
void check_rounds() {
  const Array x, y;
  for (int k = 0; k < 6; ++k) {
    x.fill(3);
    launch(x.at(), y.at());
    increase<<<kBlocks, kThreads>>>(y.at(), kCount);
    launch(y.at(), x.at());
    if (k == 4) set_one<<<1, 1>>>(y.at(), 5, 50);
    increase<<<kBlocks, kThreads>>>(y.at(), kCount);
    expect::each(x.values(), [](int) { return 14; });
    expect::each(y.values(), [=](int i) { return k == 4 && i == 5 ? 51 : 8; });
  }
}

// What one makes again another one reads.
void check_chain() {
  const Array x, y, z;
  x.fill(5);
  for (int k = 0; k < 5; ++k) {
    set<<<kBlocks, kThreads>>>(y.at(), 1, kCount);
    launch(y.at(), z.at());
    launch(x.at(), y.at());
    launch(y.at(), z.at());
    expect::each(z.values(), [](int) { return 20; });
  }
}

// What it reads goes back and forth between two, and then is a third.
void check_other_values() {
  const Array x, y;
  for (const int value : {1, 1, 1, 2, 1, 2, 2, 2, 1, 3}) {
    x.fill(value);
    expect::ok(cudaMemset(y.at(), 0xff, kBytes));
    launch(x.at(), y.at());
    expect::each(y.values(), [=](int) { return 2 * value; });
  }
}

// What nobody has written is copied over its results: they are put back, and
// may be read.
void check_over_unwritten() {
  const Array x, y, z, unwritten;
  x.fill(5);
  for (int k = 0; k < 5; ++k) {
    expect::ok(
        cudaMemcpy(y.at(), unwritten.at(), kBytes, cudaMemcpyDeviceToDevice));
    launch(x.at(), y.at());
    launch(y.at(), z.at());
    expect::each(z.values(), [](int) { return 20; });
  }
}

// More launches in turn than are kept, twice.
void check_many() {
  const Array x;
  std::vector<std::unique_ptr<Array>> ys;
  for (int k = 0; k < 40; ++k) ys.push_back(std::make_unique<Array>());
  for (int round = 0; round < 4; ++round) {
    x.fill(4);
    for (const auto& y : ys) {
      expect::ok(cudaMemset(y->at(), 0, kBytes));
      launch(x.at(), y->at());
    }
    for (const auto& y : ys) expect::each(y->values(), [](int) { return 8; });
  }
}

void check_graph() {
  const Array x, y;
  x.fill(5);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  expect::ok(cudaStreamCreate(&stream));
  expect::ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  twice<<<kBlocks, kThreads, 0, stream>>>(x.at(), y.at(), kCount);
  expect::ok(cudaMemcpyAsync(x.at(), y.at(), kBytes, cudaMemcpyDeviceToDevice,
                             stream));
  expect::ok(cudaStreamEndCapture(stream, &graph));
  expect::ok(cudaGraphInstantiate(&run, graph, 0));
  for (int k = 0; k < 3; ++k) expect::ok(cudaGraphLaunch(run, stream));
  expect::ok(cudaStreamSynchronize(stream));
  expect::each(y.values(), [](int) { return 40; });
  expect::ok(cudaGraphExecDestroy(run));
  expect::ok(cudaGraphDestroy(graph));
  expect::ok(cudaStreamDestroy(stream));
}

// Counters that are cleared each time, and what is counted changes twice.
void check_counters() {
  const Array x, counts;
  for (const int value : {1, 1, 1, 1, 2, 2, 2, 1}) {
    x.fill(value);
    expect::ok(cudaMemset(counts.at(), 0, kBytes));
    count_values<<<kBlocks, kThreads>>>(x.at(), counts.at(), kCount);
    expect::each(counts.values(),
                 [=](int i) { return i == value ? kCount : 0; });
  }
}

// Nothing clears them: no launch does what one before has done.
void check_counters_that_go_on() {
  const Array x, counts, tickets, next;
  x.fill(3);
  counts.fill(0);
  next.fill(0);
  for (int k = 1; k <= 5; ++k) {
    count_values<<<kBlocks, kThreads>>>(x.at(), counts.at(), kCount);
    draw_tickets<<<kBlocks, kThreads>>>(tickets.at(), next.at(), kCount);
    expect::each(counts.values(),
                 [=](int i) { return i == 3 ? k * kCount : 0; });
    expect::equal(next.values()[0], k * kCount);
    std::vector<int> drawn = tickets.values();
    std::sort(drawn.begin(), drawn.end());
    expect::each(drawn, [=](int i) { return (k - 1) * kCount + i; });
  }
}

// It leaves its counters as it found them; here one of them is changed, and
// then what it reads.
void check_last_block() {
  const Array x, sum, result, arrived;
  for (const auto* counters : {&sum, &arrived}) counters->fill(0);
  x.fill(2);
  for (int k = 0; k < 9; ++k) {
    if (k == 5) set_one<<<1, 1>>>(sum.at(), 0, 100);
    if (k == 7) set_one<<<1, 1>>>(x.at(), 9, 1);
    result.fill(-1);
    add_up<<<kBlocks, kThreads>>>(x.at(), sum.at(), result.at(),
                                  reinterpret_cast<unsigned*>(arrived.at()),
                                  kCount);
    expect::equal(result.values()[0],
                  2 * kCount + (k == 5 ? 100 : 0) - (k >= 7 ? 1 : 0));
  }
}

// Textures: of an array, and of memory that another kernel fills.
cudaTextureObject_t texture_of(const cudaResourceDesc& resource) {
  cudaTextureDesc description = {};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  expect::ok(
      cudaCreateTextureObject(&object, &resource, &description, nullptr));
  return object;
}

void check_textures() {
  constexpr int kSide = 512;  // As many texels as there are threads, and more.
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
  expect::ok(
      cudaMallocArray(&array, &ints, kSide, kSide, cudaArraySurfaceLoadStore));
  cudaResourceDesc of_array = {}, of_memory = {};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  const Array x, y, z;
  of_memory.resType = cudaResourceTypeLinear;
  of_memory.res.linear = {x.at(), ints, kBytes};
  const cudaTextureObject_t of_x = texture_of(of_memory);
  const cudaTextureObject_t texels = texture_of(of_array);
  expect::ok(cudaCreateSurfaceObject(&surface, &of_array));

  const auto fill = [&](int value) {
    const std::vector<int> values(kSide * kSide, value);
    constexpr size_t kRow = kSide * sizeof(int);
    expect::ok(cudaMemcpy2DToArray(array, 0, 0, values.data(), kRow, kRow,
                                   kSide, cudaMemcpyHostToDevice));
  };
  int stored = 0;  // In the first texel, by a kernel.
  for (const int value : {1, 1, 1, 1, 2, 2, 2, 1, 1}) {
    fill(value);
    set<<<kBlocks, kThreads>>>(x.at(), 10 * value, kCount);
    if (++stored % 3 == 0) store_texel<<<1, 1>>>(surface, 100 + stored);
    read_texels<<<kBlocks, kThreads>>>(texels, kSide, y.at(), kCount);
    read_linear<<<kBlocks, kThreads>>>(of_x, z.at(), kCount);
    expect::each(y.values(), [=](int i) {
      return i == 0 && stored % 3 == 0 ? 100 + stored : value;
    });
    expect::each(z.values(), [=](int) { return 10 * value; });
  }
  expect::ok(cudaDestroySurfaceObject(surface));
  expect::ok(cudaDestroyTextureObject(texels));
  expect::ok(cudaDestroyTextureObject(of_x));
  expect::ok(cudaFreeArray(array));
}

// The host changes what a kernel reads without a call.
void check_managed() {
  int *x = nullptr, *y = nullptr;
  expect::ok(cudaMallocManaged(&x, kBytes));
  expect::ok(cudaMallocManaged(&y, kBytes));
  for (int value = 1; value <= 3; ++value) {
    for (int i = 0; i < kCount; ++i) x[i] = value;
    launch(x, y);
    launch(x, y);
    expect::ok(cudaDeviceSynchronize());
    expect::each(std::vector<int>(y, y + kCount),
                 [=](int) { return 2 * value; });
  }
  expect::ok(cudaFree(x));
  expect::ok(cudaFree(y));
}

}  // namespace

int main() {
  check_copies_and_fills();
  check_variables();
  check_constant();
  check_kernels();
  check_arguments();
  check_clusters();
  check_new_arrays();
  check_to_and_fro();
  check_rounds();
  check_chain();
  check_other_values();
  check_over_unwritten();
  check_many();
  check_graph();
  check_counters();
  check_counters_that_go_on();
  check_last_block();
  check_textures();
  check_managed();
  return expect::report();
}
