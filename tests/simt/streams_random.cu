// Random work of streams, beside a model of what CUDA's rules order. What the
// model calls a race is one for the executor, too, and nothing else is; where
// nothing races, memory holds what the work leaves in the order of the calls.
// With a seed as its argument it runs that one alone.

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/simt/child.h"

namespace {

using expect::ok;

constexpr int kPage = 1024, kPages = 4, kInts = kPages * kPage;
constexpr int kArrays = 7;  // 4: pinned, 5: managed, 6: now and then there
constexpr int kPinned = 4, kPooled = 6;
constexpr int kSteps = 24, kSeeds = 200;

__global__ void triple(int* to, const int* from, int n, int more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = 3 * from[i] + more + i;
}
__global__ void put(int* to, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = 1000 * value + i;
}

// ---- What comes before what -------------------------------------------------

// Who acts in an order of its own: the host, the streams, each node of a graph
// that is launched.
enum {
  kHost,
  kLegacy,
  kBlocking,
  kBlocking2,
  kFree,
  kFree2,
  kPerThread,
  kFirst
};
constexpr int kMost = 300;

bool waits_for_legacy(int who) {
  return who == kBlocking || who == kBlocking2 || who == kPerThread;
}

// How far one knows everybody.
struct Clock {
  std::array<int, kMost> at = {};

  void join(const Clock& other) {
    for (int i = 0; i < kMost; ++i) at[i] = std::max(at[i], other.at[i]);
  }
};

struct Access {
  int who, time, array, begin, end;
  bool writes;
};

class Order {
 public:
  Clock& of(int who) { return clocks_[who]; }
  int new_node(const Clock& begin) {
    clocks_[count_] = begin;
    ++clocks_[count_].at[count_];
    return count_++;
  }
  bool has_room(int nodes) const { return count_ + nodes <= kMost; }

  void begin(int who) {
    Clock& now = clocks_[who];
    now.join(clocks_[kHost]);
    if (waits_for_legacy(who)) now.join(clocks_[kLegacy]);
    if (who == kLegacy)
      for (const int other : {kBlocking, kBlocking2, kPerThread})
        now.join(clocks_[other]);
    ++now.at[who];
  }

  void touch(int who, int array, int begin, int n, bool writes) {
    const Clock& now = clocks_[who];
    for (const Access& a : all_)
      races_ |= a.array == array && a.begin < begin + n && begin < a.end &&
                (a.writes || writes) && now.at[a.who] < a.time;
    all_.push_back({who, now.at[who], array, begin, begin + n, writes});
  }
  bool races() const { return races_; }

 private:
  std::array<Clock, kMost> clocks_;
  int count_ = kFirst;
  std::vector<Access> all_;
  bool races_ = false;
};

// ---- Work -------------------------------------------------------------------

enum class What { kTriple, kPut, kCopy, kFill };

struct Work {
  What what;
  int to, from, at, from_at, n, value;
  std::vector<int> behind = {};  // in a graph: nodes before it

  bool reads() const { return what == What::kTriple || what == What::kCopy; }
};

class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {
    for (int i = 0; i < kPinned; ++i)
      ok(cudaMalloc(&arrays_[i], kInts * sizeof(int)));
    ok(cudaMallocHost(&arrays_[kPinned], kInts * sizeof(int)));
    ok(cudaMallocManaged(&arrays_[kPinned + 1], kInts * sizeof(int)));
    for (int i = 0; i < kPooled; ++i)
      ok(cudaMemset(arrays_[i], 0, kInts * sizeof(int)));
    ok(cudaDeviceSynchronize());
    streams_[kLegacy] = cudaStreamLegacy;
    streams_[kPerThread] = cudaStreamPerThread;
    for (const int who : {kBlocking, kBlocking2})
      ok(cudaStreamCreate(&streams_[who]));
    for (const int who : {kFree, kFree2})
      ok(cudaStreamCreateWithFlags(&streams_[who], cudaStreamNonBlocking));
    for (cudaEvent_t& event : events_)
      ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    // Few of them, so that they meet.
    for (int i = below(3) + 2; i > 0; --i)
      mine_.push_back(1 + below(kFirst - 1));
    for (int i = below(3) + 2; i > 0; --i) some_.push_back(below(kArrays));
  }

  void run() {
    for (int i = 0; i < kSteps && !order_.races(); ++i) {
      if (below(5) < 3) wait_for_all();
      step();
    }
    wait_for_all();
  }

  bool races() const { return order_.races(); }

  static bool is_of_host(int array) {
    return array >= kPinned && array < kPooled;
  }

  // Everything is where the model has it.
  bool is_right() const {
    std::vector<int> now(kInts);
    for (int i = 0; i < kPooled; ++i) {
      ok(cudaMemcpy(now.data(), arrays_[i], kInts * sizeof(int),
                    cudaMemcpyDefault));
      if (now != model_[i]) return false;
    }
    return right_;
  }

 private:
  int below(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random_);
  }
  int any_array() {
    const int one = some_[below(int(some_.size()))];
    return arrays_[one] ? one : below(kPooled);
  }

  // No two write the same: those may meet.
  Work any_work() {
    Work w{What(below(4)), any_array(), any_array(), below(kPages) * kPage};
    w.n = std::min((1 + below(3)) * kPage, kInts - w.at);
    w.from_at =
        w.to == w.from ? w.at : std::min(below(kPages) * kPage, kInts - w.n);
    w.value = 1 + works_++ % 120;
    if (w.what == What::kCopy && w.to == w.from) w.what = What::kPut;
    return w;
  }

  int* to(const Work& w) const { return arrays_[w.to] + w.at; }
  int* from(const Work& w) const { return arrays_[w.from] + w.from_at; }

  void touch(int who, const Work& w) {
    if (w.reads()) order_.touch(who, name_of(w.from), w.from_at, w.n, false);
    order_.touch(who, name_of(w.to), w.at, w.n, true);
  }

  // What it leaves in memory.
  void follow(const Work& w) {
    const auto begin = model_[w.to].begin() + w.at;
    const std::vector<int> old(model_[w.from].begin() + w.from_at,
                               model_[w.from].begin() + w.from_at + w.n);
    for (int i = 0; i < w.n; ++i)
      begin[i] = w.what == What::kTriple ? 3 * old[i] + w.value + i
                 : w.what == What::kPut  ? 1000 * w.value + i
                 : w.what == What::kCopy ? old[i]
                                         : w.value * 0x01010101;
  }

  void issue(int who, const Work& w) {
    order_.begin(who);
    touch(who, w);
    follow(w);
    queue(streams_[who], w);
  }

  void queue(cudaStream_t stream, const Work& w) {
    const size_t bytes = w.n * sizeof(int);
    switch (w.what) {
      case What::kTriple:
        triple<<<kPages, kPage, 0, stream>>>(to(w), from(w), w.n, w.value);
        return;
      case What::kPut:
        put<<<kPages, kPage, 0, stream>>>(to(w), w.n, w.value);
        return;
      case What::kCopy:
        return ok(
            cudaMemcpyAsync(to(w), from(w), bytes, cudaMemcpyDefault, stream));
      case What::kFill:
        return ok(cudaMemsetAsync(to(w), w.value, bytes, stream));
    }
  }

  // A copy without a stream; the host waits if its own memory takes part.
  void copy_now(const Work& w) {
    order_.begin(kLegacy);
    touch(kLegacy, w);
    follow(w);
    ok(cudaMemcpy(to(w), from(w), w.n * sizeof(int), cudaMemcpyDefault));
    if (is_of_host(w.to) || is_of_host(w.from))
      order_.of(kHost).join(order_.of(kLegacy));
  }

  void wait_for_all() {
    ok(cudaDeviceSynchronize());
    for (int who = kLegacy; who < kFirst; ++who)
      order_.of(kHost).join(order_.of(who));
  }

  void wait_for(int who) {
    if (who == kLegacy) order_.begin(who);
    ok(cudaStreamSynchronize(streams_[who]));
    order_.of(kHost).join(order_.of(who));
  }

  void record(int who, int event) {
    order_.begin(who);
    ok(cudaEventRecord(events_[event], streams_[who]));
    recorded_[event] = order_.of(who);
  }

  void come_behind(int who, int event) {
    if (recorded_[event].at == Clock{}.at) return;  // Nobody waits for that.
    order_.begin(who);
    order_.of(who).join(recorded_[event]);
    ok(cudaStreamWaitEvent(streams_[who], events_[event], 0));
  }

  void wait_for_event(int event) {
    ok(cudaEventSynchronize(events_[event]));
    order_.of(kHost).join(recorded_[event]);
  }

  // Each time it is other memory.
  int name_of(int array) const {
    return array == kPooled ? array + times_allocated_ : array;
  }

  void allocate_or_free(int who) {
    int*& array = arrays_[kPooled];
    order_.begin(who);
    if (array == nullptr) {
      ++times_allocated_;
      ok(cudaMallocAsync(&array, kInts * sizeof(int), streams_[who]));
      order_.touch(who, name_of(kPooled), 0, kInts, true);
      issue(who, {What::kPut, kPooled, kPooled, 0, 0, kInts, 1});
    } else if (graphs_.empty()) {  // They may know it.
      order_.touch(who, name_of(kPooled), 0, kInts, true);
      ok(cudaFreeAsync(array, streams_[who]));
      array = nullptr;
    }
  }

  // Memory of the host.
  void visit(Work w, bool writes) {
    if (!is_of_host(w.to)) return;
    ++order_.of(kHost).at[kHost];
    order_.touch(kHost, w.to, w.at, w.n, writes);
    volatile int* const here = to(w);
    int* const there = model_[w.to].data() + w.at;
    for (int i = 0; i < w.n; ++i) {
      if (writes)
        here[i] = there[i] = w.value - i;
      else
        right_ &= here[i] == there[i] || order_.races();
    }
  }

  // ---- Graphs ----

  struct Graph {
    std::vector<Work> nodes;
    cudaGraphExec_t executable;
    Clock done = {};  // one launch of it comes behind the other
  };

  cudaGraphNode_t add(cudaGraph_t graph, const Work& w,
                      const std::vector<cudaGraphNode_t>& behind) {
    cudaGraphNode_t node;
    int *target = to(w), *source = from(w), n = w.n, value = w.value;
    const size_t bytes = w.n * sizeof(int);
    if (w.what == What::kCopy) {
      ok(cudaGraphAddMemcpyNode1D(&node, graph, behind.data(), behind.size(),
                                  target, source, bytes, cudaMemcpyDefault));
    } else if (w.what == What::kFill) {
      const cudaMemsetParams fill{target, bytes, unsigned(value), 1, bytes, 1};
      ok(cudaGraphAddMemsetNode(&node, graph, behind.data(), behind.size(),
                                &fill));
    } else {
      const bool triples = w.what == What::kTriple;
      void* of_triple[] = {&target, &source, &n, &value};
      void* of_put[] = {&target, &n, &value};
      cudaKernelNodeParams launch = {};
      launch.func = triples ? reinterpret_cast<void*>(triple)
                            : reinterpret_cast<void*>(put);
      launch.gridDim = kPages;
      launch.blockDim = kPage;
      launch.kernelParams = triples ? of_triple : of_put;
      ok(cudaGraphAddKernelNode(&node, graph, behind.data(), behind.size(),
                                &launch));
    }
    return node;
  }

  void make_graph() {
    Graph made;
    cudaGraph_t graph;
    ok(cudaGraphCreate(&graph, 0));
    std::vector<cudaGraphNode_t> nodes;
    for (int i = 1 + below(4); i > 0; --i) {
      Work w = any_work();
      std::vector<cudaGraphNode_t> behind;
      for (int k = 0; k < int(nodes.size()); ++k) {
        if (below(5) < 2) continue;
        w.behind.push_back(k);
        behind.push_back(nodes[k]);
      }
      nodes.push_back(add(graph, w, behind));
      made.nodes.push_back(w);
    }
    ok(cudaGraphInstantiate(&made.executable, graph, 0));
    graphs_.push_back(made);
  }

  // One stream after another is drawn into the capture, and they wait for one
  // another again and again. The first one waits for all in the end.
  void capture_graph() {
    Graph made;
    std::vector<int> who = {kBlocking, kBlocking2, kFree, kFree2, kPerThread};
    std::shuffle(who.begin(), who.end(), random_);
    std::vector<std::vector<int>> last(1);  // of each: the nodes behind it
    const auto let_wait = [&](int one, int other) {
      cudaEvent_t event;
      ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      ok(cudaEventRecord(event, streams_[who[other]]));
      ok(cudaStreamWaitEvent(streams_[who[one]], event, 0));
      last[one].insert(last[one].end(), last[other].begin(), last[other].end());
    };
    ok(cudaStreamBeginCapture(streams_[who[0]], cudaStreamCaptureModeGlobal));
    for (int i = 2 + below(5); i > 0; --i) {
      const int count = int(last.size()), one = below(count);
      if (below(2) && count < 4) {
        last.emplace_back();
        let_wait(count, one);
      } else if (below(2)) {
        let_wait(one, below(count));
      }
      Work w = any_work();
      w.behind = last[one];
      queue(streams_[who[one]], w);
      last[one] = {int(made.nodes.size())};
      made.nodes.push_back(w);
    }
    for (int k = 1; k < int(last.size()); ++k) let_wait(0, k);
    cudaGraph_t graph;
    ok(cudaStreamEndCapture(streams_[who[0]], &graph));
    ok(cudaGraphInstantiate(&made.executable, graph, 0));
    graphs_.push_back(made);
  }

  void launch(int who, Graph& graph) {
    if (!order_.has_room(int(graph.nodes.size()))) return;
    order_.begin(who);
    order_.of(who).join(graph.done);
    const Clock begun = order_.of(who);
    std::vector<int> nodes;
    for (const Work& w : graph.nodes) {
      Clock before = begun;
      for (const int k : w.behind) before.join(order_.of(nodes[k]));
      nodes.push_back(order_.new_node(before));
      touch(nodes.back(), w);
      follow(w);
      graph.done.join(order_.of(nodes.back()));
    }
    order_.of(who).join(graph.done);
    ok(cudaGraphLaunch(graph.executable, streams_[who]));
  }

  void step() {
    const int who = mine_[below(int(mine_.size()))], event = below(4);
    const Work w = any_work();
    switch (below(15)) {
      case 14:
        return allocate_or_free(who);
      case 0:
        return record(who, event);
      case 1:
        return come_behind(who, event);
      case 2:
        return wait_for_event(event);
      case 3:
        return wait_for(who);
      case 4:
        return w.what == What::kCopy ? copy_now(w) : issue(who, w);
      case 5:
      case 6:
        return visit(w, below(2) == 0);
      case 7:
        if (graphs_.size() == 3) return;
        return below(2) ? make_graph() : capture_graph();
      case 8:
      case 9:
        return graphs_.empty()
                   ? void()
                   : launch(who, graphs_[below(int(graphs_.size()))]);
      default:
        return issue(who, w);
    }
  }

  std::mt19937 random_;
  std::array<int*, kArrays> arrays_ = {};
  int times_allocated_ = 0;
  std::array<std::vector<int>, kArrays> model_ = [] {
    std::array<std::vector<int>, kArrays> all;
    all.fill(std::vector<int>(kInts));
    return all;
  }();
  std::array<cudaStream_t, kFirst> streams_ = {};
  std::array<cudaEvent_t, 4> events_;
  std::array<Clock, 4> recorded_ = {};
  std::vector<int> mine_, some_;  // streams and arrays that take part
  std::vector<Graph> graphs_;
  Order order_;
  int works_ = 0;
  bool right_ = true;
};

void run_one(unsigned seed) {
  Machine machine(seed);
  machine.run();
  std::cout << (machine.races()      ? "[races]"
                : machine.is_right() ? "[right]"
                                     : "[wrong]")
            << std::endl;
}

void check(unsigned seed) {
  const auto ended = run_self(std::to_string(seed));
  const auto says = [&](const char* words) {
    return ended.output.find(words) != std::string::npos;
  };
  const bool found = says("simt: race between") || says("simt: race with");
  const bool good = (says("[races]") && (found || !on_executor())) ||
                    (says("[right]") && !found);
  expect::is_true(good, ("seed " + std::to_string(seed)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    run_one(unsigned(std::atoi(argv[1])));
    return 0;
  }
  for (unsigned seed = 1; seed <= kSeeds; ++seed) check(seed);
  return expect::report();
}
