// Follows undefined values: those of memory that nobody has written, and what
// is made of them. An error is where one decides what is done or stored, not
// where it is loaded, for many a warp loads what its idle lanes never use.
//
// The warps' flag Warp::tainted says whether there are any; most never have
// one, and pay for no more than looking at it.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/observe/found.h"
#include "common/simt/observe/objects.h"
#include "common/simt/observe/undefined.h"

namespace simt {

template <class Set>
struct WrittenMemory;

class Values {
 public:
  Values(Found& found, const Grid& grid)
      : found_(found), grid_(grid), objects_(grid.program) {}

  void start(Block& block);
  // A load, store or atomic anywhere, about to be done.
  void access(Warp& warp, const Instruction& ins, const Access& a);

  // Lanes begin to copy; copies of `mask` are about to be made.
  void begin(const AsyncCopy& copy);
  void end(const AsyncCopy& copy, uint32_t mask);

  // What lies in shared memory there is gone.
  void forget(const Warp& warp, const Access& a);
  // Nobody has written what lies in global memory there.
  void discard(const Access& a);

  // Of a tainted warp: an instruction that lanes of `mask` have come to.
  void follow(Warp& warp, const Instruction& ins, uint32_t mask);
  // They hand over the operands of a collective; and they get its result.
  void publish(Warp& warp, const Instruction& ins, uint32_t mask);
  void collective(Warp& warp, const Instruction& ins, uint32_t mask);

  // Lanes have divided an integer by zero: PTX leaves open what comes out.
  void divided_by_zero(Warp& warp, const Instruction& ins, uint32_t mask);

  // Of a register; null: it is defined. And what replaces it in results.
  const Undefined* undefined(const Warp& warp, Place place) const;
  void replace(Warp& warp, const std::vector<Undefined>& results);
  // Of shared memory that wgmma reads: what of it nobody has written.
  std::optional<Origin> unwritten(const Warp& warp, const Instruction& ins,
                                  uint64_t address, uint32_t bytes) const;

  // A product's registers hold what nobody may look at yet; and those of the
  // first groups do no more.
  void fly(Warp& warp, const AsyncProduct& product);
  void land(Warp& warp, uint32_t groups);

  // A kernel or a function begins: its variables may have no value yet.
  void begin_frame(Warp& warp, const uint8_t* registers, uint32_t stack_base,
                   const Function& function, uint32_t mask);
  // A call begins: its part of the stacks, from `begin` to `end`, is undefined.
  void call(Warp& warp, uint32_t mask, uint32_t begin, uint32_t end);
  void end_call(Warp& warp, const uint8_t* registers, uint32_t bytes);
  void copy_stack(Warp& warp, uint32_t mask, uint32_t from, uint32_t to,
                  uint32_t bytes);
  // A call that the system answers reads at a generic address, or writes at an
  // offset in a lane's stack.
  void read(Warp& warp, const Instruction& ins, int lane, uint64_t address,
            uint32_t bytes);
  void write(Warp& warp, int lane, uint32_t offset, uint32_t bytes);
  // printf takes an argument that it was not given.
  void tell_not_given(Warp& warp, const Instruction& ins, int lane,
                      uint64_t address, uint32_t bytes);

 private:
  template <class Set>
  void access(Warp& warp, const Instruction& ins, const Access& a,
              const WrittenMemory<Set>& memory);
  template <class Set>
  void load(Warp& warp, const Instruction& ins, const Access& a,
            const WrittenMemory<Set>& memory);
  template <class Set>
  void taint(Warp& warp, const Instruction& ins, const Access& a, uint32_t mask,
             const WrittenMemory<Set>& memory);
  template <class Set>
  void taint_lane(Warp& warp, const Instruction& ins, const Access& a, int lane,
                  int element, const WrittenMemory<Set>& memory,
                  Undefined& value);
  template <class Set>
  void store(Warp& warp, const Instruction& ins, const Access& a,
             const WrittenMemory<Set>& memory);
  template <class Set>
  void load_matrix(Warp& warp, const Instruction& ins, const Access& a,
                   uint32_t missing, const WrittenMemory<Set>& memory);
  template <class Set>
  void store_matrix(Warp& warp, const Instruction& ins, const Access& a,
                    const WrittenMemory<Set>& memory);
  template <class Set>
  void store_undefined(Warp& warp, const Instruction& ins, const Access& a,
                       int lane, const WrittenMemory<Set>& memory);
  template <class Set>
  void atomic(Warp& warp, const Instruction& ins, const Access& a,
              const WrittenMemory<Set>& memory);
  template <class Set>
  void end(const AsyncCopy& copy, int lane, const WrittenMemory<Set>& from);
  void store_bulk(const AsyncCopy& copy, int lane);
  void store_bulk(const AsyncCopy& copy, int lane, uint64_t from, uint64_t to,
                  uint32_t bytes);
  bool may_copy(Warp& warp, const Instruction& ins, int lane);
  template <class Set>
  bool stays_there(Warp& warp, const Instruction& ins, const Access& a,
                   int lane, const WrittenMemory<Set>& memory) const;
  template <class Set>
  bool is_padding(const Instruction& ins, uint64_t begin,
                  const WrittenMemory<Set>& memory) const;
  template <class Set>
  bool is_part(const Warp& warp, const Instruction& ins, const Access& a,
               int lane, const WrittenMemory<Set>& memory);

  void follow_operands(Warp& warp, const Instruction& ins, uint32_t mask,
                       uint32_t unsure);
  void follow_matrix(Warp& warp, const Instruction& ins, uint32_t mask);
  void compute(Warp& warp, const Instruction& ins, uint32_t mask,
               uint32_t unsure);
  void as_a_whole(Warp& warp, const Instruction& ins, uint32_t mask,
                  std::vector<Undefined>& results);
  void bit_by_bit(Warp& warp, const Instruction& ins, uint32_t mask,
                  std::vector<Undefined>& results);
  void vote(Warp& warp, const Instruction& ins, uint32_t mask,
            std::vector<Undefined>& results);
  void shuffle(Warp& warp, const Instruction& ins, uint32_t mask,
               std::vector<Undefined>& results);
  void define_results(Warp& warp, const Instruction& ins, uint32_t mask);
  std::vector<Undefined> results_of(const Instruction& ins) const;
  void write_results(Warp& warp, uint32_t mask,
                     const std::vector<Undefined>& results);
  uint8_t width(const Instruction& ins, Place place) const;

  // If the operand is undefined in some lane, says so, and why it matters.
  void use(Warp& warp, const Instruction& ins, Place place, uint32_t mask,
           const char* matters);
  void tell(Warp& warp, const Instruction& ins, int lane, const Origin& origin,
            const char* matters);
  void tell_unwritten(Warp& warp, const Instruction& ins, int lane, Space space,
                      uint64_t address, const char* what, uint32_t bytes,
                      const char* matters);

  Found& found_;
  const Grid& grid_;
  Objects objects_;
};

}  // namespace simt
