// NCCL's calls: what they refuse, and how they are put together in groups.
#include "common/simt/nccl/nccl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "common/simt/core/device.h"
#include "common/simt/library/answers.h"
#include "common/simt/library/library.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/nccl/clique.h"
#include "common/simt/nccl/reduce.h"
#include "common/simt/observe/overlaps.h"
#include "common/simt/runtime/runtime.h"

// A rank's membership.
struct ncclComm {
  std::shared_ptr<simt::nccl::Clique> clique;
  int rank = 0, device = 0;
  std::atomic<uint64_t> calls{0};  // of collectives
  std::atomic<ncclResult_t> state{ncclSuccess};
};

namespace simt::nccl {
namespace {

// ---- Answers ---------------------------------------------------------------

// What was last wrong; a caller may keep the pointer, so none is ever freed.
std::atomic<const char*> last_words{""};

ncclResult_t refuse(const char* call, const Wrong<ncclResult_t>& wrong) {
  const std::string words =
      text(wrong.why, " (", ncclGetErrorString(wrong.status), ")");
  complain(call, words);
  last_words = (new std::string(text(call, ": ", words)))->c_str();
  return wrong.status;
}

template <class Body>
ncclResult_t answer(Body body, const char* call = __builtin_FUNCTION()) {
  ncclResult_t result = ncclSuccess;
  const auto tell = [&](const auto& wrong) { refuse(call, wrong); };
  const cudaError_t error = answer_always(refusing(result, body, tell), call);
  if (error != cudaSuccess)
    result = refuse(call, {ncclUnhandledCudaError, cudaGetErrorName(error)});
  return result;
}

// ---- Communicators ---------------------------------------------------------

constexpr char kMark[] = "/simt-nccl.";

struct Everything {
  std::mutex mutex;
  uint64_t ids = 0;
  std::map<std::string, std::shared_ptr<Clique>> cliques;  // by their ids
  std::set<ncclComm_t> comms;
};
Everything& everything() {
  static auto* one = new Everything;
  return *one;
}

ncclComm& get(ncclComm_t comm) {
  require_status(comm != nullptr, ncclInvalidArgument, "comm is null");
  const std::lock_guard lock(everything().mutex);
  require_status(everything().comms.contains(comm), ncclInvalidArgument, comm,
                 " is no communicator, or one that was destroyed");
  return *comm;
}

// What an id holds: a name for everything that its ranks share. The time tells
// processes apart that had the same number one after the other.
ncclUniqueId new_id() {
  const std::lock_guard lock(everything().mutex);
  ncclUniqueId id = {};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  std::snprintf(id.internal, sizeof id.internal, "%s%d.%lx.%lu", kMark,
                int(getpid()), long(now), ++everything().ids);
  return id;
}

std::string name_in(const ncclUniqueId& id) {
  const char* const end = std::find(id.internal, std::end(id.internal), 0);
  const std::string name(id.internal, end);
  require_status(name.starts_with(kMark) && end != std::end(id.internal),
                 ncclInvalidArgument, "the id is none of ncclGetUniqueId's");
  return name;
}

bool is_own(const std::string& name) {
  return name.starts_with(text(kMark, getpid(), "."));
}

std::shared_ptr<Clique> clique_of(const ncclUniqueId& id, int size) {
  const std::lock_guard lock(everything().mutex);
  const std::string name = name_in(id);
  auto& clique = everything().cliques[name];
  if (!clique) clique = std::make_shared<Clique>(size, name, !is_own(name));
  const auto found = clique;
  require_status(found->size() == size, ncclInvalidArgument,
                 "a rank says that ", size, " ranks meet, and another one ",
                 found->size());
  return found;
}

// The rank is there, and others may not be yet.
ncclComm_t join(int size, const ncclUniqueId& id, int rank) {
  require_status(size >= 1 && rank >= 0 && rank < size, ncclInvalidArgument,
                 "rank ", rank, " of ", size);
  auto clique = clique_of(id, size);
  require_status(clique->join(rank, current_device()), ncclInvalidUsage,
                 "rank ", rank, " is there already");
  const auto comm = new ncclComm{std::move(clique), rank, current_device()};
  const std::lock_guard lock(everything().mutex);
  everything().comms.insert(comm);
  return comm;
}

void discard(ncclComm_t comm) {
  const std::lock_guard lock(everything().mutex);
  everything().comms.erase(comm);
  delete comm;
}

// Until all ranks are there; each must have a device of its own. Those that do
// not come may be in other processes.
void gather(const ncclComm& comm) {
  Clique& clique = *comm.clique;
  const auto is_decided = [&] {
    return clique.is_complete() || clique.is_joined_from_elsewhere();
  };
  const bool decided = clique.is_elsewhere() || await(is_decided) ||
                       clique.wait_for_processes(is_decided);
  require_status(decided, ncclSystemError, "waits in vain for ",
                 clique.missing());
  if (!clique.is_complete()) clique.meet_elsewhere(comm.rank);
  require_status(!clique.has_duplicates(), ncclInvalidUsage,
                 "two ranks have the same device");
}

// ---- Groups ----------------------------------------------------------------

struct Issued {
  ncclComm_t comm;
  Call call;
  cudaStream_t stream;
  Clique::MeetingPointer meeting;  // null: of two, or not yet known
};

struct Group {
  int depth = 0;
  std::vector<Issued> calls;
  std::vector<std::pair<ncclComm_t*, ncclComm_t>> joined;
  ncclResult_t result = ncclSuccess;
};
thread_local Group group;

// All sends and receives of a rank in one stream begin together.
std::vector<Call> between_two(const std::vector<Issued>& all, size_t first) {
  std::vector<Call> found;
  for (const Issued& one : all)
    if (one.call.is_between_two() && one.comm == all[first].comm &&
        one.stream == all[first].stream)
      found.push_back(one.call);
  return found;
}

bool is_told_before(const std::vector<Issued>& all, size_t which) {
  return std::any_of(all.begin(), all.begin() + which, [&](const Issued& one) {
    return one.call.is_between_two() && one.comm == all[which].comm &&
           one.stream == all[which].stream;
  });
}

void enqueue(const Issued& one, std::function<void(ncclComm&)> body) {
  ncclComm* const comm = one.comm;
  const OnDevice there(comm->device);
  const int device = queue_of(one.stream).device;
  require_status(device == comm->device, ncclUnhandledCudaError, "rank ",
                 comm->rank, " has device ", comm->device,
                 ", and the stream is device ", device, "'s");
  overlaps().give_up();  // Ranks wait for one another.
  issue(one.stream, {cudaGraphNodeTypeHost, [=] {
                       try {
                         body(*comm);
                       } catch (const Refused&) {
                         comm->state = ncclInternalError;
                         throw;
                       }
                     }});
}

void begin(const std::vector<Issued>& all) {
  for (size_t k = 0; k < all.size(); ++k) {
    const Issued& one = all[k];
    const Call call = one.call;
    if (!call.is_between_two()) {
      enqueue(one, [call, known = one.meeting](ncclComm& comm) {
        const auto meeting =
            known ? known : comm.clique->announce(call, comm.calls++, true);
        comm.clique->meet(*meeting, call);
      });
    } else if (!is_told_before(all, k)) {
      enqueue(one, [calls = between_two(all, k)](ncclComm& comm) {
        comm.clique->exchange(calls);
      });
    }
  }
}

void require_range(const char* name, const void* pointer, size_t bytes,
                   const ncclComm& comm) {
  if (bytes == 0) return;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto found = allocations().find(address);
  require_status(found && !found->freed && bytes <= found->end - address,
                 ncclInvalidArgument, name, ": ", bytes, " bytes from ",
                 pointer,
                 " on are not all in an array of the device; they begin at ",
                 allocations().describe(address));
  require_status(!found->is_device_only() || found->device == comm.device,
                 ncclInvalidArgument, name, ": rank ", comm.rank,
                 " has device ", comm.device, ", and this is ",
                 allocations().describe(address));
}

// The bytes that the rank's call reads and writes.
void require_arrays(const ncclComm& comm, const Call& call) {
  const size_t bytes = call.bytes(), all = bytes * comm.clique->size();
  const bool has_root =
      call.kind == Kind::kReduce || call.kind == Kind::kBroadcast;
  const bool is_root = !has_root || call.root == comm.rank;
  if (call.kind != Kind::kReceive && (call.kind != Kind::kBroadcast || is_root))
    require_range("sendbuff", call.from,
                  call.kind == Kind::kReduceScatter ? all : bytes, comm);
  if (call.kind != Kind::kSend && (call.kind != Kind::kReduce || is_root))
    require_range("recvbuff", call.to,
                  call.kind == Kind::kAllGather ? all : bytes, comm);
}

void require_call(const ncclComm& comm, const Call& call) {
  const int size = comm.clique->size();
  require_status(call.type >= 0 && call.type < ncclNumTypes,
                 ncclInvalidArgument, "type ", int(call.type),
                 " is none of NCCL's");
  require_status(call.op >= 0 && call.op < ncclNumOps, ncclInvalidArgument,
                 "operation ", int(call.op), " is none of NCCL's");
  require_status(call.root >= 0 && call.root < size, ncclInvalidArgument,
                 call.is_between_two() ? "peer " : "root ", call.root, " of ",
                 size, " ranks");
  require_arrays(comm, call);
}

ncclResult_t call(Call wanted, ncclComm_t handle, cudaStream_t stream) {
  const ncclResult_t result = answer(
      [&] {
        ncclComm& comm = get(handle);
        wanted.rank = comm.rank;
        require_call(comm, wanted);
        const bool in_group = group.depth > 0;
        Issued one = {handle, wanted, stream, nullptr};
        if (!wanted.is_between_two() && !is_capturing(stream)) {
          one.meeting = comm.clique->announce(wanted, comm.calls++, in_group);
          const std::string wrong = comm.clique->wrong_with(*one.meeting);
          require_status(wrong.empty(), ncclInvalidUsage, wrong);
        }
        if (in_group)
          group.calls.push_back(one);
        else
          begin({one});
      },
      wanted.name().c_str());
  if (group.depth > 0 && result != ncclSuccess) group.result = result;
  return result;
}

void end_group() {
  const auto calls = std::exchange(group.calls, {});
  const auto joined = std::exchange(group.joined, {});
  for (const auto& [place, comm] : joined) gather(*comm);
  begin(calls);
}

}  // namespace
}  // namespace simt::nccl

using namespace simt::nccl;
using simt::require_status;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return answer([&] {
    require_status(version != nullptr, ncclInvalidArgument, "version is null");
    *version = NCCL_VERSION_CODE;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  static constexpr const char* kWords[ncclNumResults] = {
      "no error",
      "a CUDA call failed",
      "a call of the operating system failed",
      "an internal error",
      "invalid argument",
      "invalid usage",
      "another rank failed",
      "the work is not done yet"};
  return result >= 0 && result < ncclNumResults ? kWords[result]
                                                : "unknown result";
}

const char* ncclGetLastError(ncclComm_t) { return last_words; }

// ---- Communicators ---------------------------------------------------------

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return answer([&] {
    require_status(id != nullptr, ncclInvalidArgument, "uniqueId is null");
    *id = new_id();
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id,
                              int rank) {
  return answer([&] {
    require_status(comm != nullptr, ncclInvalidArgument, "comm is null");
    *comm = nullptr;
    const ncclComm_t joined = join(ranks, id, rank);
    if (group.depth == 0) gather(*joined);
    *comm = joined;
    if (group.depth > 0) group.joined.push_back({comm, joined});
  });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  return answer([&] {
    require_status(comms != nullptr && count > 0, ncclInvalidArgument,
                   "comms is null, or ndev is ", count);
    std::set<int> seen;
    for (int rank = 0; rank < count; ++rank) {
      const int device = devices ? devices[rank] : rank;
      require_status(device >= 0 && device < simt::device_count(),
                     devices ? ncclInvalidArgument : ncclUnhandledCudaError,
                     "there is no device ", device);
      require_status(seen.insert(device).second, ncclInvalidUsage, "device ",
                     device, " is listed twice");
    }
    const ncclUniqueId id = new_id();
    for (int rank = 0; rank < count; ++rank) {
      const simt::OnDevice there(devices ? devices[rank] : rank);
      comms[rank] = join(count, id, rank);
    }
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return answer([&] { get(comm); });
}

// What it still has to do is done before.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return answer([&] {
    simt::await_device(get(comm).device);
    discard(comm);
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return answer([&] {
    get(comm).clique->abort();
    simt::await_device(get(comm).device);
    discard(comm);
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return answer([&] {
    require_status(error != nullptr, ncclInvalidArgument, "asyncError is null");
    *error = get(comm).state;
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return answer([&] {
    require_status(count != nullptr, ncclInvalidArgument, "count is null");
    *count = get(comm).clique->size();
  });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return answer([&] {
    require_status(device != nullptr, ncclInvalidArgument, "device is null");
    *device = get(comm).device;
  });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return answer([&] {
    require_status(rank != nullptr, ncclInvalidArgument, "rank is null");
    *rank = get(comm).rank;
  });
}

// ---- Groups ----------------------------------------------------------------

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

// Of the group, too, what one of its calls said; then nothing of it begins.
ncclResult_t ncclGroupEnd() {
  return answer([&] {
    require_status(group.depth > 0, ncclInvalidUsage,
                   "there is no ncclGroupStart before it");
    if (--group.depth > 0) return;
    const ncclResult_t result = std::exchange(group.result, ncclSuccess);
    if (result == ncclSuccess) return end_group();
    group.calls.clear();
    group.joined.clear();
    throw simt::Wrong{result, "a call of the group was refused"};
  });
}

// ---- Collectives -----------------------------------------------------------

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({Kind::kAllReduce, from, to, count, type, op}, comm, stream);
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count,
                        ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call({Kind::kReduce, from, to, count, type, op, root}, comm, stream);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({Kind::kBroadcast, from, to, count, type, ncclSum, root}, comm,
              stream);
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type,
                       int root, ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({Kind::kAllGather, from, to, count, type}, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call({Kind::kReduceScatter, from, to, count, type, op}, comm, stream);
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return call({Kind::kSend, from, nullptr, count, type, ncclSum, peer}, comm,
              stream);
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return call({Kind::kReceive, nullptr, to, count, type, ncclSum, peer}, comm,
              stream);
}

}  // extern "C"
