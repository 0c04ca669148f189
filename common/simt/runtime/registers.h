// How many registers a thread of a kernel gets: ptxas decides that, when it
// makes machine code. Where one is found, it is asked.
#pragma once

namespace simt {

struct Kernel;

// 0: that is not known. The first call for a kernel runs ptxas, which takes a
// few hundredths of a second.
int registers_of(Kernel& kernel);

// From now on that is never known: nobody but the executor may read this PTX.
void run_no_ptxas();

}  // namespace simt
