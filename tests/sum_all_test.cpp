// What every sum_all() must do, whichever file defines it, with as many devices
// as there are.
#include "common/sum_all.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "common/harness/checked_call.h"
#include "tests/contract.h"

namespace {

using namespace contract;

// Without GPUs, unless somebody has asked for something else: eight devices,
// whose streams begin when somebody waits for them, so that it shows who does
// not wait.
const int kEight = setenv("SIMT_DEVICES", "8", /*overwrite=*/0);
const int kLate = setenv("SIMT_ORDER", "late", /*overwrite=*/0);
const bool kOnExecutor = simt::make_read_only != nullptr;

const float kPoison = std::bit_cast<float>(0xffffffff);  // A NaN.

int devices_there() {
  static const int there = [] {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    if (count < kMostDevices)
      std::printf("Left out: teams of more than %d, which is all there is.\n",
                  count);
    return std::min(count, kMostDevices);
  }();
  return there;
}

using Numbers = std::vector<int>;

Numbers first_devices(int count) {
  Numbers devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}
Numbers all_devices() { return first_devices(devices_there()); }

// For a while, another device than the current one.
class On {
 public:
  explicit On(int device) {
    CUDA_CHECK(cudaGetDevice(&before_));
    CUDA_CHECK(cudaSetDevice(device));
  }
  ~On() { cudaSetDevice(before_); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  int before_ = 0;
};

SumAllJoined join(const Numbers& devices) {
  SumAllDevices wanted = {};
  wanted.count = static_cast<int>(devices.size());
  std::copy_n(devices.begin(), std::min<size_t>(devices.size(), kMostDevices),
              wanted.device);
  return sum_all_join(wanted);
}

class Joined {
 public:
  explicit Joined(Numbers numbers)
      : devices(std::move(numbers)), joined_(join(devices)) {
    REQUIRE_MESSAGE(joined_.team, joined_.error.said);
  }
  ~Joined() { sum_all_leave(joined_.team); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  SumAllError sum(const SumAllParts& parts) const {
    return sum_all(joined_.team, parts);
  }
  int size() const { return static_cast<int>(devices.size()); }

  const Numbers devices;

 private:
  SumAllJoined joined_;
};

// ---- What must come out -----------------------------------------------------

struct Reference {
  long double exact = 0, magnitude = 0;
  int64_t longest = 0;
  bool whole = true;

  explicit Reference(const std::vector<Floats>& parts) {
    for (const Floats& part : parts) {
      longest = std::max<int64_t>(longest, std::ssize(part));
      for (const float v : part) {
        exact += v;
        magnitude += std::fabs(static_cast<long double>(v));
        whole = whole && v == std::floor(v);
      }
    }
  }
  // Whole numbers are added without rounding, as far as floats have them all.
  long double slack() const {
    if (whole && magnitude <= 0x1p24L) return 0;
    return (longest * 0x1p-19L + 64) * 0x1p-24L * magnitude;
  }
  bool allows(float got) const {
    if (std::isnan(exact)) return std::isnan(got);
    if (std::isinf(exact)) return got == exact;
    return std::fabs(got - exact) <= slack();
  }
  std::string text() const {
    char line[96];
    std::snprintf(line, sizeof line, "%.12Lg, give or take %.3Lg", exact,
                  slack());
    return line;
  }
};

// Whole numbers but 0, so that one more or one less is noticed.
Floats whole(int64_t n) {
  Floats values = random(n, 1.f, 17.f);
  for (float& v : values) v = std::floor(v);
  return values;
}

std::vector<Floats> whole_parts(const std::vector<int64_t>& lengths) {
  std::vector<Floats> parts;
  for (const int64_t n : lengths) parts.push_back(whole(n));
  return parts;
}

// ---- A call -----------------------------------------------------------------

// One call's parts, each in memory of its device, among words that must stay as
// they are. The streams are lent where several calls share them.
class Call {
 public:
  Call(const Joined& team, const std::vector<Floats>& parts, int64_t offset = 0)
      : team_(team), expected_(parts) {
    for (int i = 0; i < team.size(); ++i) {
      const On on(team.devices[i]);
      x_.push_back(std::make_unique<Inputs<float>>(kPoison));
      begin_.push_back(x_[i]->add(parts[i], offset > 0 ? offset + i : 0));
      x_[i]->upload();
      out_.push_back(std::make_unique<Outputs<float>>(kPoison));
      out_[i]->add({0.f}, offset);
      streams_.push_back(std::make_unique<Stream>());
      n_.push_back(std::ssize(parts[i]));
    }
    renew();
  }
  ~Call() {
    for (int i = 0; i < team_.size(); ++i) {
      const On on(team_.devices[i]);
      x_[i].reset();
      out_[i].reset();
      streams_[i].reset();
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Poisons the results.
  void renew() {
    for (int i = 0; i < team_.size(); ++i) {
      const On on(team_.devices[i]);
      out_[i]->upload();
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

  // On the streams of this call, or of another.
  SumAllParts parts(const Call& of) const {
    SumAllParts all = {};
    for (int i = 0; i < team_.size(); ++i)
      all.of[i] = {n_[i] ? x_[i]->at(begin_[i]) : nullptr, n_[i],
                   out_[i]->at(0), of.stream(i)};
    return all;
  }
  void launch() const { launch(*this); }
  void launch(const Call& of) const {
    const SumAllError error = try_launch(of);
    REQUIRE_MESSAGE(error.said[0] == '\0', error.said);
  }
  SumAllError try_launch(const Call& of) const { return team_.sum(parts(of)); }

  cudaStream_t stream(int i) const { return *streams_[i]; }
  int device(int i) const { return team_.devices[i]; }
  int size() const { return team_.size(); }

  void finish() const {
    for (const auto& stream : streams_) stream->finish();
  }
  void close() const {
    for (const auto& x : x_) x->close();
  }
  bool untouched() const {
    return std::all_of(out_.begin(), out_.end(),
                       [](const auto& out) { return out->untouched(); });
  }
  float result(int i) const {
    const On on(device(i));
    float got = 0.f;
    CUDA_CHECK(
        cudaMemcpy(&got, out_[i]->at(0), sizeof got, cudaMemcpyDeviceToHost));
    return got;
  }

  void check() const {
    for (int i = 0; i < team_.size(); ++i) {
      INFO("team of ", team_.size(), ", device ", team_.devices[i]);
      CHECK_MESSAGE(x_[i]->unchanged(), "sum_all() changed its input");
      check_result(i);
      check_same_bits(i);
      check_guards(i);
    }
  }
  void check_result(int i) const {
    const float got = result(i);
    CHECK_MESSAGE(expected_.allows(got), "expected ", expected_.text(),
                  ", got ", contract::text(got));
  }

 private:
  void check_same_bits(int i) const {
    const float got = result(i);
    CHECK_MESSAGE(same(result(0), got), "device ", device(i), " has ",
                  contract::text(got), ", device ", device(0), " has ",
                  contract::text(result(0)));
  }
  void check_guards(int i) const {
    const auto anything = [](float, float) { return true; };
    for (const auto& one :
         out_[i]->differences("out", anything, contract::text))
      CHECK_MESSAGE(one.empty(), one);
  }

  const Joined& team_;
  const Reference expected_;
  std::vector<std::unique_ptr<Inputs<float>>> x_;
  std::vector<std::unique_ptr<Outputs<float>>> out_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<int64_t> begin_, n_;
};

// A first call may wait: kernels are loaded, and NCCL's ranks find each other.
struct Team : Joined {
  explicit Team(Numbers numbers = all_devices()) : Joined(std::move(numbers)) {
    Call first(*this, std::vector<Floats>(size()));
    first.launch();
    first.finish();
  }
};

// Holds every stream of a call back until it is opened.
class Gates {
 public:
  explicit Gates(const Call& call) {
    for (int i = 0; i < call.size(); ++i) {
      const On on(call.device(i));
      gates_.push_back(std::make_unique<Gate>(call.stream(i)));
    }
  }
  void open(int i) { gates_[i]->open(); }
  void open() {
    for (const auto& gate : gates_) gate->open();
  }
  bool gave_up() const {
    return std::any_of(gates_.begin(), gates_.end(),
                       [](const auto& gate) { return gate->gave_up(); });
  }

 private:
  std::vector<std::unique_ptr<Gate>> gates_;
};

// The last device begins last: who does not wait for it has another sum.
void run_and_check(const Team& team, const std::vector<Floats>& parts,
                   int64_t offset = 0) {
  Call call(team, parts, offset);
  {
    const On on(call.device(call.size() - 1));
    Gate late(call.stream(call.size() - 1));
    call.launch();
    late.open();
    call.finish();
    REQUIRE_MESSAGE(!late.gave_up(), "sum_all() waited for a stream's work");
  }
  call.check();
}

// `some` of the lengths, one after the other, from the k-th on.
std::vector<int64_t> lengths_from(const std::vector<int64_t>& some, size_t k,
                                  int count) {
  std::vector<int64_t> chosen;
  for (int i = 0; i < count; ++i) chosen.push_back(some[(k + i) % some.size()]);
  return chosen;
}

// A call that is recorded in a CUDA graph, which begins and ends on the stream
// of its first device. On the stream of device `marked` a node of the host's
// stands before the call, and after it there is one on each stream.
class Recorded {
 public:
  Recorded(const Call& call, int marked) {
    const auto node = [](void*) {};
    const cudaStream_t first = call.stream(0);
    CUDA_CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    follow(call, 0, -1);
    const On on(call.device(marked));
    CUDA_CHECK(cudaLaunchHostFunc(call.stream(marked), node, nullptr));
    const bool queued = call.try_launch(call).said[0] == '\0';
    for (int i = 0; queued && i < call.size(); ++i) {
      CUDA_CHECK(cudaSetDevice(call.device(i)));
      CUDA_CHECK(cudaLaunchHostFunc(call.stream(i), node, nullptr));
    }
    if (queued) follow(call, -1, 0);
    const cudaError_t ended = cudaStreamEndCapture(first, &graph_);
    if (!queued || ended != cudaSuccess) graph_ = nullptr;
    cudaGetLastError();  // The caller is told by succeeded().
  }
  ~Recorded() {
    if (graph_) cudaGraphDestroy(graph_);
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  bool succeeded() const { return graph_ != nullptr; }

  void replay(const Call& call) const {
    cudaGraphExec_t work;
    CUDA_CHECK(cudaGraphInstantiate(&work, graph_, 0));
    CUDA_CHECK(cudaGraphLaunch(work, call.stream(0)));
    call.finish();
    CUDA_CHECK(cudaGraphExecDestroy(work));
  }

  // How many of the nodes after the call come after the one before it.
  int reached() const {
    std::set<cudaGraphNode_t> inner, after;
    for (const cudaGraphNode_t node : nodes())
      for (const cudaGraphNode_t before : needs(node)) {
        inner.insert(before);
        if (after.count(before) || is_mark(before)) after.insert(node);
      }
    return static_cast<int>(
        std::count_if(after.begin(), after.end(), [&](cudaGraphNode_t node) {
          return is_host(node) && !inner.count(node);
        }));
  }

 private:
  using Nodes = std::vector<cudaGraphNode_t>;

  // All streams go on from where `from` is, or `to` from where all are; -1 is
  // all.
  void follow(const Call& call, int from, int to) {
    for (int i = 1; i < call.size(); ++i) {
      const int source = from < 0 ? i : from, target = to < 0 ? i : to;
      cudaEvent_t event = nullptr;
      const On on(call.device(source));
      CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      CUDA_CHECK(cudaEventRecord(event, call.stream(source)));
      CUDA_CHECK(cudaSetDevice(call.device(target)));
      CUDA_CHECK(cudaStreamWaitEvent(call.stream(target), event, 0));
      events_.push_back(event);
    }
  }
  // Each after those that it needs.
  Nodes nodes() const {
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph_, nullptr, &count));
    Nodes all(count), sorted;
    CUDA_CHECK(cudaGraphGetNodes(graph_, all.data(), &count));
    std::set<cudaGraphNode_t> done;
    while (sorted.size() < all.size()) {
      for (const cudaGraphNode_t node : all) {
        const Nodes before = needs(node);
        const bool ready =
            std::all_of(before.begin(), before.end(),
                        [&](cudaGraphNode_t one) { return done.count(one); });
        if (ready && done.insert(node).second) sorted.push_back(node);
      }
    }
    return sorted;
  }
  static cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t* on,
                                  size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphNodeGetDependencies(node, on, nullptr, count);
#else
    return cudaGraphNodeGetDependencies(node, on, count);
#endif
  }
  static Nodes needs(cudaGraphNode_t node) {
    size_t count = 0;
    CUDA_CHECK(dependencies(node, nullptr, &count));
    Nodes before(count);
    if (count > 0) CUDA_CHECK(dependencies(node, before.data(), &count));
    return before;
  }
  static bool is_host(cudaGraphNode_t node) {
    cudaGraphNodeType type;
    CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeHost;
  }
  static bool is_mark(cudaGraphNode_t node) {
    return is_host(node) && needs(node).empty();
  }

  cudaGraph_t graph_ = nullptr;
  std::vector<cudaEvent_t> events_;
};

void check_refused(const Numbers& devices, const std::string& why) {
  const SumAllJoined joined = join(devices);
  CHECK(joined.team == nullptr);
  const std::string said = joined.error.said;
  CHECK_MESSAGE(said.find(why) != std::string::npos, "it says '", said,
                "' and not '", why, "'");
  CHECK(cudaGetLastError() == cudaSuccess);
}

}  // namespace

// n numbers in all, the last device with what is left over.
void checked_call(const Case& one) {
  const Joined team(all_devices());  // A first call would be counted, too.
  std::vector<int64_t> parts(team.size(), one.n / team.size());
  parts.back() += one.n % team.size();
  const Call call(team, whole_parts(parts), one.offset);
  call.launch();
  call.finish();
  call.check();
}

TEST_CASE("sum_all handles uneven parts, in teams of every size") {
  const std::vector<int64_t> some =
      lengths({1, 33, 0, 8193, 2, 1025, 31, 4097, 16'389, 100'003, 5});
  for (int size = 1; size <= devices_there(); ++size) {
    const Team team(first_devices(size));
    for (size_t k = 0; k < some.size(); ++k)
      run_and_check(team, whole_parts(lengths_from(some, k, size)));
  }
}

TEST_CASE("sum_all handles long parts") {
  const Team team;
  std::vector<int64_t> parts(team.size(), 3);
  parts.front() = 300'007;
  parts.back() = 300'001;
  run_and_check(team, whole_parts(parts));
}

TEST_CASE("sum_all handles every offset") {
  const Team team;
  for (int64_t offset = 0; offset < 4; ++offset) {
    const std::vector<int64_t> some = {1025, 3, 4099, 8191};
    run_and_check(team, whole_parts(lengths_from(some, offset, team.size())),
                  offset);
  }
}

TEST_CASE("sum_all takes empty parts") {
  const Team team;
  for (int full = 0; full < team.size(); ++full) {
    std::vector<Floats> parts(team.size());
    parts[full] = whole(1025);
    run_and_check(team, parts);
  }
}

TEST_CASE("sum_all of nothing is +0 on every device") {
  const Team team;
  Call call(team, std::vector<Floats>(team.size()));
  call.launch();
  call.finish();
  call.check();
  for (int i = 0; i < team.size(); ++i)
    CHECK(std::bit_cast<uint32_t>(call.result(i)) == 0u);
}

TEST_CASE("sum_all forgets the parts of the call before") {
  const Team team;
  run_and_check(team, whole_parts(std::vector<int64_t>(team.size(), 5000)));
  run_and_check(team, std::vector<Floats>(team.size()));
  run_and_check(team, whole_parts(std::vector<int64_t>(team.size(), 7)));
}

TEST_CASE("sum_all knows the devices in any order") {
  Numbers devices = all_devices();
  std::reverse(devices.begin(), devices.end());
  for (; !devices.empty(); devices.pop_back()) {
    const Team team(devices);
    run_and_check(team, whole_parts(std::vector<int64_t>(team.size(), 1000)));
  }
}

TEST_CASE("sum_all is as exact as it promises") {
  const Team team;
  for (const int64_t n : {33, 5000, 200'003}) {
    std::vector<Floats> mixed, tenths, cancelling;
    for (int i = 0; i < team.size(); ++i) {
      mixed.push_back(random(n));
      tenths.emplace_back(n, 0.1f);
      cancelling.emplace_back(n, i % 2 ? -0.3f : 0.3f);
    }
    run_and_check(team, mixed);
    run_and_check(team, tenths, 1);
    run_and_check(team, cancelling);
  }
}

TEST_CASE("sum_all passes NaN through, to every device") {
  const Team team;
  for (int from = 0; from < team.size(); ++from) {
    std::vector<Floats> parts(team.size(), random(2049));
    parts[from][2048 * (from % 2)] = kNan;
    run_and_check(team, parts);
  }
}

TEST_CASE("sum_all keeps infinity, and two of both signs are NaN") {
  const Team team;
  for (const float second : {0.f, kInf, -kInf}) {
    std::vector<Floats> parts(team.size(), random(2049));
    parts.front()[0] = kInf;
    parts.back()[1000] = second;
    run_and_check(team, parts);
  }
}

TEST_CASE("sum_all gives the same bits in every run, and to every device") {
  const Team team;
  std::vector<Floats> parts;
  for (int i = 0; i < team.size(); ++i) parts.push_back(random(100'003));
  Call call(team, parts, 1);
  const int runs = kOnExecutor ? 3 : 300;
  call.launch();
  call.finish();
  const float first = call.result(0);
  for (int run = 1; run < runs; ++run) {
    call.launch();
    call.finish();
    for (int i = 0; i < team.size(); ++i)
      REQUIRE_MESSAGE(same(first, call.result(i)), "run ", run, ", device ",
                      team.devices[i], ": ", contract::text(call.result(i)),
                      ", not ", contract::text(first));
  }
}

// A call may find its devices still at work on the call before.
TEST_CASE("sum_all is done on each stream, as far as that stream goes") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 20'001)));
  call.launch();
  call.finish();
  for (int i = 0; i < team.size(); ++i) {
    call.renew();
    Gates gates(call);
    call.launch();
    for (int k = team.size() - 1; k >= 0; --k) gates.open(k);
    CUDA_CHECK(cudaStreamSynchronize(call.stream(i)));
    INFO("device ", team.devices[i], " did not wait");
    call.check_result(i);
    call.finish();
  }
}

TEST_CASE("sum_all can be called again before it is done") {
  const Team team;
  std::vector<std::unique_ptr<Call>> calls;
  for (int k = 0; k < 6; ++k)
    calls.push_back(std::make_unique<Call>(
        team, whole_parts(lengths_from({3, 40'001, 1}, k, team.size()))));
  for (int slow = 0; slow < team.size(); ++slow) {
    for (const auto& call : calls) call->renew();
    calls[0]->launch();  // Loading a kernel for the first time may wait.
    calls[0]->finish();
    Gates gates(*calls[0]);
    for (const auto& call : calls) call->launch(*calls[0]);
    for (int i = 0; i < team.size(); ++i)
      if (i != slow) gates.open(i);
    if (!kOnExecutor)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gates.open(slow);
    calls[0]->finish();
    for (const auto& call : calls) call->check();
  }
}

// Whatever follows on a device's stream finds the result.
TEST_CASE("sum_all queues its work and returns") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 200'003)));
  call.launch();
  call.finish();
  call.renew();
  Gates gates(call);
  call.launch();
  const bool worked_outside = !call.untouched();
  gates.open();
  call.finish();
  CHECK_MESSAGE(!gates.gave_up(), "sum_all() waited for a stream's work");
  CHECK_MESSAGE(!worked_outside, "sum_all() worked outside of the streams");
  call.check();
}

TEST_CASE("sum_all waits for the numbers of every device") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 3000)));
  call.launch();
  call.finish();
  for (int late = 0; late < team.size(); ++late) {
    call.renew();
    Gates gates(call);
    call.launch();
    for (int i = 0; i < team.size(); ++i)
      if (i != late) gates.open(i);
    if (!kOnExecutor)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_MESSAGE(call.untouched(), "device ", team.devices[late],
                  " had not begun");
    gates.open(late);
    call.finish();
    call.check();
  }
}

TEST_CASE("sum_all can be recorded and replayed") {
  const Team team;
  Call call(team, whole_parts(lengths_from({5000, 33, 0}, 0, team.size())));
  call.launch();
  call.finish();
  call.renew();
  const Recorded recorded(call, 0);
  REQUIRE_MESSAGE(recorded.succeeded(), "sum_all() cannot be recorded");
  CHECK_MESSAGE(call.untouched(), "sum_all() worked outside of the streams");
  for (int time = 0; time < 3; ++time) recorded.replay(call);
  call.check();
}

// A recorded call shows what waits for what. Devices that meet by events need
// one for each way; NCCL's wait for each other in their own memory.
TEST_CASE("sum_all orders every result behind every part") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 100)));
  call.launch();
  call.finish();
  std::vector<int> reached;
  for (int i = 0; i < team.size(); ++i) {
    const Recorded recorded(call, i);
    REQUIRE_MESSAGE(recorded.succeeded(), "sum_all() cannot be recorded");
    reached.push_back(recorded.reached());
  }
  if (*std::max_element(reached.begin(), reached.end()) == 1) return;
  for (int i = 0; i < team.size(); ++i)
    CHECK_MESSAGE(reached[i] == team.size(), "only ", reached[i], " of ",
                  team.size(), " results wait for the part of device ",
                  team.devices[i]);
}

TEST_CASE("sum_all serves two teams on two streams per device") {
  const Team one, two;
  Call of_one(one, whole_parts(std::vector<int64_t>(one.size(), 65'537)));
  Call of_two(two, whole_parts(std::vector<int64_t>(two.size(), 65'541)), 1);
  for (int round = 0; round < 3; ++round) {
    of_one.renew();
    of_two.renew();
    of_one.launch();
    of_two.launch();
    of_one.finish();
    of_two.finish();
    of_one.check();
    of_two.check();
  }
}

TEST_CASE("sum_all serves a team within another") {
  const Team all, last({devices_there() - 1});
  run_and_check(last, whole_parts({777}));
  run_and_check(all, whole_parts(std::vector<int64_t>(all.size(), 777)));
  run_and_check(last, whole_parts({778}));
}

TEST_CASE("sum_all can be called from any thread of the host") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 5000)));
  std::thread([&] { call.launch(); }).join();
  call.finish();
  call.check();
}

TEST_CASE("sum_all leaves the caller's device as it was") {
  for (const int mine : std::set<int>{0, devices_there() - 1}) {
    const On on(mine);
    const auto current = [] {
      int device = -1;
      CUDA_CHECK(cudaGetDevice(&device));
      return device;
    };
    const Joined team(all_devices());
    CHECK_MESSAGE(current() == mine, "join left another");
    Call call(team, whole_parts(std::vector<int64_t>(team.size(), 5)));
    call.launch();
    CHECK_MESSAGE(current() == mine, "the call left another");
    call.finish();
  }
}

TEST_CASE("sum_all does its work after a call of others that failed") {
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 1025)));
  void* none = nullptr;
  REQUIRE(cudaMalloc(&none, size_t{1} << 60) != cudaSuccess);
  call.launch();
  call.finish();
  call.check();
}

TEST_CASE("sum_all says which device is missing, or there twice") {
  const int beyond = [] {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    return count;
  }();
  check_refused({0, beyond}, "There is no device " + std::to_string(beyond));
  check_refused({-1}, "There is no device -1");
  check_refused({0, 0}, "Device 0 is in the team twice");
  check_refused({}, "1 to 8 devices, not 0");
  check_refused({0, 1, 2, 3, 4, 5, 6, 7, 8}, "1 to 8 devices, not 9");
}

TEST_CASE("sum_all gives back what it takes") {
  const auto once = [] {
    const Team team;
    run_and_check(team, whole_parts(std::vector<int64_t>(team.size(), 100)));
  };
  once();  // What is kept for all teams comes with the first.
  if (!simt::things_held) return;
  const size_t before = simt::things_held();
  once();
  CHECK_MESSAGE(simt::things_held() <= before, "a team kept ",
                simt::things_held() - before, " of what it took");

  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 100)));
  call.launch();
  call.finish();
  const size_t joined = simt::things_held();
  call.launch();
  call.finish();
  CHECK_MESSAGE(simt::things_held() <= joined, "a call kept ",
                simt::things_held() - joined, " of what it took");
}

TEST_CASE("sum_all never writes to its input") {
  if (is_left_to_the_executor()) return;
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 8195)), 1);
  call.close();
  call.launch();
  call.finish();
  call.check();
}

// The executor says of each refused call why, before it is known that a check
// wanted it so.
void announce_refusals() {
  if (kOnExecutor)
    std::fputs("The errors that follow are provoked by a check.\n", stderr);
}

TEST_CASE("sum_all gives back the error of any device") {
  // A driver may run a kernel in another device's stream, instead of refusing
  // it as the CUDA guide says: then the kernel itself fails, and CUDA with it.
  if (is_left_to_the_executor()) return;
  announce_refusals();
  const Team team;
  Call call(team, whole_parts(std::vector<int64_t>(team.size(), 100)));
  for (const int i : std::set<int>{1, team.size() - 1}) {
    SumAllParts parts = call.parts(call);
    parts.of[i].stream = call.stream(0);  // Of another device.
    const std::string said = team.sum(parts).said;
    CHECK_MESSAGE(said.starts_with("Device " + std::to_string(team.devices[i])),
                  "it says '", said, "'");
    cudaGetLastError();
    call.finish();
  }
  call.renew();
  call.launch();
  call.finish();
  call.check();
}

TEST_CASE("sum_all says which device has no memory left") {
  announce_refusals();
  const int full = devices_there() - 1;
  std::vector<void*> taken;
  {
    const On on(full);
    size_t bytes = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&bytes, &total));
    // A GPU keeps pieces for small arrays; the executor gives all at once.
    const size_t least = kOnExecutor ? std::max<size_t>(bytes, 256) : 256;
    for (; bytes >= least; bytes /= 2)
      for (void* p = nullptr; cudaMalloc(&p, bytes) == cudaSuccess;)
        taken.push_back(p);
    cudaGetLastError();
  }
  check_refused(all_devices(), "Device " + std::to_string(full));
  for (void* p : taken) CUDA_CHECK(cudaFree(p));
}
