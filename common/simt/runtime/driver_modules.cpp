// The driver API: modules that are loaded while the program runs, their
// functions and variables, launches; and where to find all its calls. A module
// becomes a fat binary, as if nvcc had put it into the program.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "common/simt/decode/decode.h"
#include "common/simt/runtime/driver.h"
#include "common/simt/runtime/fat_binary.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device,
                            const char* name, int limit, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device,
                       const char* name, int external, size_t bytes,
                       int constant, int global);

// The driver API's calls, from refusals.sh: of several versions the newest
// last.
extern const struct {
  const char* name;
  void (*call)();
} simt_driver_calls[];
}

namespace simt {
namespace {

struct LoadedModule;

// Its address is the handle, and what the runtime knows it by.
struct LoadedFunction {
  std::string name;
  LoadedModule* module;
};

// Never destroyed: kernels of it may still run.
struct LoadedModule {
  std::vector<char> image;  // a fat binary
  fat::Wrapper wrapper = {fat::kWrapperMagic, 1, nullptr};
  void** handle = nullptr;
  std::map<std::string, LoadedFunction*> functions;
  std::map<std::string, char*> variables;
};

struct LoadedModules {
  std::mutex mutex;
  std::set<LoadedModule*> live;
  std::map<const void*, LoadedFunction*> functions;
};
LoadedModules& loaded_modules() {
  static auto* all = new LoadedModules;
  return *all;
}

LoadedModule* loaded(CUmodule handle) {
  auto* const module = reinterpret_cast<LoadedModule*>(handle);
  const std::lock_guard lock(loaded_modules().mutex);
  demand(loaded_modules().live.contains(module), CUDA_ERROR_INVALID_HANDLE,
         handle, " is no module, or one that was unloaded");
  return module;
}

// A function of the runtime's, or of a module that is still loaded.
const void* function_of(CUfunction handle) {
  demand(handle != nullptr, CUDA_ERROR_INVALID_HANDLE, "the function is null");
  const std::lock_guard lock(loaded_modules().mutex);
  const auto found = loaded_modules().functions.find(handle);
  demand(found == loaded_modules().functions.end() ||
             loaded_modules().live.contains(found->second->module),
         CUDA_ERROR_INVALID_HANDLE, "the function's module was unloaded");
  return handle;
}

// The number behind ".target sm_", for who chooses among several texts.
uint32_t target_of(const std::string& ptx) {
  const size_t at = ptx.find(".target");
  const size_t digits = ptx.find("sm_", at == ptx.npos ? 0 : at);
  return digits == ptx.npos
             ? 0
             : uint32_t(std::strtoul(ptx.c_str() + digits + 3, nullptr, 10));
}

template <class T>
void append(std::vector<char>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const char*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

void append_text(std::vector<char>& to, const std::string& ptx) {
  fat::Image image = {};
  image.kind = fat::kPtx;
  image.header_bytes = sizeof image;
  image.bytes = (ptx.size() + 8) / 8 * 8;  // ends with a zero
  image.architecture = target_of(ptx);
  append(to, image);
  to.insert(to.end(), ptx.begin(), ptx.end());
  to.resize(to.size() + image.bytes - ptx.size());
}

std::vector<char> as_fat_binary(const std::vector<std::string>& texts,
                                uint16_t version) {
  std::vector<char> images;
  for (const std::string& ptx : texts) append_text(images, ptx);
  std::vector<char> all;
  append(all, fat::Header{fat::kHeaderMagic, version, sizeof(fat::Header),
                          images.size()});
  all.insert(all.end(), images.begin(), images.end());
  return all;
}

bool begins_with(const void* image, uint32_t magic) {
  uint32_t found;
  std::memcpy(&found, image, sizeof found);
  return found == magic;
}

const uint8_t* bytes_of(const void* image) {
  return static_cast<const uint8_t*>(image);
}

// What is wrong with it is told by this call: of a text, in all its kernels.
CUmodule load(std::unique_ptr<LoadedModule> made, bool is_text) {
  LoadedModule* const module = made.release();  // who registers it keeps it
  module->wrapper.data = bytes_of(module->image.data());
  module->handle = __cudaRegisterFatBinary(&module->wrapper);
  try {
    if (is_text)
      read_kernels(module->handle);
    else
      kernel_names(module->handle);  // That links it, or says why it cannot.
  } catch (const Error& error) {
    throw Refused{cudaErrorInvalidPtx, error.what()};
  }
  const std::lock_guard lock(loaded_modules().mutex);
  loaded_modules().live.insert(module);
  return reinterpret_cast<CUmodule>(module);
}

// PTX of a version and for a GPU that the executor knows.
void require_text(const char* text) {
  const char* const version = std::strstr(text, ".version");
  demand(version != nullptr, CUDA_ERROR_INVALID_IMAGE,
         "the image is neither PTX nor a fat binary");
  constexpr int kNewest = 9;
  const int major = std::atoi(version + std::strlen(".version"));
  demand(major <= kNewest, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX ", major,
         "; the newest known is ", kNewest);
  constexpr uint32_t kHopper = 90;  // Models that are older run it, too.
  demand(target_of(text) <= kHopper, CUDA_ERROR_INVALID_PTX,
         "the PTX is for sm_", target_of(text),
         "; the executor runs what is for sm_", kHopper, " or older");
}

// All of it: the program may give its memory back.
std::vector<char> copy_of_fat_binary(const uint8_t* data) {
  fat::Header header;
  std::memcpy(&header, data, sizeof header);
  return {data, data + header.header_bytes + header.bytes};
}

// With or without its wrapper.
CUmodule load_any(const void* image) {
  constexpr uint32_t kElf = 0x464c457f;
  demand(image != nullptr, CUDA_ERROR_INVALID_VALUE, "image is null");
  auto module = std::make_unique<LoadedModule>();
  const auto* const text = static_cast<const char*>(image);
  if (strnlen(text, sizeof(uint32_t)) < sizeof(uint32_t)) {
    demand(text[0] != '\0', CUDA_ERROR_INVALID_IMAGE, "the image is empty");
    throw Refused{static_cast<cudaError_t>(CUDA_ERROR_INVALID_IMAGE),
                  "the image is neither PTX nor a fat binary"};
  }
  demand(!begins_with(image, kElf), CUDA_ERROR_NO_BINARY_FOR_GPU,
         "the image is machine code (a cubin); the executor runs PTX");
  const bool is_wrapped = begins_with(image, fat::kWrapperMagic);
  if (is_wrapped || begins_with(image, fat::kHeaderMagic)) {
    module->image = copy_of_fat_binary(
        is_wrapped ? static_cast<const fat::Wrapper*>(image)->data
                   : bytes_of(image));
    return load(std::move(module), false);
  }
  require_text(text);
  module->image = as_fat_binary({text}, 1);
  return load(std::move(module), true);
}

}  // namespace

ErrorLog::ErrorLog(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned k = 0; k < count; ++k) {
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER)
      text_ = static_cast<char*>(values[k]);
    if (options[k] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
    bytes_ = reinterpret_cast<size_t>(values[k]);
    written_ = &values[k];
  }
}

void ErrorLog::write(const std::string& words) const {
  if (text_ == nullptr || bytes_ == 0) return;
  const size_t used = words.copy(text_, bytes_ - 1);
  text_[used] = '\0';
  *written_ = reinterpret_cast<void*>(used);
}

CUmodule load_image(const void* image, const ErrorLog& log) {
  try {
    return load_any(image);
  } catch (const Refused& refused) {
    log.write(refused.why);
    throw;
  }
}

CUmodule load_file(const char* name) {
  demand(name != nullptr, CUDA_ERROR_INVALID_VALUE, "fname is null");
  std::ifstream file(name, std::ios::binary);
  demand(file.good(), CUDA_ERROR_FILE_NOT_FOUND, "there is no file ", name);
  std::vector<char> all(std::istreambuf_iterator<char>(file), {});
  all.insert(all.end(), 8, '\0');  // the end of a text
  return load_image(all.data());
}

std::vector<char> linked_image(const std::vector<std::string>& texts) {
  return as_fat_binary(texts, fat::kLinked);
}

void unload(CUmodule module) {
  LoadedModule* const gone = loaded(module);
  await_device(current_device());
  const std::lock_guard lock(loaded_modules().mutex);
  loaded_modules().live.erase(gone);
}

std::vector<std::string> kernels_of(CUmodule module) {
  return kernel_names(loaded(module)->handle);
}

namespace {

LoadedFunction* find_loaded(LoadedModule& module, const std::string& name) {
  if (const auto known = module.functions.find(name);
      known != module.functions.end())
    return known->second;
  auto* const function = new LoadedFunction{name, &module};
  __cudaRegisterFunction(module.handle, reinterpret_cast<char*>(function),
                         nullptr, function->name.c_str(), -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
  try {
    find_entry(function).kernel();
  } catch (const Refused& refused) {
    throw Refused{static_cast<cudaError_t>(CUDA_ERROR_NOT_FOUND), refused.why};
  }
  loaded_modules().functions[function] = function;
  return module.functions[name] = function;
}

}  // namespace

CUfunction find_function(CUmodule module, const std::string& name) {
  return reinterpret_cast<CUfunction>(find_loaded(*loaded(module), name));
}

DeviceVariable find_global(CUmodule handle, const std::string& name) {
  LoadedModule& module = *loaded(handle);
  char*& key = module.variables[name];
  if (key == nullptr) {
    key = new char;
    auto* const kept = new std::string(name);
    __cudaRegisterVar(module.handle, key, nullptr, kept->c_str(), 0, 0, 0, 0);
  }
  try {
    return find_symbol(key, current_device());
  } catch (const Refused& refused) {
    throw Refused{static_cast<cudaError_t>(CUDA_ERROR_NOT_FOUND), refused.why};
  }
}

namespace {

// ---- Launches ---------------------------------------------------------------

// Arguments side by side, as a kernel's parameters lie.
struct PackedArguments {
  std::vector<char> buffer;
  std::vector<void*> pointers;

  PackedArguments(const void* function, void** extra) {
    const void* from = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        from = extra[1];
      else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = *static_cast<size_t*>(extra[1]);
      else
        demand(false, CUDA_ERROR_INVALID_VALUE, "extra holds ", extra[0],
               ", which is none of its keys");
    }
    const Program& program = program_of(*find_entry(function).kernel());
    demand(from != nullptr, CUDA_ERROR_INVALID_VALUE, "extra has no buffer");
    demand(bytes == program.parameter_bytes, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
           "the kernel takes ", program.parameter_bytes,
           " bytes, and extra has ", bytes);
    buffer.assign(static_cast<const char*>(from),
                  static_cast<const char*>(from) + bytes);
    for (const uint32_t offset : program.parameter_offsets)
      pointers.push_back(buffer.data() + offset);
  }
};

// arguments(function, given): what cudaLaunchKernel takes.
template <class Launch>
void launch_with(CUfunction handle, void** given, void** extra, Launch launch) {
  const void* const function = function_of(handle);
  demand(!given || !extra, CUDA_ERROR_INVALID_VALUE,
         "both kernelParams and extra are given");
  if (extra) {
    PackedArguments packed(function, extra);
    return pass(launch(function, packed.pointers.data()));
  }
  const Program& program = program_of(
      *find_entry(function, cudaErrorInvalidResourceHandle).kernel());
  demand(given || program.parameter_sizes.empty(), CUDA_ERROR_INVALID_VALUE,
         "the kernel has parameters, and kernelParams is null");
  pass(launch(function, given));
}

void tell_of_function(int* value, CUfunction_attribute which,
                      CUfunction handle) {
  demand(value != nullptr, CUDA_ERROR_INVALID_VALUE, "pi is null");
  cudaFuncAttributes facts;
  pass(cudaFuncGetAttributes(&facts, function_of(handle)));
  const std::map<CUfunction_attribute, int> all = {
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, facts.maxThreadsPerBlock},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, int(facts.sharedSizeBytes)},
      {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, int(facts.constSizeBytes)},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, int(facts.localSizeBytes)},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, facts.numRegs},
      {CU_FUNC_ATTRIBUTE_PTX_VERSION, facts.ptxVersion},
      {CU_FUNC_ATTRIBUTE_BINARY_VERSION, facts.binaryVersion},
      {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, facts.cacheModeCA},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
       facts.maxDynamicSharedSizeBytes},
      {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
       facts.preferredShmemCarveout},
      {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, facts.clusterDimMustBeSet},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, facts.requiredClusterWidth},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, facts.requiredClusterHeight},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, facts.requiredClusterDepth},
      {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
       facts.nonPortableClusterSizeAllowed},
      {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
       facts.clusterSchedulingPolicyPreference}};
  const auto found = all.find(which);
  demand(found != all.end(), CUDA_ERROR_INVALID_VALUE, "attribute ", int(which),
         " is none of functions");
  *value = found->second;
}

// The block that fills most of a multiprocessor; of several, the largest.
void suggest_block(int* grid, int* block, CUfunction handle,
                   CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  demand(grid && block, CUDA_ERROR_INVALID_VALUE,
         "minGridSize or blockSize is null");
  const void* const function = function_of(handle);
  cudaFuncAttributes facts;
  pass(cudaFuncGetAttributes(&facts, function));
  int most = facts.maxThreadsPerBlock;
  if (limit > 0) most = std::min(most, limit);
  int best = 0, best_blocks = 0;
  for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
    const int tried = std::min(threads, most);
    int blocks = 0;
    pass(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, tried, shared_of ? shared_of(tried) : shared));
    if (blocks * tried <= best * best_blocks) continue;
    best = tried;
    best_blocks = blocks;
  }
  int multiprocessors = 0;
  pass(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                              current_device()));
  *block = best;
  *grid = best_blocks * multiprocessors;
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

// ---- Modules ----------------------------------------------------------------

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return drive([&] {
    demand(module != nullptr, CUDA_ERROR_INVALID_VALUE, "module is null");
    *module = load_file(file);
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return drive([&] {
    demand(module != nullptr, CUDA_ERROR_INVALID_VALUE, "module is null");
    *module = load_image(image);
  });
}

// The options are for a compiler that there is none of, but for where to say
// what is wrong.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return drive([&] {
    demand(module != nullptr && (count == 0 || (options && values)),
           CUDA_ERROR_INVALID_VALUE, "module, options or optionValues is null");
    const ErrorLog log(count, options, values);
    for (unsigned k = 0; k < count; ++k)
      if (options[k] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
          options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        values[k] = nullptr;  // so many bytes were written
    *module = load_image(image, log);
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return drive([&] {
    demand(module != nullptr, CUDA_ERROR_INVALID_VALUE, "module is null");
    *module = load_image(image);
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return drive([&] { unload(module); });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                             const char* name) {
  return drive([&] {
    demand(function && name && *name, CUDA_ERROR_INVALID_VALUE,
           "hfunc or name is null, or name is empty");
    *function = find_function(module, name);
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module,
                           const char* name) {
  return drive([&] {
    demand(name != nullptr && (address || bytes), CUDA_ERROR_INVALID_VALUE,
           "name is null, or both answers are");
    if (bytes) *bytes = 0;
    demand(std::ranges::count(kernels_of(module), name) == 0,
           CUDA_ERROR_INVALID_VALUE, name, " is a kernel, and no variable");
    const DeviceVariable found = find_global(module, name);
    if (address) *address = reinterpret_cast<CUdeviceptr>(found.address);
    if (bytes) *bytes = found.bytes;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return drive(Needs::kDriver, [&] {
    demand(mode != nullptr, CUDA_ERROR_INVALID_VALUE, "mode is null");
    *mode = CU_MODULE_LAZY_LOADING;
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return drive([&] {
    demand(count != nullptr, CUDA_ERROR_INVALID_VALUE, "count is null");
    *count = unsigned(kernels_of(module).size());
  });
}

// ---- Functions and launches -------------------------------------------------

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return drive([&] {
    demand(module != nullptr, CUDA_ERROR_INVALID_VALUE, "hmod is null");
    function_of(function);
    const std::lock_guard lock(loaded_modules().mutex);
    const auto found = loaded_modules().functions.find(function);
    if (found == loaded_modules().functions.end())
      throw Lacking{"module of a kernel of the program's own"};
    *module = reinterpret_cast<CUmodule>(found->second->module);
  });
}

#if CUDA_VERSION >= 12040
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return drive([&] { pass(cudaFuncGetName(name, function_of(function))); });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t which, size_t* offset,
                            size_t* bytes) {
  return drive([&] {
    pass(cudaFuncGetParamInfo(function_of(function), which, offset, bytes));
  });
}
#endif

// Everything is loaded.
CUresult cuFuncLoad(CUfunction function) {
  return drive([&] { function_of(function); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which,
                            CUfunction function) {
  return drive([&] { tell_of_function(value, which, function); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value) {
  return drive([&] {
    pass(cudaFuncSetAttribute(function_of(function),
                              static_cast<cudaFuncAttribute>(which), value));
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return drive([&] {
    pass(cudaFuncSetCacheConfig(function_of(function),
                                static_cast<cudaFuncCache>(config)));
  });
}

// Banks have had one width for long.
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return drive([&] { function_of(function); });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, CUstream stream,
                        void** arguments, void** extra) {
  return drive([&] {
    launch_with(function, arguments, extra,
                [&](const void* kernel, void** given) {
                  return cudaLaunchKernel(kernel, {grid_x, grid_y, grid_z},
                                          {block_x, block_y, block_z}, given,
                                          shared, stream);
                });
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                   unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared,
                                   CUstream stream, void** arguments) {
  return drive([&] {
    launch_with(
        function, arguments, nullptr, [&](const void* kernel, void** given) {
          return cudaLaunchCooperativeKernel(kernel, {grid_x, grid_y, grid_z},
                                             {block_x, block_y, block_z}, given,
                                             shared, stream);
        });
  });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return drive([&] { pass(cudaGraphCreate(graph, flags)); });
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph,
                              const CUgraphNode* after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* given) {
  return drive([&] {
    demand(given != nullptr, CUDA_ERROR_INVALID_VALUE, "nodeParams is null");
    const CUDA_KERNEL_NODE_PARAMS& g = *given;
    const auto function =
        g.func ? g.func : reinterpret_cast<CUfunction>(g.kern);
    launch_with(function, g.kernelParams, g.extra,
                [&](const void* kernel, void** arguments) {
                  const cudaKernelNodeParams p = {
                      const_cast<void*>(kernel),
                      {g.gridDimX, g.gridDimY, g.gridDimZ},
                      {g.blockDimX, g.blockDimY, g.blockDimZ},
                      g.sharedMemBytes,
                      arguments,
                      nullptr};
                  return cudaGraphAddKernelNode(node, graph, after, count, &p);
                });
  });
}

// The attributes of both APIs are the same.
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                          void** arguments, void** extra) {
  return drive([&] {
    demand(config != nullptr, CUDA_ERROR_INVALID_VALUE, "config is null");
    cudaLaunchConfig_t c = {};
    c.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
    c.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
    c.dynamicSmemBytes = config->sharedMemBytes;
    c.stream = config->hStream;
    c.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
    c.numAttrs = config->numAttrs;
    launch_with(function, arguments, extra,
                [&](const void* kernel, void** given) {
                  return cudaLaunchKernelExC(&c, kernel, given);
                });
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                     CUfunction function,
                                                     int threads,
                                                     size_t shared) {
  return drive([&] {
    pass(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, function_of(function), threads, shared));
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, size_t shared,
    unsigned flags) {
  return drive([&] {
    pass(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, function_of(function), threads, shared, flags));
  });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                 CUfunction function,
                                                 int blocks, int threads) {
  return drive([&] {
    pass(cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function_of(function),
                                                   blocks, threads));
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block,
                                          CUfunction function,
                                          CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
  return drive([&] {
    demand(limit >= 0, CUDA_ERROR_INVALID_VALUE, "blockSizeLimit is ", limit);
    suggest_block(grid, block, function, shared_of, shared, limit);
  });
}

// The handle of a __global__ function of the program's own.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return answer([&] {
    require(function != nullptr, cudaErrorInvalidValue, "functionPtr is null");
    find_entry(symbol, cudaErrorInvalidDeviceFunction);
    *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  });
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version,
                          cuuint64_t, CUdriverProcAddressQueryResult* status) {
  return drive(Needs::kNothing, [&] {
    demand(symbol && function, CUDA_ERROR_INVALID_VALUE,
           "symbol or pfn is null");
    *function = nullptr;
    if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    *function = driver_function(symbol, unsigned(version));
    if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  });
}

}  // extern "C"

namespace simt {
namespace {

// Calls whose parameters changed with a version of CUDA. Our newest is as they
// are `since` then, our oldest as they were `before` then; what lies between
// the two is missing.
struct Changed {
  unsigned since, before = 0;
};

const std::map<std::string_view, Changed>& changed_calls() {
  static const std::map<std::string_view, Changed> all = {
#if CUDA_VERSION >= 13000
    {"cuCtxCreate", {12050, 11040}},
    {"cuCtxGetDevice", {13000, 13000}},
    {"cuCtxSynchronize", {13000, 13000}},
    {"cuGetProcAddress", {12000}},
    {"cuGraphAddDependencies", {12030}},
    {"cuGraphAddKernelNode", {12000}},
    {"cuGraphAddNode", {12030}},
    {"cuGraphExecKernelNodeSetParams", {12000}},
    {"cuGraphExecUpdate", {12000}},
    {"cuGraphGetEdges", {12030}},
    {"cuGraphInstantiate", {11000}},
    {"cuGraphKernelNodeGetParams", {12000}},
    {"cuGraphKernelNodeSetParams", {12000}},
    {"cuGraphNodeGetDependencies", {12030}},
    {"cuGraphNodeGetDependentNodes", {12030}},
    {"cuGraphRemoveDependencies", {12030}},
    {"cuMemAdvise", {12020}},
    {"cuMemPrefetchAsync", {12020}},
    {"cuMemcpy3DBatchAsync", {13000}},
    {"cuMemcpyBatchAsync", {13000}},
    {"cuStreamBeginCapture", {10010}},
    {"cuStreamGetCaptureInfo", {12030}},
    {"cuStreamGetCtx", {12050}},
    {"cuStreamUpdateCaptureDependencies", {12030}},
#endif
  };
  return all;
}

}  // namespace

void* driver_function(std::string_view name, unsigned version) {
  static const auto* const all = [] {
    auto* const made = new std::multimap<std::string_view, void (*)()>;
    for (const auto* c = simt_driver_calls; c->name; ++c)
      made->emplace(c->name, c->call);
    return made;
  }();
  const auto [oldest, end] = all->equal_range(name);
  if (oldest == end) throw Lacking{text(name, " among the driver API's calls")};
  const auto changed = changed_calls().find(name);
  const bool is_old =
      changed != changed_calls().end() && version < changed->second.since;
  if (is_old && version >= changed->second.before)
    throw Lacking{text(name, " as it was in CUDA ", version / 1000, '.',
                       version % 1000 / 10)};
  return reinterpret_cast<void*>(is_old ? oldest->second
                                        : std::prev(end)->second);
}

}  // namespace simt
