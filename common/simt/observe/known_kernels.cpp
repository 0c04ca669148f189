// Recognises what CUB and Thrust get right though nothing here shows it.
#include "common/simt/observe/known_kernels.h"

#include <string_view>

namespace simt {
namespace {

bool is_of(const Function& function, std::string_view part_of_name) {
  return function.name.find(part_of_name) != std::string::npos;
}

}  // namespace

// CUB's blocks hand on what they count: each once it has used all it read, as
// the count depends on that, and each writes once it has the counts of those
// before it. So a block's store comes behind an earlier block's reads, without
// a fence. thrust::unique needs that: it writes where it reads.
bool has_looked_back(const Program& program, const Mine& mine,
                     const Event& event) {
  return mine.stores && !event.stores && event.block < mine.block.number &&
         is_of(program.function_of(mine.ins), "ScanTileState");
}

// thrust::set_intersection compares a key behind the last that its block has
// brought to shared memory, too, and drops what comes of it.
bool compares_behind_the_end(const Program& program, const Origin& origin) {
  return origin.space == Space::kShared &&
         is_of(*program.by_site[origin.site].function,
               "serial_set_intersection");
}

}  // namespace simt
