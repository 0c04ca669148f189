// Which path does chapter 15's engine take? For some calls, its planner's
// answers for an H200. No memory is asked for: planning follows no pointer.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "chapters/15_strides_and_casts/paths.h"

using strided::Array, strided::Type;

constexpr strided::Gpu kH200{132, 2048};
constexpr int64_t kRows = 4096, kColumns = 8192;

// `which` tells the arrays apart: their addresses lie far from each other.
Array array(int which, std::vector<int64_t> strides, Type type = Type::kFloat,
            int64_t late = 0) {
  std::vector<int64_t> sizes = {kRows, kColumns};
  sizes.erase(sizes.begin(), sizes.end() - std::ssize(strides));
  const uintptr_t at = (uintptr_t{1} << 40) * (which + 1);
  return {at + late * bytes_of(type), type, sizes, strides};
}

void show(const char* what, const std::vector<Array>& arrays) {
  const strided::Kind kind{1, std::vector(arrays.size(), Type::kFloat)};
  const strided::Plan plan = make_plan(arrays, kind, kH200);
  if (plan.error) {
    printf("%-22s %s\n", what, plan.error);
    exit(EXIT_FAILURE);
  }
  const strided::Piece& piece = plan.pieces[0];
  printf("%-22s %-22s %d per access", what, piece.path().c_str(), piece.width);
  if (piece.shift != decltype(piece.shift){}) printf(", shifted");
  if (piece.steps > 1) printf(", %d rows per thread", piece.steps);
  printf("\n");
}

int main() {
  const auto rows = [](int which, Type type = Type::kFloat) {
    return array(which, {kColumns, 1}, type);
  };
  const Array out = rows(0), x = rows(1);
  show("x + y", {out, x, rows(2)});
  show("x + y, all one late",
       {array(0, {1}, Type::kFloat, 1), array(1, {1}, Type::kFloat, 1),
        array(2, {1}, Type::kFloat, 1)});
  show("x + y, y one late", {out, x, array(2, {kColumns, 1}, Type::kFloat, 1)});
  show("x + y, y in halves", {out, x, rows(2, Type::kHalf)});
  show("every second column", {out, x, array(2, {2 * kColumns, 2})});
  show("the same in halves",
       {out, x, array(2, {2 * kColumns, 2}, Type::kHalf)});
  show("x + row", {out, x, array(2, {1})});
  show("x + column", {out, x, array(2, {1, 0})});
  show("x + y.t()", {out, x, array(2, {1, kRows})});
  show("x + y.t(), y in halves", {out, x, array(2, {1, kRows}, Type::kHalf)});
  return 0;
}
