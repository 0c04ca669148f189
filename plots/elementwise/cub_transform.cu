// A peer of chapter 13: CUB's transform, with the engine's functors.
#include <cstdint>
#include <cstring>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <string>

#include "chapters/13_elementwise/functors.h"

namespace {

template <class F, class T, class... A>
cudaError_t transform(int64_t n, void* r, cudaStream_t stream, const A*... a) {
  return cub::DeviceTransform::Transform(
      cuda::std::make_tuple(static_cast<const T*>(a)...), static_cast<T*>(r), n,
      F{}, stream);
}

// An error, where it is none of these.
template <class T>
int of_type(const std::string& op, int64_t n, void* r, const void* const* a,
            cudaStream_t stream) {
  using namespace elementwise;
  if (op == "relu") return transform<Relu<T>, T>(n, r, stream, a[0]);
  if (op == "add") return transform<Add<T>, T>(n, r, stream, a[0], a[1]);
  if (op == "fma")
    return transform<MultiplyAdd<T>, T>(n, r, stream, a[0], a[1], a[2]);
  return cudaErrorInvalidValue;
}

}  // namespace

// What is a function and a type, as in any_elementwise.h. Returns CUDA's error.
extern "C" int cub_transform(const char* what, int64_t n, void* r,
                             const void* const* a, cudaStream_t stream) {
  const char* const space = std::strchr(what, ' ');
  if (!space) return cudaErrorInvalidValue;
  const std::string op(what, space), type(space + 1);
  if (type == "float") return of_type<float>(op, n, r, a, stream);
  if (type == "half") return of_type<__half>(op, n, r, a, stream);
  if (type == "bfloat16") return of_type<__nv_bfloat16>(op, n, r, a, stream);
  return cudaErrorInvalidValue;
}
