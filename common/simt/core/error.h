// What ends a program's wish to run: text for people.
#pragma once
#include <stdexcept>

namespace simt {

// A program that cannot be run, or must not go on. The message says why.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace simt
