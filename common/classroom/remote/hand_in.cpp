// A hand-in's own process: stands in for CUDA's runtime library, of which it
// asks the judge for everything, and waits for the judge's calls.
#include "common/classroom/remote/hand_in.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "common/simt/runtime/fat_binary.h"

namespace remote {
namespace {

Message answer_to(const Message& question) {
  static const Socket judge(kSocket);
  judge.send(question);
  return judge.receive();
}

// Makes `device` the judge's current one, and returns the one that was.
int exchange_device(int device) {
  Message answer = answer_to(Message(Kind::kGetDevice));
  answer.take<cudaError_t>();
  const auto before = answer.take<int>();
  answer_to(Message(Kind::kSetDevice).put(device));
  return before;
}

// One question at a time, whatever threads the hand-in has. When the judge has
// seen enough, so has the hand-in. Each further thread has a current device of
// its own; the judge, which has one thread, takes it for as long as it answers.
Message ask(const Message& question) try {
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (gettid() == getpid()) return answer_to(question);
  thread_local int device = 0;
  const int judges = exchange_device(device);
  Message answer = answer_to(question);
  device = exchange_device(judges);
  return answer;
} catch (const Broken&) {
  _exit(EXIT_SUCCESS);
}

// The answer begins with an error; what a call gives follows if there is none.
template <class... Given>
cudaError_t request(const Message& question, Given*... to) {
  Message answer = ask(question);
  const auto error = answer.take<cudaError_t>();
  if (error == cudaSuccess) ((*to = answer.take<Given>()), ...);
  return error;
}

template <class... Told>
Message message(Kind kind, const Told&... told) {
  Message question(kind);
  (question.put(told), ...);
  return question;
}

// The sizes of a kernel's parameters, which its launch does not tell.
const std::vector<uint32_t>& sizes_of(const void* function) {
  static std::map<const void*, std::vector<uint32_t>> known;
  const auto found = known.find(function);
  if (found != known.end()) return found->second;
  Message answer = ask(message(Kind::kParameterSizes, function));
  std::vector<uint32_t> sizes;
  while (answer.left() > 0) sizes.push_back(answer.take<uint32_t>());
  return known[function] = sizes;
}

cudaError_t launch(const void* function, const cudaLaunchConfig_t& how,
                   void** arguments) {
  Message question = message(Kind::kLaunch, function, how.gridDim, how.blockDim,
                             how.dynamicSmemBytes, how.stream, how.numAttrs);
  question.put_bytes(how.attrs, how.numAttrs * sizeof *how.attrs);
  for (const uint32_t bytes : sizes_of(function))
    question.put_bytes(*arguments++, bytes);
  return request(question);
}

// What stands between <<< and >>>, until the stub fetches it.
struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> pushed;

const char* error_text(cudaError_t error, bool name) {
  static std::map<std::pair<int, bool>, std::string> known;
  std::string& text = known[{error, name}];
  if (text.empty())
    text = ask(message(Kind::kErrorText, error, name)).take_text();
  return text.c_str();
}

}  // namespace
}  // namespace remote

using namespace remote;

int main() {
  for (Message end(Kind::kReady);;) {
    Message call = ask(end);
    end = kServed[call.take<uint32_t>()](call);
  }
}

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const uint8_t* data = static_cast<const simt::fat::Wrapper*>(wrapper)->data;
  const auto& header = *reinterpret_cast<const simt::fat::Header*>(data);
  Message question(Kind::kRegisterBinary);
  question.put_bytes(data, header.header_bytes + header.bytes);
  void** handle = nullptr;
  request(question, &handle);
  return handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** handle, const char* host, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  request(message(Kind::kRegisterFunction, handle, host).put_text(name));
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                       size_t, int, int) {
  request(message(Kind::kRegisterVariable, handle, host).put_text(name));
}
char __cudaInitModule(void**) { return 1; }
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                       void* stream) {
  const Configuration c = pushed.back();
  pushed.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void** arguments, size_t shared,
                               cudaStream_t stream) {
  return launch(kernel, {grid, block, shared, stream, nullptr, 0}, arguments);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                             void** arguments, size_t shared,
                             cudaStream_t stream) {
  return launch(function, {grid, block, shared, stream, nullptr, 0}, arguments);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                        dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  return launch(function, {grid, block, shared, stream, &together, 1},
                arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how,
                                const void* function, void** arguments) {
  return launch(function, *how, arguments);
}

cudaError_t cudaMalloc(void** p, size_t bytes) {
  return request(message(Kind::kMalloc, bytes), p);
}
cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t stream) {
  return request(message(Kind::kMalloc, bytes, stream), p);
}
cudaError_t cudaFree(void* p) { return request(message(Kind::kFree, p)); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return request(message(Kind::kFree, p, stream));
}
cudaError_t cudaMemset(void* p, int value, size_t bytes) {
  return request(message(Kind::kMemset, p, value, bytes));
}
cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes,
                            cudaStream_t stream) {
  return request(message(Kind::kMemset, p, value, bytes, stream));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice)
    return request(message(Kind::kUpload, to, kAtOnce).put_bytes(from, bytes));
  return request(message(Kind::kCopy, to, from, bytes, kind));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  if (kind == cudaMemcpyHostToDevice)
    return request(
        message(Kind::kUpload, to, When{true, stream}).put_bytes(from, bytes));
  return request(message(Kind::kCopy, to, from, bytes, kind, stream));
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from,
                               size_t bytes, size_t offset, cudaMemcpyKind) {
  return request(message(Kind::kCopyToSymbol, symbol, offset, kAtOnce)
                     .put_bytes(from, bytes));
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                    size_t bytes, size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream) {
  return request(
      message(Kind::kCopyToSymbol, symbol, offset, When{true, stream})
          .put_bytes(from, bytes));
}
cudaError_t cudaGetSymbolAddress(void** p, const void* symbol) {
  return request(message(Kind::kSymbolAddress, symbol), p);
}

cudaError_t cudaGetDevice(int* device) {
  return request(message(Kind::kGetDevice), device);
}
cudaError_t cudaGetDeviceCount(int* count) {
  return request(message(Kind::kDeviceCount), count);
}
cudaError_t cudaSetDevice(int device) {
  return request(message(Kind::kSetDevice, device));
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return request(message(Kind::kCanReachPeer, device, peer), can);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return request(message(Kind::kReachPeer, peer, flags));
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                   int device) {
  return request(message(Kind::kDeviceAttribute, attribute, device), value);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return request(message(Kind::kDeviceProperties, device), properties);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void* function) {
  return request(message(Kind::kFunctionAttributes, function), attributes);
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute name,
                                 int value) {
  return request(message(Kind::kSetFunctionAttribute, function, name, value));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void* function,
                                                          int threads,
                                                          size_t shared) {
  return request(message(Kind::kOccupancy, function, threads, shared), blocks);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function,
                                                       threads, shared);
}

cudaError_t cudaGetLastError() {
  return request(message(Kind::kLastError, true));
}
cudaError_t cudaPeekAtLastError() {
  return request(message(Kind::kLastError, false));
}
const char* cudaGetErrorName(cudaError_t error) {
  return error_text(error, true);
}
const char* cudaGetErrorString(cudaError_t error) {
  return error_text(error, false);
}
cudaError_t cudaDeviceSynchronize() {
  return request(message(Kind::kSynchronize));
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return request(message(Kind::kSynchronize, stream));
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return request(message(Kind::kStreamCreate, 0u), stream);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return request(message(Kind::kStreamCreate, flags), stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return request(message(Kind::kStreamDestroy, stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  return request(message(Kind::kWaitEvent, stream, event, 0u));
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return request(message(Kind::kEventCreate, 0u), event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return request(message(Kind::kEventCreate, flags), event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return request(message(Kind::kEventRecord, event, stream));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return request(message(Kind::kEventDestroy, event));
}

}  // extern "C"
