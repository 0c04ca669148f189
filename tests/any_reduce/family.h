// How a family of operations is offered by name.
#pragma once

#include <type_traits>
#include <vector>

#include "chapters/12_reduce/operations.h"
#include "chapters/12_reduce/reduce.h"
#include "tests/any_reduce/any_reduce.h"

namespace by_name {

using reduction::Plan, reduction::Error, reduction::Scratch;

struct Member {
  const char* what;
  Plan (*plan)(const AnyReduction&);
  Error (*reduce)(const AnyReduction&, const Plan&, const Scratch&,
                  cudaStream_t);
};

template <class Op>
Plan plan(const AnyReduction& asked) {
  return reduction::plan_for<Op>(
      static_cast<const typename Op::In*>(asked.x),
      {{asked.sizes, asked.sizes + asked.rank},
       {asked.strides, asked.strides + asked.rank}},
      {asked.dim, asked.dim + asked.dims},
      static_cast<const typename Op::Out*>(asked.out));
}

template <class Op>
Op made_with(double parameter) {
  if constexpr (std::is_default_constructible_v<Op>) {
    return {};
  } else {
    return Op(parameter);
  }
}

template <class Op>
Error reduce(const AnyReduction& asked, const Plan& plan,
             const Scratch& scratch, cudaStream_t stream) {
  return reduction::reduce(made_with<Op>(asked.parameter), plan,
                           static_cast<const typename Op::In*>(asked.x),
                           static_cast<typename Op::Out*>(asked.out), scratch,
                           stream);
}

template <class Op>
Member member(const char* what) {
  return {what, plan<Op>, reduce<Op>};
}

// Each is in a file of this folder.
std::vector<Member> sums();
std::vector<Member> means();
std::vector<Member> other_sums();
std::vector<Member> whole_sums();
std::vector<Member> extremes();
std::vector<Member> arg_extremes();
std::vector<Member> other_extremes();
std::vector<Member> norms();
std::vector<Member> spreads();
std::vector<Member> other_spreads();

}  // namespace by_name
