// Chapter 16, planned: as many blocks as the GPU has room for.
//
// New:   where channels are too few to fill the GPU, several blocks share one,
//        and the last of them puts their sums together.
// Why:   a network's first layers have few channels of many pixels: with a
//        block for each, half of the SMs would have nothing to do.
// Price: what a block found goes through memory, with a counter and fences.

#include "chapters/16_bn_relu/launch.h"
#include "common/bn_relu.h"

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  using namespace batch_norm;
  with_type(what.element, [&](auto zero) {
    Forward<decltype(zero)>(what, at, scratch).in_two_launches(stream);
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  using namespace batch_norm;
  with_type(what.element, [&](auto zero) {
    Backward<decltype(zero)>(what, at, scratch).in_two_launches(stream);
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  batch_norm::infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) {
  return batch_norm::scratch_floats(what);
}
