// What the files driver*.cpp share: how a call of the driver API answers, and
// whose it is.
#pragma once
#include <cuda.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/simt/runtime/runtime.h"

namespace simt {

// What calls of the runtime answered inside of it. The codes of both are the
// same numbers.
inline void pass(cudaError_t error) {
  if (error != cudaSuccess) throw Refused{error, ""};
}
template <class... Each>
void demand(bool holds, CUresult otherwise, const Each&... why) {
  require(holds, static_cast<cudaError_t>(otherwise), why...);
}

// What must be there before a call.
enum class Needs { kNothing, kDriver, kContext };
void require_ready(Needs needs);

CUresult drive(Needs needs, Body body,
               const char* call = __builtin_FUNCTION()) noexcept;
CUresult drive(Body body, const char* call = __builtin_FUNCTION()) noexcept;

// Memory of the calling thread's context: it is freed with it.
void note_of_context(CUdeviceptr memory);

// The call of that name as CUDA of that version declares it, 13000 being
// CUDA 13.0; lacking if there is none.
void* driver_function(std::string_view name, unsigned version);

// ---- Of driver_modules.cpp --------------------------------------------------

// Where the program wants to read what is wrong with its PTX, of the options
// of a load or a link.
class ErrorLog {
 public:
  ErrorLog() = default;
  ErrorLog(unsigned count, const CUjit_option* options, void** values);
  void write(const std::string& words) const;

 private:
  char* text_ = nullptr;
  size_t bytes_ = 0;
  void** written_ = nullptr;  // how many bytes of it are used
};

// PTX, or a fat binary that holds PTX; or a file of such.
CUmodule load_image(const void* image, const ErrorLog& log = {});
CUmodule load_file(const char* name);
void unload(CUmodule module);
// What it holds; refuses what is no module, and names that it does not have.
std::vector<std::string> kernels_of(CUmodule module);
CUfunction find_function(CUmodule module, const std::string& name);
DeviceVariable find_global(CUmodule module, const std::string& name);
// Several texts that are one module.
std::vector<char> linked_image(const std::vector<std::string>& texts);

inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace simt
