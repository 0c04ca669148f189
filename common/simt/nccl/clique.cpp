// Ranks meet, and the last one to come does the work of all.
#include "common/simt/nccl/clique.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "common/simt/core/settings.h"
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

void require_alike(const Call& call, const Notice::Header& other, int rank) {
  const Call theirs = {static_cast<Kind>(other.kind),
                       nullptr,
                       nullptr,
                       other.count,
                       static_cast<ncclDataType_t>(other.type),
                       static_cast<ncclRedOp_t>(other.op),
                       other.root,
                       rank};
  require(are_alike(call, theirs), cudaErrorLaunchFailure, "rank ", rank,
          " calls ", theirs.text(), ", and rank ", call.rank, " at its place ",
          call.text());
}

}  // namespace

size_t Call::bytes() const { return count * bytes_of(type); }

size_t Call::given(int ranks) const {
  if (kind == Kind::kBroadcast && rank != root) return 0;
  return kind == Kind::kReduceScatter ? ranks * bytes() : bytes();
}

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
  if (is_elsewhere_) {
    const auto alone = std::make_shared<Meeting>();
    alone->number = number;
    return alone;
  }
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
  if (is_elsewhere_) return meet_by_notices(meeting.number, call);
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
  for (int rank = 0; rank < size(); ++rank)
    require_written(call(rank), call(rank).given(size()));
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
  for (int rank = 0; rank < size(); ++rank) count_ring(first, rank);
}

// What a ring of the ranks moves: each sends to the next. A sum for all goes
// round twice, but for the part that each has already.
void Clique::count_ring(const Call& call, int rank) const {
  const int ranks = size(), next = (rank + 1) % ranks;
  const auto share = [&](int part) {
    const size_t whole = call.count / ranks, rest = call.count % ranks;
    return (whole + (size_t(part % ranks) < rest)) * bytes_of(call.type);
  };
  uint64_t bytes = call.bytes();
  if (call.kind == Kind::kAllReduce)
    bytes = 2 * bytes - share(rank + 1) - share(rank + 2);
  else if (!has_root(call.kind))
    bytes *= ranks - 1;
  else if ((call.kind == Kind::kReduce ? rank : next) == call.root)
    bytes = 0;
  peers().note_copied(device(rank), device(next), bytes);
}

// ---- From one to another ---------------------------------------------------

void Clique::exchange(const std::vector<Call>& calls) {
  if (is_elsewhere_) return exchange_by_notices(calls);
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

// ---- Among processes -------------------------------------------------------

std::string Clique::name_of(const std::string& what, int rank) const {
  return name_ + "." + what + "." + std::to_string(rank);
}

bool Clique::is_joined_from_elsewhere() const {
  for (int rank = 0; rank < size(); ++rank)
    if (Notice::find(name_of("join", rank))) return true;
  return false;
}

Clique::NoticePointer Clique::leave(const std::string& name, const Call& call,
                                    size_t bytes) const {
  NoticePointer notice = Notice::create(name, bytes);
  Notice::Header& h = notice->header();
  h.process = getpid();
  h.device = device(call.rank);
  h.kind = static_cast<int>(call.kind);
  h.type = call.type;
  h.op = call.op;
  h.root = call.root;
  h.count = call.count;
  if (bytes > 0) std::memcpy(notice->bytes(), open(call.from), bytes);
  notice->publish();
  return notice;
}

// Until done() holds, or the rank's process has ended.
template <class Done>
void Clique::wait_for(int rank, Done done, const std::string& what) const {
  const int process = processes_[rank];
  const bool came = wait_for_processes([&] {
    return done() || is_aborted_ || (process != 0 && !is_alive(process));
  });
  require(came && (done() || is_aborted_), cudaErrorLaunchFailure, what,
          " waits in vain for rank ", rank,
          came ? ", whose process has ended" : "");
}

bool Clique::wait_for_processes(const std::function<bool()>& done) {
  constexpr auto kNap = std::chrono::milliseconds(1);
  const double limit = settings::patience();
  const auto begin = Task::Clock::now();
  while (!done()) {
    const std::chrono::duration<double> waited = Task::Clock::now() - begin;
    if (limit != 0 && waited.count() > limit) return false;
    if (Task* const task = current_task())
      task->pause(kNap);
    else
      std::this_thread::sleep_for(kNap);
  }
  return true;
}

// Null if the communicator was aborted.
Clique::NoticePointer Clique::find(int rank, const std::string& name,
                                   const std::string& what) const {
  NoticePointer found;
  wait_for(
      rank, [&] { return (found = Notice::find(name)) != nullptr; }, what);
  return found;
}

void Clique::meet_elsewhere(int rank) {
  is_elsewhere_ = true;
  leave(name_of("join", rank), {.rank = rank}, 0);
  for (int other = 0; other < size(); ++other) {
    if (other == rank) continue;
    const auto notice = find(other, name_of("join", other),
                             text("ncclCommInitRank: rank ", rank));
    const std::lock_guard lock(mutex_);
    devices_[other] = notice->header().device;
    processes_[other] = notice->header().process;
    notice->note_read(size() - 1);
  }
}

void Clique::meet_by_notices(uint64_t number, const Call& call) {
  const std::string name = text("call", number);
  require_written(call, call.given(size()));
  const NoticePointer mine =
      leave(name_of(name, call.rank), call, call.given(size()));
  try {
    std::vector<NoticePointer> all(size());
    std::vector<const void*> from(size(), mine->bytes());
    for (int rank = 0; rank < size(); ++rank) {
      if (rank == call.rank) continue;
      all[rank] = find(rank, name_of(name, rank),
                       text(call.text(), ": rank ", call.rank));
      if (!all[rank]) return mine->take_down();
      require_alike(call, all[rank]->header(), rank);
      from[rank] = all[rank]->bytes();
    }
    take(call, from);
    for (const NoticePointer& one : all)
      if (one) one->note_read(size() - 1);
    count_ring(call, call.rank);
  } catch (const Refused&) {
    mine->take_down();
    throw;
  }
}

// What comes to the rank of the call, of what all of them give.
void Clique::take(const Call& call, std::vector<const void*> from) const {
  const size_t bytes = call.bytes();
  if (call.kind == Kind::kReduce && call.rank != call.root) return;
  char* const to = open(call.to);
  if (call.kind == Kind::kReduceScatter)
    for (const void*& one : from)
      one = static_cast<const char*>(one) + call.rank * bytes;
  if (call.kind == Kind::kBroadcast)
    std::memcpy(to, from[call.root], bytes);
  else if (call.kind == Kind::kAllGather)
    for (int rank = 0; rank < size(); ++rank)
      std::memcpy(to + rank * bytes, from[rank], bytes);
  else
    reduce(to, from, call.count, call.type, call.op);
  allocations().note_written(address_of(call.to), call.kind == Kind::kAllGather
                                                      ? size() * bytes
                                                      : bytes);
}

// All are sent before any is waited for.
void Clique::exchange_by_notices(const std::vector<Call>& calls) {
  std::vector<std::pair<Call, NoticePointer>> sent;
  for (const Call& call : calls) {
    if (call.kind != Kind::kSend) continue;
    require_written(call, call.bytes());
    const uint64_t number = letters_sent_[{call.rank, call.root}]++;
    sent.emplace_back(
        call, leave(letter(call.rank, call.root, number), call, call.bytes()));
  }
  try {
    for (const Call& call : calls)
      if (call.kind == Kind::kReceive) receive(call);
    for (const auto& [call, notice] : sent)
      wait_for(
          call.root, [&] { return notice->header().readers > 0; },
          text(call.text(), ": rank ", call.rank));
  } catch (const Refused&) {
    for (const auto& [call, notice] : sent) notice->take_down();
    throw;
  }
}

std::string Clique::letter(int from, int to, uint64_t number) const {
  return name_of(text("letter", number, ".", from), to);
}

void Clique::receive(const Call& call) {
  const std::string who = text(call.text(), ": rank ", call.rank);
  const uint64_t number = letters_got_[{call.root, call.rank}]++;
  const NoticePointer notice =
      find(call.root, letter(call.root, call.rank, number), who);
  if (!notice) return;
  const Notice::Header& h = notice->header();
  require(h.count == call.count && h.type == int(call.type),
          cudaErrorLaunchFailure, who, " gets from rank ", call.root,
          " what is sent as ", h.count, " ", kTypeNames[h.type]);
  std::memcpy(open(call.to), notice->bytes(), call.bytes());
  allocations().note_written(address_of(call.to), call.bytes());
  peers().note_copied(device(call.root), device(call.rank), call.bytes());
  notice->note_read(1);
}

void Clique::abort() {
  is_aborted_ = true;
  note_change();
}

}  // namespace simt::nccl
