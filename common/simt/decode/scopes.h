// What the names between { and } mean: registers, variables, labels. A name is
// looked up from the inside out.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/core/error.h"
#include "common/simt/core/program.h"

namespace simt {

struct Register {
  Place place;
  Type type;
};

struct Scope {
  int outer = -1;
  std::map<std::string, Register> registers;
  std::map<std::string, Variable> variables;
  std::map<std::string, uint32_t> labels;
  std::map<std::string, const Statement*> tables;  // of .branchtargets
};

template <class T>
void define(std::map<std::string, T>& names, const std::string& name, T value) {
  if (!names.try_emplace(name, value).second)
    throw Error("'" + name + "' is there twice");
}

// Those of a function, and of what is written out in it.
class Scopes {
 public:
  Scopes() { open(-1); }

  Scope& now() { return scopes_[now_]; }
  int number() const { return now_; }
  Scope& at(int number) { return scopes_[number]; }

  // The one with this number in the text, which may go on after others.
  void enter(uint32_t in_text) {
    const auto [known, fresh] = numbered_.try_emplace(in_text);
    if (!fresh) {
      now_ = known->second;
      return;
    }
    open(now_);
    known->second = now_;
  }
  void leave() { now_ = now().outer; }

  // A text begins that sees nothing of this one; and it is left again.
  struct Left {
    int number;
    std::map<uint32_t, int> numbered;
  };
  Left enter_other_text() {
    Left left{now_, std::exchange(numbered_, {})};
    open(-1);
    return left;
  }
  void come_back(Left left) {
    now_ = left.number;
    numbered_ = std::move(left.numbered);
  }

  // The value of `name` in a map of the nearest scope that has it, or null.
  // `in` becomes that scope.
  template <class T>
  const T* find(std::map<std::string, T> Scope::*names, const std::string& name,
                int& in) const {
    for (; in >= 0; in = scopes_[in].outer) {
      const auto& known = scopes_[in].*names;
      if (const auto it = known.find(name); it != known.end())
        return &it->second;
    }
    return nullptr;
  }
  template <class T>
  const T* find(std::map<std::string, T> Scope::*names,
                const std::string& name) const {
    int in = now_;
    return find(names, name, in);
  }

 private:
  void open(int outer) {
    now_ = static_cast<int>(scopes_.size());
    scopes_.emplace_back().outer = outer;
  }

  std::vector<Scope> scopes_;
  std::map<uint32_t, int> numbered_;  // Statement::number -> which of them
  int now_ = 0;
};

}  // namespace simt
