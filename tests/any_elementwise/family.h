// How a family of functions is offered by name.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapters/13_elementwise/elementwise.h"
#include "chapters/13_elementwise/functors.h"
#include "tests/any_elementwise/any_elementwise.h"

namespace by_name {

using elementwise::Error, elementwise::Path, elementwise::Two;

struct Member {
  std::string what;
  Error (*apply)(const AnyElementwise&, cudaStream_t);
  Path (*path)(const AnyElementwise&);
};

// A functor, or a factory of one.
template <class F>
F made_of(const AnyElementwise& asked) {
  if constexpr (requires { &F::factor; }) {
    using Factor = decltype(F::factor);
    if constexpr (std::is_pointer_v<Factor>) {
      return {static_cast<Factor>(asked.scalar)};
    } else {
      return {static_cast<Factor>(asked.parameter)};
    }
  } else {
    return {};
  }
}

template <class R>
struct ResultsOf {
  static R* of(const AnyElementwise& asked) {
    return static_cast<R*>(asked.results[0]);
  }
};
template <class R, class S>
struct ResultsOf<Two<R, S>> {
  static Two<R*, S*> of(const AnyElementwise& asked) {
    return {static_cast<R*>(asked.results[0]),
            static_cast<S*>(asked.results[1])};
  }
};

template <class F, class Out, class... A>
Error call(const F& f, const AnyElementwise& asked, cudaStream_t stream, Out r,
           const A*... a) {
  constexpr int kOperands = sizeof...(A);
  if constexpr (std::is_invocable_v<F>) {
    static_assert(kOperands == 1);
    return elementwise::unary_with_factory(f, asked.n, r, a..., stream);
  } else if constexpr (kOperands == 1) {
    return elementwise::unary(f, asked.n, r, a..., stream);
  } else if constexpr (kOperands == 2) {
    return elementwise::binary(f, asked.n, r, a..., stream);
  } else {
    return elementwise::ternary(f, asked.n, r, a..., stream);
  }
}

template <class F, class R, class... A>
Member member(const std::string& what) {
  static constexpr auto operands = [](const AnyElementwise& asked, auto f) {
    return [&]<size_t... k>(std::index_sequence<k...>) {
      return f(static_cast<const A*>(asked.operands[k])...);
    }
    (std::index_sequence_for<A...>{});
  };
  return {what,
          [](const AnyElementwise& asked, cudaStream_t stream) {
            return operands(asked, [&](const A*... a) {
              return call(made_of<F>(asked), asked, stream,
                          ResultsOf<R>::of(asked), a...);
            });
          },
          [](const AnyElementwise& asked) {
            return operands(asked, [&](const A*... a) {
              return elementwise::path_of(asked.n, ResultsOf<R>::of(asked),
                                          a...);
            });
          }};
}

// Each is in a file of this folder.
std::vector<Member> floats();
std::vector<Member> halves();
std::vector<Member> brains();
std::vector<Member> others();
std::vector<Member> casts_bool();
std::vector<Member> casts_int8();
std::vector<Member> casts_int16();
std::vector<Member> casts_int32();
std::vector<Member> casts_int64();
std::vector<Member> casts_uint8();
std::vector<Member> casts_uint16();
std::vector<Member> casts_uint32();
std::vector<Member> casts_half();
std::vector<Member> casts_bfloat16();
std::vector<Member> casts_float();
std::vector<Member> casts_double();

}  // namespace by_name
