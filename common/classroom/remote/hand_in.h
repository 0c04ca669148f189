// In a hand-in's process: how the judge calls what it defines.
#pragma once

#include <tuple>

#include "common/classroom/remote/messages.h"

namespace remote {

// Calls a function of the contract with the arguments in a message.
using Served = Message (*)(Message);

template <auto kFunction>
struct Serve;

template <class Returned, class... Argument, Returned (*kFunction)(Argument...)>
struct Serve<kFunction> {
  static Message call(Message message) {
    // Braces: from left to right.
    const std::tuple<Argument...> arguments{message.take<Argument>()...};
    Message answer(Kind::kReturned);
    if constexpr (std::is_void_v<Returned>)
      std::apply(kFunction, arguments);
    else
      answer.put(std::apply(kFunction, arguments));
    return answer;
  }
};

// Made of the contract's header, in the order of its functions.
extern const Served kServed[];

}  // namespace remote
