// The names that nvcc --default-stream per-thread makes of CUDA's calls. There
// stream 0 is the calling thread's own default stream, and calls that name no
// stream use that one.
#include "common/simt/runtime/runtime.h"

// CUDA advises against some of them, to the programs that call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**,
                                          size_t, cudaStream_t);

namespace simt {
namespace {

thread_local bool calls_for_own = false;

// While it lives, this thread's call names no stream but its own.
class OwnStream {
 public:
  OwnStream() { calls_for_own = true; }
  ~OwnStream() { calls_for_own = false; }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
};

// A launch's configuration names a stream, too.
struct OwnConfig {
  std::optional<cudaLaunchConfig_t> config;
  operator const cudaLaunchConfig_t*() const {
    return config ? &*config : nullptr;
  }
};

template <class T>
const T& own(const T& other) {
  return other;
}
cudaStream_t own(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}
OwnConfig own(const cudaLaunchConfig_t* given) {
  if (given == nullptr) return {};
  OwnConfig changed = {*given};
  changed.config->stream = own(given->stream);
  return changed;
}

template <auto call>
struct PerThread;
template <class... Each, cudaError_t (*call)(Each...)>
struct PerThread<call> {
  static cudaError_t run(Each... each) {
    const OwnStream mine;
    return call(own(each)...);
  }
};

}  // namespace

cudaStream_t default_stream() {
  return calls_for_own ? cudaStreamPerThread : nullptr;
}

}  // namespace simt

using simt::PerThread;

// No sanitizer works yet when the linker asks.
#define BEFORE_SANITIZERS \
  __attribute__((no_sanitize("address", "thread", "undefined")))

// Written once for all kinds of arguments: when the program starts, the linker
// asks choose_...() which function has the name.
#define NAME_PER_THREAD(call, end)                           \
  BEFORE_SANITIZERS static decltype(&call) choose_##call() { \
    return PerThread<&call>::run;                            \
  }                                                          \
  decltype(call) call##end __attribute__((ifunc("choose_" #call)));

extern "C" {

NAME_PER_THREAD(cudaMemcpy, _ptds)
NAME_PER_THREAD(cudaMemcpy2D, _ptds)
NAME_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)
NAME_PER_THREAD(cudaMemcpy2DFromArray, _ptds)
NAME_PER_THREAD(cudaMemcpy2DToArray, _ptds)
NAME_PER_THREAD(cudaMemcpy3D, _ptds)
NAME_PER_THREAD(cudaMemcpy3DPeer, _ptds)
NAME_PER_THREAD(cudaMemcpyArrayToArray, _ptds)
NAME_PER_THREAD(cudaMemcpyFromArray, _ptds)
NAME_PER_THREAD(cudaMemcpyFromSymbol, _ptds)
NAME_PER_THREAD(cudaMemcpyToArray, _ptds)
NAME_PER_THREAD(cudaMemcpyToSymbol, _ptds)
NAME_PER_THREAD(cudaMemset, _ptds)
NAME_PER_THREAD(cudaMemset2D, _ptds)
NAME_PER_THREAD(cudaMemset3D, _ptds)

NAME_PER_THREAD(__cudaLaunchKernel, _ptsz)
NAME_PER_THREAD(cudaEventRecord, _ptsz)
NAME_PER_THREAD(cudaEventRecordWithFlags, _ptsz)
NAME_PER_THREAD(cudaFreeAsync, _ptsz)
NAME_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz)
NAME_PER_THREAD(cudaGraphLaunch, _ptsz)
NAME_PER_THREAD(cudaGraphUpload, _ptsz)
NAME_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
NAME_PER_THREAD(cudaLaunchHostFunc, _ptsz)
NAME_PER_THREAD(cudaLaunchKernel, _ptsz)
NAME_PER_THREAD(cudaLaunchKernelExC, _ptsz)
NAME_PER_THREAD(cudaMallocAsync, _ptsz)
NAME_PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
NAME_PER_THREAD(cudaMemPrefetchAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy2DAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy3DAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)
NAME_PER_THREAD(cudaMemset2DAsync, _ptsz)
NAME_PER_THREAD(cudaMemset3DAsync, _ptsz)
NAME_PER_THREAD(cudaMemsetAsync, _ptsz)
NAME_PER_THREAD(cudaStreamAddCallback, _ptsz)
NAME_PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
NAME_PER_THREAD(cudaStreamBeginCapture, _ptsz)
NAME_PER_THREAD(cudaStreamCopyAttributes, _ptsz)
NAME_PER_THREAD(cudaStreamEndCapture, _ptsz)
NAME_PER_THREAD(cudaStreamGetAttribute, _ptsz)
NAME_PER_THREAD(cudaStreamGetFlags, _ptsz)
NAME_PER_THREAD(cudaStreamGetId, _ptsz)
NAME_PER_THREAD(cudaStreamGetPriority, _ptsz)
NAME_PER_THREAD(cudaStreamIsCapturing, _ptsz)
NAME_PER_THREAD(cudaStreamQuery, _ptsz)
NAME_PER_THREAD(cudaStreamSetAttribute, _ptsz)
NAME_PER_THREAD(cudaStreamSynchronize, _ptsz)
NAME_PER_THREAD(cudaStreamWaitEvent, _ptsz)
#if CUDART_VERSION >= 12080
NAME_PER_THREAD(cudaStreamGetDevice, _ptsz)
#endif
#if CUDART_VERSION >= 13000
NAME_PER_THREAD(cudaMemDiscardAndPrefetchBatchAsync, _ptsz)
NAME_PER_THREAD(cudaMemDiscardBatchAsync, _ptsz)
NAME_PER_THREAD(cudaMemPrefetchBatchAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpy3DBatchAsync, _ptsz)
NAME_PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
NAME_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)
NAME_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
NAME_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)
#endif

}  // extern "C"
