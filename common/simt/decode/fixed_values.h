// Numbers that lie before the registers of every call: constants, addresses,
// parameters. What the launch fills in, Program lists.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "common/simt/core/program.h"

namespace simt {

class FixedValues {
 public:
  explicit FixedValues(Program& program) : program_(program) {}

  Place constant(uint64_t value, int bytes);
  Place special(Special special);
  // An address in shared memory, of the array with this number: static or
  // dynamic, or the system's.
  Place shared_address(int64_t offset, int bytes, int array);
  Place dynamic_address(int64_t offset, int bytes, int array);
  Place reserved_address(uint32_t offset);
  // Of a kernel's parameters, as a register of so many bytes has it.
  Place parameter(uint32_t offset, Type type, uint8_t bytes);

 private:
  Place add(int bytes, uint64_t value = 0);

  Program& program_;
  std::map<std::pair<uint64_t, int>, Place> constants_;
};

}  // namespace simt
