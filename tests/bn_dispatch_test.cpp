// When a framework may leave a training step's BatchNorm, addition and ReLU to
// cuDNN: the rule of OneFlow's job pass as a table, on the host alone.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

enum class Type { kFloat, kHalf, kBfloat16 };

struct Step {
  int cudnn = 7401;          // 7.4.1, as cuDNN writes it.
  Type x = Type::kHalf;      // Of x,
  Type mixed = Type::kHalf;  // and what mixed precision computes in.
  std::vector<int64_t> shape = {64, 56, 56, 256};
  int axis = 3;  // Of the channels.
  bool trains = true;
};

// Behind the channels nothing may lie: then they are last.
int64_t elements_behind(const Step& step) {
  int64_t count = 1;
  for (size_t d = step.axis + 1; d < step.shape.size(); ++d)
    count *= step.shape[d];
  return count;
}

bool may_be_fused_by_cudnn(const Step& step) {
  return step.cudnn >= 7401 && step.x == step.mixed &&
         elements_behind(step) == 1 && step.shape[step.axis] % 4 == 0 &&
         step.trains;
}

struct Row {
  std::string what;
  Step step;
  bool fused;
};

const std::vector<Row> kRows = {
    {"all conditions hold", {}, true},
    {"a newer cuDNN", {.cudnn = 90100}, true},
    {"cuDNN 7.4.0", {.cudnn = 7400}, false},
    {"both bfloat16", {.x = Type::kBfloat16, .mixed = Type::kBfloat16}, true},
    {"x is float, the rest half", {.x = Type::kFloat}, false},
    {"x is half, the rest bfloat16", {.mixed = Type::kBfloat16}, false},
    {"channels first", {.shape = {64, 256, 56, 56}, .axis = 1}, false},
    {"channels first, one pixel", {.shape = {64, 256, 1, 1}, .axis = 1}, true},
    {"a matrix", {.shape = {64, 256}, .axis = 1}, true},
    {"four channels", {.shape = {1, 1, 1, 4}}, true},
    {"six channels", {.shape = {64, 56, 56, 6}}, false},
    {"one channel", {.shape = {64, 56, 56, 1}}, false},
    {"inference", {.trains = false}, false},
};

}  // namespace

TEST_CASE("cuDNN's fused kernels may be used where all conditions hold") {
  for (const Row& row : kRows) {
    INFO(row.what);
    CHECK(may_be_fused_by_cudnn(row.step) == row.fused);
  }
}
