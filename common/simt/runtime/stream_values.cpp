// Words of memory that streams store to and wait for (cuStreamWriteValue32 and
// its kin): flags between streams, kernels and the host.
#include <atomic>
#include <chrono>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

struct Word {
  CUdeviceptr address;
  unsigned bytes;  // 4 or 8
  uint64_t value;  // to store, or to wait for
  unsigned flags;
};

template <class T>
std::atomic_ref<T> atomic(const Word& word) {
  return std::atomic_ref<T>(*static_cast<T*>(allocations().open(word.address)));
}

uint64_t load(const Word& word) {
  return word.bytes == 4 ? atomic<uint32_t>(word).load()
                         : atomic<uint64_t>(word).load();
}

void store(const Word& word) {
  if (word.bytes == 4)
    atomic<uint32_t>(word) = uint32_t(word.value);
  else
    atomic<uint64_t>(word) = word.value;
  allocations().note_written(word.address, word.bytes);
  note_change();
}

bool holds(const Word& word) {
  const uint64_t now = load(word);
  const uint64_t mask = word.bytes == 4 ? UINT32_MAX : UINT64_MAX;
  switch (word.flags & ~CU_STREAM_WAIT_VALUE_FLUSH) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == word.value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & word.value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return (~(now | word.value) & mask) != 0;
    default:  // GEQ, where numbers go round
      return ((now - word.value) & mask) <= mask / 2;
  }
}

Allocation allocation_of(const Word& word) {
  const auto found = allocations().find(word.address);
  demand(found && !found->freed && word.address % word.bytes == 0 &&
             word.address + word.bytes <= found->end,
         CUDA_ERROR_INVALID_VALUE, "addr = ", pointer(word.address), " is ",
         allocations().describe(word.address),
         word.address % word.bytes ? ", and no multiple of its size" : "");
  return *found;
}

// Of memory that the host may change nobody knows that it never will.
void await_word(const Word& word) {
  using std::chrono::microseconds;
  constexpr microseconds kNap{200};
  const bool for_host = !allocation_of(word).is_device_only();
  Task& task = *current_task();
  for (microseconds waited{0};;) {
    const uint64_t seen = task.changes();
    if (holds(word)) return;
    if (!for_host && task.await_change(seen)) continue;
    const double limit = settings::patience();
    const bool over =
        limit != 0 && std::chrono::duration<double>(waited).count() > limit;
    require(for_host && !over, cudaErrorLaunchTimeout, "a stream waits for ",
            allocations().describe(word.address),
            ", and nothing will change it");
    if (task.pause(kNap)) waited += kNap;
  }
}

// Both are like functions of the host: whatever came before the one is known
// behind the other, and findings must not say otherwise.
void issue_word(CUstream stream, const Word& word,
                void (*run)(const Word& word)) {
  allocation_of(word);
  if (is_capturing(stream))
    throw Lacking{"values that are stored or awaited in a graph"};
  Work work = {cudaGraphNodeTypeHost, [word, run] { run(word); }};
  work.tells_host = true;
  issue(stream, work);
}

void issue_write(CUstream stream, const Word& word) {
  demand((word.flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == 0,
         CUDA_ERROR_INVALID_VALUE, "unknown flags ", word.flags);
  issue_word(stream, word, store);
}

void issue_wait(CUstream stream, const Word& word) {
  demand((word.flags & ~CU_STREAM_WAIT_VALUE_FLUSH) <= CU_STREAM_WAIT_VALUE_NOR,
         CUDA_ERROR_INVALID_VALUE, "unknown flags ", word.flags);
  begin_tasks();
  issue_word(stream, word, await_word);
}

void issue_one(CUstream stream, const CUstreamBatchMemOpParams& one) {
  const auto& write = one.writeValue;
  const auto& wait = one.waitValue;
  switch (one.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return issue_wait(stream, {wait.address, 4, wait.value, wait.flags});
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return issue_wait(stream, {wait.address, 8, wait.value64, wait.flags});
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return issue_write(stream, {write.address, 4, write.value, write.flags});
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return issue_write(stream,
                         {write.address, 8, write.value64, write.flags});
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return;  // All stores are there at once.
    default:
      demand(false, CUDA_ERROR_INVALID_VALUE, "unknown operation ",
             int(one.operation));
  }
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address,
                              cuuint32_t value, unsigned flags) {
  return drive([&] { issue_write(stream, {address, 4, value, flags}); });
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address,
                              cuuint64_t value, unsigned flags) {
  return drive([&] { issue_write(stream, {address, 8, value, flags}); });
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address,
                             cuuint32_t value, unsigned flags) {
  return drive([&] { issue_wait(stream, {address, 4, value, flags}); });
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address,
                             cuuint64_t value, unsigned flags) {
  return drive([&] { issue_wait(stream, {address, 8, value, flags}); });
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count,
                            CUstreamBatchMemOpParams* all, unsigned flags) {
  return drive([&] {
    demand(all != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
           "paramArray is null, or flags are not 0");
    for (unsigned k = 0; k < count; ++k) issue_one(stream, all[k]);
  });
}

}  // extern "C"
