// The grid policy of chapter 02, for GPUs that are not at hand.
#include "common/grid.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

struct Gpu {
  int sms, threads_per_sm;
};
constexpr Gpu kRtx3080Ti{80, 1536}, kA100{108, 2048}, kH200{132, 2048};

constexpr int64_t kImage = 3 * 224 * 224;  // 150,528 floats.
constexpr int64_t kPack = 4;

int64_t blocks(int64_t n, Gpu gpu) {
  return grid_blocks(n, gpu.sms, gpu.threads_per_sm);
}

// What stands in a file from `begin` (itself left out) to `end`.
std::string piece(const std::string& path, const std::string& begin,
                  const std::string& end) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "no ", path, ": run this in the repository's root");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t first = text.find(begin);
  REQUIRE_MESSAGE(first != std::string::npos, "no '", begin, "' in ", path);
  const size_t last = text.find(end, first);
  REQUIRE_MESSAGE(last != std::string::npos, "no '", end, "' in ", path);
  return text.substr(first + begin.size(), last - first - begin.size());
}

}  // namespace

TEST_CASE("a small array gets a thread for each item") {
  CHECK(blocks(kImage, kA100) == 588);
  CHECK(blocks(kImage / kPack, kA100) == 147);
  CHECK(blocks(255, kH200) == 1);
  CHECK(blocks(256, kH200) == 1);
  CHECK(blocks(257, kH200) == 2);
}

TEST_CASE("a large array gets 32 waves") {
  CHECK(blocks(int64_t{1} << 30, kRtx3080Ti) == 15'360);
  CHECK(blocks(int64_t{1} << 30, kA100) == 27'648);
  CHECK(blocks(int64_t{1} << 30, kH200) == 33'792);
  CHECK(blocks(int64_t{1} << 60, kH200) == 33'792);
}

TEST_CASE("the cap begins where the waves are full") {
  const int64_t full = int64_t{33'792} * 256;
  CHECK(blocks(full - 256, kH200) == 33'791);
  CHECK(blocks(full, kH200) == 33'792);
  CHECK(blocks(full + 1, kH200) == 33'792);
}

TEST_CASE("an empty array gets one block") {
  CHECK(blocks(0, kA100) == 1);
  CHECK(blocks(1, kA100) == 1);
}

// So that what is checked above is what chapter 02 runs.
TEST_CASE("common/grid.h is chapter 02's code word for word") {
  for (const std::string begin :
       {"kBlock =", "kWaves =", " grid_blocks(", " grid_for("}) {
    const std::string end = begin.back() == '=' ? ";" : "\n}";
    const std::string built =
        piece("chapters/02_grid_stride/relu.cu", begin, end);
    const std::string promoted = piece("common/grid.h", begin, end);
    CHECK(promoted == built);
  }
}
