// Hostile: it prints what would move a terminal's cursor, end a JSON text or an
// XML element, and what is no UTF-8.
#include <unistd.h>

#include <cstdio>

#include "common/relu.h"

__attribute__((constructor)) void print() {
  std::fputs(
      "\x1b[2J\x1b]0;title\x07 ]]></failure></testcase> \"}, \xff\xfe "
      "\x01\x02 =HYPERLINK(\"x\") ${{ secrets }} ::set-output::\n",
      stdout);
  std::fflush(stdout);
  _exit(1);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
