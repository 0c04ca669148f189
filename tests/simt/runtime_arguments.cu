// Arguments at the edge: copies of nothing, rows without a pitch, kinds that
// name the wrong side, which of two mistakes a call tells of, what calls answer
// while a stream is being captured.

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

constexpr auto kAny = cudaMemcpyDefault;
constexpr auto kNoKind = static_cast<cudaMemcpyKind>(7);

__device__ int variable[25];

template <int kBytes>
__global__ void shares() {
  __shared__ char bytes[kBytes];
  bytes[threadIdx.x] = 1;
  if (bytes[kBytes - 1] == 77) variable[0] = 1;
}
__global__ void nothing() {}
__global__ void __cluster_dims__(2, 1, 1) in_pairs() {}

struct Memory {
  char* device;
  char* pinned;
  char* managed;
  char host[4096] = {};
  cudaArray_t array;  // 8 x 4 floats

  Memory() {
    ok(cudaMalloc(&device, 4096));
    ok(cudaMallocHost(&pinned, 4096));
    ok(cudaMallocManaged(&managed, 4096));
    const auto floats = cudaCreateChannelDesc<float>();
    ok(cudaMallocArray(&array, &floats, 8, 4));
  }
  ~Memory() {
    ok(cudaFree(device));
    ok(cudaFreeHost(pinned));
    ok(cudaFree(managed));
    ok(cudaFreeArray(array));
  }
};

cudaMemcpy3DParms box(char* to, size_t to_pitch, char* from, size_t from_pitch,
                      cudaExtent extent, size_t rows = 0) {
  cudaMemcpy3DParms p = {};
  p.dstPtr = make_cudaPitchedPtr(to, to_pitch, to_pitch, rows);
  p.srcPtr = make_cudaPitchedPtr(from, from_pitch, from_pitch, rows);
  p.extent = extent;
  p.kind = kAny;
  return p;
}

// Where no byte moves, nobody looks at what else is wrong.
void nothing_to_move() {
  Memory m;
  ok(cudaMemcpy(nullptr, nullptr, 0, kNoKind));
  ok(cudaMemcpy2D(nullptr, 0, nullptr, 0, 8, 0, kNoKind));
  ok(cudaMemcpy2D(nullptr, 0, nullptr, 0, 0, 8, kNoKind));
  ok(cudaMemcpyPeer(m.device, -1, m.device, 99, 0));
  ok(cudaMemcpyToSymbol(m.host, m.host, 0, 200, kAny));
  ok(cudaMemcpyFromSymbol(m.host, nullptr, 0, 4, kNoKind));
  ok(cudaMemcpy2DToArray(nullptr, 1, 1, m.host, 4, 0, 2, kAny));
  ok(cudaMemcpy2DFromArray(m.host, 4, nullptr, 1, 1, 9, 0, kAny));
  const cudaMemcpy3DParms empty = {};
  ok(cudaMemcpy3D(&empty));
  ok(cudaMemset(m.device, 1, 0));
  char* pointer = m.host;
  ok(cudaMallocManaged(&pointer, 0, 77));
  is_true(pointer == nullptr, "no memory");
  pointer = m.host;
  ok(cudaHostAlloc(&pointer, 0, 77));
  is_true(pointer == nullptr, "no memory");
}

void rows() {
  Memory m;
  ok(cudaMemcpy2D(m.device, 0, m.host, 16, 8, 1, kAny));
  equal(cudaMemcpy2D(m.device, 4, m.host, 16, 8, 1, kAny),
        cudaErrorInvalidValue);
  equal(cudaMemcpy2D(m.device, 0, m.host, 16, 8, 2, kAny),
        cudaErrorInvalidPitchValue);
  equal(cudaMemcpy2D(m.device, 4, m.host, 16, 8, 2, kNoKind),
        cudaErrorInvalidPitchValue);
  equal(cudaMemcpy2DToArray(nullptr, 0, 0, m.host, 4, 8, 2, kAny),
        cudaErrorInvalidPitchValue);
  equal(cudaMemcpy2DToArray(nullptr, 0, 0, m.host, 8, 8, 2,
                            cudaMemcpyDeviceToHost),
        cudaErrorInvalidMemcpyDirection);
  auto deep = box(m.device, 4, m.host, 16, {8, 1, 2});
  equal(cudaMemcpy3D(&deep), cudaErrorInvalidPitchValue);
  deep.kind = kNoKind;
  equal(cudaMemcpy3D(&deep), cudaErrorInvalidMemcpyDirection);
  auto high = box(m.device, 16, m.host, 16, {8, 2, 2}, 1);
  equal(cudaMemcpy3D(&high), cudaErrorInvalidPitchValue);
  cudaGetLastError();
}

// Addresses are unified: only a side that should be the device's is looked at.
void kinds() {
  Memory m;
  for (int i = 0; i < 100; ++i) m.host[i] = char(i);
  ok(cudaMemcpy(m.device, m.host, 100, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(m.device + 200, m.device, 100, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(m.device + 400, m.device + 200, 100, cudaMemcpyDeviceToHost));
  char back[100];
  ok(cudaMemcpy(back, m.device + 400, 100, cudaMemcpyDeviceToHost));
  is_true(std::memcmp(back, m.host, 100) == 0, "the bytes came through");
  equal(cudaMemcpy(back, m.host, 100, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
  equal(cudaMemcpyToSymbol(m.host, m.host, 4, 0, kNoKind),
        cudaErrorInvalidSymbol);
  equal(cudaMemcpyToSymbol(variable, m.host, 104, 0, cudaMemcpyDeviceToHost),
        cudaErrorInvalidValue);
  equal(cudaMemcpyToSymbol(variable, m.host, 4, 0, cudaMemcpyDeviceToHost),
        cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
}

void memory() {
  Memory m;
  unsigned flags = 77;
  void* seen = nullptr;
  ok(cudaHostGetFlags(&flags, m.managed));
  equal(flags, unsigned{cudaHostAllocMapped});
  equal(cudaHostGetDevicePointer(&seen, m.managed, 0), cudaErrorInvalidValue);
  equal(cudaFreeAsync(m.managed, nullptr), cudaErrorNotSupported);
  void* pointer = m.host;
  equal(cudaHostAlloc(&pointer, 4, 99), cudaErrorInvalidValue);
  is_true(pointer == nullptr, "no memory");
  equal(cudaStreamAttachMemAsync(cudaStreamPerThread, m.managed + 4, 0,
                                 cudaMemAttachGlobal),
        cudaErrorInvalidValue);
  cudaArray_t array;
  const auto none =
      cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindFloat);
  equal(cudaMallocArray(&array, &none, 200000, 4),
        cudaErrorInvalidChannelDescriptor);
  equal(cudaMallocArray(&array, &none, 0, 4), cudaErrorInvalidValue);
  const auto floats = cudaCreateChannelDesc<float>();
  equal(cudaMallocArray(&array, &floats, 8, 0, cudaArrayTextureGather),
        cudaErrorInvalidValue);
  equal(cudaMallocArray(&array, &floats, 8, 4, 16), cudaErrorInvalidValue);
  cudaResourceDesc rows = {};
  rows.resType = cudaResourceTypePitch2D;
  cudaSurfaceObject_t surface;
  equal(cudaCreateSurfaceObject(&surface, &rows),
        cudaErrorInvalidChannelDescriptor);
  cudaResourceDesc of_array = {};
  of_array.res.array.array = m.array;
  ok(cudaCreateSurfaceObject(&surface, &of_array));
  ok(cudaDestroySurfaceObject(surface));
  cudaGetLastError();
}

void others() {
  cudaGraph_t one, other;
  cudaGraphNode_t node, more;
  ok(cudaGraphCreate(&one, 0));
  ok(cudaGraphCreate(&other, 0));
  ok(cudaGraphAddEmptyNode(&node, one, nullptr, 0));
  equal(cudaGraphAddEmptyNode(&more, other, &node, 1), cudaErrorInvalidValue);
  cudaMemcpy3DParms empty = {};
  equal(cudaGraphAddMemcpyNode(&more, one, nullptr, 0, &empty),
        cudaErrorInvalidValue);
  ok(cudaGraphDestroy(one));
  ok(cudaGraphDestroy(other));

  int device;
  equal(cudaDeviceGetByPCIBusId(&device, "first"), cudaErrorInvalidValue);
  equal(cudaDeviceGetByPCIBusId(&device, "0000:ff:1f.0"),
        cudaErrorInvalidDevice);
  equal(cudaDeviceEnablePeerAccess(-1, 1), cudaErrorInvalidDevice);
  equal(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
  equal(cudaEventRecordWithFlags(nullptr, nullptr, 2),
        cudaErrorInvalidResourceHandle);
  equal(cudaStreamWaitEvent(nullptr, nullptr, 1),
        cudaErrorInvalidResourceHandle);
  equal(cudaFuncSetAttribute(nullptr, cudaFuncAttribute(0), 1),
        cudaErrorInvalidValue);
  // It needs a larger share than a launch may have, and whole clusters.
  equal(cudaLaunchKernel(in_pairs, dim3(1), dim3(32), nullptr, 49153, nullptr),
        cudaErrorInvalidClusterSize);
  // That takes whatever error there was with it.
  equal(cudaPeekAtLastError(), cudaErrorInvalidClusterSize);
  ok(cudaFuncSetAttribute(nothing,
                          cudaFuncAttributePreferredSharedMemoryCarveout, -1));
  equal(cudaPeekAtLastError(), cudaSuccess);
}

template <class Kernel>
int fitting(Kernel kernel, int threads, size_t dynamic_shared) {
  int blocks = -1;
  ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                   dynamic_shared));
  return blocks;
}

template <class Kernel>
size_t left(Kernel kernel, int blocks) {
  size_t bytes = 0;
  ok(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, 128));
  return bytes;
}

// A kernel that wants more L1 cache leaves room for fewer blocks.
void carveout() {
  int major;
  ok(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major != 9) return;  // Others have other sizes.
  const struct {
    int percent, empty, shares_9000, with_10000;
  } known[] = {{0, 8, 1, 1},     {3, 8, 1, 1},     {4, 16, 1, 1},
               {10, 32, 3, 2},   {20, 32, 6, 5},   {28, 32, 6, 5},
               {29, 32, 10, 9},  {44, 32, 13, 12}, {58, 32, 16, 15},
               {72, 32, 19, 18}, {90, 32, 23, 20}, {-1, 32, 23, 20}};
  for (const auto& k : known) {
    for (const auto kernel : {nothing, shares<9000>})
      ok(cudaFuncSetAttribute(
          kernel, cudaFuncAttributePreferredSharedMemoryCarveout, k.percent));
    equal(fitting(nothing, 32, 0), k.empty);
    equal(fitting(shares<9000>, 32, 0), k.shares_9000);
    equal(fitting(nothing, 32, 10000), k.with_10000);
  }
  ok(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferL1));
  equal(fitting(nothing, 128, 0), 8);
  equal(left(nothing, 2), size_t{4096});
  equal(left(nothing, 1), size_t{49152});
  ok(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferEqual));
  equal(fitting(nothing, 128, 10000), 12);
  ok(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferNone));
  ok(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  equal(fitting(shares<2000>, 32, 0), 2);
  ok(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  equal(fitting(shares<2000>, 32, 0), 32);
}

// What is queued in the legacy stream would wait for the captured one.
void while_captured() {
  Memory m;
  cudaStream_t captured, apart;
  ok(cudaStreamCreate(&captured));
  ok(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
  const auto begin = [&] {
    ok(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  };
  const auto end = [&](cudaError_t expected) {
    cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(8);
    equal(cudaStreamEndCapture(captured, &graph), expected);
    if (expected == cudaSuccess)
      ok(cudaGraphDestroy(graph));
    else
      is_true(graph == nullptr, "no graph");
  };
  const auto spoils = [&](auto call, cudaError_t expected) {
    begin();
    equal(call(), expected);
    end(cudaErrorStreamCaptureInvalidated);
  };
  const auto passes = [&](auto call, cudaError_t expected) {
    begin();
    equal(call(), expected);
    end(cudaSuccess);
  };
  int number;
  void* pointer;
  cudaMemPool_t pool;
  ok(cudaDeviceGetDefaultMemPool(&pool, 0));
  constexpr auto kLegacy = cudaErrorStreamCaptureImplicit;
  constexpr auto kUnsafe = cudaErrorStreamCaptureUnsupported;
  spoils([&] { return cudaStreamGetPriority(nullptr, &number); }, kLegacy);
  spoils([&] { return cudaMallocAsync(&pointer, 4, nullptr); }, kLegacy);
  spoils([&] { return cudaMallocAsync(&pointer, 4, apart); }, kUnsafe);
  spoils([&] { return cudaMemPoolTrimTo(pool, 0); }, kUnsafe);
  spoils([&] { return cudaDeviceSetCacheConfig(cudaFuncCachePreferNone); },
         kUnsafe);
  spoils([&] { return cudaMalloc(&pointer, 4); }, kUnsafe);
  is_true(pointer == nullptr, "no memory");
  spoils([&] { return cudaMemcpyToSymbol(variable, m.host, 4); }, kLegacy);
  passes([&] { return cudaMalloc(&pointer, 0); }, cudaSuccess);
  passes([&] { return cudaMemcpy(m.device, m.host, 0, kAny); }, cudaSuccess);
  passes([&] { return cudaMemset(m.device, 0, 0); }, cudaSuccess);
  passes([&] { return cudaMalloc(static_cast<void**>(nullptr), 4); },
         cudaErrorInvalidValue);
  passes([&] { return cudaMemcpyToSymbol(m.host, m.host, 4); },
         cudaErrorInvalidSymbol);
  passes([&] { return cudaMallocManaged(&pointer, 4, 77); },
         cudaErrorInvalidValue);

  const auto from_nowhere = [&] {
    return cudaMemcpyAsync(m.device, nullptr, 4, kAny, captured);
  };
  begin();  // It is looked at now, not when the graph runs.
  equal(from_nowhere(), cudaErrorInvalidValue);
  cudaStreamEndCapture(captured, nullptr);

  begin();  // What is invalid takes nothing more.
  equal(cudaStreamQuery(captured), kUnsafe);
  int priority;
  equal(cudaStreamGetPriority(captured, &priority),
        cudaErrorStreamCaptureInvalidated);
  equal(cudaMemsetAsync(m.device, 0, 4, captured),
        cudaErrorStreamCaptureInvalidated);
  ok(cudaMemsetAsync(m.device, 0, 0, captured));
  end(cudaErrorStreamCaptureInvalidated);

  begin();  // It ends with the stream.
  ok(cudaStreamDestroy(captured));
  ok(cudaDeviceSynchronize());
  ok(cudaStreamDestroy(apart));
  cudaGetLastError();
}

}  // namespace

int main() {
  nothing_to_move();
  rows();
  kinds();
  memory();
  others();
  carveout();
  while_captured();
  return expect::report();
}
