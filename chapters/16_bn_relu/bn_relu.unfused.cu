// Chapter 16, unfused: every layer in a kernel of its own.
//
// New:   a block finds the mean and variance of a channel; then one kernel
//        normalises, one adds and one rectifies, as a framework's layers do.
// Why:   each layer is simple, and any network can be put together from them.
// Price: whatever a layer hands to the next goes to memory and comes back, and
//        what it keeps in between is as large as x.

#include "chapters/16_bn_relu/unfused.h"
#include "common/bn_relu.h"

namespace {

using namespace batch_norm;

// What one layer hands to the next lies after what the sums need.
int64_t floats_before(const BnRelu& what) {
  return (scratch_floats(what) + 3) / 4 * 4;
}

}  // namespace

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream) {
  const Task task(shape_of(what));
  const Lent lent(scratch, task.shape);
  const int64_t n = task.n, grid = tiles_of(n, 1);
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Elements<T> ends = elements_of<T>(what, at);
    find_sums<Moments>(task, alone(task.shape, what.element, at.x),
                       statistics_of<T>(what, at), lent, stream);
    if (n == 0) return;
    T* const between = reinterpret_cast<T*>(scratch + floats_before(what));
    T* const z = ends.addend ? between : ends.y;
    normalise_kernel<<<grid, kBlock, 0, stream>>>(task, ends.x, lent.channels,
                                                  z);
    if (ends.addend)
      add_kernel<<<grid, kBlock, 0, stream>>>(z, ends.addend, ends.y, n);
    if (what.relu)
      relu_kernel<<<grid, kBlock, 0, stream>>>(ends.y, ends.mask, n);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream) {
  const Task task(shape_of(what));
  const Lent lent(scratch, task.shape);
  const int64_t n = task.n, grid = tiles_of(n, 1);
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const ElementSlopes<T> ends = slopes_of<T>(what, at);
    T* const between = reinterpret_cast<T*>(scratch + floats_before(what));
    T* const g = ends.d_addend ? ends.d_addend : between;
    if (n > 0)
      select_kernel<<<grid, kBlock, 0, stream>>>(ends.from.dy, ends.from.mask,
                                                 g, n);
    Slopes<T> selected = ends.from;
    selected.dy = g;
    selected.mask = nullptr;
    find_sums<Gradients>(task, alone(task.shape, what.element, at.x, g),
                         selected, lent, stream);
    if (n > 0)
      slope_kernel<<<grid, kBlock, 0, stream>>>(task, g, ends.from.x,
                                                lent.channels, ends.dx);
    CUDA_CHECK(cudaGetLastError());
  });
}

void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream) {
  infer(what, at, stream);
}

int64_t bn_relu_scratch_floats(BnRelu what) {
  return floats_before(what) + shape_of(what).n();
}
