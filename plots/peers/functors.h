// What CUB's and Thrust's transforms apply: chapters' formulas, for one
// element.
#pragma once
#include <cuda_fp16.h>

struct Rectify {
  __device__ float operator()(float x) const { return x <= 0.f ? 0.f : x; }
};

// From -8 down the result is 0 in half; -infinity would come to inf / inf.
struct Gelu {
  __device__ __half operator()(__half half) const {
    float x = __half2float(half);
    if (x < -8.f) x = -8.f;
    const float twice_u = x * (1.5957691f + 0.07135481f * x * x);
    return __float2half_rn(__fdividef(x, 1.f + __expf(-twice_u)));
  }
};
