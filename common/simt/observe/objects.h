// Which accesses copy one object: nvcc copies a struct in parts. They lie side
// by side, and one line of the source loads them all, or stores them.
#pragma once
#include <cstdint>
#include <map>

#include "common/simt/core/program.h"

namespace simt {

class Objects {
 public:
  // Of an object: so far from the address of an instruction.
  struct Part {
    int64_t begin = 0, end = 0;
    int64_t bytes() const { return end - begin; }
  };

  explicit Objects(const Program& program) : program_(program) {}
  Part around(const Instruction& access);

 private:
  // An address, as far as sums with numbers tell.
  struct Base {
    Place place = kNowhere;
    int64_t offset = 0;
  };
  using Sums = std::map<Place, Base>;  // of registers that are written once

  const Sums& sums_of(const Function& function);
  Base base_of(const Function& function, const Instruction& access);
  void find(const Instruction& access, Part& part);

  const Program& program_;
  std::map<uint32_t, Part> parts_;  // by Instruction::site
  std::map<const Function*, Sums> sums_;
};

}  // namespace simt
