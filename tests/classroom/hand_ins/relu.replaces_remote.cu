// Hostile: it defines what the grader's half of the program defines.
#include "common/relu.h"

namespace remote {
struct Message;
using Served = Message (*)(Message);
extern const Served kServed[];
const Served kServed[1] = {nullptr};
}  // namespace remote

void relu(const float*, float*, int64_t, cudaStream_t) {}
