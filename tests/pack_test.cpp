// What later chapters take from chapter 03 is what chapter 03 runs.
#include "common/pack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "no ", path, ": run this in the repository's root");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("common/pack.h is chapter 03's code word for word") {
  const std::string built = text_of("chapters/03_pack/relu.cu");
  std::string left = text_of("common/pack.h");
  left.erase(0, left.find("<cstdint>\n\n") + 11);
  int pieces = 0;
  while (!left.empty()) {
    const size_t end = std::min(left.find("\n\n"), left.size());
    std::string piece = left.substr(0, end);
    left.erase(0, end + 2);
    if (piece.starts_with("inline ")) piece.erase(0, 7);
    CHECK_MESSAGE(built.find(piece) != std::string::npos, piece);
    ++pieces;
  }
  CHECK(pieces == 3);
}

TEST_CASE("a pack may begin at every 16th byte") {
  alignas(Pack) const float x[5] = {};
  CHECK(is_aligned(x));
  CHECK_FALSE(is_aligned(x + 1));
  CHECK_FALSE(is_aligned(x + 3));
  CHECK(is_aligned(x + 4));
}
