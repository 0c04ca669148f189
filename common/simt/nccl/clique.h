// The ranks of a communicator: how they meet, and what they do when all are
// there.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/simt/nccl/board.h"
#include "common/simt/nccl/nccl.h"
#include "common/simt/runtime/tasks.h"

namespace simt::nccl {

enum class Kind {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kSend,
  kReceive
};

// What one rank asked for.
struct Call {
  Kind kind = Kind::kAllReduce;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclFloat;
  ncclRedOp_t op = ncclSum;
  int root = 0;  // of a send, a receive: the other rank
  int rank = 0;

  bool is_between_two() const {
    return kind == Kind::kSend || kind == Kind::kReceive;
  }
  size_t bytes() const;
  size_t given(int ranks) const;  // bytes that this rank gives
  std::string name() const;       // "ncclAllReduce"
  std::string text() const;       // "ncclAllReduce of 4 ncclFloat, ncclSum"
};

class Clique {
 public:
  // `name` is that of its notices, if ranks are in other processes, too.
  Clique(int size, std::string name, bool is_elsewhere)
      : name_(std::move(name)),
        devices_(size),
        processes_(size),
        is_elsewhere_(is_elsewhere) {}

  int size() const { return static_cast<int>(devices_.size()); }
  int device(int rank) const { return *devices_[rank]; }

  // ---- Members -------------------------------------------------------------

  // False if the rank is there already.
  bool join(int rank, int device);
  bool is_complete() const { return joined_ == size(); }
  bool has_duplicates() const;
  std::string missing() const;  // "ranks 1 and 3"

  // Whether a rank of another process has come.
  bool is_joined_from_elsewhere() const;
  // Until done() holds, or as long as one may wait for others' processes.
  static bool wait_for_processes(const std::function<bool()>& done);
  // From now on all ranks meet by notices: waits until each has left one that
  // says where it is.
  void meet_elsewhere(int rank);
  bool is_elsewhere() const { return is_elsewhere_; }

  // ---- Calls ---------------------------------------------------------------

  // A meeting of all ranks: the nth collective that each of them calls.
  struct Meeting {
    uint64_t number = 0;
    std::vector<std::optional<Call>> calls;  // as they are announced
    size_t ready = 0;                        // whose streams have come there
    std::thread::id caller;                  // of the first, outside of groups
    bool is_done = false;
    std::string wrong;  // why it can never be done
  };
  using MeetingPointer = std::shared_ptr<Meeting>;

  // The host calls: what differs from other ranks' calls is told at once.
  MeetingPointer announce(const Call& call, uint64_t number, bool in_group);
  // Why it can never be done, or nothing.
  std::string wrong_with(const Meeting& meeting) const;
  // Its stream is there: waits for the others, in a task. Throws Refused.
  void meet(Meeting& meeting, const Call& call);
  // The same for sends and receives, which begin together.
  void exchange(const std::vector<Call>& calls);
  // Nobody need wait for anybody any longer.
  void abort();

 private:
  struct Letter {
    Call call;
    bool is_done = false;
    std::string wrong = {};
  };
  using LetterPointer = std::shared_ptr<Letter>;
  using Letters = std::deque<LetterPointer>;

  template <class Done, class Why>
  void wait(Done done, Why why) const;
  std::string absent(const Meeting& meeting) const;
  void carry_out(const Meeting& meeting) const;
  void count_ring(const Call& call, int rank) const;
  void deliver(Letters& sent, Letters& wanted) const;

  // The same among processes: each rank does its own part.
  using NoticePointer = std::unique_ptr<Notice>;
  std::string name_of(const std::string& what, int rank) const;
  NoticePointer leave(const std::string& name, const Call& call,
                      size_t bytes) const;
  template <class Done>
  void wait_for(int rank, Done done, const std::string& what) const;
  NoticePointer find(int rank, const std::string& name,
                     const std::string& what) const;
  void take(const Call& call, std::vector<const void*> from) const;
  void meet_by_notices(uint64_t number, const Call& call);
  void exchange_by_notices(const std::vector<Call>& calls);
  std::string letter(int from, int to, uint64_t number) const;
  void receive(const Call& call);

  const std::string name_;
  std::vector<std::optional<int>> devices_;
  std::vector<int> processes_;
  std::atomic<bool> is_elsewhere_;
  std::map<std::pair<int, int>, uint64_t> letters_sent_, letters_got_;
  std::atomic<int> joined_{0};
  std::atomic<bool> is_aborted_{false};
  mutable std::mutex mutex_;  // of what the host changes
  std::map<uint64_t, MeetingPointer> meetings_;
  // Sent from a rank to another, and wanted there, as they come.
  std::map<std::pair<int, int>, Letters> sent_, wanted_;
};

}  // namespace simt::nccl
