// Of the model of ptxas: which accesses to shared memory it makes one of.
//
// Neighbours with nothing between them that may change what they mean: stores
// of one basic block, and loads that all come behind one of them, without a
// loop between. Of a pair of words it makes an access of 8 bytes, of two such,
// or for loads of such a one and a word in the same 16 bytes, one of 16; if it
// can prove the address to be a multiple of that.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "common/simt/decode/ptxas.h"
#include "common/simt/decode/ways_in.h"

namespace simt {
namespace {

// A number, as far as it is known: what is known of its root, and a distance
// from there.
struct Value {
  int root;
  int64_t offset;
};
constexpr int kNothingKnown = 0, kZero = 1, kShared = 2, kDynamicShared = 3;
constexpr int kMostZeros = 63;

// Instructions that hand a whole number on as it is.
bool hands_on(const Instruction& ins) {
  const std::string& op = ins.statement->name();
  const auto whole = [](const Type& t) { return t.is('u') || t.is('s'); };
  return ins.result_count == 1 && ins.source_count == 1 &&
         (op == "mov" || op == "cvta" ||
          (op == "cvt" && whole(ins.to) && whole(ins.from)));
}

// Of what registers hold: how many zeros their bits end with, always.
class Multiples {
 public:
  Multiples(const Function& function, const Program& program,
            const WaysIn& ways)
      : program_(program), zeros_{0, kMostZeros, kMostZeros, 4} {
    if (const uint32_t known = program.least_alignment)
      zeros_[kShared] = static_cast<uint8_t>(std::countr_zero(known));
    for (const Instruction& ins : function.code)
      for (Place place : ins.results())
        if (place != kNowhere) register_of(place);
    note_ways(function, ways);
    do {
      changed_ = false;
      for (int b = 0; b < ways.blocks(); ++b) {
        begin_block(b);
        for (uint32_t pc = ways.begin(b); pc < ways.end(b); ++pc)
          see(function.code[pc]);
        end_block();
      }
    } while (changed_);
  }

  // Call this for each instruction in order, and where blocks begin and end.
  void see(const Instruction& ins) {
    if (!ins.statement) return;
    for (Place place : ins.results()) {
      if (place == kNowhere) continue;
      // First what it is: some compilers look up the left side before.
      const Value value =
          ins.guard == kNowhere ? result(ins) : Value{kNothingKnown, 0};
      blocks_[block_].now[place] = value;
    }
  }
  void begin_block(int block) {
    block_ = block;
    blocks_[block].now.clear();
  }
  void end_block() {
    for (const auto& [place, value] : blocks_[block_].now)
      lower(register_of(place), zeros(value));
  }

  Value address(const Instruction& access) {
    const Address& a = access.address();
    if (a.base == kNowhere) return {kShared, a.offset};
    const Value base = of(a.base);
    return {base.root, base.offset + a.offset};
  }
  int zeros(const Value& value) const {
    const int of_offset = std::countr_zero(static_cast<uint64_t>(value.offset));
    return std::min<int>(zeros_[value.root], of_offset);
  }

 private:
  int register_of(Place place) {
    const auto [at, is_new] = roots_.try_emplace(place, zeros_.size());
    if (is_new) zeros_.push_back(kMostZeros);
    return at->second;
  }
  void lower(int root, int zeros) {
    if (zeros >= zeros_[root]) return;
    zeros_[root] = static_cast<uint8_t>(zeros);
    changed_ = true;
  }

  void note_ways(const Function& function, const WaysIn& ways) {
    blocks_.resize(ways.blocks());
    for (int b = 0; b < ways.blocks(); ++b) {
      if (!ways.way_to(b)) continue;
      blocks_[b].from = ways.way_to(b)->from;
      for (int one : ways.way_to(b)->between)
        for (uint32_t pc = ways.begin(one); pc < ways.end(one); ++pc)
          for (Place place : function.code[pc].results())
            blocks_[b].changed.insert(place);
    }
  }

  Value of(Place place) {
    if (place < kNowhere) return fixed(place);
    const auto known = roots_.find(place);
    if (known == roots_.end()) return {kNothingKnown, 0};
    for (int b = block_; b >= 0; b = blocks_[b].from) {
      const auto now = blocks_[b].now.find(place);
      if (now != blocks_[b].now.end()) return now->second;
      if (blocks_[b].changed.contains(place))
        return {root_at(b, place, zeros_[known->second]), 0};
    }
    return {known->second, 0};
  }

  // What it holds at the beginning of a block, if nothing else is known.
  int root_at(int block, Place place, uint8_t zeros) {
    const auto [at, is_new] =
        blocks_[block].roots.try_emplace(place, zeros_.size());
    if (is_new) zeros_.push_back(zeros);
    zeros_[at->second] = zeros;
    return at->second;
  }

  // Numbers, addresses; parameters and %tid can be anything.
  Value fixed(Place place) const {
    for (const auto& one : program_.dynamic_shared)
      if (one.at == place) return {kDynamicShared, one.offset};
    for (const auto& one : program_.static_shared_at)
      if (one.at == place) return {kShared, one.offset};
    const auto is_here = [&](const auto& one) { return one.at == place; };
    if (std::ranges::any_of(program_.parameters, is_here) ||
        std::ranges::any_of(program_.reserved_shared, is_here) ||
        std::ranges::any_of(program_.specials, [&](const auto& one) {
          return one.second == place;
        }))
      return {kNothingKnown, 0};
    const size_t k = -place / sizeof(Program::Fixed) - 1;
    const uint64_t lanes = program_.fixed[k].lanes[0];
    const auto low = static_cast<int32_t>(lanes);
    const bool is_of_two = lanes >> 32 == static_cast<uint32_t>(low);
    return {kZero, is_of_two ? low : static_cast<int64_t>(lanes)};
  }

  Value result(const Instruction& ins) {
    if (hands_on(ins)) return of(ins.source(0));
    const std::string& op = ins.statement->name();
    if ((op == "add" || op == "sub") && ins.source_count == 2) {
      Value a = of(ins.source(0)), b = of(ins.source(1));
      if (op == "add" && a.root == kZero) std::swap(a, b);
      if (b.root == kZero)
        return {a.root,
                op == "add" ? a.offset + b.offset : a.offset - b.offset};
    }
    // A root of its own, new each time: what is seen last is what holds.
    const int root = root_of(ins);
    zeros_[root] = static_cast<uint8_t>(zeros_of_result(ins));
    return {root, 0};
  }

  int root_of(const Instruction& ins) {
    const auto [at, is_new] = of_instruction_.try_emplace(&ins, zeros_.size());
    if (is_new) zeros_.push_back(kMostZeros);
    return at->second;
  }

  int zeros_of_result(const Instruction& ins) {
    const std::string& op = ins.statement->name();
    const auto in = [&](int k) { return zeros(of(ins.source(k))); };
    const auto sum = [](int a, int b) { return std::min(a + b, kMostZeros); };
    if (ins.statement->type().is_float()) return 0;
    if (ins.source_count == 2) {
      if (op == "add" || op == "sub" || op == "or" || op == "xor" ||
          op == "min" || op == "max")
        return std::min(in(0), in(1));
      if (op == "and") return std::max(in(0), in(1));
      if (op == "mul" && !ins.statement->has("hi")) return sum(in(0), in(1));
      if (const Value by = of(ins.source(1)); op == "shl" && by.root == kZero)
        return sum(in(0), static_cast<int>(
                              std::clamp<int64_t>(by.offset, 0, kMostZeros)));
    }
    if (op == "mad" && ins.source_count == 3 && !ins.statement->has("hi"))
      return std::min(sum(in(0), in(1)), in(2));
    if (op == "selp") return std::min(in(0), in(1));
    return 0;
  }

  const Program& program_;
  std::vector<uint8_t> zeros_;  // by root
  std::map<Place, int> roots_;  // of registers, at the beginning of a block
  std::map<const Instruction*, int> of_instruction_;
  struct Block {
    int from = -1;               // through which control has come, if any,
    std::set<Place> changed;     //   and what may have changed since
    std::map<Place, Value> now;  // what was written in it, up to here
    std::map<Place, int> roots;  // of what has changed
  };
  std::vector<Block> blocks_;
  int block_ = 0;
  bool changed_ = false;
};

// An access, or what several become.
struct Neighbour {
  int root;
  int64_t offset;
  uint8_t bytes;
  bool has_gap;  // of bytes that it does not bring to others
  std::vector<std::pair<Instruction*, int64_t>> parts;  // with their offsets
};

// The first of them in the program is counted for all.
void mark(const Neighbour& one) {
  if (one.parts.size() == 1) return;
  for (const auto& [ins, offset] : one.parts)
    ins->made_bytes = Instruction::kNotMade;
  const auto& [first, offset] = *std::ranges::min_element(one.parts);
  first->made_bytes = one.bytes;
  first->made_before = static_cast<int8_t>(offset - one.offset);
}

// Those of one kind, between which nothing else touches shared memory.
class Pending {
 public:
  void add(const Value& at, Instruction& ins) {
    const int elements = std::max(ins.result_count, ins.source_count);
    const auto bytes = static_cast<uint8_t>(elements * ins.element_bytes);
    all_.push_back({at.root,
                    at.offset,
                    bytes,
                    ins.statement->has_gap,
                    {{&ins, at.offset}}});
  }

  // behind(ins, first): has control come through `first`?
  template <class Behind>
  void join(const Multiples& multiples, bool loads, Behind behind) {
    std::ranges::stable_sort(all_, [](const Neighbour& a, const Neighbour& b) {
      return std::tuple(a.root, a.offset, b.bytes) <
             std::tuple(b.root, b.offset, a.bytes);
    });
    const auto all_behind_one = [&](const Neighbour& a, const Neighbour& b) {
      Instruction* const first = std::min(*std::ranges::min_element(a.parts),
                                          *std::ranges::min_element(b.parts))
                                     .first;
      const auto is_behind = [&](const auto& part) {
        return part.first == first || behind(*part.first, *first);
      };
      return std::ranges::all_of(a.parts, is_behind) &&
             std::ranges::all_of(b.parts, is_behind);
    };
    const auto brings = [&](const Neighbour& a, const Neighbour& b) {
      return loads && a.root != kNothingKnown && !a.has_gap &&
             b.offset + b.bytes <= a.offset + a.bytes && all_behind_one(a, b);
    };
    const auto join_to = [&](int bytes, auto fit) {
      join_if(
          [&](const Neighbour& a, const Neighbour& b) {
            const int zeros = multiples.zeros({a.root, 0});
            return brings(a, b) ||
                   ((a.offset & -bytes) == (b.offset & -bytes) &&
                    zeros >= std::countr_zero(unsigned(bytes)) && fit(a, b) &&
                    all_behind_one(a, b));
          },
          bytes);
    };
    join_to(8, [&](const Neighbour& a, const Neighbour& b) {
      return a.bytes == 4 && b.bytes == 4 && b.offset == a.offset + 4;
    });
    join_to(16, [&](const Neighbour& a, const Neighbour& b) {
      const bool words = a.bytes == 4 || b.bytes == 4;
      return a.bytes + b.bytes >= 12 && a.bytes < 16 && b.bytes < 16 &&
             a.offset != b.offset && (words ? loads : b.offset == a.offset + 8);
    });
    for (const Neighbour& one : all_) mark(one);
    all_.clear();
  }

 private:
  // Of two, one.
  template <class May>
  void join_if(May may, int bytes) {
    std::vector<Neighbour> joined;
    for (Neighbour& one : all_) {
      Neighbour* const last = joined.empty() ? nullptr : &joined.back();
      if (last && last->root == one.root && may(*last, one)) {
        if (one.offset + one.bytes > last->offset + last->bytes) {
          last->offset &= -bytes;
          last->bytes = static_cast<uint8_t>(bytes);
        }
        last->parts.insert(last->parts.end(), one.parts.begin(),
                           one.parts.end());
      } else {
        joined.push_back(std::move(one));
      }
    }
    all_ = std::move(joined);
  }
  std::vector<Neighbour> all_;
};

bool is_plain(const Instruction& ins) {
  return ins.statement && ins.guard == kNowhere && ins.address_count == 1 &&
         ins.address().space == Space::kShared && ins.made_bytes == 0 &&
         ins.strength == Strength::kWeak && !ins.acquires && !ins.releases;
}
bool loads(const Instruction& ins) {
  return is_plain(ins) && ins.statement->name() == "ld";
}
bool stores(const Instruction& ins) {
  return is_plain(ins) && ins.statement->name() == "st";
}

// Does it become a branch, to code for extreme operands?
bool has_long_way(const Statement& s) {
  const bool divides = s.name() == "div" || s.name() == "rem";
  if (!divides && s.name() != "sqrt" && s.name() != "rcp") return false;
  return s.type().bytes == 8 ||
         (s.type().is_float() && !s.has("approx") && !s.has("full"));
}

// May it change shared memory, or order it?
bool parts_accesses(const Instruction& ins) {
  static const std::set<std::string> kParts = {"membar", "fence", "cp",
                                               "mbarrier"};
  if (ins.kind == Kind::kBranch || ins.kind == Kind::kTable ||
      ins.kind == Kind::kExit || ins.kind == Kind::kReturn)
    return false;
  if (!ins.statement) return true;
  const bool goes_on = ins.kind == Kind::kPlain || ins.kind == Kind::kPoll ||
                       (ins.kind == Kind::kCollective && !ins.orders);
  if (!goes_on || has_long_way(*ins.statement) ||
      kParts.contains(ins.statement->name()))
    return true;
  const auto elsewhere = [](const Address& a) {
    return a.space != Space::kGeneric && a.space != Space::kShared &&
           a.space != Space::kCluster;
  };
  return !std::ranges::all_of(ins.addresses(), elsewhere);
}

}  // namespace

void join_accesses(Function& function, const Program& program) {
  auto& code = function.code;
  if (std::ranges::count_if(code, loads) < 2 &&
      std::ranges::count_if(code, stores) < 2)
    return;
  const WaysIn ways(function);
  Multiples multiples(function, program, ways);
  const auto behind = [&](const Instruction& ins, const Instruction& first) {
    const auto pc = [&](const Instruction& one) {
      return static_cast<uint32_t>(&one - code.data());
    };
    return ways.dominators().dominates(pc(first), pc(ins));
  };
  // Loads that nothing parts: what begins in one block goes on in others.
  std::vector<Pending> loaded;
  std::vector<size_t> at_end(ways.blocks());
  std::vector<bool> parts(ways.blocks());
  for (int b = 0; b < ways.blocks(); ++b) {
    for (uint32_t pc = ways.begin(b); pc < ways.end(b); ++pc)
      parts[b] = parts[b] || stores(code[pc]) ||
                 (!loads(code[pc]) && parts_accesses(code[pc]));
  }
  for (int b = 0; b < ways.blocks(); ++b) {
    const auto& way = ways.way_to(b);
    const bool goes_on =
        way &&
        std::ranges::none_of(way->between, [&](int one) { return parts[one]; });
    size_t now = goes_on ? at_end[way->from] : loaded.size();
    if (!goes_on) loaded.emplace_back();
    const auto part_loads = [&] {
      now = loaded.size();
      loaded.emplace_back();
    };
    Pending stored;
    multiples.begin_block(b);
    for (uint32_t pc = ways.begin(b); pc < ways.end(b); ++pc) {
      Instruction& ins = code[pc];
      if (loads(ins)) {
        stored.join(multiples, false, behind);
        loaded[now].add(multiples.address(ins), ins);
      } else if (stores(ins)) {
        part_loads();
        stored.add(multiples.address(ins), ins);
      } else if (parts_accesses(ins)) {
        part_loads();
        stored.join(multiples, false, behind);
      }
      multiples.see(ins);
    }
    multiples.end_block();
    stored.join(multiples, false, behind);
    at_end[b] = now;
  }
  for (Pending& one : loaded) one.join(multiples, true, behind);
}

}  // namespace simt
