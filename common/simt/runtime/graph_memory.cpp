// Graphs that allocate and free memory. A node's memory has its address from
// the beginning, and is there from the node on until it is freed: by another
// node, by a call, or before the graph is launched anew.
#include <algorithm>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"

namespace simt {
namespace {

// Of each device: what graphs have, and the most they had.
struct Usage {
  uint64_t now = 0, most = 0, reserved = 0, most_reserved = 0;
};
Usage& usage_of(int device) {
  static auto* all = new std::map<int, Usage>;
  return (*all)[device];
}
std::mutex& usage_mutex() {
  static auto* one = new std::mutex;
  return *one;
}

uint64_t number(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

std::optional<Allocation> kept_at(const void* pointer) {
  const auto found = allocations().find(number(pointer));
  const bool ours = found && found->kept && found->begin == number(pointer);
  return ours ? found : std::nullopt;
}

void note_allocated(int device, uint64_t bytes) {
  const std::lock_guard lock(usage_mutex());
  Usage& u = usage_of(device);
  u.now += bytes;
  u.most = std::max(u.most, u.now);
  u.reserved = std::max(u.reserved, u.now);
  u.most_reserved = std::max(u.most_reserved, u.reserved);
}

void occupy(const GraphMemory& memory) {
  const auto& [place, bytes] =
      std::pair(memory.parameters.dptr, memory.parameters.bytesize);
  require(allocations().occupy(number(place)), cudaErrorMemoryAllocation,
          "the graph cannot allocate ", bytes,
          " bytes: ", allocations().describe(number(place)));
  note_allocated(memory.parameters.poolProps.location.id, bytes);
  note_touched(place, bytes, Use::kStore, {}, "allocates");
}

uint64_t& attribute_of(Usage& u, cudaGraphMemAttributeType which) {
  switch (which) {
    case cudaGraphMemAttrUsedMemCurrent:
      return u.now;
    case cudaGraphMemAttrUsedMemHigh:
      return u.most;
    case cudaGraphMemAttrReservedMemCurrent:
      return u.reserved;
    case cudaGraphMemAttrReservedMemHigh:
      return u.most_reserved;
    default:
      throw Refused{cudaErrorInvalidValue, text("attribute ", int(which),
                                                " is none of graphs' memory")};
  }
}

}  // namespace

GraphMemory::GraphMemory(const cudaMemAllocNodeParams& given)
    : parameters(given) {
  parameters.dptr =
      allocate(given.bytesize, Memory::kPool, "a graph's allocation");
  allocations().keep(number(parameters.dptr));
}

// What was left by the last launch stays until somebody frees it.
GraphMemory::~GraphMemory() { allocations().abandon(number(parameters.dptr)); }

Work allocation_work(cudaMemAllocNodeParams& given) {
  require(given.bytesize != 0, cudaErrorInvalidValue, "bytesize is 0");
  require(given.poolProps.allocType == cudaMemAllocationTypePinned &&
              given.poolProps.location.type == cudaMemLocationTypeDevice,
          cudaErrorInvalidValue,
          "poolProps should ask for pinned memory of a device");
  require(given.poolProps.location.id == current_device(),
          cudaErrorInvalidValue,
          "a graph allocates memory of the current device here");
  const auto memory = std::make_shared<const GraphMemory>(given);
  given = memory->parameters;
  Work work = {cudaGraphNodeTypeMemAlloc, [memory] { occupy(*memory); }};
  work.memory = memory;
  return work;
}

Work allocation_work(size_t bytes, void** address) {
  cudaMemAllocNodeParams parameters = {};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location = {cudaMemLocationTypeDevice,
                                   {current_device()}};
  parameters.bytesize = bytes;
  Work work = allocation_work(parameters);
  *address = parameters.dptr;
  return work;
}

Work release_work(void* address) {
  require(kept_at(address).has_value(), cudaErrorInvalidValue, address,
          " is nothing that a graph allocates, but ",
          allocations().describe(number(address)));
  Work work = {cudaGraphNodeTypeMemFree,
               [address] { free_in_stream(address); }};
  work.frees = address;
  return work;
}

void note_graph_memory_freed(const Allocation& freed) {
  const std::lock_guard lock(usage_mutex());
  usage_of(freed.device).now -= freed.bytes();
}

std::vector<void*> left_by(const std::vector<const Work*>& nodes) {
  std::vector<void*> left;
  for (const Work* node : nodes)
    if (node->memory) left.push_back(node->memory->parameters.dptr);
  for (const Work* node : nodes) std::erase(left, node->frees);
  return left;
}

void clear_for_launch(const std::vector<void*>& left, bool frees,
                      cudaStream_t stream) {
  const auto is_there = [](void* address) {
    const auto found = kept_at(address);
    return found && !found->freed;
  };
  for (void* address : left) {
    if (frees) {
      const Queue queue = queue_of(stream);
      const auto operation = begin_operation(queue, {"cudaGraphLaunch"});
      perform(queue, as_operation(operation, [=] {
                if (is_there(address)) free_in_stream(address);
              }));
    } else if (!there_are_tasks()) {  // What frees it may not have begun.
      require(!is_there(address), cudaErrorInvalidValue,
              "nobody freed what the graph's last launch allocated: ",
              allocations().describe(number(address)));
    }
  }
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* out) {
  return answer([&] {
    require(out != nullptr, cudaErrorInvalidValue, "params_out is null");
    const auto memory = node_of(node)->work.memory;
    require(memory != nullptr, cudaErrorInvalidValue,
            "the node allocates nothing");
    *out = memory->parameters;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return answer([&] {
    require(out != nullptr, cudaErrorInvalidValue, "dptr_out is null");
    void* const frees = node_of(node)->work.frees;
    require(frees != nullptr, cudaErrorInvalidValue, "the node frees nothing");
    *static_cast<void**>(out) = frees;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return answer([&] {
    require_device(device);
    const std::lock_guard lock(usage_mutex());
    Usage& u = usage_of(device);
    u.reserved = u.now;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                           cudaGraphMemAttributeType which,
                                           void* value) {
  return answer([&] {
    require_device(device);
    require(value != nullptr, cudaErrorInvalidValue, "value is null");
    const std::lock_guard lock(usage_mutex());
    *static_cast<uint64_t*>(value) = attribute_of(usage_of(device), which);
  });
}

// Only the highest values can be set, and to 0: to what there is now.
cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                           cudaGraphMemAttributeType which,
                                           void* value) {
  return answer([&] {
    require_device(device);
    const std::lock_guard lock(usage_mutex());
    Usage& u = usage_of(device);
    const bool used = which == cudaGraphMemAttrUsedMemHigh;
    require(value != nullptr && *static_cast<uint64_t*>(value) == 0 &&
                (used || which == cudaGraphMemAttrReservedMemHigh),
            cudaErrorInvalidValue, "only a highest value can be set, and to 0");
    (used ? u.most : u.most_reserved) = used ? u.now : u.reserved;
  });
}

}  // extern "C"
