// Decoded code: what the warps run. One Instruction is one PTX statement with
// its operands resolved to places that hold 32 lanes side by side.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/simt/core/modifiers.h"
#include "common/simt/core/ptx.h"

namespace simt {

struct Warp;
struct Function;
struct Instruction;
struct Matrix;
struct WarpgroupProduct;
struct Video;

// A thread's local memory on every current GPU: 512 KiB.
constexpr uint64_t kStackLimit = 512 << 10;

// Executes one instruction for the lanes set in `mask` (never 0).
using Handler = void (*)(Warp& warp, const Instruction& ins, uint32_t mask);

// Where an operand's 32 lanes are, in bytes from the first register of the
// running call. Before it lie what no instruction changes: immediates,
// addresses, kernel parameters, %tid and its kin. Lane l of a T is l *
// sizeof(T) behind; a predicate is one uint32_t, a bit for each lane.
using Place = int32_t;
constexpr Place kNowhere = -1;

// How the warp must treat an instruction.
enum class Kind : uint8_t {
  kPlain,          // run(...) and go on
  kPoll,           // the same, and a memory access that a spin may consist of
  kBranch,         // bra
  kTable,          // brx.idx
  kCall,           // call, direct
  kIndirect,       // call through a register
  kReturn,         // ret
  kExit,           // exit
  kBarrier,        // bar.sync, bar.red
  kArrive,         // bar.arrive: comes to the barrier, and goes on
  kClusterArrive,  // barrier.cluster.arrive
  kClusterWait,    // barrier.cluster.wait
  kCollective,     // shfl, vote, match, redux, bar.warp: waits for its members
  kMatrix,         // mma, ldmatrix, ...: waits for all lanes, and runs once
  kWarpgroup,      // behind a wgmma.mma_async: waits for the other three warps
};

enum class Space : uint8_t {
  kGeneric,
  kGlobal,
  kShared,
  kLocal,
  kParam,
  kConst,
  kCluster  // shared memory of any block of the cluster; of operands only
};

// How what is undefined in the operands of an instruction shows in its result.
enum class Spread : uint8_t {
  kWhole,     // a bit of any of them makes all of it undefined
  kBits,      // a bit of the result is made of one bit of each of them
  kBytes,     // the same, and it may put bytes together
  kMoved,     // the same, and it is one of them, or made of them as they are
  kPairs,     // two halves, side by side, each made of theirs
  kAnd,       // a comparison, and a predicate: where that is false, it decides
  kOr,        // where it is true
  kAccess,    // the access to memory will tell
  kExchange,  // an atomic that stores the same, whatever was there
};

// How a memory access takes part in the order of memory between threads.
enum class Strength : uint8_t {
  kWeak,      // races with whatever is not ordered
  kVolatile,  // may meet others of its kind, but hands nothing over
  kStrong,    // atomics, ld.acquire, a volatile load that waits
};

// What ptxas makes of an atomic.
enum class AtomicForm : uint8_t {
  kAnswer,     // one that brings the old value back
  kReduction,  // one that answers nothing: nobody needs the old value
  kDropped,    // one that brings it back, though nobody needs it
  kLoadFirst,  // of 16 bits: loads the word around them, and swaps that
};

// A plain load whose value goes into a compare-and-swap of the same word, and
// nowhere else: an old value does no harm, it only makes the exchange fail. Or
// it decides whether its thread makes the word's minimum with a number (or the
// maximum), which changes nothing where an old value has decided that; or
// whether it tries a compare-and-swap, on whose success all else hangs.
enum class Guess : uint8_t {
  kNone,       // it is not one
  kVerified,   // all that it leads to is verified
  kDecides,    // it may also decide that there will be no exchange
  kBeforeMin,  // as others make the word smaller
  kBeforeMax,  // larger
};

// Where an access goes: what stands in square brackets.
struct Address {
  Place base = kNowhere;  // a register's, or kNowhere: `offset` is all of it
  Space space = Space::kGeneric;
  uint8_t bytes = 8;   // of the register
  int16_t array = -1;  // the shared array it is made of; -1: not known
  int64_t offset = 0;  // of local memory without a base: in the call's frame
  Place meant = kNowhere;  // the byte that it is the word around, or kNowhere
};

// What is looked at each time lies in the first 64 bytes: one cache line. Lists
// are in the memory of its function.
struct alignas(64) Instruction {
  Handler run = nullptr;
  // The operands, in the order of the statement: what it reads, from here on,
  // and before them, backwards, the registers that it writes. Not among them:
  // the guard, and the bases of addresses.
  const Place* operands = nullptr;
  Place guard = kNowhere;     // predicate before the instruction
  uint32_t site = 0;          // number within the program, for caches
  uint32_t target = 0;        // of a branch: index into Function::code
  uint32_t reconverge = ~0u;  // its immediate post-dominator; ~0: none
  uint32_t target_count = 0;  // of a jump table, listed below
  uint16_t counted = 0;       // how many are counted with it, from it on
  uint16_t run_length = 0;    // how many pure ones run without a look around
  uint8_t step = 1;           // to the next of them that does anything
  Kind kind = Kind::kPlain;
  bool guard_negated = false;
  uint8_t result_count = 0, source_count = 0;
  uint8_t negated = 0;  // a bit for each source: a predicate, to be inverted
  // A branch that ptxas makes none, and the instructions it jumps over here:
  // the PTX's, and the machine's.
  bool predicated = false;
  uint8_t skips_if_taken = 0, skips_if_not = 0;
  uint8_t machine_if_taken = 0, machine_if_not = 0;
  Rounding rounding = Rounding::kNearest;
  FloatModifiers modifiers;              // of floating-point numbers, and .sat
  Relation relation = Relation::kEq;     // setp, set
  Logic logic = Logic::kNone;            // setp, set, lop3: with a predicate
  uint8_t truth_table = 0;               // lop3
  Type to, from;                         // cvt, set: of result and source
  uint8_t to_bytes = 0, from_bytes = 0;  // of their registers: cvt, ld, st,
                                         //   collectives; 0: a predicate
  uint8_t element_bytes = 0;             // of an element in memory

  // Memory.
  uint8_t address_count = 0;
  Address* address_list = nullptr;
  Strength strength = Strength::kWeak;
  bool releases = false;  // fence first: st.release, barrier.cluster.arrive
  bool acquires = false;  // ld.acquire and its kin: load, then fence
  // A fence, or what has one, of which other blocks know nothing, or other
  // clusters; or of which the host is to know, too.
  bool for_block : 1 = false, for_cluster : 1 = false, for_system : 1 = false;
  bool waits_for_clock : 1 = false;  // in a loop that does nothing else
  bool mask_is_active : 1 = false;   // a collective's mask came from activemask
  bool orders : 1 = false;       // a collective that orders memory: bar.warp
  bool one_for_all : 1 = false;  // an atomic: ptxas lets one lane make it
  // An atomic: blocks may make theirs in any order.
  bool commutes : 1 = false;
  bool read_only : 1 = false;  // ld.nc, tex, suld: of what no thread writes
  // A store, not weak, of what was made of a load of the same word.
  bool updates : 1 = false;
  bool waits : 1 = false;  // reads until a value comes: Function::waits
  // A load, or a store that stores nothing new, by some lanes: see
  // Function::keepers.
  bool dropped : 1 = false;
  bool unread : 1 = false;  // a load, not weak: nobody looks at what it brings
  // A branch of the machine: the parts of a warp wait for each other behind it.
  bool waits_at_meeting : 1 = false;
  AtomicForm atomic_form = AtomicForm::kAnswer;
  Update update = Update::kAdd;  // atom, red
  bool pure = false;             // computes registers from registers
  Spread spread = Spread::kWhole;
  uint8_t spread_operands = 0;  // kBits to kMoved: all others decide as a whole
  bool takes_carry : 1 = false, gives_carry : 1 = false;  // CC.CF
  bool whole_warps : 1 = false;  // bar.arrive: by all of a warp at once
  // No condition, and a branch to the hardware all the same.
  bool jumps : 1 = false;
  uint8_t machine_weight = 1;  // how many instructions ptxas makes of it
  // ptxas makes another access of it, or one of it and others: of so many
  // bytes, which begin so many before its own; and maybe a second one behind.
  // 0: it leaves it as it is. kNotMade: it makes one instruction of it and
  // another, which is counted for both; or none, since nobody needs it.
  uint8_t made_bytes = 0;
  int8_t made_before = 0;
  uint8_t made_again_after = 0;
  static constexpr uint8_t kNotMade = 255;
  Guess guess = Guess::kNone;

  union {
    const uint32_t* target_list = nullptr;
    const Matrix* matrix;             // kMatrix: shapes and types (isa/matrix)
    const WarpgroupProduct* product;  // wgmma.mma_async (isa/matrix)
    const Video* video;               // vadd and its kin (isa/arithmetic)
  };
  struct Call* call = nullptr;
  const Statement* statement = nullptr;
  SourceLine where;

  Place result(int k) const { return operands[-1 - k]; }
  Place source(int k) const { return operands[k]; }
  bool inverts(int k) const { return negated >> k & 1; }
  // Of a collective, whose last source is the member mask.
  bool votes() const { return source_count == 2 && from_bytes == 0; }
  bool shuffles() const { return source_count == 4; }
  std::span<const Place> results() const {  // the last one first
    return {operands - result_count, result_count};
  }
  std::span<const Place> sources() const { return {operands, source_count}; }
  std::span<Address> addresses() const { return {address_list, address_count}; }
  const Address& address() const { return *address_list; }  // the only one
  std::span<const uint32_t> targets() const {
    return {target_list, target_count};
  }
};
static_assert(sizeof(Instruction) == 128, "an instruction is two cache lines");

struct Call {
  const Function* callee = nullptr;          // null: indirect, or a system call
  Handler system = nullptr;                  // vprintf, malloc, ...
  std::vector<uint32_t> arguments, results;  // offsets in the caller's frame
};

// An integer comparison of what a load brings.
struct Comparison {
  Relation relation = Relation::kEq;
  uint8_t bytes = 0;
  bool is_signed = false;
  Place with = kNowhere;  // already there when the load is done,
  int64_t added = 0;      // and a number added to it
  auto operator<=>(const Comparison&) const = default;
};
// A plain load of at most 4 bytes whose value decides branches and is nothing
// else to anybody.
struct Test {
  bool is_signed = false;
  // All that is done with it; empty: that is not known so exactly.
  std::vector<Comparison> comparisons;
  // Two of them whose answers are one, by `and` or `or`, to whoever asks.
  struct Joined {
    size_t first, second;  // of the comparisons
    bool both;             // must be so, not only one of them
    bool not_first, not_second;
  };
  std::vector<Joined> joined;
  // What its thread then stores there itself, if it decides so; or kNowhere.
  Place stores = kNowhere;
  // The number of that value, if it is one value in all threads; or 0.
  uint32_t uniform_value = 0;
  uint32_t besides = 0;  // the number of all that it stores then; 0: no more
};
// Which lanes keep what a load brings: those for which a predicate, or else the
// comparison of a place, has this value. The others drop it.
struct Keeper {
  bool value;
  Place place;
  std::optional<Comparison> comparison;  // none: the place is a predicate's
  auto operator<=>(const Keeper&) const = default;
};
// A load, or an atomic that changes nothing, in a loop that its value ends, and
// is nothing else to anybody. What is computed of it lies before a branch.
struct Wait {
  uint32_t branch;  // index into Function::code
  bool ends_if;     // the branch's predicate, where the loop ends
  // What is written up to there, and how wide it is; a predicate: 0.
  std::vector<std::pair<Place, uint8_t>> written;
};
// The store of such a thread.
struct TestedStore {
  // What the test compared with a number or a parameter, and what the answer
  // must have been for the store; none: that is not known so exactly.
  std::optional<Comparison> asked;
  bool answer = false;
  uint32_t uniform_value = 0;  // as above: what it stores
  uint32_t besides = 0;
  // Places that have one value in all threads, and have it here.
  std::vector<Place> uniform;
};

struct Function {
  std::string name;  // as in PTX
  const FunctionText* text = nullptr;
  std::vector<Instruction> code;    // ends with a return
  uint32_t register_bytes = 0;      // all lanes
  uint32_t stack_bytes = 0;         // one lane: locals, call parameters
  uint32_t variables_begin = 0;     // of that, what addresses may mean:
  uint32_t variables_end = 0;       //   to here
  bool allocates = false;           // more of a stack, by alloca
  bool waits_for_memory = false;    // loops, until somebody changes some
  std::map<Place, uint8_t> widths;  // of its registers, a lane's; predicate: 0
  struct Slot {
    uint32_t offset, bytes;
  };
  std::vector<Slot> params, results;  // in this function's stack frame
  // Registers that may be read before they are written: they begin as zero, so
  // that a block finds nothing in them of the one before.
  struct Unwritten {
    Place place;
    uint8_t width;    // bytes of a lane; a predicate: 0
    bool followed;    // not what a library reads and drops
    uint32_t reader;  // who reads first: index into `code`
  };
  std::vector<Unwritten> unwritten;
  // Those of them that begin as a number that nvcc has put there.
  std::map<Place, uint64_t> begin_as;
  std::vector<Slot> not_followed;  // local memory of such a library
  std::deque<Call> calls;
  std::deque<Statement> rewritten;  // instructions that became others
  std::map<uint32_t, Test> tests;   // of its loads, by Instruction::site
  std::map<uint32_t, TestedStore> tested_stores;
  std::map<uint32_t, Keeper> keepers;
  std::map<uint32_t, Wait> waits;
  // What instructions have lists of: places, addresses, targets.
  std::pmr::monotonic_buffer_resource lists;

  // Registers that one instruction alone writes.
  std::set<Place> written_once() const {
    std::set<Place> once, again;
    for (const Instruction& ins : code)
      for (Place p : ins.results())
        if (!once.insert(p).second) again.insert(p);
    for (Place p : again) once.erase(p);
    return once;
  }

  template <class T>
  T* keep(const std::vector<T>& list) {
    T* const at =
        static_cast<T*>(lists.allocate(list.size() * sizeof(T), alignof(T)));
    std::uninitialized_copy(list.begin(), list.end(), at);
    return at;
  }
};

}  // namespace simt
