// Tasks take turns, wait for one another, and are told when that is in vain.
#include "common/simt/runtime/tasks.h"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <list>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "common/simt/core/device.h"
#include "common/simt/core/settings.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/host_threads.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// So often those who wait look whether there is anything left to wait for.
constexpr auto kNap = std::chrono::milliseconds(10);
// And so often until they believe that there is nothing: they cannot look at
// all threads of the host at the same moment.
constexpr int kLooks = 5;
// A function of the host's that takes longer may wait for who has issued it.
constexpr auto kLongFunction = std::chrono::milliseconds(100);
// With SIMT_ORDER=late: as long as the host makes calls more often than this.
constexpr auto kLate = std::chrono::milliseconds(100);
// And as long as no more is queued: a GPU's queues are not endless either.
constexpr size_t kQueued = 1000;

thread_local Task* runs_here = nullptr;
thread_local bool runs_function = false;  // of the program's

// Whether work of one comes behind earlier work of the other.
bool are_ordered(const Queue& a, const Queue& b) {
  if (a.device != b.device) return false;
  return (a.stream == b.stream && a.thread == b.thread) ||
         (a.is_legacy() && b.blocking) || (b.is_legacy() && a.blocking);
}

}  // namespace

class Scheduler {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using State = Task::State;

  Scheduler() {
    if (late_) std::thread([this] { begin_in_the_end(); }).detach();
  }

  void submit(const TaskPointer& task, const Tasks& after) {
    Lock lock(mutex_);
    ++calls_;
    task->is_wanted_ = !late_;
    task->after_ = after;
    come_behind_all(*task);
    unfinished_.push_back(task);
    if (unfinished_.size() > kQueued) want_all();
    start_ready();
    const auto me = std::this_thread::get_id();
    wait(lock, [&] {
      return std::none_of(unfinished_.begin(), unfinished_.end(),
                          [&](const auto& one) {
                            return one->issuer_ == me && is_active(*one) &&
                                   !is_long_outside(*one);
                          });
    });
  }

  // The call that issued it returns.
  void leave(Task& task) {
    const Lock lock(mutex_);
    task.attended_ = task.state_ == State::kDone;
    if (task.error_ && task.attended_)
      std::rethrow_exception(std::exchange(task.error_, nullptr));
  }

  // Somebody waits for these, and so for all that they come behind.
  void want(const Tasks& tasks) {
    const Lock lock(mutex_);
    ++calls_;
    for (const TaskPointer& task : tasks) want(*task);
    start_ready();
  }

  // Until done() holds. Where everybody waits for what will never come, tasks
  // that wait are given up, and so is this if it waits for none (false).
  bool await(const std::function<bool()>& done, bool for_task) {
    Lock lock(mutex_);
    ++waiting_hosts_;
    auto begin = Task::Clock::now();
    int in_vain = 0;
    for (uint64_t seen = changes_; !done();) {
      changed_.wait_for(lock, kNap);
      if (!done() && all_wait()) want_all();
      if (seen != changes_ || !all_wait()) {
        seen = changes_;
        begin = Task::Clock::now();
        in_vain = 0;
        continue;
      }
      in_vain = nobody_is_left() ? in_vain + 1 : 0;
      if (in_vain < kLooks && !is_over(Task::Clock::now() - begin)) continue;
      give_up();
      if (!for_task) break;
    }
    --waiting_hosts_;
    return done();
  }

  void await(const Task& task) {
    await([&] { return task.state_ == State::kDone; }, true);
  }

  void run(const TaskPointer& task) {
    runs_here = task.get();
    set_current_device(task->queue_.device);
    {
      Lock lock(mutex_);
      take_turn(lock, *task);
    }
    try {
      if (sticky_error() == cudaSuccess) task->body_();
    } catch (...) {
      task->error_ = std::current_exception();
    }
    runs_here = nullptr;
    if (is_late(*task)) tell_late(*task);
    end(task);
  }

  bool await_change(Task& task, uint64_t seen) {
    Lock lock(mutex_);
    give_turn(task, seen, false);
    take_turn(lock, task);
    return !task.is_given_up_;
  }

  bool pause(Task& task, std::chrono::microseconds time) {
    Lock lock(mutex_);
    task.until_ = Task::Clock::now() + time;
    give_turn(task, changes_, true);
    take_turn(lock, task);
    return waiting_hosts_ > 0;
  }

  void without_turn(Task& task, const std::function<void()>& body) {
    {
      const Lock lock(mutex_);
      turn_is_taken_ = false;
      task.outside_ = Task::Clock::now();
      changed_.notify_all();
    }
    body();
    Lock lock(mutex_);
    task.outside_.reset();
    task.state_ = State::kReady;
    take_turn(lock, task);
  }

  bool is_done(const Task& task) {
    const Lock lock(mutex_);
    return task.state_ == State::kDone;
  }

  Tasks unfinished(const std::function<bool(const Queue&)>& wanted) {
    const Lock lock(mutex_);
    Tasks found;
    for (const TaskPointer& task : unfinished_)
      if (wanted(task->queue_)) found.push_back(task);
    return found;
  }

  std::atomic<uint64_t>& changes() { return changes_; }

 private:
  // Everything that follows is called with mutex_ locked.

  template <class Done>
  void wait(Lock& lock, Done done) {
    while (!done()) changed_.wait_for(lock, kNap);
  }

  // Behind the last of each queue, that is: it comes behind the others.
  void come_behind_all(Task& task) {
    std::set<std::tuple<int, cudaStream_t, uint64_t>> known;
    for (auto one = unfinished_.rbegin(); one != unfinished_.rend(); ++one) {
      const Queue& queue = (*one)->queue_;
      if (are_ordered(queue, task.queue_) &&
          known.insert({queue.device, queue.stream, queue.thread}).second)
        task.after_.push_back(*one);
    }
  }

  void start_ready() {
    for (const TaskPointer& task : unfinished_) {
      if (task->state_ != State::kIssued || !task->is_wanted_) continue;
      std::erase_if(task->after_, [](const TaskPointer& earlier) {
        return earlier->state_ == State::kDone;
      });
      if (!task->after_.empty()) continue;
      task->state_ = State::kReady;
      ++threads_;
      std::thread([this, task] { run(task); }).detach();
    }
  }

  static void want(Task& task) {
    if (std::exchange(task.is_wanted_, true)) return;
    for (const TaskPointer& earlier : task.after_) want(*earlier);
  }

  void want_all() {
    for (const TaskPointer& task : unfinished_) task->is_wanted_ = true;
    start_ready();
  }

  // The host may wait without a call of CUDA's: then work begins after a while.
  void begin_in_the_end() {
    for (uint64_t seen = 0;;) {
      std::this_thread::sleep_for(kLate);
      const Lock lock(mutex_);
      if (std::exchange(seen, calls_) == calls_) want_all();
    }
  }

  bool has_changed(const Task& task) const { return task.since_ != changes_; }

  // Whether it does something, or is about to.
  bool is_active(const Task& task) const {
    if (task.state_ == State::kWaits)
      return (has_changed(task) && !task.spins_) || task.is_given_up_;
    return task.state_ == State::kReady || task.state_ == State::kRuns;
  }

  static bool is_long_outside(const Task& task) {
    return task.outside_ && Task::Clock::now() - *task.outside_ > kLongFunction;
  }

  // Who has waited longest for a turn; those that spin only come if nobody else
  // has anything to do.
  const Task* next() const {
    const Task* spinning = nullptr;
    for (const TaskPointer& task : unfinished_) {
      if (task->state_ == State::kRuns || !is_active(*task)) {
        const bool spins =
            task->state_ == State::kWaits && task->spins_ &&
            (has_changed(*task) || Task::Clock::now() >= task->until_);
        if (spins && !spinning) spinning = task.get();
        continue;
      }
      return task.get();
    }
    return spinning;
  }

  // Who spins is not kept longer than it has asked for, if nobody else runs: it
  // counts the time.
  void take_turn(Lock& lock, Task& task) {
    while (turn_is_taken_ || next() != &task) {
      const auto now = Task::Clock::now();
      const bool waits = task.spins_ && now < task.until_;
      changed_.wait_until(
          lock, waits ? std::min(task.until_, now + kNap) : now + kNap);
    }
    turn_is_taken_ = true;
    task.state_ = State::kRuns;
    task.spins_ = false;
  }

  void give_turn(Task& task, uint64_t seen, bool spins) {
    task.state_ = State::kWaits;
    task.since_ = seen;
    task.spins_ = spins;
    turn_is_taken_ = false;
    changed_.notify_all();
  }

  // Whether nobody is there any more to tell its error to.
  bool is_late(const Task& task) {
    const Lock lock(mutex_);
    return task.error_ && !task.attended_;
  }

  void end(const TaskPointer& task) {
    const Lock lock(mutex_);
    task->state_ = State::kDone;
    task->end_ = Task::Clock::now();
    task->body_ = nullptr;
    unfinished_.remove(task);
    turn_is_taken_ = false;
    --threads_;
    ++changes_;
    start_ready();
    changed_.notify_all();
  }

  // Of a task whose call has returned: what is wrong with it comes back as the
  // failure of a kernel does.
  static void tell_late(Task& task) {
    const cudaError_t code = answer_always(
        [&] { std::rethrow_exception(task.error_); }, "work in a stream");
    note_finding();
    set_sticky_error(code);
  }

  bool all_wait() const {
    return std::all_of(unfinished_.begin(), unfinished_.end(),
                       [&](const TaskPointer& task) {
                         return !is_active(*task) && !task->spins_;
                       });
  }

  bool nobody_is_left() const {
    return all_threads_wait(waiting_hosts_ + threads_ + late_);
  }

  static bool is_over(Task::Clock::duration time) {
    static const double limit = settings::patience();
    return limit != 0 && std::chrono::duration<double>(time).count() > limit;
  }

  void give_up() {
    for (const TaskPointer& task : unfinished_)
      task->is_given_up_ = task->state_ == State::kWaits;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<TaskPointer> unfinished_;  // in the order of their calls
  bool turn_is_taken_ = false;
  size_t waiting_hosts_ = 0, threads_ = 0;
  std::atomic<uint64_t> changes_{1};
  const bool late_ = settings::late();
  uint64_t calls_ = 0;  // of the host, for tasks
};

namespace {

// Never destroyed: tasks may run when the program ends.
Scheduler& scheduler() {
  static auto* one = new Scheduler;
  return *one;
}

std::atomic<bool>& tasks_wanted() {
  static std::atomic<bool> wanted = device_count() > 1 || settings::late();
  return wanted;
}

void await_all(const Tasks& tasks) {
  scheduler().want(tasks);
  for (const TaskPointer& task : tasks) await(task);
}

}  // namespace

std::atomic<uint64_t>& Task::changes() { return scheduler().changes(); }

bool Task::await_change(uint64_t changes) {
  return scheduler().await_change(*this, changes);
}

bool Task::pause(std::chrono::microseconds time) {
  return scheduler().pause(*this, time);
}

void Task::without_turn(const std::function<void()>& body) {
  scheduler().without_turn(*this, body);
}

bool Task::is_done() const { return scheduler().is_done(*this); }

bool there_are_tasks() { return tasks_wanted(); }

void begin_tasks() { tasks_wanted() = true; }

Task* current_task() { return runs_here; }

TaskPointer perform(const Queue& queue, std::function<void()> body,
                    const Tasks& after) {
  if (!there_are_tasks()) {
    body();
    return nullptr;
  }
  const auto task = std::make_shared<Task>(queue, std::move(body));
  scheduler().submit(task, after);
  scheduler().leave(*task);
  return task;
}

// Begun where there are no tasks, it becomes one if it takes long.
void perform_function(const Queue& queue, std::function<void()> body) {
  if (!there_are_tasks()) {
    const auto apart = std::async(std::launch::async, body).share();
    if (apart.wait_for(kLongFunction) == std::future_status::ready)
      return apart.get();
    begin_tasks();
    body = [apart] { current_task()->without_turn([&] { apart.get(); }); };
  }
  perform(queue, std::move(body));
}

void run_function(const std::function<void()>& function) {
  runs_function = true;
  function();
  runs_function = false;
}

bool in_function() { return runs_function; }

void perform_now(const Queue& queue, std::function<void()> body,
                 const Tasks& after) {
  if (!there_are_tasks()) return body();
  const auto task = std::make_shared<Task>(queue, std::move(body));
  scheduler().submit(task, after);
  await(task);
  scheduler().leave(*task);
}

void await(const TaskPointer& task) {
  // It would wait for itself, or for what comes behind it.
  require(!in_function() || task->is_done(), cudaErrorNotPermitted,
          "a function of the host that a stream calls must not wait for it");
  scheduler().want({task});
  scheduler().await(*task);
  const cudaError_t fault = sticky_error();
  require(fault == cudaSuccess, fault, "");
}

void want(const TaskPointer& task) { scheduler().want({task}); }

void await(const Queue& queue) {
  await_all(scheduler().unfinished(
      [&](const Queue& one) { return are_ordered(one, queue); }));
  note_awaited(queue);
}

void await_device(int device) {
  await_all(tasks_of(device));
  note_awaited(device);
}

Tasks tasks_of(int device) {
  return scheduler().unfinished(
      [&](const Queue& one) { return one.device == device; });
}

size_t unfinished_tasks() {
  if (!there_are_tasks()) return 0;
  return scheduler().unfinished([](const Queue&) { return true; }).size();
}

void note_change() { ++scheduler().changes(); }

bool await(const std::function<bool()>& done) {
  return scheduler().await(done, false);
}

bool is_idle(const Queue& queue) {
  const Tasks tasks = scheduler().unfinished(
      [&](const Queue& one) { return are_ordered(one, queue); });
  scheduler().want(tasks);
  if (tasks.empty()) note_awaited(queue);
  return tasks.empty();
}

}  // namespace simt
