// Asks chapter 16 for what it cannot do, as its argument says.
#include <string_view>

#include "chapters/16_bn_relu/bn_relu.planned.cu"

int main(int, char** argv) {
  BnRelu what = {1, 1, 1, 1, false, Element::kFloat, true, 1e-5f, 0.1f};
  if (std::string_view(argv[1]) == "no_mask") what.relu = true;
  if (std::string_view(argv[1]) == "no_type")
    what.element = static_cast<Element>(7);
  bn_relu_backward(what, {}, nullptr, nullptr);
}
