// Says of each piece of work what comes before it, by CUDA's rules.
#include "common/simt/runtime/happens_before.h"

#include <map>
#include <utility>

#include "common/simt/core/device.h"
#include "common/simt/core/settings.h"
#include "common/simt/core/unseen_text.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/report.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// Numbers of queues of their own begin there: above all addresses.
constexpr uint64_t kEarlyParts = 1ull << 63;

// What is issued next in a queue comes behind this.
struct Known {
  Queue queue;
  Past past;
  OperationPointer last;  // of what was issued there
};

// All that follows is used while overlaps() is locked.
struct State {
  std::map<uint64_t, Known> queues;
  std::map<int, Past> devices;  // what all of their queues come behind
  uint64_t operations = 0;
};
State& state() {
  static auto* one = new State;
  return *one;
}

std::atomic<uint64_t> host_waited{0};
std::atomic<bool> kernel_since{false};

void count_wait() {
  ++host_waited;
  show_text();
  kernel_since = false;
}

// What this thread does, and where that went.
struct Doing {
  Operation* operation = nullptr;
  Footprint footprint;
};
thread_local Doing& doing = *new Doing;  // never destroyed, see launch.cpp

// While it lives, this thread does that; then again what it did before.
class DoingNow {
 public:
  explicit DoingNow(Operation& operation)
      : before_(std::exchange(doing, Doing{&operation, {}})) {}
  ~DoingNow() { doing = std::move(before_); }
  DoingNow(const DoingNow&) = delete;
  DoingNow& operator=(const DoingNow&) = delete;

 private:
  Doing before_;
};

// Handles of streams lie above 2^32.
uint64_t key_of(const Queue& queue) {
  const uint64_t device = queue.device;
  if (queue.is_legacy()) return device;
  if (queue.thread == 0) return reinterpret_cast<uint64_t>(queue.stream);
  return queue.thread * settings::kMostDevices + device;
}

std::string name_of(const Queue& queue) {
  const std::string of_device =
      device_count() > 1 ? " of device " + std::to_string(queue.device) : "";
  if (queue.is_legacy()) return "the default stream" + of_device;
  if (queue.thread)
    return "host thread " + std::to_string(queue.thread) + "'s default stream" +
           of_device;
  return "stream " + std::to_string(number_of(queue.stream)) + of_device;
}

std::string wait_for(const Queue& queue) {
  return queue.is_legacy() ? "cudaDeviceSynchronize or cudaStreamSynchronize(0)"
                           : "cudaStreamSynchronize";
}

Known& known_of(const Queue& queue) {
  Known& known = state().queues[key_of(queue)];
  known.queue = queue;
  return known;
}

// Streams that wait for the default one, and it for them.
bool is_tied(const Queue& a, const Queue& b) {
  return a.device == b.device &&
         ((a.is_legacy() && b.blocking) || (b.is_legacy() && a.blocking));
}

Past all_before(const Queue& queue) {
  Past past = known_of(queue).past;
  past.join(state().devices[queue.device]);
  for (const auto& [key, other] : state().queues)
    if (is_tied(queue, other.queue)) past.join(other.past);
  return past;
}

// With no queue there is nothing that the host does not know.
void learn(const Past& past) {
  if (state().queues.empty()) return;
  overlaps().learn(past);
  for (auto& [key, known] : state().queues)
    known.past.forget(overlaps().host());
  std::erase_if(state().queues,
                [](const auto& one) { return one.second.past.empty(); });
  for (auto& [device, known] : state().devices) known.forget(overlaps().host());
}

void publish(const std::vector<Finding>& findings) {
  if (findings.empty()) return;
  add_findings(findings);
  tell_findings();
}

// What a kernel does before it waits for `front`, the one in front of it.
void let_begin_early(Operation& one, const OperationPointer& front) {
  if (!front->is_kernel) return;
  const auto part = std::make_shared<Operation>();
  part->where = one.where;
  part->wait = one.wait;
  part->in_default_stream = one.in_default_stream;
  part->graph = one.graph;
  part->number = ++state().operations;
  part->queue = kEarlyParts + part->number;
  part->past.learn(part->queue, part->number);
  one.past.join(part->past);
  part->everything = part->is_early = true;
  part->front = front;
  one.early = part;
}

}  // namespace

OperationPointer begin_operation(const Queue& queue, const Nature& nature) {
  tell_early();
  if (nature.is_kernel || nature.has_parts) kernel_since = true;
  const auto lock = overlaps().lock();
  const bool everything =
      nature.has_parts || streams_may_overlap() || kernels_may_begin_early();
  const bool alone = !everything && !allocations().host_has_some();
  if (alone && state().queues.empty()) return nullptr;
  Known& known = known_of(queue);
  const Past before = all_before(queue);
  const OperationPointer front = std::exchange(known.last, nullptr);
  known.past = before;
  const uint64_t number = ++state().operations;
  known.past.learn(key_of(queue), number);
  if (alone || overlaps().gave_up() || !settings::checks()) return nullptr;
  const auto operation = std::make_shared<Operation>();
  operation->what = nature.what;
  operation->where = name_of(queue);
  operation->wait = wait_for(queue);
  operation->in_default_stream = queue.is_legacy();
  operation->queue = key_of(queue);
  operation->number = number;
  operation->everything = everything;
  operation->is_kernel = nature.is_kernel;
  operation->before = before;
  operation->past = known.past;
  // Otherwise it comes behind other work, too.
  if (nature.begins_early && front && front->past.knows_all_of(before))
    let_begin_early(*operation, front);
  known.past = operation->past;
  known.last = operation;
  return operation;
}

OperationPointer begin_node(Operation& graph, uint64_t node,
                            const Nature& nature,
                            const std::vector<OperationPointer>& before) {
  const auto lock = overlaps().lock();
  const auto operation = std::make_shared<Operation>();
  operation->what = nature.what;
  operation->where = "a graph in " + graph.where;
  operation->wait = graph.wait;
  operation->queue = node;
  operation->number = ++state().operations;
  operation->graph = graph.shared_from_this();
  for (const OperationPointer& one : before) operation->past.join(one->past);
  operation->before = operation->past;
  operation->past.learn(node, operation->number);
  operation->everything = true;
  operation->is_kernel = nature.is_kernel;
  if (nature.begins_early && before.size() == 1)
    let_begin_early(*operation, before[0]);
  return operation;
}

void do_operation(const OperationPointer& operation,
                  const std::function<void()>& run) {
  if (!operation) return run();
  std::vector<Finding> findings;
  {
    const DoingNow now(*operation);
    run();
    findings = overlaps().end(*operation, std::move(doing.footprint));
  }
  publish(findings);
}

std::function<void()> as_operation(const OperationPointer& operation,
                                   const std::function<void()>& run) {
  if (!operation) return run;
  return [operation, run] { do_operation(operation, run); };
}

Operation* current_operation() { return doing.operation; }

void note_touched(const void* begin, size_t bytes, Use use,
                  const StoredValue& value, const char* verb) {
  if (!doing.operation) return;
  const auto address = reinterpret_cast<uint64_t>(begin);
  const auto found = allocations().find(address);
  if (!found || (!doing.operation->everything && found->is_device_only()))
    return;
  if (!found->is_device_only()) doing.operation->meets_host = true;
  auto one = std::ranges::find(doing.footprint, use, &Touched::use);
  if (one == doing.footprint.end()) {
    one = doing.footprint.insert(one, Touched{});
    one->use = use;
    one->verb = verb;
  }
  one->bytes.insert(address, address + bytes);
  one->value.add(value);
}

void add_footprint(Footprint footprint) {
  std::ranges::move(footprint, std::back_inserter(doing.footprint));
}

Past past_of(const Queue& queue) {
  const auto lock = overlaps().lock();
  return all_before(queue);
}

void come_behind(const Queue& queue, const Past& past) {
  const auto lock = overlaps().lock();
  Past behind = all_before(queue);
  behind.join(past);
  known_of(queue).past = behind;
}

void note_function(const Queue& queue) {
  show_text();
  tell_early();
  const auto lock = overlaps().lock();
  learn(all_before(queue));
  if (there_are_tasks()) known_of(queue).past.behind_host_function = true;
}

void begin_function() {
  if (doing.operation && doing.operation->graph)
    overlaps().begin_function(*doing.operation);
}

void order_device(int device) {
  const auto lock = overlaps().lock();
  for (const auto& [key, known] : state().queues)
    if (known.queue.device == device) state().devices[device].join(known.past);
}

void note_awaited(const Past& past) {
  count_wait();
  tell_early();
  const auto lock = overlaps().lock();
  learn(past);
}

void note_awaited(const Queue& queue) {
  count_wait();
  tell_early();
  const auto lock = overlaps().lock();
  if (!state().queues.empty())
    learn(queue.is_legacy() ? all_before(queue) : known_of(queue).past);
}

void note_awaited(int device) {
  count_wait();
  tell_early();
  const auto lock = overlaps().lock();
  order_device(device);
  learn(Past(state().devices[device]));
}

Waits host_waits() { return {host_waited, kernel_since}; }

void note_freed(uint64_t begin, uint64_t end) {
  count_wait();
  tell_early();
  overlaps().forget(begin, end);
}

void tell_early() { publish(overlaps().take_early()); }

}  // namespace simt
