// Where diverged lanes meet again: the immediate post-dominator of a branch,
// the first instruction that every way from the branch to the end must pass.
//
// Post-dominators by the iteration of Cooper, Harvey and Kennedy ("A simple,
// fast dominance algorithm", 2001), on the reversed control flow.
#include <algorithm>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/decode.h"

namespace simt {
namespace {

constexpr int kUnknown = -1;

struct Flow {
  std::vector<uint32_t> first;         // first instruction of each basic block
  std::vector<std::vector<int>> next;  // successors; the last block is the end
};

bool ends_block(const Instruction& ins) {
  return ins.kind == Kind::kBranch || ins.kind == Kind::kTable ||
         ins.kind == Kind::kReturn || ins.kind == Kind::kExit;
}

Flow flow_of(const std::vector<Instruction>& code) {
  const std::vector<bool> leads = block_starts(code);
  Flow flow;
  std::vector<int> block_at(code.size() + 1, 0);
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (leads[pc]) flow.first.push_back(pc);
    block_at[pc] = static_cast<int>(flow.first.size()) - 1;
  }
  const int end = static_cast<int>(flow.first.size());
  block_at[code.size()] = end;
  flow.next.resize(end + 1);
  for (int b = 0; b < end; ++b) {
    const uint32_t last = (b + 1 < end ? flow.first[b + 1] : code.size()) - 1;
    const Instruction& ins = code[last];
    auto& next = flow.next[b];
    if (ins.kind == Kind::kBranch) next.push_back(block_at[ins.target]);
    for (uint32_t target : ins.targets()) next.push_back(block_at[target]);
    const bool leaves = ins.kind == Kind::kReturn || ins.kind == Kind::kExit;
    if (leaves) next.push_back(end);
    if (!ends_block(ins) || ins.guard != kNowhere)
      next.push_back(block_at[last + 1]);
  }
  return flow;
}

// Blocks from which the end can be reached, in postorder of the reversed flow.
std::vector<int> order_from_end(const Flow& flow) {
  const int blocks = static_cast<int>(flow.next.size());
  std::vector<std::vector<int>> before(blocks);
  for (int b = 0; b < blocks; ++b)
    for (int s : flow.next[b]) before[s].push_back(b);
  std::vector<int> order;
  std::vector<bool> seen(blocks, false);
  std::vector<std::pair<int, size_t>> stack{{blocks - 1, 0}};
  seen[blocks - 1] = true;
  while (!stack.empty()) {
    auto& [b, k] = stack.back();
    if (k == before[b].size()) {
      order.push_back(b);
      stack.pop_back();
    } else if (const int p = before[b][k++]; !seen[p]) {
      seen[p] = true;
      stack.push_back({p, 0});
    }
  }
  return order;
}

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

void find_reconvergence(Function& function) {
  auto& code = function.code;
  const Flow flow = flow_of(code);
  const std::vector<int> dominator = post_dominators(flow);
  const int end = static_cast<int>(flow.first.size());
  // Lanes that only meet to end the kernel need not: ptxas lets each of them
  // exit on its own, so that nobody waits for a thread that returned early.
  const auto worth_it = [&](int block) {
    const Instruction& ins = code[flow.first[block]];
    const bool ends = ins.kind == Kind::kExit ||
                      (ins.kind == Kind::kReturn && function.text->entry);
    return !ends || ins.guard != kNowhere;
  };
  for (int b = 0; b < end; ++b) {
    const uint32_t last = (b + 1 < end ? flow.first[b + 1] : code.size()) - 1;
    const int meet = dominator[b];
    const bool meets = meet != kUnknown && meet != end && worth_it(meet);
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
