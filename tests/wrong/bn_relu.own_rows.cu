// Wrong on purpose: with channels last, a block normalises its rows with their
// own mean and variance, and never asks what the other blocks found.

#include "chapters/16_bn_relu/launch.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

constexpr int kRows = 64, kWarps = kBlock / 32;

template <class T>
__global__ void bn_relu_kernel(const __grid_constant__ Task task,
                               Statistics<T> channels, Elements<T> at) {
  using Sums = Moments<T, 1>;
  __shared__ Sums of_warps[kWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t c = int64_t{blockIdx.x} * 32 + lane;
  const int64_t end = min(int64_t{blockIdx.y + 1} * kRows, task.shape.outer);
  const float shift = Sums::shift(channels, c, c);
  Sums sums = {};
  for (int64_t row = blockIdx.y * kRows + warp; row < end; row += kWarps) {
    const typename Sums::Loaded x[] = {
        Sums::fetch(channels, row * task.shape.channels + c)};
    sums.add(x, shift);
  }
  of_warps[warp][lane] = sums;
  __syncthreads();
  sums = {};
  for (int k = 0; k < kWarps; ++k) sums.join(of_warps[k][lane]);
  if (blockIdx.y == 0 && warp == 0)
    sums.finish(c, shift, Sums::known(channels, c), channels, task.shape.outer);
  const float inverse =
      inverse_deviation(sums.squares / sums.count, channels.epsilon);
  const Channel of = {shift + sums.mean, inverse * channels.gamma[c],
                      channels.beta[c], 0.f};
  for (int64_t row = blockIdx.y * kRows + warp; row < end; row += kWarps) {
    const int64_t i = row * task.shape.channels + c;
    float v = normalised(to_float(at.x[i]), of);
    if (at.addend) v += to_float(at.addend[i]);
    at.y[i] = rounded<T>(at.relu ? rectified(v) : v);
    const uint32_t word = __ballot_sync(~0u, to_float(at.y[i]) > 0.f);
    if (at.mask && lane == 0) at.mask[i / 32] = word;
  }
}

}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    const Forward<decltype(zero)> call(what, at, scratch);
    const Shape& shape = call.task.shape;
    if (call.columns.groups == 0) return call.in_two_launches(stream);
    const dim3 grid(shape.channels / 32, (shape.outer + kRows - 1) / kRows);
    bn_relu_kernel<<<grid, kBlock, 0, stream>>>(call.task, call.channels,
                                                call.at);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  with_type(what.element, [&](auto zero) {
    Backward<decltype(zero)>(what, at, scratch).in_two_launches(stream);
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) { return scratch_floats(what); }
