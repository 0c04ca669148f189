// Compares what unordered work touched.
#include "common/simt/observe/overlaps.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/closed_pages.h"

namespace simt {
namespace {

// So much work is remembered at most, and in so many pages of bits. The oldest
// is forgotten first.
constexpr size_t kMostRecent = 200, kMostPages = 1 << 16;

const Operation& root_of(const Operation& one) {
  return one.graph ? root_of(*one.graph) : one;
}

size_t depth_of(const Operation& one) {
  return one.graph ? 1 + depth_of(*one.graph) : 0;
}

// Nodes of one graph know of each other; others only of the graph as a whole.
bool is_before_or_behind(const Operation& a, const Operation& b) {
  if (a.queue == b.queue && a.graph == b.graph) return true;
  const size_t depth_a = depth_of(a), depth_b = depth_of(b);
  if (depth_a > depth_b) return is_before_or_behind(*a.graph, b);
  if (depth_b > depth_a) return is_before_or_behind(a, *b.graph);
  if (&a == &b) return true;
  if (a.graph != b.graph) return is_before_or_behind(*a.graph, *b.graph);
  const Operation& earlier = a.number < b.number ? a : b;
  return a.past.knows(b.queue, b.number) || b.past.knows(a.queue, a.number) ||
         earlier.past.behind_host_function;
}

// Is it so for `one`, or for any of those with whom it talked?
template <class Holds>
bool any_of_talk(const Operation& one, Holds holds) {
  return holds(one) ||
         (one.talk && std::ranges::any_of(one.talk->all,
                                          [&](const OperationPointer& other) {
                                            return holds(*other);
                                          }));
}

bool are_ordered(const Operation& a, const Operation& b) {
  if (a.talk && a.talk == b.talk) return true;
  return any_of_talk(a, [&](const Operation& mine) {
    return any_of_talk(b, [&](const Operation& theirs) {
      return is_before_or_behind(mine, theirs);
    });
  });
}

bool any_writes(const Touched& a, const Touched& b) {
  return a.use != Use::kLoad || b.use != Use::kLoad;
}

// A copy or a fill of a word may set a flag, as a volatile store does.
bool sets_word(const Operation& one, const Touched& touched) {
  constexpr uint64_t kWord = 8;
  if (one.is_kernel || touched.use != Use::kStore || touched.bytes.pages() > 1)
    return false;
  uint64_t bytes = 0;
  touched.bytes.each_range(
      [&](uint64_t begin, uint64_t end) { bytes += end - begin; });
  return bytes <= kWord;
}

// By flags: neither is a plain access, and one of them changes the word.
bool talk(const Operation& a, const Operation& b) {
  const auto by_flag = [&](const Touched& mine, const Touched& theirs) {
    if (mine.weak && theirs.weak) return false;
    return (!mine.weak || sets_word(a, mine)) &&
           (!theirs.weak || sets_word(b, theirs));
  };
  for (const Touched& mine : a.footprint)
    for (const Touched& theirs : b.footprint)
      if (any_writes(mine, theirs) && by_flag(mine, theirs) &&
          mine.bytes.first_common(theirs.bytes))
        return true;
  return false;
}

void join_talks(Operation& a, Operation& b) {
  for (Operation* one : {&a, &b}) {
    if (one->talk) continue;
    one->talk = std::make_shared<Talk>();
    one->talk->all.push_back(one->shared_from_this());
  }
  const bool a_is_larger = a.talk->all.size() >= b.talk->all.size();
  const std::shared_ptr<Talk> to = a_is_larger ? a.talk : b.talk;
  const std::shared_ptr<Talk> from = a_is_larger ? b.talk : a.talk;
  for (const OperationPointer& one : from->all) one->talk = to;
  std::ranges::move(std::exchange(from->all, {}), std::back_inserter(to->all));
}

// The members of a talk hold it, and it holds them: a circle.
void end_talk(const Operation& one) {
  if (!one.talk) return;
  const std::vector<OperationPointer> all = std::exchange(one.talk->all, {});
  for (const OperationPointer& each : all) each->talk = nullptr;
}

// Two accesses to the same bytes that must not come in either order.
bool is_race(const Touched& a, const Touched& b) {
  if (!any_writes(a, b) || (!a.weak && !b.weak)) return false;
  if (a.tests && b.tests) return false;
  return !a.value.equals(b.value);
}

size_t pages_of(const Operation& one) {
  size_t sum = 0;
  for (const Touched& touched : one.footprint) sum += touched.bytes.pages();
  return sum;
}

// Not another array, which has got an address that the other one gave back.
bool is_same_memory(uint64_t address, const Operation& earlier) {
  const auto found = allocations().find(address);
  return found && found->memory != Memory::kHeap &&
         found->number <= earlier.newest_allocation;
}

std::string verb_of(const Touched& t) {
  if (t.verb) return t.verb;
  return t.use == Use::kLoad    ? "reads"
         : t.use == Use::kStore ? "writes"
                                : "updates";
}

bool frees(const Operation& one) {
  return std::ranges::any_of(
      one.footprint, [](const Touched& t) { return verb_of(t) == "frees"; });
}

std::string name_of(const Operation& one, const Touched& touched) {
  std::string text = one.what;
  if (touched.line)
    text += " at " + touched.file + ":" + std::to_string(touched.line);
  return text + " in " + one.where;
}

std::string remedy_for(const Operation& a, const Operation& b) {
  if (a.is_early || b.is_early)
    return (a.is_early ? a : b).what +
           " may begin before the kernel in front of it is done. Call "
           "cudaGridDependencySynchronize() in each thread that needs what "
           "that kernel does";
  if (a.graph && b.graph && &root_of(a) == &root_of(b))
    return "Add an edge between the two nodes of the graph: "
           "cudaGraphAddDependencies, or an event where it is captured";
  const std::string wait =
      "Let one wait for the other: record an event after the first with "
      "cudaEventRecord, and call cudaStreamWaitEvent for the other's stream";
  if (!a.in_default_stream && !b.in_default_stream) return wait;
  return wait +
         ". Streams made with cudaStreamNonBlocking and the default one do not "
         "wait for each other";
}

Finding finding_of(const Operation& one, const Touched& touched,
                   const char* kind, uint64_t address) {
  Finding f;
  f.kind = kind;
  f.kernel = one.what;
  f.file = touched.file;
  f.line = touched.line;
  f.address = address;
  f.count = 1;
  f.names_thread = false;
  return f;
}

Finding race_of(const Operation& a, const Touched& of_a, const Operation& b,
                const Touched& of_b, uint64_t address) {
  Finding f = finding_of(a, of_a,
                         a.is_early || b.is_early ? "race between kernels"
                                                  : "race between streams",
                         address);
  f.message = a.what + " in " + a.where + " " + verb_of(of_a) + " " +
              allocations().describe(address) + ", and " + name_of(b, of_b) +
              " " + verb_of(of_b) + " it" +
              (verb_of(of_a) == verb_of(of_b) ? ", too" : "") +
              "; nothing says which comes first. " + remedy_for(a, b);
  f.has_other = of_b.line != 0;
  f.other_file = of_b.file;
  f.other_line = of_b.line;
  return f;
}

Finding early_of(const Operation& one, const Touched& touched, uint64_t address,
                 bool writes) {
  Finding f = finding_of(one, touched, "race with the host", address);
  f.message = "the host " + std::string(writes ? "writes " : "reads ") +
              allocations().describe(address) + ", and " + one.what + " in " +
              one.where + " " + verb_of(touched) +
              " it: nothing has waited for that. Call " + one.wait +
              " before the host touches it" +
              (one.graph ? ", or add an edge if a node of the graph does" : "");
  return f;
}

uint64_t page_bytes() {
  static const uint64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

bool is_for_host(const Allocation& a) {
  return !a.is_device_only() && !a.adopted && !a.freed;
}

// f(allocation, first page, end) for the parts of it that the host may touch.
template <class F>
void each_part_of_host(const TouchedBytes& bytes, F f) {
  std::optional<Allocation> found;
  bytes.each_range([&](uint64_t begin, uint64_t end) {
    while (begin < end) {
      if (!found || !found->contains(begin)) found = allocations().find(begin);
      if (!found) return;
      if (is_for_host(*found)) f(*found, begin, std::min(end, found->end));
      begin = found->end;
    }
  });
}

// Calls f(begin, end) for runs of pages of which all that belongs to an array
// is among the bytes.
template <class F>
void each_full_run(const TouchedBytes& bytes, F f) {
  std::set<std::pair<uint64_t, uint64_t>> pages;
  each_part_of_host(
      bytes, [&](const Allocation& array, uint64_t begin, uint64_t end) {
        const uint64_t size = page_bytes();
        uint64_t first = begin / size * size;
        if (!bytes.contains(std::max(first, array.begin),
                            std::min(first + size, array.end)))
          first += size;
        uint64_t last = (end + size - 1) / size * size;
        if (last > first && !bytes.contains(std::max(last - size, array.begin),
                                            std::min(last, array.end)))
          last -= size;
        if (first < last) pages.insert({first, last});
      });
  uint64_t begin = 0, end = 0;
  for (const auto& [from, to] : pages) {
    if (from > end) {
      if (begin < end) f(begin, end);
      begin = from;
    }
    end = std::max(end, to);
  }
  if (begin < end) f(begin, end);
}

// The early part of a kernel begins when all blocks of the one in front have
// let it, or have ended; so it comes behind what one of them has waited for
// before. If none has let it, it comes behind them all: CUB's merge sort counts
// on that.
void learn_front(Operation& part) {
  if (const OperationPointer front = std::exchange(part.front, nullptr)) {
    const bool begins_with_it = front->early && !front->handover.waits_first;
    part.past.join(!front->handover.before_it_ends ? front->past
                   : begins_with_it                ? front->early->past
                                                   : front->before);
  }
}

}  // namespace

void Overlaps::compare(Operation& mine, Operation& other,
                       std::vector<Finding>& findings) {
  if (are_ordered(mine, other)) return;
  if (talk(mine, other)) return join_talks(mine, other);
  std::set<std::pair<uint32_t, uint32_t>> told;  // by their lines
  for (const Touched& a : mine.footprint) {
    for (const Touched& b : other.footprint) {
      if (!is_race(a, b) || told.contains({a.line, b.line})) continue;
      const auto address = a.bytes.first_common(b.bytes);
      if (!address || !is_same_memory(*address, other)) continue;
      told.insert({a.line, b.line});
      findings.push_back(a.line || !b.line
                             ? race_of(mine, a, other, b, *address)
                             : race_of(other, b, mine, a, *address));
    }
  }
}

// Memory that waits for its last use waits for all that came before.
void Overlaps::compare_with_all(Operation& mine,
                                const std::deque<OperationPointer>& others,
                                std::vector<Finding>& findings) {
  const size_t before = findings.size();
  for (const OperationPointer& other : others) {
    const size_t earlier = findings.size();
    compare(mine, *other, findings);
    if (frees(mine) && !mine.graph && findings.size() > earlier)
      findings.erase(findings.begin() + before, findings.begin() + earlier);
  }
}

std::vector<Finding> Overlaps::end(Operation& operation, Footprint footprint) {
  const Lock held = lock();
  std::vector<Finding> findings;
  if (Operation* const early = operation.early.get()) {
    const auto late = std::ranges::stable_partition(footprint, &Touched::early);
    early->what = operation.what;
    learn_front(*early);
    end_part(*early,
             {std::make_move_iterator(footprint.begin()),
              std::make_move_iterator(late.begin())},
             findings);
    footprint.erase(footprint.begin(), late.begin());
  }
  end_part(operation, std::move(footprint), findings);
  return findings;
}

void Overlaps::end_part(Operation& operation, Footprint footprint,
                        std::vector<Finding>& findings) {
  if (operation.ended || gave_up_) return;
  operation.ended = true;
  operation.footprint = std::move(footprint);
  operation.pages = pages_of(operation);
  operation.newest_allocation = allocations().newest();
  const Operation& root = root_of(operation);
  if (operation.speaks || host_.knows(root.queue, root.number)) return;
  if (operation.everything) {
    const size_t before = findings.size();
    // A talk with one of them decides about others.
    const auto compare_all = [&] {
      findings.erase(findings.begin() + before, findings.end());
      for (const auto& [queue, others] : recent_)
        if (operation.graph || queue != operation.queue)
          compare_with_all(operation, others, findings);
    };
    compare_all();
    if (findings.size() > before) compare_all();
  }
  remember(operation);
}

void Overlaps::remember(Operation& operation) {
  if (operation.footprint.empty()) return;
  if (operation.meets_host) close_pages(operation);
  if (!operation.everything) return;
  recent_[root_of(operation).queue].push_back(operation.shared_from_this());
  ++recent_count_;
  recent_pages_ += operation.pages;
  while (recent_count_ > kMostRecent || recent_pages_ > kMostPages)
    forget_oldest();
}

void Overlaps::forget_oldest() {
  const auto oldest = std::ranges::min_element(
      recent_, {}, [](const auto& one) { return one.second.front()->number; });
  --recent_count_;
  recent_pages_ -= oldest->second.front()->pages;
  oldest->second.pop_front();
  if (oldest->second.empty()) recent_.erase(oldest);
}

// What it wrote, to all that the host does; what it read, to its writes.
void Overlaps::close_pages(Operation& operation) {
  TouchedBytes written, all;
  bool any = false;
  for (const Touched& touched : operation.footprint) {
    if (!touched.without_host) continue;
    each_part_of_host(touched.bytes,
                      [&](const Allocation&, uint64_t begin, uint64_t end) {
                        any = true;
                        all.insert(begin, end);
                        if (touched.use != Use::kLoad)
                          written.insert(begin, end);
                      });
  }
  if (!any || allocations().distance(allocations().arena_begin()) == 0) return;
  const OperationPointer owner = operation.shared_from_this();
  each_full_run(all, [&](uint64_t begin, uint64_t end) {
    closed_pages().close(begin, end, false, owner);
  });
  each_full_run(written, [&](uint64_t begin, uint64_t end) {
    closed_pages().close(begin, end, true, owner);
  });
}

void Overlaps::learn(const Past& known) {
  const Lock held = lock();
  host_.join(known);
  const auto is_known = [&](const Operation& one) {
    const Operation& root = root_of(one);
    return one.speaks || host_.knows(root.queue, root.number);
  };
  // Of those who talked with one another, all or none.
  for (const auto& [queue, all] : recent_)
    for (const OperationPointer& one : all)
      if (one->talk && !one->speaks && any_of_talk(*one, is_known))
        for (const OperationPointer& other : one->talk->all)
          other->speaks = true;
  for (auto& [queue, all] : recent_) {
    std::erase_if(all, [&](const OperationPointer& one) {
      if (!is_known(*one)) return false;
      end_talk(*one);
      --recent_count_;
      recent_pages_ -= one->pages;
      return true;
    });
  }
  std::erase_if(recent_, [](const auto& one) { return one.second.empty(); });
  closed_pages().open([&](const void* owner) {
    return is_known(*static_cast<const Operation*>(owner));
  });
}

void Overlaps::speak(Operation& operation) {
  const Lock held = lock();
  if (operation.speaks.exchange(true)) return;
  learn(root_of(operation).past);
}

// All that has closed pages has ended: it is before the node, if nothing else.
void Overlaps::begin_function(const Operation& node) {
  const Lock held = lock();
  closed_pages().open([&](const void* owner) {
    const auto& other = *static_cast<const Operation*>(owner);
    return &root_of(other) == &root_of(node) &&
           is_before_or_behind(other, node);
  });
}

void Overlaps::forget(uint64_t begin, uint64_t end) {
  closed_pages().open(begin, end);
}

std::vector<Finding> Overlaps::take_early() {
  std::vector<Finding> findings;
  for (const ClosedPages::Early& early : closed_pages().take_early()) {
    const auto& one = *static_cast<const Operation*>(early.owner.get());
    for (const Touched& touched : one.footprint) {
      if (!touched.without_host ||
          (touched.use == Use::kLoad && !early.writes) ||
          !touched.bytes.contains(early.address, early.address + 1))
        continue;
      findings.push_back(early_of(one, touched, early.address, early.writes));
      break;
    }
  }
  return findings;
}

void Overlaps::give_up() {
  const Lock held = lock();
  gave_up_ = true;
  for (const auto& [queue, all] : recent_)
    for (const OperationPointer& one : all) end_talk(*one);
  recent_.clear();
  recent_count_ = recent_pages_ = 0;
  closed_pages().open([](const void*) { return true; });
}

Overlaps& overlaps() {
  static auto* one = new Overlaps;
  return *one;
}

}  // namespace simt
