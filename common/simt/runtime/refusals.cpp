// Functions of the CUDA runtime and driver API that the executor lacks. The
// build writes one for each, with refusals.sh; all of them end here.
#include <string_view>

#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

// What is missing, by a word of the call's name. The first that fits counts.
constexpr struct {
  std::string_view word, what;
} kMissing[] = {
    {"_ptsz", "calls of the driver for a default stream of each thread"},
    {"_ptds", "calls of the driver for a default stream of each thread"},
    {"Ipc", "memory or events that processes share"},
    {"External", "memory or semaphores of other libraries"},
    {"Graphics", "memory that it shares with graphics"},
    {"Mipmapped", "such call for mipmapped arrays"},
    {"Texture", "such call for textures"},
    {"Array", "such call for arrays"},
    {"Graph", "such call for graphs"},
    {"Capture", "such call for graphs"},
    {"MemPool", "such call for memory pools"},
    {"Library", "such call for libraries"},
    {"ExportTable", "table of what the driver keeps to itself"},
};

std::string_view missing(std::string_view call) {
  for (const auto& one : kMissing) {
    if (call.find(one.word) != call.npos) return one.what;
  }
  return "such call";
}

}  // namespace
}  // namespace simt

// `name` is that of the function in the library. The codes of both APIs are the
// same numbers.
extern "C" cudaError_t simt_refuse(const char* name) {
  std::string_view call = name;
  const auto lacks = [&] {
    throw simt::Lacking{std::string(simt::missing(call))};
  };
  if (!call.starts_with("cuda"))
    return static_cast<cudaError_t>(
        simt::drive(simt::Needs::kNothing, lacks, name));
  for (const std::string_view end : {"_ptsz", "_ptds"}) {
    if (call.ends_with(end)) call.remove_suffix(end.size());
  }
  const std::string said(call);
  return simt::answer(lacks, said.c_str());
}

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(
    int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
