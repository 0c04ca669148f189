// The driver API: devices, contexts, streams, events. It shares everything with
// the runtime: a context is a device that a thread has chosen, and each device
// has one that both APIs use, the primary one.
#include "common/simt/runtime/driver.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

#include "common/simt/core/device.h"
#include "common/simt/memory/allocations.h"

namespace simt {
namespace {

std::atomic<bool> driver_ready{false};

// Whether one launch may take several devices. CUDA 13 has no such call.
constexpr auto kMultiDeviceLaunch =
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH;

struct Context {
  int device = 0;
  unsigned flags = 0;
  bool primary = false;
  int retained = 0;  // the primary one: how often
  // What was allocated in it. Its address may be another's by now.
  std::vector<Allocation> memory;
};

// Never destroyed; a handle is a context's address.
struct Contexts {
  std::mutex mutex;
  std::set<Context*> live;
  std::map<int, Context*> primary;
};
Contexts& contexts() {
  static auto* all = new Contexts;
  return *all;
}

Context* primary_of(int device) {
  Contexts& all = contexts();
  const std::lock_guard lock(all.mutex);
  Context*& found = all.primary[device];
  if (found == nullptr) {
    found = new Context{device, 0, true, 0, {}};
    all.live.insert(found);
  }
  return found;
}

bool is_live(Context* context) {
  const std::lock_guard lock(contexts().mutex);
  return contexts().live.contains(context);
}

// Of each thread, the current one last. Never destroyed, see launch.cpp.
thread_local std::vector<Context*>& stack = *new std::vector<Context*>;

// Null if there is none. The runtime uses the primary one of its device, and
// whoever calls cudaSetDevice leaves the context that was current.
Context* current_context() {
  if (!stack.empty() && stack.back() != nullptr) {
    const bool changed =
        is_live(stack.back()) && stack.back()->device != current_device();
    return changed ? primary_of(current_device()) : stack.back();
  }
  return runtime_has_context() ? primary_of(current_device()) : nullptr;
}

CUcontext handle_of(Context* context) {
  return reinterpret_cast<CUcontext>(context);
}

Context* context_of(CUcontext handle) {
  auto* const context = reinterpret_cast<Context*>(handle);
  demand(is_live(context), CUDA_ERROR_INVALID_CONTEXT, handle,
         " is no context, or one that was destroyed");
  return context;
}

Context* of_or_current(CUcontext handle) {
  if (!handle) {
    Context* const current = current_context();
    demand(current != nullptr, CUDA_ERROR_INVALID_CONTEXT,
           "the thread has no context");
    return current;
  }
  auto* const context = reinterpret_cast<Context*>(handle);
  demand(is_live(context), CUDA_ERROR_CONTEXT_IS_DESTROYED, handle,
         " is no context, or one that was destroyed");
  return context;
}

void require_driver_device(CUdevice device) {
  demand(device >= 0 && device < device_count(), CUDA_ERROR_INVALID_DEVICE,
         "there is no device ", device);
}

void enter(Context* context) {
  if (context != nullptr) set_current_device(context->device);
}

void make_context(CUcontext* out, unsigned flags, CUdevice device) {
  demand(out != nullptr, CUDA_ERROR_INVALID_VALUE, "pctx is null");
  demand((flags & ~CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE,
         "unknown flags ", flags);
  require_driver_device(device);
  auto* const made = new Context{device, flags, false, 0, {}};
  {
    const std::lock_guard lock(contexts().mutex);
    contexts().live.insert(made);
  }
  stack.push_back(made);
  enter(made);
  *out = handle_of(made);
}

void free_memory_of(Context& context) {
  await_device(context.device);
  for (const Allocation& one : context.memory) {
    const auto now = allocations().find(one.begin);
    if (now && now->number == one.number) allocations().release(one.begin);
  }
  context.memory.clear();
}

void destroy_context(Context* context) {
  demand(!context->primary, CUDA_ERROR_INVALID_CONTEXT,
         "a primary context is released, not destroyed");
  free_memory_of(*context);
  {
    const std::lock_guard lock(contexts().mutex);
    contexts().live.erase(context);
  }
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  if (!stack.empty()) enter(stack.back());
}

// The runtime's codes that the driver does not have are all the same to it.
void as_driver(Body body) {
  try {
    body();
  } catch (Refused& refused) {
    const char* name = nullptr;
    const auto code = static_cast<CUresult>(refused.code);
    if (cuGetErrorName(code, &name) != CUDA_SUCCESS)
      refused.code = cudaErrorInvalidValue;
    throw;
  }
}

}  // namespace

void require_ready(Needs needs) {
  if (needs == Needs::kNothing) return;
  demand(driver_ready || runtime_was_called(), CUDA_ERROR_NOT_INITIALIZED,
         "cuInit(0) must come first");
  if (needs == Needs::kDriver) return;
  Context* const context = current_context();
  demand(context != nullptr, CUDA_ERROR_INVALID_CONTEXT,
         "the thread has no context; call cuCtxCreate, or cuCtxSetCurrent with "
         "the device's primary one");
  demand(is_live(context), CUDA_ERROR_CONTEXT_IS_DESTROYED,
         "the thread's context was destroyed");
  pass(sticky_error());
}

CUresult drive(Needs needs, Body body, const char* call) noexcept {
  std::string name = call;  // cuMemAlloc_v2 is cuMemAlloc to programs.
  if (const size_t version = name.rfind("_v"); version != name.npos)
    name.resize(version);
  const DriverCall during(name.c_str());
  return static_cast<CUresult>(answer_always(
      [&] {
        require_ready(needs);
        as_driver(body);
      },
      name.c_str()));
}

CUresult drive(Body body, const char* call) noexcept {
  return drive(Needs::kContext, body, call);
}

void note_of_context(CUdeviceptr memory) {
  Context* const context = current_context();
  const std::lock_guard lock(contexts().mutex);
  context->memory.push_back(*allocations().find(memory));
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- The driver, its errors and devices -------------------------------------

CUresult cuInit(unsigned flags) {
  return drive(Needs::kNothing, [&] {
    demand(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags are not 0");
    driver_ready = true;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return drive(Needs::kNothing, [&] { pass(cudaDriverGetVersion(version)); });
}

CUresult cuDeviceGetCount(int* count) {
  return drive(Needs::kDriver, [&] {
    demand(count != nullptr, CUDA_ERROR_INVALID_VALUE, "count is null");
    *count = device_count();
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return drive(Needs::kDriver, [&] {
    demand(device != nullptr, CUDA_ERROR_INVALID_VALUE, "device is null");
    require_driver_device(ordinal);
    *device = ordinal;
  });
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    demand(name != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE,
           "there is no room for a name");
    cudaDeviceProp facts;
    pass(cudaGetDeviceProperties(&facts, device));
    std::strncpy(name, facts.name, bytes - 1);
    name[bytes - 1] = '\0';
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    demand(bytes != nullptr, CUDA_ERROR_INVALID_VALUE, "bytes is null");
    require_driver_device(device);
    *bytes = model_device().global_bytes;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which,
                              CUdevice device) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    demand(value != nullptr, CUDA_ERROR_INVALID_VALUE, "pi is null");
    if (which == kMultiDeviceLaunch) return void(*value = 0);
    pass(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(which),
                                device));
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    demand(major && minor, CUDA_ERROR_INVALID_VALUE, "major or minor is null");
    require_driver_device(device);
    *major = model_device().major;
    *minor = model_device().minor;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    demand(uuid != nullptr, CUDA_ERROR_INVALID_VALUE, "uuid is null");
    require_driver_device(device);
    cudaDeviceProp facts;
    pass(cudaGetDeviceProperties(&facts, device));
    std::memcpy(uuid, &facts.uuid, sizeof *uuid);
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceGetPCIBusId(id, bytes, device)); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceGetByPCIBusId(device, id)); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return drive(Needs::kDriver,
               [&] { pass(cudaDeviceCanAccessPeer(can, device, peer)); });
}

// ---- Contexts ---------------------------------------------------------------

#if CUDA_VERSION >= 13000
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters,
                     unsigned flags, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    if (parameters &&
        (parameters->numExecAffinityParams || parameters->cigParams))
      throw Lacking{"contexts for a part of a device"};
    make_context(context, flags, device);
  });
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return drive(Needs::kDriver, [&] { make_context(context, flags, device); });
}
#else
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return drive(Needs::kDriver, [&] { make_context(context, flags, device); });
}
#endif

CUresult cuCtxDestroy(CUcontext context) {
  return drive(Needs::kDriver, [&] { destroy_context(context_of(context)); });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return drive(Needs::kDriver, [&] {
    demand(context != nullptr, CUDA_ERROR_INVALID_VALUE, "ctx is null");
    stack.push_back(context_of(context));
    enter(stack.back());
  });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return drive(Needs::kDriver, [&] {
    demand(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT,
           "the thread has no context");
    if (context) *context = handle_of(stack.back());
    stack.pop_back();
    if (!stack.empty()) enter(stack.back());
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return drive(Needs::kDriver, [&] {
    Context* const wanted = context ? context_of(context) : nullptr;
    if (!stack.empty()) stack.pop_back();
    if (wanted)
      stack.push_back(wanted);
    else
      leave_runtime_context();
    enter(wanted);
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return drive(Needs::kDriver, [&] {
    demand(context != nullptr, CUDA_ERROR_INVALID_VALUE, "pctx is null");
    *context = handle_of(current_context());
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return drive([&] {
    demand(device != nullptr, CUDA_ERROR_INVALID_VALUE, "device is null");
    *device = current_context()->device;
  });
}

#if CUDA_VERSION >= 13000
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return drive(Needs::kDriver, [&] {
    demand(device != nullptr, CUDA_ERROR_INVALID_VALUE, "device is null");
    *device = of_or_current(context)->device;
  });
}
#endif

CUresult cuCtxGetFlags(unsigned* flags) {
  return drive([&] {
    demand(flags != nullptr, CUDA_ERROR_INVALID_VALUE, "flags is null");
    *flags = current_context()->flags;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return drive(Needs::kDriver, [&] {
    demand(version != nullptr, CUDA_ERROR_INVALID_VALUE, "version is null");
    if (context) context_of(context);
    *version = 3020;  // as all drivers since CUDA 3.2 say
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return drive(Needs::kDriver, [&] {
    demand(id != nullptr, CUDA_ERROR_INVALID_VALUE, "ctxId is null");
    *id = reinterpret_cast<uint64_t>(of_or_current(context));
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return drive([&] { pass(cudaCtxResetPersistingL2Cache()); });
}

CUresult cuCtxSynchronize() {
  return drive([&] { pass(cudaDeviceSynchronize()); });
}
#if CUDA_VERSION >= 13000
CUresult cuCtxSynchronize_v2(CUcontext context) {
  return drive(Needs::kDriver, [&] {
    const int before = current_device();
    enter(of_or_current(context));
    const cudaError_t error = cudaDeviceSynchronize();
    set_current_device(before);
    pass(error);
  });
}
#endif

CUresult cuCtxGetLimit(size_t* value, CUlimit which) {
  return drive(
      [&] { pass(cudaDeviceGetLimit(value, static_cast<cudaLimit>(which))); });
}
CUresult cuCtxSetLimit(CUlimit which, size_t value) {
  return drive(
      [&] { pass(cudaDeviceSetLimit(static_cast<cudaLimit>(which), value)); });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return drive([&] {
    pass(cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)));
  });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return drive([&] {
    pass(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)));
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return drive(
      [&] { pass(cudaDeviceGetStreamPriorityRange(least, greatest)); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return drive([&] {
    pass(cudaDeviceEnablePeerAccess(context_of(peer)->device, flags));
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return drive(
      [&] { pass(cudaDeviceDisablePeerAccess(context_of(peer)->device)); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return drive(Needs::kDriver, [&] {
    demand(context != nullptr, CUDA_ERROR_INVALID_VALUE, "pctx is null");
    require_driver_device(device);
    Context* const primary = primary_of(device);
    ++primary->retained;
    *context = handle_of(primary);
  });
}

// Its memory stays, for the runtime may use it.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    Context* const primary = primary_of(device);
    demand(primary->retained > 0, CUDA_ERROR_INVALID_CONTEXT,
           "nobody retains the primary context of device ", device);
    --primary->retained;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    free_memory_of(*primary_of(device));
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    primary_of(device)->flags = flags;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                    int* active) {
  return drive(Needs::kDriver, [&] {
    require_driver_device(device);
    demand(flags && active, CUDA_ERROR_INVALID_VALUE,
           "flags or active is null");
    *flags = primary_of(device)->flags;
    *active = primary_of(device)->retained > 0 || runtime_was_called();
  });
}

// ---- Streams and events -----------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return drive([&] { pass(cudaStreamCreateWithFlags(stream, flags)); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags,
                                    int priority) {
  return drive(
      [&] { pass(cudaStreamCreateWithPriority(stream, flags, priority)); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return drive([&] { pass(cudaStreamDestroy(stream)); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return drive([&] { pass(cudaStreamSynchronize(stream)); });
}
CUresult cuStreamQuery(CUstream stream) {
  return drive([&] { pass(cudaStreamQuery(stream)); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return drive([&] { pass(cudaStreamWaitEvent(stream, event, flags)); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return drive([&] { pass(cudaStreamGetFlags(stream, flags)); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return drive([&] { pass(cudaStreamGetPriority(stream, priority)); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return drive([&] { pass(cudaStreamGetId(stream, id)); });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return drive([&] {
    demand(context != nullptr, CUDA_ERROR_INVALID_VALUE, "pctx is null");
    require_usable(stream);
    const int device = queue_of(stream).device;
    Context* const current = current_context();
    *context =
        handle_of(current->device == device ? current : primary_of(device));
  });
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return drive([&] {
    pass(cudaStreamBeginCapture(stream,
                                static_cast<cudaStreamCaptureMode>(mode)));
  });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return drive([&] { pass(cudaStreamEndCapture(stream, graph)); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return drive([&] {
    pass(cudaStreamIsCapturing(
        stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)));
  });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
                             void* data, unsigned flags) {
  return drive([&] {
    demand(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
           "callback is null, or flags are not 0");
    issue(stream, host_work([=] { callback(stream, CUDA_SUCCESS, data); }));
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return drive([&] { pass(cudaLaunchHostFunc(stream, function, data)); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return drive([&] { pass(cudaEventCreateWithFlags(event, flags)); });
}
CUresult cuEventDestroy(CUevent event) {
  return drive([&] { pass(cudaEventDestroy(event)); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return drive([&] { pass(cudaEventRecord(event, stream)); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream,
                                unsigned flags) {
  return drive([&] { pass(cudaEventRecordWithFlags(event, stream, flags)); });
}
CUresult cuEventSynchronize(CUevent event) {
  return drive([&] { pass(cudaEventSynchronize(event)); });
}
CUresult cuEventQuery(CUevent event) {
  return drive([&] { pass(cudaEventQuery(event)); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return drive([&] { pass(cudaEventElapsedTime(milliseconds, from, to)); });
}

// ---- Graphs: what a captured stream makes -----------------------------------

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  return drive(
      [&] { pass(cudaGraphInstantiateWithFlags(executable, graph, flags)); });
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return drive([&] { pass(cudaGraphLaunch(executable, stream)); });
}
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return drive([&] { pass(cudaGraphUpload(executable, stream)); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return drive([&] { pass(cudaGraphGetNodes(graph, nodes, count)); });
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return drive([&] { pass(cudaGraphExecDestroy(executable)); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return drive([&] { pass(cudaGraphDestroy(graph)); });
}

}  // extern "C"
