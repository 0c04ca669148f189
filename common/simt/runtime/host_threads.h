// The threads of this process, and whether all of them wait.
#pragma once
#include <cstddef>

namespace simt {

// Whether all but `ours`, of which that is known, wait for other threads of
// this process, for as long as it takes. False, too, where the system does not
// tell.
bool all_threads_wait(size_t ours);

}  // namespace simt
