// Your leaky_relu_mask() and leaky_relu_mask_backward(): leaky_relu_mask.h
// beside this file says what they must do.

#include "common/check.h"
#include "common/classroom/tasks/leaky_relu_mask/leaky_relu_mask.h"

void leaky_relu_mask(const float* x, float* y, uint32_t* mask, float slope,
                     int64_t n, cudaStream_t stream) {}

void leaky_relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                              float slope, int64_t n, cudaStream_t stream) {}
