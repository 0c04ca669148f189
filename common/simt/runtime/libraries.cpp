// Device code that a program loads or links itself: libraries, which both APIs
// have and which are modules under another name; and several PTX texts that
// become one module (cuLink...).
#include <cstring>
#include <fstream>
#include <iterator>

#include "common/simt/decode/link.h"
#include "common/simt/decode/parse.h"
#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

CUmodule module_behind(CUlibrary library) {
  return reinterpret_cast<CUmodule>(library);
}
CUfunction function_behind(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

void keep_library(CUlibrary* library, CUmodule module) {
  demand(library != nullptr, CUDA_ERROR_INVALID_VALUE, "library is null");
  *library = reinterpret_cast<CUlibrary>(module);
}

void find_in_library(CUkernel* kernel, CUlibrary library, const char* name) {
  demand(kernel && name, CUDA_ERROR_INVALID_VALUE, "pKernel or name is null");
  *kernel =
      reinterpret_cast<CUkernel>(find_function(module_behind(library), name));
}

void tell_global(void** address, size_t* bytes, CUlibrary library,
                 const char* name) {
  demand(name != nullptr && (address || bytes), CUDA_ERROR_INVALID_VALUE,
         "name is null, or both answers are");
  const DeviceVariable found = find_global(module_behind(library), name);
  if (address) *address = found.address;
  if (bytes) *bytes = found.bytes;
}

void count_kernels(unsigned* count, CUlibrary library) {
  demand(count != nullptr, CUDA_ERROR_INVALID_VALUE, "count is null");
  *count = unsigned(kernels_of(module_behind(library)).size());
}

void list_kernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  demand(kernels != nullptr, CUDA_ERROR_INVALID_VALUE, "kernels is null");
  for (const std::string& name : kernels_of(module_behind(library)))
    if (most-- > 0)
      find_in_library(kernels++, library, name.c_str());
    else
      return;
}

// ---- Links ------------------------------------------------------------------

struct LinkInput {
  std::vector<std::string> texts;
  std::vector<char> image;  // what came of them
  ErrorLog log;
};
using LinkPointer = std::shared_ptr<LinkInput>;

Handles<CUlinkState, LinkPointer>& links() {
  static auto* all = new Handles<CUlinkState, LinkPointer>;
  return *all;
}

LinkInput& link_behind(CUlinkState state) {
  const auto found = links().find(state);
  demand(found.has_value(), CUDA_ERROR_INVALID_HANDLE, state,
         " is no link, or one that was destroyed");
  return **found;
}

void add_to_link(LinkInput& link, CUjitInputType type, std::string data) {
  if (type != CU_JIT_INPUT_PTX)
    throw Lacking{"links of anything but PTX; give it the PTX of each part"};
  while (data.ends_with('\0')) data.pop_back();
  try {
    parse_ptx(data);
  } catch (const Error& error) {
    link.log.write(error.what());
    throw Refused{cudaErrorInvalidPtx, error.what()};
  }
  link.texts.push_back(std::move(data));
}

// What kernels call of the runtime is the executor's own.
bool is_device_runtime(const char* file) {
  return std::strstr(file, "cudadevrt") != nullptr;
}

void complete(LinkInput& link) {
  try {
    std::vector<PtxFile> files;
    for (const std::string& text : link.texts) files.push_back({text});
    simt::link(files);
  } catch (const Error& error) {
    link.log.write(error.what());
    throw Refused{static_cast<cudaError_t>(CUDA_ERROR_INVALID_SOURCE),
                  error.what()};
  }
  link.image = linked_image(link.texts);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

// ---- Libraries: the driver's ------------------------------------------------

// Options are for a compiler, and for when to load.
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*,
                           void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  return drive(Needs::kDriver,
               [&] { keep_library(library, load_image(code)); });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file,
                               CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return drive(Needs::kDriver, [&] { keep_library(library, load_file(file)); });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return drive(Needs::kDriver, [&] { unload(module_behind(library)); });
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library,
                            const char* name) {
  return drive(Needs::kDriver, [&] { find_in_library(kernel, library, name); });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return drive(Needs::kDriver, [&] { count_kernels(count, library); });
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most,
                                   CUlibrary library) {
  return drive(Needs::kDriver, [&] { list_kernels(kernels, most, library); });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes,
                            CUlibrary library, const char* name) {
  return drive([&] {
    tell_global(reinterpret_cast<void**>(address), bytes, library, name);
  });
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return drive([&] {
    demand(module != nullptr, CUDA_ERROR_INVALID_VALUE, "pMod is null");
    kernels_of(module_behind(library));  // refuses what is none
    *module = module_behind(library);
  });
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return drive([&] {
    demand(function && kernel, CUDA_ERROR_INVALID_VALUE,
           "pFunc or kernel is null");
    *function = function_behind(kernel);
  });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which,
                              CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, which, function_behind(kernel));
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value,
                              CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(function_behind(kernel), which, value);
}
#if CUDA_VERSION >= 12040
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, function_behind(kernel));
}
#endif

// ---- The runtime's ----------------------------------------------------------

#if CUDART_VERSION >= 12080
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return answer([&] { keep_library(library, load_image(code)); });
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file,
                                    cudaJitOption*, void**, unsigned,
                                    cudaLibraryOption*, void**, unsigned) {
  return answer([&] { keep_library(library, load_file(file)); });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return answer([&] { unload(module_behind(library)); });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library,
                                 const char* name) {
  return answer([&] { find_in_library(kernel, library, name); });
}
cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return answer([&] { count_kernels(count, library); });
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned most,
                                        cudaLibrary_t library) {
  return answer([&] { list_kernels(kernels, most, library); });
}
cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes,
                                 cudaLibrary_t library, const char* name) {
  return answer([&] { tell_global(address, bytes, library, name); });
}
#endif

// ---- Links ------------------------------------------------------------------

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values,
                      CUlinkState* state) {
  return drive([&] {
    demand(state != nullptr && (count == 0 || (options && values)),
           CUDA_ERROR_INVALID_VALUE,
           "stateOut, options or optionValues is null");
    const ErrorLog log(count, options, values);
    *state =
        links().create(std::make_shared<LinkInput>(LinkInput{{}, {}, log}));
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data,
                       size_t bytes, const char*, unsigned, CUjit_option*,
                       void**) {
  return drive([&] {
    demand(data != nullptr, CUDA_ERROR_INVALID_VALUE, "data is null");
    add_to_link(link_behind(state), type,
                {static_cast<const char*>(data), bytes});
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* name,
                       unsigned, CUjit_option*, void**) {
  return drive([&] {
    LinkInput& link = link_behind(state);
    demand(name != nullptr, CUDA_ERROR_INVALID_VALUE, "path is null");
    if (is_device_runtime(name)) return;
    std::ifstream file(name, std::ios::binary);
    demand(file.good(), CUDA_ERROR_FILE_NOT_FOUND, "there is no file ", name);
    add_to_link(link, type, {std::istreambuf_iterator<char>(file), {}});
  });
}

// What it gives is a fat binary of PTX, and no machine code.
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return drive([&] {
    LinkInput& link = link_behind(state);
    demand(image != nullptr, CUDA_ERROR_INVALID_VALUE, "cubinOut is null");
    complete(link);
    *image = link.image.data();
    if (bytes) *bytes = link.image.size();
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return drive([&] {
    link_behind(state);
    links().destroy(state);
  });
}

}  // extern "C"
