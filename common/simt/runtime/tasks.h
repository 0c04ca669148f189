// Work of streams that was issued and is not done. There is such work where
// there are several devices, whose kernels and collectives may wait for one
// another; once a kernel or a function in a stream may wait for the host; and
// with SIMT_ORDER=late.
//
// One task runs at a time, in a thread of its own, and keeps its turn until it
// is done or can only wait. The call that issued it returns then, so that the
// host goes on to issue what others wait for, and what is done repeats from run
// to run. When all tasks wait, and so does the host, nothing will ever happen:
// those that wait are told so.
//
// With SIMT_ORDER=late a task only begins when the host waits for it, or for
// one that comes behind it: what the program forgot to wait for is not there.
#pragma once
#include <cuda_runtime_api.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/simt/core/grid.h"

namespace simt {

// A stream as work is queued there; default streams are each device's own.
struct Queue {
  int device = 0;
  cudaStream_t stream = nullptr;  // null: the legacy default stream
  bool blocking = false;          // waits for that one, and it for this one
  uint64_t thread = 0;  // of the host, whose default stream it is; 0: none's

  bool is_legacy() const { return stream == nullptr; }
};

class Task;
using TaskPointer = std::shared_ptr<Task>;
using Tasks = std::vector<TaskPointer>;

class Task final : public Others {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { kIssued, kReady, kRuns, kWaits, kDone };

  Task(Queue queue, std::function<void()> body)
      : queue_(queue), body_(std::move(body)) {}

  std::atomic<uint64_t>& changes() override;
  bool await_change(uint64_t changes) override;
  bool pause(std::chrono::microseconds time) override;
  // Runs what may wait for other threads of the host, while others have turns.
  void without_turn(const std::function<void()>& body);

  bool is_done() const;
  // When it was done.
  Clock::time_point end() const { return end_; }

 private:
  friend class Scheduler;

  const Queue queue_;
  std::function<void()> body_;
  Tasks after_;
  const std::thread::id issuer_ = std::this_thread::get_id();
  bool is_wanted_ = true;  // somebody waits for it
  bool attended_ = true;   // the call that issued it will tell of its error
  std::exception_ptr error_;
  State state_ = State::kIssued;
  uint64_t since_ = 0;       // waits: `changes` when it looked last
  bool spins_ = false;       // waits, but may go on by itself
  Clock::time_point until_;  // after this time
  std::optional<Clock::time_point> outside_ = {};  // without a turn, since then
  bool is_given_up_ = false;  // waits for what will never come
  Clock::time_point end_;
};

// The task that this thread runs, or null.
Task* current_task();

// Runs a function of the program's that a stream calls; whether this thread is
// in one.
void run_function(const std::function<void()>& function);
bool in_function();

// Whether there are any: otherwise work is done by the call that issues it.
bool there_are_tasks();
// From now on there are: what is issued next may wait for the host.
void begin_tasks();

// Queues the work behind what is in the queue, and behind `after`. Returns when
// it is done, or can only wait for others; throws what it threw until then.
// Null where there are no tasks.
TaskPointer perform(const Queue& queue, std::function<void()> body,
                    const Tasks& after = {});
// The same of a function of the host's, which may wait for what the thread that
// issues it does next: the call returns when the function has taken long. From
// then on there are tasks.
void perform_function(const Queue& queue, std::function<void()> body);
// Queues it, too, and waits until it is done.
void perform_now(const Queue& queue, std::function<void()> body,
                 const Tasks& after = {});

// Return when it is done; throw the sticky error.
void await(const TaskPointer& task);
void await(const Queue& queue);
void await_device(int device);

// It begins, if nothing is in its way.
void want(const TaskPointer& task);

// What copies between devices come behind, too.
Tasks tasks_of(int device);

// Whether it has nothing to do; what it has begins.
bool is_idle(const Queue& queue);

// How many have not ended.
size_t unfinished_tasks();

// Those who wait for others look again.
void note_change();

// Until done() holds: true; or, at last, false, if it never will.
bool await(const std::function<bool()>& done);

}  // namespace simt
