// Hostile: a kernel of a binary that was never registered: the handle is an
// address in the judge.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/relu.h"

struct Head {
  uint32_t kind, bytes;
};

// The grader's half of the program finds the judge at descriptor 3.
void say(uint32_t kind, const std::vector<char>& text, uint32_t length) {
  const Head head = {kind, length};
  send(3, &head, sizeof head, MSG_NOSIGNAL);
  for (size_t done = 0; done < text.size();) {
    const ssize_t more =
        send(3, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (more <= 0) _exit(0);
    done += more;
  }
}
void say(uint32_t kind, const std::vector<char>& text = {}) {
  say(kind, text, text.size());
}
std::vector<char> hear() {
  Head head;
  if (read(3, &head, sizeof head) <= 0) _exit(0);
  std::vector<char> text(head.bytes);
  for (size_t done = 0; done < text.size();) {
    const ssize_t more = read(3, text.data() + done, text.size() - done);
    if (more <= 0) _exit(0);
    done += more;
  }
  return text;
}

__attribute__((constructor)) void speak() {
  std::vector<char> text(8 + 8, 'A');
  for (const char c : std::string("kernel")) text.push_back(c);
  text.push_back(0);
  say(5, text);
  hear();
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
