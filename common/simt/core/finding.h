// What a kernel did wrong: the words for it, and how it ends the kernel.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/simt/core/code.h"

namespace simt {

// What would put a race in order, for threads so far apart: the wider of two
// remedies helps both. One without a reach helps its own race alone.
struct Remedy {
  enum Reach : uint8_t { kNone, kLanes, kWarps, kBlocks, kNever };
  Reach reach = kNone;
  std::string_view words;  // a literal

  bool is_for_more_than(const Remedy& other) const {
    return other.reach != kNone && reach > other.reach;
  }
};

// Something wrong that a kernel did, with the place where it did it.
struct Finding {
  std::string kind;     // "out of bounds", "race", ...
  std::string message;  // the rest of the sentence
  std::string kernel;
  std::string file;  // empty: the compiler did not say
  uint32_t line = 0;
  std::array<uint32_t, 3> block = {}, thread = {};
  bool names_thread = true;  // false: it is about all of them
  bool note = false;         // worth knowing, but no error
  uint64_t count = 0;        // how often; 0: once, and it ended the kernel
  uint64_t address = 0;      // in its memory space; 0 where there is none
  // Of a race: for the two threads that it names, and the widest for all that
  // race at these lines. The message gets its end when all are known.
  Remedy remedy, widest;
  std::string_view besides;  // a literal, said behind the remedy
  // The other access or thread, where there is one.
  bool has_other = false;
  std::string other_file;
  uint32_t other_line = 0;
  std::array<uint32_t, 3> other_block = {}, other_thread = {};

  std::string text() const;  // for people
};

std::string hex(uint64_t value);
// A thread or a block, as findings name it: "(3,0,0)".
std::string triple(const std::array<uint32_t, 3>& v);

// cudaErrorIllegalAddress, ...IllegalInstruction, ...MisalignedAddress,
// ...LaunchFailure
constexpr int kIllegalAddress = 700, kIllegalInstruction = 715,
              kMisalignedAddress = 716, kLaunchFailure = 719;

// What ended a kernel: one of the codes CUDA reports, and what to say.
struct KernelFault : std::runtime_error {
  KernelFault(int error, const std::string& message)
      : std::runtime_error(message), code(error) {}
  int code;  // a cudaError_t, for instance cudaErrorIllegalAddress
};

// The same with its place, for the report.
struct PlacedFault : KernelFault {
  PlacedFault(int code, const Finding& finding)
      : KernelFault(code, finding.text()), finding(finding) {}
  Finding finding;
};

// What `lane` of `warp` did at `ins`.
Finding finding_at(const Warp& warp, const Instruction& ins, int lane,
                   const std::string& kind, const std::string& what);

// Ends the kernel with a message that names line, block and thread.
[[noreturn]] void fault(const Warp& warp, const Instruction& ins, int lane,
                        const std::string& kind, const std::string& what,
                        int code);

}  // namespace simt
