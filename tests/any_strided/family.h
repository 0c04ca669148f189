// How a family of functions is offered by name.
#pragma once

#include <utility>
#include <vector>

#include "chapters/15_strides_and_casts/gpu_kernel.h"
#include "chapters/15_strides_and_casts/operations.h"
#include "tests/any_strided/any_strided.h"

namespace by_name {

using strided::Array, strided::Error, strided::Plan;

struct Member {
  const char* what;
  int arrays;
  Plan (*plan)(const AnyStrided&);
  Error (*call)(const AnyStrided&, cudaStream_t);
};

inline Array array(const AnyArray& asked) {
  return {reinterpret_cast<uintptr_t>(asked.data),
          static_cast<strided::Type>(asked.type),
          {asked.sizes, asked.sizes + asked.rank},
          {asked.strides, asked.strides + asked.rank}};
}

template <class F>
F made_with(double scalar) {
  if constexpr (requires { F{}.scalar; }) {
    return {{}, static_cast<decltype(F{}.scalar)>(scalar)};
  } else {
    return {};
  }
}

template <class F>
constexpr auto kIndices =
    std::make_index_sequence<strided::BodyOf<F>::kArrays>{};

template <class F, size_t... k>
Plan plan(const AnyStrided& asked, std::index_sequence<k...>) {
  return strided::plan_for(made_with<F>(asked.scalar),
                           array(asked.array[k])...);
}
template <class F, size_t... k>
Error call(const AnyStrided& asked, cudaStream_t stream,
           std::index_sequence<k...>) {
  return strided::gpu_kernel(made_with<F>(asked.scalar), stream,
                             array(asked.array[k])...);
}

template <class F>
Member member(const char* what) {
  return {what, strided::BodyOf<F>::kArrays,
          [](const AnyStrided& asked) { return plan<F>(asked, kIndices<F>); },
          [](const AnyStrided& asked, cudaStream_t stream) {
            return call<F>(asked, stream, kIndices<F>);
          }};
}

// Each is in a file of this folder.
std::vector<Member> sums();
std::vector<Member> other_sums();
std::vector<Member> copies();
std::vector<Member> narrow_copies();
std::vector<Member> whole_copies();
std::vector<Member> others();

}  // namespace by_name
