// Ranks meet, and the last one to come does the work of all.
#include "common/simt/nccl/clique.h"

#include <algorithm>
#include <cstring>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/nccl/reduce.h"
#include "common/simt/runtime/runtime.h"

namespace simt::nccl {
namespace {

constexpr const char* kCallNames[] = {
    "ncclAllReduce",     "ncclReduce", "ncclBroadcast", "ncclAllGather",
    "ncclReduceScatter", "ncclSend",   "ncclRecv"};
constexpr const char* kTypeNames[ncclNumTypes] = {
    "ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
    "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
    "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
constexpr const char* kOpNames[ncclNumOps] = {"ncclSum", "ncclProd", "ncclMax",
                                              "ncclMin", "ncclAvg"};

bool reduces(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce ||
         kind == Kind::kReduceScatter;
}

bool has_root(Kind kind) {
  return kind == Kind::kReduce || kind == Kind::kBroadcast;
}

bool are_alike(const Call& a, const Call& b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type &&
         (!reduces(a.kind) || a.op == b.op) &&
         (!has_root(a.kind) || a.root == b.root);
}

std::string list_of(const std::vector<int>& ranks) {
  std::string all = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t k = 0; k < ranks.size(); ++k) {
    if (k) all += k + 1 == ranks.size() ? " and " : ", ";
    all += std::to_string(ranks[k]);
  }
  return all;
}

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

char* open(const void* pointer) {
  return static_cast<char*>(allocations().open(address_of(pointer)));
}

// Numbers that nobody wrote would be summed up without a word.
void require_written(const Call& call, size_t bytes) {
  const Allocations& all = allocations();
  const uint64_t begin = address_of(call.from);
  if (all.is_written(begin, bytes)) return;
  complain(
      call.name(),
      text("rank ", call.rank, " gives ", bytes, " bytes from ", call.from,
           ", ", all.describe(begin), ", that nobody has written in full"));
  note_finding();
}

void move(void* to, const void* from, size_t bytes) {
  std::memmove(open(to), open(from), bytes);
  allocations().note_copied(address_of(to), address_of(from), bytes);
}

}  // namespace

size_t Call::bytes() const { return count * bytes_of(type); }

std::string Call::name() const { return kCallNames[static_cast<int>(kind)]; }

std::string Call::text() const {
  std::string all =
      name() + " of " + std::to_string(count) + " " + kTypeNames[type];
  if (reduces(kind)) all += std::string(", ") + kOpNames[op];
  if (has_root(kind)) all += ", root " + std::to_string(root);
  return all;
}

// ---- Members ---------------------------------------------------------------

bool Clique::join(int rank, int device) {
  const std::lock_guard lock(mutex_);
  if (devices_[rank]) return false;
  devices_[rank] = device;
  ++joined_;
  return true;
}

bool Clique::has_duplicates() const {
  const std::lock_guard lock(mutex_);
  for (size_t k = 0; k < devices_.size(); ++k)
    if (std::count(devices_.begin(), devices_.end(), devices_[k]) > 1)
      return true;
  return false;
}

std::string Clique::missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (!devices_[rank]) ranks.push_back(rank);
  return list_of(ranks);
}

// ---- Collectives -----------------------------------------------------------

Clique::MeetingPointer Clique::announce(const Call& call, uint64_t number,
                                        bool in_group) {
  const std::lock_guard lock(mutex_);
  MeetingPointer& meeting = meetings_[number];
  if (!meeting) {
    meeting = std::make_shared<Meeting>();
    meeting->number = number;
    meeting->calls.resize(size());
    if (!in_group) meeting->caller = std::this_thread::get_id();
  } else if (!in_group && meeting->caller == std::this_thread::get_id()) {
    meeting->caller = {};
    complain(
        call.name(),
        "one thread calls it for several ranks. On GPUs the first call may "
        "wait for the others for ever; put all of them between "
        "ncclGroupStart() and ncclGroupEnd()");
    note_finding();
  }
  for (const auto& other : meeting->calls) {
    if (!other || !meeting->wrong.empty() || are_alike(*other, call)) continue;
    meeting->wrong = text("call ", number + 1, " of the communicator is ",
                          other->text(), " on rank ", other->rank, ", and ",
                          call.text(), " on rank ", call.rank);
    note_change();
  }
  meeting->calls[call.rank] = call;
  const MeetingPointer found = meeting;
  if (std::ranges::all_of(found->calls, &std::optional<Call>::has_value))
    meetings_.erase(number);
  return found;
}

// Gives others their turn until done() holds; why() if that is in vain.
template <class Done, class Why>
void Clique::wait(Done done, Why why) const {
  Task* const task = current_task();
  while (!done() && !is_aborted_) {
    const bool hope = task && task->await_change(task->changes());
    if (!hope && !done()) throw Refused{cudaErrorLaunchFailure, why()};
  }
}

void Clique::meet(Meeting& meeting, const Call& call) {
  if (++meeting.ready == meeting.calls.size() && wrong_with(meeting).empty()) {
    carry_out(meeting);
    meeting.is_done = true;
    return;
  }
  wait([&] { return meeting.is_done || !wrong_with(meeting).empty(); },
       [&] {
         return text(call.text(), ", call ", meeting.number + 1,
                     " of the communicator: rank ", call.rank,
                     " waits in vain for ", absent(meeting));
       });
  const std::string wrong = wrong_with(meeting);
  if (!wrong.empty()) throw Refused{cudaErrorLaunchFailure, wrong};
}

std::string Clique::wrong_with(const Meeting& meeting) const {
  const std::lock_guard lock(mutex_);
  return meeting.wrong;
}

std::string Clique::absent(const Meeting& meeting) const {
  const std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (!meeting.calls[rank]) ranks.push_back(rank);
  if (ranks.empty()) return "streams of other ranks, which do not get there";
  return list_of(ranks) + ", which never called it";
}

void Clique::carry_out(const Meeting& meeting) const {
  const Call& first = *meeting.calls[0];
  const size_t one = bytes_of(first.type), bytes = first.bytes();
  const auto call = [&](int rank) { return *meeting.calls[rank]; };
  for (int rank = 0; rank < size(); ++rank) {
    const bool reads = first.kind != Kind::kBroadcast || rank == first.root;
    const bool of_all = first.kind == Kind::kReduceScatter;
    if (reads) require_written(call(rank), of_all ? size() * bytes : bytes);
  }
  std::vector<char> result(reduces(first.kind) ? bytes : 0);
  const auto combine = [&](size_t offset) {
    std::vector<const void*> from;
    for (int rank = 0; rank < size(); ++rank)
      from.push_back(open(call(rank).from) + offset);
    reduce(result.data(), from, first.count, first.type, first.op);
  };
  const auto hand_over = [&](int rank) {
    std::memcpy(open(call(rank).to), result.data(), bytes);
    allocations().note_written(address_of(call(rank).to), bytes);
  };
  switch (first.kind) {
    case Kind::kAllReduce:
      combine(0);
      for (int rank = 0; rank < size(); ++rank) hand_over(rank);
      break;
    case Kind::kReduce:
      combine(0);
      hand_over(first.root);
      break;
    case Kind::kReduceScatter:
      for (int rank = 0; rank < size(); ++rank) {
        combine(rank * first.count * one);
        hand_over(rank);
      }
      break;
    case Kind::kBroadcast:
      for (int rank = 0; rank < size(); ++rank)
        move(call(rank).to, call(first.root).from, bytes);
      break;
    default:
      for (int to = 0; to < size(); ++to)
        for (int rank = 0; rank < size(); ++rank)
          move(static_cast<char*>(call(to).to) + rank * bytes, call(rank).from,
               bytes);
  }
  count_ring(first);
}

// What a ring of the ranks moves: each sends to the next. A sum for all goes
// round twice, but for the part that each has already.
void Clique::count_ring(const Call& call) const {
  const int ranks = size();
  const auto share = [&](int part) {
    const size_t whole = call.count / ranks, rest = call.count % ranks;
    return (whole + (size_t(part % ranks) < rest)) * bytes_of(call.type);
  };
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    uint64_t bytes = call.bytes();
    if (call.kind == Kind::kAllReduce)
      bytes = 2 * bytes - share(rank + 1) - share(rank + 2);
    else if (!has_root(call.kind))
      bytes *= ranks - 1;
    else if ((call.kind == Kind::kReduce ? rank : next) == call.root)
      bytes = 0;
    peers().note_copied(device(rank), device(next), bytes);
  }
}

// ---- From one to another ---------------------------------------------------

void Clique::exchange(const std::vector<Call>& calls) {
  std::vector<LetterPointer> mine;
  for (const Call& call : calls) {
    const auto letter = std::make_shared<Letter>(Letter{call});
    const bool sends = call.kind == Kind::kSend;
    const std::pair<int, int> way = {sends ? call.rank : call.root,
                                     sends ? call.root : call.rank};
    (sends ? sent_ : wanted_)[way].push_back(letter);
    mine.push_back(letter);
    deliver(sent_[way], wanted_[way]);
  }
  for (const LetterPointer& letter : mine) {
    const Call& call = letter->call;
    wait([&] { return letter->is_done; },
         [&] {
           return text(
               call.text(), ": rank ", call.rank, " waits in vain for rank ",
               call.root,
               call.kind == Kind::kSend ? " to receive it" : " to send it");
         });
    if (!letter->wrong.empty())
      throw Refused{cudaErrorLaunchFailure, letter->wrong};
  }
}

// Those who wait for it look again.
void Clique::deliver(Letters& sent, Letters& wanted) const {
  while (!sent.empty() && !wanted.empty()) {
    Letter &from = *sent.front(), &to = *wanted.front();
    if (from.call.count == to.call.count && from.call.type == to.call.type) {
      require_written(from.call, from.call.bytes());
      move(to.call.to, from.call.from, from.call.bytes());
      peers().note_copied(device(from.call.rank), device(to.call.rank),
                          from.call.bytes());
    } else {
      from.wrong = to.wrong =
          text("rank ", from.call.rank, " calls ", from.call.text(),
               ", and rank ", to.call.rank, " ", to.call.text());
    }
    from.is_done = to.is_done = true;
    sent.pop_front();
    wanted.pop_front();
    note_change();
  }
}

void Clique::abort() {
  is_aborted_ = true;
  note_change();
}

}  // namespace simt::nccl
