// The functions that device code calls and the system provides: printf,
// assert, malloc, free, cudaGraphSetConditional.
#include <cstdio>
#include <cstring>
#include <string>

#include "common/simt/core/block.h"
#include "common/simt/core/conditions.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/unseen_text.h"
#include "common/simt/isa/collectives.h"
#include "common/simt/isa/device_calls.h"
#include "common/simt/isa/lane.h"
#include "common/simt/memory/allocations.h"

namespace simt {
namespace {

// What printf promotes its arguments to lies one after the other, each at a
// multiple of its size.
class Arguments {
 public:
  Arguments(const Lane& lane, uint64_t at) : lane_(lane), at_(at) {}
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    lane_.check_given(at_, sizeof(T));
    const T value = lane_.read<T>(at_);
    at_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  const Lane& lane_;
  uint64_t at_;
  int count_ = 0;
};

template <class T>
std::string formatted(const std::string& spec, T value) {
  char text[512];
  const int n = std::snprintf(text, sizeof text, spec.c_str(), value);
  if (n < static_cast<int>(sizeof text)) return text;
  std::string longer(n + 1, '\0');
  std::snprintf(longer.data(), longer.size(), spec.c_str(), value);
  longer.pop_back();
  return longer;
}

std::string string(const Lane& lane, uint64_t address) {
  constexpr char kWhy[] =
      ", where printf's %s wants the address of a string. (Conversions that "
      "the device lacks, such as %zu, take no argument: %s may have got "
      "theirs)";
  return address ? lane.text(address, kWhy) : "(null)";
}

// One conversion, "%-8.3lld": the host's printf does the work, with the
// argument fetched from the device and its length spelt for the host. What the
// device's printf does not know, "%zu" and "%.*f" too, it prints as it stands.
std::string convert(const std::string& format, size_t& at, const Lane& lane,
                    Arguments& arguments) {
  const size_t begin = at;
  std::string spec = "%";
  bool wide = false;
  for (++at; at < format.size(); ++at) {
    const char c = format[at];
    if (std::strchr("-+ #0123456789.h", c))
      spec += c;
    else if (c == '*' && spec.find('.') == std::string::npos)
      spec += std::to_string(arguments.next<int>());
    else if (c == 'l')
      wide = true;
    else
      break;
  }
  const char c = at < format.size() ? format[at++] : '%';
  if (spec.ends_with("hh")) lane.note_unknown(format.substr(begin, at - begin));
  switch (c) {
    case 'd':
    case 'i':
      if (!wide) return formatted(spec + c, arguments.next<int>());
      return formatted(spec + "ll" + c, arguments.next<long long>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (!wide) return formatted(spec + c, arguments.next<unsigned>());
      return formatted(spec + "ll" + c, arguments.next<unsigned long long>());
    case 'c':
      return formatted(spec + c, arguments.next<int>());
    case 's':
      return formatted(spec + c,
                       string(lane, arguments.next<uint64_t>()).c_str());
    case 'p':
      return formatted(spec + c,
                       reinterpret_cast<void*>(arguments.next<uint64_t>()));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return formatted(spec + c, arguments.next<double>());
    case '%':
      if (at - begin == 2) return "%";
      [[fallthrough]];
    default:
      return format.substr(begin, at - begin);
  }
}

void print(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Grid& grid = *warp.block->grid;
  if (!is_text_unseen())
    note_printed(grid.kernel.name + ", which printed at " +
                 grid.program.location(ins.where));
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const Lane lane(warp, ins, first_lane(rest));
    const std::string format = lane.text(lane.argument<uint64_t>(0));
    Arguments arguments(lane, lane.argument<uint64_t>(1));
    std::string text;
    for (size_t at = 0; at < format.size();) {
      if (format[at] == '%')
        text += convert(format, at, lane, arguments);
      else
        text += format[at++];
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    lane.result<int>(arguments.count());
  }
}

void assert_failed(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int first = first_lane(mask);
  const Lane lane(warp, ins, first);
  fault(warp, ins, first, "assertion failed",
        "`" + lane.text(lane.argument<uint64_t>(0)) + "` in " +
            lane.text(lane.argument<uint64_t>(3)) + ", " +
            lane.text(lane.argument<uint64_t>(1)) + ":" +
            std::to_string(lane.argument<uint32_t>(2)),
        710);
}

void allocate(Warp& warp, const Instruction& ins, uint32_t mask) {
  warp.block->quiet = false;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const Lane lane(warp, ins, first_lane(rest));
    const auto bytes = lane.argument<uint64_t>(0);
    const LaunchShape& shape = warp.block->grid->shape;
    const uint64_t address = allocations().allocate(
        bytes, Memory::kHeap, "malloc in a kernel", shape.device);
    if (shape.kin && address) shape.kin->forget(address, bytes);
    lane.result<uint64_t>(address);
  }
}

void release(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const Lane lane(warp, ins, l);
    const auto address = lane.argument<uint64_t>(0);
    lane.result<int>(0);  // cudaFree has one
    if (address == 0) continue;
    const auto found = allocations().find(address);
    if (!found || found->memory != Memory::kHeap ||
        !allocations().release(address))
      fault(warp, ins, l, "bad free",
            "free of " + allocations().describe(address), kLaunchFailure);
  }
  warp.block->quiet = false;
}

void decide(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const Lane lane(warp, ins, l);
    const auto condition = lane.argument<uint64_t>(0);
    if (!set_condition(condition, lane.argument<uint32_t>(1)))
      fault(warp, ins, l, "bad condition",
            "cudaGraphSetConditional: " + hex(condition) +
                " is no handle from cudaGraphConditionalHandleCreate",
            kLaunchFailure);
  }
  warp.block->quiet = false;
}

}  // namespace

Handler system_call(const std::string& name) {
  if (name == "vprintf") return print;
  if (name == "__assertfail") return assert_failed;
  if (name == "malloc") return allocate;
  if (name == "free" || name == "__cudaCDP2Free") return release;
  if (name == "cudaGraphSetConditional") return decide;
  return device_call(name);
}

}  // namespace simt
