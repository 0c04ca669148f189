// The numbers that decide whether nodes of graphs take part: kernels set them,
// and the runtime library asks for them.
#pragma once
#include <cstdint>
#include <optional>

namespace simt {

// A new one, with that value; never 0.
uint64_t create_condition(uint32_t value);

// False if there is none of that number.
bool set_condition(uint64_t condition, uint32_t value);

std::optional<uint32_t> find_condition(uint64_t condition);

}  // namespace simt
