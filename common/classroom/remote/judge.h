// In the judge's process: a function of the contract is a call of the
// hand-in's.
#pragma once

#include <type_traits>

#include "common/classroom/remote/messages.h"

namespace remote {

// Waits until the hand-in has returned from a call, and does what it asks for
// meanwhile. With no hand-in there is nothing to wait for: every
// function does nothing, and returns zeros.
Message call_hand_in(const Message& call);
bool has_hand_in();

template <class Returned, class... Argument>
Returned ask(uint32_t function, Returned (*)(Argument...),
             std::type_identity_t<Argument>... argument) {
  if (!has_hand_in()) return Returned();
  Message call(Kind::kCall);
  call.put(function);
  (call.put(argument), ...);
  Message answer = call_hand_in(call);
  if constexpr (!std::is_void_v<Returned>) return answer.take<Returned>();
}

}  // namespace remote
