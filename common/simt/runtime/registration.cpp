// Registration: what nvcc's host code calls before main, in no order that could
// be relied on. Nothing is read here but addresses and names; a fat binary is
// opened when the program first needs something from it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <vector>

#include "common/simt/core/device.h"
#include "common/simt/core/settings.h"
#include "common/simt/decode/decode.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/fat_binary.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr char kHowToBuild[] =
    "build with -gencode arch=compute_90,code=compute_90 --no-compress";

}  // namespace

struct ManagedVariable {
  void** host_pointer;
  std::string name;
};

struct FatBinary {
  std::vector<const uint8_t*> data;  // of several files if those are linked
  bool is_linked = false;
  std::vector<ManagedVariable> managed;
  std::mutex mutex;
  std::array<Module*, settings::kMostDevices> modules = {};
  int ptx_version = 0;
  Placed placed;  // managed variables

  Module* load(int device);
};

namespace {

struct Symbol {
  FatBinary* binary;
  std::string name;
};

// Never destroyed: destructors of the program may still launch kernels.
struct Registry {
  std::mutex mutex;
  std::map<const void*, Entry> entries;  // by the host stub's address
  std::set<const void*> kernels;         // cudaKernel_t: Entry addresses
  std::map<const void*, Symbol> symbols;
  std::vector<FatBinary*> binaries;
  size_t looked_at = 0;         // of these, for what kernels wait by
  FatBinary* linked = nullptr;  // null: no file asks for that
};
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

const fat::Image& image_at(const uint8_t* at) {
  return *reinterpret_cast<const fat::Image*>(at);
}

// The newest PTX that the device could take; or, since we run any, the oldest.
bool better(const fat::Image& image, const fat::Image& than) {
  const ModelDevice& device = model_device();
  const uint32_t limit = 10 * device.major + device.minor;
  if (image.architecture > limit) {
    return image.architecture < than.architecture;
  }
  return than.architecture > limit || image.architecture > than.architecture;
}

// One of several that are the same program; or all, where they are its parts.
std::vector<const fat::Image*> choose_ptx(const uint8_t* data) {
  const auto& header = *reinterpret_cast<const fat::Header*>(data);
  require(data != nullptr && header.magic == fat::kHeaderMagic,
          cudaErrorInvalidKernelImage,
          "the program's fat binary is not one that nvcc writes");
  const uint8_t* at = data + header.header_bytes;
  const uint8_t* const end = at + header.bytes;
  const fat::Image* best = nullptr;
  std::vector<const fat::Image*> all;
  while (at + sizeof(fat::Image) <= end) {
    const fat::Image& image = image_at(at);
    all.push_back(&image);
    if (image.kind == fat::kPtx && (!best || better(image, *best)))
      best = &image;
    at += image.header_bytes + image.bytes;
  }
  require(best != nullptr, cudaErrorNoKernelImageForDevice,
          "the program holds machine code but no PTX to execute; ",
          kHowToBuild);
  require((best->flags & fat::kCompressed) == 0,
          cudaErrorNoKernelImageForDevice, "the program's PTX is compressed; ",
          kHowToBuild);
  if (header.version == fat::kLinked) return all;
  return {best};
}

std::string_view text_of(const fat::Image& ptx) {
  const auto* text = reinterpret_cast<const char*>(&ptx) + ptx.header_bytes;
  return {text, strnlen(text, ptx.bytes)};
}

// What nvcc would say to ptxas.
std::string_view options_of(const fat::Image& ptx) {
  const auto* header = reinterpret_cast<const char*>(&ptx);
  fat::Text text = {};
  if (ptx.options_at != 0 && ptx.options_at + sizeof text <= ptx.header_bytes)
    std::memcpy(&text, header + ptx.options_at, sizeof text);
  const bool fits = uint64_t{text.at} + text.bytes <= ptx.header_bytes;
  return fits ? std::string_view(header + text.at, text.bytes)
              : std::string_view();
}

FatBinary* binary_of(void** handle) {
  return reinterpret_cast<FatBinary*>(handle);
}
void** handle_of(FatBinary* binary) { return reinterpret_cast<void**>(binary); }

void add_data(FatBinary& binary, const void* wrapper) {
  const auto& wrapped = *static_cast<const fat::Wrapper*>(wrapper);
  const bool known = wrapped.magic == fat::kWrapperMagic;
  binary.data.push_back(known ? wrapped.data : nullptr);
}

// Whether it holds PTX by which kernels wait for those in front of them.
bool has_grid_control(const uint8_t* data) {
  constexpr std::string_view kName = "griddepcontrol";
  const auto& header = *reinterpret_cast<const fat::Header*>(data);
  return data != nullptr && header.magic == fat::kHeaderMagic &&
         memmem(data + header.header_bytes, header.bytes, kName.data(),
                kName.size()) != nullptr;
}

std::atomic<bool> launched_early = false;

bool any_has_grid_control() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (; all.looked_at < all.binaries.size(); ++all.looked_at)
    if (std::ranges::any_of(all.binaries[all.looked_at]->data,
                            has_grid_control))
      launched_early = true;
  return launched_early;
}

}  // namespace

void note_early_launch() { launched_early = true; }

bool kernels_may_begin_early() {
  return launched_early || any_has_grid_control();
}

Module* FatBinary::load(int device) {
  const std::lock_guard lock(mutex);
  if (modules[device] != nullptr) return modules[device];
  std::vector<PtxFile> files;
  for (const uint8_t* one : data) {
    for (const fat::Image* ptx : choose_ptx(one)) {
      files.push_back({text_of(*ptx), options_of(*ptx)});
      ptx_version = ptx->architecture;
    }
  }
  Module* loaded =
      load_module(files, device, placed, is_linked || files.size() > 1);
  for (const ManagedVariable& variable : managed) {
    void* address = find_variable(loaded, variable.name).address;
    placed[variable.name] = reinterpret_cast<uint64_t>(address);
    allocations().make_managed(placed[variable.name]);
    *variable.host_pointer = address;
  }
  return modules[device] = loaded;
}

void forget_modules(int device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (FatBinary* binary : all.binaries) {
    const std::lock_guard loading(binary->mutex);
    binary->modules[device] = nullptr;
  }
}

Kernel* Entry::kernel() {
  Kernel* found = find_kernel(binary->load(current_device()), mangled);
  require(found != nullptr, cudaErrorInvalidDeviceFunction,
          "the PTX holds no kernel ", mangled);
  return found;
}

std::vector<std::string> kernel_names(void** handle) {
  return kernel_names(binary_of(handle)->load(current_device()));
}

void read_kernels(void** handle) {
  Module* const module = binary_of(handle)->load(current_device());
  for (const std::string& name : kernel_names(module))
    program_of(*find_kernel(module, name));
}

int Entry::ptx_version() const { return binary->ptx_version; }

Entry& find_entry(const void* function, cudaError_t otherwise) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.kernels.contains(function)) {
    return *const_cast<Entry*>(static_cast<const Entry*>(function));
  }
  const auto found = all.entries.find(function);
  require(found != all.entries.end(),
          function ? otherwise : cudaErrorInvalidDeviceFunction,
          "this is no __global__ function of the program");
  return found->second;
}

Entry& entry_of(const Kernel& kernel) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (auto& [function, entry] : all.entries)
    if (entry.mangled == kernel.text->name &&
        std::ranges::count(entry.binary->modules, kernel.module))
      return entry;
  throw Error(kernel.name + " was not registered by the host's code");
}

DeviceVariable find_symbol(const void* symbol, int device) {
  // A __managed__ variable's address is the same on the host.
  const auto address = reinterpret_cast<uint64_t>(symbol);
  const auto managed = allocations().find(address);
  if (managed && managed->is_variable() && managed->begin == address) {
    return {const_cast<void*>(symbol), managed->bytes(), false};
  }
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  const auto found = all.symbols.find(symbol);
  require(found != all.symbols.end(), cudaErrorInvalidSymbol,
          "this is no __device__ or __constant__ variable; pass the variable "
          "itself, not its name or an address taken on the host");
  const Symbol wanted = found->second;
  lock.unlock();
  const DeviceVariable variable =
      find_variable(wanted.binary->load(device), wanted.name);
  require(variable.address != nullptr, cudaErrorInvalidSymbol,
          "the PTX holds no variable ", wanted.name,
          "; device code that never uses it lets nvcc drop it");
  return variable;
}

}  // namespace simt

using namespace simt;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* binary = new FatBinary;
  add_data(*binary, wrapper);
  const std::lock_guard lock(registry().mutex);
  registry().binaries.push_back(binary);
  return handle_of(binary);
}

// With -rdc=true each file calls a function of its own name, for nvlink to
// make. Here the linker is told that all of those are this one; `callback`
// registers what the file has.
void __cudaRegisterLinkedBinary(void (*callback)(void**), void* wrapper, void*,
                                void (*)(void*)) {
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  if (all.linked == nullptr) {
    all.binaries.push_back(all.linked = new FatBinary);
    all.linked->is_linked = true;
  }
  add_data(*all.linked, wrapper);
  lock.unlock();
  callback(handle_of(all.linked));
}

void __cudaRegisterFatBinaryEnd(void**) {}

// The program is ending; what it still launches while it does may run.
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** handle, const char* host, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Entry& entry = all.entries[host];
  entry = {host, binary_of(handle), name, {}};
  all.kernels.insert(&entry);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                       size_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  registry().symbols[host] = {binary_of(handle), name};
}

// The host's own variable is a pointer, which must be set before it is used;
// nvcc's code calls __cudaInitModule before each first use.
void __cudaRegisterManagedVar(void** handle, void** host, char*,
                              const char* name, int, size_t, int, int) {
  binary_of(handle)->managed.push_back({host, name});
}

char __cudaInitModule(void** handle) {
  return answer([&] { binary_of(handle)->load(current_device()); }) ==
         cudaSuccess;
}

// A static of the stub keeps the handle; the launch says what is wrong with it.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return answer_always([&] {
    *kernel = reinterpret_cast<cudaKernel_t>(
        &find_entry(function, cudaErrorInvalidDeviceFunction));
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

}  // extern "C"
