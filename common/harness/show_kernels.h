// What the executor says of a program when it has ended.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "common/simt/memory/peers.h"

namespace show {

// One line per kernel, over all of its launches, and where to look next.
void print_kernels(std::FILE* out);

// What has gone from device to device since `before`, if anything.
void print_traffic(std::FILE* out,
                   const std::vector<simt::Traffic>& before = {});

// What the executor found wrong, not only worth knowing, in one line; empty if
// there is nothing.
std::string failure();

}  // namespace show
