// How calls of the stand-ins answer: each library has statuses of its own, and
// what it refuses is told in a sentence.
#pragma once
#include <string>

#include "common/simt/runtime/runtime.h"

namespace simt {

// A call that a library refuses: what it answers, and the reason.
template <class Status>
struct Wrong {
  Status status;
  std::string why;
};

template <class Status, class... Part>
void require_status(bool holds, Status otherwise, const Part&... why) {
  if (!holds) throw Wrong<Status>{otherwise, text(why...)};
}

// A call's body for simt::answer(): what is refused within it becomes `status`,
// and is told by tell(wrong).
template <class Status, class Body, class Tell>
auto refusing(Status& status, Body& body, Tell tell) {
  return [&status, &body, tell] {
    try {
      body();
    } catch (const Wrong<Status>& wrong) {
      status = wrong.status;
      tell(wrong);
    }
  };
}

}  // namespace simt
