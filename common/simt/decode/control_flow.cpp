// Where diverged lanes meet again: the immediate post-dominator of a branch,
// the first instruction that every way from the branch to the end must pass.
//
// A way that leaves the kernel in its middle is none of those: hardware takes
// lanes that have exited off whatever waits for them. So of a kernel's exits
// one counts as its end, which most of the code leads to. Code that leads to
// others only is looked at by itself.
//
// Post-dominators by the iteration of Cooper, Harvey and Kennedy ("A simple,
// fast dominance algorithm", 2001), on the reversed control flow.
#include <algorithm>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/decode.h"
#include "common/simt/decode/postorder.h"

namespace simt {
namespace {

constexpr int kUnknown = -1;

struct Flow {
  std::vector<uint32_t> first;         // first instruction of each basic block
  std::vector<std::vector<int>> next;  // successors; the last block is the end
  std::vector<int> exits;              // blocks that may end the kernel,
  std::vector<int> traps;              // or end the program
};

bool ends_block(const Instruction& ins) {
  return ins.kind == Kind::kBranch || ins.kind == Kind::kTable ||
         ins.kind == Kind::kReturn || ins.kind == Kind::kExit;
}

bool traps(const Instruction& ins) {
  return ins.guard == kNowhere && ins.statement &&
         ins.statement->name() == "trap";
}

// Where the ways through a function lead.
class Ways {
 public:
  explicit Ways(const Function& function)
      : code_(function.code), kernel_(function.text->entry) {}

  Flow flow() {
    const std::vector<bool> leads = block_starts(code_);
    block_at_.assign(code_.size() + 1, 0);
    for (size_t pc = 0; pc < code_.size(); ++pc) {
      if (leads[pc]) flow_.first.push_back(pc);
      block_at_[pc] = static_cast<int>(flow_.first.size()) - 1;
    }
    end_ = block_at_[code_.size()] = static_cast<int>(flow_.first.size());
    flow_.next.resize(end_ + 1);
    for (int b = 0; b < end_; ++b) {
      const auto first = code_.begin() + flow_.first[b];
      const auto last =
          b + 1 < end_ ? code_.begin() + flow_.first[b + 1] : code_.end();
      if (std::any_of(first, last, traps))
        flow_.traps.push_back(b);
      else
        leave(b, static_cast<uint32_t>(last - code_.begin() - 1));
    }
    return std::move(flow_);
  }

 private:
  bool exits(const Instruction& ins) const {
    return ins.kind == Kind::kExit || (kernel_ && ins.kind == Kind::kReturn);
  }

  // Does nothing happen there but that the kernel ends?
  bool only_exits(uint32_t pc) const {
    return pc < code_.size() && exits(code_[pc]) && code_[pc].guard == kNowhere;
  }

  void leave(int block, uint32_t last) {
    const Instruction& ins = code_[last];
    auto& next = flow_.next[block];
    bool exits_here = exits(ins);
    const auto go = [&](uint32_t pc) {
      if (only_exits(pc))
        exits_here = true;
      else
        next.push_back(block_at_[pc]);
    };
    if (ins.kind == Kind::kBranch) go(ins.target);
    for (uint32_t target : ins.targets()) go(target);
    if (ins.kind == Kind::kReturn && !kernel_) next.push_back(end_);
    if (!ends_block(ins) || ins.guard != kNowhere) go(last + 1);
    if (exits_here) flow_.exits.push_back(block);
  }

  const std::vector<Instruction>& code_;
  const bool kernel_;
  Flow flow_;
  std::vector<int> block_at_;  // of an instruction
  int end_ = 0;
};

// Blocks from which the end can be reached, in postorder of the reversed flow.
std::vector<int> order_from_end(const Flow& flow) {
  const int blocks = static_cast<int>(flow.next.size());
  std::vector<std::vector<int>> before(blocks);
  for (int b = 0; b < blocks; ++b)
    for (int s : flow.next[b]) before[s].push_back(b);
  return postorder(before, blocks - 1);
}

// The immediate post-dominator of each block from which the end can be reached.
std::vector<int> post_dominators(const Flow& flow) {
  const std::vector<int> order = order_from_end(flow);
  std::vector<int> rank(flow.next.size(), kUnknown);
  for (size_t k = 0; k < order.size(); ++k)
    rank[order[k]] = static_cast<int>(k);
  std::vector<int> dominator(flow.next.size(), kUnknown);
  const int end = order.back();
  dominator[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = order.rbegin() + 1; b != order.rend(); ++b) {
      int meet = kUnknown;
      for (int s : flow.next[*b]) {
        if (dominator[s] == kUnknown) continue;
        if (meet == kUnknown) meet = s;
        for (int other = s; meet != other;) {
          while (rank[meet] < rank[other]) meet = dominator[meet];
          while (rank[other] < rank[meet]) other = dominator[other];
        }
      }
      changed |= dominator[*b] != meet;
      dominator[*b] = meet;
    }
  }
  return dominator;
}

// Exits, those first that more blocks lead to, and then the last ones; where a
// program is stopped is no end that anybody had in mind.
std::vector<int> by_what_leads_there(Flow flow) {
  const int end = static_cast<int>(flow.first.size());
  std::vector<std::pair<size_t, int>> found;
  for (int exit : flow.exits) {
    flow.next[exit].push_back(end);
    const std::vector<int> blocks = order_from_end(flow);
    flow.next[exit].pop_back();
    // In a loop it leads to itself, too.
    const bool loops = std::ranges::any_of(flow.next[exit], [&](int to) {
      return std::ranges::find(blocks, to) != blocks.end();
    });
    found.push_back({blocks.size() + loops, exit});
  }
  std::ranges::sort(found, std::greater());
  std::vector<int> exits;
  for (const auto& [blocks, exit] : found) exits.push_back(exit);
  exits.insert(exits.end(), flow.traps.begin(), flow.traps.end());
  return exits;
}

}  // namespace

std::vector<bool> block_starts(const std::vector<Instruction>& code) {
  std::vector<bool> leads(code.size() + 1, false);
  leads[0] = true;
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (!ends_block(code[pc])) continue;
    leads[pc + 1] = true;
    if (code[pc].kind == Kind::kBranch) leads[code[pc].target] = true;
    for (uint32_t target : code[pc].targets()) leads[target] = true;
  }
  return leads;
}

std::vector<bool> in_loops(const std::vector<Instruction>& code) {
  std::vector<bool> turns(code.size());
  size_t first = code.size();  // that a jump from behind leads to
  for (size_t pc = code.size(); pc-- > 0;) {
    if (code[pc].kind == Kind::kBranch && code[pc].target <= pc)
      first = std::min<size_t>(first, code[pc].target);
    turns[pc] = first <= pc;
  }
  return turns;
}

void find_reconvergence(Function& function) {
  auto& code = function.code;
  Flow flow = Ways(function).flow();
  const int end = static_cast<int>(flow.first.size());
  std::vector<int> dominator = post_dominators(flow);
  std::vector<int> exit_of(end + 1, kUnknown);  // that it was found for
  for (int exit : by_what_leads_there(flow)) {
    if (dominator[exit] != kUnknown) continue;
    flow.next[exit].push_back(end);
    const std::vector<int> with_it = post_dominators(flow);
    flow.next[exit].pop_back();
    for (int b = 0; b < end; ++b) {
      if (dominator[b] != kUnknown || with_it[b] == kUnknown) continue;
      dominator[b] = with_it[b];
      exit_of[b] = exit;
    }
  }
  for (int b = 0; b < end; ++b) {
    const uint32_t last = (b + 1 < end ? flow.first[b + 1] : code.size()) - 1;
    const int meet = dominator[b];
    // Who goes on while the others leave has nobody to wait for.
    const auto goes_on = [&](int to) {
      return to == end || exit_of[to] == exit_of[b];
    };
    const bool meets = meet != kUnknown && meet != end &&
                       std::ranges::count_if(flow.next[b], goes_on) > 1;
    code[last].reconverge = meets ? flow.first[meet] : ~0u;
  }
}

// Loops that only look at the clock, until it shows some time, or at memory,
// until somebody changes it. Longer ones may do something in that time.
void find_waits(Function& function) {
  constexpr ptrdiff_t kLongest = 24;
  auto& code = function.code;
  const auto looks = [](const Instruction& ins) {
    return ins.kind == Kind::kPoll && ins.address_count > 0 &&
           ins.address().space != Space::kShared;
  };
  const auto waits = [&](const Instruction& ins) {
    return ins.pure || ins.kind == Kind::kBranch || reads_clock(ins) ||
           looks(ins) ||
           (ins.statement && ins.statement->name() == "nanosleep");
  };
  for (auto last = code.begin(); last != code.end(); ++last) {
    const auto first = code.begin() + last->target;
    if (last->kind != Kind::kBranch || first > last ||
        last - first > kLongest || !std::all_of(first, last, waits))
      continue;
    if (std::any_of(first, last, looks)) {
      function.waits_for_memory = true;
    } else {
      for (auto ins = first; ins != last; ++ins)
        ins->waits_for_clock = reads_clock(*ins);
    }
  }
}

// Runs, up to where lanes may come or go: of instructions, which are counted
// together, though one of them may end the kernel by a fault, and within those
// of pure ones without a condition.
void find_runs(Function& function) {
  auto& code = function.code;
  std::vector<bool> leads(code.size() + 1, false);
  for (const Instruction& ins : code) {
    if (ins.kind == Kind::kBranch) leads[ins.target] = true;
    for (uint32_t target : ins.targets()) leads[target] = true;
    if (ins.reconverge != ~0u) leads[ins.reconverge] = true;
  }
  for (size_t pc = 0; pc < code.size();) {
    size_t end = pc + 1;
    while (end < pc + UINT16_MAX && code[end - 1].kind == Kind::kPlain &&
           end < code.size() && !leads[end])
      ++end;
    if (code[pc].kind != Kind::kWarpgroup)  // It is a part of the one before.
      code[pc].counted = static_cast<uint16_t>(end - pc);
    pc = end;
  }
  const auto joins_in = [](const Instruction& ins) {
    return ins.pure && ins.guard == kNowhere;
  };
  for (size_t pc = 0; pc < code.size(); ++pc) {
    Instruction& first = code[pc];
    if (!joins_in(first)) continue;
    const size_t most = pc + UINT16_MAX;
    size_t end = pc + 1;
    while (end < most && joins_in(code[end]) && !leads[end]) ++end;
    first.run_length = static_cast<uint16_t>(end - pc);
    pc = end - 1;
  }
}

}  // namespace simt
