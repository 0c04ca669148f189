// Chapter 15: any function of elements, on arrays of any types and strides.
//
// Read plan.h and paths.h first: they say which path a call takes. access.h
// and tiles.h are how a thread reads and writes there. Here it is all put
// together.
#pragma once

#include <utility>
#include <vector>

#include "chapters/15_strides_and_casts/access.h"
#include "chapters/15_strides_and_casts/functor.h"
#include "chapters/15_strides_and_casts/tiles.h"

namespace strided {

// ---- What a thread does -----------------------------------------------------

template <class F, class Results, class Arguments, class Outs, class Ins>
struct Body;
template <class F, class... R, class... A, size_t... kOut, size_t... kIn>
struct Body<F, Several<R...>, Several<A...>, std::index_sequence<kOut...>,
            std::index_sequence<kIn...>> {
  static constexpr int kOuts = sizeof...(R), kArrays = kOuts + sizeof...(A);
  static constexpr int kBytes = std::max({sizeof(R)..., sizeof(A)...});
  static constexpr int kShared = std::max({sizeof(Rows<A>)...});
  static_assert(kArrays <= kMostArrays, "There are at most 8 arrays.");

  template <class Casts, int kWidth>
  static constexpr int kAccesses = accesses_of(kWidth, kBytes, kIsCast<Casts>);

  // Whether an array of this type would have to be cast.
  template <class C>
  static constexpr bool kMayCast =
      !(std::is_same_v<R, C> && ...) || !(std::is_same_v<A, C> && ...);

  static Kind kind() { return {kOuts, {kTypeOf<R>..., kTypeOf<A>...}}; }

  // Packs that begin at `first` and further on. What rows share is read once.
  template <class Casts, int kWidth, int kAtOnce>
  static __device__ void packs(const F& f, const Task<kArrays>& task,
                               uint32_t first, uint32_t end) {
    const Places<kArrays, kWidth, kAtOnce> places(task, first, end);
    Several<Held<A, kWidth, kAtOnce>...> in;
    Several<Held<R, kWidth, kAtOnce>...> out;
    for (uint32_t row = 0; row < task.steps; ++row) {
      const auto is_new = [&](int a) { return row == 0 || task.step[a] != 0; };
      ((is_new(kOuts + kIn)
            ? read<Casts>(task, kOuts + kIn, row, places, get<kIn>(in))
            : void()),
       ...);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (!places.there[k]) continue;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const Several<R...> results = several(f(get<kIn>(in)[k][e]...));
          ((get<kOut>(out)[k][e] = get<kOut>(results)), ...);
        }
      }
      (write<Casts>(task, kOut, row, places, get<kOut>(out)), ...);
    }
  }

  template <class Casts>
  static __device__ void tile(const F& f, const Task<kArrays>& task) {
    __shared__ alignas(16) char shared[kShared];
    const Tile<kArrays> tile(task);
    Several<InTile<A>...> in;
    Several<InTile<R>...> out;
    (read<Casts>(task, kOuts + kIn, tile, *reinterpret_cast<Rows<A>*>(shared),
                 get<kIn>(in)),
     ...);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (!tile.has(k)) continue;
      const Several<R...> results = several(f(get<kIn>(in)[k]...));
      ((get<kOut>(out)[k] = get<kOut>(results)), ...);
    }
    (write<Casts>(task, kOut, tile, get<kOut>(out)), ...);
  }
};
template <class F, class S = Signature<F>>
using BodyOf =
    Body<F, typename S::Results, typename S::Arguments,
         typename S::Results::Indices, typename S::Arguments::Indices>;

// ---- The kernels ------------------------------------------------------------

// The last block has what is left over before and behind the packs, too.
template <class F, class Casts, int kWidth>
__global__ void __launch_bounds__(kBlock)
    pack_kernel(const F f,
                const __grid_constant__ Task<BodyOf<F>::kArrays> task) {
  constexpr int kAccesses = BodyOf<F>::template kAccesses<Casts, kWidth>;
  const uint32_t pack = blockIdx.x * (kBlock * kAccesses) + threadIdx.x;
  BodyOf<F>::template packs<Casts, kWidth, kAccesses>(
      f, task, task.head + pack * kWidth, task.head + task.whole);
  if (kWidth == 1 || blockIdx.x < gridDim.x - 1) return;
  const uint32_t i = threadIdx.x;
  BodyOf<F>::template packs<Casts, 1, 1>(
      f, task, i < task.head ? i : i + task.whole, task.count);
}

template <class F, class Casts>
__global__ void __launch_bounds__(kBlock)
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

template <class F, class Casts, int kWidth, int kArrays>
void launch_packs(const F& f, const Piece& piece, const Task<kArrays>& task,
                  cudaStream_t stream) {
  if (piece.width == kWidth) {
    constexpr int kAccesses = BodyOf<F>::template kAccesses<Casts, kWidth>;
    const int64_t grid = parts_of(packs_of(piece), int64_t{kBlock} * kAccesses);
    pack_kernel<F, Casts, kWidth>
        <<<std::max<int64_t>(grid, 1), kBlock, 0, stream>>>(f, task);
  } else if constexpr (kWidth > 1) {
    launch_packs<F, Casts, kIsCast<Casts> ? 1 : kWidth / 2>(f, piece, task,
                                                            stream);
  }
}

template <class Casts, class F, int kArrays>
void launch(const F& f, const Piece& piece, const Task<kArrays>& task,
            cudaStream_t stream) {
  constexpr int kMost =
      kIsCast<Casts> ? kCastWidth : most_width(BodyOf<F>::kBytes);
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
void launch_casts(const F& f, const Piece& piece, const Task<kArrays>& task,
                  cudaStream_t stream) {
  const std::vector<Type> wanted = BodyOf<F>::kind().types;
  const auto has_launched = [&](auto tag) {
    using C = typename decltype(tag)::Element;
    if constexpr (BodyOf<F>::template kMayCast<C>) {
      for (int a = 0; a < kArrays; ++a)
        if (task.type[a] != wanted[a] && task.type[a] != kTypeOf<C>)
          return false;
      launch<CastsOf<C>>(f, piece, task, stream);
      return true;
    }
    return false;
  };
  if (!has_launched(Tag<__half>{}) && !has_launched(Tag<__nv_bfloat16>{}) &&
      !has_launched(Tag<float>{}) && !has_launched(Tag<uint8_t>{}) &&
      !has_launched(Tag<int8_t>{}))
    launch<AnyCasts>(f, piece, task, stream);
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
  for (const Piece& piece : plan.pieces) {
    Task<sizeof...(Arrays)> task(piece);
    int a = 0;
    ((task.type[a++] = arrays.type), ...);
    if (piece.casts) {
      launch_casts(f, piece, task, stream);
    } else {
      launch<NoCasts>(f, piece, task, stream);
    }
    const cudaError_t error = cudaGetLastError();
    if (error) return cudaGetErrorString(error);
  }
  return nullptr;
}

}  // namespace strided
