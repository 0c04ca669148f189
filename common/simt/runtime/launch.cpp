// Launching kernels: the checks CUDA makes, each with the reason it keeps to
// itself, and what becomes of a kernel that fails.
#include <algorithm>
#include <climits>
#include <vector>

#include "common/simt/core/device.h"
#include "common/simt/decode/decode.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/nested.h"
#include "common/simt/runtime/runtime.h"
#include "common/simt/runtime/tasks.h"

namespace simt {
namespace {

// CUDA 13 refuses with another code than its documents name and CUDA 11 and 12
// use (measured on an H200: CUDA 13.0, driver 580).
constexpr cudaError_t kBadShape = CUDART_VERSION >= 13000
                                      ? cudaErrorInvalidValue
                                      : cudaErrorInvalidConfiguration;

struct Configuration {
  dim3 grid, block;
  size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  int device = current_device();
  dim3 cluster = {0, 0, 0};  // none was asked for
  bool begins_early = false;
  std::optional<dim3> preferred_cluster = {};
  std::vector<cudaEvent_t> told = {};  // events that the launch records
};

// What stands between <<< and >>>, until the stub fetches it. Never destroyed:
// the program's static objects may launch kernels when they end.
thread_local std::vector<Configuration>& pushed =
    *new std::vector<Configuration>;
thread_local bool from_syntax = false;

std::string shape(dim3 d) { return text('(', d.x, ", ", d.y, ", ", d.z, ')'); }

void require_shape(const char* what, dim3 d, const int (&most)[3]) {
  const uint64_t size[3] = {d.x, d.y, d.z};
  for (int i = 0; i < 3; ++i) {
    require(size[i] != 0, kBadShape, "a ", what, " of ", shape(d), " is empty");
    require(size[i] <= uint64_t(most[i]), kBadShape, "a ", what, " of ",
            shape(d), " exceeds (", most[0], ", ", most[1], ", ", most[2], ')');
  }
}

uint64_t volume(dim3 d) { return uint64_t(d.x) * d.y * d.z; }

void require_threads(const Configuration& c, const KernelInfo& kernel) {
  const uint64_t threads = volume(c.block);
  require(threads <= uint64_t(kMaxThreads), kBadShape, "a block of ",
          shape(c.block), " has ", threads, " threads; the device allows ",
          kMaxThreads);
  require(threads <= kernel.max_threads, cudaErrorInvalidValue, "a block of ",
          threads, " threads exceeds the kernel's __launch_bounds__(",
          kernel.max_threads, ')');
}

void require_shared(const Configuration& c, const Entry& entry,
                    const KernelInfo& kernel) {
  const size_t allowed = dynamic_shared_limit(entry, kernel);
  require(c.dynamic_shared <= allowed,
          c.cooperative ? cudaErrorCooperativeLaunchTooLarge
                        : cudaErrorInvalidValue,
          c.dynamic_shared, " bytes of dynamic shared memory exceed ", allowed,
          " (beside ", kernel.static_shared, " static ones); up to ",
          int64_t(model_device().shared_opt_in) - int64_t(kernel.static_shared),
          " after cudaFuncSetAttribute(kernel, "
          "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)");
}

// A kernel that says how large its blocks are is launched with no others; one
// thread stands for them. It may say that a grid is counted in clusters.
void choose_block(Configuration& c, const KernelInfo& kernel) {
  if (kernel.block[0] == 0) return;
  const dim3 own(kernel.block[0], kernel.block[1], kernel.block[2]);
  require(volume(c.block) == 1 || shape(c.block) == shape(own),
          cudaErrorInvalidValue, "a block of ", shape(c.block),
          ", and the kernel's __block_size__ is ", shape(own));
  c.block = own;
  if (!kernel.blocks_are_clusters) return;
  const auto times = [](unsigned clusters, unsigned blocks) {
    return unsigned(std::min<uint64_t>(uint64_t{clusters} * blocks, UINT_MAX));
  };
  c.grid = {times(c.grid.x, kernel.cluster[0]),
            times(c.grid.y, kernel.cluster[1]),
            times(c.grid.z, kernel.cluster[2])};
}

// Blocks that wait for one another must all be on the device at once.
void require_resident(const Configuration& c, Kernel& kernel) {
  const int fitting = blocks_per_multiprocessor(info(&kernel), volume(c.block),
                                                c.dynamic_shared);
  const uint64_t resident =
      uint64_t(model_multiprocessors()) *
      limit_by_registers(fitting, kernel, volume(c.block));
  require(volume(c.grid) <= resident, cudaErrorCooperativeLaunchTooLarge,
          "a cooperative grid of ", volume(c.grid), " blocks; at most ",
          resident, " fit on the device at once");
}

// A kernel that says how large its clusters are is launched with no others.
void choose_cluster(Configuration& c, const KernelInfo& kernel) {
  const auto& wanted = kernel.cluster;
  if (wanted[0] == 0) {
    require(volume(c.cluster) != 0 || !kernel.wants_cluster,
            cudaErrorInvalidClusterSize,
            "the kernel wants to be launched with clusters");
    return;
  }
  const dim3 own(wanted[0], wanted[1], wanted[2]);
  require(volume(c.cluster) == 0 || shape(c.cluster) == shape(own),
          cudaErrorInvalidClusterSize, "clusters of ", shape(c.cluster),
          ", and the kernel's __cluster_dims__ are ", shape(own));
  c.cluster = own;
}

// Of a hint it is looked only whether it could be followed.
void require_preferred(const Configuration& c) {
  if (!c.preferred_cluster) return;
  const dim3 wanted = *c.preferred_cluster;
  require(volume(wanted) != 0 && wanted.x % c.cluster.x == 0 &&
              wanted.y % c.cluster.y == 0 && wanted.z % c.cluster.z == 0,
          cudaErrorInvalidClusterSize, "preferred clusters of ", shape(wanted),
          " do not consist of clusters of ", shape(c.cluster));
}

unsigned most_in_cluster(const Entry& entry) {
  return entry.non_portable_cluster[current_device()] ? kMostInCluster
                                                      : kMostInPortableCluster;
}

void require_cluster(const Configuration& c, const Entry& entry,
                     const KernelInfo& kernel) {
  const uint64_t blocks = volume(c.cluster);
  require(blocks != 0 || !c.preferred_cluster, cudaErrorInvalidClusterSize,
          "clusters are preferred, and none are asked for");
  if (blocks == 0) return;
  require(model_device().major >= 9 || blocks == 1, cudaErrorInvalidClusterSize,
          "the device has no clusters of blocks");
  const unsigned most = most_in_cluster(entry);
  require(blocks <= most, cudaErrorInvalidClusterSize, "a cluster of ",
          shape(c.cluster), " has ", blocks, " blocks; at most ", most,
          most == kMostInCluster
              ? " are possible"
              : " without cudaFuncAttributeNonPortableClusterSizeAllowed");
  require(kernel.most_in_cluster == 0 || blocks <= kernel.most_in_cluster,
          cudaErrorInvalidClusterSize, "a cluster of ", blocks,
          " blocks; the kernel's __launch_bounds__ allow ",
          kernel.most_in_cluster);
  require_preferred(c);
  require(kernel.blocks_are_clusters ||
              (c.grid.x % c.cluster.x == 0 && c.grid.y % c.cluster.y == 0 &&
               c.grid.z % c.cluster.z == 0),
          cudaErrorInvalidClusterSize, "a grid of ", shape(c.grid),
          " cannot be divided into clusters of ", shape(c.cluster));
}

void settle_cluster(Configuration& c, const Entry& entry,
                    const KernelInfo& kernel) {
  require(volume(c.cluster) != 0 || shape(c.cluster) == shape({0, 0, 0}),
          cudaErrorInvalidClusterSize, "a cluster of ", shape(c.cluster),
          " is empty");
  choose_cluster(c, kernel);
  require_cluster(c, entry, kernel);
}

LaunchShape shape_of(const Configuration& c) {
  LaunchShape shape{{c.grid.x, c.grid.y, c.grid.z},
                    {c.block.x, c.block.y, c.block.z},
                    c.dynamic_shared,
                    c.cooperative,
                    c.device,
                    current_task()};
  shape.explicit_cluster = volume(c.cluster) != 0;
  if (shape.explicit_cluster) {
    shape.cluster[0] = c.cluster.x;
    shape.cluster[1] = c.cluster.y;
    shape.cluster[2] = c.cluster.z;
  }
  shape.operation = current_operation();
  shape.begins_early = shape.operation && shape.operation->early;
  return shape;
}

// As on a GPU, where launches are asynchronous: the launch itself succeeds, and
// every later call reports the failure.
void run(Kernel* kernel, const Configuration& c, void** arguments) {
  static auto* one_at_a_time = new std::mutex;
  std::unique_lock lock(*one_at_a_time, std::defer_lock);
  if (current_task() == nullptr) lock.lock();  // Tasks have turns.
  try {
    if (program_of(*kernel).calls_runtime) {
      run_nested(kernel, shape_of(c), arguments);
    } else {
      const TimeLimit limit(kernel->name);
      run_kernel(kernel, shape_of(c), arguments);
    }
  } catch (const KernelFault& fault) {
    set_sticky_error(static_cast<cudaError_t>(fault.code));
  }
  tell_findings();
}

// A launch that may wait, and run more than once: it owns its arguments.
struct Call {
  Kernel* kernel;
  Configuration configuration;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<void*> pointers;  // to them
  cudaKernelNodeParams parameters = {};

  Call(Kernel* kernel, const void* function, const Configuration& c,
       void** given)
      : kernel(kernel), configuration(c) {
    for (const uint32_t bytes : program_of(*kernel).parameter_sizes) {
      const auto* from = static_cast<const std::byte*>(*given++);
      arguments.emplace_back(from, from + bytes);
    }
    for (auto& argument : arguments) pointers.push_back(argument.data());
    parameters.func = const_cast<void*>(function);
    parameters.gridDim = c.grid;
    parameters.blockDim = c.block;
    parameters.sharedMemBytes = c.dynamic_shared;
    parameters.kernelParams = pointers.data();
  }
};

void require_own(cudaStream_t stream) {
  const int device = queue_of(stream).device;
  require(device == current_device(), cudaErrorInvalidResourceHandle,
          "the stream is device ", device, "'s, and device ", current_device(),
          " is current; call cudaSetDevice(", device, ") before");
}

// What the launch is of, if it may be made.
Kernel* checked(Entry& entry, Configuration& c) {
  Kernel* const kernel = entry.kernel();
  const KernelInfo facts = info(kernel);
  try {
    require_own(c.stream);
    choose_block(c, facts);
    require_shape("grid", c.grid, kMaxGrid);
    require_shape("block", c.block, kMaxBlock);
    require_threads(c, facts);
    settle_cluster(c, entry, facts);
    require_shared(c, entry, facts);
    if (c.cooperative) require_resident(c, *kernel);
  } catch (const Refused& refused) {
    throw Refused{refused.code, text(facts.name, ": ", refused.why)};
  }
  return kernel;
}

Work work_of(const void* function, Configuration c, void** arguments) {
  Entry& entry = find_entry(function);
  Kernel* const kernel = checked(entry, c);
  require(arguments != nullptr || program_of(*kernel).parameter_sizes.empty(),
          cudaErrorInvalidValue, info(kernel).name,
          " has parameters, and no arguments are given");
  // The host may have to change memory after the launch.
  if (program_of(*kernel).waits_for_memory && allocations().host_has_some())
    begin_tasks();
  const auto call =
      std::make_shared<Call>(kernel, entry.function, c, arguments);
  Work work{
      cudaGraphNodeTypeKernel,
      [call] { run(call->kernel, call->configuration, call->pointers.data()); },
      {call, &call->parameters}};
  work.launches_clusters =
      volume(c.cluster) > 1 && info(kernel).cluster[0] == 0;
  work.begins_early = c.begins_early;
  return work;
}

void require_launchable(const void* function, cudaStream_t stream) {
  require(function != nullptr, cudaErrorInvalidDeviceFunction,
          "there is no kernel");
  require_usable(stream);
}

cudaError_t launch(const void* function, const Configuration& c,
                   void** arguments, const char* call) {
  const bool unanswered = from_syntax;  // <<<...>>> drops what we return
  from_syntax = false;
  const cudaError_t error = answer(
      [&] {
        require_launchable(function, c.stream);
        issue(c.stream, work_of(function, c, arguments));
        for (const cudaEvent_t event : c.told) record(event, c.stream);
      },
      call);
  if (error == cudaSuccess) return error;
  spoil_capture(c.stream);
  if (unanswered) remember_failed_launch();
  return remember(error);  // also where it is the executor that cannot
}

// The event comes when the whole kernel is done, which is late enough.
void tell(cudaEvent_t event, int flags, Configuration& c) {
  require((flags & ~cudaEventRecordExternal) == 0, cudaErrorInvalidValue,
          "unknown flags ", flags);
  require(is_untimed(event), cudaErrorNotSupported,
          "the event of a launch wants cudaEventDisableTiming");
  c.told.push_back(event);
}

void require_hint(bool holds, const cudaLaunchAttribute& attribute) {
  require(holds, cudaErrorInvalidValue, "no such value for launch attribute ",
          int(attribute.id));
}

// Hints, which only order or tune work: that holds anyway when kernels run one
// after the other. Whether it is one.
bool is_hint(const cudaLaunchAttribute& attribute) {
  const auto& value = attribute.val;
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeAccessPolicyWindow:
#if CUDART_VERSION >= 13000
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
#endif
      return true;
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
      require_hint(are_domains(attribute.id, value), attribute);
      return true;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      require_hint(unsigned(value.clusterSchedulingPolicyPreference) <=
                       cudaClusterSchedulingPolicyLoadBalancing,
                   attribute);
      return true;
#if CUDART_VERSION >= 13000
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      require_hint(value.sharedMemCarveout <= 100, attribute);
      return true;
#endif
    default:
      return false;
  }
}

dim3 size_of_cluster(const cudaLaunchAttributeValue& value) {
  const auto& size = value.clusterDim;
  return dim3(size.x, size.y, size.z);
}

// An attribute of cudaLaunchKernelEx.
void apply(const cudaLaunchAttribute& attribute, Configuration& c) {
  const auto& value = attribute.val;
  if (is_hint(attribute)) return;
  switch (attribute.id) {
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      c.begins_early = value.programmaticStreamSerializationAllowed;
      if (c.begins_early) note_early_launch();
      return;
    case cudaLaunchAttributeCooperative:
      c.cooperative = value.cooperative != 0;
      return;
    case cudaLaunchAttributeClusterDimension:
      c.cluster = size_of_cluster(value);
      return;
    case cudaLaunchAttributeProgrammaticEvent:
      return tell(value.programmaticEvent.event, value.programmaticEvent.flags,
                  c);
#if CUDART_VERSION >= 12030
    case cudaLaunchAttributeLaunchCompletionEvent:
      return tell(value.launchCompletionEvent.event,
                  value.launchCompletionEvent.flags, c);
#endif
#if CUDART_VERSION >= 12080
    case cudaLaunchAttributePreferredClusterDimension:
      c.preferred_cluster = size_of_cluster(value);
      return;
#endif
    case cudaLaunchAttributeSynchronizationPolicy:
      throw Refused{cudaErrorInvalidValue,
                    "cudaLaunchAttributeSynchronizationPolicy is not an "
                    "attribute of a launch"};
    default:
      constexpr int kMost = 31;  // The last ones of CUDA 13 are smaller.
      require_hint(attribute.id <= kMost, attribute);
      throw Lacking{text("launch attribute ", int(attribute.id))};
  }
}

Configuration configuration_of(const cudaLaunchConfig_t* given) {
  require(given != nullptr, cudaErrorInvalidValue, "config is null");
  Configuration c{given->gridDim, given->blockDim, given->dynamicSmemBytes,
                  given->stream};
  require(given->attrs != nullptr || given->numAttrs == 0,
          cudaErrorInvalidValue, "attrs is null, and numAttrs is ",
          given->numAttrs);
  for (unsigned i = 0; i < given->numAttrs; ++i) apply(given->attrs[i], c);
  return c;
}

// A cluster lies within one of the device's GPCs. An H100 or H200 has 8 of
// them, with 16 or 18 multiprocessors, in pairs: here 6 and 2 of each. Which
// GPCs have how many differs from card to card.
int clusters_at_once(const Configuration& c, const KernelInfo& kernel) {
  const int pairs = model_multiprocessors() / 2;
  const int gpcs = std::max(1, pairs / 8);
  // No more than eight of a multiprocessor's blocks are in clusters.
  const int resident = std::min(
      8, blocks_per_multiprocessor(kernel, volume(c.block), c.dynamic_shared));
  int clusters = 0;
  for (int i = 0; i < gpcs; ++i) {
    const int multiprocessors = 2 * (pairs / gpcs + (i < pairs % gpcs));
    clusters += multiprocessors * resident / int(volume(c.cluster));
  }
  return std::max(1, clusters);  // Whatever may be launched does run here.
}

}  // namespace

Work kernel_work(const cudaKernelNodeParams& given) {
  if (given.extra != nullptr) throw Lacking{"launches with packed arguments"};
  return work_of(given.func,
                 {given.gridDim, given.blockDim, given.sharedMemBytes},
                 given.kernelParams);
}

}  // namespace simt

using namespace simt;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                       void* stream) {
  if (pushed.empty()) return remember(cudaErrorMissingConfiguration);
  const Configuration c = pushed.back();
  pushed.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.dynamic_shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  from_syntax = true;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void** arguments, size_t shared,
                               cudaStream_t stream) {
  return launch(kernel, {grid, block, shared, stream}, arguments, "launch");
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                             void** arguments, size_t shared,
                             cudaStream_t stream) {
  return launch(function, {grid, block, shared, stream}, arguments,
                from_syntax ? "launch" : "cudaLaunchKernel");
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                        dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
  return launch(function, {grid, block, shared, stream, true}, arguments,
                "cudaLaunchCooperativeKernel");
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                const void* function, void** arguments) {
  Configuration c;
  const cudaError_t error = answer([&] {
    require(config != nullptr, cudaErrorInvalidValue, "config is null");
    require_launchable(function, config->stream);
    find_entry(function);
    c = configuration_of(config);
  });
  if (error != cudaSuccess) return remember(error);
  return launch(function, c, arguments, "cudaLaunchKernelExC");
}

cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return answer([&] {
    require(count != nullptr, cudaErrorInvalidValue, "numClusters is null");
    Configuration c = configuration_of(config);
    Entry& entry = find_entry(function);
    const KernelInfo kernel = info(entry.kernel());
    settle_cluster(c, entry, kernel);
    if (volume(c.block) > uint64_t(kMaxThreads)) {
      *count = 0;
      return;
    }
    checked(entry, c);
    require(volume(c.cluster) != 0, cudaErrorInvalidClusterSize,
            "neither config nor the kernel says how large the clusters are");
    say("clusters that fit are counted from threads, blocks, shared memory and "
        "a model of how multiprocessors are grouped; a GPU may fit fewer");
    *count = clusters_at_once(c, kernel);
  });
}

// Of a kernel that says how large its clusters are, too, the most possible.
cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int* size, const void* function, const cudaLaunchConfig_t* config) {
  return answer([&] {
    require(size != nullptr, cudaErrorInvalidValue, "clusterSize is null");
    Configuration c = configuration_of(config);
    Entry& entry = find_entry(function);
    const KernelInfo kernel = info(entry.kernel());
    settle_cluster(c, entry, kernel);
    const unsigned most = most_in_cluster(entry);
    *size = c.dynamic_shared > size_t(dynamic_shared_limit(entry, kernel)) ? 0
            : kernel.most_in_cluster ? std::min(most, kernel.most_in_cluster)
                                     : most;
  });
}

}  // extern "C"
