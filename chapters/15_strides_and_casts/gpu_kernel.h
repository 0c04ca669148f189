// Chapter 15: any function of elements, on arrays of any types and strides.
//
// Read plan.h and paths.h first: they say which path a call takes. access.h,
// stretches.h and tiles.h are how a thread reads and writes there, and body.h
// what it does. Here are the kernels, and which of them is launched.
#pragma once

#include <utility>
#include <vector>

#include "chapters/15_strides_and_casts/body.h"

namespace strided {

// ---- The kernels ------------------------------------------------------------

// At least this many blocks fit an SM, by their registers.
template <class Casts, int kWidth>
constexpr int kPackBlocks = kWidth > 1 && kIsCast<Casts> ? 4 : 6;

// What is in no pack has a block of its own, the last: a thread that had a
// pack, too, would wait for memory twice.
template <class F, class Casts, int kWidth>
__global__ void __launch_bounds__(kBlock)
    stretch_kernel(const F f,
                   const __grid_constant__ Stretches<BodyOf<F>::kArrays> task) {
  constexpr int kAccesses = BodyOf<F>::template kAccesses<Casts, kWidth>;
  const uint32_t begin = task.head + blockIdx.x * (kBlock * kAccesses * kWidth);
  if (begin < task.end) {
    using B = BodyOf<F>;
    const uint32_t first = begin + threadIdx.x * kWidth, end = task.end;
    if (task.shifted)
      B::template packs<Casts, kWidth, kAccesses, true>(f, task, first, end);
    else
      B::template packs<Casts, kWidth, kAccesses>(f, task, first, end);
    return;
  }
  const uint32_t i = threadIdx.x;
  BodyOf<F>::template packs<Casts, 1, 1>(
      f, task, i < task.head ? i : i + (task.end - task.head), task.count);
}

template <class F, class Casts, int kWidth>
__global__ void __launch_bounds__(kBlock, kPackBlocks<Casts, kWidth>)
    pack_kernel(const F f,
                const __grid_constant__ Task<BodyOf<F>::kArrays> task) {
  constexpr int kAccesses = BodyOf<F>::template kAccesses<Casts, kWidth>;
  const uint32_t begin = blockIdx.x * (kBlock * kAccesses * kWidth);
  if (begin < task.whole)
    return BodyOf<F>::template packs<Casts, kWidth, kAccesses>(
        f, task, begin + threadIdx.x * kWidth, task.whole);
  BodyOf<F>::template packs<Casts, 1, 1>(f, task, task.whole + threadIdx.x,
                                         task.count);
}

template <class F, class Casts>
__global__ void __launch_bounds__(kBlock, kTileBlocks<Casts>)
    tile_kernel(const F f,
                const __grid_constant__ Task<BodyOf<F>::kArrays> task) {
  BodyOf<F>::template tile<Casts>(f, task);
}

// ---- The call ---------------------------------------------------------------

inline Error this_gpu(Gpu* gpu) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  for (auto [value, attribute] :
       {std::pair{&gpu->sms, cudaDevAttrMultiProcessorCount},
        {&gpu->threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor}})
    if (!error) error = cudaDeviceGetAttribute(value, attribute, device);
  return error ? cudaGetErrorString(error) : nullptr;
}

template <class F, class Casts, int kWidth>
int64_t blocks_for(const Piece& piece) {
  constexpr int kAccesses = BodyOf<F>::template kAccesses<Casts, kWidth>;
  const int64_t packs = packs_of(piece);
  return parts_of(packs, kBlock * kAccesses) + (packs * kWidth < piece.count());
}

template <class F, class Casts, int kWidth, int kArrays>
void launch_packs(const F& f, const Piece& piece, const Task<kArrays>& task,
                  cudaStream_t stream) {
  if (piece.width == kWidth) {
    pack_kernel<F, Casts, kWidth>
        <<<blocks_for<F, Casts, kWidth>(piece), kBlock, 0, stream>>>(f, task);
  } else if constexpr (kWidth > 1) {
    launch_packs<F, Casts, kIsCast<Casts> ? 1 : kWidth / 2>(f, piece, task,
                                                            stream);
  }
}

template <class Casts, class F, int kArrays>
void launch(const F& f, const Piece& piece, const Types<kArrays>& types,
            cudaStream_t stream) {
  constexpr int kMost =
      kIsCast<Casts> ? kCastWidth : most_width(BodyOf<F>::kBytes);
  if (piece.stretches) {
    stretch_kernel<F, Casts, kMost>
        <<<blocks_for<F, Casts, kMost>(piece), kBlock, 0, stream>>>(
            f, Stretches<kArrays>(piece, types));
    return;
  }
  const Task<kArrays> task(piece, types);
  if (piece.tiles) {
    tile_kernel<F, Casts><<<tiles_of(piece), kBlock, 0, stream>>>(f, task);
  } else {
    launch_packs<F, Casts, kMost>(f, piece, task, stream);
  }
}

// All that is cast is of one type in most calls. The types that frameworks mix
// most have kernels of their own, which need not ask and so take less
// registers.
template <class F, int kArrays>
void launch_casts(const F& f, const Piece& piece, const Types<kArrays>& types,
                  cudaStream_t stream) {
  const std::vector<Type> wanted = BodyOf<F>::kind().types;
  const auto has_launched = [&](auto tag) {
    using C = typename decltype(tag)::Element;
    if constexpr (BodyOf<F>::template kMayCast<C>) {
      for (int a = 0; a < kArrays; ++a)
        if (types.of[a] != wanted[a] && types.of[a] != kTypeOf<C>) return false;
      launch<CastsOf<C>>(f, piece, types, stream);
      return true;
    }
    return false;
  };
  if (!has_launched(Tag<__half>{}) && !has_launched(Tag<__nv_bfloat16>{}) &&
      !has_launched(Tag<float>{}) && !has_launched(Tag<uint8_t>{}) &&
      !has_launched(Tag<int8_t>{}))
    launch<AnyCasts>(f, piece, types, stream);
}

// What a call would do, without doing it. The outputs come first.
template <class F, class... Arrays>
Plan plan_for(const F&, const Arrays&... arrays) {
  static_assert(sizeof...(Arrays) == BodyOf<F>::kArrays,
                "A call has an array for each result and each argument.");
  Gpu gpu;
  if (const Error error = this_gpu(&gpu)) return {error, {}};
  return make_plan({arrays...}, BodyOf<F>::kind(), gpu);
}

// For all elements, out = f(in...), whatever the arrays' types and strides; the
// inputs are repeated to the shape of the output. Returns what is wrong, and
// then does nothing.
template <class F, class... Arrays>
Error gpu_kernel(const F& f, cudaStream_t stream, const Arrays&... arrays) {
  const Plan plan = plan_for(f, arrays...);
  if (plan.error) return plan.error;
  const Types<sizeof...(Arrays)> types = {{arrays.type...}};
  for (const Piece& piece : plan.pieces) {
    if (piece.casts) {
      launch_casts(f, piece, types, stream);
    } else {
      launch<NoCasts>(f, piece, types, stream);
    }
    const cudaError_t error = cudaGetLastError();
    if (error) return cudaGetErrorString(error);
  }
  return nullptr;
}

}  // namespace strided
