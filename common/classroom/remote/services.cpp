#include "common/classroom/remote/services.h"

#include <cuda_runtime_api.h>

#include <list>
#include <map>
#include <tuple>

#include "common/simt/decode/decode.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/fat_binary.h"
#include "common/simt/runtime/runtime.h"

// What nvcc's code calls; no header declares it.
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFunction(void** handle, const char* host, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*);
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                       size_t, int, int);
}

namespace remote {
namespace {

namespace fat = simt::fat;

constexpr size_t kMostMemory = size_t{1} << 30;  // That a hand-in may take.
constexpr size_t kMostNames = 10'000;
constexpr size_t kMostKept = 64 << 20;  // Bytes of binaries, names and data.

// The addresses by which the hand-in knows its kernels and variables are its
// own. Here each is known by an address of ours.
struct Named {
  std::string name;
};
std::map<const void*, Named*> symbols;
std::map<void*, size_t> taken;  // By cudaMalloc() and its like.

[[noreturn]] void refuse(const char* why) { throw Broken(why); }

// Ours for theirs; an address that we never heard of stands for nothing.
const void* known(const void* theirs) {
  static const Named nobody;
  const auto found = symbols.find(theirs);
  return found == symbols.end() ? &nobody : found->second;
}

// Before bytes of a message are kept for good.
void account(size_t bytes) {
  static size_t kept = 0;
  if (bytes > kMostKept - kept) refuse("there is too much to keep");
  kept += bytes;
}

void learn(const void* theirs, const char* name, Named*& ours) {
  if (symbols.size() >= kMostNames) refuse("there are too many kernels");
  account(std::strlen(name));
  ours = new Named{name};
  symbols[theirs] = ours;
}

bool is_on_gpu(const void* p, size_t bytes) {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<uint64_t>(p);
  const auto array = simt::allocations().find(begin);
  return array && array->is_device_only() && bytes <= array->end - begin;
}

Message only(cudaError_t error) { return Message().put(error); }

template <class T>
Message with(cudaError_t error, const T& value) {
  return only(error).put(value);
}

// ---- Binaries ---------------------------------------------------------------

// Whoever opens it believes the lengths that it holds.
void require_sound(const std::vector<char>& binary) {
  fat::Header header;
  if (binary.size() < sizeof header) refuse("a binary is too short");
  std::memcpy(&header, binary.data(), sizeof header);
  if (header.header_bytes < sizeof header ||
      binary.size() < header.header_bytes ||
      header.bytes != binary.size() - header.header_bytes)
    refuse("a binary has another length than it says");
  for (size_t at = header.header_bytes;
       at + sizeof(fat::Image) <= binary.size();) {
    fat::Image entry;
    std::memcpy(&entry, binary.data() + at, sizeof entry);
    const size_t left = binary.size() - at;
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
        entry.bytes > left - entry.header_bytes)
      refuse("a binary's entry has another length than it says");
    at += entry.header_bytes + entry.bytes;
  }
}

std::vector<void**> handles;

Message register_binary(Message question) {
  require_sound(question.bytes());
  account(question.bytes().size());
  // Kept for good, like the program's own.
  auto* bytes = new std::vector<char>(question.bytes());
  const auto* data = reinterpret_cast<const uint8_t*>(bytes->data());
  auto* wrapper = new fat::Wrapper{fat::kWrapperMagic, 1, data};
  handles.push_back(__cudaRegisterFatBinary(wrapper));
  return with(cudaSuccess, handles.back());
}

void** take_handle(Message& question) {
  auto* const handle = question.take<void**>();
  if (std::find(handles.begin(), handles.end(), handle) == handles.end())
    refuse("there is no such binary");
  return handle;
}

Message register_function(Message question) {
  void** const handle = take_handle(question);
  const auto* theirs = question.take<const void*>();
  Named* ours = nullptr;
  learn(theirs, question.take_text(), ours);
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(ours), nullptr,
                         ours->name.c_str(), -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  return only(cudaSuccess);
}

Message register_variable(Message question) {
  void** const handle = take_handle(question);
  const auto* theirs = question.take<const void*>();
  Named* ours = nullptr;
  learn(theirs, question.take_text(), ours);
  __cudaRegisterVar(handle, reinterpret_cast<char*>(ours), nullptr,
                    ours->name.c_str(), 0, 0, 0, 0);
  return only(cudaSuccess);
}

// ---- Launches ---------------------------------------------------------------

const std::vector<uint32_t>* parameters_of(const void* function) {
  try {
    return &simt::program_of(*simt::find_entry(function).kernel())
                .parameter_sizes;
  } catch (const simt::Refused&) {
    return nullptr;  // Its launch says why.
  } catch (const std::exception&) {
    return nullptr;
  }
}

Message parameter_sizes(Message question) {
  Message answer;
  const auto* sizes = parameters_of(known(question.take<const void*>()));
  for (size_t k = 0; sizes && k < sizes->size(); ++k) answer.put((*sizes)[k]);
  return answer;
}

// Those that name neither memory nor events.
bool may_have(const cudaLaunchAttribute& attribute) {
  return attribute.id == cudaLaunchAttributeCooperative ||
         attribute.id == cudaLaunchAttributeClusterDimension ||
         attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization;
}

Message launch(Message question) {
  const void* const function = known(question.take<const void*>());
  cudaLaunchConfig_t config = {};
  config.gridDim = question.take<dim3>();
  config.blockDim = question.take<dim3>();
  config.dynamicSmemBytes = question.take<size_t>();
  config.stream = question.take<cudaStream_t>();
  std::vector<cudaLaunchAttribute> attributes;
  for (auto left = question.take<unsigned>(); left > 0; --left) {
    attributes.push_back(question.take<cudaLaunchAttribute>());
    if (!may_have(attributes.back())) return only(cudaErrorNotSupported);
  }
  config.attrs = attributes.data();
  config.numAttrs = attributes.size();
  std::list<std::vector<char>> arguments;  // Each at an address of its own.
  std::vector<void*> pointers;
  if (const auto* sizes = parameters_of(function)) {
    for (const uint32_t bytes : *sizes) {
      const char* from = question.take_bytes(bytes);
      arguments.emplace_back(from, from + bytes);
      pointers.push_back(arguments.back().data());
    }
  }
  if (config.numAttrs)
    return only(cudaLaunchKernelExC(&config, function, pointers.data()));
  return only(cudaLaunchKernel(function, config.gridDim, config.blockDim,
                               pointers.data(), config.dynamicSmemBytes,
                               config.stream));
}

// ---- Memory -----------------------------------------------------------------

Message allocate(Message question) {
  const auto bytes = question.take<size_t>();
  size_t all = 0;
  for (const auto& [_, other] : taken) all += other;
  if (bytes > kMostMemory - all)
    return with<void*>(cudaErrorMemoryAllocation, nullptr);
  void* p = nullptr;
  const cudaError_t error =
      question.left()
          ? cudaMallocAsync(&p, bytes, question.take<cudaStream_t>())
          : cudaMalloc(&p, bytes);
  if (error == cudaSuccess && p) taken[p] = bytes;
  return with(error, p);
}

Message release(Message question) {
  auto* const p = question.take<void*>();
  // The judge's own arrays are not the hand-in's to free.
  if (p && !taken.contains(p)) return only(cudaErrorInvalidValue);
  taken.erase(p);
  return only(question.left() ? cudaFreeAsync(p, question.take<cudaStream_t>())
                              : cudaFree(p));
}

Message set(Message question) {
  auto* const p = question.take<void*>();
  const auto value = question.take<int>();
  const auto bytes = question.take<size_t>();
  if (!is_on_gpu(p, bytes)) return only(cudaErrorInvalidValue);
  return only(question.left() ? cudaMemsetAsync(p, value, bytes,
                                                question.take<cudaStream_t>())
                              : cudaMemset(p, value, bytes));
}

// What the judge keeps on the GPU stays there: the work is the GPU's.
Message copy(Message question) {
  auto* const to = question.take<void*>();
  const auto* from = question.take<const void*>();
  const auto bytes = question.take<size_t>();
  question.take<cudaMemcpyKind>();
  if (!is_on_gpu(to, bytes) || !is_on_gpu(from, bytes))
    return only(cudaErrorNotPermitted);
  constexpr auto kKind = cudaMemcpyDeviceToDevice;
  return only(question.left() ? cudaMemcpyAsync(to, from, bytes, kKind,
                                                question.take<cudaStream_t>())
                              : cudaMemcpy(to, from, bytes, kKind));
}

// What is recorded is read when it is replayed, and the message is gone by
// then.
const void* take_data(Message& question, const When& when, size_t bytes) {
  const char* const data = question.take_bytes(bytes);
  auto status = cudaStreamCaptureStatusNone;
  if (when.queued) cudaStreamIsCapturing(when.stream, &status);
  if (status == cudaStreamCaptureStatusNone) return data;
  account(bytes);
  return (new std::vector<char>(data, data + bytes))->data();
}

Message copy_to_symbol(Message question) {
  constexpr auto kKind = cudaMemcpyHostToDevice;
  const void* const symbol = known(question.take<const void*>());
  const auto offset = question.take<size_t>();
  const auto when = question.take<When>();
  const size_t bytes = question.left();
  const void* const from = take_data(question, when, bytes);
  return only(when.queued
                  ? cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kKind,
                                            when.stream)
                  : cudaMemcpyToSymbol(symbol, from, bytes, offset, kKind));
}

Message upload(Message question) {
  constexpr auto kKind = cudaMemcpyHostToDevice;
  auto* const to = question.take<void*>();
  const auto when = question.take<When>();
  const size_t bytes = question.left();
  if (!is_on_gpu(to, bytes)) return only(cudaErrorInvalidValue);
  const void* const from = take_data(question, when, bytes);
  return only(when.queued ? cudaMemcpyAsync(to, from, bytes, kKind, when.stream)
                          : cudaMemcpy(to, from, bytes, kKind));
}

// ---- The rest ---------------------------------------------------------------

template <class T>
T argument(Message& question) {
  const T value = question.take<T>();
  if constexpr (std::is_same_v<T, const void*>)
    return known(value);  // A kernel or a variable.
  else
    return value;
}

// What a function of CUDA says to the question's arguments.
template <class... T>
Message told(Message& question, cudaError_t (*function)(T...)) {
  // Braces: from left to right.
  const std::tuple<T...> arguments{argument<T>(question)...};
  return only(std::apply(function, arguments));
}

// And what one gives that returns something besides.
template <class Given, class... T>
Message given(Message& question, cudaError_t (*function)(Given*, T...)) {
  Given value = {};
  const std::tuple<Given*, T...> arguments{&value, argument<T>(question)...};
  const cudaError_t error = std::apply(function, arguments);
  return with(error, value);
}

Message error_text(Message question) {
  const auto error = question.take<cudaError_t>();
  const bool name = question.take<bool>();
  return Message().put_text(name ? cudaGetErrorName(error)
                                 : cudaGetErrorString(error));
}

}  // namespace

Message answer_to(Message q) {
  switch (q.kind()) {
    case Kind::kRegisterBinary:
      return register_binary(q);
    case Kind::kRegisterFunction:
      return register_function(q);
    case Kind::kRegisterVariable:
      return register_variable(q);
    case Kind::kParameterSizes:
      return parameter_sizes(q);
    case Kind::kLaunch:
      return launch(q);
    case Kind::kMalloc:
      return allocate(q);
    case Kind::kFree:
      return release(q);
    case Kind::kMemset:
      return set(q);
    case Kind::kCopy:
      return copy(q);
    case Kind::kCopyToSymbol:
      return copy_to_symbol(q);
    case Kind::kUpload:
      return upload(q);
    case Kind::kSymbolAddress:
      return given(q, cudaGetSymbolAddress);
    case Kind::kDeviceAttribute:
      return given(q, cudaDeviceGetAttribute);
    case Kind::kDeviceProperties:
      return given(q, cudaGetDeviceProperties);
    case Kind::kGetDevice:
      return given(q, cudaGetDevice);
    case Kind::kSetDevice:
      return told(q, cudaSetDevice);
    case Kind::kDeviceCount:
      return given(q, cudaGetDeviceCount);
    case Kind::kCanReachPeer:
      return given(q, cudaDeviceCanAccessPeer);
    case Kind::kReachPeer:
      return told(q, cudaDeviceEnablePeerAccess);
    case Kind::kFunctionAttributes:
      return given(q, cudaFuncGetAttributes);
    case Kind::kSetFunctionAttribute:
      return told(q, cudaFuncSetAttribute);
    case Kind::kOccupancy:
      return given(q, cudaOccupancyMaxActiveBlocksPerMultiprocessor);
    case Kind::kLastError:
      return only(q.take<bool>() ? cudaGetLastError() : cudaPeekAtLastError());
    case Kind::kErrorText:
      return error_text(q);
    case Kind::kSynchronize:
      return only(q.left() ? cudaStreamSynchronize(q.take<cudaStream_t>())
                           : cudaDeviceSynchronize());
    case Kind::kStreamCreate:
      return given(q, cudaStreamCreateWithFlags);
    case Kind::kStreamDestroy:
      return told(q, cudaStreamDestroy);
    case Kind::kWaitEvent:
      return told(q, cudaStreamWaitEvent);
    case Kind::kEventCreate:
      return given(q, cudaEventCreateWithFlags);
    case Kind::kEventRecord:
      return told(q, cudaEventRecord);
    case Kind::kEventDestroy:
      return told(q, cudaEventDestroy);
    default:
      refuse("there is no such question");
  }
}

}  // namespace remote
