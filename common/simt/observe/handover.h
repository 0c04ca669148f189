// How a kernel lets the next one begin, if that may begin before this is done
// (programmatic dependent launch).
#pragma once

namespace simt {

struct Handover {
  bool waits_first = false;     // a block waited, and let it begin afterwards
  bool before_it_ends = false;  // a thread let it begin

  void add(const Handover& other) {
    waits_first |= other.waits_first;
    before_it_ends |= other.before_it_ends;
  }
};

}  // namespace simt
