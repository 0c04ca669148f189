// Writes SIMT_TRACE.
#include "common/simt/observe/trace.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "common/simt/core/block.h"
#include "common/simt/core/error.h"
#include "common/simt/core/settings.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/report.h"

namespace simt {
namespace {

// Of each warp: enough to see a loop's pattern; a launch may have millions of
// rounds.
constexpr uint32_t kEvents = 64;

std::string lane_json(const Access& access, int lane) {
  const uint64_t address = access.address[lane];
  uint64_t array = 0, offset = address;
  if (access.space != Space::kShared) {
    const auto found = allocations().find(address);
    array = found->number;
    offset -= found->begin;
  }
  return "{\"lane\": " + std::to_string(lane) +
         ", \"allocation\": " + std::to_string(array) +
         ", \"offset\": " + std::to_string(offset) + "}";
}

// One object for each lane of the mask, as `of_lane` tells.
template <class OfLane>
std::string lanes_json(uint32_t mask, OfLane of_lane) {
  std::string lanes;
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) lanes += (lanes.empty() ? "" : ", ") + of_lane(l);
  return lanes;
}

}  // namespace

Trace* Trace::wanted() {
  static Trace* const trace = []() -> Trace* {
    const char* path = settings::trace_path();
    if (!path) return nullptr;
    return new Trace(path, settings::trace_line());
  }();
  static const bool scheduled =
      trace && std::atexit([] { wanted()->write(); }) == 0;
  (void)scheduled;
  return trace;
}

Trace::Trace(std::string path, const std::string& place)
    : path_(std::move(path)),
      file_(place.substr(0, place.rfind(':'))),
      block_(settings::trace_block()) {
  const char* begin = place.data() + std::min(file_.size() + 1, place.size());
  const char* end = place.data() + place.size();
  const auto read = std::from_chars(begin, end, line_);
  if (file_.empty() || read.ec != std::errc() || read.ptr != end || line_ == 0)
    throw Error(
        "SIMT_TRACE needs SIMT_TRACE_LINE=file.cu:28, the file and "
        "line to trace, and that is '" +
        place + "'");
}

bool Trace::is_traced(const Warp& warp, const Instruction& ins) {
  if (ins.where.line != line_ || warp.block->number != block_) return false;
  const std::string& file =
      warp.block->grid->program.module->text.files.at(ins.where.file);
  return (file == file_ || file.ends_with("/" + file_)) &&
         taken_[warp.index]++ < kEvents;
}

// Only the host thread that runs the launch's traced block comes here.
void Trace::access(const Warp& warp, const Instruction& ins,
                   const Access& access) {
  static const char* const uses[] = {"load", "store", "atomic"};
  if (!is_traced(warp, ins)) return;
  add(warp,
      std::string("\"space\": \"") +
          (access.space == Space::kShared ? "shared" : "global") +
          "\", \"use\": \"" + uses[static_cast<int>(access.use)] +
          "\", \"bytes\": " + std::to_string(access.bytes),
      lanes_json(access.mask, [&](int l) { return lane_json(access, l); }));
}

void Trace::collective(const Warp& warp, const Instruction& ins,
                       uint32_t mask) {
  if (!is_traced(warp, ins)) return;
  const Exchange& in = warp.exchange;
  const bool votes = ins.votes();
  add(warp,
      std::string("\"space\": \"warp\", \"use\": \"") +
          (votes ? "vote" : "exchange") + "\"",
      lanes_json(mask, [&](int l) {
        return "{\"lane\": " + std::to_string(l) + ", \"value\": " +
               std::to_string(votes ? in.predicate >> l & 1 : in.a[l]) +
               (ins.shuffles() ? ", \"with\": " + std::to_string(in.b[l])
                               : "") +
               "}";
      }));
}

void Trace::release(const Block& block) { barriers_ += block.number == block_; }

void Trace::add(const Warp& warp, const std::string& what,
                const std::string& lanes) {
  const Grid& grid = *warp.block->grid;
  events_.push_back("{\"launch\": " + std::to_string(launch_count()) +
                    ", \"kernel\": \"" + grid.kernel.name +
                    "\", \"blocks\": " + std::to_string(grid.blocks) +
                    ", \"block\": " + std::to_string(grid.threads_per_block) +
                    ", \"warp\": " + std::to_string(warp.index) +
                    ", \"issued\": " + std::to_string(warp.issued) +
                    ", \"barriers\": " + std::to_string(barriers_) + ", " +
                    what + ",\n  \"lanes\": [" + lanes + "]}");
}

void Trace::write() const {
  std::string text;
  for (const std::string& one : events_)
    text += (text.empty() ? "\n " : ",\n ") + one;
  std::FILE* file = nullptr;
  if (events_.empty())
    std::fprintf(stderr,
                 "simt: no launch's block %llu accesses memory or meets for a "
                 "collective at %s:%u; SIMT_TRACE_LINE names the line\n",
                 static_cast<unsigned long long>(block_), file_.c_str(), line_);
  else if (!(file = std::fopen(path_.c_str(), "w")) ||
           std::fprintf(file, "[%s]\n", text.c_str()) < 0 ||
           std::fclose(file) != 0)
    std::perror(("simt: cannot write SIMT_TRACE=" + path_).c_str());
  else
    return;
  std::_Exit(1);
}

}  // namespace simt
